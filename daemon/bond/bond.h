/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One bond as bondd holds it. Everything that must outlive bondd is in the pinned maps
 * (dataplane.pins); here is only what can be found out again.
 */
#ifndef XBOND_DAEMON_BOND_BOND_H
#define XBOND_DAEMON_BOND_BOND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/clock.h"
#include "common/mode.h"
#include "daemon/dataplane/dataplane.h"
#include "network/link.h"

#define BOND_PORT_ALIAS "xbond: port side of "

struct daemon;

/* One bit for each monitor, as in struct xbond_verdict. Only monitor/verdict.c writes it. */
struct link_verdict {
	uint32_t spoken, works;
	uint64_t learnt_ns[XBOND_MONITORS]; /* the last time it spoke */
};

/* A slave of the bond. Each part has one owner, which its comment names; others only read. */
struct member {
	uint64_t since_ns;    /* enslaved or adopted: slave.c, lifecycle.c */
	struct retry release; /* slave.c */
	bool is_unseen;	      /* adopted before the kernel told of its device: lifecycle.c */
	struct link_verdict verdict;
};

/* What was decided last: decide.c, publish.c, evaluate.c. */
struct bond_evaluation {
	struct dataplane_plan plan; /* as last published */
	struct xbond_settings seen; /* settings as last acted on */
	bool published;
	bool plan_due;		 /* the decided plan is not in force yet: evaluate.c */
	bool macs_due;		 /* fail_over_mac_settle() has something to do */
	struct retry macs_retry; /* not all slaves have taken what it gave them */
	/* balance-rr: the slot, as a bit, whose failure makes the multicast groups be reported. */
	uint64_t leader;
	/* By requests, since the last decision; see rules/active.h. */
	bool active_again, active_free;
};

/* bond0 and its pair, as last seen: device.c. */
struct bond_device {
	bool port_up;	/* bond0's carrier, which publish.c sets */
	bool away;	/* bond0 is in another namespace */
	bool left;	/* bond0 has been in one since the actions that lead to it were made */
	bool has_qdisc; /* a root qdisc that direct would skip */
	bool has_xdp;	/* a native XDP program, which only packets that cross the pair meet */
	/* bond0 is not up. An action that leads there would log errors, and LACP stops. */
	bool is_down;
	bool promisc;	    /* bond0 receives more than its own address */
	bool mac_is_lent;   /* it is that of a slave that was not added, and could not be changed */
	bool port_is_short; /* the port side's MTU is less than bond0's, and cannot be put back */
	bool is_left;	    /* it was to be removed, and could not be: lifecycle.c */
	char refused_name[XBOND_NAME_SIZE]; /* a new name that the pins could not take */
};

/*
 * Each part has one owner, which its comment names; others only read. lifecycle.c fills in what is
 * known when the bond begins.
 */
struct bond {
	struct bond *next;
	struct daemon *daemon;
	struct dataplane dataplane;
	/*
	 * A takeover or handback of a bond of this name moves its slaves, and nobody else may; "":
	 * none does. bond_hand_over() writes it.
	 */
	char handed_over[XBOND_NAME_SIZE];
	struct member members[XBOND_MAX_SLAVES];
	struct bond_evaluation evaluation;
	struct bond_device device;
	/* What rx_turn_steps.c wants of decisions, which stand below it and cannot ask it. */
	struct {
		/* Slots that shall have no flows now, and those that send nothing. */
		uint64_t drained, out;
		/*
		 * Slots whose carrier is off because of bondd, until they carry traffic again,
		 * however often their drivers reset.
		 */
		uint64_t reset;
	} rx_turn;
	struct part_state *parts; /* part.c: what parts.c lists */
	bool is_running;	  /* part.c: its parts have started, and not stopped */
	bool is_over;		  /* its end has been told: lifecycle_end() */
	struct {
		bool sync; /* what the kernel may not have reported must be checked */
		bool read; /* the same, and messages were lost before */
	} due;		   /* watch.c */
};

static inline struct xbond_bond *bond_pin(struct bond *bond)
{
	return bond->dataplane.pins.bond;
}

static inline struct xbond_slave *bond_slave(struct bond *bond, unsigned int slot)
{
	return &bond->dataplane.pins.slaves[slot];
}

static inline bool bond_is_member(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->state == XBOND_SLOT_MEMBER;
}

/*
 * Is it complete, that is, not being created, adopted or deleted? What is adopted may differ from
 * what this build makes.
 */
static inline bool bond_is_ready(struct bond *bond)
{
	return bond->is_running && bond_pin(bond)->state == XBOND_BOND_READY;
}

static inline bool bond_is_netkit(const struct xbond_bond *pin)
{
	return pin->device_kind == XBOND_DEVICE_NETKIT;
}

/* Then bond0 is no end of a pair, and both ifindexes of the bond are bond0's. */
static inline bool bond_is_team(const struct xbond_bond *pin)
{
	return pin->device_kind == XBOND_DEVICE_TEAM;
}

/* A team that cannot send. */
static inline bool bond_only_direct(const struct xbond_bond *pin)
{
	return bond_is_team(pin) && !pin->team_sends;
}

/* fail_over_mac as it is in force: the user's in active-backup. */
static inline enum xbond_fail_over_mac bond_fail_over_mac(const struct xbond_bond *pin)
{
	if (mode_has(pin->mode, MODE_OWN_MACS))
		return XBOND_FAIL_OVER_MAC_FOLLOW;
	return mode_has(pin->mode, MODE_ALONE) ? (enum xbond_fail_over_mac)pin->fail_over_mac
					       : XBOND_FAIL_OVER_MAC_NONE;
}

/* Is it the port side of some bond, of this bondd or another? */
static inline bool bond_is_port_side(const struct link_info *link)
{
	return !strncmp(link->alias, BOND_PORT_ALIAS, strlen(BOND_PORT_ALIAS));
}

/* Loops over every slot that is a member. */
#define bond_for_each_member(bond, slot) pins_for_each_member (&(bond)->dataplane.pins, slot)

/* The monitors that say no, as bits. */
static inline uint32_t bond_link_refusing(const struct bond *bond, unsigned int slot)
{
	const struct link_verdict *verdict = &bond->members[slot].verdict;

	return verdict->spoken & ~verdict->works;
}

/*
 * Does every monitor that has given a verdict say that the slave's link works, and is there one? A
 * no of flaps, silence or errors counts only while there are so many other links that the bond has
 * carrier by them.
 */
bool bond_link_works(const struct bond *bond, unsigned int slot);
/* The slots of which some monitor says a no that counts only while other links work. */
uint64_t bond_soft_noes(const struct bond *bond);
/* What the first monitor that says no has found, such as "no carrier"; NULL: none says no. */
const char *bond_link_why(const struct bond *bond, unsigned int slot);
/* The slot of the member with this ifindex, or -1. */
int bond_slot_by_ifindex(struct bond *bond, int ifindex);
/* Do packets of the stack go direct, unless that is forbidden? */
bool bond_wants_direct(const struct bond *bond);
/* as: see handed_over. */
void bond_hand_over(struct bond *bond, const char *as);
/* A takeover or the like has not given it its name and addresses yet, or has taken them away. */
bool bond_is_meanwhile(const struct bond *bond);
/* The slots that are members. */
uint64_t bond_members(const struct bond *bond);
/* The number of slots in use. */
unsigned int bond_slave_count(struct bond *bond);

#endif
