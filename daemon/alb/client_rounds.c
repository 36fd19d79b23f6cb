/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/client_rounds.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "common/client_table.h"
#include "common/mac.h"
#include "common/clock.h"
#include "common/slots.h"
#include "daemon/alb/client_tell.h"
#include "daemon/alb/gone_addresses.h"
#include "daemon/alb/learning.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/latency.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp_sender.h"
#include "options/values.h"
#include "rules/receivers.h"

#define STEP 256 /* entries that are written and sent at once */
#define STEP_PAUSE_NS (50 * NS_PER_MS)
/* As the kernel's driver has these two. Linux heeds no second reply within a second. */
#define TELLS 3
#define TELL_AGAIN_NS (2 * NS_PER_S)
/* A broadcast of bond0's address is made good this often in a full table. */
#define RETELL_NS_PER_CLIENT (NS_PER_S / 512)
#define RETELL_DUE 1
#define LOOK_NS (30 * NS_PER_S) /* old clients are looked for */
#define READ_AGAIN_NS NS_PER_S	/* after a map that could not be read */
#define MOVED_MAX 16		/* addresses of bond0 that have moved away, in one round */
/* When a client is forgotten that was heard no more: the fuller the table, the sooner. */
#define UNANSWERED_NS (60 * NS_PER_S)
#define AGE_NS (4 * 3600 * NS_PER_S)
#define AGE_HALF_FULL_NS (600 * NS_PER_S)
#define AGE_NEARLY_FULL_NS (60 * NS_PER_S) /* of clients that were heard only once */

enum what { KEEP, FORGET, WRITE, TELL };

/*
 * The slaves that work, not drained unless all are, and the address by which each receives; 0: none
 * of its own now.
 */
struct round_slaves {
	uint64_t working, mac[XBOND_MAX_SLAVES], bond_mac;
};

struct client_rounds {
	struct round_slaves slaves;   /* of the last round */
	struct client_entry *entries; /* of a round that goes on; NULL: none does */
	int count, at, known;	      /* known: in the last round */
	uint8_t slot[XBOND_MAX_CLIENTS], what[XBOND_MAX_CLIENTS];
	uint64_t step_ns;      /* not before this */
	uint64_t look_ns;      /* the next round, if nothing happens */
	uint64_t tell_ns;      /* the next round of those who have to be told again; 0: none */
	uint64_t asked_ns;     /* the broadcast that was last made good */
	uint64_t asked_due_ns; /* when the present one is; 0: there is none */
	uint64_t retold_ns;    /* those up to then are made good by the round that goes on */
	bool retells;	       /* it does that; if it is given up, the next one does */
	uint32_t news;
	struct gone_addresses gone; /* their clients are forgotten before the next round */
};

static bool rounds_receive(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_RECEIVES);
}

/* After a change of mode until all clients know bond0's address again. */
static bool rounds_are_on(struct bond *bond)
{
	return bond_is_ready(bond) && bond->dataplane.pins.receivers &&
	       bond->dataplane.pins.clients_fd >= 0 &&
	       (rounds_receive(bond) || bond->client_rounds);
}

/* The slave by which bond0's address is told in other modes: switches learn from that. */
static unsigned int rounds_speaker(struct bond *bond, uint64_t up)
{
	unsigned int active = bond_pin(bond)->active_slot;

	return slots_have(up, active) ? active : (unsigned int)__builtin_ctzll(up);
}

/* In other modes one slave stands for all: every client is to send to bond0's address. */
static uint64_t rounds_address(struct bond *bond, unsigned int slot, uint64_t up, uint64_t bond_mac)
{
	uint64_t mac = mac_word(bond_slave(bond, slot)->mac);

	if (!rounds_receive(bond))
		return slot == rounds_speaker(bond, up) ? bond_mac : 0;
	if (slot == bond_pin(bond)->active_slot)
		return bond_mac;
	return mac == bond_mac ? 0 : mac;
}

static void rounds_read_slaves(struct bond *bond, struct round_slaves *ret_slaves)
{
	const struct pins *pins = &bond->dataplane.pins;
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_ACQUIRE);
	uint64_t up = values_undrained(pins, may);
	struct round_slaves slaves = { .bond_mac = mac_word(bond_pin(bond)->mac) };

	bond_for_each_member (bond, slot) {
		if (slots_have(up, slot))
			slaves.mac[slot] = rounds_address(bond, slot, up, slaves.bond_mac);
		if (slaves.mac[slot])
			slaves.working |= slots_bit(slot);
	}
	*ret_slaves = slaves;
}

static uint8_t rounds_slot_of(const struct round_slaves *slaves, uint64_t mac)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(slaves->working, slot) && slaves->mac[slot] == mac)
			return (uint8_t)slot;
	return XBOND_NO_SLOT;
}

static uint64_t rounds_choose_receivers(struct bond *bond, const struct round_slaves *slaves)
{
	uint32_t speed[XBOND_MAX_SLAVES] = { 0 };

	bond_for_each_member (bond, slot)
		speed[slot] = bond_slave(bond, slot)->speed_mbps;
	return receivers_fastest(slaves->working, speed);
}

static void rounds_drop(struct client_rounds *rounds)
{
	free(rounds->entries);
	rounds->entries = NULL;
	rounds->count = rounds->at = 0;
}

static bool rounds_is_old(const struct client_entry *entry, int count, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > entry->client.used_ns ? now_ns - entry->client.used_ns : 0;

	if (client_table_is_own(entry))
		return age_ns > AGE_NS;
	if (!entry->client.mac)
		return age_ns > UNANSWERED_NS;
	if (count > XBOND_MAX_CLIENTS / 8 * 7 && entry->client.uses < 2)
		return age_ns > AGE_NEARLY_FULL_NS;
	return age_ns > (count > XBOND_MAX_CLIENTS / 2 ? AGE_HALF_FULL_NS : AGE_NS);
}

static bool rounds_have_same_own(const struct client_entry *entry, const struct client_entry *other)
{
	const struct xbond_client_key *a = &entry->key, *b = &other->key;

	return a->family == b->family && a->vlan == b->vlan &&
	       a->vlan_protocol == b->vlan_protocol && !memcmp(a->own, b->own, sizeof(a->own));
}

/* Somebody else has an address that was bond0's: its clients must not be told of it again. */
static void rounds_forget_moved(struct client_rounds *rounds)
{
	const struct client_entry *moved[MOVED_MAX];
	unsigned int count = 0;

	for (int i = 0; i < rounds->count && count < MOVED_MAX; i++)
		if (client_table_is_own(&rounds->entries[i]) && rounds->entries[i].client.due)
			moved[count++] = &rounds->entries[i];
	for (int i = 0; count && i < rounds->count; i++)
		for (unsigned int j = 0; j < count; j++)
			if (rounds_have_same_own(&rounds->entries[i], moved[j]))
				rounds->what[i] = FORGET;
}

static bool rounds_has_clients(const struct client_rounds *rounds, const struct client_entry *own)
{
	for (int i = 0; i < rounds->count; i++)
		if (rounds->what[i] != FORGET && !client_table_is_own(&rounds->entries[i]) &&
		    rounds_have_same_own(&rounds->entries[i], own))
			return true;
	return false;
}

/* An address of bond0 outlives its clients, or nobody would see that it has moved away. */
static void rounds_forget_old(struct client_rounds *rounds, uint64_t now_ns)
{
	const struct client_entry *entry = rounds->entries;

	memset(rounds->what, KEEP, sizeof(rounds->what));
	rounds_forget_moved(rounds);
	for (int i = 0; i < rounds->count; i++)
		if (!client_table_is_own(&entry[i]) &&
		    rounds_is_old(&entry[i], rounds->count, now_ns))
			rounds->what[i] = FORGET;
	for (int i = 0; i < rounds->count; i++)
		if (client_table_is_own(&entry[i]) &&
		    rounds_is_old(&entry[i], rounds->count, now_ns) &&
		    !rounds_has_clients(rounds, &entry[i]))
			rounds->what[i] = FORGET;
}

/* The entries of bond0's own addresses count for no slave. */
static void rounds_share(struct bond *bond, struct client_rounds *rounds)
{
	struct xbond_receivers *receivers = bond->dataplane.pins.receivers;
	uint64_t among = rounds_choose_receivers(bond, &rounds->slaves);
	bool level = among & ~receivers->levelled;
	uint8_t slot[XBOND_MAX_CLIENTS];
	size_t count = 0;

	__atomic_store_n(&receivers->mask, among, __ATOMIC_RELEASE);
	for (int i = 0; i < rounds->count; i++)
		if (!client_table_is_own(&rounds->entries[i]) && rounds->what[i] != FORGET)
			slot[count++] =
				rounds_slot_of(&rounds->slaves, rounds->entries[i].client.told);
	receivers_share(slot, count, rounds->slaves.working, among, level);
	count = 0;
	for (int i = 0; i < rounds->count; i++)
		if (!client_table_is_own(&rounds->entries[i]) && rounds->what[i] != FORGET)
			rounds->slot[i] = slot[count++];
}

/* retell_ns: broadcasts up to then are made good now; 0: none. RETELL_DUE: only answers are. */
static bool rounds_is_misled(const struct xbond_client *client, uint64_t retell_ns)
{
	return retell_ns && (client->due || client->used_ns < retell_ns);
}

/* A client that is told nothing stays due if another round is to tell it. */
static enum what rounds_decide(const struct client_rounds *rounds, int i, uint64_t retell_ns)
{
	const struct round_slaves *slaves = &rounds->slaves;
	struct xbond_client *client = &rounds->entries[i].client;
	uint64_t mac = slaves->mac[rounds->slot[i]];

	if (client->told != mac) {
		client->told = mac;
		client->tells = TELLS;
	} else if (!client->tells && mac == slaves->bond_mac) {
		if (!client->due)
			return KEEP;
		client->due = 0; /* what it has learnt is right */
		return WRITE;
	} else if (!client->tells && !rounds_is_misled(client, retell_ns)) {
		return KEEP;
	}
	client->due = 0;
	return client->mac ? TELL : WRITE;
}

/* Without a slave nobody can be told. */
static bool rounds_must_retell(const struct client_rounds *rounds, uint64_t now_ns)
{
	return rounds->slaves.working && rounds->asked_due_ns && now_ns >= rounds->asked_due_ns;
}

/* While no slave works, clients wait. */
static void rounds_decide_all(struct bond *bond, struct client_rounds *rounds, uint64_t retell_ns)
{
	enum what otherwise = rounds_receive(bond) ? KEEP : FORGET;

	for (int i = 0; i < rounds->count; i++) {
		if (rounds->what[i] == FORGET)
			continue;
		if (!client_table_is_own(&rounds->entries[i]) && rounds->slot[i] < XBOND_MAX_SLAVES)
			rounds->what[i] = rounds_decide(rounds, i, retell_ns);
		if (rounds->slaves.working && rounds->what[i] == KEEP)
			rounds->what[i] = otherwise;
	}
}

/* Returns false if this host's addresses or the map could not be read. */
static bool rounds_forget_gone(struct bond *bond, struct client_rounds *rounds)
{
	int fd = bond->dataplane.pins.clients_fd, count;
	struct client_entry *entries;

	if (gone_addresses_look(&rounds->gone, &bond->daemon->nl))
		return false;
	if (!rounds->gone.count)
		return true;
	count = client_table_read(fd, &entries);
	for (int i = 0; i < count; i++)
		if (gone_addresses_have(&rounds->gone, &entries[i].key))
			bpf_map_delete_elem(fd, &entries[i].key);
	free(entries);
	if (count >= 0)
		rounds->gone.count = 0;
	return count >= 0;
}

static bool rounds_read(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	int count = rounds_forget_gone(bond, rounds)
			    ? client_table_read(bond->dataplane.pins.clients_fd, &rounds->entries)
			    : -ENOMEM;
	bool is_read = count >= 0;

	rounds->count = is_read ? count : 0;
	rounds->known = is_read ? count : XBOND_MAX_CLIENTS; /* there may be so many */
	rounds->look_ns = now_ns + (is_read ? LOOK_NS : READ_AGAIN_NS);
	return is_read;
}

/*
 * The work of the round is in what[] afterwards. Returns false if the map could not be read:
 * nothing has changed, and it is due again.
 */
static bool rounds_begin(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	uint64_t asked_ns = bond->dataplane.pins.receivers->asked_ns;
	bool is_new = asked_ns != rounds->asked_ns;

	if (!rounds_read(bond, rounds, now_ns))
		return false;
	rounds->at = 0;
	rounds->step_ns = 0;
	rounds->tell_ns = 0;
	rounds->retold_ns = asked_ns;
	rounds->retells = rounds_must_retell(rounds, now_ns);
	rounds_forget_old(rounds, now_ns);
	rounds_share(bond, rounds);
	rounds_decide_all(bond, rounds, !rounds->retells ? 0 : is_new ? asked_ns : RETELL_DUE);
	return true;
}

static void rounds_do(struct bond *bond, struct client_rounds *rounds, int i)
{
	int fd = bond->dataplane.pins.clients_fd;
	struct client_entry *entry = &rounds->entries[i];

	if (rounds->what[i] == FORGET) {
		bpf_map_delete_elem(fd, &entry->key);
		return;
	}
	if (rounds->what[i] == WRITE)
		entry->client.tells = 0;
	else if (entry->client.tells)
		entry->client.tells--;
	if (entry->client.tells)
		rounds->tell_ns = clock_now_ns() + TELL_AGAIN_NS;
	bpf_map_update_elem(fd, &entry->key, &entry->client, BPF_EXIST);
	if (rounds->what[i] == TELL)
		client_tell(bond, rounds->slot[i], entry);
}

/* What is levelled is known when all is written, so that another bondd would do the rest. */
static void rounds_end(struct bond *bond, struct client_rounds *rounds)
{
	rounds_drop(rounds);
	if (rounds->retells) {
		rounds->asked_ns = rounds->retold_ns;
		rounds->asked_due_ns = 0;
	}
	__atomic_store_n(&bond->dataplane.pins.receivers->levelled,
			 bond->dataplane.pins.receivers->mask, __ATOMIC_RELEASE);
}

static void rounds_step(struct bond *bond, struct client_rounds *rounds)
{
	int done = 0;

	for (; rounds->at < rounds->count && done < STEP; rounds->at++)
		if (rounds->what[rounds->at] != KEEP) {
			rounds_do(bond, rounds, rounds->at);
			done++;
		}
	arp_sender_flush(bond->daemon->arp_sender);
	crashpoint("clients-half-told");
	if (rounds->at >= rounds->count) {
		rounds_end(bond, rounds);
		return;
	}
	rounds->step_ns = clock_now_ns() + STEP_PAUSE_NS;
}

/* Anew each time, because an evaluation of the bond may have had the timer end sooner. */
static void rounds_await_step(struct bond *bond, const struct client_rounds *rounds)
{
	sd_event_source_set_time(bond->clients, rounds->step_ns / 1000 + 1);
	sd_event_source_set_enabled(bond->clients, SD_EVENT_ONESHOT);
}

/* A broadcast is made good a while after it was seen: not every client heeds a second word. */
static void rounds_note_asked(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	const struct xbond_receivers *receivers = bond->dataplane.pins.receivers;
	uint32_t news = __atomic_load_n(&receivers->news, __ATOMIC_RELAXED);

	if (rounds->asked_due_ns ||
	    (rounds->news == news && rounds->asked_ns == receivers->asked_ns))
		return;
	rounds->news = news;
	rounds->asked_due_ns =
		now_ns + TELL_AGAIN_NS + (uint64_t)rounds->known * RETELL_NS_PER_CLIENT;
}

static bool rounds_is_due(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	struct round_slaves slaves;

	rounds_read_slaves(bond, &slaves);
	if (memcmp(&slaves, &rounds->slaves, sizeof(slaves))) {
		rounds->slaves = slaves;
		rounds_drop(rounds);
		return true;
	}
	return !rounds->entries &&
	       (now_ns >= rounds->look_ns || (rounds->tell_ns && now_ns >= rounds->tell_ns) ||
		rounds_must_retell(rounds, now_ns));
}

static void rounds_forget(struct bond *bond)
{
	if (!bond->client_rounds)
		return;
	rounds_drop(bond->client_rounds);
	free(bond->client_rounds);
	bond->client_rounds = NULL;
}

/*
 * While addresses are about to change, clients would be told of one that is another slave's. Of a
 * bond that is administratively down nobody is told: it would not receive what they send.
 */
void client_rounds_follow(struct bond *bond)
{
	struct client_rounds *rounds;
	uint64_t now_ns = clock_now_ns();

	if (!rounds_are_on(bond)) {
		rounds_forget(bond);
		return;
	}
	if (!bond->client_rounds)
		bond->client_rounds = calloc(1, sizeof(*bond->client_rounds));
	rounds = bond->client_rounds;
	if (!rounds || bond->device.is_down || bond->evaluation.macs_due ||
	    bond->evaluation.plan_due)
		return;
	rounds_note_asked(bond, rounds, now_ns);
	if (rounds_is_due(bond, rounds, now_ns) && rounds_begin(bond, rounds, now_ns) &&
	    !rounds->entries)
		rounds_end(bond, rounds);
	if (rounds->entries && now_ns >= rounds->step_ns)
		rounds_step(bond, rounds);
	if (rounds->entries)
		rounds_await_step(bond, rounds);
	if (!rounds->known && !rounds_receive(bond))
		rounds_forget(bond);
}

static int rounds_first_gone(const struct client_rounds *rounds)
{
	int i = rounds->at;

	while (i < rounds->count && !gone_addresses_have(&rounds->gone, &rounds->entries[i].key))
		i++;
	return i;
}

/* The host's addresses are read now only if the round that goes on has such clients. */
static void rounds_note_gone(struct bond *bond, struct client_rounds *rounds,
			     const struct address *address)
{
	if (rounds->gone.count == GONE_ADDRESSES && !rounds_forget_gone(bond, rounds))
		return;
	gone_addresses_add(&rounds->gone, address);
	if (rounds_first_gone(rounds) < rounds->count)
		gone_addresses_look(&rounds->gone, &bond->daemon->nl);
	for (int i = rounds_first_gone(rounds); i < rounds->count; i++)
		if (gone_addresses_have(&rounds->gone, &rounds->entries[i].key))
			rounds->what[i] = FORGET;
}

void client_rounds_note_address(struct bond *bond, const struct address *address, bool is_gone)
{
	if (!bond->client_rounds)
		return;
	if (is_gone)
		rounds_note_gone(bond, bond->client_rounds, address);
	else
		gone_addresses_drop(&bond->client_rounds->gone, address);
}

static int client_rounds_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	latency_note("clients");
	learning_follow(arg);
	client_rounds_follow(arg);
	return 0;
}

/* A bondd that died after a change of mode has not told all of them. */
static void rounds_recall(struct bond *bond)
{
	struct xbond_client_key first;

	if (bond->dataplane.pins.clients_fd >= 0 &&
	    bpf_map_get_next_key(bond->dataplane.pins.clients_fd, NULL, &first) != -ENOENT)
		bond->client_rounds = calloc(1, sizeof(*bond->client_rounds));
}

int client_rounds_start(struct bond *bond)
{
	int r = sd_event_add_time(bond->daemon->event, &bond->clients, CLOCK_MONOTONIC, 0, 1000,
				  client_rounds_on_time, bond);

	rounds_recall(bond);
	return r < 0 ? r : sd_event_source_set_enabled(bond->clients, SD_EVENT_OFF);
}

void client_rounds_stop(struct bond *bond)
{
	bond->clients = sd_event_source_disable_unref(bond->clients);
	rounds_forget(bond);
}
