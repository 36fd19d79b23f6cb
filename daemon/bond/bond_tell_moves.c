/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/bond_tell_moves.h"

#include <stdio.h>

#include "daemon/base/event.h"
#include "view/json_value.h"

#define MOVES_TEXT_SIZE 320
#define MOVES_LISTED 128 /* pairs of slaves; there may be thousands */
#define NOBODY XBOND_MAX_SLAVES

static unsigned int bond_moves_slot(uint8_t bucket)
{
	return bucket < XBOND_MAX_SLAVES ? bucket : NOBODY;
}

void bond_moves_note(struct bond_moves *moves, uint8_t before, uint8_t now)
{
	if (before == now)
		return;
	moves->all++;
	moves->count[bond_moves_slot(before)][bond_moves_slot(now)]++;
}

static void bond_moves_count(const struct xbond_buckets *buckets, uint32_t copy,
			     struct bond_moves *ret_moves)
{
	const uint8_t *before = buckets->bucket[!copy], *now = buckets->bucket[copy];

	memset(ret_moves, 0, sizeof(*ret_moves));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		bond_moves_note(ret_moves, before[i], now[i]);
}

static const char *bond_moves_name(struct bond *bond, unsigned int slot)
{
	if (slot == NOBODY)
		return NULL;
	return bond_is_member(bond, slot) ? bond_slave(bond, slot)->name : bond->told.name[slot];
}

struct bond_moves_report {
	json_t *json;
	char text[MOVES_TEXT_SIZE];
	size_t used;
	bool full;
};

static void bond_moves_add_text(struct bond_moves_report *report, const char *part)
{
	const char *comma = report->used ? ", " : "";

	if (report->full)
		return;
	report->full = report->used + strlen(part) + sizeof(", , ...") > sizeof(report->text);
	report->used +=
		(size_t)snprintf(report->text + report->used, sizeof(report->text) - report->used,
				 "%s%s", comma, report->full ? "..." : part);
}

static void bond_moves_add(struct bond_moves_report *report, const char *from, const char *to,
			   unsigned int count)
{
	char part[64];

	if (json_array_size(report->json) == MOVES_LISTED)
		return;
	json_array_append_new(report->json,
			      json_pack("{s:o, s:o, s:i}", "from",
					from ? json_value_text(from) : json_null(), "to",
					to ? json_value_text(to) : json_null(), "buckets", count));
	snprintf(part, sizeof(part), "%s to %s %u", from ? from : "nobody", to ? to : "nobody",
		 count);
	bond_moves_add_text(report, part);
}

void bond_moves_tell(struct bond *bond, const struct bond_moves *moves, const char *cause)
{
	struct event event = { .kind = EVENT_BUCKETS,
			       .priority = LOG_DEBUG,
			       .bond = bond_pin(bond)->name };
	struct bond_moves_report report = { .used = 0 };

	if (!moves->all)
		return;
	if (bond->dataplane.pins.failover)
		bond->dataplane.pins.failover->moved_buckets += moves->all;
	report.json = json_array();
	for (unsigned int from = 0; from <= NOBODY; from++)
		for (unsigned int to = 0; to <= NOBODY; to++)
			if (moves->count[from][to])
				bond_moves_add(&report, bond_moves_name(bond, from),
					       bond_moves_name(bond, to), moves->count[from][to]);
	event.field[0] = event_number("moved", moves->all);
	event.field[1] = event_json("moves", report.json);
	event.field[2] = event_text("cause", cause);
	event_tell(&event, "%u of %u buckets have moved: %s", moves->all, XBOND_BUCKETS,
		   report.text);
}

void bond_tell_moves(struct bond *bond, enum xbond_selection selection)
{
	uint32_t copy = bond->dataplane.pins.table->active & 1;
	struct bond_moves moves;

	if (copy == bond->told.copy || selection != XBOND_SELECT_HASH ||
	    bond->told.selection != XBOND_SELECT_HASH)
		return;
	bond_moves_count(bond->dataplane.pins.buckets, copy, &moves);
	bond_moves_tell(bond, &moves, "slaves");
}
