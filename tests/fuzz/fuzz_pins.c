/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of a bond with any content to a bondd that adopts them: the LACP state, and the
 * weights and buckets that it goes on with.
 */
#include "bpf/slots.h"
#include "common/clock.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"
#include "tests/fuzz/pins_world.h"

/* bondd goes on with the buckets as they are. */
static void pins_share_out(const struct pins *pins)
{
	uint32_t member_weight[XBOND_MAX_SLAVES] = { 0 }, weight[XBOND_MAX_SLAVES] = { 0 };
	uint64_t owners = 0; /* tx_mask may name slots without a member, too */

	pins_will_write(offsetof(struct world, buckets), sizeof(found.buckets));
	weights_of(pins, pins->table->tx_mask, member_weight, weight);
	buckets_assign(pins->buckets->bucket[0], pins->buckets->home, member_weight, weight);
	buckets_level(pins->buckets->bucket[1], NULL, weight);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		owners |= weight[slot] ? slots_bit(slot) : 0;
	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		input_check(!owners || slots_have(owners, pins->buckets->bucket[0][bucket]),
			    "a bucket has a slot");
}

static void on_transmit(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
	input_check(slot < LACP_MAX_PORTS && length == LACP_FRAME_SIZE, "a frame of a port");
}

static void on_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
	input_check(slot < LACP_MAX_PORTS, "a port");
}

static void on_aggregator(void *context, unsigned int aggregator)
{
}

static void on_drained(void *context, unsigned int slot, bool answered)
{
}

static void on_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
}

/* As the LACP thread does it. */
static void pins_adopt(const struct pins *pins)
{
	static const struct lacp_outputs outputs = { on_transmit, on_port, on_aggregator,
						     on_drained, on_event };
	struct lacp_config config = lacp_config_default();
	struct lacp_system sys;
	struct lacp_thread_sent sent;
	uint64_t now_ns = clock_now_ns();

	lacp_init(&sys, &config, &outputs, NULL);
	pins_will_write(offsetof(struct world, hold), sizeof(found.hold));
	if (lacp_adopt(&sys, &pins->lacp->copy[0].system, pins->lacp->copy[0].port,
		       (UINT64_C(1) << MEMBERS) - 1))
		return;
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		lacp_thread_hold_adopt(&pins->hold[slot], &sent);
		lacp_thread_hold_end(&pins->hold[slot], &sys, slot);
	}
	for (int turns = 0; turns < 4; turns++)
		now_ns = lacp_run(&sys, now_ns);
	for (unsigned int slot = 0; slot < MEMBERS; slot++)
		lacp_thread_hold_settle(&pins->hold[slot], &sys, slot, &sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct patch shared_out[] = { PINS_MAP(bond), PINS_MAP(settings),
						   PINS_MAP(table), PINS_MAP(slaves),
						   PINS_MAP(buckets) };
	static const struct patch adopted[] = { PINS_MAP(bond), PINS_MAP(hold), PINS_MAP(lacp) };

	pins_start(data, size);
	/* Sharing out takes ten times what adopting takes, so it is rarer. */
	if (input_u8(&input) % 16 == 15)
		pins_let_read(pins_share_out, shared_out, sizeof(shared_out) / sizeof(*shared_out));
	else
		pins_let_read(pins_adopt, adopted, sizeof(adopted) / sizeof(*adopted));
	return 0;
}
