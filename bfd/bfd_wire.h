/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where things are in a BFD Control packet (RFC 5880, 4.1) and in the frame of micro-BFD (RFC 7130)
 * that carries it. The kernel's programs use it, too.
 */
#ifndef XBOND_BFD_WIRE_H
#define XBOND_BFD_WIRE_H

#define BFD_PACKET_SIZE 24 /* without an authentication section */
#define BFD_PACKET_SIZE_AUTH 26
#define BFD_VERSION 1

/* Offsets. */
#define BFD_AT_VERSION 0 /* and diagnostic, its lower five bits */
#define BFD_AT_STATE 1	 /* its upper two bits, and flags */
#define BFD_AT_MULTIPLIER 2
#define BFD_AT_LENGTH 3
#define BFD_AT_MY_DISCR 4
#define BFD_AT_YOUR_DISCR 8
#define BFD_AT_MIN_TX 12
#define BFD_AT_MIN_RX 16
#define BFD_AT_MIN_ECHO 20

#define BFD_FLAG_POLL 0x20
#define BFD_FLAG_FINAL 0x10
#define BFD_FLAG_INDEPENDENT 0x08
#define BFD_FLAG_AUTHENTICATED 0x04
#define BFD_FLAG_DEMAND 0x02
#define BFD_FLAG_MULTIPOINT 0x01

#define BFD_PROTOCOL_UDP 17
#define BFD_MICRO_PORT 6784	    /* RFC 7130, 2.2 */
#define BFD_FIRST_SOURCE_PORT 49152 /* RFC 5881, 4 */
#define BFD_SOURCE_PORTS 16384
#define BFD_TTL 255 /* RFC 5881, 5: on reception, too */

/* 01-00-5E-90-00-01, RFC 7130, 2.3. */
#define BFD_MICRO_MAC                              \
	{                                          \
		0x01, 0x00, 0x5e, 0x90, 0x00, 0x01 \
	}

#define BFD_ETHER_SIZE 14
#define BFD_IPV4_SIZE 20
#define BFD_IPV6_SIZE 40
#define BFD_UDP_SIZE 8
#define BFD_FRAME_SIZE (BFD_ETHER_SIZE + BFD_IPV6_SIZE + BFD_UDP_SIZE + BFD_PACKET_SIZE)

#endif
