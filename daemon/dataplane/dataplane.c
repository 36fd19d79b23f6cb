/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Publishing: how decisions reach the programs. dataplane_pins.c loads and pins. */
#include "daemon/dataplane/dataplane.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"
#include "daemon/base/worker.h"
#include "rules/buckets.h"

#define DEVICE_TRIES 3

static void dataplane_zero(int fd, unsigned int slot, size_t value_size)
{
	int cpus = libbpf_num_possible_cpus();
	void *zeros = cpus > 0 && fd >= 0 ? memory_need(calloc((size_t)cpus, value_size)) : NULL;

	if (zeros)
		bpf_map_update_elem(fd, &slot, zeros, BPF_ANY);
	free(zeros);
}

/*
 * Programs may go on counting meanwhile. Who reads in between counts some twice, and sees that what
 * was retired has changed.
 */
static void dataplane_retire_afxdp(struct xbond_afxdp *afxdp, unsigned int slot)
{
	__u64 *from = (__u64 *)&afxdp->slot[slot], *to = (__u64 *)&afxdp->retired;

	for (size_t i = 0; i < sizeof(afxdp->retired) / sizeof(*to); i++) {
		__u64 count = __atomic_load_n(&from[i], __ATOMIC_RELAXED);

		to[i] += count;
		__atomic_fetch_sub(&from[i], count, __ATOMIC_RELEASE);
	}
}

static void dataplane_zero_counters(struct dataplane *dataplane, unsigned int slot)
{
	dataplane_zero(dataplane->pins.counters_fd, slot, sizeof(struct xbond_counters));
	dataplane_zero(dataplane->pins.drops_fd, slot, sizeof(struct xbond_drops));
	if (dataplane->pins.afxdp)
		dataplane_retire_afxdp(dataplane->pins.afxdp, slot);
}

void dataplane_retire_counters(struct dataplane *dataplane, unsigned int slot)
{
	struct xbond_counters sum;

	if (pins_program_counters(&dataplane->pins, slot, &sum))
		return;
	pins_add_counters(&dataplane->pins.bond->retired, &sum);
	dataplane_zero_counters(dataplane, slot);
}

/* Only an update takes memory, so it may succeed the next moment. */
static int dataplane_write_device(int fd, uint32_t slot, uint32_t ifindex)
{
	int r = -ENOMEM;

	for (int try = 0; try < DEVICE_TRIES && r == -ENOMEM; try++)
		r = bpf_map_update_elem(fd, &slot, &ifindex, BPF_ANY);
	return r;
}

int dataplane_set_device(struct dataplane *dataplane, unsigned int slot, int ifindex)
{
	const int maps[] = { dataplane->devices_fd, dataplane->xdp_slaves_fd };
	uint32_t key = slot;
	int r = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		if (maps[i] < 0)
			continue;
		if (!ifindex)
			bpf_map_delete_elem(maps[i], &key);
		else if (!r)
			r = dataplane_write_device(maps[i], key, (uint32_t)ifindex);
	}
	return r;
}

bool dataplane_has_device(const struct dataplane *dataplane, unsigned int slot)
{
	uint32_t key = slot, ifindex;

	return bpf_map_lookup_elem(dataplane->devices_fd, &key, &ifindex) != -ENOENT;
}

static void dataplane_end_timer(const struct dataplane *dataplane, const char *pin,
				unsigned int slot)
{
	int fd = pin_open(dataplane->pins.dir, pin);

	dataplane_zero(fd, slot, sizeof(struct bpf_timer));
	if (fd >= 0)
		close(fd);
}

static void dataplane_end_timers(const struct dataplane *dataplane, unsigned int slot)
{
	dataplane_end_timer(dataplane, XBOND_PIN_HOLD_TIMERS, slot);
	dataplane_end_timer(dataplane, XBOND_PIN_BFD_TIMERS, slot);
}

static bool dataplane_awaits_lacp(const struct xbond_hold *hold)
{
	return hold->enabled && hold->words[hold->in_force & 1].current;
}

static bool dataplane_awaits_bfd(const struct xbond_bfd_link *link)
{
	return link->enabled && link->words[link->in_force & 1].holding && !link->ended;
}

void dataplane_end_idle_timers(const struct dataplane *dataplane)
{
	const struct pins *pins = &dataplane->pins;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!dataplane_awaits_lacp(&pins->hold[slot]))
			dataplane_end_timer(dataplane, XBOND_PIN_HOLD_TIMERS, slot);
		if (!pins->bfd || !dataplane_awaits_bfd(&pins->bfd->link[slot]))
			dataplane_end_timer(dataplane, XBOND_PIN_BFD_TIMERS, slot);
	}
}

int dataplane_set_slot(struct dataplane *dataplane, unsigned int slot, int ifindex)
{
	struct xbond_table *table = dataplane->pins.table;
	int r = dataplane_set_device(dataplane, slot, ifindex);

	if (r)
		return r;
	if (ifindex) {
		dataplane_zero_counters(dataplane, slot);
		store_release(dataplane->pins.buckets->slot_of[ifindex % XBOND_SLOT_CACHE],
			      (uint8_t)slot);
	} else {
		dataplane_end_timers(dataplane, slot);
	}
	store_release(table->ifindex[slot], (uint32_t)ifindex);
	return 0;
}

static void dataplane_write_broadcast(struct dataplane *dataplane, int fd, uint32_t slot,
				      bool sends)
{
	if (sends)
		bpf_map_update_elem(fd, &slot, &dataplane->pins.slaves[slot].ifindex, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &slot);
}

void dataplane_set_broadcast(struct dataplane *dataplane, uint64_t slots)
{
	uint64_t changed = dataplane->has_broadcast ? dataplane->broadcast ^ slots : UINT64_MAX;
	int fd;

	if (!changed)
		return;
	fd = pin_open(dataplane->pins.dir, XBOND_PIN_XDP_ALL);
	dataplane->has_broadcast = fd >= 0;
	dataplane->broadcast = slots;
	if (fd < 0)
		return;
	slots_for_each (changed, slot)
		dataplane_write_broadcast(dataplane, fd, slot, slots_have(slots, slot));
	close(fd);
}

void dataplane_forget_failed(struct dataplane *dataplane)
{
	store_release(dataplane->pins.table->failed, 0);
}

void dataplane_set_tx_mask(struct dataplane *dataplane, uint64_t mask)
{
	store_release(dataplane->pins.table->tx_mask, mask);
}

void dataplane_set_rx_mask(struct dataplane *dataplane, uint64_t mask)
{
	store_release(dataplane->pins.table->rx_mask, mask);
}

void dataplane_set_drained(struct dataplane *dataplane, uint64_t mask)
{
	store_release(dataplane->pins.table->drained, mask);
}

void dataplane_set_queue_id(struct dataplane *dataplane, unsigned int slot, uint32_t queue_id)
{
	store_release(dataplane->pins.table->queue_id[slot], (uint16_t)queue_id);
}

void dataplane_quiesce(void)
{
	static const struct timespec longer_than_any_program = { .tv_nsec = 50000000 };

	/* Kernels with nohz_full CPUs refuse membarrier. */
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		nanosleep(&longer_than_any_program, NULL);
}

/* One store, which leaves the other bits as the LACP thread has set them. */
static void dataplane_put_flags(struct xbond_table *table, uint32_t which, uint32_t flags)
{
	uint32_t before = __atomic_load_n(&table->flags, __ATOMIC_RELAXED), after;

	do
		after = (before & ~which) | (flags & which);
	while (!__atomic_compare_exchange_n(&table->flags, &before, after, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

/* The LACP thread changes some of them. */
static uint32_t dataplane_flags(const struct xbond_table *table)
{
	return __atomic_load_n(&table->flags, __ATOMIC_RELAXED);
}

/*
 * XDP must not choose for packets of the stack, which may lack their checksum. So XDP begins after
 * the last packet that was let across, and ends before the first.
 */
void dataplane_set_flags(struct dataplane *dataplane, uint32_t which, uint32_t flags)
{
	struct xbond_table *table = dataplane->pins.table;

	if (!((dataplane_flags(table) ^ flags) & which))
		return;
	if (dataplane_flags(table) & XBOND_F_XDP_TX) {
		dataplane_put_flags(table, XBOND_F_XDP_TX, 0);
		dataplane_quiesce();
	}
	if (flags & XBOND_F_XDP_TX) {
		dataplane_put_flags(table, which, flags & ~(uint32_t)XBOND_F_XDP_TX);
		dataplane_quiesce();
	}
	dataplane_put_flags(table, which, flags);
}

void dataplane_offer(struct dataplane *dataplane)
{
	store_release(dataplane->pins.table->select_abi, (uint32_t)XBOND_SELECT_ABI);
}

void dataplane_claim(struct dataplane *dataplane)
{
	store_release(dataplane->pins.table->heartbeat_ns, clock_now_ns());
}

/* If the kernel refuses, everything stays counted. */
static void dataplane_feed_watchdog(struct dataplane *dataplane)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	dataplane_claim(dataplane);
	if (bpf_prog_test_run_opts(dataplane->beat_fd, &options) < 0 || options.retval)
		store_release(dataplane->pins.table->watched, 0);
}

void dataplane_beat(struct dataplane *dataplane)
{
	struct xbond_table *table = dataplane->pins.table;
	bool was_away = xbond_heartbeat_is_older(table->heartbeat_ns, clock_now_ns(),
						 XBOND_HEARTBEAT_FRESH_NS / 2);

	if (!(dataplane_flags(table) & XBOND_F_XDP_TX) || (table->watched && !was_away)) {
		dataplane_feed_watchdog(dataplane);
		return;
	}
	/* Until now, all packets may have crossed the pair. */
	dataplane_put_flags(table, XBOND_F_XDP_TX, 0);
	dataplane_quiesce();
	dataplane_feed_watchdog(dataplane);
	dataplane_quiesce();
	dataplane_put_flags(table, XBOND_F_XDP_TX, XBOND_F_XDP_TX);
}

void dataplane_stop_beating(struct dataplane *dataplane)
{
	store_release(dataplane->pins.table->watched, 0);
	store_release(dataplane->pins.table->heartbeat_ns, 0);
}

static uint32_t dataplane_fill(uint8_t *bucket, uint8_t *home, const struct dataplane_plan *plan)
{
	switch (plan->selection) {
	case XBOND_SELECT_TURNS: return buckets_round_robin(bucket, plan->weight);
	case XBOND_SELECT_ACTIVE:
		buckets_in_order(bucket, (uint8_t)plan->active_slot, plan->order);
		break;
	case XBOND_SELECT_HASH:
	case XBOND_SELECT_ALL:
		buckets_assign(bucket, home, plan->member_weight, plan->weight);
		break;
	}
	return XBOND_BUCKETS;
}

/* Lighter slaves pay more per byte. A slave without weight is never used. */
static void dataplane_set_byte_costs(struct xbond_table *table, const struct dataplane_plan *plan)
{
	uint32_t heaviest = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (plan->weight[slot] > heaviest)
			heaviest = plan->weight[slot];
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (plan->weight[slot])
			table->byte_cost[slot] = (uint32_t)((uint64_t)XBOND_BYTE_COST_ONE *
							    heaviest / plan->weight[slot]);
}

/* Most bonds move nothing, and need no pages of that map. */
void dataplane_settle_moves(struct dataplane *dataplane)
{
	const struct pins *pins = &dataplane->pins;
	const struct moves_maps maps = { .moves = pins->moves,
					 .buckets = pins->buckets,
					 .copy = pins->table->active };

	if (pins->moves && dataplane_flags(pins->table) & XBOND_F_LOADS)
		moves_settle(&maps);
}

/* The slots that get buckets. */
static uint64_t dataplane_weighty(const struct dataplane_plan *plan)
{
	uint64_t slots = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (plan->weight[slot])
			slots |= slots_bit(slot);
	return slots;
}

void dataplane_set_flowlet_gap(struct dataplane *dataplane, uint32_t gap_us)
{
	store_release(dataplane->pins.table->flowlet_gap_ns, gap_us * UINT64_C(1000));
}

void dataplane_publish(struct dataplane *dataplane, const struct dataplane_plan *plan)
{
	uint8_t(*bucket)[XBOND_BUCKETS] = dataplane->pins.buckets->bucket;
	struct xbond_table *table = dataplane->pins.table;
	uint32_t active = table->active & 1, idle = !active;

	if (!dataplane->settled)
		dataplane_quiesce();
	dataplane_settle_moves(dataplane);
	memcpy(bucket[idle], bucket[active], XBOND_BUCKETS);
	table->bucket_count[idle] =
		dataplane_fill(bucket[idle], dataplane->pins.buckets->home, plan);
	dataplane_set_byte_costs(table, plan);
	if (dataplane->pins.flowlets)
		dataplane->pins.flowlets->slots = dataplane_weighty(plan);
	store_release(table->active, idle);
	store_release(table->selection, (uint32_t)plan->selection);
	dataplane->settled = false;
	dataplane->ticket = 0;
}

/* Tickets. */
struct settler {
	struct worker worker;
	uint64_t asked GUARDED_BY(worker_held), served GUARDED_BY(worker_held);
	uint64_t serving; /* the thread's */
};

NEEDS(worker_held) static bool settler_begin(void *context)
{
	struct settler *settler = context;

	settler->serving = settler->asked;
	return settler->serving != settler->served;
}

static void settler_work(void *context)
{
	dataplane_quiesce();
}

NEEDS(worker_held) static void settler_end(void *context)
{
	struct settler *settler = context;

	settler->served = settler->serving;
}

static const struct worker_kind settler_kind = {
	.name = "settle",
	.begin = settler_begin,
	.work = settler_work,
	.end = settler_end,
};

struct settler *settler_new(struct err *err)
{
	struct settler *settler = memory_need(calloc(1, sizeof(*settler)));
	int r = worker_start(&settler->worker, &settler_kind, settler);

	if (!r)
		return settler;
	free(settler);
	err_set(err, -r, "cannot start the thread that waits for programs: %s", strerror(-r));
	return NULL;
}

void settler_free(struct settler *settler)
{
	if (!settler)
		return;
	worker_stop(&settler->worker);
	free(settler);
}

uint64_t settler_ask(struct settler *settler)
{
	uint64_t ticket;

	worker_lock(&settler->worker);
	ticket = ++settler->asked;
	worker_unlock_and_wake(&settler->worker);
	return ticket;
}

int settler_fd(const struct settler *settler)
{
	return settler->worker.fd;
}

uint64_t settler_served(struct settler *settler)
{
	uint64_t served;

	worker_has_ended_turn(&settler->worker);
	worker_lock(&settler->worker);
	served = settler->served;
	worker_unlock(&settler->worker);
	return served;
}

/* What the programs know of the slaves' carriers, and when they tell. */

bool dataplane_look(struct dataplane *dataplane, uint64_t *ret_up, uint64_t *ret_lost)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame));
	const struct xbond_wake *wake = dataplane->pins.wake;

	if (dataplane->look_fd < 0 || !wake || dataplane->devices_fd < 0 ||
	    bpf_prog_test_run_opts(dataplane->look_fd, &options) < 0 || !options.retval)
		return false;
	*ret_up = __atomic_load_n(&wake->up, __ATOMIC_RELAXED);
	*ret_lost = __atomic_load_n(&wake->lost, __ATOMIC_RELAXED);
	return true;
}

bool dataplane_listen_for(struct dataplane *dataplane, uint64_t slots)
{
	struct xbond_wake *wake = dataplane->pins.wake;
	uint64_t told = wake ? __atomic_load_n(&wake->told, __ATOMIC_RELAXED) : 0;

	if (told & slots)
		told = __atomic_and_fetch(&wake->told, ~slots, __ATOMIC_RELEASE);
	return !told;
}
