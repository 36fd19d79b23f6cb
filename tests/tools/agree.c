/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does user space (xsk/choice.c) choose as xbond_select() does in the kernel? agree OBJECT SEED
 * reads frames (a __u32 length, then the bytes), plays bondd with the maps of OBJECT, and asks both
 * about each frame, under modes and options that follow from the seed. Prints for each mode: its
 * name, frames, those about which the two disagree, slots that were chosen, and other answers.
 *
 * What the worker keeps between packets, user space gets from the kernel before each frame, and
 * must leave behind as the kernel does. The kernel reads its own clock, so user space answers
 * twice, by the time before the kernel's answer and by the time after it; one of these must be the
 * same. Beside that, flows may move only to slots that are there for flowlets.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "xsk/choice.h"

#define MAX_FRAME 2048
#define LO_INDEX 1 /* stands for the device of every slave: it has carrier */
#define FRAMES_A_BOND 100

/* The maps that the kernel and user space have one copy of each. */
struct kept {
	struct xbond_cursor cursor;
	struct xbond_flowlets flowlets;
	struct xbond_moves moves;
	struct xbond_vlans vlans;
};

struct world {
	struct xbond_settings *settings;
	struct xbond_table *table;
	struct xbond_buckets *buckets;
	struct xbond_alb *alb;
	struct xbond_doubt *doubt;
	struct xbond_cursor *cursor;
	struct xbond_flowlets *flowlets;
	struct xbond_moves *moves;
	struct xbond_vlans *vlans;
	struct xbond_recent *recent; /* of each CPU */
	int program, devices_fd, recent_fd, cpu;
	__u64 up;
};

struct answer {
	int selected;
	unsigned char frame[MAX_FRAME];
	struct kept kept;
};

enum { HASH, LOADS, FLOWLETS, PACKETS, BYTES, RANDOM, ACTIVE, TLB, ALL, SCENARIOS };
static const char *const names[] = { "hash",   "loads",	 "flowlets", "packets", "bytes",
				     "random", "active", "tlb",	     "all" };

static struct timespec user_time;
static __u64 chance;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = user_time;
	return 0;
}

static __u64 now_ns(struct timespec *ret)
{
	__real_clock_gettime(CLOCK_MONOTONIC, ret);
	return (__u64)ret->tv_sec * 1000000000 + (__u64)ret->tv_nsec;
}

/* splitmix64 */
static __u64 any(void)
{
	__u64 word = chance += 0x9e3779b97f4a7c15;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
	word = (word ^ word >> 27) * 0x94d049bb133111eb;
	return word ^ word >> 31;
}

static int one_in(unsigned int count)
{
	return any() % count == 0;
}

/* All slots, most, half, few or one. */
static __u64 any_mask(void)
{
	switch (any() % 5) {
	case 0: return ~0ULL;
	case 1: return any() | any();
	case 2: return any();
	case 3: return any() & any() & any();
	default: return 1ULL << any() % XBOND_MAX_SLAVES;
	}
}

static void *memory_of(struct bpf_object *object, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	void *memory = MAP_FAILED;

	if (map)
		memory = mmap(NULL, bpf_map__value_size(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		err(1, "%s", name);
	return memory;
}

static void load(struct world *world, const char *file)
{
	struct bpf_object *object = bpf_object__open(file);
	cpu_set_t here;

	if (!object || bpf_object__load(object))
		err(1, "%s", file);
	world->settings = memory_of(object, ".data.settings");
	world->table = memory_of(object, ".data.table");
	world->buckets = memory_of(object, ".data.buckets");
	world->alb = memory_of(object, ".data.alb");
	world->doubt = memory_of(object, ".data.doubt");
	world->cursor = memory_of(object, ".data.cursor");
	world->flowlets = memory_of(object, ".data.flowlets");
	world->moves = memory_of(object, ".data.moves");
	world->vlans = memory_of(object, ".data.vlans");
	world->devices_fd = bpf_object__find_map_fd_by_name(object, "xbond_xdp_slaves");
	world->recent_fd = bpf_object__find_map_fd_by_name(object, "xbond_recents");
	world->program = bpf_program__fd(bpf_object__next_program(object, NULL));
	world->recent = calloc((size_t)libbpf_num_possible_cpus(), sizeof(*world->recent));
	world->cpu = sched_getcpu();
	CPU_ZERO(&here);
	CPU_SET(world->cpu, &here);
	if (world->devices_fd < 0 || world->recent_fd < 0 || !world->recent ||
	    sched_setaffinity(0, sizeof(here), &here))
		err(1, "maps");
	world->doubt->raised = 1; /* kernels that cannot read devices in place then copy them */
}

/* Another bond: owners by weights, lost slots, and what the worker has kept. */
static void make_bond(struct world *world, int scenario)
{
	struct xbond_table *table = world->table;
	struct timespec time;
	__u64 now = now_ns(&time);
	__u32 key = 0, lo = LO_INDEX;
	unsigned int slots = 1 + any() % XBOND_MAX_SLAVES;

	/* The turn of a slave that is lost goes to any. */
	world->up = scenario == PACKETS ? ~0ULL : any_mask();
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (world->up >> slot & 1)
			bpf_map_update_elem(world->devices_fd, &slot, &lo, BPF_ANY);
		else
			bpf_map_delete_elem(world->devices_fd, &slot);
		table->byte_cost[slot] = XBOND_BYTE_COST_ONE * (1 + any() % 4);
		world->alb->mac[slot] = one_in(8) ? 0 : any() & 0xfffffffffffe;
		world->alb->order[slot] = one_in(8) ? XBOND_NO_SLOT : any() % XBOND_MAX_SLAVES;
		world->cursor->sent[slot] = any() % (1ULL << 30);
		world->recent[world->cpu].sent[slot] = any() % (1ULL << 24);
	}
	world->alb->bond_mac = world->alb->mac[any() % XBOND_MAX_SLAVES];
	world->recent[world->cpu].since_ns = now;
	bpf_map_update_elem(world->recent_fd, &key, world->recent, BPF_ANY);
	for (int bucket = 0; bucket < XBOND_BUCKETS; bucket++) {
		for (int copy = 0; copy < 2; copy++)
			world->buckets->bucket[copy][bucket] =
				one_in(50) ? XBOND_NO_SLOT : (any() & any()) % slots;
		world->moves->to[bucket] = one_in(3) ? 1 + any() % slots : 0;
		world->moves->moved[bucket] = one_in(4);
		world->moves->seen_ns[bucket] = now - any() % 20000000;
	}
	for (int flow = 0; flow < XBOND_FLOWLETS; flow++)
		world->flowlets->flow[flow] = one_in(3) ? 0 : now - any() % 2000000000;
	world->flowlets->slots = one_in(2) ? 0 : any_mask();
	memset(world->vlans, 0, sizeof(*world->vlans));
	world->cursor->slot = any() % XBOND_MAX_SLAVES;
	world->cursor->until = world->cursor->sent[world->cursor->slot] + any() % 1000000;
}

/* The options of one frame. */
static void make_options(struct world *world, int scenario)
{
	static const __u32 policies[] = { XBOND_POLICY_LAYER2,	XBOND_POLICY_LAYER34,
					  XBOND_POLICY_LAYER23, XBOND_POLICY_ENCAP23,
					  XBOND_POLICY_ENCAP34, XBOND_POLICY_VLAN_SRCMAC,
					  XBOND_POLICY_FLOW };
	static const __u32 selections[SCENARIOS] = {
		[HASH] = XBOND_SELECT_HASH,	[LOADS] = XBOND_SELECT_HASH,
		[FLOWLETS] = XBOND_SELECT_HASH, [PACKETS] = XBOND_SELECT_TURNS,
		[BYTES] = XBOND_SELECT_TURNS,	[RANDOM] = XBOND_SELECT_TURNS,
		[ACTIVE] = XBOND_SELECT_ACTIVE, [TLB] = XBOND_SELECT_HASH,
		[ALL] = XBOND_SELECT_ALL,
	};
	struct xbond_settings *settings = world->settings;
	struct xbond_table *table = world->table;

	settings->xmit_hash_policy = policies[any() % 7];
	settings->symmetric = one_in(4);
	settings->ip6_flow_label = one_in(3);
	settings->drain_mask = one_in(2) ? 0 : any_mask();
	settings->packets_per_slave = scenario == RANDOM ? any() % 3 : 1 + any() % 3;
	settings->bytes_per_slave = scenario == BYTES ? 1 + any() % 20000 : 0;
	settings->active_slot = any() % (XBOND_MAX_SLAVES + 8);
	settings->active_request = (__u32)any() % 2;
	table->active_request = (__u32)any() % 2;
	table->tx_mask = one_in(20) ? 0 : any_mask();
	table->drained = any_mask();
	table->failed = one_in(2) ? 0 : any_mask();
	table->active = (__u32)any() % 2;
	table->selection = selections[scenario];
	table->hash_seed = (__u32)any();
	table->watched = one_in(2);
	table->bucket_count[0] = table->bucket_count[1] = one_in(20) ? 0 : 1 + any() % 4096;
	table->flowlet_gap_ns = 1000 + any() % 100000000;
	world->moves->gap_ns = any() % 10000000;
	table->select_abi = XBOND_SELECT_ABI + one_in(50);
	table->flags = (one_in(20) ? 0 : XBOND_F_CARRIER) | (one_in(50) ? XBOND_F_POLICY : 0) |
		       (one_in(3) ? XBOND_F_BROADCAST_NEIGHBOR : 0) |
		       (one_in(3) ? XBOND_F_DRAIN_MARKERS : 0) |
		       (scenario == LOADS || (scenario == TLB && one_in(2)) ? XBOND_F_LOADS : 0) |
		       (scenario == FLOWLETS ? XBOND_F_FLOWLETS : 0) |
		       (scenario == TLB ? XBOND_F_TLB : 0);
}

static void keep(const struct world *world, struct kept *ret)
{
	ret->cursor = *world->cursor;
	ret->flowlets = *world->flowlets;
	ret->moves = *world->moves;
	ret->vlans = *world->vlans;
}

static void ask_kernel(const struct world *world, const void *frame, __u32 length,
		       struct answer *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = length,
		    .data_out = ret->frame, .data_size_out = MAX_FRAME, .repeat = 1);

	if (bpf_prog_test_run_opts(world->program, &options))
		err(1, "BPF_PROG_RUN");
	ret->selected = (int)options.retval;
	keep(world, &ret->kept);
}

static void ask_user(const struct world *world, const struct timespec *time, const void *frame,
		     __u32 length, const struct kept *before, struct answer *ret)
{
	struct choice choice = { .settings = world->settings,
				 .table = world->table,
				 .buckets = world->buckets,
				 .alb = world->alb,
				 .cursor = &ret->kept.cursor,
				 .flowlets = &ret->kept.flowlets,
				 .moves = &ret->kept.moves,
				 .vlans = &ret->kept.vlans,
				 .recent = world->recent[world->cpu],
				 .random = any() | 1,
				 .up = world->up };

	user_time = *time;
	ret->kept = *before;
	memcpy(ret->frame, frame, length);
	ret->selected = choice_select(&choice, ret->frame, length);
}

static int is_same(const struct answer *a, const struct answer *b, __u32 length)
{
	if (a->selected != b->selected || memcmp(a->frame, b->frame, length))
		return 0;
	for (int flow = 0; flow < XBOND_FLOWLETS; flow++)
		if ((a->kept.flowlets.flow[flow] ^ b->kept.flowlets.flow[flow]) &
		    XBOND_FLOWLET_SLOT)
			return 0;
	return !memcmp(&a->kept.cursor, &b->kept.cursor, sizeof(a->kept.cursor)) &&
	       !memcmp(a->kept.moves.moved, b->kept.moves.moved, XBOND_BUCKETS) &&
	       !memcmp(&a->kept.vlans, &b->kept.vlans, sizeof(a->kept.vlans));
}

/* Two random choices agree if the same slots were possible, or none. */
static int is_possible(const struct world *world, const struct answer *a, const struct answer *b)
{
	__u64 mask = world->table->tx_mask, may = mask & world->up;

	if (a->selected < 0 || a->selected >= XBOND_MAX_SLAVES)
		return a->selected == b->selected;
	return b->selected >= 0 && b->selected < XBOND_MAX_SLAVES &&
	       (!may || may >> b->selected & 1) && (mask | world->table->failed) >> b->selected & 1;
}

/* A flow that has moved is on a slot for flowlets, if any of them may certainly send. */
static int is_for_flowlets(const struct world *world, const struct kept *before,
			   const struct kept *after)
{
	const struct xbond_table *table = world->table;
	__u64 wanted = before->flowlets.slots, certain = wanted & table->tx_mask & world->up;

	certain &= ~(world->settings->drain_mask | table->drained | table->failed);
	for (int flow = 0; certain && flow < XBOND_FLOWLETS; flow++) {
		__u64 slot = after->flowlets.flow[flow] & XBOND_FLOWLET_SLOT;

		if (slot != (before->flowlets.flow[flow] & XBOND_FLOWLET_SLOT) &&
		    !(wanted >> slot & 1))
			return 0;
	}
	return 1;
}

static int agree(struct world *world, int scenario, const void *frame, __u32 length,
		 int *ret_selected)
{
	static struct answer kernel, early, late;
	static struct kept before;
	struct timespec begin, end;
	__u32 key = 0;

	keep(world, &before);
	if (bpf_map_lookup_elem(world->recent_fd, &key, world->recent))
		err(1, "recent");
	now_ns(&begin);
	ask_kernel(world, frame, length, &kernel);
	now_ns(&end);
	ask_user(world, &begin, frame, length, &before, &early);
	ask_user(world, &end, frame, length, &before, &late);
	*ret_selected = kernel.selected;
	if (scenario == FLOWLETS && !is_for_flowlets(world, &before, &kernel.kept))
		return 0;
	if (scenario == RANDOM)
		return is_possible(world, &kernel, &early);
	return is_same(&kernel, &early, length) || is_same(&kernel, &late, length);
}

int main(int argc, char **argv)
{
	struct {
		unsigned int frames, differ, others;
		__u64 slots;
	} of[SCENARIOS] = { { 0 } };
	struct world world = { 0 };
	unsigned char frame[MAX_FRAME];
	__u32 length;

	if (argc != 3) {
		fprintf(stderr, "usage: agree OBJECT SEED <frames\n");
		return 2;
	}
	chance = strtoull(argv[2], NULL, 10);
	load(&world, argv[1]);
	for (unsigned int turn = 0; fread(&length, sizeof(length), 1, stdin) == 1; turn++) {
		int scenario = turn / FRAMES_A_BOND % SCENARIOS, selected;

		if (length > sizeof(frame) || fread(frame, length, 1, stdin) != 1) {
			fprintf(stderr, "agree: a frame is cut or too long\n");
			return 1;
		}
		if (turn % FRAMES_A_BOND == 0)
			make_bond(&world, scenario);
		make_options(&world, scenario);
		of[scenario].frames++;
		of[scenario].differ += !agree(&world, scenario, frame, length, &selected);
		if (selected >= 0 && selected < XBOND_MAX_SLAVES)
			of[scenario].slots |= 1ULL << selected;
		else
			of[scenario].others++;
	}
	for (int at = 0; at < SCENARIOS; at++)
		printf("%s %u %u %d %u\n", names[at], of[at].frames, of[at].differ,
		       __builtin_popcountll(of[at].slots), of[at].others);
	return 0;
}
