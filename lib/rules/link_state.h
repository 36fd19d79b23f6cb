/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is the link of a slave to be used? By its carrier with its delays, by what the ARP monitor hears,
 * and by flaps, silence and errors, which hold it down. Pure; the caller gives the time.
 */
#ifndef XBOND_RULES_LINK_STATE_H
#define XBOND_RULES_LINK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/slots.h"

/*
 * The link state of one slave: its carrier, delayed by updelay and downdelay. Pure; the caller
 * gives the time.
 */

struct carrier_input {
	bool carrier;
	bool needed; /* no other slave is up: updelay is skipped, as kernel bonding does */
	uint64_t now_ns;
	uint32_t updelay_ms;
	uint32_t downdelay_ms;
};

struct carrier_state {
	enum xbond_link link;
	uint64_t deadline_ns; /* end of the running delay; 0: none */
};

struct carrier_state carrier_next(struct carrier_state state, const struct carrier_input *input);

/* Has a bond carrier with these slots in use? min_links 0 is the same as 1. */
static inline bool carrier_has_enough(uint64_t slots, uint32_t min_links)
{
	return slots_count(slots) >= (min_links ? min_links : 1);
}

/*
 * What the ARP monitor concludes from what a slave has heard. The rules are those of kernel
 * bonding. Pure; the caller gives the times. bpf/probe.h writes down what was heard.
 */

enum probing_role {
	/* The active slave, or every slave of a mode that has none. It sends probes. */
	PROBING_ACTIVE,
	PROBING_BACKUP, /* of a bond that has an active slave */
	/* There is no active slave. The slaves take turns in sending, and this one's turn it is. */
	PROBING_CANDIDATE,
	PROBING_OTHER, /* the same, and it is another's turn */
};

struct probing_rule {
	uint32_t validate; /* enum xbond_arp_validate */
	bool all_targets;
	uint32_t missed_max;
	uint64_t interval_ns;
	uint32_t targets; /* one bit for each target that is probed, as in struct xbond_probes */
};

struct probing_heard {
	uint64_t any_ns; /* any frame */
	const struct xbond_probe_times *times;
};

/*
 * When the slave last heard something that counts; 0: never. is_answered: the active slave has
 * heard something since it became the active one. Until then its probes, which a backup hears,
 * prove nothing.
 */
uint64_t probing_last_ns(const struct probing_rule *rule, enum probing_role role,
			 const struct probing_heard *heard, bool is_answered);

struct probing_state {
	/* The slave is new, or has become the active one or the candidate. */
	uint64_t since_ns;
	uint32_t missed; /* intervals in a row in which nothing came */
};

enum probing_verdict { PROBING_UP, PROBING_DOWN, PROBING_UNCHANGED };

/*
 * The end of an interval, which began at begun_ns. It counts as one, however long it was: no probe
 * was sent meanwhile.
 */
enum probing_verdict probing_step(const struct probing_rule *rule, enum probing_role role,
				  struct probing_state *state, uint64_t last_ns, uint64_t begun_ns,
				  uint64_t now_ns);

/*
 * How long a slave that has broken a limit stays out of use: 10 s, and twice as long each time that
 * it breaks the limit again after its return, up to 300 s. A minute without that halves the next
 * time. Used for flaps and for errors. Pure; the caller gives the time. The state is pinned, so
 * nothing in it is trusted.
 */

/* How long the hold-down lasts that is in force, or was last. */
uint64_t hold_down_time_ns(const struct xbond_hold_down *hold);
/* How much of it is left; 0: the slave is not held. */
uint64_t hold_down_left_ns(const struct xbond_hold_down *hold, uint64_t now_ns);
/*
 * The slave has broken the limit. If it is held already, the same time begins anew: it returns when
 * it has kept the limit for so long.
 */
void hold_down_trip(struct xbond_hold_down *hold, uint64_t now_ns);

/*
 * Option flap_limit: a slave whose link was lost more often than that within a minute is held down.
 * Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */

/*
 * The driver's count of losses is `losses` now. Those since the last call count as of now; if that
 * is more than a minute ago, because no bondd looked, only so many as fall into a minute on
 * average. excused: bondd caused them itself.
 */
void flaps_take(struct xbond_flaps *flaps, uint32_t losses, bool excused, uint64_t now_ns);
/* A loss that another monitor has seen. */
void flaps_add(struct xbond_flaps *flaps, uint32_t count, uint64_t now_ns);
/* How many there were in the last minute. */
uint32_t flaps_in_minute(const struct xbond_flaps *flaps, uint64_t now_ns);
/* Begins a hold-down, if the limit is broken. Returns true while the slave is held. */
bool flaps_hold(struct xbond_flaps *flaps, uint32_t limit, uint64_t now_ns);

/*
 * Option rx_silence: a slave with carrier that has received no frame for so long is not used. The
 * next frame brings it back. If none comes it is tried again, for the time of rx_silence, at the
 * end of each hold-down: two hosts that both wait for a frame of the other would wait for ever.
 * Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */

#define SILENCE_LOOKS 4	       /* at the counters, in the time of rx_silence */
#define SILENCE_SHORTEST_MS 25 /* between two of them */
#define SILENCE_MIN_MS (SILENCE_LOOKS * SILENCE_SHORTEST_MS)

/* frames: any count that rises with each frame. The time begins anew while there is no carrier. */
void silence_take(struct xbond_silence *silence, uint64_t frames, bool carrier, uint64_t now_ns);
/* Returns true while the slave is out of use. */
bool silence_hold(struct xbond_silence *silence, uint32_t limit_ms, uint64_t now_ns);

/*
 * Option error_limit: a slave that receives more broken frames among a million than that is held
 * down. Pure; the caller gives the time. The state is pinned, so nothing in it is trusted.
 */

/* A driver's counters, as in struct rtnl_link_stats64. */
struct error_counters {
	uint64_t packets, errors, crc, frame, length, over, fifo, missed;
};

/*
 * Frames that were broken on the way. Where a driver does not tell CRC and alignment errors apart,
 * these are its errors without those that say nothing of the link: frames that were too long, and
 * those that found no room.
 */
uint64_t error_rate_broken(const struct error_counters *counters);

/*
 * Takes the sums as they are now. The first call, and one after which a sum is lower, only sets
 * where counting begins. Judges by as many frames as are needed for at least five errors at the
 * limit, and at least 1000. While the slave is held it must keep half the limit. Returns true while
 * it is held.
 */
bool error_rate_hold(struct xbond_errors *errors, uint64_t good, uint64_t broken, uint32_t limit,
		     uint64_t now_ns);

#endif
