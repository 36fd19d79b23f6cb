/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a bond: one thing that bondd keeps right on devices, in one file, with its own state.
 * The table in daemon/parts.c lists all parts in the order in which a slave is made; a slave is
 * given back in the opposite order. Parts know the bond, and parts above them in the table by their
 * functions; nobody knows a part by name except the table.
 */
#ifndef XBOND_DAEMON_BOND_PART_H
#define XBOND_DAEMON_BOND_PART_H

#include "daemon/bond/bond.h"
#include "network/driver.h"
#include "network/nl.h"

/* In place of a slot: the bond itself. */
#define PART_BOND XBOND_MAX_SLAVES

/* What makes a part due. */
enum part_news {
	NEWS_SLAVE = 1 << 0,	/* a link message of the member */
	NEWS_BOND = 1 << 1,	/* of bond0, or of its port side */
	NEWS_ON_BOND = 1 << 2,	/* of a device on bond0 */
	NEWS_ON_SLAVE = 1 << 3, /* of a device on the member */
	NEWS_OTHER = 1 << 4,	/* of any other device */
	NEWS_ADDRESS = 1 << 5,	/* an IP address of the member has come or gone */
	NEWS_TIME = 1 << 6,	/* every two seconds: what nobody may have told */
	NEWS_TICK = 1 << 7,	/* twice a second */
	NEWS_FILTER = 1 << 8,	/* of filters at the member's ingress, or at bond0's pair */
	NEWS_PROMISC = 1 << 9,	/* bond0 receives more, or less, than its own address */
	NEWS_LOST = 1 << 10,	/* messages were lost, or bondd has just begun: all may differ */
};

/* Where the device of a slot is: here, or in the namespace to which somebody has moved it. */
struct place {
	struct nl *nl;
	const struct ethtool *ethtool;
	int ifindex;
	const char *name;
	bool away; /* bondd runs in a child there: it must not log, and changes only devices and
		      pins */
};

struct part {
	uint32_t restores;	       /* XBOND_RESTORED_*: one bit; 0: nothing */
	size_t bond_size, member_size; /* of its state, which begins as zeroes */
	uint32_t hears;		       /* enum part_news */
	/* Records what is there, then changes it. -errno refuses the slave. */
	int (*enslave)(struct bond *bond, unsigned int slot, struct err *err);
	/*
	 * The opposite, from the record alone. The device is there. Looks first: returns 0 if all
	 * is as before; 1 if it has changed something, so that it is called again to look; -errno.
	 */
	int (*restore)(struct bond *bond, unsigned int slot, const struct place *place,
		       struct err *err);
	/* Drops what is left here of a slot. Its device may be gone. */
	void (*forget)(struct bond *bond, unsigned int slot);
	/*
	 * May this news give it something to do? It also keeps what cannot be seen afterwards, such
	 * as why a device has gone. Calls nobody. NULL: it always may.
	 */
	bool (*hear)(struct bond *bond, unsigned int slot, enum part_news news,
		     const struct link_info *link, bool gone);
	/*
	 * Both make what is be what shall be: on a member, and for the bond itself. The present
	 * state counts, so they may be called at any time.
	 */
	void (*settle)(struct bond *bond, unsigned int slot, uint32_t news);
	void (*settle_bond)(struct bond *bond, uint32_t news);
	/* The bond begins, or is adopted. -errno: it cannot. */
	int (*start)(struct bond *bond);
	/* A decision is in force. Wakes what has to follow; touches no device itself. */
	void (*decided)(struct bond *bond, bool has_new_active);
	/*
	 * Nothing goes on by itself any more. May be called twice. is_over: the far ends are told
	 * that the bond ends; otherwise another bondd goes on with it.
	 */
	void (*stop)(struct bond *bond, bool is_over);
	/* Afterwards: frees. */
	void (*free)(struct bond *bond);
	/* part.c: */
	size_t bond_at, member_at;
};

void parts_init(struct part *const *table, size_t count);
/* Gives a new bond the state of all parts, and frees it. */
void parts_new(struct bond *bond);
void parts_free(struct bond *bond);

int parts_start(struct bond *bond);
void parts_decided(struct bond *bond, bool has_new_active);
void parts_stop(struct bond *bond, bool is_over);

void *part_of_bond(const struct bond *bond, const struct part *part);
void *part_of_member(const struct bond *bond, const struct part *part, unsigned int slot);

int parts_enslave(struct bond *bond, unsigned int slot, struct err *err);
/*
 * Restores every part that has not been seen restored, even if one cannot be. Returns 0, or the
 * first -errno with the reason.
 */
int parts_restore(struct bond *bond, unsigned int slot, const struct place *place, struct err *err);
void parts_forget(struct bond *bond, unsigned int slot);

/* Marks the parts that hear this; link may be NULL. */
void parts_hear(struct bond *bond, unsigned int slot, enum part_news news,
		const struct link_info *link, bool gone);
/* Settles what is marked, until end_ns. Returns true if there is more. */
bool parts_settle(struct bond *bond, uint64_t end_ns);
bool parts_are_due(const struct bond *bond);

/* The device now. -errno, with the reason in err. */
int place_look(const struct place *place, struct link_info *ret_now, struct err *err);
/* As restore() has it: turns a feature of the device on. */
int part_restore_feature(const struct place *place, const char *feature, struct err *err);

#endif
