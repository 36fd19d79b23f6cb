/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From each ABI version to the next, in order. Version 6 is the first that was released: a change of bpf/abi.h that
 * raises the version adds a row here. A map that is only new needs none: objects.c marks it `added`.
 */
#include "daemon/migrate.h"

#include <stddef.h>

const struct migrate_step migrate_steps[] = {
	{ 0, NULL },
};
