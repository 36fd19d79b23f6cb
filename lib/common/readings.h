/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of a running bond beside the maps that are mapped into memory, of bondd's main loop,
 * and of slaves that a bond has released.
 */
#ifndef XBOND_COMMON_READINGS_H
#define XBOND_COMMON_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/pins.h"

/*
 * Is a bond's datapath attached? Answers from what bondd has found and from the pinned links
 * themselves, so that it works without bondd. Filters are visible by netlink only; for these
 * the answer is bondd's last finding.
 */

enum attached { ATTACHED, ATTACHED_NOT, ATTACHED_UNKNOWN };

/* The receive program of a member. */
enum attached attached_slave(const struct pins *pins, unsigned int slot);
/* The programs of bond0 and the port side. */
enum attached attached_pair(const struct pins *pins);

/* Whether a device is administratively down. The maps do not have that. */

/* What is said of it; with the bond's name. */
#define SET_DOWN_BOND "the bond is administratively down: 'ip link set %s up' brings it up"

/*
 * False also if it is unknown, because the device is in another network namespace. There may be
 * a device of the same name here, so its MAC address must be this one, too.
 */
bool set_down_is(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);

/*
 * What a bond has dropped, by reason. What devices drop, its slaves and bond0 among them, is in
 * their own counters.
 */

#define DROPS_UNKNOWN UINT64_MAX

/* For scripts, such as "inactive", and what people read behind "dropped 5: ". */
const char *drops_name(enum xbond_drop reason);
const char *drops_words(enum xbond_drop reason);

/* Is it counted for the bond as a whole? All others are counted for each slave. */
static inline bool drops_is_of_bond(enum xbond_drop reason)
{
	return reason == XBOND_DROP_NO_SLAVE;
}

/* Is it of control packets, such as LACPDUs? Only these drops say that something is wrong. */
bool drops_is_of_control(enum xbond_drop reason);

/*
 * What has been dropped since the slot got its device; slot XBOND_DROPS_OF_BOND: since the bond was
 * made. DROPS_UNKNOWN: an earlier build made the bond, or it cannot be read.
 */
void drops_read(const struct pins *pins, unsigned int slot, uint64_t ret_packets[XBOND_DROPS]);

/* What each bucket of a bond sends, from the pinned map `loads`. Filled while XBOND_F_LOADS is set.
 */

/* Sums over all CPUs. Takes some 100 us. Returns 0 or -errno. */
int loads_read(const struct pins *pins, struct xbond_load ret_load[XBOND_BUCKETS]);

/* For how long a bucket has sent nothing, in ticks of XBOND_LOAD_TICK_SHIFT. */
uint32_t loads_silence(const struct xbond_load *load, uint64_t now_ns);

/* The pinned map of balance-alb's clients (bpf/send_tlb.h) as a whole. */

struct client_entry {
	struct xbond_client_key key;
	struct xbond_client client;
};

/*
 * All entries, also those of bond0's own addresses; free() them. Returns their number, 0 if there
 * is no such map, or -errno. Takes less than a millisecond for a full table.
 */
int client_table_read(int clients_fd, struct client_entry **ret_entries);
/* The number alone. */
int client_table_size(int clients_fd);
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

/* Histograms of failovers and of turns: the class of a time; each is a power of two of us. */

#define HISTOGRAM_CLASSES XBOND_FAILOVER_BUCKETS

static inline unsigned int histogram_class(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned int class = us ? 64 - (unsigned int)__builtin_clzll(us) : 0;

	return class < HISTOGRAM_CLASSES ? class : HISTOGRAM_CLASSES - 1;
}

/*
 * How long the turns of bondd's main loop took: figures in a file in its run directory, mapped into
 * memory. bondd writes them. Everybody may read them, even while bondd stands still.
 */

#define LOOP_MAGIC 0x786c6f70 /* "xlop" */
#define LOOP_WORK_SIZE 16
#define LOOP_SLOW_NS (500 * 1000000ull) /* what a turn should never take */

/* During a turn the loop can answer to nothing else. Writer: bondd's main loop. */
struct loop_figures {
	uint32_t magic;
	uint32_t size;
	uint64_t turns;
	uint64_t began_ns; /* start of the running turn (CLOCK_MONOTONIC); 0: none is running */
	uint64_t total_ns; /* of all turns */
	uint64_t worst_ns;
	/* The worst time of any turn, without the time in which it waited for a CPU. */
	uint64_t worst_own_ns;
	char worst_work[LOOP_WORK_SIZE]; /* what the worst turn was for */
	/* Turns of LOOP_SLOW_NS and more; of the last of them, its end, and as above. */
	uint64_t slow_turns, slow_ended_ns, slow_ns, slow_own_ns;
	char slow_work[LOOP_WORK_SIZE];
	/* [n]: turns that took less than 2^n us, but at least half of that. */
	uint64_t histogram[HISTOGRAM_CLASSES];
};

/* For the writer; the memory is zero. Returns NULL and sets errno on failure. */
struct loop_figures *loop_create(const char *run_dir);
void loop_remove(struct loop_figures *figures, const char *run_dir);

/* Makes a copy. Returns 0, or -errno if there is no bondd or one of another version. */
int loop_read(const char *run_dir, struct loop_figures *ret_figures);

/* What of a released slave may still be as the bond had it, in words: for log and `show`. */

/* One bit of XBOND_RESTORED_*: "MTU". */
const char *restored_name(uint32_t bit);

#define RESTORED_TEXT_SIZE 512
/*
 * What is left of all slaves of a bond that are no longer members: "l0: MTU; l1: MAC address, MTU";
 * "" if there are none. Returns text.
 */
const char *restored_left_of(const struct pins *pins, char text[RESTORED_TEXT_SIZE]);

#endif
