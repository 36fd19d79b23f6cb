/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet socket on one device for one direction, with a ring that the kernel fills. It ends with
 * the process, whatever ends that. Nothing is changed on the device. Knows no bonds.
 */
#ifndef XBOND_CLI_BASE_TAP_H
#define XBOND_CLI_BASE_TAP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum tap_direction { TAP_IN, TAP_OUT };

#define TAP_RETIRE_MS 50 /* a packet waits in the ring for others no longer than twice this */

struct tap {
	int fd;
	enum tap_direction direction;
	uint8_t *ring;
	size_t ring_size;
	uint32_t block_size, blocks, next; /* next: the block to be read */
	uint64_t seen, dropped;		   /* by the kernel; see tap_follow_statistics() */
};

struct tap_options {
	const char *device;
	int ifindex;
	enum tap_direction direction;
	uint32_t one_of;  /* one packet of so many, by chance; 1: all */
	uint32_t snaplen; /* at most TAP_MOST */
	size_t room;	  /* of the ring in bytes, about */
	/* The kernel's filter; its return value is the snap length. No instructions: all packets.
	 */
	struct sock_fprog filter;
};

#define TAP_MOST 262144

struct tap_packet {
	uint64_t time_ns; /* Unix time */
	const uint8_t *bytes;
	uint32_t kept, length; /* without the tag */
	int32_t vlan_tci;      /* the tag that the kernel has taken off, or -1 */
	uint16_t vlan_type;
	uint8_t packet_type; /* PACKET_HOST and others of linux/if_packet.h */
};

/* The device must be in this network namespace. Nothing comes in before tap_start(). */
int tap_open(struct tap *ret_tap, const struct tap_options *options, struct err *err);
/* From now on packets come in. The options are those of tap_open(). Returns 0 or -errno. */
int tap_start(const struct tap *tap, const struct tap_options *options);
void tap_close(struct tap *tap);
/* From now on nothing comes in. What is in the ring can be read after 2 * TAP_RETIRE_MS. */
void tap_stop(const struct tap *tap);
/* Calls `take` with each packet that is there. */
void tap_read(struct tap *tap, void (*take)(void *context, const struct tap_packet *packet),
	      void *context);
/* Brings the counts up to date. dropped: no room in the ring; they are among those seen. */
void tap_follow_statistics(struct tap *tap);

#endif
