/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps from each ABI version to the next. Called by migrate.c. */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_STEPS_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_STEPS_H

#include <stdint.h>

#include "common/err.h"

struct migrate;

/* From one ABI version to the next. May run twice, each time on what the maps hold then. */
struct migrate_step {
	uint32_t from;
	int (*run)(struct migrate *migrate, struct err *err);
};

/* Ends with one that does nothing. */
extern const struct migrate_step migrate_steps[];

#endif
