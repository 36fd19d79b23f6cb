/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum (RFC 1071), in parts of even size. */
#ifndef XBOND_NETWORK_CHECKSUM_H
#define XBOND_NETWORK_CHECKSUM_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
