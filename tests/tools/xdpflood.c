/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `xdpflood OBJECT DEV SECONDS <FRAMES`: sends the frames on stdin by turns out of a device for so
 * many seconds, as native XDP frames, which one CPU makes twice as fast as a socket takes them. The
 * other end must take such frames: a veth with GRO or an XDP program. OBJECT is xdpflood.bpf.o,
 * which knows the size of each frame. Prints how many went out in a second. Knows no protocol.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <error.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"

#define MAX_INPUT (1 << 20)
#define BATCH 64
#define FRAMES_AT_ONCE 200000 /* a run takes 40 ms to end */

static int map_of(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

/* Returns the size of a frame. */
static uint32_t read_frames(struct bpf_object *object, const char *device)
{
	static uint8_t input[MAX_INPUT];
	uint32_t length = (uint32_t)fread(input, 1, sizeof(input), stdin);
	struct bpf_map *frames = bpf_object__find_map_by_name(object, "frames");
	uint32_t size = bpf_map__value_size(frames), count = length / size, key = 0;
	uint32_t ifindex = if_nametoindex(device);

	if (!count || !ifindex)
		error(1, 0, "no frame, or no device %s", device);
	if (bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata"), &count,
				       sizeof(count)) ||
	    bpf_object__load(object))
		error(1, errno, "program");
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(map_of(object, "frames"), &i, input + i * size, 0))
			error(1, errno, "frame");
	if (bpf_map_update_elem(map_of(object, "to"), &key, &ifindex, 0))
		error(1, errno, "%s", device);
	return size;
}

static void run(int program_fd, uint32_t size)
{
	uint8_t frame[size];
	struct xdp_md context = { .data_end = size };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = size,
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = FRAMES_AT_ONCE,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	int r = bpf_prog_test_run_opts(program_fd, &options);

	if (r < 0)
		error(1, -r, "run");
}

int main(int argc, char **argv)
{
	uint64_t began_ns, now_ns, sent = 0;
	struct bpf_object *object;
	uint32_t size;
	int fd;

	if (argc != 4)
		error(1, 0, "usage: xdpflood OBJECT DEV SECONDS <FRAMES");
	object = bpf_object__open(argv[1]);
	if (!object)
		error(1, errno, "%s", argv[1]);
	size = read_frames(object, argv[2]);
	fd = bpf_program__fd(bpf_object__find_program_by_name(object, "xdpflood"));
	began_ns = now_ns = clock_now_ns();
	for (; now_ns - began_ns < (uint64_t)(atof(argv[3]) * NS_PER_S); now_ns = clock_now_ns()) {
		run(fd, size);
		sent += FRAMES_AT_ONCE;
	}
	printf("%.0f\n", (double)sent * NS_PER_S / (double)(now_ns - began_ns));
	return 0;
}
