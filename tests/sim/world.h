/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's world: LACP systems, cables between their ports, a virtual clock. Time jumps from
 * one frame or deadline to the next; after each, the invariants of check.c are tested. Driven by
 * scenario.c and histories.c.
 */
#ifndef XBOND_TESTS_SIM_WORLD_H
#define XBOND_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"
#include "lacp/lacp.h"

#define SYSTEMS 8
#define FRAMES 4096
#define RING 64
#define MS 1000000ull
#define SECOND 1000000000ull
#define WORLD_NOWHERE ((struct end){ .system = -1 })

struct end {
	int system; /* -1: none */
	unsigned int slot;
};

/* reference.c: one end of a link as an LACPDU has it, octet by octet. */
struct reference_info {
	uint8_t system_priority[2], system[6], key[2], port_priority[2], port[2], state;
};

/* And a port, with the standard's names. Timers: when they expire; 0: they do not run. */
struct reference_port {
	struct reference_info Actor_Oper, Partner_Oper;
	uint8_t receive, periodic, mux; /* the states of its machines */
	uint8_t Selected;
	bool NTT, port_moved, matched;
	uint64_t current_while, periodic_timer, wait_while;
	uint64_t sent[LACP_TX_LIMIT]; /* when LACPDUs were, oldest first */
};

struct port {
	bool exists;
	bool cut;     /* no carrier, at both ends of the cable */
	bool bounced; /* carrier was lost while the daemon was away */
	bool held;    /* a monitor holds it down, though it has carrier */
	bool far_ok;  /* how the drain ended: answered */
	bool drained; /* a drain has ended */
	struct end peer;
	unsigned int loss; /* percent of the frames sent here that get lost */
	unsigned int lose; /* so many of the next LACPDUs sent here get lost */
	uint64_t delay_ns; /* of the cable, in this direction */
	/* Until then the next PDU may not have been sent after losses or absence. */
	uint64_t blind_ns;
	bool collecting, distributing;
	uint64_t sent_ns[LACP_TX_LIMIT]; /* LACPDUs, oldest first, also those sent on hold */
	struct lacp_port_config config;
	struct xbond_hold hold;	      /* its entry in the programs' map */
	struct lacp_thread_sent sent; /* what its daemon remembers for that */
	uint64_t timer_ns;	      /* its timer there; 0: does not run */
	bool refused;		      /* the partner's last words were that it is not in sync */
	uint64_t said_ns;	      /* when it said them */
	/* check.c: */
	uint64_t lost_ns[3]; /* the last LACPDUs that got lost one by one, oldest first */
	/* When PDUs of the link may last have been lost, or a daemon was away. */
	uint64_t troubled_ns;
	/* Since when it sends to a port that does not collect; 0: it does not. */
	uint64_t void_ns;
	uint64_t half_ns;		  /* since when it could send and does not */
	uint64_t drain_ns;		  /* since when a drain goes on; 0: none does */
	uint8_t name[XBOND_MAC_SIZE + 4]; /* system priority, system, key, as last said */
	bool named;
	struct reference_port reference; /* if its system is one */
};

struct system {
	bool exists;
	/* It is none of ours, but what reference.c says; of `lacp` it has the options. */
	bool is_reference;
	bool stopped;	 /* the bond is administratively down */
	bool newer;	 /* speaks version 0xf1, with a TLV more */
	bool individual; /* says that its links cannot be aggregated */
	/* The daemon dies when it has read its next PDU, before the machines run. */
	bool doomed;
	bool away;	  /* the daemon is; the kernel and, with lacp_hold, the answers stay */
	uint64_t away_ns; /* since */
	char name;
	unsigned int ports;
	struct lacp_system lacp;
	struct lacp_system saved; /* as the pinned maps have it */
	struct port port[LACP_MAX_PORTS];
	unsigned int waiting; /* PDUs in the ring that the daemon has not read */
	struct xbond_pdu ring[RING];
	uint64_t deadline_ns;
	struct world *world;
};

struct frame {
	uint64_t due_ns;
	struct end to;
	uint8_t octets[LACP_FRAME_SIZE];
};

struct world {
	uint64_t now_ns;
	uint64_t random;
	unsigned int steps;
	bool verbose;
	bool failed;
	char failure[200];
	/* goals.c: pairs between which traffic must go on, and since when it does not; 0: it does
	 */
	bool steady[SYSTEMS][SYSTEMS];
	uint64_t gap_ns[SYSTEMS][SYSTEMS];
	unsigned int count; /* frames under way */
	struct frame frame[FRAMES];
	struct system system[SYSTEMS];
};

void world_init(struct world *world, uint64_t seed);
uint32_t world_random(struct world *world, uint32_t below);
/* The first failure is kept, with its time. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

void world_system(struct world *world, int index, char name, unsigned int ports,
		  const struct lacp_config *config);
void world_configure(struct world *world, int index, const struct lacp_config *config);
void world_port_configure(struct world *world, struct end end,
			  const struct lacp_port_config *config);
/* What a monitor of the daemon says of these ports; nothing while that is away. */
void world_hold_down(struct world *world, int index, uint64_t slots, bool held);
void world_port_remove(struct world *world, struct end end);
void world_port_add(struct world *world, struct end end);
/* Plugs a cable between two ports, or a port into itself; what was plugged there is pulled out. */
void world_cable(struct world *world, struct end a, struct end b, uint64_t delay_ns);
/* The far ends of two ports change places: carrier is lost meanwhile. */
void world_swap(struct world *world, struct end a, struct end b);
/* The same beyond media converters: carrier stays. */
void world_cross(struct world *world, struct end a, struct end b);
void world_cut(struct world *world, struct end end, bool cut);
/* The next COUNT LACPDUs that are sent there get lost. */
void world_lose(struct world *world, struct end end, unsigned int count);
/* Its LACPDUs are of another version and have more TLVs, as some switches' do. */
void world_newer(struct world *world, int index);
/* AGG is 0 in what it sends, as some partners with one port have it. */
void world_individual(struct world *world, int index);
/* A system that has no cables yet becomes one that is none of ours: reference.c. */
void world_reference(struct world *world, int index);
void world_loss(struct world *world, struct end end, unsigned int percent);
/* The bond goes administratively down, or up again. */
void world_stop(struct world *world, int index, bool stopped);
void world_away(struct world *world, int index);
void world_doom(struct world *world, int index);
void world_back(struct world *world, int index);
int world_drain(struct world *world, struct end end);
/*
 * To the next thing that happens, but not beyond the limit. Returns false when the limit is
 * reached.
 */
bool world_step(struct world *world, uint64_t limit_ns);
void world_run(struct world *world, uint64_t duration_ns);

/* Our ports, and why they are as they are. */
void world_print(const struct world *world);
unsigned int world_carrying(const struct system *system);
void world_send(struct world *world, struct end from, const uint8_t *octets);

/* What world.c, cable.c and arrival.c know of each other. */
extern const struct lacp_outputs world_outputs;
struct port *world_port(struct world *world, struct end end);
struct end world_end(const struct system *system, unsigned int slot);
/* The link of the port is now what its cable, its bond and its monitor make of it. */
void world_update_link(struct world *world, struct end end);
/* Runs the machines of a system whose daemon is there; configured: options were set. */
void world_evaluate(struct system *system, bool configured);
/* The frame has arrived, and is no longer under way. */
void world_deliver(struct world *world, struct frame *frame);

/* cable.c: an LACPDU of the port gets lost. */
void cable_lose_pdu(struct world *world, struct end from);
/* What PDUs tell of this link may come late. */
void cable_note_trouble(struct world *world, struct end end);

/* reference.c: the machines run. Returns when they next must, or LACP_NEVER. */
uint64_t reference_run(struct system *system);
void reference_hear(struct system *system, unsigned int slot, const uint8_t *octets);
/* Leaves what such a system has. */
void reference_options(struct lacp_config *config);

/*
 * hold.c: the program on a slave. Returns the PDU that it hands to the daemon, valid until the next
 * call, or NULL.
 */
const struct xbond_pdu *hold_receive(struct world *world, struct end end, const uint8_t *octets);
void hold_run_timer(struct world *world, struct end end);

/* check.c: what must hold at every moment. */
void check_sent(struct world *world, struct end from, const uint8_t *octets);
void check_world(struct world *world);
/* The program has ended the hold of a port when it heard this LACPDU. */
void check_hold_end(struct world *world, struct end end, const uint8_t *octets);
/*
 * What the machines have done in one run: the ports that distributed by LACP before it, and whether
 * options were set.
 */
void check_run(struct world *world, struct system *system, uint64_t before, bool configured);
/* Ports have been held down, of which the machines had said before what would follow. */
void check_prospect(struct world *world, const struct system *system,
		    const struct lacp_prospect *prospect);
/* The machines let a port distribute, while others may still. */
void check_begin(struct world *world, struct end end);
/* A partner has expired. */
void check_expired(struct world *world, struct end end);
/* A drain has ended. */
void check_drained(struct world *world, struct end end, bool answered);
/* Ports that carry by LACP, without those in fallback. */
uint64_t check_by_lacp(const struct system *system);

/* oracle.c: nothing changes by time alone before the deadline that lacp_run() gave. */
void oracle_ask(struct world *world, uint64_t next_ns);

/* goals.c: what must have come about when trouble has ended, or goes on without change. */
void goals_check(struct world *world, int systems, unsigned int ports);
/*
 * From now on nothing happens that ends traffic between two systems that have only each other:
 * where it flows it must go on, after every step.
 */
void goals_expect_steady(struct world *world, int systems, unsigned int ports);
void goals_check_steady(struct world *world);
/* Links with two passive ends: nobody has spoken there since then. */
void goals_check_quiet(struct world *world, uint64_t from_ns);
/* PDUs and frames get through on this link, and both ends use it. */
bool goals_link_carries(const struct world *world, struct end end);

/* scenario.c, histories.c, explore.c: failures */
int scenario_run(const char *path, const char *only, bool verbose);
int histories_run(unsigned int count, uint64_t seed, bool verbose);
/*
 * Each history of so many bad moves of two systems, of three, or of one and a reference, which are
 * made at the states whose number % share is pick.
 */
int explore_run(unsigned int bad_moves, unsigned int share, unsigned int pick, int ours,
		bool verbose);

#endif
