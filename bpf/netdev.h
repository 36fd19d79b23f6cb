/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the device of a slot carrier? The transmit programs ask the kernel's own struct net_device,
 * which the driver changes first. So they avoid a slot before any message tells bondd, and without
 * bondd. select.h is what they make of it.
 *
 * The device is found through the memory of a devmap, because the kernel clears an entry when the
 * device is unregistered or moves to another namespace. An address kept by bondd would outlive the
 * device. The entries are read in place: the lookup is a function call, which costs more than all
 * of this. docs/notes.md has the figures.
 */
#ifndef XBOND_BPF_NETDEV_H
#define XBOND_BPF_NETDEV_H

#include "bpf/maps.h"
#include "bpf/netdev_read.h"

/*
 * The devices of the slots, written by bondd. The kernel reserves a devmap for the type of the
 * first program that uses it. So the TC programs have one of their own, XBOND_PIN_DEVICES, and that
 * of the XDP programs is the one by which they send, XBOND_PIN_XDP_SLAVES.
 */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

/* Bits of state: the kernel's enum netdev_state_t, which has begun like this for ever. */
#define NETDEV_START (1 << 0)
#define NETDEV_NOCARRIER (1 << 2)
/*
 * The kernel has not yet acted on a change. When carrier comes back, the device's queue still drops
 * everything until the kernel's worker has got the RTNL lock and a CPU.
 */
#define NETDEV_LINKWATCH_PENDING (1 << 3)
/* Which bits must be as in a device that is up: for one that sends for certain, and for one with
 * carrier. While the kernel's work is pending, that may send (carrier was gone for a moment only)
 * or drop everything.
 */
#define NETDEV_SENDS (NETDEV_START | NETDEV_NOCARRIER | NETDEV_LINKWATCH_PENDING)
#define NETDEV_MAY_SEND (NETDEV_START | NETDEV_NOCARRIER)

/* The state of the slot's device, if that is readable. Of an empty entry it is 0. */
static __always_inline __u64 netdev_state(__u32 slot)
{
	return READ_ONCE(netdev_entry(&devices, slot)->dev->state);
}

/* Set before loading: the kernel lets programs copy its memory. Lockdown may forbid it. */
const volatile __u32 netdev_may_copy SEC(".rodata.netdev");

/* For kernels where memory cannot be read in place: the state, or up if it cannot be copied. */
__noinline __u64 netdev_copy_state(__u32 slot)
{
	const struct bpf_dtab_netdev *entry;
	const struct net_device *dev = NULL;
	unsigned long state = 0;
	void *value;

	if (!netdev_may_copy)
		return NETDEV_START;
	value = bpf_map_lookup_elem(&devices, &slot);
	if (!value)
		return 0;
	entry = value - bpf_core_field_offset(struct bpf_dtab_netdev, val);
	bpf_core_read(&dev, sizeof(dev), &entry->dev);
	bpf_core_read(&state, sizeof(state), &dev->state);
	return state;
}

struct xbond_doubt doubt SEC(".data.doubt");

/* Called with each beat of bondd: what was raised before the last one, bondd has acted on. */
static __always_inline void netdev_settle_doubt(void)
{
	__u32 raised = READ_ONCE(doubt.raised);

	if (raised == doubt.before)
		WRITE_ONCE(doubt.settled, raised);
	doubt.before = raised;
}

/* A bondd that stands still is missed after seconds only, but then nobody settles a doubt. */
static __always_inline int netdev_bondd_would_know(void)
{
	return READ_ONCE(table.watched) && READ_ONCE(doubt.raised) == READ_ONCE(doubt.settled);
}

/*
 * Whether the slot's device has none of `bits` but NETDEV_START. An empty entry reads as down: a
 * slot of a mask has a device, so the device has gone. Copying is slow, so it is done only while
 * bondd may not know.
 */
static __always_inline int netdev_is_up(__u32 slot, __u64 bits)
{
	if (netdev_is_readable())
		return (netdev_state(slot) & bits) == NETDEV_START;
	return netdev_bondd_would_know() || (netdev_copy_state(slot) & bits) == NETDEV_START;
}

static __always_inline int netdev_is_lost(__u32 slot)
{
	return !netdev_is_up(slot, NETDEV_SENDS);
}

/*
 * A packet that avoids a slot tells bondd, because the kernel may hold its own message back. If
 * nobody listens, there is at most one record for each slot, and a packet pays for a look at a
 * word.
 */

struct xbond_wake wake SEC(".data.wake");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} losses SEC(".maps");

/* lost: slots that have no carrier. */
static __always_inline void losses_tell(__u64 lost)
{
	struct xbond_loss loss = { .slots = lost & ~READ_ONCE(wake.told) };

	if (!loss.slots)
		return;
	loss.slots &= ~__sync_fetch_and_or(&wake.told, loss.slots);
	loss.ns = bpf_ktime_get_ns();
	if (loss.slots)
		bpf_ringbuf_output(&losses, &loss, sizeof(loss), 0);
}

#endif
