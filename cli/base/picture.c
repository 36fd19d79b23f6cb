/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as it is at one moment: copied from its maps, with what the programs know of the carriers.
 * And what is wrong with it, in sentences.
 */
#include "cli/base/picture.h"

#include <bpf/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/slots.h"
#include "cli/base/print.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/pins.h"
#include "common/readings.h"
#include "network/packet.h"
#include "options/values.h"
#include "view/view_bond.h"

/* What the programs know of the carriers. */

int carrier_look_open(const struct pins *pins)
{
	return pins->wake ? pin_open(pins->dir, XBOND_PIN_PROG_LOOK) : -1;
}

bool carrier_look(int fd, const struct pins *pins, uint64_t *ret_up, uint64_t *ret_lost)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	struct __sk_buff context = { .cb = { 1 } };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .ctx_out = &context,
		    .ctx_size_out = sizeof(context));

	if (fd < 0 || bpf_prog_test_run_opts(fd, &run) || !run.retval)
		return false;
	if (run.retval == XBOND_LOOK_ANSWERED) {
		*ret_lost = context.cb[0] | (uint64_t)context.cb[1] << 32;
		*ret_up = context.cb[2] | (uint64_t)context.cb[3] << 32;
		return true;
	}
	/* A program of an earlier build writes bondd's words. */
	*ret_up = __atomic_load_n(&pins->wake->up, __ATOMIC_RELAXED);
	*ret_lost = __atomic_load_n(&pins->wake->lost, __ATOMIC_RELAXED);
	return true;
}

/*
 * The slaves without carrier are down in the copy, as bondd would write it. What bondd has written
 * of other slaves stays: the programs do not use one whose link is back before bondd is.
 */

#define SINCE_UNKNOWN UINT64_MAX /* shown as 0 ms */

struct picture {
	struct pins pins; /* with the copies below */
	struct xbond_table table;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
	struct xbond_verdict monitors[XBOND_MAX_SLAVES];
};

/* Slots of slaves that bondd has left as up. */
static uint64_t picture_lost(const struct pins *pins)
{
	int fd = carrier_look_open(pins);
	uint64_t up, lost = 0;

	if (fd < 0)
		return 0;
	carrier_look(fd, pins, &up, &lost);
	close(fd);
	slots_for_each (lost, slot)
		if (!pins_is_member(pins, slot) || pins->slaves[slot].link == XBOND_LINK_DOWN)
			lost &= ~slots_bit(slot);
	return lost;
}

static struct picture *picture_copy(const struct pins *pins)
{
	struct picture *copy = memory_need(malloc(sizeof(*copy)));

	copy->pins = *pins;
	copy->table = *pins->table;
	copy->bond = *pins->bond;
	memcpy(copy->slaves, pins->slaves, sizeof(copy->slaves));
	copy->pins.table = &copy->table;
	copy->pins.bond = &copy->bond;
	copy->pins.slaves = copy->slaves;
	if (pins->monitors) {
		memcpy(copy->monitors, pins->monitors, sizeof(copy->monitors));
		copy->pins.monitors = copy->monitors;
	}
	return copy;
}

static void picture_take_down(struct picture *copy, unsigned int slot)
{
	struct xbond_verdict *verdict = &copy->monitors[slot];
	uint32_t carrier = 1u << XBOND_MONITOR_CARRIER;

	copy->slaves[slot].link = XBOND_LINK_DOWN;
	verdict->spoken |= carrier;
	verdict->works &= ~carrier;
	verdict->since_ns[XBOND_MONITOR_CARRIER] = SINCE_UNKNOWN;
}

/* Who sends instead of the active slave, as the programs choose. */
static void picture_succeed(struct picture *copy)
{
	const struct pins *pins = &copy->pins;
	uint64_t mask = values_undrained(pins, copy->table.tx_mask);
	bool is_tlb = copy->table.flags & XBOND_F_TLB && pins->alb;

	if (mode_has(copy->bond.mode, MODE_ACTIVE) && !slots_have(mask, copy->bond.active_slot))
		copy->bond.active_slot = successor_of(
			is_tlb ? pins->alb->order : pins->buckets->bucket[copy->table.active & 1],
			mask);
}

static void picture_avoid(struct picture *copy, uint64_t lost)
{
	slots_for_each (lost, slot)
		picture_take_down(copy, slot);
	copy->table.tx_mask &= ~lost;
	if (!copy->table.tx_mask) /* as select_live() does */
		copy->table.tx_mask = copy->table.failed & ~lost;
	if (!copy->table.tx_mask)
		copy->bond.carrier = 0;
	picture_succeed(copy);
}

enum view_bondd picture_bondd(const struct pins *pins, bool has_socket)
{
	bool beats = pins_bondd_alive(pins);

	if (has_socket && beats)
		return VIEW_BONDD_IS_HERE;
	return has_socket || beats ? VIEW_BONDD_IS_SILENT : VIEW_BONDD_IS_STOPPED;
}

struct picture *picture_take(const struct pins *pins, enum view_bondd bondd)
{
	uint64_t lost = bondd == VIEW_BONDD_IS_HERE ? 0 : picture_lost(pins);
	struct picture *copy = picture_copy(pins);

	if (lost)
		picture_avoid(copy, lost);
	return copy;
}

const struct pins *picture_pins(const struct picture *picture)
{
	return &picture->pins;
}

void picture_free(struct picture *picture)
{
	free(picture);
}

/* What is wrong with a bond, in sentences, and what its slaves are used for, in words. */

/*
 * Backups, standby ports and drained slaves are not news while their links work. What the bond says
 * is not said again of its slaves.
 */

#define NEWS_SIZE 1024
#define RETURNS_MIN 3	  /* losses of the link that make it suspect */
#define RETURNED_MS 60000 /* so long after it has come back */
#define NO_CARRIER "the bond has no carrier"

static bool news_begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

static const char *news_why(const json_t *slave)
{
	return field_text_or(slave, "why", NULL);
}

static bool news_is_drained(const json_t *slave)
{
	return field_is_true(json_object_get(slave, "options"), "drain");
}

static bool news_has_link(const json_t *slave)
{
	return !strcmp(field_text(slave, "mii_status"), "up");
}

const char *news_role(const json_t *bond, const json_t *slave)
{
	bool one_is_active = !strcmp(field_text(bond, "mode"), mode_name(XBOND_MODE_ACTIVE_BACKUP));

	if (field_is_true(slave, "active"))
		return one_is_active ? "active" : "in use";
	if (!news_has_link(slave))
		return "not used";
	if (news_is_drained(slave))
		return "drained";
	if (one_is_active)
		return "backup";
	return news_begins(news_why(slave), "standby") ? "standby" : "not used";
}

const char *news_link(const json_t *slave)
{
	static const char *const words[][2] = { { "up", "up" },
						{ "down", "down" },
						{ "going_up", "going up" },
						{ "going_down", "going down" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(field_text(slave, "mii_status"), words[i][0]))
			return words[i][1];
	return "unknown";
}

const char *news_state(const json_t *bond, const json_t *slave)
{
	return news_has_link(slave) ? news_role(bond, slave) : news_link(slave);
}

bool news_is_unused(const json_t *bond, const json_t *slave)
{
	return !strcmp(news_role(bond, slave), "not used");
}

static void news_add(json_t *news, const char *name, const char *text)
{
	json_array_append_new(news, name ? json_sprintf("%s: %s", name, text) : json_string(text));
}

/* For how long the monitor that `why` goes by has said no; "" if that is not the reason. */
static void news_since(const json_t *slave, char *ret_text, size_t size)
{
	const json_t *monitors = json_object_get(slave, "monitors"), *monitor;
	const char *name;
	char text[UNITS_SIZE];
	long long since_ms;

	ret_text[0] = '\0';
	if (strcmp(field_text(slave, "mii_status"), "down") || strpbrk(news_why(slave), ";("))
		return;
	json_object_foreach ((json_t *)monitors, name, monitor)
		if (!strcmp(field_text(monitor, "state"), "down")) {
			since_ms = field_number(monitor, "since_ms");
			if (since_ms)
				snprintf(ret_text, size, " for %s", units_duration(since_ms, text));
			return;
		}
}

static void news_failures(const json_t *slave, char *ret_text, size_t size)
{
	long long failures = field_number(slave, "link_failures");

	ret_text[0] = '\0';
	if (failures && !news_has_link(slave))
		snprintf(ret_text, size, "; link failures %lld", failures);
}

/* Is it told because of the whole bond? Then the bond says it. */
static bool news_is_of_bond(const json_t *bond, const json_t *slave)
{
	return news_begins(news_why(slave), NO_CARRIER) ||
	       (json_is_false(json_object_get(bond, "attached")) &&
		news_begins(news_why(slave), "the bond's own programs"));
}

static void news_add_use(json_t *news, const json_t *bond, const json_t *slave)
{
	bool unused = news_is_unused(bond, slave);
	char text[NEWS_SIZE], since[64], failures[64];

	if (!news_why(slave) || news_is_of_bond(bond, slave) ||
	    (!unused && !field_is_true(slave, "active")))
		return;
	news_since(slave, since, sizeof(since));
	news_failures(slave, failures, sizeof(failures));
	snprintf(text, sizeof(text), "%s%s%s%s", unused ? "not used: " : "", news_why(slave), since,
		 failures);
	news_add(news, field_text(slave, "name"), text);
}

/*
 * What a monitor has found that counts only while another slave works; NULL if none says no.
 * Without bondd, that is also so for others.
 */
static const char *news_soft_no(const json_t *slave)
{
	bool is_used = field_is_true(slave, "active");
	const json_t *monitors = json_object_get(slave, "monitors"), *monitor;

	for (unsigned int id = 0; id < XBOND_MONITORS; id++) {
		monitor = json_object_get(monitors, monitor_name((enum xbond_monitor)id));
		if ((is_used || !(XBOND_MONITORS_HARD >> id & 1)) &&
		    !strcmp(field_text(monitor, "state"), "down"))
			return monitor_finding((enum xbond_monitor)id);
	}
	return NULL;
}

/* While markers drain a slave, it is still in use, and others can be used. */
static bool news_all_are_drained(const json_t *bond)
{
	const json_t *slave;
	size_t at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		if (!news_is_drained(slave) &&
		    (field_is_true(slave, "active") || news_begins(news_why(slave), "backup")))
			return false;
	return true;
}

/* Not only the slaves in use: a backup of which a monitor says no would be used, too. */
static void news_add_despite(json_t *news, const json_t *bond, const json_t *slave)
{
	const char *name = field_text(slave, "name"), *finding = news_soft_no(slave);
	bool is_used = field_is_true(slave, "active");
	char text[NEWS_SIZE];
	uint32_t min_links;

	if (is_used && news_is_drained(slave) && news_all_are_drained(bond))
		news_add(news, name, "used although it is drained: no other slave can be used");
	if (!finding || !news_has_link(slave) ||
	    !(is_used || news_begins(news_why(slave), "backup")))
		return;
	min_links = (uint32_t)field_number(json_object_get(bond, "options"), "min_links");
	snprintf(text, sizeof(text), "%s although %s: %s", is_used ? "used" : "a backup", finding,
		 monitor_why_used(min_links));
	news_add(news, name, text);
}

static void news_add_attached(json_t *news, const json_t *slave)
{
	if (json_is_false(json_object_get(slave, "attached")) &&
	    !news_begins(news_why(slave), "it sends, but receives nothing"))
		news_add(news, field_text(slave, "name"), view_problem_detached_slave);
}

static void news_add_churn(json_t *news, const json_t *slave)
{
	const json_t *lacp = json_object_get(slave, "lacp");
	const char *name = field_text(slave, "name");

	if (!strcmp(field_text(lacp, "actor_churn"), "churned"))
		news_add(news, name, "churned: this port has been out of sync for a minute");
	if (!strcmp(field_text(lacp, "partner_churn"), "churned"))
		news_add(news, name,
			 "churned: the partner's port has been out of sync for a minute");
}

/* It works just now, and may not in a second. */
static void news_add_return(json_t *news, const json_t *slave)
{
	const json_t *carrier = json_object_get(json_object_get(slave, "monitors"), "carrier");
	long long failures = field_number(slave, "link_failures"),
		  since_ms = field_number(carrier, "since_ms");
	char text[NEWS_SIZE], since[UNITS_SIZE];

	if (failures < RETURNS_MIN || !since_ms ||
	    strcmp(field_text(carrier, "state"), "up") != 0 || since_ms >= RETURNED_MS ||
	    !news_has_link(slave))
		return;
	snprintf(text, sizeof(text), "its link came back %s ago; link failures %lld",
		 units_duration(since_ms, since), failures);
	news_add(news, field_text(slave, "name"), text);
}

static void news_add_slave(json_t *news, const json_t *bond, const json_t *slave)
{
	news_add_return(news, slave);
	news_add_use(news, bond, slave);
	news_add_despite(news, bond, slave);
	if (json_is_string(json_object_get(slave, "problem")))
		news_add(news, field_text(slave, "name"), field_text(slave, "problem"));
	news_add_attached(news, slave);
	news_add_churn(news, slave);
}

/* The sentence of a slave that would be in use says it best. */
static const char *news_no_carrier(const json_t *bond)
{
	const json_t *slaves = json_object_get(bond, "slaves"), *slave;
	size_t at;

	json_array_foreach (slaves, at, slave)
		if (news_begins(news_why(slave), NO_CARRIER))
			return news_why(slave);
	return json_array_size(slaves) ? NO_CARRIER ": no slave can be used"
				       : NO_CARRIER ": it has no slaves";
}

static json_t *news_without_partner(const json_t *bond)
{
	const json_t *slaves = json_object_get(bond, "slaves"), *slave, *alone = NULL;
	const char *fallback = field_text(json_object_get(bond, "options"), "lacp_fallback");
	unsigned int used = 0;
	size_t at;

	json_array_foreach (slaves, at, slave)
		if (field_is_true(slave, "active")) {
			alone = slave;
			used++;
		}
	if (used == 1)
		return json_sprintf("no LACP partner: %s carries traffic alone (lacp_fallback %s)",
				    field_text(alone, "name"), fallback);
	return json_sprintf("no LACP partner: %u slaves carry traffic (lacp_fallback %s)", used,
			    fallback);
}

static void news_add_lacp(json_t *news, const json_t *bond)
{
	const json_t *lacp = json_object_get(bond, "lacp");

	if (lacp && field_is_true(bond, "carrier") &&
	    json_is_null(json_object_get(lacp, "partner_system")))
		json_array_append_new(news, news_without_partner(bond));
}

json_t *news_bad(const json_t *bond, bool is_down, enum view_bondd bondd)
{
	json_t *news = json_array();
	const json_t *slave;
	size_t at;

	if (json_is_string(json_object_get(bond, "problem"))) {
		news_add(news, NULL, field_text(bond, "problem"));
		return news;
	}
	if (is_down)
		json_array_append_new(news, json_sprintf(SET_DOWN_BOND, field_text(bond, "name")));
	if (json_is_false(json_object_get(bond, "attached")))
		news_add(news, NULL, view_problem_detached_bond);
	if (!field_is_true(bond, "carrier"))
		news_add(news, NULL, news_no_carrier(bond));
	if (bondd != VIEW_BONDD_IS_HERE)
		news_add(news, NULL, view_problem_bondd(bondd, field_is_true(bond, "carrier")));
	news_add_lacp(news, bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		news_add_slave(news, bond, slave);
	json_array_foreach (json_object_get(bond, "awaited"), at, slave)
		news_add(news, json_string_value(slave), VIEW_AWAITED);
	return news;
}

/* Why a bond with `path direct` counts. */

#define COUNTED_CAPTURES 1024

const char *counted_why(const struct link_info *link, bool is_captured)
{
	if (!link)
		return "it is in another network namespace";
	if (is_captured)
		return "somebody captures packets on it";
	if (!(link->flags & IFF_UP))
		return "it is administratively down";
	if (link->xdp_id)
		return "it has an XDP program";
	if (link->qdisc[0] && strcmp(link->qdisc, "noqueue") != 0)
		return "it has a root qdisc";
	return "it has filters on its egress";
}

const char *counted_why_now(const char *bond)
{
	int captured[COUNTED_CAPTURES];
	size_t count = capture_list(captured, COUNTED_CAPTURES);
	bool is_known = !access("/proc/net/packet", R_OK), is_captured = false;
	struct link_info link;
	struct nl nl;
	int r;

	if (!is_known || nl_init(&nl))
		return "something attached to it would be bypassed";
	r = link_get_by_name(&nl, bond, &link);
	nl_done(&nl);
	for (size_t i = 0; !r && i < count; i++)
		is_captured |= captured[i] == link.ifindex;
	return counted_why(r ? NULL : &link, is_captured);
}
