/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machines tell the outside what has happened. Called by most of them. */
#include "lacp/machines.h"

void lacp_tell(const struct lacp_system *sys, unsigned int slot, enum lacp_event event,
	       unsigned int detail)
{
	sys->outputs->event(sys->context, slot, event, detail);
}
