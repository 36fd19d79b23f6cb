/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the datapath's programs cost by BPF_PROG_RUN, beside an empty program and one that
 * only redirects, for the benchmarks. Plays bondd: fills the maps of four slaves. Each
 * program is run in turn, many rounds, as the machine's speed changes all the time. Prints
 * one JSON object: of the empty program the median in ns per run, of every other program the
 * median of what it cost more than the empty one in the same round.
 * BPF_PROG_RUN of a program that redirects does the helper's bookkeeping, no transmission.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xbond.skel.h"

#define REPEAT 50000
#define MAX_ROUNDS 101
#define SLAVES 4
#define FIRST_SLAVE 100
#define LOOPBACK 1 /* its ifindex in every namespace */
#define TC_ACT_UNSPEC (-1)

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	unsigned char data[18];
} __attribute__((packed));

struct subject {
	const char *name;
	int fd;
	__u32 selection, policy, path, symmetric;
	__u32 flags; /* beside XBOND_F_CARRIER */
	double ns[MAX_ROUNDS];
};

/* xbond_port under a selection and a policy. */
#define PORT(title, its_selection, its_policy)                                              \
	{                                                                                   \
		.name = title, .fd = port, .selection = its_selection, .policy = its_policy \
	}

static int load(const struct bpf_insn *instructions, size_t count)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", instructions, count, &options);

	if (fd < 0)
		err(1, "BPF_PROG_LOAD");
	return fd;
}

static int load_empty(void)
{
	const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = TC_ACT_UNSPEC },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(instructions, 2);
}

static int load_redirect(void)
{
	const struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = FIRST_SLAVE },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(instructions, 4);
}

/* All slots have the carrier of a loopback device, which is up. */
static void make_carrier(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		err(1, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		err(1, "lo");
	close(fd);
}

static void fill_devices(const struct xbond_bpf *bpf)
{
	const __u32 loopback = LOOPBACK;

	for (__u32 slot = 0; slot < SLAVES; slot++)
		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.devices), &slot, &loopback, BPF_ANY))
			err(1, "devices");
}

static void fill_maps(struct xbond_bpf *bpf)
{
	struct xbond_table *table = &bpf->data_table->table;
	struct xbond_buckets *buckets = &bpf->data_buckets->buckets;

	bpf->data_settings->settings.packets_per_slave = 1;
	table->flags = XBOND_F_CARRIER;
	table->hash_seed = 0x1234567;
	table->watched = 1;
	table->flowlet_gap_ns = 500000;
	table->tx_mask = table->rx_mask = (1 << SLAVES) - 1;
	table->bond_ifindex = 50;
	table->port_ifindex = 51;
	for (int slot = 0; slot < SLAVES; slot++) {
		table->ifindex[slot] = FIRST_SLAVE + slot;
		table->byte_cost[slot] = XBOND_BYTE_COST_ONE;
		buckets->slot_of[FIRST_SLAVE + slot] = slot;
	}
	for (int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		buckets->bucket[0][bucket] = bucket % SLAVES;
	table->bucket_count[0] = XBOND_BUCKETS;
}

static struct frame small_udp(void)
{
	struct frame frame = {
		.eth = { .h_dest = { 2, 0, 0, 0, 0, 2 },
			 .h_source = { 2, 0, 0, 0, 0, 1 },
			 .h_proto = htons(ETH_P_IP) },
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP },
		.udp = { .source = htons(40000), .dest = htons(9), .len = htons(26) }
	};

	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	frame.ip.saddr = htonl(0x0a000001);
	frame.ip.daddr = htonl(0x0a000002);
	return frame;
}

/* ns per run; the kernel's own average is whole nanoseconds, so the clock is read here. */
static double run(int fd, const struct frame *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(*frame),
		    .repeat = REPEAT);
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (bpf_prog_test_run_opts(fd, &options))
		err(1, "BPF_PROG_RUN");
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / REPEAT;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(double), compare);
	return values[count / 2];
}

/* subjects[0] is the empty program. */
static void print_medians(struct subject *subjects, size_t count, unsigned int rounds)
{
	for (size_t i = 1; i < count; i++)
		for (unsigned int round = 0; round < rounds; round++)
			subjects[i].ns[round] -= subjects[0].ns[round];
	for (size_t i = 0; i < count; i++)
		printf("%s\"%s\": %.2f", i ? ", " : "{", subjects[i].name,
		       median(subjects[i].ns, rounds));
	printf("}\n");
}

static void measure(struct xbond_bpf *bpf, struct subject *subjects, size_t count,
		    unsigned int rounds)
{
	const struct frame frame = small_udp();

	for (unsigned int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			bpf->data_table->table.selection = subjects[i].selection;
			bpf->data_settings->settings.xmit_hash_policy = subjects[i].policy;
			bpf->data_settings->settings.path = subjects[i].path;
			bpf->data_settings->settings.symmetric = subjects[i].symmetric;
			bpf->data_table->table.flags = XBOND_F_CARRIER | subjects[i].flags;
			subjects[i].ns[round] = run(subjects[i].fd, &frame);
		}
	}
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 21;
	struct xbond_bpf *bpf = xbond_bpf__open_and_load();
	int port;

	if (!bpf)
		err(1, "loading the datapath");
	if (argc > 2)
		pin(atoi(argv[2]));
	if (rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: progcost [ROUNDS [CPU]]\n");
		return 2;
	}
	make_carrier();
	fill_devices(bpf);
	fill_maps(bpf);
	port = bpf_program__fd(bpf->progs.xbond_port);

	struct subject subjects[] = {
		{ .name = "empty", .fd = load_empty() },
		{ .name = "redirect", .fd = load_redirect() },
		PORT("layer2", XBOND_SELECT_HASH, XBOND_POLICY_LAYER2),
		PORT("layer2+3", XBOND_SELECT_HASH, XBOND_POLICY_LAYER23),
		PORT("layer3+4", XBOND_SELECT_HASH, XBOND_POLICY_LAYER34),
		PORT("vlan+srcmac", XBOND_SELECT_HASH, XBOND_POLICY_VLAN_SRCMAC),
		PORT("flow", XBOND_SELECT_HASH, XBOND_POLICY_FLOW),
		PORT("encap2+3", XBOND_SELECT_HASH, XBOND_POLICY_ENCAP23),
		PORT("encap3+4", XBOND_SELECT_HASH, XBOND_POLICY_ENCAP34),
		{ .name = "layer3+4 symmetric",
		  .fd = port,
		  .selection = XBOND_SELECT_HASH,
		  .policy = XBOND_POLICY_LAYER34,
		  .symmetric = 1 },
		{ .name = "layer3+4, loads counted (rebalance_interval)",
		  .fd = port,
		  .selection = XBOND_SELECT_HASH,
		  .policy = XBOND_POLICY_LAYER34,
		  .flags = XBOND_F_LOADS },
		{ .name = "layer3+4, flowlet_gap",
		  .fd = port,
		  .selection = XBOND_SELECT_HASH,
		  .policy = XBOND_POLICY_LAYER34,
		  .flags = XBOND_F_FLOWLETS },
		PORT("active-backup", XBOND_SELECT_ACTIVE, 0),
		PORT("balance-rr", XBOND_SELECT_TURNS, 0),
		{ .name = "egress counted",
		  .fd = bpf_program__fd(bpf->progs.xbond_egress),
		  .path = XBOND_PATH_COUNTED },
	};

	measure(bpf, subjects, sizeof(subjects) / sizeof(*subjects), rounds);
	print_medians(subjects, sizeof(subjects) / sizeof(*subjects), rounds);
	xbond_bpf__destroy(bpf);
	return 0;
}
