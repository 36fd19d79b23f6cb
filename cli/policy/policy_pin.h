/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a loaded policy into a bond's pins, and takes it out. */
#ifndef XBOND_CLI_POLICY_POLICY_PIN_H
#define XBOND_CLI_POLICY_POLICY_PIN_H

#include "cli/policy/policy_file.h"
#include "common/err.h"

/*
 * In place of an older one. If this fails, the older one decides as before. If bondctl dies in
 * between, one of the two decides.
 */
int policy_pin(const struct policy_file *file, const char *dir, struct err *err);
/* From the next packet on the bond decides. */
int policy_unpin(const char *dir, struct err *err);
/* Calls visit with the name of the map and of its pin. */
void policy_pin_visit_maps(const char *dir,
			   void (*visit)(const char *map, const char *pin, void *arg), void *arg);

#endif
