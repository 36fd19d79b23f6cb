/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/alb.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/abi.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/pins.h"
#include "common/readings.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp.h"
#include "network/ip.h"

/*
 * IP addresses that devices of this host have no longer, until the clients of those that no device
 * has are forgotten.
 */
#define GONE_ADDRESSES 32

struct gone_addresses {
	struct {
		int family;
		uint8_t bytes[16];
	} list[GONE_ADDRESSES];
	unsigned int count;
};

static bool gone_addresses_is(const struct gone_addresses *gone, unsigned int i, int family,
			      const uint8_t *bytes)
{
	return gone->list[i].family == family &&
	       !memcmp(gone->list[i].bytes, bytes, sizeof(gone->list[i].bytes));
}

/* There must be room. */
static void gone_addresses_add(struct gone_addresses *gone, const struct address *address)
{
	unsigned int i = gone->count++;

	gone->list[i].family = address->family;
	memcpy(gone->list[i].bytes, address->bytes, sizeof(gone->list[i].bytes));
}

static void gone_addresses_drop(struct gone_addresses *gone, const struct address *address)
{
	for (unsigned int i = gone->count; i-- > 0;)
		if (gone_addresses_is(gone, i, address->family, address->bytes))
			gone->list[i] = gone->list[--gone->count];
}

/* DADFAILED: another host has it. */
static void gone_addresses_take(const struct address *address, void *arg)
{
	if (!(address->flags & IFA_F_DADFAILED))
		gone_addresses_drop(arg, address);
}

/* Drops those that some device in the namespace of nl has. Returns 0 or -errno. */
static int gone_addresses_look(struct gone_addresses *gone, struct nl *nl)
{
	return gone->count ? address_visit(nl, gone_addresses_take, gone) : 0;
}

/* Is it a client of one of them? */
static bool gone_addresses_have(const struct gone_addresses *gone,
				const struct xbond_client_key *key)
{
	for (unsigned int i = 0; i < gone->count; i++)
		if (gone_addresses_is(gone, i, key->family, key->own))
			return true;
	return false;
}

#define STEP 256 /* entries that are written and sent at once */
#define STEP_PAUSE_NS (50 * NS_PER_MS)
#define BURST 2

/* Tells a client of balance-alb which slave's address it is to send to. */

/*
 * IPv6 clients get a solicitation, which also has the sender's address. An advertisement would have
 * to say whether bond0 is a router, and they would believe it.
 */
static void client_tell(struct bond *bond, unsigned int slot, const struct client_entry *entry)
{
	const struct arp_tag tag = { ntohs(entry->key.vlan_protocol), entry->key.vlan };
	uint8_t told[XBOND_MAC_SIZE], to[XBOND_MAC_SIZE], frame[ARP_FRAME_SIZE];
	const struct arp_probe probe = {
		.source = entry->key.own,
		.target = entry->key.peer,
		.mac = told,
		.to = to,
		.tags = &tag,
		.tag_count = tag.protocol != 0,
	};
	size_t size;

	memcpy(told, &entry->client.told, sizeof(told));
	memcpy(to, &entry->client.mac, sizeof(to));
	size = entry->key.family == AF_INET ? arp_frame_reply(&probe, frame)
					    : arp_frame_solicitation(&probe, frame);
	for (int i = 0; i < BURST; i++)
		arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex,
			       frame, size);
}

/* As the kernel's driver. Linux heeds no second reply within a second. */
#define TELL_AGAIN_NS (2 * NS_PER_S)
/* A broadcast of bond0's address is made good this often in a full table. */
#define RETELL_NS_PER_CLIENT (NS_PER_S / 512)
#define LOOK_NS (30 * NS_PER_S) /* old clients are looked for */
#define READ_AGAIN_NS NS_PER_S	/* after a map that could not be read */

struct client_rounds {
	struct client_plan plan; /* its slaves: of the last round; entries: NULL if none goes on */
	int at, known;		 /* known: clients in the last round */
	uint64_t step_ns;	 /* not before this */
	uint64_t look_ns;	 /* the next round, if nothing happens */
	uint64_t tell_ns;	 /* the next round of those who have to be told again; 0: none */
	uint64_t asked_ns;	 /* the broadcast that was last made good */
	uint64_t asked_due_ns;	 /* when the present one is; 0: there is none */
	uint64_t retold_ns;	 /* those up to then are made good by the round that goes on */
	bool retells;		 /* it does that; if it is given up, the next one does */
	bool counts; /* what is told; not at first: a bondd that died may just have told it */
	uint32_t news;
	bool are_marked;	    /* only addresses that this host has may have clients */
	struct gone_addresses gone; /* their clients are forgotten before the next round */
};

/* Of a bond. */
struct clients {
	struct client_rounds *rounds; /* NULL: off */
	sd_event_source *turn;	      /* when the next step is due */
};

static struct clients *clients_of(const struct bond *bond)
{
	return part_of_bond(bond, &clients_part);
}

/* After a change of mode until all clients know bond0's address again. */
static bool rounds_are_on(struct bond *bond)
{
	return bond_is_ready(bond) && bond->dataplane.pins.receivers &&
	       bond->dataplane.pins.clients_fd >= 0 &&
	       (client_plan_receives(bond) || clients_of(bond)->rounds);
}

static void rounds_drop(struct client_rounds *rounds)
{
	free(rounds->plan.entries);
	rounds->plan.entries = NULL;
	rounds->plan.count = rounds->at = 0;
}

/* Without a slave nobody can be told. */
static bool rounds_must_retell(const struct client_rounds *rounds, uint64_t now_ns)
{
	return rounds->plan.slaves.working && rounds->asked_due_ns &&
	       now_ns >= rounds->asked_due_ns;
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

/* Returns false if this host's devices, its addresses or the map could not be read. */
static bool rounds_look_at_host(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	int marked = client_marks_settle(bond, now_ns);

	rounds->are_marked = marked != 0;
	return marked >= 0 && rounds_forget_gone(bond, rounds);
}

static bool rounds_read(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	int count =
		rounds_look_at_host(bond, rounds, now_ns)
			? client_table_read(bond->dataplane.pins.clients_fd, &rounds->plan.entries)
			: -EIO;
	bool is_read = count >= 0;

	rounds->plan.count = is_read ? count : 0;
	rounds->known = is_read ? count : XBOND_MAX_CLIENTS; /* there may be so many */
	rounds->look_ns = now_ns + (is_read ? LOOK_NS : READ_AGAIN_NS);
	return is_read;
}

/*
 * The work of the round is planned afterwards. Returns false if the map could not be read:
 * nothing has changed, and it is due again.
 */
static bool rounds_begin(struct bond *bond, struct client_rounds *rounds, uint64_t now_ns)
{
	uint64_t asked_ns = bond->dataplane.pins.receivers->asked_ns, retell_ns = 0;
	bool is_new = asked_ns != rounds->asked_ns;

	if (!rounds_read(bond, rounds, now_ns))
		return false;
	rounds->at = 0;
	rounds->step_ns = 0;
	rounds->plan.tells_again = now_ns >= rounds->tell_ns;
	if (rounds->plan.tells_again)
		rounds->tell_ns = 0;
	rounds->retold_ns = asked_ns;
	rounds->retells = rounds_must_retell(rounds, now_ns);
	if (rounds->retells)
		retell_ns = is_new ? asked_ns : CLIENT_RETELL_DUE;
	client_plan_make(bond, &rounds->plan, now_ns, retell_ns);
	return true;
}

static void rounds_do(struct bond *bond, struct client_rounds *rounds, int i)
{
	int fd = bond->dataplane.pins.clients_fd;
	struct client_entry *entry = &rounds->plan.entries[i];

	if (rounds->plan.what[i] == CLIENT_FORGET) {
		bpf_map_delete_elem(fd, &entry->key);
		return;
	}
	if (rounds->plan.what[i] == CLIENT_WRITE)
		entry->client.tells = 0;
	else if (entry->client.tells && rounds->counts)
		entry->client.tells--;
	if (entry->client.tells && (rounds->plan.tells_again || !rounds->tell_ns))
		rounds->tell_ns = clock_now_ns() + TELL_AGAIN_NS;
	bpf_map_update_elem(fd, &entry->key, &entry->client, BPF_EXIST);
	if (rounds->plan.what[i] == CLIENT_TELL)
		client_tell(bond, rounds->plan.slot[i], entry);
}

/* What is levelled is known when all is written, so that another bondd would do the rest. */
static void rounds_end(struct bond *bond, struct client_rounds *rounds)
{
	rounds_drop(rounds);
	rounds->counts = true;
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

	for (; rounds->at < rounds->plan.count && done < STEP; rounds->at++)
		if (rounds->plan.what[rounds->at] != CLIENT_KEEP) {
			rounds_do(bond, rounds, rounds->at);
			done++;
		}
	arp_sender_flush(bond->daemon->arp_sender);
	crashpoint("clients-half-told");
	if (rounds->at >= rounds->plan.count) {
		rounds_end(bond, rounds);
		return;
	}
	rounds->step_ns = clock_now_ns() + STEP_PAUSE_NS;
}

/* Anew each time, because an evaluation of the bond may have had the timer end sooner. */
static void rounds_await_step(struct bond *bond, const struct client_rounds *rounds)
{
	loop_timer_at(clients_of(bond)->turn, rounds->step_ns);
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
	struct client_slaves slaves;

	client_plan_read_slaves(bond, &slaves);
	if (memcmp(&slaves, &rounds->plan.slaves, sizeof(slaves))) {
		rounds->plan.slaves = slaves;
		rounds_drop(rounds);
		return true;
	}
	return !rounds->plan.entries &&
	       (now_ns >= rounds->look_ns || (rounds->tell_ns && now_ns >= rounds->tell_ns) ||
		rounds_must_retell(rounds, now_ns));
}

static void rounds_forget(struct bond *bond)
{
	if (!clients_of(bond)->rounds)
		return;
	rounds_drop(clients_of(bond)->rounds);
	free(clients_of(bond)->rounds);
	clients_of(bond)->rounds = NULL;
}

/*
 * While addresses are about to change, clients would be told of one that is another slave's. Of a
 * bond that is administratively down nobody is told: it would not receive what they send.
 */
void client_rounds_settle(struct bond *bond)
{
	struct client_rounds *rounds;
	uint64_t now_ns = clock_now_ns();

	if (!rounds_are_on(bond)) {
		rounds_forget(bond);
		return;
	}
	if (!clients_of(bond)->rounds)
		clients_of(bond)->rounds =
			memory_need(calloc(1, sizeof(*clients_of(bond)->rounds)));
	rounds = clients_of(bond)->rounds;
	if (bond->device.is_down || bond->evaluation.macs_due || bond->evaluation.plan_due)
		return;
	rounds_note_asked(bond, rounds, now_ns);
	if (rounds_is_due(bond, rounds, now_ns) && rounds_begin(bond, rounds, now_ns) &&
	    !rounds->plan.entries)
		rounds_end(bond, rounds);
	if (rounds->plan.entries && now_ns >= rounds->step_ns)
		rounds_step(bond, rounds);
	if (rounds->plan.entries)
		rounds_await_step(bond, rounds);
	if (!rounds->known && !client_plan_receives(bond))
		rounds_forget(bond);
}

static int rounds_first_gone(const struct client_rounds *rounds)
{
	int i = rounds->at;

	while (i < rounds->plan.count &&
	       !gone_addresses_have(&rounds->gone, &rounds->plan.entries[i].key))
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
	if (rounds_first_gone(rounds) < rounds->plan.count)
		gone_addresses_look(&rounds->gone, &bond->daemon->nl);
	for (int i = rounds_first_gone(rounds); i < rounds->plan.count; i++)
		if (gone_addresses_have(&rounds->gone, &rounds->plan.entries[i].key))
			rounds->plan.what[i] = CLIENT_FORGET;
}

void client_rounds_note_link(struct bond *bond, const struct link_info *link)
{
	int ifindex = (int)bond_pin(bond)->ifindex;

	if (clients_of(bond)->rounds &&
	    (link->ifindex == ifindex || link_is_vlan_on(link, ifindex)))
		clients_of(bond)->rounds->look_ns = 0;
}

void client_rounds_note_address(struct bond *bond, const struct address *address, bool is_gone)
{
	if (!clients_of(bond)->rounds)
		return;
	if (is_gone)
		rounds_note_gone(bond, clients_of(bond)->rounds, address);
	else
		gone_addresses_drop(&clients_of(bond)->rounds->gone, address);
	if (clients_of(bond)->rounds->are_marked)
		clients_of(bond)->rounds->look_ns = 0;
}

/* Messages about addresses were lost, so each that has clients may have gone. */
static void rounds_doubt_addresses(struct bond *bond, struct client_rounds *rounds)
{
	struct client_entry *entries = NULL;
	int count = client_table_read(bond->dataplane.pins.clients_fd, &entries);

	for (int i = 0; i < count; i++) {
		struct address address = { .family = entries[i].key.family };

		memcpy(address.bytes, entries[i].key.own, sizeof(address.bytes));
		if (!gone_addresses_have(&rounds->gone, &entries[i].key))
			rounds_note_gone(bond, rounds, &address);
	}
	free(entries);
	rounds->look_ns = 0;
}

static void clients_settle(struct bond *bond, uint32_t news)
{
	if (clients_of(bond)->rounds)
		rounds_doubt_addresses(bond, clients_of(bond)->rounds);
}

static int client_rounds_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	latency_note("clients");
	learning_settle(arg);
	client_rounds_settle(arg);
	return 0;
}

/* A bondd that died after a change of mode has not told all of them. */
static void rounds_recall(struct bond *bond)
{
	struct xbond_client_key first;

	if (bond->dataplane.pins.clients_fd >= 0 &&
	    bpf_map_get_next_key(bond->dataplane.pins.clients_fd, NULL, &first) != -ENOENT)
		clients_of(bond)->rounds =
			memory_need(calloc(1, sizeof(*clients_of(bond)->rounds)));
}

static int clients_start(struct bond *bond)
{
	rounds_recall(bond);
	return loop_timer(bond->daemon->event, 1000, client_rounds_on_time, bond,
			  &clients_of(bond)->turn);
}

/* The clients of a slave that has failed are told at once. */
static void clients_decided(struct bond *bond, bool has_new_active)
{
	struct clients *clients = clients_of(bond);

	if (!clients->turn || (!clients->rounds && !mode_has(bond_pin(bond)->mode, MODE_RECEIVES)))
		return;
	loop_timer_at(clients->turn, 0);
}

static void clients_stop(struct bond *bond, bool is_over)
{
	clients_of(bond)->turn = sd_event_source_disable_unref(clients_of(bond)->turn);
	rounds_forget(bond);
}

/* Looks again after messages about addresses were lost. */
struct part clients_part = {
	.bond_size = sizeof(struct clients),
	.hears = NEWS_LOST,
	.settle_bond = clients_settle,
	.start = clients_start,
	.decided = clients_decided,
	.stop = clients_stop,
};
