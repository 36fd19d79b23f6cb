/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pinned map of balance-alb's clients (bpf/clients.h) as a whole. */
#ifndef XBOND_COMMON_CLIENT_TABLE_H
#define XBOND_COMMON_CLIENT_TABLE_H

#include <stdbool.h>

#include "common/pins.h"

struct client_entry {
	struct xbond_client_key key;
	struct xbond_client client;
};

/*
 * All entries, also those of bond0's own addresses; free() them. Returns their number, 0 if there
 * is no such map, or -errno. Takes less than a millisecond for a full table.
 */
int client_table_read(int clients_fd, struct client_entry **ret_entries);
/* Returns false if there is none. */
bool client_table_find(int clients_fd, const struct xbond_client_key *key,
		       struct xbond_client *ret_client);
/* The mark of an address of this host; NULL: the mark that only those may have clients. */
struct xbond_client_key client_table_mark(int family, const uint8_t *bytes);
/* May the address of bond0 in this key have no new clients? */
bool client_table_excludes(int clients_fd, const struct xbond_client_key *key);
/* Is it the entry of an address of bond0 or a mark, not of a client? */
bool client_table_is_own(const struct client_entry *entry);
/* How many clients are told this address, which is as in struct xbond_alb. */
unsigned int client_table_count(const struct client_entry *entries, int count, __u64 told);

#endif
