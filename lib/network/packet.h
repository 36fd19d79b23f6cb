/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet sockets: frames that are sent, with their checksums, and who captures. */
#ifndef XBOND_NETWORK_PACKET_H
#define XBOND_NETWORK_PACKET_H

#include <arpa/inet.h>
#include <netinet/if_ether.h>
#include <stddef.h>
#include <stdint.h>

/* Sends frames out of a device. */

/* Opens a packet socket that receives nothing; -1 on failure. */
int packet_open(void);
/* The same, with control priority, so that a full queue of data does not delay a frame. */
int packet_open_control(void);
/* Sends whole frames. Frames that cannot be sent at once are lost. */
void packet_send(int fd, int ifindex, const void *frame, size_t size);

/* What the device with this MAC asks or says; of a RARP request its own address is the target. */
struct ether_arp packet_arp(uint16_t operation, const uint8_t *mac, const uint8_t source[4],
			    const uint8_t target[4]);

/* The Internet checksum (RFC 1071), in parts of even size. */

static inline uint32_t checksum_add(uint32_t sum, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i + 1 < size; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	return sum;
}

/* In network byte order. */
static inline uint16_t checksum_end(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/*
 * Of an ICMPv6 message, with its pseudo header (RFC 4443, 2.3). addresses: the sender's and the
 * receiver's, as a header has them.
 */
static inline uint16_t checksum_icmp6(const void *addresses, const void *message, size_t size)
{
	uint32_t sum = checksum_add((uint32_t)size + IPPROTO_ICMPV6, addresses, 32);

	return checksum_end(checksum_add(sum, message, size));
}

/* Packet captures: packet sockets for every protocol, from /proc/net/packet. */

/* The interface indexes with an ETH_P_ALL packet socket, at most max. Returns the number stored. */
size_t capture_list(int *ret_ifindexes, size_t max);

#endif
