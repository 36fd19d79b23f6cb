/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The slave that a bond would choose for a frame, found in user space by the bond's own worker
 * (bpf/choose.h) over the bond's own maps, without a system call.
 */
#ifndef XBOND_XSK_CHOICE_H
#define XBOND_XSK_CHOICE_H

#include <linux/types.h>
#include <time.h>

#include "bpf/abi.h"

#define CHOICE_MAPS 9

/* For one thread and one bond. */
struct choice {
	/* For reading: who could write these could break the bond. */
	const struct xbond_settings *settings;
	const struct xbond_table *table;
	const struct xbond_buckets *buckets;
	const struct xbond_alb *alb;
	/* What the worker keeps between packets, together with the bond's programs. */
	struct xbond_cursor *cursor;
	struct xbond_flowlets *flowlets;
	struct xbond_moves *moves;
	struct xbond_vlans *vlans;
	struct xbond_afxdp *afxdp; /* the worker does not count */
	/* The caller's own. */
	struct xbond_recent recent;
	__u64 random; /* not 0 */
	__u64 up;     /* slots whose device has carrier, as far as the caller knows */
	__u32 table_id;
	__u32 copied; /* bits of the maps that are copies, for choice_refresh() */
	int look_fd;  /* of choice_look()'s program, or negative */
	int fds[CHOICE_MAPS];
	size_t lengths[CHOICE_MAPS]; /* in memory */
};

/*
 * Maps the pins of a bond: its name, or the directory of its pins. All slots count as up. Returns
 * 0, or -errno with the reason in `why`, which has XBOND_WHY_SIZE bytes (xbond/loader.h): -ENOENT:
 * no such bond; -EPROTO: its bondd has another XBOND_SELECT_ABI; -EAGAIN: its bondd has not adopted
 * it yet, or it was just made anew.
 */
int choice_open(struct choice *ret, const char *bond, char *why);
void choice_close(struct choice *choice);

void choice_copy(struct choice *choice);
/*
 * The kernel maps nothing for those who may only read it, so they have copies, which are made anew
 * by this.
 */
static inline void choice_refresh(struct choice *choice)
{
	if (choice->copied)
		choice_copy(choice);
}

/* Of the map with this pin (table or alb), also when the bond has another name now. */
int choice_fd(const struct choice *choice, const char *pin);

/*
 * Slots whose devices have no carrier, as the kernel's devices say themselves, without the RTNL
 * lock. By a program of the bond, which runs some microseconds. Returns whether it could: Linux has
 * to be 6.2 or newer, and the caller root.
 */
int choice_look(const struct choice *choice, __u64 *ret_lost);
/* Opens its program, or the one that has replaced it since, so that that one can end. */
void choice_renew_look(struct choice *choice, const char *bond);

/*
 * The slot of the slave that the bond chooses for this frame of `length` bytes, which begins with
 * an Ethernet header; or one of enum xbond_selected. In round-robin it is this frame's turn, so
 * call it once for each. In balance-tlb and balance-alb it writes the source address with which the
 * frame has to leave there.
 */
int choice_select(struct choice *choice, void *frame, __u32 length);

/* Not after the bond was deleted, or if its bondd is of another version. */
static inline int choice_is_current(const struct choice *choice)
{
	return choice->table &&
	       __atomic_load_n(&choice->table->select_abi, __ATOMIC_RELAXED) == XBOND_SELECT_ABI;
}

static inline __u32 choice_ifindex(const struct choice *choice, __u32 slot)
{
	return __atomic_load_n(&choice->table->ifindex[slot], __ATOMIC_RELAXED);
}

/* CLOCK_MONOTONIC, as bpf_ktime_get_ns(). */
static inline __u64 choice_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

/* Does the bond receive what comes by this slot, as its programs decide? */
int choice_collects(struct choice *choice, __u32 slot);

#endif
