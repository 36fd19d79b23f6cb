/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of how devices are set, and of what others do to them. */
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/doctor/doctor.h"
#include "common/mac.h"
#include "common/readings.h"
#include "options/option_set.h"
#include "view/view_bond.h"

/* Checks of how devices are set: MTUs and offloads. */

static void devices_check_mtu_of_slave(const struct doctor_bond *bond,
				       const struct doctor_slave *slave,
				       struct doctor_report *report)
{
	uint32_t mtu = slave->device.link->mtu, bond_mtu = bond->pins.bond->mtu;

	if (!bond_mtu || mtu == bond_mtu)
		return;
	doctor_found(report, mtu < bond_mtu ? DOCTOR_BAD : DOCTOR_NOTE, slave->pin->name,
		     "its MTU is %u, and the bond's is %u%s", mtu, bond_mtu,
		     mtu < bond_mtu ? ": longer packets are lost" : "");
	doctor_advise(report,
		      "set it on the bond, which sets it on its slaves: ip link set %s mtu "
		      "%u",
		      bond->name, mtu < bond_mtu ? mtu : bond_mtu);
}

void doctor_check_mtu(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	const struct link_info *own = bond->device.link;

	doctor_for_each_slave (slave, bond)
		if (slave->device.link)
			devices_check_mtu_of_slave(bond, slave, report);
	for (size_t i = 0; own && i < facts->links.count; i++) {
		const struct link_info *upper = &facts->links.link[i];

		if (!link_is_on(upper, own->ifindex) || upper->mtu <= own->mtu)
			continue;
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "the MTU of %s is %u, above that of %s, which is %u", upper->name,
			     upper->mtu, bond->name, own->mtu);
		doctor_advise(report, "ip link set %s mtu %u", upper->name, own->mtu);
	}
}

static const struct doctor_slave *devices_find(const struct doctor_bond *bond, unsigned int offload,
					       bool is_on)
{
	doctor_for_each_slave (slave, bond)
		if (slave->device.offloads_are_known &&
		    !!(slave->device.offloads & 1u << offload) == is_on)
			return slave;
	return NULL;
}

void doctor_check_offloads(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
	static const struct {
		enum doctor_offload offload;
		const char *name, *ethtool;
	} offloads[] = {
		{ DOCTOR_TSO, "TCP segmentation offload", "tso" },
		{ DOCTOR_CHECKSUM, "transmit checksumming", "tx" },
		{ DOCTOR_SCATTER, "scatter-gather", "sg" },
		{ DOCTOR_GRO, "generic receive offload", "gro" },
	};

	for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		const struct doctor_slave *with = devices_find(bond, offloads[i].offload, true),
					  *without = devices_find(bond, offloads[i].offload, false);

		if (!with || !without)
			continue;
		doctor_found(report, DOCTOR_NOTE, without->pin->name, "it has no %s, unlike %s",
			     offloads[i].name, with->pin->name);
		doctor_advise(report,
			      "its packets cost more CPU time; if its driver has it: "
			      "ethtool -K %s %s on",
			      without->pin->name, offloads[i].ethtool);
	}
}

/*
 * The kernel turns LRO off on devices that forward or are ports of a bridge, but it does not know
 * that a slave is below bond0.
 */
void doctor_check_lro(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	bool is_bridged = bond->device.link && bond->device.link->master;

	if (!is_bridged && bond->forwarding != 1)
		return;
	doctor_for_each_slave (slave, bond) {
		if (!(slave->device.offloads & 1u << DOCTOR_LRO))
			continue;
		doctor_found(
			report, DOCTOR_WARNING, slave->pin->name,
			"it merges frames (LRO), and the bond %s: merged frames are lost there",
			is_bridged ? "is the port of a bridge" : "forwards");
		doctor_advise(report, "ethtool -K %s lro off", slave->pin->name);
	}
}

void doctor_check_vlan(const struct doctor_facts *facts, const struct doctor_bond *bond,
		       struct doctor_report *report)
{
	const struct link_info *vlan = NULL;

	for (size_t i = 0; bond->device.link && i < facts->links.count; i++)
		if (link_is_vlan_on(&facts->links.link[i], bond->device.link->ifindex))
			vlan = &facts->links.link[i];
	if (!vlan)
		return;
	doctor_for_each_slave (slave, bond) {
		if (!(slave->device.offloads & 1u << DOCTOR_NO_VLANS))
			continue;
		doctor_found(report, DOCTOR_BAD, slave->pin->name,
			     "its driver does not support tagged frames, and %s is on the bond",
			     vlan->name);
		doctor_advise(report, "take it out of the bond: bondctl del-slave %s %s",
			      bond->name, slave->pin->name);
	}
}

/*
 * A NIC whose filter is full becomes promiscuous, and then all frames cost CPU time. Virtual
 * devices get no others.
 */
void doctor_check_promiscuous(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	if (bond->pins.bond->mac_policy != XBOND_MAC_FILTER)
		return;
	doctor_for_each_slave (slave, bond) {
		const struct doctor_device *device = &slave->device;

		if (!device->link || device->link->kind[0] || device->is_captured ||
		    !device->link->promiscuity ||
		    slave->pin->before.flags & XBOND_SLAVE_WAS_PROMISC)
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "it is promiscuous with mac_policy filter: its NIC has no room for "
			     "the bond's address");
		doctor_advise(report, "use mac_policy set, or a NIC with receive filters");
	}
}

/* Checks of what others do: to slaves, with the bond's MAC address, with its subnet. */

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
	others_check(bond, XBOND_TROUBLE_MASTER | XBOND_TROUBLE_ADDRESSES | XBOND_TROUBLE_UPPERS,
		     report);
}

void doctor_check_released(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
	char left[RESTORED_TEXT_SIZE];

	if (!*restored_left_of(&bond->pins, left))
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "slaves that were removed are not yet as they were before (%s)", left);
	doctor_advise(report, "bondd's log says why, and bondd tries it again; or restore it by "
			      "'ip link' and 'ethtool'");
}

void doctor_check_filters(const struct doctor_facts *facts, const struct doctor_bond *bond,
			  struct doctor_report *report)
{
	others_check(bond,
		     XBOND_TROUBLE_ENDING | XBOND_TROUBLE_UNMET | XBOND_TROUBLE_NFT |
			     XBOND_TROUBLE_NFT_EGRESS,
		     report);
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
	const struct link_info *master =
		own->master ? link_list_find(&facts->links, own->master) : NULL;

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
	doctor_for_each_open (bond, facts)
		if (bond->device.link && bond->device.link->ifindex == ifindex)
			return bond;
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
		    !mac_is_same(link->mac, own->mac) || others_is_of_bond(facts, bond, link))
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
			link = link_list_find(&facts->links, theirs->ifindex);
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

static const struct link_info *others_port_side(const struct doctor_facts *facts,
						const struct doctor_bond *bond)
{
	const struct xbond_bond *pin = bond->pins.bond;

	return pin->port_ifindex == pin->ifindex
		       ? NULL
		       : link_list_find(&facts->links, (int)pin->port_ifindex);
}

static const char *others_use_of_port(const struct doctor_facts *facts,
				      const struct doctor_bond *bond, const struct link_info *port)
{
	for (size_t i = 0; i < facts->address_count; i++)
		if (facts->address[i].ifindex == port->ifindex)
			return "has an IP address";
	if (port->qdisc[0] && strcmp(port->qdisc, "noqueue") != 0 && strcmp(port->qdisc, "noop"))
		return "has a root qdisc";
	if (port->master)
		return "is a port of another device";
	if (bond->port_has_route)
		return "has a route";
	return bond->port_has_socket ? "has a packet socket bound to it" : NULL;
}

/* It is no NIC, though it looks like one: what is sent there arrives on the bond. */
void doctor_check_port_side(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	const struct link_info *port = others_port_side(facts, bond);
	const char *use = port ? others_use_of_port(facts, bond, port) : NULL;

	if (!use)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "its port side, %s, %s: a program takes it for a network interface",
		     port->name, use);
	doctor_advise(report,
		      "tell that program to leave xb-* alone, or use a bond without a port side: "
		      "bondctl set %s device team",
		      bond->name);
}

/* The kernel makes one at each device that a packet passes, and ptp4l expects one. */
void doctor_check_timestamps(const struct doctor_facts *facts, const struct doctor_bond *bond,
			     struct doctor_report *report)
{
	const struct link_info *own = bond->device.link;

	if (!facts->host.has_ptp4l || !own || strcmp(own->kind, "veth") != 0 ||
	    (bond->pins.settings->path == XBOND_PATH_DIRECT &&
	     !(bond->pins.table->flags & XBOND_F_FORCE_COUNTED)))
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "ptp4l runs, and a packet of this bond gets two software timestamps");
	doctor_advise(report,
		      "if ptp4l uses %s with software timestamps: bondctl set %s path direct",
		      bond->name, bond->name);
}

void doctor_check_device_kind(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	const struct link_info *own = bond->device.link;

	if (!facts->host.has_team || !own || !strcmp(own->kind, "team") ||
	    option_against_team(bond->pins.bond))
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "this bond is a %s; with a team other programs see it as the master of its "
		     "slaves, and receiving costs about a quarter less",
		     own->kind);
	doctor_advise(report, "nothing is wrong; to have a team: bondctl set %s device team",
		      bond->name);
}
