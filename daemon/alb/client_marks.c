/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/client_marks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <stdlib.h>
#include <string.h>

#include "common/readings.h"
#include "daemon/alb/client_plan.h"
#include "daemon/bond/daemon.h"
#include "network/ip.h"

#define MARKS_MAX (XBOND_MAX_CLIENTS / 2) /* the rest of the table is for clients */
#define MASTERS_MAX 64

struct marks_masters {
	int bond_ifindex, list[MASTERS_MAX];
	unsigned int count;
};

static void marks_take_link(const struct link_info *link, void *arg)
{
	struct marks_masters *masters = arg;

	if (link->master && masters->count < MASTERS_MAX &&
	    (link->ifindex == masters->bond_ifindex ||
	     link_is_vlan_on(link, masters->bond_ifindex)))
		masters->list[masters->count++] = link->master;
}

/* A VRF routes; every other master may let the frames of its other ports out by bond0. */
static int marks_are_needed(struct bond *bond)
{
	struct marks_masters masters = { .bond_ifindex = (int)bond_pin(bond)->ifindex };
	struct nl *nl = &bond->daemon->nl;
	int r;

	if (!client_plan_receives(bond) || bond_pin(bond)->netnsid >= 0)
		return 0;
	r = link_visit(nl, -1, marks_take_link, &masters);
	for (unsigned int i = 0; i < masters.count && !r; i++) {
		struct link_info master;

		r = link_get(nl, -1, masters.list[i], &master);
		if (!r && strcmp(master.kind, "vrf") != 0)
			return 1;
		if (r == -ENODEV)
			r = 0;
	}
	return r;
}

struct marks_writing {
	int fd;
	unsigned int count;
	struct xbond_client value;
};

/* The kernel may tell of an address twice, as a list that changed is read again. */
static void marks_write(struct marks_writing *writing, const struct xbond_client_key *mark)
{
	struct xbond_client old;

	if (!bpf_map_lookup_elem(writing->fd, mark, &old) && old.used_ns == writing->value.used_ns)
		return;
	if (writing->count++ < MARKS_MAX)
		bpf_map_update_elem(writing->fd, mark, &writing->value, BPF_ANY);
}

/* DADFAILED: another host has it. */
static void marks_take_address(const struct address *address, void *arg)
{
	struct xbond_client_key mark = client_table_mark(address->family, address->bytes);

	if (!(address->flags & IFA_F_DADFAILED))
		marks_write(arg, &mark);
}

/* Marks are of their time; 0: of a time when there are to be none. */
static bool marks_outlived(int fd, const struct client_entry *entry, uint64_t now_ns)
{
	if (entry->key.is_mark)
		return !now_ns || entry->client.used_ns < now_ns;
	return now_ns && client_table_excludes(fd, &entry->key);
}

static int marks_tidy(int fd, uint64_t now_ns)
{
	struct client_entry *entries;
	int count = client_table_read(fd, &entries);

	for (int i = 0; i < count; i++)
		if (marks_outlived(fd, &entries[i], now_ns))
			bpf_map_delete_elem(fd, &entries[i].key);
	free(entries);
	return count < 0 ? count : 0;
}

int client_marks_follow(struct bond *bond, uint64_t now_ns)
{
	struct marks_writing writing = { .fd = bond->dataplane.pins.clients_fd,
					 .value = { .used_ns = now_ns } };
	struct xbond_client_key only_marked = client_table_mark(0, NULL);
	int needed = marks_are_needed(bond), r;

	if (needed < 0)
		return needed;
	if (!needed)
		return bpf_map_delete_elem(writing.fd, &only_marked) ? 0
								     : marks_tidy(writing.fd, 0);
	r = address_visit(&bond->daemon->nl, marks_take_address, &writing);
	if (!r)
		r = bpf_map_update_elem(writing.fd, &only_marked, &writing.value, BPF_ANY);
	if (r)
		return r;
	r = marks_tidy(writing.fd, now_ns);
	return r ? r : 1;
}
