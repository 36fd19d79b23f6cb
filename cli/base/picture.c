/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as it is at one moment: copied from its maps, with what the programs know of the carriers,
 * or told by bondd to those who may not read the maps.
 */
#include "cli/base/picture.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/rules.h"
#include "cli/base/client.h"
#include "common/err.h"
#include "common/mode.h"
#include "common/pins.h"
#include "common/slots.h"
#include "options/values.h"

/* What the programs know of the carriers. */

int carrier_look_open(const struct pins *pins)
{
	return pins->wake ? pin_open(pins->dir, XBOND_PIN_PROG_LOOK) : -1;
}

bool carrier_look(int fd, const struct pins *pins, uint64_t *ret_up, uint64_t *ret_lost)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame));

	if (fd < 0 || bpf_prog_test_run_opts(fd, &run) || !run.retval)
		return false;
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
	for (unsigned int slot = 0; lost && slot < XBOND_MAX_SLAVES; slot++)
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
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(lost, slot))
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

/* What bondd tells to those who may not read the maps. */

static int ask(const char *run_dir, json_t *request, json_t **ret_result, struct err *err)
{
	json_t *reply = NULL;
	struct err why;
	int r = client_call(run_dir, request, CLIENT_WAIT_S, &reply, &why);

	json_decref(request);
	if (r == -EREMOTEIO)
		return err_set(err, -r, "%s", why.text);
	if (r)
		return err_set(err, -r,
			       "permission denied: run as root, or as a member of the group xbond "
			       "while bondd runs (%s)",
			       why.text);
	*ret_result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return *ret_result ? 0
			   : err_set(err, EPROTO, "bondd is older than this bondctl: run as root");
}

static int ask_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ask_names(const char *run_dir, char ***ret_names, struct err *err)
{
	json_t *list = NULL, *name;
	char **names;
	size_t at;
	int r = ask(run_dir, json_pack("{s:s}", "method", "list"), &list, err);

	if (r)
		return r;
	names = memory_need(calloc(json_array_size(list) + 1, sizeof(*names)));
	json_array_foreach (list, at, name)
		if (json_is_string(name))
			names[at] = memory_need(strdup(json_string_value(name)));
	qsort(names, json_array_size(list), sizeof(*names), ask_compare);
	json_decref(list);
	*ret_names = names;
	return r;
}

int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
	     bool *ret_forced_counted, struct err *err)
{
	json_t *result = NULL;
	int r = ask(run_dir, json_pack("{s:s, s:s}", "method", method, "bond", name), &result, err);

	if (r)
		return r;
	*ret_view = json_incref(json_object_get(result, "view"));
	*ret_forced_counted = json_is_true(json_object_get(result, "forced_counted"));
	json_decref(result);
	return *ret_view ? 0 : err_set(err, EPROTO, "cannot understand bondd's answer");
}
