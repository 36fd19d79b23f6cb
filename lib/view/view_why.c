/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sentences of `show` and `doctor`: why a slave is not in use, what others have done to it, and
 * why a policy has no effect. Goes by the pinned maps, and asks the kernel only for what they do
 * not have.
 */
#include <net/if.h>
#include <stdio.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mode.h"
#include "common/pins.h"
#include "common/readings.h"
#include "options/values.h"
#include "rules/link_state.h"
#include "view/lacp_why.h"
#include "view/view_bond.h"
#include "view/view_json.h"

#define WHY_SIZE 256
#define LACP_TEXT_SIZE (LACP_WHY_SIZE + 80)
#define QUEUE_SIZE 80
#define CONTINUES ": traffic continues, and avoids slaves that lose carrier"

const char *view_problem_bondd(enum view_bondd bondd, bool has_carrier)
{
	switch (bondd) {
	case VIEW_BONDD_IS_HERE: break;
	case VIEW_BONDD_IS_STOPPED:
		return has_carrier ? VIEW_BONDD_STOPPED CONTINUES : VIEW_BONDD_STOPPED;
	case VIEW_BONDD_IS_SILENT:
		return has_carrier ? VIEW_BONDD_SILENT CONTINUES : VIEW_BONDD_SILENT;
	}
	return NULL;
}

const char view_problem_detached_bond[] =
	"the bond's own programs were taken off: it sends nothing, or not as it should";
const char view_problem_detached_slave[] = "its receive program was taken off: it receives nothing";

static const struct view_problem view_problems[] = {
	{ XBOND_TROUBLE_MASTER,
	  "it was made a port of another device, which receives nothing from it" },
	{ XBOND_TROUBLE_ADDRESSES, "it has IP addresses, which belong on the bond" },
	{ XBOND_TROUBLE_UPPERS, "devices were made on it, which receive nothing there" },
	{ XBOND_TROUBLE_ENDING, "filters on its ingress accept frames before xbond's program sees "
				"them, so they are bypassed" },
	{ XBOND_TROUBLE_UNMET, "filters on its ingress do not see what the bond receives" },
	{ XBOND_TROUBLE_NFT, "nft chains on its ingress do not see what the bond receives" },
	{ XBOND_TROUBLE_NFT_EGRESS, "nft chains on its egress do not see what the bond sends" },
};

const struct view_problem *view_problem_at(unsigned int i)
{
	return i < sizeof(view_problems) / sizeof(view_problems[0]) ? &view_problems[i] : NULL;
}

/* Policies of the user */

json_t *view_policy(const struct pins *pins)
{
	struct policy_program program;

	if (!policy_program(pins->dir, XBOND_PIN_POLICY, &program))
		return json_null();
	return *program.name ? json_value_text(program.name)
			     : json_sprintf("program %u", program.id);
}

static bool view_policy_is_asked(const struct pins *pins)
{
	return pins->table->flags & XBOND_F_POLICY;
}

static bool view_policy_can_decide(const struct pins *pins)
{
	return pins->table->selection == XBOND_SELECT_HASH &&
	       !mode_has(pins->bond->mode, MODE_OWN_MACS);
}

static const char *view_policy_why_not(const struct pins *pins)
{
	if (mode_has(pins->bond->mode, MODE_LACP))
		return "it has no effect with lacp_tx balance-rr";
	return "it has no effect in this mode; only balance-xor and 802.3ad "
	       "use policies";
}

bool view_policy_decides(const struct pins *pins)
{
	return view_policy_is_asked(pins) && view_policy_can_decide(pins) &&
	       policy_is_loaded(pins->dir);
}

json_t *view_policy_problem(const struct pins *pins)
{
	if (!policy_is_loaded(pins->dir))
		return json_null();
	if (!view_policy_can_decide(pins))
		return json_string(view_policy_why_not(pins));
	if (!view_policy_is_asked(pins))
		return json_string("the bond's programs do not call it; start or restart bondd");
	return json_null();
}

/* Hold-downs */

static const struct xbond_hold_down *view_hold(const struct xbond_quality *quality,
					       enum xbond_monitor monitor)
{
	if (monitor == XBOND_MONITOR_FLAPS)
		return &quality->flaps.hold;
	if (monitor == XBOND_MONITOR_SILENCE)
		return &quality->silence.hold;
	return monitor == XBOND_MONITOR_ERRORS ? &quality->errors.hold : NULL;
}

/* What is left of a hold-down of a link that works only says how long the next one would be. */
uint64_t view_hold_left_ms(const struct pins *pins, unsigned int slot, enum xbond_monitor monitor)
{
	bool works = pins->monitors && pins->monitors[slot].works >> monitor & 1;
	const struct xbond_hold_down *hold =
		pins->quality && !works ? view_hold(&pins->quality[slot], monitor) : NULL;

	return hold ? (hold_down_left_ns(hold, clock_now_ns()) + NS_PER_MS - 1) / NS_PER_MS : 0;
}

/* BFD */

bool view_has_bfd_session(const struct pins *pins, unsigned int slot)
{
	return pins->bfd && pins->bfd->link[slot].enabled;
}

enum xbond_bfd_end view_bfd_ended(const struct pins *pins, unsigned int slot)
{
	if (!view_has_bfd_session(pins, slot))
		return XBOND_BFD_GOES_ON;
	return (enum xbond_bfd_end)__atomic_load_n(&pins->bfd->link[slot].ended, __ATOMIC_RELAXED);
}

/* That the programs have ended its session without bondd; NULL: they have not. */
static json_t *view_why_bfd(const struct pins *pins, unsigned int slot)
{
	switch (view_bfd_ended(pins, slot)) {
	case XBOND_BFD_SILENT:
		return json_string("its BFD session ended while bondd was not running: the far "
				   "end is silent on this link");
	case XBOND_BFD_SIGNALED:
		return json_string("its BFD session ended while bondd was not running: the far "
				   "end has taken it down");
	case XBOND_BFD_TURNED_OFF: /* no failure */
	case XBOND_BFD_GOES_ON: break;
	}
	return NULL;
}

/* LACP */

static const char *view_lacp_slave_name(const void *context, unsigned int slot)
{
	const struct pins *pins = context;

	return pins->slaves[slot].name[0] ? pins->slaves[slot].name : NULL;
}

static bool view_lacp_is_bondd_away(const struct pins *pins, uint64_t now_ns)
{
	uint64_t beat_ns = __atomic_load_n(&pins->table->lacp_heartbeat_ns, __ATOMIC_RELAXED);

	return xbond_heartbeat_is_older(beat_ns, now_ns, XBOND_LACP_AWAY_NS);
}

static uint64_t view_lacp_later(uint64_t left_ns, uint64_t right_ns)
{
	return left_ns > right_ns ? left_ns : right_ns;
}

/* Roughly the time when bondd went away; the sentence is made for that time. */
static uint64_t view_lacp_last_known_ns(const struct pins *pins, const struct lacp_port_state *port)
{
	return view_lacp_later(pins->table->lacp_heartbeat_ns,
			       view_lacp_later(port->heard_ns, port->sent_ns[LACP_TX_LIMIT - 1]));
}

static void view_lacp_why_while_away(const struct pins *pins, const struct lacp_system *sys,
				     unsigned int slot, char ret_text[LACP_TEXT_SIZE])
{
	const struct xbond_hold *hold = &pins->hold[slot];
	const struct xbond_hold_words *words = &hold->words[hold->in_force & 1];
	bool held = words->holding && words->told & LACP_COLLECTING;
	char before[LACP_WHY_SIZE];

	static const char *const ended[] = {
		[XBOND_HOLD_SILENT] = "partner is silent",
		[XBOND_HOLD_OUT_OF_STEP] = "partner's state has changed",
		[XBOND_HOLD_PARTNER_CHANGED] = "partner is another one",
	};

	if (hold->ended && hold->ended < sizeof(ended) / sizeof(*ended)) {
		snprintf(ret_text, LACP_TEXT_SIZE, "%s without bondd: the %s",
			 pins->bond->lacp_hold ? "no longer kept up" : "no longer used",
			 ended[hold->ended]);
	} else if (held) {
		snprintf(ret_text, LACP_TEXT_SIZE,
			 "kept up by the programs without bondd%s: %u answer%s",
			 hold->withheld ? ", collecting only, as the partner does not" : "",
			 hold->answers, hold->answers == 1 ? "" : "s");
	} else {
		lacp_why(sys, slot, view_lacp_last_known_ns(pins, &sys->port[slot]),
			 view_lacp_slave_name, pins, before);
		snprintf(ret_text, LACP_TEXT_SIZE, "not kept up without bondd; last known: %s",
			 before);
	}
}

json_t *view_lacp_why(const struct pins *pins, const struct lacp_system *sys, unsigned int slot)
{
	/* read after the state, so nothing in the state is later */
	uint64_t now_ns = clock_now_ns();
	char text[LACP_TEXT_SIZE];

	if (!slots_have(sys->used, slot))
		return json_string("bondd has not started LACP on it yet");
	if (view_lacp_is_bondd_away(pins, now_ns))
		view_lacp_why_while_away(pins, sys, slot, text);
	else
		lacp_why(sys, slot, now_ns, view_lacp_slave_name, pins, text);
	return json_value_text(text);
}

/*
 * Why a slave is not in use, in the order in which bondd decides: the slave's link, LACP, the
 * choice among the slaves that could be used, the programs, the bond. The first reason is told.
 */

uint32_t view_refusing(const struct pins *pins, unsigned int slot)
{
	const struct xbond_verdict *verdict = pins->monitors ? &pins->monitors[slot] : NULL;

	return verdict ? verdict->spoken & ~verdict->works & ((1u << XBOND_MONITORS) - 1) : 0;
}

/* The monitor's words, and how long the slave is still held down; "" if no monitor says no. */
static void view_why_monitor(const struct pins *pins, unsigned int slot, char text[WHY_SIZE])
{
	uint32_t refusing = view_refusing(pins, slot);
	enum xbond_monitor monitor;
	uint64_t left_ms;

	text[0] = '\0';
	if (!refusing)
		return;
	monitor = (enum xbond_monitor)__builtin_ctz(refusing);
	left_ms = view_hold_left_ms(pins, slot, monitor);
	if (left_ms)
		snprintf(text, WHY_SIZE, "%s; it is tried again in %llu s",
			 monitor_finding(monitor), (unsigned long long)((left_ms + 999) / 1000));
	else
		snprintf(text, WHY_SIZE, "%s", monitor_finding(monitor));
}

/* Who has taken the link; NULL if that is not known. */
static json_t *view_why_held(const struct xbond_slave *slave)
{
	char name[IF_NAMESIZE];

	if (slave->trouble & XBOND_TROUBLE_PROTODOWN)
		return json_sprintf("it is held down by protodown ('ip link set %s protodown off' "
				    "ends that)",
				    slave->name);
	if (slave->ifindex && if_indextoname(slave->ifindex, name) && set_down_is(name, slave->mac))
		return json_sprintf(
			"it is administratively down ('ip link set %s up' brings it up)", name);
	return NULL;
}

static json_t *view_why_link(const struct pins *pins, unsigned int slot)
{
	const struct xbond_bond *bond = pins->bond;
	char found[WHY_SIZE];
	json_t *held;

	view_why_monitor(pins, slot, found);
	switch ((enum xbond_link)pins->slaves[slot].link) {
	case XBOND_LINK_UP: return NULL;
	case XBOND_LINK_GOING_UP:
		return json_sprintf("its link is up again; updelay (%u ms) is running",
				    bond->updelay_ms);
	case XBOND_LINK_GOING_DOWN:
		return json_sprintf("%s; downdelay (%u ms) is running",
				    found[0] ? found : "no carrier", bond->downdelay_ms);
	case XBOND_LINK_DOWN: break;
	}
	held = view_why_held(&pins->slaves[slot]);
	if (held)
		return held;
	if (found[0])
		return json_string(found);
	return json_string(pins->monitors ? "no monitor has found its link working yet"
					  : "its link is down");
}

/* What it transmits nevertheless. */
static const char *view_why_queue(const struct pins *pins, unsigned int slot, char text[QUEUE_SIZE])
{
	text[0] = '\0';
	if (pins->slaves[slot].queue_id)
		snprintf(text, QUEUE_SIZE, "; it carries the packets of queue %u (queue_id)",
			 pins->slaves[slot].queue_id);
	return text;
}

static json_t *view_why_backup(const struct pins *pins, unsigned int slot)
{
	unsigned int active = values_active_slot(pins);
	char text[WHY_SIZE], queue[QUEUE_SIZE];

	if (pins->table->selection != XBOND_SELECT_ACTIVE || active == slot)
		return NULL;
	if (active >= XBOND_MAX_SLAVES)
		return json_string("backup: no slave is active");
	snprintf(text, sizeof(text), "backup: the active slave is %s%s", pins->slaves[active].name,
		 view_why_queue(pins, slot, queue));
	return json_value_text(text);
}

/* Of a slave whose link works. */
static json_t *view_why_left_out(const struct pins *pins, const struct lacp_system *lacp,
				 unsigned int slot)
{
	json_t *why = view_why_bfd(pins, slot);

	if (why)
		return why;
	return lacp ? view_lacp_why(pins, lacp, slot)
		    : json_string("bondd has taken it out of use for a moment");
}

static json_t *view_why_chosen(const struct pins *pins, const struct lacp_system *lacp,
			       unsigned int slot)
{
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_RELAXED);
	char queue[QUEUE_SIZE];

	if (!slots_have(may, slot))
		return view_why_left_out(pins, lacp, slot);
	if (!slots_have(values_undrained(pins, may), slot))
		return json_sprintf("drained: it carries traffic only when no other slave can%s",
				    view_why_queue(pins, slot, queue));
	return view_why_backup(pins, slot);
}

/* Of a slave that would be in use. */
static json_t *view_why_bond(const struct pins *pins, unsigned int slot)
{
	const struct xbond_bond *bond = pins->bond;
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_RELAXED);

	if (attached_slave(pins, slot) == ATTACHED_NOT)
		return json_string("it sends, but receives nothing: its receive program was taken "
				   "off");
	if (attached_pair(pins) == ATTACHED_NOT)
		return json_string("the bond's own programs were taken off");
	if (bond->carrier)
		return NULL;
	if (carrier_has_enough(may, bond->min_links))
		return json_string("the bond has no carrier");
	return json_sprintf("the bond has no carrier: it needs %u usable slaves "
			    "(min_links), and has %u",
			    bond->min_links ? bond->min_links : 1, slots_count(may));
}

json_t *view_why(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot)
{
	json_t *why = view_why_link(pins, slot);

	if (!why)
		why = view_why_chosen(pins, lacp, slot);
	if (!why)
		why = view_why_bond(pins, slot);
	return why ? why : json_null();
}
