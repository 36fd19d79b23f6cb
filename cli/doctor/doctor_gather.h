/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gathers the facts of one bond and of its devices, for doctor_facts.c. */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_GATHER_H
#define XBOND_CLI_DOCTOR_DOCTOR_GATHER_H

#include "cli/doctor/doctor.h"
#include "network/driver.h"
#include "network/nl.h"

#define GATHER_CAPTURES_MAX 1024

struct gatherer {
	struct nl nl;
	struct ethtool ethtool;
	int captured[GATHER_CAPTURES_MAX];
	size_t captured_count;
	bool managers_are_here;
};

/* Returns 0 or -errno; then nothing has to be ended. */
int gather_init(struct gatherer *gatherer);
void gather_done(struct gatherer *gatherer);

/* The bond's pins are open. */
void gather_bond(struct gatherer *gatherer, const struct doctor_facts *facts,
		 struct doctor_bond *bond);

/* The number in a file; -1 if there is none. */
int gather_number(const char *path);

#endif
