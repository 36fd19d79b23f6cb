/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of any content to the whole LACP core: a system of several ports, whose links, options and
 * clock change meanwhile, which is saved and adopted, and drained. After each step it must hold
 * what the standard and lacp.h promise; the simulator (tests/sim) checks what becomes of two
 * systems together.
 */
#include <errno.h>

#include "lacp/machines.h"
#include "tests/fuzz/input.h"
#include "view/lacp_why.h"

#define PORTS 6
#define START (1000 * LACP_SECOND)
#define FRAME_MOST 160
#define TURNS_MOST 4

static struct {
	uint64_t now_ns, deadline_ns;
	uint64_t sent_ns[PORTS][LACP_TX_LIMIT]; /* LACPDUs, oldest first */
	uint8_t told[PORTS];
	bool drains[PORTS];
	bool removing;		/* the last word of a port does not wait for the rate */
	struct lacp_system sys; /* lacp_init() clears it */
} lacp;

static void lacp_note_pdu(unsigned int slot, const uint8_t *frame)
{
	uint64_t *sent_ns = lacp.sent_ns[slot];
	struct lacp_decoded decoded;

	lacp_pdu_decode(frame, LACP_FRAME_SIZE, &decoded);
	if (decoded.kind != LACP_PDU_LACP) {
		input_check(decoded.kind == LACP_PDU_MARKER ||
				    decoded.kind == LACP_PDU_MARKER_RESPONSE,
			    "what is sent is an LACPDU or a marker");
		return;
	}
	input_check(decoded.pdu.actor.port != 0, "our port number is not 0");
	/* A port that was half duplex until now leaves under its old name. */
	input_check(decoded.pdu.actor.state & LACP_AGGREGATION ||
			    !(decoded.pdu.actor.state & LACP_SYNCHRONIZATION),
		    "a port in sync can be aggregated");
	input_check(!(decoded.pdu.actor.state & LACP_DISTRIBUTING) ||
			    lacp.told[slot] & LACP_DISTRIBUTING,
		    "outside has been told before the PDU says it");
	input_check(lacp.removing || !sent_ns[0] || lacp.now_ns - sent_ns[0] >= LACP_SECOND,
		    "three LACPDUs in a second");
	memmove(sent_ns, sent_ns + 1, (LACP_TX_LIMIT - 1) * sizeof(*sent_ns));
	sent_ns[LACP_TX_LIMIT - 1] = lacp.now_ns;
}

static void on_transmit(void *context, unsigned int slot, const uint8_t *frame, size_t length)
{
	static const uint8_t slow_protocols[] = { 0x01, 0x80, 0xc2, 0, 0, 2 };

	input_check(slot < PORTS && length == LACP_FRAME_SIZE, "a whole frame for a port");
	input_check(!memcmp(frame, slow_protocols, sizeof(slow_protocols)), "its destination");
	lacp_note_pdu(slot, frame);
}

static void on_port(void *context, unsigned int slot, bool collecting, bool distributing)
{
	input_check(slot < PORTS, "a port");
	lacp.told[slot] = (uint8_t)((collecting ? LACP_COLLECTING : 0) |
				    (distributing ? LACP_DISTRIBUTING : 0));
}

static void on_aggregator(void *context, unsigned int aggregator)
{
	input_check(aggregator <= LACP_MAX_PORTS, "an aggregator");
}

static void on_drained(void *context, unsigned int slot, bool answered)
{
	input_check(slot < PORTS && lacp.drains[slot], "drained once, and only when asked");
	lacp.drains[slot] = false;
}

static void on_event(void *context, unsigned int slot, enum lacp_event event, unsigned int detail)
{
	input_check(event != LACP_EVENT_RESTLESS, "the machines come to rest");
}

static const struct lacp_outputs outputs = { on_transmit, on_port, on_aggregator, on_drained,
					     on_event };

static void lacp_check_port(unsigned int slot)
{
	const struct lacp_port_state *port = &lacp.sys.port[slot];

	input_check(lacp.told[slot] == port->told, "told is what outside was told");
	if (port->told & LACP_DISTRIBUTING && !port->fallback)
		input_check(port->rx == LACP_RX_CURRENT && port->selected == LACP_SELECTED &&
				    port->partner.state & LACP_SYNCHRONIZATION &&
				    port->config.link == LACP_LINK_UP &&
				    port->aggregator == lacp.sys.state.active_aggregator,
			    "a port distributes to a partner that is in sync");
}

static void lacp_check_why(unsigned int slot)
{
	char why[LACP_WHY_SIZE];

	if (!(lacp.sys.used >> slot & 1))
		return;
	lacp_why(&lacp.sys, slot, lacp.now_ns, NULL, NULL, why);
	input_check(why[0] && strnlen(why, sizeof(why)) < sizeof(why), "a sentence says why");
}

static void lacp_check(void)
{
	unsigned int most = lacp.sys.state.config.max_links;
	uint64_t by_lacp = 0;

	lacp_for_each_slot (slot, lacp.sys.used) {
		lacp_check_port(slot);
		if (lacp.told[slot] & LACP_DISTRIBUTING)
			by_lacp |= UINT64_C(1) << slot;
	}
	input_check(!most || (unsigned int)__builtin_popcountll(by_lacp) <= most, "max_links");
	input_check(lacp_distributing(&lacp.sys) == by_lacp, "lacp_distributing()");
}

static void lacp_turn(void)
{
	lacp.deadline_ns = lacp_run(&lacp.sys, lacp.now_ns);
	input_check(lacp.deadline_ns > lacp.now_ns, "the deadline is to come");
	lacp_check();
}

/* The first deadlines on the way have their turn; then the thread has no CPU until the end. */
static void lacp_pass(uint64_t ns)
{
	uint64_t end_ns = lacp.now_ns + ns;

	for (int turns = 0; lacp.deadline_ns <= end_ns && turns < TURNS_MOST; turns++) {
		lacp.now_ns = lacp.deadline_ns;
		lacp_turn();
	}
	lacp.now_ns = end_ns;
}

/* Ports are asked for with numbers and links that are allowed; the rest is any. */
static struct lacp_port_config lacp_some_port(struct input *input, unsigned int slot)
{
	uint8_t flags = input_u8(input);

	return (struct lacp_port_config){
		.speed_mbps = flags & 0x10 ? 1000 : 10000,
		.port = (uint16_t)(slot + 1),
		.port_priority = flags & 0x20 ? 1 : 255,
		.mac = { 2, 1, 0, 0, 0, (uint8_t)slot },
		.duplex = flags & 0x40 ? LACP_DUPLEX_HALF : LACP_DUPLEX_FULL,
		.link = flags % 3,
	};
}

static void lacp_some_options(struct input *input, struct lacp_config *ret_config)
{
	struct lacp_config config = lacp_config_default();
	uint16_t flags = input_u16(input);

	config.system[0] = 2;
	config.system[5] = flags & 1 ? 0x41 : 0x43;
	config.rate_fast = flags >> 1 & 1;
	config.active = !(flags >> 2 & 1);
	config.coupled = flags >> 3 & 1;
	config.strict = flags >> 4 & 1;
	config.hold = flags >> 5 & 1;
	config.revert = flags >> 6 & 1;
	config.min_links_strict = flags >> 7 & 1;
	config.fallback = (flags >> 8) % 3;
	config.ad_select = flags >> 10 & 3;
	config.max_links = input_u8(input) % (PORTS + 1);
	config.min_links = input_u8(input) % (PORTS + 1);
	config.wtr_s = input_u8(input) % 8;
	config.fallback_delay_ms = input_u8(input) * 100;
	if (flags & 0x1000)
		memcpy(config.believed, "\x02\x00\x00\x00\x00\x42", LACP_MAC_SIZE);
	*ret_config = config;
}

/* From a partner that mostly tells what it has heard. */
static void lacp_partner_speaks(struct input *input, unsigned int slot)
{
	const struct lacp_port_state *port = &lacp.sys.port[slot];
	struct lacp_info actor = { .system = { 2, 0, 0, 0, 0, 0x42 },
				   .system_priority = 65535,
				   .key = 7,
				   .port_priority = 255,
				   .port = (uint16_t)(101 + slot) };
	struct lacp_info partner = port->actor;
	uint8_t frame[LACP_PDU_SIZE], oddity = input_u8(input);

	actor.state = input_u8(input);
	if (oddity & 1)
		partner.state ^= input_u8(input);
	if (oddity & 2)
		actor.key = input_u8(input);
	if (oddity & 4)
		actor.system[5] = input_u8(input);
	if (oddity & 8)
		partner.port = input_u8(input);
	if (oddity & 16)
		actor.port = input_u8(input);
	if (oddity & 32)
		actor.system_priority = input_u8(input);
	lacp_pdu_encode(frame, actor.system, &actor, &partner);
	if (oddity & 64)
		frame[input_u8(input) % LACP_PDU_SIZE] = input_u8(input);
	lacp_receive(&lacp.sys, slot, frame, sizeof(frame), lacp.now_ns);
}

static void lacp_any_frame(struct input *input, unsigned int slot)
{
	size_t size;
	uint8_t *frame = input_copy(input, input_u8(input) % FRAME_MOST, &size);

	lacp_receive(&lacp.sys, slot, frame, size, lacp.now_ns);
	free(frame);
}

static void lacp_marker_comes(struct input *input, unsigned int slot)
{
	struct lacp_marker marker = { .port = input_u8(input), .transaction = 1 };
	uint8_t frame[LACP_PDU_SIZE], kind = input_u8(input);

	marker.transaction = kind & 2 ? lacp.sys.port[slot].transaction : input_u8(input);
	memcpy(marker.system, lacp.sys.state.config.system, LACP_MAC_SIZE);
	if (kind & 4)
		marker.port = lacp.sys.port[slot].config.port;
	lacp_marker_encode(frame, marker.system, &marker,
			   kind & 1 ? LACP_PDU_MARKER : LACP_PDU_MARKER_RESPONSE);
	lacp_receive(&lacp.sys, slot, frame, sizeof(frame), lacp.now_ns);
}

static void lacp_port_changes(struct input *input, unsigned int slot)
{
	struct lacp_port_config config = lacp_some_port(input, slot);

	if (lacp.sys.used >> slot & 1) {
		input_check(!lacp_port_configure(&lacp.sys, slot, &config, lacp.now_ns),
			    "a port can be configured");
		return;
	}
	memset(lacp.sent_ns[slot], 0, sizeof(lacp.sent_ns[slot]));
	input_check(!lacp_port_add(&lacp.sys, slot, &config, lacp.now_ns), "a port can be added");
}

static void lacp_port_leaves(unsigned int slot)
{
	bool is_there = lacp.sys.used >> slot & 1;
	int r;

	lacp.removing = true;
	r = lacp_port_remove(&lacp.sys, slot, lacp.now_ns);
	lacp.removing = false;
	input_check(r == (is_there ? 0 : -ENOENT), "a port that is there can be removed");
	input_check(!lacp.told[slot], "who leaves carries nothing");
}

static void lacp_options_change(struct input *input)
{
	struct lacp_config config;

	lacp_some_options(input, &config);
	input_check(!lacp_configure(&lacp.sys, &config, lacp.now_ns), "options can be set");
}

/* The next daemon goes on with what this one has saved. */
static void lacp_restart(struct input *input)
{
	static struct lacp_system saved;
	struct lacp_config config = lacp.sys.state.config;
	uint8_t held = input_u8(input);

	saved = lacp.sys;
	lacp_init(&lacp.sys, &config, &outputs, NULL);
	input_check(!lacp_adopt(&lacp.sys, &saved.state, saved.port, saved.used),
		    "what was saved is adopted");
	lacp.now_ns += (uint64_t)input_u8(input) * LACP_SECOND / 4;
	for (unsigned int slot = 0; slot < PORTS; slot++)
		if (saved.used >> slot & 1 && held & 1)
			lacp_hold_ended(&lacp.sys, slot,
					&(struct lacp_held){ .heard_ns = held & 2 ? lacp.now_ns : 0,
							     .silence_ns = LACP_SHORT_TIMEOUT_TIME,
							     .asked_for_short = held & 4 });
}

static void lacp_step(struct input *input)
{
	uint8_t what = input_u8(input);
	unsigned int slot = (what >> 4) % PORTS;

	switch (what & 0xf) {
	case 0: lacp_pass((uint64_t)input_u8(input) * LACP_SECOND / 100); break;
	case 1: lacp_pass((uint64_t)input_u8(input) * LACP_SECOND); break;
	case 2: lacp_port_changes(input, slot); break;
	case 3: lacp_port_leaves(slot); break;
	case 4: lacp_options_change(input); break;
	case 5: lacp.drains[slot] |= !lacp_drain(&lacp.sys, slot, lacp.now_ns); break;
	case 6: lacp_restart(input); break;
	case 7: lacp_marker_comes(input, slot); break;
	case 8:
	case 9: lacp_any_frame(input, slot); break;
	default: lacp_partner_speaks(input, slot);
	}
	lacp_turn();
	lacp_check_why(slot); /* a sentence takes longer than a turn */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct lacp_config config;

	memset(&lacp, 0, offsetof(typeof(lacp), sys));
	lacp.now_ns = START;
	lacp_some_options(&input, &config);
	lacp_init(&lacp.sys, &config, &outputs, NULL);
	for (unsigned int slot = 0; slot < 3; slot++)
		lacp_port_changes(&input, slot);
	lacp_turn();
	for (int steps = 0; input.left && steps < 400; steps++)
		lacp_step(&input);
	return 0;
}
