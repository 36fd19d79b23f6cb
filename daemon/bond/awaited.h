/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Awaited slaves: the list of slaves that the configuration names but that are not members now.
 * manage/config.c adds them to their bonds when their device appears.
 */
#ifndef XBOND_DAEMON_BOND_AWAITED_H
#define XBOND_DAEMON_BOND_AWAITED_H

#include <jansson.h>

#include "daemon/bond/daemon.h"
#include "options/config_file.h"

/*
 * A slave of the configuration, under the name it has there. manage/config.c tries to add it.
 */
struct awaited {
	struct awaited *next;
	struct bond *bond;
	struct config_slave slave;
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: not known */
	unsigned int looks;		  /* how many times the NIC was seen under another name */
	bool added;			  /* added under another name; kept in case it goes again */
	char refused[sizeof(((struct err *)NULL)->text)]; /* the reason of the last refusal */
	uint64_t refused_ns;				  /* when it was last refused */
	unsigned int refusals;
	bool news; /* there has been news of it since then */
};

/*
 * Awaits a slave from now on. perm_mac: NULL if it is that of the configuration, or not known.
 * is_there: its device exists; otherwise the log says what is waited for.
 */
struct awaited *awaited_add(struct bond *bond, const struct config_slave *slave,
			    const uint8_t *perm_mac, bool is_there);
/* NULL: it is not awaited. slave: as config_slave_name() names it, here and below. */
const struct awaited *awaited_find(const struct bond *bond, const char *slave);
/* The names of the awaited slaves; a new reference. */
json_t *awaited_names(const struct bond *bond);
/*
 * Ends the waiting. slave: NULL for all slaves of the bond. Must not be called from the code that
 * adds awaited slaves.
 */
void awaited_remove(struct bond *bond, const char *slave);
/* Another bond takes the place of this one. */
void awaited_move(struct bond *from, struct bond *to);
/* A bond has given up slaves, which others may await: whoever was refused is tried again soon. */
void awaited_try_soon(struct daemon *daemon);
/*
 * The device of a member has gone. If the configuration names the slave, it is awaited, with the
 * settings it had.
 */
void awaited_slave_lost(struct bond *bond, unsigned int slot);
/* The user removes a member. It may have been added under another name than the configuration's. */
void awaited_slave_left(struct bond *bond, unsigned int slot);
/* If the slave is the primary, the primary has this name from now on. */
void awaited_rename_primary(struct bond *bond, const char *from, const char *to);
/* The next one of the list. done: this one is no longer awaited, and is freed. */
struct awaited **awaited_next(struct awaited **at, bool done);
void awaited_free_all(struct daemon *daemon);

#endif
