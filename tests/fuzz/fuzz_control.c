/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request of any content, of root and of others, to the methods of the control socket and what
 * they check. There is one bond with slaves in memory. What would reach the kernel is wrapped: it
 * succeeds or fails as the input says, and is asked only for what has been checked.
 */
#include <errno.h>

#include "common/mode.h"
#include "daemon/bond/part.h"
#include "daemon/control/control.h"
#include "daemon/handover/handover.h"
#include "daemon/watch.h"
#include "options/values.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/cpus.h"

#define MEMBERS 2

static struct {
	struct xbond_settings settings;
	struct xbond_table table;
	struct xbond_buckets buckets;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
	struct xbond_hold hold[XBOND_MAX_SLAVES];
	struct xbond_lacp lacp;
} maps;
static struct xbond_bond initial;
static struct bond bond;
static struct daemon bondd;
static bool making_parts;
static unsigned int answers; /* to one request */
static int kernel_says;	     /* 0 or -errno, whatever it is asked for */

void *__real_calloc(size_t count, size_t size);

/* What is in parts is large. */
void *__wrap_calloc(size_t count, size_t size)
{
	return making_parts ? memset(arena_take(count * size), 0, count * size)
			    : __real_calloc(count, size);
}

static int kernel_answers(struct err *err)
{
	return kernel_says ? err_set(err, -kernel_says, "the kernel does not want it") : 0;
}

/* What the option table allows, as it is in the maps. */
static void control_check_bond(const struct xbond_bond *pin)
{
	const struct pins pins = { .bond = (struct xbond_bond *)(uintptr_t)pin,
				   .settings = &maps.settings,
				   .table = &maps.table,
				   .slaves = maps.slaves };

	input_check(memchr(pin->name, '\0', sizeof(pin->name)) != NULL, "a name that ends");
	input_check(memchr(pin->primary, '\0', sizeof(pin->primary)) != NULL, "a primary, too");
	input_check(mode_find(pin->mode) != NULL, "a mode that exists");
	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value value, again;
		char text[OPTION_TEXT_SIZE];

		if (option->home != OPTION_IN_BOND || option->id == OPT_ACTIVE_SLAVE)
			continue;
		values_read(&pins, option, 0, &value);
		option_format(option, &value, text, sizeof(text));
		input_check(option->type == OPTION_IFNAME || option->type == OPTION_MAC ||
				    !option_parse(option, text, &again, NULL),
			    "a value that the option takes");
	}
}

int __wrap_lifecycle_create(struct daemon *daemon, const struct xbond_bond *pin,
			    const struct xbond_settings *settings, struct err *err)
{
	control_check_bond(pin);
	return kernel_answers(err);
}

int __wrap_lifecycle_delete(struct bond *deleted, struct err *err)
{
	input_check(deleted == &bond, "the bond that there is");
	return kernel_answers(err);
}

int __wrap_enslave_check(struct bond *master, const char *name, bool force,
			 struct link_info *ret_link, struct err *err)
{
	return err_set(err, ENODEV, "no device %s", name);
}

/* Devices that are no slaves by this name: "a..." is another name of the first slave. */
int __wrap_link_get_by_name(struct nl *nl, const char *name, struct link_info *ret_link)
{
	*ret_link = (struct link_info){ .ifindex = (int)bond_slave(&bond, 0)->ifindex };
	return *name == 'a' ? 0 : -ENODEV;
}

void __wrap_slave_release(struct bond *master, uint64_t slots)
{
	input_check(slots && !(slots >> MEMBERS), "slaves that there are");
}

int __wrap_slave_mac_set(struct bond *master, unsigned int slot, struct err *err)
{
	input_check(slot < MEMBERS, "a slave that there is");
	return kernel_answers(err);
}

int __wrap_mac_swap_try(struct bond *master, unsigned int slot, struct err *err)
{
	return __wrap_slave_mac_set(master, slot, err);
}

void __wrap_bond_evaluate(struct bond *evaluated)
{
	control_check_bond(bond_pin(evaluated));
}

int __wrap_xdp_settle_tx(struct bond *followed, struct err *err)
{
	return kernel_answers(err);
}

void __wrap_xdp_ask_again(struct bond *asked, unsigned int slot)
{
}

int __wrap_rx_turn_start(struct bond *turned, struct err *err)
{
	return kernel_answers(err);
}

void __wrap_poll_schedule(struct bond *polled)
{
}

void __wrap_bypass_read_captures(struct daemon *daemon)
{
}

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	errno = -kernel_says;
	return kernel_says ? -1 : 0;
}

/* Here it ends at once, and its listener must not need anything of the request. */
int __wrap_handover_begin(struct daemon *daemon, const struct handover_order *order,
			  struct err *err)
{
	json_t *notes;

	input_check(order->bond != NULL, "a name");
	if (kernel_says)
		return kernel_answers(err);
	notes = json_array();
	order->tell(0, err, notes, order->arg);
	json_decref(notes);
	return 0;
}

void __wrap_log_line(int priority, const char *format, ...)
{
}

/* Once. */
static void control_make_daemon(void)
{
	parts_list();
	initial = (struct xbond_bond){ .magic = XBOND_ABI_MAGIC,
				       .abi_version = XBOND_ABI_VERSION,
				       .state = XBOND_BOND_READY,
				       .name = "bond0",
				       .miimon_ms = 100,
				       .active_slot = XBOND_NO_SLOT };
	for (int id = 0; id < OPT_COUNT; id++) {
		struct option_value value = option_initial(option_at(id));

		if (option_at(id)->home == OPTION_IN_BOND && id != OPT_ACTIVE_SLAVE)
			values_write(&(struct pins){ .bond = &initial }, option_at(id), 0, &value);
	}
	bondd.bonds = &bond;
	bondd.paths.bpf_dir = "/nonexistent";
	bondd.paths.run_dir = "/nonexistent";
	bondd.paths.config_dir = "/nonexistent";
}

static void control_make_bond(void)
{
	memset(&maps, 0, sizeof(maps));
	memset(&bond, 0, sizeof(bond));
	making_parts = true;
	parts_new(&bond);
	making_parts = false;
	maps.bond = initial;
	for (unsigned int slot = 0; slot < MEMBERS; slot++) {
		maps.slaves[slot].state = XBOND_SLOT_MEMBER;
		snprintf(maps.slaves[slot].name, sizeof(maps.slaves[slot].name), "eth%u", slot);
	}
	bond.daemon = &bondd;
	bond.dataplane.pins = (struct pins){ .settings = &maps.settings,
					     .table = &maps.table,
					     .buckets = &maps.buckets,
					     .bond = &maps.bond,
					     .slaves = maps.slaves,
					     .hold = maps.hold,
					     .lacp = &maps.lacp };
}

static int control_check_piece(const char *text, size_t size, void *arg)
{
	for (size_t i = 0; i < size; i++)
		input_check(text[i] && text[i] != '\n', "an answer is one line of JSON");
	return 0;
}

static void control_check_answer(json_t *answer)
{
	json_t *ok = json_object_get(answer, "ok");

	input_check(!json_dump_callback(answer, control_check_piece, NULL, JSON_COMPACT),
		    "an answer is JSON");
	input_check(json_is_boolean(ok), "it says whether it went well");
	input_check(json_is_true(ok) || json_is_string(json_object_get(answer, "error")),
		    "a refusal says why");
	json_decref(answer);
}

static void control_take_later(struct client *client, json_t *answer)
{
	answers++;
	control_check_answer(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint8_t flags = input_u8(&input);

	arena_start();
	if (!bondd.bonds)
		control_make_daemon();
	control_make_bond();
	kernel_says = flags & 2 ? -EMSGSIZE : flags & 4 ? -EPERM : 0;
	while (input.left) {
		const uint8_t *newline = memchr(input.at, '\n', input.left);
		size_t length = newline ? (size_t)(newline - input.at) : input.left;
		size_t all = newline ? length + 1 : length;
		struct xbond_bond before = maps.bond;
		const struct control_client client = { .uid = flags & 1 ? 0 : 1000,
						       .answer_later = control_take_later };
		uint64_t from;
		json_t *answer;

		answers = 0;
		answer = control_answer(&bondd, &client, (const char *)input.at, length, &from);
		if (answer)
			control_take_later(NULL, answer);
		input_check(answers == 1, "one answer, at once or later");
		input_check(flags & 1 || !memcmp(&before, &maps.bond, sizeof(before)),
			    "only root changes anything");
		input.at += all;
		input.left -= all;
	}
	parts_free(&bond);
	arena_end();
	return 0;
}
