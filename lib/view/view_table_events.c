/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of events, and the fields that each adds to those that all have. */
#include "common/mode.h"
#include "view/view_bond.h"
#include "view/view_field.h"
#include "view/view_json.h"

#define WORDS_OF(function, ...)                                                          \
	static const char *function(unsigned int number)                                 \
	{                                                                                \
		static const char *const words[] = { __VA_ARGS__ };                      \
                                                                                         \
		return number < sizeof(words) / sizeof(words[0]) ? words[number] : NULL; \
	}

WORDS_OF(event_carrier_word, "on", "off")
WORDS_OF(event_verdict_word, "works", "fails", "none")
WORDS_OF(event_lacp_word, "receive", "mux", "selected", "partner", "actor_churn", "partner_churn",
	 "loop", "fallback", "traffic", "stranger", "behind")
WORDS_OF(event_cause_word, "slaves", "load")
WORDS_OF(event_action_word, "create", "adopt", "delete", "set", "set-slave", "add-slave",
	 "del-slave", "apply", "confirm", "rollback", "takeover", "handback", "conversion",
	 "policy")
WORDS_OF(event_device_word, "gone", "moved")
WORDS_OF(event_bondd_word, "away", "back")
WORDS_OF(event_detour_word, "avoided", "carrier", "out_of_use", "used")
WORDS_OF(event_hold_word, "answers", "goes_on", "silent", "out_of_step", "partner_changed",
	 "unknown")

static const char *event_monitor_word(unsigned int monitor)
{
	return monitor < XBOND_MONITORS ? monitor_name((enum xbond_monitor)monitor) : NULL;
}

static const struct view_field event_link[] = {
	{ "state", VIEW_WORD, "What it is now.", .word = view_link_word },
	{ "reason", VIEW_TEXT,
	  "What a link monitor has found. Always null if the slave is up or going_up.",
	  .null = true },
};

static const struct view_field event_failover[] = {
	{ "duration_us", VIEW_COUNT,
	  "Microseconds from the loss, as far as it is known, until the programs' table no longer "
	  "had the slave (see FAILOVER in xbond(7)).",
	  .null = false },
};

static const struct view_field event_active[] = {
	{ "before", VIEW_TEXT, "The one before; null: there was none.", .null = true },
};

static const struct view_field event_carrier[] = {
	{ "state", VIEW_WORD, "What it is now.", .word = event_carrier_word },
};

static const struct view_field event_monitor[] = {
	{ "monitor", VIEW_WORD, "Which one.", .word = event_monitor_word },
	{ "state", VIEW_WORD, "What it says of the link; none: nothing any more.",
	  .word = event_verdict_word },
};

static const struct view_field event_lacp[] = {
	{ "what", VIEW_WORD, "Which state.", .word = event_lacp_word },
	{ "state", VIEW_TEXT,
	  "The new one. Those of _receive_ include current, expired and defaulted; that of "
	  "_traffic_, on or off, says whether the port carries traffic; that of _stranger_ is its "
	  "MAC address; that of _partner_ is always null.",
	  .null = true },
};

static const struct view_field event_moves[] = {
	{ "from", VIEW_TEXT, "The slave that had them; null: none.", .null = true },
	{ "to", VIEW_TEXT, "The slave that has them now; null: none.", .null = true },
	{ "buckets", VIEW_COUNT, "How many.", .max = XBOND_BUCKETS },
};

static const struct view_table event_table_of_moves = VIEW_TABLE("moves", event_moves);

static const struct view_field event_buckets[] = {
	{ "moved", VIEW_COUNT, "How many of the 4096 buckets.", .max = XBOND_BUCKETS },
	{ "moves", VIEW_ARRAY, "From where to where, at most 128.",
	  .table = &event_table_of_moves },
	{ "cause", VIEW_WORD,
	  "slaves if some have come, gone or changed; load if rebalancing has moved them.",
	  .word = event_cause_word },
};

static const struct view_field event_config[] = {
	{ "action", VIEW_WORD, "What was done.", .word = event_action_word },
	{ "options", VIEW_TEXTS,
	  "Of set and set-slave: the options, with their new values as text, or null.",
	  .optional = true },
	{ "pid", VIEW_COUNT, "The client that requested it, if one did.", .optional = true },
	{ "program", VIEW_TEXT, "Its program.", .optional = true },
	{ "login_uid", VIEW_COUNT, "The user who logged in, if the system records it.",
	  .optional = true },
};

static const struct view_field event_device[] = {
	{ "state", VIEW_WORD,
	  "gone if it was unplugged or deleted, moved if it is in another network namespace.",
	  .word = event_device_word },
};

static const struct view_field event_bondd[] = {
	{ "state", VIEW_WORD,
	  "Which of the two. The time of _back_ is that of bondd's first event.",
	  .word = event_bondd_word },
};

static const struct view_field event_detour[] = {
	{ "state", VIEW_WORD,
	  "avoided: the slave has lost its carrier, and packets avoid it while another one has "
	  "carrier; carrier: it has carrier again, and packets use it if it was in use with bondd; "
	  "out_of_use and used: the programs have taken it out of use, or use it again.",
	  .word = event_detour_word },
};

static const struct view_field event_hold[] = {
	{ "state", VIEW_WORD, "answers, or why they have ended that; goes_on if they answer again.",
	  .word = event_hold_word },
};

static const struct view_field event_lost[] = {
	{ "count", VIEW_COUNT, "How many.", .null = false },
};

#define EVENT_FIELDS(rows) rows, sizeof(rows) / sizeof((rows)[0])

static const struct event_kind_info event_kinds[EVENT_KINDS] = {
	[EVENT_LINK] = { "link", "a slave's link is up, down, going_up or going_down", NULL,
			 EVENT_ABOUT_SLAVE, EVENT_FIELDS(event_link) },
	[EVENT_FAILOVER] = { "failover", "a slave that failed is out of use: how long that took",
			     NULL, EVENT_ABOUT_SLAVE, EVENT_FIELDS(event_failover) },
	[EVENT_ACTIVE] = { "active", "another slave is the active one, or none is",
			   "*slave* is null if none is.", EVENT_ABOUT_EITHER,
			   EVENT_FIELDS(event_active) },
	[EVENT_CARRIER] = { "carrier", "the bond has carrier (on), or has lost it", NULL,
			    EVENT_ABOUT_BOND, EVENT_FIELDS(event_carrier) },
	[EVENT_MONITOR] = { "monitor", "a link monitor has a new verdict: works, fails or none",
			    NULL, EVENT_ABOUT_SLAVE, EVENT_FIELDS(event_monitor) },
	[EVENT_LACP] = { "lacp", "a state of an 802.3ad port has changed", NULL, EVENT_ABOUT_SLAVE,
			 EVENT_FIELDS(event_lacp) },
	[EVENT_BUCKETS] = { "buckets", "flows have moved: how many of the 4096 buckets, and where",
			    NULL, EVENT_ABOUT_BOND, EVENT_FIELDS(event_buckets) },
	[EVENT_CONFIG] = { "config", "somebody has created, deleted or changed a bond",
			   "Also: bondd has adopted it.", EVENT_ABOUT_EITHER,
			   EVENT_FIELDS(event_config) },
	[EVENT_DEVICE] = { "device", "a slave's device has gone, and the slave with it",
			   "When bondd adds it again, that is an event of the kind config.",
			   EVENT_ABOUT_SLAVE, EVENT_FIELDS(event_device) },
	[EVENT_ATTACHED] = { "attached", "a program or pin that somebody had removed is back", NULL,
			     EVENT_ABOUT_EITHER, NULL, 0 },
	[EVENT_PROBLEM] = { "problem", "something does not work as it should", NULL,
			    EVENT_ABOUT_EITHER, NULL, 0 },
	[EVENT_NOTE] = { "note", "anything else that bondd writes to its log about a bond", NULL,
			 EVENT_ABOUT_EITHER, NULL, 0 },
	[EVENT_BONDD] = { "bondd", "the daemon does not answer, or is back", NULL,
			  EVENT_ABOUT_NEITHER, EVENT_FIELDS(event_bondd) },
	[EVENT_DETOUR] = { "detour", "without bondd packets avoid the slave, or use it again", NULL,
			   EVENT_ABOUT_SLAVE, EVENT_FIELDS(event_detour) },
	[EVENT_HOLD] = { "hold",
			 "without bondd the programs hold an 802.3ad port, or have ended that",
			 "To hold it is to answer its partner.", EVENT_ABOUT_SLAVE,
			 EVENT_FIELDS(event_hold) },
	[EVENT_LOST] = { "lost", "this reader was too slow: so many events are missing", NULL,
			 EVENT_ABOUT_NEITHER, EVENT_FIELDS(event_lost) },
};

const struct event_kind_info *event_kind_info(enum event_kind kind)
{
	return &event_kinds[kind];
}
