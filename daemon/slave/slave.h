/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a device into a slave and back. Every change is first recorded in the pinned slave map, so
 * that slave_restore() also works for a later bondd.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_H
#define XBOND_DAEMON_SLAVE_SLAVE_H

#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"

/*
 * Enslaves link into the free slot: records, changes, attaches the receive program. On failure the
 * device is as it was. Until slave_admit() it is not yet a member, and a bondd that finds it so
 * releases it.
 */
int slave_enslave(struct bond *bond, unsigned int slot, const struct link_info *link,
		  struct err *err);
/*
 * What cannot wait until the parts of a member that the last bondd has left are settled. LACP
 * learns of a carrier that was lost meanwhile.
 */
void slave_adopt(struct bond *bond, unsigned int slot, const struct link_info *link);
/* Makes it a member, after its options have been written. Does not evaluate. */
void slave_admit(struct bond *bond, unsigned int slot);

/*
 * Releases the slots of mask: takes them out of the datapath at once, waits until no program uses
 * them, and restores the devices that still exist. Evaluates.
 */
void slave_release(struct bond *bond, uint64_t mask);

/*
 * Before a member is released because somebody has deleted bond0: if the slave has addresses or a
 * master, it is used in bond0's place by now, so it stays up.
 */
void slave_keep_used(struct bond *bond, unsigned int slot);

/*
 * The device of the slot. Returns 0; -ENODEV if it is gone, and maybe another one has its number;
 * another -errno if that cannot be found out.
 */
int slave_find_device(struct bond *bond, unsigned int slot, struct link_info *ret_link);

/*
 * Undoes what was begun with a slot that is not a member, and frees it. If something cannot be
 * restored, it returns -errno and says what once, and the slot keeps its record.
 */
int slave_undo(struct bond *bond, unsigned int slot);
/* Tries again, with growing pauses, at each tick. Returns true while there is something left. */
bool slave_undo_left(struct bond *bond);

/* The same at once, without a pause. */
void slave_undo_now(struct bond *bond);

/* The device is gone: forgets the slot without touching anything. Does not evaluate. */
void slave_forget(struct bond *bond, unsigned int slot);

/*
 * A change of its MAC may have left the member down, also a bondd that died in the middle of one:
 * brings it up.
 */
void slave_mac_finish(struct bond *bond, unsigned int slot);
/*
 * Sets the slave's MAC, or its unicast filter, by mac_policy and the bond's MAC. What a member
 * refuses is tried again by itself, but the member is not taken down for it again.
 */
int slave_mac_set(struct bond *bond, unsigned int slot, struct err *err);
/* The same for a MAC that the bond gets if no member refuses it. */
int slave_mac_offer(struct bond *bond, unsigned int slot, const uint8_t *mac, struct err *err);
bool slave_has_addresses(struct bond *bond, unsigned int slot);
/* Takes name, carrier and speed of a member from a link message. Parts hear it after that. */
void slave_hear(struct bond *bond, unsigned int slot, const struct link_info *link);

/* gone: the message that reported it, or NULL. The slot is free afterwards. */
void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone);
/* Was it gone for a moment, as slave_has_returned() was not told yet? */
bool slave_was_away(struct bond *bond, unsigned int slot);
/*
 * The device was gone, but it is there: it was in another namespace, or another one has its number
 * and its name. The kernel has brought it down, and taken off what was attached; the next look at
 * the bond's devices finds what is missing.
 */
void slave_has_returned(struct bond *bond, unsigned int slot, const struct link_info *now);
/*
 * It is not here, and nobody has told where it was moved: looks in the namespaces to which a
 * process or a name in /run/netns leads, and restores it there. If it is in none, the log names the
 * address that it would have.
 */
void slave_restore_anywhere(struct bond *bond, unsigned int slot);
/*
 * If bond0 is a team, and somebody has taken the member out of it: releases it, as with kernel
 * bonding. link: a message. Returns true if so; the slot is free then.
 */
bool slave_has_left(struct bond *bond, unsigned int slot, const struct link_info *link);
/*
 * Compares every slave of the bond with its device. Some may be lost, others may have changed.
 * Those that were not released wholly are tried again.
 */
void slave_lost_look(struct bond *bond);

/* Checks whether a device may become a slave. Changes nothing. */

/*
 * Returns 0 and the device, or -errno with a line that says why not and what to do. force: IP
 * addresses are no obstacle.
 */
int enslave_check(struct bond *bond, const char *name, bool force, struct link_info *ret_link,
		  struct err *err);
/*
 * Does a slave, or a device that may become one, lead to the bond? Returns 0, or -ELOOP with a line
 * that shows the way that frames would take.
 */
int enslave_loop_check(struct bond *bond, const struct link_info *link,
		       const struct link_list *devices, struct err *err);

/*
 * fail_over_mac follow, and balance-tlb and balance-alb: only the active slave has the bond's MAC
 * address. Which address each slave shall have is kept in its entry (xbond_slave.mac), and is
 * written there before a device changes. So another bondd finishes what one that died has begun. If
 * a device refuses, the entry gets the address that it has. All of this does nothing with the other
 * values of fail_over_mac.
 */

bool mac_swap_is_on(struct bond *bond);
/* A new slave shall have an address that no other has. The device is not changed yet. */
void mac_swap_enter(struct bond *bond, unsigned int slot);
/*
 * The slave is to get its own address back: another one that has it gives it away, and all are
 * told. But a slave that could not be added takes nothing away.
 */
void mac_swap_leave(struct bond *bond, unsigned int slot);
/* Which address each member shall have. */
struct mac_swap {
	uint8_t mac[XBOND_MAX_SLAVES][XBOND_MAC_SIZE];
};

/*
 * The active slave gets the bond's address, and the slave that had it gets the one of the active
 * slave. Does nothing if that is so already, or if no slave is active.
 */
void mac_swap_settle(struct bond *bond);
/* Has a member that is not active the bond's address, or one that another has? */
bool mac_swap_is_half(struct bond *bond);
/*
 * Refuses a slave that is new, or of a bond whose mode changes, if it is up and cannot change its
 * address like that. One that went down for it would lose its carrier, so one failover would lead
 * to the next.
 */
int mac_swap_try(struct bond *bond, unsigned int slot, struct err *err);
/* As mac_swap_leave() for a slave whose device is in another namespace now. */
void mac_swap_move_away(struct bond *bond, unsigned int slot);
/* Addresses have changed: the programs, the switches and the clients are told. */
void mac_swap_tell(struct bond *bond);
/*
 * The bond's address is to be `mac`: the slave that has the present one shall have it, and a slave
 * that has it the present one. The devices have not changed yet.
 */
void mac_swap_rename(struct bond *bond, const uint8_t *mac, struct mac_swap *ret_before);
/* A device has refused it: the slaves shall have what they had. */
void mac_swap_put_back(struct bond *bond, const struct mac_swap *before);

/*
 * Puts the multicast groups that bond0 listens to, and the MAC addresses of macvlans and VLANs on
 * it, on its slaves' own lists as well, and on those of backups the groups to which the ARP monitor
 * sends its neighbour solicitations. Slaves are allmulti, and promiscuous if bond0 is, but NICs may
 * ignore that: virtual functions that their host does not trust do. The kernel does not say who has
 * put an address on a list. Therefore bondd first records in a pinned map what it puts there, and
 * leaves alone what was there before.
 */

/* A bond is made or adopted: opens the record, or makes it. What fails is tried again. */
void slave_multicast_open(struct bond *bond);
/*
 * Called twice a second for all bonds, because the kernel does not report changes. A bond that is
 * away keeps what it had.
 */
void slave_multicast_settle(struct daemon *daemon);
/* The next check is due now. */
void slave_multicast_settle_soon(struct bond *bond);
/* Joins at once on these slots; leaves no group. */
void slave_multicast_join(struct bond *bond, uint64_t slots);

/*
 * Inside, for slave_multicast.c and multicast_look.c: the groups of a bond, and which slaves have
 * joined them for it.
 */

struct multicast_group {
	uint8_t mac[XBOND_MAC_SIZE];
	uint64_t wanted; /* slots that are to have it, at this check; all if bond0 listens to it */
	bool missed;	 /* at the last check bond0 did not listen to it */
	/* Slots whose lists have it because of bondd; the pinned map has the same. */
	uint64_t joined;
	uint64_t there; /* slots whose lists have it, at this check */
};

struct slave_multicast {
	struct multicast_group *group;
	size_t count;
	bool is_recorded; /* there is the map that tells a later bondd; else nothing is joined */
	bool told;	  /* the log knows that it cannot be made, which is tried again */
	int pin_fd;
	bool full;	     /* the map is full, and this was logged */
	uint64_t seen;	     /* slots whose lists the last check has found */
	uint64_t refusing;   /* slots whose devices have no list */
	uint64_t unicast_ns; /* when addresses that are not groups are due */
	bool unicast_read;   /* the last check has read them */
};

struct slave_multicast *slave_multicast_of(const struct bond *bond);

/* Appends an entry, unsorted. */
struct multicast_group *multicast_look_append(struct slave_multicast *groups, const uint8_t *mac);
/* Sorts, and merges entries with the same address. */
void multicast_look_fold(struct slave_multicast *groups);
/* Reads the lists of count bonds, beginning at first. Returns 0 or -errno. */
int multicast_look_at(struct bond *first, size_t count);

/*
 * Slaves of a bond whose bond0 is a team: each is a port of it, so the kernel hands what it
 * receives to bond0, shows bond0 as its master, and keeps MTU, multicast groups and VLANs on it.
 * Called by slave.c, and for what others do to members. Does nothing for other bonds, if it does
 * not say otherwise.
 */

/* Before a device is changed: a team takes only devices that are down. */
int slave_team_prepare(struct bond *bond, unsigned int slot, struct err *err);
/*
 * Every 10 seconds, and when a bond is adopted: somebody may have changed how the team uses its
 * ports, so it is set again.
 */
void slave_team_keep(struct bond *bond);
/* At once for a slave that is a port: somebody has taken it out and put it in again. */
void slave_team_keep_port(struct bond *bond, unsigned int slot);

/*
 * Large receive offload (LRO) makes packets that cannot be sent on unchanged. The kernel turns it
 * off on devices below a port of a bridge, but does not know that slaves are below bond0. So bondd
 * turns it off on them while bond0, or a device on it, has a master. (Where IP is forwarded, the
 * kernel turns it off on every device of the namespace.) XDP and VLAN devices on a NIC also turn it
 * off, and nothing turns it on again afterwards; nor does it on ports of a team.
 */

/* The reasons for which bondd may have turned it off, as flags of a slave's record. */
#define LRO_REASONS (XBOND_SLAVE_HAD_LRO | XBOND_SLAVE_LRO_OFF | XBOND_SLAVE_LRO_VLAN)
/*
 * Called before something turns it off for this reason: records that, if it is on or off only for
 * other reasons.
 */
void lro_hold(struct bond *bond, unsigned int slot, uint32_t reason);
/* The reason has gone; when the last one goes, it is turned on again. */
void lro_let_go(struct bond *bond, unsigned int slot, uint32_t reason);

/*
 * VLANs of bond0 must pass the VLAN filters of the slaves (rx-vlan-filter). A filter that can be
 * turned off is turned off. If it is fixed (virtio, virtual functions), each VLAN of bond0 gets a
 * VLAN device on the slave, because only a VLAN device makes the kernel open a filter. It is down,
 * without traffic, and named xbv<ifindex>.<id>. Failures are logged and not fatal.
 *
 * A VLAN device of bond0 that was moved to another namespace cannot be seen, so its opening stays
 * until the slave leaves. While bond0 itself is in another namespace, no message reports VLANs that
 * are made or deleted there: the first 256 of them are found from time to time; openings of deleted
 * ones stay.
 */

/* Is it one of these VLAN devices, on this slave? */
bool vlan_filter_is_opener(const struct link_info *link, int slave_ifindex);

/* Is it a VLAN of the slave's own, which works beside the bond? */
bool own_vlans_is_one(const struct link_info *link, int slave_ifindex);

/* The parts of a slave, for the table in daemon/parts.c. What each does is said where it is. */

extern struct part state_part, ipv6_part, mtu_part, slow_part, flags_part,
	up_part;			  /* slave_link.c */
extern struct part mac_part;		  /* slave_mac.c */
extern struct part mac_try_part;	  /* mac_swap.c */
extern struct part groups_part;		  /* slave_multicast.c */
extern struct part lro_part;		  /* lro.c */
extern struct part vlan_filter_part;	  /* vlan_filter.c */
extern struct part own_vlans_part;	  /* own_vlans.c */
extern struct part rx_part;		  /* slave_rx.c */
extern struct part team_part;		  /* slave_team.c */
extern struct part xdp_part, xdp_tx_part; /* xdp_hooks.c */
extern struct part rx_turn_part;	  /* rx_turn_steps.c */
extern struct part hooks_part;		  /* rx_place.c */
extern struct part trouble_part;	  /* slave_trouble.c */

#endif
