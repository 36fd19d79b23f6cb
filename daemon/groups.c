/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/net/multicast.h"

static bool has(const struct groups *groups, const uint8_t *mac)
{
	for (size_t i = 0; i < groups->count; i++)
		if (!memcmp(groups->mac[i], mac, XBOND_MAC_SIZE))
			return true;
	return false;
}

/* Slaves have that of the slow protocols on their own account. */
static void take(struct groups *groups, const uint8_t *mac)
{
	uint8_t(*more)[XBOND_MAC_SIZE];

	if (!memcmp(mac, multicast_slow_protocols, XBOND_MAC_SIZE))
		return;
	more = reallocarray(groups->mac, groups->count + 1, XBOND_MAC_SIZE);
	if (!more)
		return;
	groups->mac = more;
	memcpy(groups->mac[groups->count++], mac, XBOND_MAC_SIZE);
}

static void take_for_bond(int ifindex, const uint8_t *mac, void *arg)
{
	struct daemon *daemon = arg;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (!bond->away && ifindex == (int)bond_pin(bond)->ifindex)
			take(&bond->groups_now, mac);
}

static void take_as_joined(int ifindex, const uint8_t *mac, void *arg)
{
	struct bond *bond = arg;

	if (ifindex == (int)bond_pin(bond)->ifindex)
		take(&bond->groups, mac);
}

static void change_members(struct bond *bond, int (*change)(const char *name, const uint8_t *mac),
			   const uint8_t *mac)
{
	bond_for_each_member (bond, slot)
		change(bond_slave(bond, slot)->name, mac);
}

/* What groups has and the others have not. */
static void change_rest(struct bond *bond, int (*change)(const char *name, const uint8_t *mac),
			const struct groups *groups, const struct groups *others)
{
	for (size_t i = 0; i < groups->count; i++)
		if (!has(others, groups->mac[i]))
			change_members(bond, change, groups->mac[i]);
}

/* A group is left when it was missed twice: where devices come and go, the kernel's list may skip some. */
static void follow(struct bond *bond)
{
	struct groups now = bond->groups_now, joined = { 0 };

	for (size_t i = 0; i < now.count; i++)
		take(&joined, now.mac[i]);
	for (size_t i = 0; i < bond->groups.count; i++)
		if (!has(&now, bond->groups.mac[i]) && has(&bond->groups_seen, bond->groups.mac[i]))
			take(&joined, bond->groups.mac[i]);
	change_rest(bond, multicast_add, &joined, &bond->groups);
	change_rest(bond, multicast_delete, &bond->groups, &joined);
	free(bond->groups.mac);
	free(bond->groups_seen.mac);
	bond->groups = joined;
	bond->groups_seen = now;
	bond->groups_now = (struct groups){ 0 };
}

void groups_recall(struct bond *bond)
{
	if (bond_pin(bond)->netnsid < 0)
		multicast_list(take_as_joined, bond);
}

void groups_follow(struct daemon *daemon)
{
	if (multicast_list(take_for_bond, daemon))
		return;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (!bond->away)
			follow(bond);
}

void groups_join(struct bond *bond, const char *slave)
{
	for (size_t i = 0; i < bond->groups.count; i++)
		multicast_add(slave, bond->groups.mac[i]);
}

void groups_leave(struct bond *bond, const char *slave)
{
	for (size_t i = 0; i < bond->groups.count; i++)
		multicast_delete(slave, bond->groups.mac[i]);
}

void groups_free(struct bond *bond)
{
	free(bond->groups.mac);
	free(bond->groups_seen.mac);
	free(bond->groups_now.mac);
}
