/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/readings.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "network/driver.h"

#define ALIGN 16
#define RESTORE_TRIES 3

static struct part *const *parts;
static size_t parts_count, bond_size, member_size;

/* What is marked, for each part, and why. */
struct due {
	uint64_t slots;
	bool bond;
	uint32_t news;
};

struct part_state {
	struct due *due; /* [parts_count] */
	char *bond, *members;
};

static size_t part_place(size_t *end, size_t size)
{
	size_t at = *end;

	*end = (at + size + ALIGN - 1) / ALIGN * ALIGN;
	return at;
}

void parts_init(struct part *const *table, size_t count)
{
	parts = table;
	parts_count = count;
	for (size_t i = 0; i < count; i++) {
		table[i]->bond_at = part_place(&bond_size, table[i]->bond_size);
		table[i]->member_at = part_place(&member_size, table[i]->member_size);
	}
}

void parts_new(struct bond *bond)
{
	bond->parts = memory_need(calloc(1, sizeof(*bond->parts)));
	bond->parts->due = memory_need(calloc(parts_count, sizeof(struct due)));
	bond->parts->bond = memory_need(calloc(1, bond_size + 1));
	bond->parts->members = memory_need(calloc(XBOND_MAX_SLAVES, member_size + 1));
}

void parts_free(struct bond *bond)
{
	for (size_t i = parts_count; i-- > 0;)
		if (parts[i]->free)
			parts[i]->free(bond);
	free(bond->parts->due);
	free(bond->parts->bond);
	free(bond->parts->members);
	free(bond->parts);
}

int parts_start(struct bond *bond)
{
	int r = 0;

	for (size_t i = 0; i < parts_count && r >= 0; i++)
		if (parts[i]->start)
			r = parts[i]->start(bond);
	bond->is_running = r >= 0;
	return r < 0 ? r : 0;
}

void parts_decided(struct bond *bond, bool has_new_active)
{
	for (size_t i = 0; i < parts_count; i++)
		if (parts[i]->decided)
			parts[i]->decided(bond, has_new_active);
}

void parts_stop(struct bond *bond, bool is_over)
{
	bond->is_running = false;
	for (size_t i = parts_count; i-- > 0;)
		if (parts[i]->stop)
			parts[i]->stop(bond, is_over);
}

void *part_of_bond(const struct bond *bond, const struct part *part)
{
	return bond->parts->bond + part->bond_at;
}

void *part_of_member(const struct bond *bond, const struct part *part, unsigned int slot)
{
	return bond->parts->members + slot * member_size + part->member_at;
}

int parts_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < parts_count && !r; i++)
		if (parts[i]->enslave) {
			r = parts[i]->enslave(bond, slot, err);
			idle_turn();
		}
	return r;
}

/* One call changes, one looks; one more is for what fails by chance. */
static int part_restore(const struct part *part, struct bond *bond, unsigned int slot,
			const struct place *place, struct err *err)
{
	struct err why = { .text = "something changes it back each time" };
	int r = 1;

	for (int try = 0; try < RESTORE_TRIES && r; try++)
		r = part->restore(bond, slot, place, &why);
	return r ? err_set(err, r < 0 ? -r : EBUSY, "cannot restore the %s of %s: %s",
			   restored_name(part->restores), place->name, why.text)
		 : 0;
}

int parts_restore(struct bond *bond, unsigned int slot, const struct place *place, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int first = 0;

	for (size_t i = parts_count; i-- > 0;) {
		struct err *why = first ? NULL : err;
		int r;

		if (!parts[i]->restore || slave->restored & parts[i]->restores)
			continue;
		r = part_restore(parts[i], bond, slot, place, why);
		if (!r)
			slave->restored |= parts[i]->restores;
		first = first ? first : r;
		if (!place->away)
			idle_turn();
	}
	return first;
}

void parts_forget(struct bond *bond, unsigned int slot)
{
	for (size_t i = parts_count; i-- > 0;) {
		if (parts[i]->forget)
			parts[i]->forget(bond, slot);
		bond->parts->due[i].slots &= ~slots_bit(slot);
	}
	memset(bond->parts->members + slot * member_size, 0, member_size);
}

void parts_hear(struct bond *bond, unsigned int slot, enum part_news news,
		const struct link_info *link, bool gone)
{
	for (size_t i = 0; i < parts_count; i++) {
		struct due *due = &bond->parts->due[i];

		if (!(parts[i]->hears & news) ||
		    (parts[i]->hear && !parts[i]->hear(bond, slot, news, link, gone)))
			continue;
		due->news |= news;
		due->bond |= slot == PART_BOND;
		if (slot < PART_BOND)
			due->slots |= slots_bit(slot);
		else if (news & (NEWS_LOST | NEWS_TIME))
			due->slots = UINT64_MAX;
		sd_event_source_set_enabled(bond->daemon->settle, SD_EVENT_ON);
	}
}

bool parts_are_due(const struct bond *bond)
{
	for (size_t i = 0; i < parts_count; i++)
		if (bond->parts->due[i].bond || bond->parts->due[i].slots)
			return true;
	return false;
}

/* Marks that come meanwhile stay, with their news. Returns true if the time is over. */
static bool parts_settle_one(struct bond *bond, size_t i, uint64_t end_ns)
{
	struct due *due = &bond->parts->due[i];

	slots_for_each (due->slots, slot) {
		if (clock_now_ns() >= end_ns)
			return true;
		due->slots &= ~slots_bit(slot);
		if (bond_is_member(bond, slot) && parts[i]->settle)
			parts[i]->settle(bond, slot, due->news);
	}
	if (due->bond) {
		if (clock_now_ns() >= end_ns)
			return true;
		due->bond = false;
		if (parts[i]->settle_bond)
			parts[i]->settle_bond(bond, due->news);
	}
	if (!due->bond && !due->slots)
		due->news = 0;
	return false;
}

bool parts_settle(struct bond *bond, uint64_t end_ns)
{
	for (size_t i = 0; i < parts_count; i++)
		if ((bond->parts->due[i].bond || bond->parts->due[i].slots) &&
		    parts_settle_one(bond, i, end_ns))
			return true;
	return parts_are_due(bond);
}

int place_look(const struct place *place, struct link_info *ret_now, struct err *err)
{
	int r = link_get(place->nl, -1, place->ifindex, ret_now);

	return r ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

/* A device that does not have it any more has nothing to restore. */
int part_restore_feature(const struct place *place, const char *feature, struct err *err)
{
	struct feature now;
	int r = feature_get(place->ethtool, place->name, feature, &now);

	if (r == -ENOENT || r == -EOPNOTSUPP || (!r && now.wanted))
		return 0;
	if (!r)
		r = feature_set(place->ethtool, place->name, feature, true);
	return r < 0 ? err_set(err, -r, "%s", strerror(-r)) : 1;
}
