/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of what others do: to slaves, with the bond's MAC address, with its subnet. */
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/doctor/doctor.h"
#include "common/mac.h"
#include "view/view_bond.h"

static void others_advise(const struct doctor_bond *bond, const char *slave, uint32_t trouble,
			  struct doctor_report *report)
{
	if (trouble == XBOND_TROUBLE_MASTER)
		doctor_advise(report, "ip link set %s nomaster; make the bond the port instead",
			      slave);
	else if (trouble == XBOND_TROUBLE_ADDRESSES)
		doctor_advise(report, "ip addr flush dev %s", slave);
	else if (trouble == XBOND_TROUBLE_UPPERS)
		doctor_advise(report, "remove them, or create them on %s", bond->name);
	else if (trouble == XBOND_TROUBLE_ENDING)
		doctor_advise(report,
			      "let them end with 'continue' (TC_ACT_UNSPEC), or put them on %s",
			      bond->name);
	else
		doctor_advise(report, "put them on %s", bond->name);
}

static void others_check(const struct doctor_bond *bond, uint32_t troubles,
			 struct doctor_report *report)
{
	const struct view_problem *problem;

	doctor_for_each_slave (slave, bond) {
		for (unsigned int i = 0; (problem = view_problem_at(i)); i++) {
			if (!(slave->pin->trouble & troubles & problem->trouble))
				continue;
			doctor_found(report, DOCTOR_WARNING, slave->pin->name, "%s",
				     problem->sentence);
			others_advise(bond, slave->pin->name, problem->trouble, report);
		}
	}
}

void doctor_check_slave_use(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	(void)facts;
	others_check(bond, XBOND_TROUBLE_MASTER | XBOND_TROUBLE_ADDRESSES | XBOND_TROUBLE_UPPERS,
		     report);
}

void doctor_check_filters(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	(void)facts;
	others_check(bond, XBOND_TROUBLE_ENDING | XBOND_TROUBLE_UNMET | XBOND_TROUBLE_NFT, report);
}

static void others_advise_manager(const struct doctor_slave *slave, struct doctor_report *report)
{
	if (!strcmp(slave->manager, "NetworkManager"))
		doctor_advise(report,
			      "nmcli device set %s managed no, and the same in "
			      "/etc/NetworkManager/conf.d (unmanaged-devices)",
			      slave->pin->name);
	else if (!strcmp(slave->manager, "systemd-networkd"))
		doctor_advise(report, "give it a .network file with Unmanaged=yes in [Link]");
	else
		doctor_advise(report, "its stanza should be 'inet manual', or better be removed");
}

void doctor_check_manager(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	(void)facts;
	doctor_for_each_slave (slave, bond) {
		if (!slave->manager)
			continue;
		doctor_found(report, slave->manager_is_sure ? DOCTOR_WARNING : DOCTOR_NOTE,
			     slave->pin->name,
			     "%s manages it, and may give it addresses or take it down",
			     slave->manager);
		others_advise_manager(slave, report);
	}
}

static bool others_is_slave(const struct doctor_bond *bond, int ifindex)
{
	doctor_for_each_slave (slave, bond)
		if ((int)slave->pin->ifindex == ifindex)
			return true;
	return false;
}

/* Below, beside or above a slave: VLANs have the address of the device that they are on. */
static bool others_is_around_slave(const struct doctor_facts *facts,
				   const struct doctor_slave *slave, const struct link_info *link)
{
	const struct link_info *own = slave->device.link;

	return own && (doctor_is_above(facts, link, own->ifindex) ||
		       doctor_is_above(facts, own, link->ifindex) ||
		       (link_has_lower(own) && doctor_is_above(facts, link, own->lower)));
}

/* Open vSwitch gives its bridge the address of a port, and tells nobody which bridge a port is of.
 */
static bool others_is_its_switch(const struct doctor_facts *facts, const struct link_info *own,
				 const struct link_info *link)
{
	const struct link_info *master = own->master ? doctor_find_link(facts, own->master) : NULL;

	return master && !strcmp(master->kind, "openvswitch") && !strcmp(link->kind, "openvswitch");
}

static bool others_is_of_bond(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      const struct link_info *link)
{
	if (link->ifindex == (int)bond->pins.bond->port_ifindex ||
	    others_is_slave(bond, link->ifindex) ||
	    others_is_its_switch(facts, bond->device.link, link) ||
	    doctor_is_above(facts, link, bond->device.link->ifindex))
		return true;
	doctor_for_each_slave (slave, bond)
		if (others_is_around_slave(facts, slave, link))
			return true;
	return false;
}

static const struct doctor_bond *others_find_bond(const struct doctor_facts *facts, int ifindex)
{
	for (size_t i = 0; i < facts->bond_count; i++)
		if (facts->bond[i].is_open && facts->bond[i].device.link &&
		    facts->bond[i].device.link->ifindex == ifindex)
			return &facts->bond[i];
	return NULL;
}

void doctor_check_mac(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	const struct link_info *own = bond->device.link;
	char mac[MAC_FORMAT_SIZE];

	if (!own || !own->has_mac || !(own->flags & IFF_UP))
		return;
	for (size_t i = 0; i < facts->links.count; i++) {
		const struct link_info *link = &facts->links.link[i];

		if (!link->has_mac || link->type != ARPHRD_ETHER || !(link->flags & IFF_UP) ||
		    memcmp(link->mac, own->mac, XBOND_MAC_SIZE) != 0 ||
		    others_is_of_bond(facts, bond, link))
			continue;
		doctor_found(report,
			     others_find_bond(facts, link->ifindex) ? DOCTOR_BAD : DOCTOR_WARNING,
			     NULL, "%s has the same MAC address, %s", link->name,
			     mac_format(own->mac, mac));
		doctor_advise(report,
			      "give one of them another, unless they are in different "
			      "networks: ip link set %s address MAC",
			      bond->name);
	}
}

static bool others_share_subnet(const struct address *left, const struct address *right)
{
	unsigned int length = left->prefix_length < right->prefix_length ? left->prefix_length
									 : right->prefix_length;

	if (left->family != AF_INET || right->family != AF_INET || !length || length > 31)
		return false;
	for (unsigned int bit = 0; bit < length; bit++)
		if ((left->bytes[bit / 8] ^ right->bytes[bit / 8]) & 0x80 >> bit % 8)
			return false;
	return true;
}

static const struct link_info *others_find_in_subnet(const struct doctor_facts *facts, int ifindex)
{
	for (size_t i = 0; i < facts->address_count; i++)
		for (size_t j = 0; j < facts->address_count; j++) {
			const struct address *ours = &facts->address[i],
					     *theirs = &facts->address[j];
			const struct link_info *link;

			if (ours->ifindex != ifindex || theirs->ifindex == ifindex ||
			    !others_share_subnet(ours, theirs))
				continue;
			link = doctor_find_link(facts, theirs->ifindex);
			if (link && link->carrier && !(link->flags & IFF_LOOPBACK))
				return link;
		}
	return NULL;
}

/* Strict: a packet is dropped that comes by another device than its answer would leave by. */
void doctor_check_rp_filter(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	const struct link_info *other;

	if (!bond->device.link || bond->rp_filter != 1)
		return;
	other = others_find_in_subnet(facts, bond->device.link->ifindex);
	if (!other)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "rp_filter is strict, and %s has an address of the same subnet: packets that "
		     "arrive on the other of the two are dropped",
		     other->name);
	doctor_advise(report, "make it loose: sysctl -w net.ipv4.conf.%s.rp_filter=2", bond->name);
}
