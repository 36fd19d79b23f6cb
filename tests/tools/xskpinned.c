/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that brings a socket of its own to a pinned map, as DPDK does: xskpinned DEVICE QUEUE
 * MAP prints "ready", and for each line on stdin how many frames it has received.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <xdp/xsk.h>

#define FRAMES 256

static struct xsk_ring_prod fill, tx;
static struct xsk_ring_cons completed, rx;

static struct xsk_socket *open_socket(const char *device, __u32 queue)
{
	const struct xsk_umem_config area = { .fill_size = FRAMES,
					      .comp_size = FRAMES,
					      .frame_size = 4096 };
	const struct xsk_socket_config config = { .rx_size = FRAMES,
						  .tx_size = FRAMES,
						  .libxdp_flags =
							  XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
						  .bind_flags = XDP_COPY };
	void *memory = mmap(NULL, FRAMES * 4096UL, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct xsk_umem *umem;
	struct xsk_socket *made;
	__u32 at;

	if (xsk_umem__create(&umem, memory, FRAMES * 4096UL, &fill, &completed, &area) ||
	    xsk_socket__create(&made, device, queue, umem, &rx, &tx, &config) ||
	    xsk_ring_prod__reserve(&fill, FRAMES, &at) != FRAMES)
		return NULL;
	for (__u32 i = 0; i < FRAMES; i++)
		*xsk_ring_prod__fill_addr(&fill, at + i) = i * 4096UL;
	xsk_ring_prod__submit(&fill, FRAMES);
	return made;
}

/* Those that have come since the last call; their memory is not used again. */
static __u32 receive(void)
{
	__u32 at, count = xsk_ring_cons__peek(&rx, FRAMES, &at);

	xsk_ring_cons__release(&rx, count);
	return count;
}

int main(int argc, char **argv)
{
	struct xsk_socket *made = argc == 4 ? open_socket(argv[1], (__u32)atoi(argv[2])) : NULL;
	int map = argc == 4 ? bpf_obj_get(argv[3]) : -1;
	__u32 received = 0;
	char line[16];

	if (!made || map < 0 || xsk_socket__update_xskmap(made, map)) {
		perror("xskpinned DEVICE QUEUE MAP");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		received += receive();
		printf("%u\n", received);
		fflush(stdout);
	}
	return 0;
}
