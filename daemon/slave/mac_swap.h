/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fail_over_mac follow, and balance-tlb and balance-alb: only the active slave has the bond's MAC
 * address. Which address each slave shall have is kept in its entry (xbond_slave.mac), and is
 * written there before a device changes. So another bondd finishes what one that died has begun. If
 * a device refuses, the entry gets the address that it has. All of this does nothing with the other
 * values of fail_over_mac.
 */
#ifndef XBOND_DAEMON_SLAVE_MAC_SWAP_H
#define XBOND_DAEMON_SLAVE_MAC_SWAP_H

#include "daemon/bond/bond.h"

/* Which address each member shall have. */
struct mac_swap {
	uint8_t mac[XBOND_MAX_SLAVES][XBOND_MAC_SIZE];
};

/*
 * The active slave gets the bond's address, and the slave that had it gets the one of the active
 * slave. Does nothing if that is so already, or if no slave is active.
 */
void mac_swap_settle(struct bond *bond);
/* A new slave must not have an address that another has. */
void mac_swap_enter(struct bond *bond, unsigned int slot);
/*
 * Refuses a slave that is new, or of a bond whose mode changes, if it is up and cannot change its
 * address like that. One that went down for it would lose its carrier, so one failover would lead
 * to the next.
 */
int mac_swap_try(struct bond *bond, unsigned int slot, struct err *err);
/*
 * The slave gets its own address back: another one that has it gives it away, and all are told. But
 * a slave that could not be added takes nothing away.
 */
void mac_swap_leave(struct bond *bond, unsigned int slot);
/* The same for a slave whose device is in another namespace now. */
void mac_swap_move_away(struct bond *bond, unsigned int slot);
/* Addresses have changed: the programs, the switches and the clients are told. */
void mac_swap_tell(struct bond *bond);
/*
 * The bond's address has changed from `old`: the slave that had it shall have the new one, and a
 * slave that has that one `old`. The devices have not changed yet.
 */
void mac_swap_rename(struct bond *bond, const uint8_t *old, struct mac_swap *ret_before);
/* A device has refused it: the slaves shall have what they had. */
void mac_swap_put_back(struct bond *bond, const struct mac_swap *before);

#endif
