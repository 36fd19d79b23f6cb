/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/captured.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"

#define BLOCK_MIN (64 * 1024)
#define BLOCKS_MIN 4
#define BLOCK_HEADERS 4096 /* of a block and a packet; more than these take */
#define PREFIX 5

#define LOAD_AUX(what)                                                          \
	{                                                                       \
		BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)(SKF_AD_OFF + (what)) \
	}
#define RETURN(length)                          \
	{                                       \
		BPF_RET | BPF_K, 0, 0, (length) \
	}

/* One of so many by chance, then the direction. Both go on to what follows, or end the program. */
static size_t tap_put_prefix(struct sock_filter *code, const struct tap_options *options)
{
	uint8_t is_out = options->direction == TAP_OUT;
	struct sock_filter *at = code;

	if (options->one_of > 1) {
		*at++ = (struct sock_filter)LOAD_AUX(SKF_AD_RANDOM);
		*at++ = (struct sock_filter){ BPF_JMP | BPF_JGT | BPF_K, 2, 0,
					      UINT32_MAX / options->one_of };
	}
	*at++ = (struct sock_filter)LOAD_AUX(SKF_AD_PKTTYPE);
	*at++ = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, is_out, !is_out, PACKET_OUTGOING };
	*at++ = (struct sock_filter)RETURN(0);
	return (size_t)(at - code);
}

int tap_start(const struct tap *tap, const struct tap_options *options)
{
	const struct sock_filter all = RETURN(options->snaplen);
	const struct sock_filter *rest = options->filter.len ? options->filter.filter : &all;
	size_t rest_length = options->filter.len ? options->filter.len : 1, length;
	struct sock_filter *code = memory_need(calloc(PREFIX + rest_length, sizeof(*code)));
	struct sock_fprog program = { .filter = code };
	int r;

	length = tap_put_prefix(code, options);
	memcpy(code + length, rest, rest_length * sizeof(*code));
	program.len = (unsigned short)(length + rest_length);
	r = setsockopt(tap->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	r = r ? -errno : 0;
	free(code);
	return r;
}

static int tap_attach_none(const struct tap *tap)
{
	struct sock_filter none = RETURN(0);
	const struct sock_fprog program = { .len = 1, .filter = &none };

	return setsockopt(tap->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno
											    : 0;
}

void tap_stop(const struct tap *tap)
{
	tap_attach_none(tap);
}

static int tap_make_ring(struct tap *tap, const struct tap_options *options)
{
	int version = TPACKET_V3;
	struct tpacket_req3 request = { .tp_retire_blk_tov = TAP_RETIRE_MS };

	for (tap->block_size = BLOCK_MIN; tap->block_size < options->snaplen + BLOCK_HEADERS;)
		tap->block_size *= 2;
	tap->blocks = (uint32_t)(options->room / tap->block_size);
	if (tap->blocks < BLOCKS_MIN)
		tap->blocks = BLOCKS_MIN;
	request.tp_block_size = request.tp_frame_size = tap->block_size;
	request.tp_block_nr = request.tp_frame_nr = tap->blocks;
	tap->ring_size = (size_t)tap->block_size * tap->blocks;
	if (setsockopt(tap->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(tap->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)))
		return -errno;
	tap->ring = mmap(NULL, tap->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, tap->fd, 0);
	if (tap->ring == MAP_FAILED) {
		tap->ring = NULL;
		return -errno;
	}
	return 0;
}

/* Bound last, so that the filter has seen all that comes. */
static int tap_bind(struct tap *tap, const struct tap_options *options)
{
	const struct sockaddr_ll address = { .sll_family = AF_PACKET,
					     .sll_protocol = htons(ETH_P_ALL),
					     .sll_ifindex = options->ifindex };
	int on = 1;

	if (options->direction == TAP_IN &&
	    setsockopt(tap->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)))
		return -errno;
	return bind(tap->fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
}

int tap_open(struct tap *ret_tap, const struct tap_options *options, struct err *err)
{
	struct tap *tap = ret_tap;
	char name[IF_NAMESIZE];
	int r;

	*tap = (struct tap){ .direction = options->direction };
	if (!if_indextoname((unsigned int)options->ifindex, name) || strcmp(name, options->device))
		return err_set(err, ENODEV,
			       "%s is not in this network namespace; run bondctl where the slaves "
			       "are",
			       options->device);
	tap->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (tap->fd < 0 && (errno == EPERM || errno == EACCES))
		return err_set(err, EPERM,
			       "no permission to capture packets; run as root, or "
			       "give bondctl CAP_NET_RAW");
	if (tap->fd < 0)
		return err_set(err, errno, "cannot open a packet socket: %m");
	r = tap_attach_none(tap);
	if (!r)
		r = tap_make_ring(tap, options);
	if (!r)
		r = tap_bind(tap, options);
	if (!r)
		return 0;
	tap_close(tap);
	return err_set(err, -r, "cannot capture on %s: %s", options->device, strerror(-r));
}

void tap_close(struct tap *tap)
{
	if (tap->ring)
		munmap(tap->ring, tap->ring_size);
	close(tap->fd);
	tap->ring = NULL;
}

static void tap_describe(const struct tpacket3_hdr *header, struct tap_packet *ret_packet)
{
	const struct sockaddr_ll *link =
		(const void *)((const uint8_t *)header + TPACKET_ALIGN(sizeof(*header)));
	bool tagged = header->tp_status & TP_STATUS_VLAN_VALID;

	*ret_packet = (struct tap_packet){
		.time_ns = header->tp_sec * UINT64_C(1000000000) + header->tp_nsec,
		.bytes = (const uint8_t *)header + header->tp_mac,
		.kept = header->tp_snaplen,
		.length = header->tp_len,
		.vlan_tci = tagged ? (int32_t)(header->hv1.tp_vlan_tci & 0xffff) : -1,
		.vlan_type = header->tp_status & TP_STATUS_VLAN_TPID_VALID
				     ? header->hv1.tp_vlan_tpid
				     : ETH_P_8021Q,
		.packet_type = link->sll_pkttype,
	};
}

static void tap_read_block(const struct tpacket_block_desc *block,
			   void (*take)(void *context, const struct tap_packet *packet),
			   void *context)
{
	const uint8_t *at = (const uint8_t *)block + block->hdr.bh1.offset_to_first_pkt;
	struct tap_packet packet;

	for (uint32_t i = 0; i < block->hdr.bh1.num_pkts; i++) {
		const struct tpacket3_hdr *header = (const void *)at;

		tap_describe(header, &packet);
		take(context, &packet);
		at += header->tp_next_offset;
	}
}

void tap_read(struct tap *tap, void (*take)(void *context, const struct tap_packet *packet),
	      void *context)
{
	socklen_t size = sizeof(int);
	int error;

	/* A device that goes down leaves an error, for which poll() would not wait. */
	getsockopt(tap->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	/* At most once round, so that a fast sender does not keep the caller here. */
	for (uint32_t i = 0; i < tap->blocks; i++) {
		struct tpacket_block_desc *block =
			(void *)(tap->ring + (size_t)tap->next * tap->block_size);

		if (!(__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) &
		      TP_STATUS_USER))
			break;
		tap_read_block(block, take, context);
		__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		tap->next = (tap->next + 1) % tap->blocks;
	}
}

void tap_read_statistics(struct tap *tap)
{
	struct tpacket_stats_v3 statistics = { 0 };
	socklen_t size = sizeof(statistics);

	if (getsockopt(tap->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size))
		return;
	tap->seen += statistics.tp_packets;
	tap->dropped += statistics.tp_drops;
}
