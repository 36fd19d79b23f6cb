/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/alb.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/pins.h"
#include "common/readings.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "network/ip.h"
#include "options/values.h"
#include "rules/active.h"

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
	int result;
};

/* By forgetting a client. */
static bool marks_make_room(int fd)
{
	struct client_entry entry;
	int r = bpf_map_get_next_key(fd, NULL, &entry.key);

	while (!r && client_table_is_own(&entry))
		r = bpf_map_get_next_key(fd, &entry.key, &entry.key);
	return !r && !bpf_map_delete_elem(fd, &entry.key);
}

/* In a full map, too: without marks no client can be told anything. */
static int marks_put(const struct marks_writing *writing, const struct xbond_client_key *mark)
{
	int r = bpf_map_update_elem(writing->fd, mark, &writing->value, BPF_ANY);

	if (r == -E2BIG && marks_make_room(writing->fd))
		r = bpf_map_update_elem(writing->fd, mark, &writing->value, BPF_ANY);
	return r;
}

/* The kernel may tell of an address twice, as a list that changed is read again. */
static void marks_write(struct marks_writing *writing, const struct xbond_client_key *mark)
{
	struct xbond_client old;

	if (!bpf_map_lookup_elem(writing->fd, mark, &old) && old.used_ns == writing->value.used_ns)
		return;
	if (!writing->result && writing->count++ < MARKS_MAX)
		writing->result = marks_put(writing, mark);
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

int client_marks_settle(struct bond *bond, uint64_t now_ns)
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
		r = writing.result ? writing.result : marks_put(&writing, &only_marked);
	if (r)
		return r;
	r = marks_tidy(writing.fd, now_ns);
	return r ? r : 1;
}

#define TELLS 3	     /* as the kernel's driver */
#define MOVED_MAX 16 /* addresses of bond0 that have moved away, in one round */
/* What was not heard for so long is old. */
#define AGE_NS (600 * NS_PER_S)
#define AGE_SHORT_NS (60 * NS_PER_S)
#define HALF_FULL (XBOND_MAX_CLIENTS / 2) /* so far clients that have answered are kept */

bool client_plan_receives(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_RECEIVES);
}

/* The slave by which bond0's address is told in other modes: switches learn from that. */
static unsigned int client_plan_speaker(struct bond *bond, uint64_t up)
{
	unsigned int active = bond_pin(bond)->active_slot;

	return slots_have(up, active) ? active : (unsigned int)__builtin_ctzll(up);
}

/* In other modes one slave stands for all: every client is to send to bond0's address. */
static uint64_t client_plan_address(struct bond *bond, unsigned int slot, uint64_t up,
				    uint64_t bond_mac)
{
	uint64_t mac = mac_word(bond_slave(bond, slot)->mac);

	if (!client_plan_receives(bond))
		return slot == client_plan_speaker(bond, up) ? bond_mac : 0;
	if (slot == bond_pin(bond)->active_slot)
		return bond_mac;
	return mac == bond_mac ? 0 : mac;
}

void client_plan_read_slaves(struct bond *bond, struct client_slaves *ret_slaves)
{
	const struct pins *pins = &bond->dataplane.pins;
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_ACQUIRE);
	uint64_t up = values_undrained(pins, may);
	struct client_slaves slaves = { .bond_mac = mac_word(bond_pin(bond)->mac) };

	bond_for_each_member (bond, slot) {
		if (slots_have(up, slot))
			slaves.mac[slot] = client_plan_address(bond, slot, up, slaves.bond_mac);
		if (slaves.mac[slot])
			slaves.working |= slots_bit(slot);
	}
	*ret_slaves = slaves;
}

static uint8_t client_plan_slot_of(const struct client_slaves *slaves, uint64_t mac)
{
	slots_for_each (slaves->working, slot)
		if (slaves->mac[slot] == mac)
			return (uint8_t)slot;
	return XBOND_NO_SLOT;
}

static uint64_t client_plan_choose_receivers(struct bond *bond, const struct client_slaves *slaves)
{
	uint32_t speed[XBOND_MAX_SLAVES] = { 0 };

	bond_for_each_member (bond, slot)
		speed[slot] = bond_slave(bond, slot)->speed_mbps;
	return receivers_fastest(slaves->working, speed);
}

/* Who has never answered ages soon, and in a nearly full map who was heard only once. */
static bool client_plan_is_old(const struct client_entry *entry, int count, uint64_t now_ns)
{
	bool ages_soon = !client_table_is_own(entry) &&
			 (!entry->client.mac ||
			  (count > XBOND_MAX_CLIENTS / 8 * 7 && entry->client.uses < 2));

	return !entry->key.is_mark &&
	       entry->client.used_ns + (ages_soon ? AGE_SHORT_NS : AGE_NS) < now_ns;
}

static bool client_plan_have_same_own(const struct client_entry *entry,
				      const struct client_entry *other)
{
	const struct xbond_client_key *a = &entry->key, *b = &other->key;

	return a->family == b->family && a->vlan == b->vlan && a->is_mark == b->is_mark &&
	       a->vlan_protocol == b->vlan_protocol && !memcmp(a->own, b->own, sizeof(a->own));
}

static bool client_plan_is_claimed(const struct client_entry *entry)
{
	return client_table_is_own(entry) && entry->client.due;
}

/* In the map the entry stays due, so the next round looks again. DADFAILED: it is the other's. */
static void client_plan_take_address(const struct address *address, void *arg)
{
	struct client_plan *plan = arg;

	for (int i = 0; i < plan->count; i++) {
		struct client_entry *entry = &plan->entries[i];

		if (client_plan_is_claimed(entry) && entry->key.family == address->family &&
		    !(address->flags & IFA_F_DADFAILED) &&
		    !memcmp(entry->key.own, address->bytes, sizeof(address->bytes)))
			entry->client.due = 0;
	}
}

/*
 * Somebody else has an address that was bond0's: its clients must not be told of it again. If this
 * host has it, too, nothing has moved: anybody may say such a thing.
 */
static void client_plan_forget_moved(struct bond *bond, struct client_plan *plan)
{
	const struct client_entry *moved[MOVED_MAX];
	unsigned int count = 0;
	bool some = false;

	for (int i = 0; i < plan->count; i++)
		some |= client_plan_is_claimed(&plan->entries[i]);
	if (!some || address_visit(&bond->daemon->nl, client_plan_take_address, plan))
		return;
	for (int i = 0; i < plan->count && count < MOVED_MAX; i++)
		if (client_plan_is_claimed(&plan->entries[i]))
			moved[count++] = &plan->entries[i];
	for (int i = 0; count && i < plan->count; i++)
		for (unsigned int j = 0; j < count; j++)
			if (client_plan_have_same_own(&plan->entries[i], moved[j]))
				plan->what[i] = CLIENT_FORGET;
}

static bool client_plan_has_clients(const struct client_plan *plan, const struct client_entry *own)
{
	for (int i = 0; i < plan->count; i++)
		if (plan->what[i] != CLIENT_FORGET && !client_table_is_own(&plan->entries[i]) &&
		    client_plan_have_same_own(&plan->entries[i], own))
			return true;
	return false;
}

/* An address of bond0 outlives its clients, or nobody would see that it has moved away. */
static bool client_plan_is_idle(const struct client_plan *plan, const struct client_entry *entry)
{
	return client_table_is_own(entry) ? !client_plan_has_clients(plan, entry)
					  : !entry->client.mac;
}

static int client_plan_compare_used(const void *a, const void *b)
{
	const struct client_entry *one = a, *other = b;

	return (one->client.used_ns > other->client.used_ns) -
	       (one->client.used_ns < other->client.used_ns);
}

/*
 * Others go only if room is needed, those first that were not heard for the longest time. A client
 * with a long TCP connection may ask for no address for days, and still has to be told.
 */
static void client_plan_forget_old(struct bond *bond, struct client_plan *plan, uint64_t now_ns)
{
	struct client_entry *entry = plan->entries;
	int kept = plan->count;

	memset(plan->what, CLIENT_KEEP, sizeof(plan->what));
	if (kept > HALF_FULL)
		qsort(entry, (size_t)kept, sizeof(*entry), client_plan_compare_used);
	client_plan_forget_moved(bond, plan);
	for (int i = 0; i < plan->count; i++) {
		if (client_plan_is_old(&entry[i], plan->count, now_ns) &&
		    client_plan_is_idle(plan, &entry[i]))
			plan->what[i] = CLIENT_FORGET;
		kept -= plan->what[i] == CLIENT_FORGET;
	}
	for (int i = 0; i < plan->count && kept > HALF_FULL; i++)
		if (plan->what[i] == CLIENT_KEEP && !client_table_is_own(&entry[i]) &&
		    client_plan_is_old(&entry[i], plan->count, now_ns)) {
			plan->what[i] = CLIENT_FORGET;
			kept--;
		}
}

/* The entries of bond0's own addresses count for no slave. */
static void client_plan_share(struct bond *bond, struct client_plan *plan)
{
	struct xbond_receivers *receivers = bond->dataplane.pins.receivers;
	uint64_t among = client_plan_choose_receivers(bond, &plan->slaves);
	bool level = among & ~receivers->levelled;
	uint8_t slot[XBOND_MAX_CLIENTS];
	size_t count = 0;

	__atomic_store_n(&receivers->mask, among, __ATOMIC_RELEASE);
	for (int i = 0; i < plan->count; i++)
		if (!client_table_is_own(&plan->entries[i]) && plan->what[i] != CLIENT_FORGET)
			slot[count++] =
				client_plan_slot_of(&plan->slaves, plan->entries[i].client.told);
	receivers_share(slot, count, plan->slaves.working, among, level);
	count = 0;
	for (int i = 0; i < plan->count; i++)
		if (!client_table_is_own(&plan->entries[i]) && plan->what[i] != CLIENT_FORGET)
			plan->slot[i] = slot[count++];
}

static bool client_plan_is_misled(const struct xbond_client *client, uint64_t retell_ns)
{
	return retell_ns && (client->due || client->used_ns < retell_ns);
}

/* A client that is told nothing stays due if another round is to tell it. */
static enum client_what client_plan_decide(const struct client_plan *plan, int i,
					   uint64_t retell_ns)
{
	const struct client_slaves *slaves = &plan->slaves;
	struct xbond_client *client = &plan->entries[i].client;
	uint64_t mac = slaves->mac[plan->slot[i]];

	if (client->told != mac) {
		client->told = mac;
		client->tells = TELLS;
	} else if (!client->tells && mac == slaves->bond_mac) {
		if (!client->due)
			return CLIENT_KEEP;
		client->due = 0; /* what it has learnt is right */
		return CLIENT_WRITE;
	} else if (!(client->tells && plan->tells_again) &&
		   !client_plan_is_misled(client, retell_ns)) {
		return CLIENT_KEEP;
	}
	client->due = 0;
	return client->mac ? CLIENT_TELL : CLIENT_WRITE;
}

/* While no slave works, clients wait. */
static void client_plan_decide_all(struct bond *bond, struct client_plan *plan, uint64_t retell_ns)
{
	enum client_what otherwise = client_plan_receives(bond) ? CLIENT_KEEP : CLIENT_FORGET;

	for (int i = 0; i < plan->count; i++) {
		if (plan->what[i] == CLIENT_FORGET)
			continue;
		if (!client_table_is_own(&plan->entries[i]) && plan->slot[i] < XBOND_MAX_SLAVES)
			plan->what[i] = client_plan_decide(plan, i, retell_ns);
		if (plan->slaves.working && plan->what[i] == CLIENT_KEEP &&
		    !plan->entries[i].client.tells)
			plan->what[i] = otherwise;
	}
}

/* Once: as old clients are forgotten and others come, it may be full again and again. */
static void client_plan_say_full(struct bond *bond, struct client_plan *plan)
{
	if (plan->count < XBOND_MAX_CLIENTS || plan->has_been_full)
		return;
	plan->has_been_full = true;
	event_warning(bond_pin(bond)->name, NULL,
		      "its map of clients is full (%d entries): other neighbours send to its own "
		      "address, so its active slave receives what they send",
		      XBOND_MAX_CLIENTS);
}

void client_plan_make(struct bond *bond, struct client_plan *plan, uint64_t now_ns,
		      uint64_t retell_ns)
{
	client_plan_say_full(bond, plan);
	client_plan_forget_old(bond, plan, now_ns);
	client_plan_share(bond, plan);
	client_plan_decide_all(bond, plan, retell_ns);
}
