/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side of one bond: loads and pins programs and maps, publishes the decisions
 * that bond.c makes into the table map. Knows slots and ifindexes, not devices.
 */
#ifndef XBOND_DAEMON_DATAPLANE_DATAPLANE_H
#define XBOND_DAEMON_DATAPLANE_DATAPLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pins.h"

struct dataplane {
	struct pins pins;
	int egress_fd, port_fd, rx_fd, rx_mirred_fd, beat_fd;
	bool settled;	 /* no program can still read the idle copy of the buckets */
	uint64_t ticket; /* of burst.c, which waits until it is so; 0: nobody waits */
};

/* Once, before anything of libbpf is called: its words go into error lines, not to stderr. */
void dataplane_init(void);

/*
 * Loads the programs and pins them with their maps as bond->name; settings and bond are
 * their first contents. All or nothing is pinned. The kernel's refusal is told with the
 * verifier's last lines.
 */
int dataplane_create(struct dataplane *ret_dataplane, const char *bpf_dir,
		     const struct xbond_bond *bond, const struct xbond_settings *settings,
		     struct err *err);
/* Opens what another bondd has pinned. */
int dataplane_open(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name,
		   struct err *err);
/*
 * The same in two steps: between them pins of programs may be replaced, or come that were not
 * there.
 */
int dataplane_open_maps(struct dataplane *ret_dataplane, const char *bpf_dir, const char *name,
			struct err *err);
int dataplane_open_programs(struct dataplane *dataplane, struct err *err);
void dataplane_close(struct dataplane *dataplane);
/* Follows a new name of the bond: moves the pins. */
int dataplane_rename(struct dataplane *dataplane, const char *bpf_dir, const char *name,
		     struct err *err);
/* Two bonds exchange their directories. */
int dataplane_swap(struct dataplane *a, struct dataplane *b, struct err *err);
/* Closes, and removes the pins, whatever is left of them. */
void dataplane_remove(struct dataplane *dataplane, const char *bpf_dir);

/* Of our own namespace; 0: the kernel does not tell (before 5.14). */
uint64_t dataplane_netns_cookie(void);

/* A slot begins or (ifindex 0) ends. Counters of a slot that begins are zero. */
void dataplane_set_slot(struct dataplane *dataplane, unsigned int slot, int ifindex);
/* The slot's counters go to what the bond remembers of slaves that have left. */
void dataplane_retire_counters(struct dataplane *dataplane, unsigned int slot);
void dataplane_zero_counters(struct dataplane *dataplane, unsigned int slot);
void dataplane_set_tx_mask(struct dataplane *dataplane, uint64_t mask);
void dataplane_set_rx_mask(struct dataplane *dataplane, uint64_t mask);
/* What is drained by now, for XBOND_F_DRAIN_MARKERS. */
void dataplane_set_drained(struct dataplane *dataplane, uint64_t mask);
/* 0: none. */
void dataplane_set_queue_id(struct dataplane *dataplane, unsigned int slot, uint32_t queue_id);
/*
 * Of the flags in `which`; the others are somebody else's, and stay. May take some 10 ms where XDP
 * chooses.
 */
void dataplane_set_flags(struct dataplane *dataplane, uint32_t which, uint32_t flags);
/*
 * bondd lives, and does for XBOND_HEARTBEAT_FRESH_NS. After an absence, XDP chooses only once
 * nothing is on its way across.
 */
void dataplane_beat(struct dataplane *dataplane);
/* An orderly end. */
void dataplane_stop_beating(struct dataplane *dataplane);

/* What the buckets are filled by. */
struct dataplane_plan {
	enum xbond_selection selection;
	unsigned int active_slot;	   /* active-backup: gets all; or XBOND_NO_SLOT */
	uint32_t weight[XBOND_MAX_SLAVES]; /* of those in use; 0: no bucket */
	/* Of all, also while they are down or drained. */
	uint32_t member_weight[XBOND_MAX_SLAVES];
};

/* Buckets by plan; one store puts them in force. */
void dataplane_publish(struct dataplane *dataplane, const struct dataplane_plan *plan);
/* Waits until every program that began before has ended; up to some 10 ms. */
void dataplane_quiesce(void);

#endif
