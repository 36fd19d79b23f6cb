/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps from each ABI version to the next. Called by migrate.c. */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_STEPS_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_STEPS_H

#include <stdint.h>

#include "common/err.h"

struct migrate;

/*
 * A step from one ABI version to the next. It may run twice, each time on the present contents of
 * the maps.
 */
struct migrate_step {
	uint32_t from;
	int (*run)(struct migrate *migrate, struct err *err);
};

/* The last entry does nothing. */
extern const struct migrate_step migrate_steps[];

#endif
