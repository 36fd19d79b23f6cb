/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of how devices are set: MTUs and offloads. */
#include "cli/doctor/doctor.h"

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

	(void)facts;
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

	(void)facts;
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
			     "its driver takes no tagged frames, and %s is on the bond",
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
	(void)facts;
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
