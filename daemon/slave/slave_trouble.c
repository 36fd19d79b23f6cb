/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches for things that others do to a member and that add-slave would have refused: a master, IP
 * addresses, devices on it; and for nft chains, which the bond passes by. bondd does not undo them,
 * because the bond works on and they belong to somebody else. It reports each once, and keeps it in
 * the pinned slave for `show` until it has gone. A slave that leads back to the bond is released.
 */

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/slave.h"
#include "network/filters.h"
#include "network/ip.h"
#include "network/link.h"

#define RULES_NS NS_PER_S /* less than between two rounds over all slaves */

/* nft chains on a slave. */
struct trouble_chains {
	uint32_t at;	     /* NFT_AT_* */
	uint32_t generation; /* of the rules in which they were last searched */
};

static struct trouble_chains *trouble_chains_of(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &trouble_part, slot);
}

static bool trouble_has(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	return bond_slave(bond, slot)->trouble & trouble;
}

static void trouble_begin(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	bond_slave(bond, slot)->trouble |= trouble;
}

static void trouble_end(struct bond *bond, unsigned int slot, uint32_t trouble, const char *what)
{
	bond_slave(bond, slot)->trouble &= ~trouble;
	event_info(bond_pin(bond)->name, bond_slave(bond, slot)->name, "slave %s %s",
		   bond_slave(bond, slot)->name, what);
}

static void trouble_tell_master(struct bond *bond, const char *slave, int ifindex)
{
	struct link_info master;

	if (link_get(&bond->daemon->nl, -1, ifindex, &master))
		return;
	event_warning(bond_pin(bond)->name, slave,
		      "slave %s was made a port of %s%s%s, which receives nothing from it; 'ip "
		      "link set %s nomaster' undoes that",
		      slave, master.kind, *master.kind ? " " : "", master.name, slave);
}

static void trouble_look_for_master(struct bond *bond, unsigned int slot,
				    const struct link_info *now)
{
	if (bond_is_team(bond_pin(bond)) ||
	    !!now->master == trouble_has(bond, slot, XBOND_TROUBLE_MASTER))
		return;
	if (!now->master) {
		trouble_end(bond, slot, XBOND_TROUBLE_MASTER,
			    "is no longer a port of another device");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_MASTER);
	trouble_tell_master(bond, bond_slave(bond, slot)->name, now->master);
}

static void trouble_look_for_protodown(struct bond *bond, unsigned int slot,
				       const struct link_info *now)
{
	if (now->protodown == trouble_has(bond, slot, XBOND_TROUBLE_PROTODOWN))
		return;
	if (!now->protodown) {
		trouble_end(bond, slot, XBOND_TROUBLE_PROTODOWN, "is no longer held by protodown");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_PROTODOWN);
	event_notice(bond_pin(bond)->name, bond_slave(bond, slot)->name,
		     "slave %s is held down by protodown", bond_slave(bond, slot)->name);
}

static void trouble_look_for_addresses(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct address first;
	int count = address_list(&bond->daemon->nl, (int)slave->ifindex, &first, 1);

	if (count < 0 || (count > 0) == trouble_has(bond, slot, XBOND_TROUBLE_ADDRESSES))
		return;
	if (!count) {
		trouble_end(bond, slot, XBOND_TROUBLE_ADDRESSES, "no longer has IP addresses");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_ADDRESSES);
	event_warning(bond_pin(bond)->name, slave->name,
		      "slave %s now has an IP address (%s), which belongs on %s; 'ip addr del %s "
		      "dev %s' removes it",
		      slave->name, first.text, bond_pin(bond)->name, first.text, slave->name);
}

static bool trouble_is_upper(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	int ifindex = (int)bond_slave(bond, slot)->ifindex;

	return link_is_on(link, ifindex) && !vlan_filter_is_opener(link, ifindex) &&
	       !own_vlans_is_one(link, ifindex);
}

static void trouble_look_for_uppers(struct bond *bond, unsigned int slot)
{
	const struct link_list *links = daemon_links(bond->daemon);
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const struct link_info *upper = NULL;

	if (!links)
		return;
	for (size_t i = 0; i < links->count && !upper; i++)
		if (trouble_is_upper(bond, slot, &links->link[i]))
			upper = &links->link[i];
	if (!upper == !trouble_has(bond, slot, XBOND_TROUBLE_UPPERS))
		return;
	if (!upper) {
		trouble_end(bond, slot, XBOND_TROUBLE_UPPERS, "no longer has devices on it");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_UPPERS);
	event_warning(bond_pin(bond)->name, slave->name,
		      "%s (%s) was created on slave %s, where it receives nothing; remove it, or "
		      "create it on %s",
		      upper->name, upper->kind, slave->name, bond_pin(bond)->name);
}

/*
 * No message reports them, but the number of the last change does. One answer serves all slaves
 * that are settled together.
 */
static uint32_t trouble_rules(void)
{
	static uint32_t generation;
	static uint64_t asked_ns;
	uint64_t now_ns = clock_now_ns();

	if (!asked_ns || now_ns - asked_ns > RULES_NS) {
		generation = nft_generation();
		asked_ns = now_ns;
	}
	return generation;
}

static bool trouble_has_new_rules(struct bond *bond, unsigned int slot)
{
	struct trouble_chains *chains = trouble_chains_of(bond, slot);
	uint32_t before = chains->generation;

	chains->generation = trouble_rules();
	return chains->generation != before;
}

static void trouble_tell_chain(struct bond *bond, unsigned int slot, uint32_t trouble,
			       bool bypassed)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool sends = trouble == XBOND_TROUBLE_NFT_EGRESS;

	if (bypassed == trouble_has(bond, slot, trouble))
		return;
	slave->trouble ^= trouble;
	if (bypassed)
		event_warning(bond_pin(bond)->name, slave->name,
			      "slave %s has an nft chain at its %s, which does not see what the "
			      "bond %s; put it on %s, or filter by tc",
			      slave->name, sends ? "egress" : "ingress",
			      sends ? "sends" : "receives", bond_pin(bond)->name);
	else
		event_info(bond_pin(bond)->name, slave->name,
			   "no nft chain at the %s of slave %s is bypassed now",
			   sends ? "egress" : "ingress", slave->name);
}

/*
 * At the ingress the kernel runs them after TC, and at the egress not at all for what TC has
 * redirected. A team sends without that, unless the path is direct.
 */
static void trouble_look_for_chains(struct bond *bond, unsigned int slot, bool look)
{
	struct trouble_chains *chains = trouble_chains_of(bond, slot);
	bool is_team = bond_is_team(bond_pin(bond)),
	     is_direct = bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT;

	if (trouble_has_new_rules(bond, slot) || look)
		chains->at = nft_chains_on(bond_slave(bond, slot)->name);
	trouble_tell_chain(bond, slot, XBOND_TROUBLE_NFT, chains->at & NFT_AT_INGRESS && !is_team);
	trouble_tell_chain(bond, slot, XBOND_TROUBLE_NFT_EGRESS,
			   chains->at & NFT_AT_EGRESS && (!is_team || is_direct));
}

/* What news of a device says already need not be looked for. */
static bool trouble_hear(struct bond *bond, unsigned int slot, enum part_news news,
			 const struct link_info *link, bool gone)
{
	if (news == NEWS_SLAVE)
		return link->protodown != trouble_has(bond, slot, XBOND_TROUBLE_PROTODOWN) ||
		       (!bond_is_team(bond_pin(bond)) &&
			!!link->master != trouble_has(bond, slot, XBOND_TROUBLE_MASTER));
	if (news & (NEWS_BOND | NEWS_ON_BOND))
		return !gone && link->master;
	if (news == NEWS_ADDRESS)
		return gone == trouble_has(bond, slot, XBOND_TROUBLE_ADDRESSES);
	return news != NEWS_ON_SLAVE || (trouble_is_upper(bond, slot, link) &&
					 gone == trouble_has(bond, slot, XBOND_TROUBLE_UPPERS));
}

static void trouble_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	struct link_info now;

	if (news & (NEWS_ON_SLAVE | NEWS_LOST))
		trouble_look_for_uppers(bond, slot);
	if (news & (NEWS_SLAVE | NEWS_LOST) &&
	    !link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex, &now)) {
		trouble_look_for_master(bond, slot, &now);
		trouble_look_for_protodown(bond, slot, &now);
	}
	if (news & (NEWS_ADDRESS | NEWS_LOST))
		trouble_look_for_addresses(bond, slot);
	if (news & (NEWS_TIME | NEWS_FILTER | NEWS_LOST))
		trouble_look_for_chains(bond, slot, news & (NEWS_FILTER | NEWS_LOST));
}

/* Most slaves are NICs. To know what is below others takes a list of all devices. */
static bool trouble_may_lead(struct bond *bond, unsigned int slot)
{
	int ifindex = (int)bond_slave(bond, slot)->ifindex;
	struct link_info link;

	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		if ((int)bond_pin(other)->ifindex == ifindex)
			return true;
	return !link_get(&bond->daemon->nl, -1, ifindex, &link) && *link.kind &&
	       !link_is_paired(&link);
}

/* A bridge that is a slave may get the bond, or what is on the bond, as a port. */
static void trouble_settle_bond(struct bond *bond, uint32_t news)
{
	uint64_t leave = 0;

	if (!(news & (NEWS_BOND | NEWS_ON_BOND | NEWS_LOST)))
		return;
	bond_for_each_member (bond, slot) {
		const struct xbond_slave *slave = bond_slave(bond, slot);
		const struct link_list *links =
			trouble_may_lead(bond, slot) ? daemon_links(bond->daemon) : NULL;
		const struct link_info *link =
			links ? link_list_find(links, (int)slave->ifindex) : NULL;
		struct err err;

		if (!link || !enslave_loop_check(bond, link, links, &err))
			continue;
		event_error(bond_pin(bond)->name, slave->name, "slave %s is released: %s",
			    slave->name, err.text);
		leave |= slots_bit(slot);
	}
	if (leave)
		slave_release(bond, leave);
}

/* Only chains: the rest would have refused it. */
static int trouble_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	trouble_look_for_chains(bond, slot, true);
	return 0;
}

struct part trouble_part = {
	.member_size = sizeof(struct trouble_chains),
	.enslave = trouble_enslave,
	.hears = NEWS_SLAVE | NEWS_BOND | NEWS_ON_BOND | NEWS_ADDRESS | NEWS_ON_SLAVE |
		 NEWS_FILTER | NEWS_TIME | NEWS_LOST,
	.hear = trouble_hear,
	.settle = trouble_settle,
	.settle_bond = trouble_settle_bond,
};
