/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown of the link monitors of a slave. */
#include <string.h>

#include "bfd/bfd.h"
#include "common/clock.h"
#include "options/option_set.h"
#include "options/values.h"
#include "rules/link_state.h"
#include "view/view_bond.h"
#include "view/view_field.h"
#include "view/view_json.h"

#define READ_TRIES 100

enum view_state { VIEW_STATE_DOWN, VIEW_STATE_UP, VIEW_STATE_UNKNOWN };

/* What one monitor says of the slave. */
struct view_monitor {
	unsigned int state; /* enum view_state */
	uint64_t since_ms;
	uint64_t until_ms;		     /* 0: it does not hold the slave down */
	const struct xbond_quality *quality; /* NULL: unknown */
	/* Of BFD: the session as it is, also if the programs have ended it without bondd. */
	bool has_session;
	struct bfd_session session;
	uint64_t tx_ms, detection_ms;
	uint32_t refused;
};

static const char *view_state_word(unsigned int state)
{
	static const char *const words[] = { "down", "up" };

	return state < 2 ? words[state] : NULL;
}

static const char *view_bfd_state_word(unsigned int state)
{
	return state == VIEW_STATE_UNKNOWN ? "unknown" : view_state_word(state);
}

static const char *view_session_word(unsigned int state)
{
	return state <= BFD_UP ? bfd_state_name(state) : NULL;
}

static uint64_t view_since_ms(uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns > since_ns ? (now_ns - since_ns) / NS_PER_MS : 0;
}

/* bondd writes the copy that is not in force. If it wrote twice meanwhile, we would get a mixture.
 */
static struct bfd_session view_bfd_read(const struct xbond_bfd_link *link)
{
	const struct bfd_session *from;
	struct bfd_session session;
	int tries = READ_TRIES;

	do {
		from = &link->words[__atomic_load_n(&link->in_force, __ATOMIC_ACQUIRE) & 1].session;
		memcpy(&session, from, sizeof(session));
	} while (memcmp(&session, from, sizeof(session)) && --tries);
	return session;
}

/* Nobody has noted when; the far end was heard until shortly before. */
static void view_bfd_end(struct view_monitor *monitor, enum xbond_bfd_end ended, uint64_t heard_ns)
{
	bool is_silent = ended == XBOND_BFD_SILENT, is_off = ended == XBOND_BFD_TURNED_OFF;

	bfd_session_lose(&monitor->session,
			 is_silent ? BFD_DIAG_TIME_EXPIRED : BFD_DIAG_NEIGHBOR_DOWN,
			 clock_now_ns());
	monitor->state = is_off ? VIEW_STATE_UNKNOWN : VIEW_STATE_DOWN;
	monitor->since_ms = view_since_ms(heard_ns);
}

static void view_bfd_fill(struct view_monitor *monitor, const struct pins *pins, unsigned int slot)
{
	const struct xbond_bfd_link *link = &pins->bfd->link[slot];
	enum xbond_bfd_end ended = view_bfd_ended(pins, slot);

	monitor->has_session = true;
	monitor->session = view_bfd_read(link);
	if (monitor->state == VIEW_STATE_UNKNOWN)
		monitor->since_ms = view_since_ms(monitor->session.since_ns);
	if (ended != XBOND_BFD_GOES_ON)
		view_bfd_end(monitor, ended, link->heard_ns);
	monitor->tx_ms = bfd_session_tx_ns(&monitor->session) / NS_PER_MS;
	monitor->detection_ms = bfd_session_detection_ns(&monitor->session) / NS_PER_MS;
	monitor->refused = link->refused;
}

static void view_verdict_fill(struct view_monitor *monitor, const struct pins *pins,
			      unsigned int slot, enum xbond_monitor id)
{
	const struct xbond_verdict *verdict = &pins->monitors[slot];

	monitor->state = verdict->works >> id & 1 ? VIEW_STATE_UP : VIEW_STATE_DOWN;
	monitor->since_ms = view_since_ms(verdict->since_ns[id]);
	monitor->until_ms = view_hold_left_ms(pins, slot, id);
	monitor->quality = pins->quality ? &pins->quality[slot] : NULL;
}

/* The index is the monitor's. It is there if it has a verdict, and BFD if it has a session. */
static json_t *view_read_monitor(const struct view_place *place)
{
	enum xbond_monitor id = (enum xbond_monitor)place->field->index;
	struct view_monitor monitor = { .state = VIEW_STATE_UNKNOWN };
	const struct pins *pins = view_pins(place);
	struct view_place inner = *place;
	bool has_verdict = pins->monitors[place->slot].spoken >> id & 1;
	bool has_session = id == XBOND_MONITOR_BFD && view_has_bfd_session(pins, place->slot);

	if (!has_verdict && !has_session)
		return NULL;
	if (has_verdict)
		view_verdict_fill(&monitor, pins, place->slot, id);
	if (has_session)
		view_bfd_fill(&monitor, pins, place->slot);
	inner.at = &monitor;
	return view_object(place->field->table, &inner);
}

static const void *view_base_session(const struct view_place *place)
{
	const struct view_monitor *monitor = place->at;

	return monitor->has_session ? monitor : NULL;
}

static json_t *view_read_of_far_end(const struct view_place *place)
{
	const struct view_monitor *monitor = place->at;

	return monitor->session.remote_discr ? view_member(place->field, monitor) : json_null();
}

static const struct xbond_quality *view_quality(const struct view_place *place)
{
	const struct view_monitor *monitor = place->at;

	return monitor->quality;
}

static json_t *view_read_until_ms(const struct view_place *place)
{
	return view_quality(place) ? view_member(place->field, place->at) : NULL;
}

static json_t *view_read_flaps(const struct view_place *place)
{
	const struct xbond_quality *quality = view_quality(place);

	return quality ? json_integer(flaps_in_minute(&quality->flaps, clock_now_ns())) : NULL;
}

static json_t *view_read_since_heard_ms(const struct view_place *place)
{
	const struct xbond_quality *quality = view_quality(place);
	uint64_t heard_ns = quality ? quality->silence.heard_ns : 0;

	if (!quality)
		return NULL;
	return heard_ns && heard_ns <= clock_now_ns() ? json_value_since_ms(heard_ns) : json_null();
}

static json_t *view_read_errors(const struct view_place *place)
{
	const struct xbond_quality *quality = view_quality(place);

	return quality ? json_integer(quality->errors.rate) : NULL;
}

/* What the slave itself has heard of the target, or, as a backup, of the active slave's probes. */
static uint64_t view_target_heard_ns(const struct pins *pins, unsigned int slot, unsigned int at)
{
	const struct xbond_probe_times *times = &pins->probes->times[slot];
	unsigned int active = values_active_slot(pins);
	bool is_backup = active < XBOND_MAX_SLAVES && active != slot;

	return is_backup && times->to_ns[at] > times->from_ns[at] ? times->to_ns[at]
								  : times->from_ns[at];
}

struct view_target {
	char address[OPTION_ADDRESS_SIZE];
	uint64_t heard_ns; /* 0: never */
};

static json_t *view_read_since_target_heard_ms(const struct view_place *place)
{
	const struct view_target *target = place->at;

	return target->heard_ns ? json_value_since_ms(target->heard_ns) : json_null();
}

static void view_add_targets(json_t *json, const struct view_place *place, enum option_id id,
			     unsigned int first)
{
	const struct option_spec *option = option_at(id);
	struct view_place inner = *place;
	struct option_value value;
	struct view_target target;

	inner.at = &target;
	values_read(view_pins(place), option, 0, &value);
	for (unsigned int i = 0; i < option_address_count(&value); i++) {
		option_address_at(option, &value, i, target.address);
		target.heard_ns = view_target_heard_ns(view_pins(place), place->slot, first + i);
		json_array_append_new(json, view_object(place->field->table, &inner));
	}
}

static json_t *view_read_targets(const struct view_place *place)
{
	json_t *json;

	if (!view_pins(place)->probes)
		return NULL;
	json = json_array();
	view_add_targets(json, place, OPT_ARP_IP_TARGET, 0);
	view_add_targets(json, place, OPT_NS_IP6_TARGET, XBOND_MAX_TARGETS);
	return json;
}

static const struct view_field view_fields_of_verdict[] = {
	{ "state", VIEW_WORD, "Its verdict on the link.", VIEW_IN(struct view_monitor, state),
	  .word = view_state_word },
	{ "since_ms", VIEW_COUNT, "How long it has been so.",
	  VIEW_IN(struct view_monitor, since_ms) },
};

static const struct view_field view_fields_of_session[] = {
	{ "session", VIEW_WORD, "The state of the session.",
	  VIEW_IN(struct view_monitor, session.state), .word = view_session_word },
	{ "remote_session", VIEW_WORD, "The same at the far end.",
	  VIEW_IN(struct view_monitor, session.remote_state), .word = view_session_word,
	  .read = view_read_of_far_end, .null = true },
	{ "diag", VIEW_TEXT,
	  "The diagnostic of RFC 5880. If the programs have ended the session without bondd, it "
	  "says why, *state* and *session* are down, and *since_ms* is the time since the far end "
	  "was last heard.",
	  VIEW_IN(struct view_monitor, session.diag), .word = bfd_diag_name },
	{ "remote_diag", VIEW_TEXT, "The same of the far end.",
	  VIEW_IN(struct view_monitor, session.remote_diag), .word = bfd_diag_name,
	  .read = view_read_of_far_end, .null = true },
	{ "local_discriminator", VIEW_COUNT, "The number of the session.",
	  VIEW_IN(struct view_monitor, session.local_discr) },
	{ "remote_discriminator", VIEW_COUNT, "Its number at the far end.",
	  VIEW_IN(struct view_monitor, session.remote_discr), .null = true },
	{ "tx_interval_ms", VIEW_COUNT, "The time between packets that are sent.",
	  VIEW_IN(struct view_monitor, tx_ms) },
	{ "detection_time_ms", VIEW_COUNT,
	  "After how long without packets of the far end the session is down.",
	  VIEW_IN(struct view_monitor, detection_ms), .read = view_read_of_far_end, .null = true },
	{ "lost", VIEW_COUNT, "How often the session left the state up.",
	  VIEW_IN(struct view_monitor, session.lost) },
	{ "refused", VIEW_COUNT, "Packets that the far end cannot have sent.",
	  VIEW_IN(struct view_monitor, refused) },
};

static const struct view_field view_fields_of_target[] = {
	{ "address", VIEW_TEXT, "Its address.", VIEW_IN(struct view_target, address) },
	{ "since_heard_ms", VIEW_COUNT,
	  "How long ago the slave last heard the target, or, as a backup, the active slave's probe "
	  "of it; null if never.",
	  .read = view_read_since_target_heard_ms, .null = true },
};

static const struct view_table view_table_verdict = VIEW_TABLE("verdict", view_fields_of_verdict);
static const struct view_table view_table_session = VIEW_TABLE("session", view_fields_of_session);
static const struct view_table view_table_target = VIEW_TABLE("target", view_fields_of_target);

#define VERDICT                                                   \
	{                                                         \
		.type = VIEW_FIELDS, .table = &view_table_verdict \
	}

static const struct view_field view_fields_of_carrier[] = { VERDICT };

static const struct view_field view_fields_of_arp[] = {
	VERDICT,
	{ "targets", VIEW_ARRAY, "What it knows of each target.", .read = view_read_targets,
	  .table = &view_table_target, .optional = true },
};

static const struct view_field view_fields_of_bfd[] = {
	{ "state", VIEW_WORD, "Its verdict on the link.", VIEW_IN(struct view_monitor, state),
	  .word = view_bfd_state_word },
	{ "since_ms", VIEW_COUNT, "How long it has been so.",
	  VIEW_IN(struct view_monitor, since_ms) },
	{ .type = VIEW_FIELDS,
	  .table = &view_table_session,
	  .base = view_base_session,
	  .optional = true },
};

#define UNTIL_MS                                                                                 \
	{                                                                                        \
		"until_ms", VIEW_COUNT, "The rest of a hold-down; null if it is not held down.", \
			VIEW_IN(struct view_monitor, until_ms), .read = view_read_until_ms,      \
								.null = true, .optional = true   \
	}

static const struct view_field view_fields_of_flaps[] = {
	VERDICT,
	{ "flaps", VIEW_COUNT, "The losses of the link in the last minute.",
	  .read = view_read_flaps, .optional = true },
	UNTIL_MS,
};

static const struct view_field view_fields_of_silence[] = {
	VERDICT,
	{ "since_heard_ms", VIEW_COUNT, "The time since the last frame.",
	  .read = view_read_since_heard_ms, .null = true, .optional = true },
	UNTIL_MS,
};

static const struct view_field view_fields_of_errors[] = {
	VERDICT,
	{ "errors_per_million", VIEW_COUNT, "The rate that was last judged.",
	  .read = view_read_errors, .optional = true },
	UNTIL_MS,
};

#define MONITOR(monitor, title, rows, sentence)                                     \
	{                                                                           \
		title, VIEW_OBJECT, sentence,                                       \
			.read = view_read_monitor,                                  \
			.table = &(const struct view_table)VIEW_TABLE(title, rows), \
			.index = monitor, .optional = true                          \
	}

static const struct view_field view_fields_of_monitors[] = {
	MONITOR(XBOND_MONITOR_CARRIER, "carrier", view_fields_of_carrier,
		"What the kernel says of its carrier. All monitors have *state* and *since_ms*."),
	MONITOR(XBOND_MONITOR_ARP, "arp", view_fields_of_arp,
		"Answers to ARP requests and neighbour solicitations."),
	MONITOR(XBOND_MONITOR_BFD, "bfd", view_fields_of_bfd,
		"BFD. It is there while the slave has a session; what is not known of the far end "
		"is null."),
	MONITOR(XBOND_MONITOR_FLAPS, "flaps", view_fields_of_flaps, "Option *flap_limit*."),
	MONITOR(XBOND_MONITOR_SILENCE, "silence", view_fields_of_silence, "Option *rx_silence*."),
	MONITOR(XBOND_MONITOR_ERRORS, "errors", view_fields_of_errors, "Option *error_limit*."),
};

const struct view_table view_table_monitors = VIEW_TABLE("monitors", view_fields_of_monitors);
