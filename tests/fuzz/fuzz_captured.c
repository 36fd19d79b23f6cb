/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A captured packet of any content, cut anywhere, of any link type: what bondctl makes of it for
 * explain --pcap, flows and capture. A hash that is found must not change when more of the packet
 * is there.
 */
#include "bpf/flow_words.h"
#include "cli/base/captured.h"
#include "cli/base/foretell.h"
#include "tests/fuzz/input.h"
#include "view/view_field.h"

#define MOST 700 /* more than CAPTURED_HEAD */

static void captured_check_text(const struct captured *captured)
{
	struct tuple tuple;
	char text[TUPLE_TEXT];
	json_t *json;

	tuple_of(captured, &tuple);
	tuple_format(&tuple, text);
	input_check(strlen(text) + 1 < TUPLE_TEXT, "the text has room");
	json = view_struct(&tuple_table, &tuple);
	input_check(json != NULL, "the flow is text that JSON takes");
	json_decref(json);
}

static void captured_check_hash(const struct captured *captured)
{
	struct flow_rule rule = { .seed = 1 };
	struct captured more = *captured;
	uint64_t hash, other;

	memset(more.head + more.size, 0xff, sizeof(more.head) - more.size);
	more.size = sizeof(more.head);
	for (rule.policy = 0; rule.policy <= XBOND_POLICY_VLAN_SRCMAC; rule.policy++) {
		if (!flow_packet_hash_captured(captured, &rule, &hash) || !captured->cut)
			continue;
		input_check(flow_packet_hash_captured(&more, &rule, &other) && other == hash,
			    "what was cut off does not count");
	}
	flow_packet_is_neighbour_message(captured);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint8_t flags = input_u8(&input);
	int32_t tag = flags & 4 ? input_u16(&input) : -1;
	uint32_t cut = flags & 8 ? input_u16(&input) : 0;
	struct captured captured;
	size_t kept;
	uint8_t *bytes = input_copy(&input, MOST, &kept);

	if (captured_take((enum captured_link)(flags % 4 % 3), bytes, (uint32_t)kept,
			  (uint32_t)kept + cut, tag, &captured)) {
		input_check(captured.size <= sizeof(captured.head), "the head has room");
		captured_check_text(&captured);
		captured_check_hash(&captured);
	}
	free(bytes);
	return 0;
}
