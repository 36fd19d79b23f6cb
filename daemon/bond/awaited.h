/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of slaves that the configuration names and that are no members now. config_wait.c adds
 * them to their bonds when their device appears.
 */
#ifndef XBOND_DAEMON_BOND_AWAITED_H
#define XBOND_DAEMON_BOND_AWAITED_H

#include <jansson.h>

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

/* A slave of the configuration, under the name it has there. manage/config_wait.c tries them. */
struct awaited {
	struct awaited *next;
	struct bond *bond;
	struct config_slave slave;
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: not known */
	unsigned int looks;		  /* how often the NIC was seen under another name */
	bool added;			  /* under another name: kept for when it goes again */
	char refused[sizeof(((struct err *)NULL)->text)]; /* why it was refused last */
	uint64_t refused_ns;				  /* when last */
	unsigned int refusals;
	bool news; /* since then */
};

/* From now on. perm_mac: NULL when it is not known. */
void awaited_add(struct bond *bond, const struct config_slave *slave, const uint8_t *perm_mac);
bool awaited_has(const struct bond *bond, const char *slave);
/* Names; a new reference. */
json_t *awaited_names(const struct bond *bond);
/* slave: NULL for all of the bond's. Not to be called from within what adds them. */
void awaited_remove(struct bond *bond, const char *slave);
/*
 * A member's device has gone: if the configuration names it, it is waited for, with the settings it
 * had.
 */
void awaited_slave_lost(struct bond *bond, unsigned int slot);
/*
 * A member is removed by its user: it may have been added under another name than the
 * configuration's.
 */
void awaited_slave_left(struct bond *bond, unsigned int slot);
/* If the slave is the primary, that is named so from now on. */
void awaited_rename_primary(struct bond *bond, const char *from, const char *to);
/* The next one of the list. done: this one is waited for no longer, and is freed. */
struct awaited **awaited_next(struct awaited **at, bool done);
void awaited_free_all(struct daemon *daemon);

#endif
