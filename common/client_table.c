/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/client_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define CLIENTS_AT_ONCE 512

/* One batch, as the kernel fills it: keys and values apart. */
struct client_batch {
	struct xbond_client_key keys[CLIENTS_AT_ONCE];
	struct xbond_client clients[CLIENTS_AT_ONCE];
	__u32 at, next, count;
};

static int client_table_take(const struct client_batch *batch, struct client_entry *entries,
			     int count)
{
	for (__u32 i = 0; i < batch->count && count < XBOND_MAX_CLIENTS; i++)
		entries[count++] = (struct client_entry){ batch->keys[i], batch->clients[i] };
	return count;
}

static int client_table_read_all(int fd, struct client_batch *batch, struct client_entry *entries)
{
	bool first = true, ends = false;
	int count = 0, r;

	while (!ends && count < XBOND_MAX_CLIENTS) {
		batch->count = CLIENTS_AT_ONCE;
		r = bpf_map_lookup_batch(fd, first ? NULL : &batch->at, &batch->next, batch->keys,
					 batch->clients, &batch->count, NULL);
		if (r && r != -ENOENT)
			return r;
		ends = r == -ENOENT;
		count = client_table_take(batch, entries, count);
		batch->at = batch->next;
		first = false;
	}
	return count;
}

int client_table_read(int clients_fd, struct client_entry **ret_entries)
{
	struct client_entry *entries;
	struct client_batch *batch;
	int r;

	*ret_entries = NULL;
	if (clients_fd < 0)
		return 0;
	entries = memory_need(calloc(XBOND_MAX_CLIENTS, sizeof(*entries)));
	batch = memory_need(malloc(sizeof(*batch)));
	r = client_table_read_all(clients_fd, batch, entries);
	free(batch);
	if (r > 0)
		*ret_entries = entries;
	else
		free(entries);
	return r;
}

bool client_table_find(int clients_fd, const struct xbond_client_key *key,
		       struct xbond_client *ret_client)
{
	return clients_fd >= 0 && !bpf_map_lookup_elem(clients_fd, key, ret_client);
}

struct xbond_client_key client_table_mark(int family, const uint8_t *bytes)
{
	struct xbond_client_key mark = { .is_mark = 1 };

	if (bytes) {
		mark.family = (__u16)family;
		memcpy(mark.own, bytes, sizeof(mark.own));
	}
	return mark;
}

bool client_table_excludes(int clients_fd, const struct xbond_client_key *key)
{
	struct xbond_client_key only_marked = client_table_mark(0, NULL),
				mark = client_table_mark(key->family, key->own);
	struct xbond_client found;

	return client_table_find(clients_fd, &only_marked, &found) &&
	       !client_table_find(clients_fd, &mark, &found);
}

bool client_table_is_own(const struct client_entry *entry)
{
	static const __u8 none[16];

	return !memcmp(entry->key.peer, none, sizeof(none));
}

unsigned int client_table_count(const struct client_entry *entries, int count, __u64 told)
{
	unsigned int found = 0;

	for (int i = 0; i < count; i++)
		found += !client_table_is_own(&entries[i]) && entries[i].client.told == told;
	return found;
}
