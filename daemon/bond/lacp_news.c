/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/lacp_news.h"

#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/lacp_thread/lacp_thread.h"

void lacp_news_take(struct daemon *daemon)
{
	lacp_thread_acknowledge(daemon->lacp_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond->lacp.thread)
			bond_evaluate(bond);
}
