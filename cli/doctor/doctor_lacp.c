/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of mode 802.3ad: mistakes in cables and in the partner's configuration, as the partner's
 * own PDUs show them. A port that is known to hear its partner has the state CURRENT.
 */
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/mac.h"

#define LACP_CHECK_SETTLE_NS (10 * NS_PER_S) /* a healthy partner takes less */

static bool lacp_check_is_up(const struct lacp_port_state *port)
{
	return port->used && port->config.link == LACP_LINK_UP;
}

static bool lacp_check_was_heard(const struct lacp_port_state *port)
{
	const struct lacp_counters *count = &port->counters;

	return count->lacpdu_rx > count->foreign_rx + count->stranger_rx + count->looped_rx;
}

static bool lacp_check_hears(const struct lacp_port_state *port)
{
	return lacp_check_is_up(port) && port->rx == LACP_RX_CURRENT && !port->loop_port;
}

static const struct lacp_port_state *lacp_check_port(const struct doctor_bond *bond,
						     const struct doctor_slave *slave)
{
	return &bond->lacp.port[slave->slot];
}

/* The slave whose partner the others should have, too; NULL: no port hears one. */
static const struct doctor_slave *lacp_check_model(const struct doctor_bond *bond)
{
	const struct doctor_slave *model = NULL;
	int slot = lacp_representative(&bond->lacp);

	doctor_for_each_slave (slave, bond) {
		if (!lacp_check_hears(lacp_check_port(bond, slave)))
			continue;
		if ((int)slave->slot == slot)
			return slave;
		if (!model)
			model = slave;
	}
	return model;
}

static bool lacp_check_same_system(const struct lacp_info *left, const struct lacp_info *right)
{
	return !memcmp(left->system, right->system, LACP_MAC_SIZE);
}

static bool lacp_check_same_group(const struct lacp_info *left, const struct lacp_info *right)
{
	return lacp_check_same_system(left, right) && left->key == right->key;
}

void doctor_check_lacp_silent(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	const struct doctor_slave *model = lacp_check_model(bond);

	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);
		bool was_heard;

		if (!lacp_check_is_up(port) || port->rx != LACP_RX_DEFAULTED || port->loop_port ||
		    port->stranger_ns)
			continue;
		was_heard = lacp_check_was_heard(port);
		doctor_found(
			report, model ? DOCTOR_WARNING : DOCTOR_BAD, slave->pin->name, "%s%s%s%s%s",
			was_heard ? "LACPDUs no longer arrive" : "no partner speaks LACP here",
			!model	    ? ""
			: was_heard ? ", but they do on "
				    : ", but one does on ",
			model ? model->pin->name : "",
			port->fallback ? "; it carries traffic without LACP (lacp_fallback)" : "",
			bond->pins.bond->lacp_active ? "" : "; lacp_active is off");
		doctor_advise(report,
			      was_heard
				      ? "see whether the far end of this link has left its LACP "
					"group, and whether it is a one-way link: its transmitter, "
					"the fibre, this receiver"
				      : "put the far end of this link into the same LACP group, in "
					"active mode");
	}
}

void doctor_check_lacp_individual(const struct doctor_facts *facts, const struct doctor_bond *bond,
				  struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);

		if (!lacp_check_hears(port) || port->partner.state & LACP_AGGREGATION)
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "the partner takes this link as an individual one, not as part of a "
			     "group");
		doctor_advise(report, "put port %u of the partner into the LACP group there",
			      port->partner.port);
	}
}

static bool lacp_check_has_port_to(const struct doctor_bond *bond, const struct lacp_info *partner)
{
	doctor_for_each_slave (slave, bond)
		if (lacp_check_hears(lacp_check_port(bond, slave)) &&
		    lacp_check_same_group(&lacp_check_port(bond, slave)->partner, partner))
			return true;
	return false;
}

/* Another bond of this host that has a port with this partner and key. */
static const struct doctor_bond *lacp_check_crossed_with(const struct doctor_facts *facts,
							 const struct doctor_bond *bond,
							 const struct lacp_info *partner)
{
	doctor_for_each_open (other, facts)
		if (other != bond && doctor_is_lacp(other) &&
		    lacp_check_has_port_to(other, partner))
			return other;
	return NULL;
}

static const char *lacp_check_why(const struct doctor_slave *slave)
{
	return slave->why[0] ? slave->why : "this has just begun";
}

static void lacp_check_strangers(const struct doctor_bond *bond, struct doctor_report *report)
{
	char heard[MAC_FORMAT_SIZE], believed[MAC_FORMAT_SIZE];

	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);

		if (!lacp_check_is_up(port) || !port->stranger_ns || port->rx == LACP_RX_CURRENT)
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "it hears %s, which is not the lacp_partner %s",
			     mac_format(port->stranger, heard),
			     mac_format(bond->lacp.state.config.believed, believed));
		doctor_advise(report,
			      "look where the cable leads; if that is right: bondctl set "
			      "%s lacp_partner %s",
			      bond->name, heard);
	}
}

static void lacp_check_other_system(const struct doctor_facts *facts,
				    const struct doctor_bond *bond,
				    const struct doctor_slave *slave,
				    const struct doctor_slave *model, struct doctor_report *report)
{
	const struct lacp_info *here = &lacp_check_port(bond, slave)->partner,
			       *there = &lacp_check_port(bond, model)->partner;
	const struct doctor_bond *other = lacp_check_crossed_with(facts, bond, here);
	char heard[MAC_FORMAT_SIZE], expected[MAC_FORMAT_SIZE];

	mac_format(here->system, heard);
	mac_format(there->system, expected);
	if (other) {
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "crossed cables: it leads to the partner of %s (%s, key %u), not to "
			     "that of %s (%s, key %u)",
			     other->name, heard, here->key, model->pin->name, expected, there->key);
		doctor_advise(report, "swap the cables, or make it a slave of %s", other->name);
	} else if (!lacp_check_same_system(here, there)) {
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "its partner is %s, and that of %s is %s: only the links to one of "
			     "them carry traffic",
			     heard, model->pin->name, expected);
		doctor_advise(report, "if these are two switches of one MLAG, give them one system "
				      "identifier; otherwise look where the cable leads");
	}
}

void doctor_check_lacp_partner(const struct doctor_facts *facts, const struct doctor_bond *bond,
			       struct doctor_report *report)
{
	const struct doctor_slave *model = lacp_check_model(bond);

	lacp_check_strangers(bond, report);
	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);

		if (model && lacp_check_hears(port) &&
		    !lacp_check_same_group(&port->partner, &lacp_check_port(bond, model)->partner))
			lacp_check_other_system(facts, bond, slave, model, report);
	}
}

static void lacp_check_partner_key(const struct doctor_slave *slave,
				   const struct doctor_slave *model, const struct lacp_info *here,
				   const struct lacp_info *there, struct doctor_report *report)
{
	doctor_found(report, DOCTOR_WARNING, slave->pin->name,
		     "the partner has port %u in group %u, and that of %s in group %u", here->port,
		     here->key, model->pin->name, there->key);
	doctor_advise(report, "put both into one group there; some partners also give links of "
			      "other speeds another key");
}

void doctor_check_lacp_key(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
	const struct doctor_slave *model = lacp_check_model(bond);

	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave), *other;

		if (!model || slave == model || !lacp_check_hears(port))
			continue;
		other = lacp_check_port(bond, model);
		if (port->actor.key != other->actor.key) {
			doctor_found(report, DOCTOR_WARNING, slave->pin->name,
				     "its speed differs from that of %s, so they cannot carry "
				     "traffic together",
				     model->pin->name);
			doctor_advise(report, "use links of one speed and duplex in one bond");
		} else if (port->partner.key != other->partner.key &&
			   lacp_check_same_system(&port->partner, &other->partner) &&
			   !lacp_check_crossed_with(facts, bond, &port->partner)) {
			lacp_check_partner_key(slave, model, &port->partner, &other->partner,
					       report);
		}
	}
}

static const struct doctor_bond *lacp_check_bond_of_system(const struct doctor_facts *facts,
							   const uint8_t *system)
{
	doctor_for_each_open (bond, facts)
		if (doctor_is_lacp(bond) &&
		    !memcmp(bond->lacp.state.config.system, system, LACP_MAC_SIZE))
			return bond;
	return NULL;
}

void doctor_check_lacp_loop(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);
		const struct doctor_bond *other =
			lacp_check_bond_of_system(facts, port->partner.system);

		if (lacp_check_is_up(port) && port->loop_port) {
			doctor_found(report, DOCTOR_BAD, slave->pin->name,
				     "it hears LACPDUs of this bond: %s", lacp_check_why(slave));
			doctor_advise(report, "look where the cable leads; a switch that floods "
					      "LACPDUs has no LACP on that port");
		} else if (lacp_check_hears(port) && other) {
			doctor_found(report, DOCTOR_WARNING, slave->pin->name,
				     "its partner is %s of this host", other->name);
			doctor_advise(report, "look where the cable leads");
		}
	}
}

void doctor_check_lacp_rate(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);
		bool fast = port->partner.state & LACP_TIMEOUT;

		if (!lacp_check_hears(port) || fast == !!(port->actor.state & LACP_TIMEOUT))
			continue;
		doctor_found(report, DOCTOR_NOTE, slave->pin->name,
			     "different rates: the partner asks for a LACPDU every %s, this "
			     "end for one every %s",
			     fast ? "second" : "30 s", fast ? "30 s" : "second");
		doctor_advise(report, "nothing is lost; to notice a silent link equally fast at "
				      "both ends, set one rate (here lacp_rate)");
	}
}

/* The partner says in its PDUs whom it hears: this port, nobody (any longer), or another one. */
static bool lacp_check_is_heard(const struct lacp_port_state *port)
{
	return port->matched && !(port->partner.state & (LACP_EXPIRED | LACP_DEFAULTED));
}

static bool lacp_check_is_late(uint64_t since_ns, uint64_t now_ns)
{
	return since_ns && since_ns + LACP_CHECK_SETTLE_NS < now_ns;
}

/* Only while the LACP thread runs: otherwise these times only tell how long it has been away. */
void doctor_check_lacp_sync(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	uint64_t now_ns = facts->host.now_ns;

	if (bond->pins.table->lacp_heartbeat_ns + XBOND_LACP_AWAY_NS < now_ns)
		return;
	doctor_for_each_slave (slave, bond) {
		const struct lacp_port_state *port = lacp_check_port(bond, slave);

		if (!lacp_check_hears(port) || port->selected != LACP_SELECTED ||
		    port->actor.state & LACP_DISTRIBUTING ||
		    !(lacp_check_is_late(port->out_sync_ns, now_ns) ||
		      lacp_check_is_late(port->unsettled_ns, now_ns) ||
		      port->actor_churn == LACP_CHURN_CHURNED ||
		      port->partner_churn == LACP_CHURN_CHURNED))
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "it has a partner, but carries no traffic: %s", lacp_check_why(slave));
		if (lacp_check_is_heard(port))
			doctor_advise(report, "see what the partner says of its port %u",
				      port->partner.port);
		else
			doctor_advise(report,
				      "see whether what this end sends by this link arrives at "
				      "the partner's port %u, and whether it is a one-way link: "
				      "this transmitter, the fibre, its receiver",
				      port->partner.port);
	}
}

static uint32_t lacp_check_flooded(const struct xbond_hold *hold)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < XBOND_PDU_CLASSES; i++)
		sum += hold->budget[i].flooded;
	return sum;
}

void doctor_check_lacp_pdus(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		uint64_t illegal = lacp_check_port(bond, slave)->counters.illegal_rx;
		uint32_t flooded = lacp_check_flooded(&bond->pins.hold[slave->slot]);

		if (!illegal && !flooded)
			continue;
		doctor_found(report, DOCTOR_NOTE, slave->pin->name,
			     "%llu slow protocol frames were malformed, and %u too many for a "
			     "second",
			     (unsigned long long)illegal, flooded);
		doctor_advise(report,
			      "a capture of %s shows who sends them: tcpdump -e -i %s "
			      "ether proto 0x8809",
			      slave->pin->name, slave->pin->name);
	}
}
