/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Native XDP frames as a device's driver would have received them, redirected to another device:
 *
 *   xdplive FROM TO COUNT [FLOWS]
 *
 * COUNT frames of 60 bytes, UDP in IPv4 from 10.0.0.1 to 10.0.0.2 port 9000, FLOWS (a power of
 * two, 1) different source ports by turns at random. Prints nanoseconds per frame as JSON. TO is
 * a device, or - to drop the frames at once, or a pinned program, which gets the frames itself, all
 * of one flow. Runs on one CPU, the one it is started on.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <error.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define FRAME_SIZE 60
#define UDP_SOURCE 34
#define BATCH 64
#define FRAMES_AT_ONCE (1u << 20)

static struct bpf_insn op(uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	return (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm
	};
}

/* A random source port below flows, then a redirect by the devmap; without one: drop. */
static int load(int map_fd, uint32_t flows)
{
	struct bpf_insn code[] = {
		op(BPF_LDX | BPF_MEM | BPF_W, 7, 1, offsetof(struct xdp_md, data), 0),
		op(BPF_LDX | BPF_MEM | BPF_W, 8, 1, offsetof(struct xdp_md, data_end), 0),
		op(BPF_ALU64 | BPF_MOV | BPF_X, 2, 7, 0, 0),
		op(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, FRAME_SIZE),
		op(BPF_JMP | BPF_JGT | BPF_X, 2, 8, 3, 0),
		op(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32),
		op(BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, (int32_t)(flows - 1)),
		op(BPF_STX | BPF_MEM | BPF_H, 7, 0, UDP_SOURCE, 0),
		op(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map_fd),
		op(0, 0, 0, 0, 0),
		op(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 0),
		op(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_DROP),
		op(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
		op(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	int fd;

	if (flows == 1) /* no jump, no random number */
		for (int i = 4; i < 8; i++)
			code[i] = op(BPF_JMP | BPF_JA, 0, 0, 0, 0);
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "xdplive", "GPL", code,
			   sizeof(code) / sizeof(code[0]), &options);
	if (fd < 0)
		error(1, -fd, "program");
	return fd;
}

static int devmap_to(const char *device)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	uint32_t key = 0, ifindex = if_nametoindex(device);
	int fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, "xdplive", 4, 4, 1, &options), r;

	if (fd < 0)
		error(1, -fd, "devmap");
	if (!strcmp(device, "-"))
		return fd;
	if (!ifindex)
		error(1, errno, "%s", device);
	r = bpf_map_update_elem(fd, &key, &ifindex, 0);
	if (r < 0)
		error(1, -r, "devmap entry");
	return fd;
}

static void run(int program_fd, uint32_t ifindex, uint32_t count)
{
	static const uint8_t frame[FRAME_SIZE] = {
		2, 0, 0,  0,  0,    2,	  2,  0, 0, 0, 0,  1, 8, 0, 0x45, 0,	0,    46,   0, 0,
		0, 0, 64, 17, 0x66, 0xbd, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0x23, 0x28, 0, 26,
	};
	struct xdp_md context = { .data_end = FRAME_SIZE, .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = FRAME_SIZE,
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = (int)count,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	int r = bpf_prog_test_run_opts(program_fd, &options);

	if (r < 0)
		error(1, -r, "run");
}

int main(int argc, char **argv)
{
	uint32_t flows = argc > 4 ? (uint32_t)atoi(argv[4]) : 1, ifindex;
	uint32_t count = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
	uint64_t began_ns;
	int fd;

	if (argc < 4 || argc > 5 || !count || !flows || flows & (flows - 1))
		error(1, 0, "usage: xdplive FROM TO COUNT [FLOWS]");
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex)
		error(1, errno, "%s", argv[1]);
	fd = strchr(argv[2], '/') ? bpf_obj_get(argv[2]) : load(devmap_to(argv[2]), flows);
	if (fd < 0)
		error(1, errno, "%s", argv[2]);
	began_ns = clock_now_ns();
	for (uint32_t left = count; left;) {
		uint32_t part = left < FRAMES_AT_ONCE ? left : FRAMES_AT_ONCE;

		run(fd, ifindex, part);
		left -= part;
	}
	printf("{\"frames\": %u, \"ns_per_frame\": %.2f}\n", count,
	       (double)(clock_now_ns() - began_ns) / count);
	return 0;
}
