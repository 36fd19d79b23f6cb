/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of the LACP core: a system with ports, PDUs of a partner, and a record of what came
 * out. Clauses in the tests' names and comments are those of IEEE Std 802.1AX-2014.
 */
#ifndef XBOND_TESTS_UNIT_TEST_LACP_H
#define XBOND_TESTS_UNIT_TEST_LACP_H

#include <errno.h>
#include <string.h>

#include "lacp/machines.h"
#include "tests/unit/unit.h"

#define T0 (1000 * LACP_SECOND)

static struct {
	struct lacp_system sys;
	unsigned int sent;
	uint8_t frame[LACP_FRAME_SIZE]; /* the last */
	uint8_t frame_of[LACP_MAX_PORTS][LACP_FRAME_SIZE];
	bool collecting[LACP_MAX_PORTS], distributing[LACP_MAX_PORTS];
	unsigned int drained, answered;
	int events[LACP_EVENT_RESTLESS + 1];
} lacp;

static void on_transmit(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
	assert_int_equal(length, LACP_FRAME_SIZE);
	memcpy(lacp.frame, frame, length);
	memcpy(lacp.frame_of[slot], frame, length);
	lacp.sent++;
}

static void on_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
	lacp.collecting[slot] = collecting;
	lacp.distributing[slot] = distributing;
}

static void on_aggregator(void *context, unsigned int aggregator)
{
}

static void on_drained(void *context, unsigned int slot, bool answered)
{
	lacp.drained++;
	lacp.answered += answered;
}

static void on_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
	lacp.events[event]++;
}

static const struct lacp_outputs outputs = { on_transmit, on_port, on_aggregator, on_drained,
					     on_event };
static const uint8_t our_system[] = { 2, 0, 0, 0, 0, 0x41 },
		     their_system[] = { 2, 0, 0, 0, 0, 0x42 };

static inline struct lacp_config base_config(void)
{
	struct lacp_config config = lacp_config_default();

	memcpy(config.system, our_system, LACP_MAC_SIZE);
	return config;
}

static inline struct lacp_port_config base_port(unsigned int slot)
{
	return (struct lacp_port_config){ .speed_mbps = 10000,
					  .port = (uint16_t)(slot + 1),
					  .port_priority = 255,
					  .mac = { 2, 1, 0, 0, 0, (uint8_t)slot },
					  .duplex = LACP_DUPLEX_FULL,
					  .link = 1 };
}

static inline void start(unsigned int ports)
{
	struct lacp_config config = base_config();

	memset(&lacp, 0, sizeof(lacp));
	lacp_init(&lacp.sys, &config, &outputs, NULL);
	for (unsigned int slot = 0; slot < ports; slot++) {
		struct lacp_port_config port = base_port(slot);

		assert_int_equal(lacp_port_add(&lacp.sys, slot, &port, T0), 0);
	}
	lacp_run(&lacp.sys, T0);
}

/* The PDU of a partner that knows us, in sync; to be bent by the test. */
static inline struct lacp_pdu partner_pdu(unsigned int slot)
{
	struct lacp_pdu pdu = { .actor = { .system_priority = 65535,
					   .key = 7,
					   .port_priority = 255,
					   .port = (uint16_t)(101 + slot),
					   .state = LACP_ACTIVITY | LACP_AGGREGATION |
						    LACP_SYNCHRONIZATION },
				.partner = lacp.sys.port[slot].actor };

	memcpy(pdu.actor.system, their_system, LACP_MAC_SIZE);
	return pdu;
}

/* A LACPDU that is read and not acted on. */
static inline void receive_only(unsigned int slot, const struct lacp_pdu *pdu, uint64_t now_ns)
{
	static const uint8_t source[LACP_MAC_SIZE] = { 2 };
	uint8_t frame[LACP_PDU_SIZE];

	lacp_pdu_encode(frame, source, &pdu->actor, &pdu->partner);
	assert_int_equal(lacp_receive(&lacp.sys, slot, frame, sizeof(frame), now_ns), 0);
}

static inline void indicate(unsigned int slot, const struct lacp_pdu *pdu, uint64_t now_ns)
{
	receive_only(slot, pdu, now_ns);
	lacp_run(&lacp.sys, now_ns);
}

/* Both ends have agreed on the ports of the mask. */
static inline void bring_up(unsigned int ports)
{
	start(ports);
	for (int round = 0; round < 3; round++)
		for (unsigned int slot = 0; slot < ports; slot++) {
			struct lacp_pdu pdu = partner_pdu(slot);

			if (round)
				pdu.actor.state |= LACP_COLLECTING | LACP_DISTRIBUTING;
			indicate(slot, &pdu, T0 + LACP_SECOND);
		}
}

static inline void set_link(unsigned int slot, uint8_t link, uint64_t now_ns)
{
	struct lacp_port_config config = lacp.sys.port[slot].config;

	config.link = link;
	assert_int_equal(lacp_port_configure(&lacp.sys, slot, &config, now_ns), 0);
	lacp_run(&lacp.sys, now_ns);
}

#endif
