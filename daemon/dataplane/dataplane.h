/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side of one bond: loads and pins programs and maps, and publishes decisions in the table
 * map. Knows slots and ifindexes, not devices.
 */
#ifndef XBOND_DAEMON_DATAPLANE_DATAPLANE_H
#define XBOND_DAEMON_DATAPLANE_DATAPLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/paths.h"
#include "common/pins.h"

/* Which programs transmit. bpf/xbond.bpf.c has one of each name for each. */
enum programs {
	PROGRAMS_PAIR,	 /* all packets cross the pair: xbond_egress chooses no slave */
	PROGRAMS_DIRECT, /* it may choose one */
	PROGRAMS_ASK,	 /* likewise, and a policy of the user is asked (bpf/policy_ask.h) */
	PROGRAMS_COUNT,
};

struct dataplane {
	struct pins pins;
	enum programs programs; /* that are pinned, if they are of this build */
	int egress_fd, port_fd, rx_fd, beat_fd;
	int look_fd;	    /* -1: the programs are of a build that does not have it */
	int exit_fd;	    /* while it is open, the programs see bondd die; -1: they cannot */
	int devices_fd;	    /* -1: the programs are of a build that does not ask the devices */
	int xdp_slaves_fd;  /* -1: likewise */
	bool settled;	    /* no program is still reading the idle copy of the buckets */
	uint64_t ticket;    /* of evaluate.c, which waits for that; 0: nobody waits */
	bool has_broadcast; /* dataplane_set_broadcast() has written this: */
	uint64_t broadcast;
};

/*
 * Called once, before anything else of libbpf: its messages go into error lines, not to stderr.
 * paths stay with the caller.
 */
void dataplane_init(const struct paths *paths);

/* Which programs a bond with these options needs; asks: it has a policy. */
enum programs dataplane_programs(const struct xbond_bond *bond,
				 const struct xbond_settings *settings, bool asks);
/*
 * Loads the programs and pins them with their maps as bond->name; settings and bond are the first
 * contents of those maps. Either everything is pinned or nothing. If the kernel refuses, err has
 * the verifier's last lines.
 */
int dataplane_create(struct dataplane *ret_dataplane, const char *bpf_dir,
		     const struct xbond_bond *bond, const struct xbond_settings *settings,
		     struct err *err);
/* Nothing is open, so that dataplane_close() closes nothing. */
void dataplane_clear(struct dataplane *ret_dataplane);
/*
 * Opens the pins of another bondd, in two steps. Between them, pins of programs may be replaced,
 * and missing pins may be added.
 */
int dataplane_open_maps(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name,
			struct err *err);
int dataplane_open_programs(struct dataplane *dataplane, struct err *err);
void dataplane_close(struct dataplane *dataplane);
/* The bond has a new name: moves the pins. */
int dataplane_rename(struct dataplane *dataplane, const char *bpf_dir, const char *name,
		     struct err *err);
/* Exchanges the directories of two bonds. */
int dataplane_swap(struct dataplane *a, struct dataplane *b, struct err *err);
/*
 * From then on nobody sees the bond, and another one may have its name. Returns 0 or -errno: then
 * all of its pins are still there. To be called before dataplane_remove().
 */
int dataplane_withdraw(struct dataplane *dataplane, const char *bpf_dir);
/* Closes, and removes the pins that are left. */
void dataplane_remove(struct dataplane *dataplane);

/*
 * A slot begins, or ends if ifindex is 0, which does not fail. The counters of a slot that begins
 * are zero. Returns 0 or -errno.
 */
int dataplane_set_slot(struct dataplane *dataplane, unsigned int slot, int ifindex);
/*
 * The programs ask this device for the slot's carrier, and XDP sends by it; 0: none. Part of
 * dataplane_set_slot(); by itself for a slot of an earlier bondd, whose device may have been away.
 */
int dataplane_set_device(struct dataplane *dataplane, unsigned int slot, int ifindex);
/* The kernel takes it from the map when it leaves the namespace, also if it comes back. */
bool dataplane_has_device(const struct dataplane *dataplane, unsigned int slot);
/*
 * A timer keeps the program that has wound it up last, and the maps of that, even when it has run
 * down. So the timers of a slot end with it, and before an upgrade those by which nobody is awaited
 * any more: the next packet makes them anew. The others are wound up again by the new programs.
 */
void dataplane_end_idle_timers(const struct dataplane *dataplane);
/* The slots by which XDP programs broadcast, the bond's own and those of others. */
void dataplane_set_broadcast(struct dataplane *dataplane, uint64_t slots);
/*
 * Which slots have carrier, and which have lost it, by their devices' own words. A slot that is in
 * neither is about to change. Returns false if the kernel or the programs cannot tell.
 */
bool dataplane_look(struct dataplane *dataplane, uint64_t *ret_up, uint64_t *ret_lost);
/*
 * Packets that avoid these slots may tell of it again. Returns false if they told of others, too.
 */
bool dataplane_listen_for(struct dataplane *dataplane, uint64_t slots);
/* Adds the slot's counters to the sums of slaves that have left. */
void dataplane_retire_counters(struct dataplane *dataplane, unsigned int slot);
/* What the programs found while bondd was away no longer counts. */
void dataplane_forget_failed(struct dataplane *dataplane);
void dataplane_set_tx_mask(struct dataplane *dataplane, uint64_t mask);
void dataplane_set_rx_mask(struct dataplane *dataplane, uint64_t mask);
/* The slots that are drained now, for XBOND_F_DRAIN_MARKERS. */
void dataplane_set_drained(struct dataplane *dataplane, uint64_t mask);
/* 0: none. */
void dataplane_set_queue_id(struct dataplane *dataplane, unsigned int slot, uint32_t queue_id);
/*
 * Sets the flags in `which`. The others belong to somebody else and stay. May take some 10 ms if
 * XDP chooses.
 */
void dataplane_set_flags(struct dataplane *dataplane, uint32_t which, uint32_t flags);
/* Programs of others (xbond/select.bpf.h) may rely on the maps from now on. */
void dataplane_offer(struct dataplane *dataplane);
/* For whoever reads the maps: a bondd has this bond. The programs wait for dataplane_beat(). */
void dataplane_claim(struct dataplane *dataplane);
/*
 * bondd is alive, and counts as alive for XBOND_HEARTBEAT_FRESH_NS. After an absence, XDP chooses
 * only when no packet is on its way across.
 */
void dataplane_beat(struct dataplane *dataplane);
/* bondd ends in order. */
void dataplane_stop_beating(struct dataplane *dataplane);

/* What decides how the buckets are filled. */
struct dataplane_plan {
	enum xbond_selection selection;
	unsigned int active_slot; /* active-backup: the slot that gets all; or XBOND_NO_SLOT */
	/* And the slots that take over if it cannot, in this order; XBOND_NO_SLOT fills it up. */
	uint8_t order[XBOND_MAX_SLAVES];
	uint32_t weight[XBOND_MAX_SLAVES]; /* the weights of the slots in use; 0: no bucket */
	/* The weights of all, even while they are down or drained. */
	uint32_t member_weight[XBOND_MAX_SLAVES];
};

/* For XBOND_F_FLOWLETS. */
void dataplane_set_flowlet_gap(struct dataplane *dataplane, uint32_t gap_us);
/* Ends what moves by load: rules/buckets.h. */
void dataplane_settle_moves(struct dataplane *dataplane);
/* Fills the buckets by the plan; one store puts them in force. */
void dataplane_publish(struct dataplane *dataplane, const struct dataplane_plan *plan);
/* Waits until every program that began before this call has ended: up to some 10 ms. */
void dataplane_quiesce(void);

/*
 * A thread that waits until every BPF program that began before has ended (dataplane_quiesce()).
 * That takes some 10 ms, and the main loop must not wait for it. Knows no bonds; callers hold
 * tickets.
 */

struct settler;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct settler *settler_new(struct err *err);
void settler_free(struct settler *settler);

/* A ticket, never 0, for a wait that begins now or later. */
uint64_t settler_ask(struct settler *settler);
/* Readable when tickets are due. */
int settler_fd(const struct settler *settler);
/*
 * Returns the last ticket that is due, with all tickets before it: the programs have ended. Makes
 * the descriptor unreadable.
 */
uint64_t settler_served(struct settler *settler);

#endif
