/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others take away from a bond comes back: its programs and its pins.
 *
 * Are the TC and netkit programs of a bond where they must be? Checks each attachment, puts back
 * what somebody has removed, and replaces what another build has attached. Counts and reports what
 * it found (xbond_attached). XDP programs: xdp_hooks.c, xdp_upgrade.c.
 */
#ifndef XBOND_DAEMON_BOND_ATTACH_CHECK_H
#define XBOND_DAEMON_BOND_ATTACH_CHECK_H

#include "daemon/bond/bond.h"
#include "daemon/bond/part.h"
#include "daemon/dataplane/attach.h"

/* One place where a program is attached. */
struct attach_place {
	struct bond *bond;
	unsigned int slot; /* or XBOND_MAX_SLAVES for the pair */
	uint32_t end;	   /* for the pair: XBOND_ATTACHED_PORT or _EGRESS */
	struct attach_point point;
	int program_fd;
	const char *device;
	/* nobody has removed what is missing there: it is put right but not counted */
	bool expected;
	/* Attaches the program again. Returns 0 or -errno. */
	int (*put_back)(const struct attach_place *place, struct err *err);
};

/* Checks one attachment and puts it right. */
void attach_check_place(struct attach_place *place);
/*
 * The programs of bond0 and the port side. came_back: bond0 was in another namespace, and left its
 * filters behind.
 */
void attach_check_pair(struct bond *bond, bool came_back);
/* The same after bondd has pinned other programs for them. */
void attach_check_renew_pair(struct bond *bond);
/*
 * The user has set path or xdp_tx. Only if packets may leave bond0 directly, its program can choose
 * slaves. If this fails, the bond can go on with the programs that it has.
 */
int attach_check_settle_path(struct bond *bond, struct err *err);
/*
 * Counts a loss of the slot, or of the pair (XBOND_MAX_SLAVES), that another module has found and
 * put right.
 */
void attach_check_count(struct bond *bond, unsigned int slot);
/* The slot ends. */
void attach_check_forget(struct bond *bond, unsigned int slot);

extern struct part pair_part;

/*
 * pins_keep.c: keeps a bond's pins. bondd holds a descriptor of each, so nothing ends when somebody
 * removes a pin or the bond's directory, or unmounts the BPF file system. Then bondd pins them
 * again.
 */

/*
 * Called from time to time; takes one system call while nothing has changed. Returns false if there
 * is no place to pin them.
 */
bool pins_keep(struct bond *bond);

/*
 * The members of the group xbond-xsk may send and receive by AF_XDP: it gets the pins that the
 * library maps (xsk/choice_open.c), some of them for writing, too. Without the group they are
 * root's alone. From now on these pins of all bonds belong to it, if it is there. It is looked up
 * once, when all bonds are in place: names may come from the network.
 */
void pins_find_group(struct daemon *daemon);

extern struct part pins_part;

/*
 * port_hooks.c: where the programs of a bond's own pair are attached: the selecting program at the
 * port side and, where needed, another at bond0's egress. Called when a bond is made, when its
 * settings change, and when the attachments are checked.
 */

/* For a new bond: chooses TCX or clsact, and attaches the programs of both ends. */
int port_hooks_attach(struct bond *bond, struct err *err);
/* The attach point of bond0's program (egress) or of the port side's. */
struct attach_point port_hooks_point(struct bond *bond, bool egress);
/* For a bond in this namespace: does an ingress qdisc stand in the place of clsact? */
int port_hooks_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err);
/* A netkit selects in its transmit function, where only the packet's queue_mapping is lost. */
bool port_hooks_need_egress(struct bond *bond);
/*
 * A netkit has a program at bond0's TC egress only for `path direct` and while a slave has a
 * queue_id.
 */
void port_hooks_settle(struct bond *bond);

/*
 * What `direct` must not go past on bond0: captures, a root qdisc, filters, an XDP program. Finds
 * captures and filters; device.c sees the others. While there is any of these, the bond is
 * forced to counted.
 */

extern struct part bypass_part;

/* Finds out on which bonds somebody captures; evaluates the bonds where that has changed. */
void bypass_read_captures(struct daemon *daemon);
/*
 * Asks the kernel whether others have filters at bond0's egress, and logs a change. While bond0 is
 * away, the last answer counts. Returns true if it has changed; does not evaluate.
 */
bool bypass_look_for_filters(struct bond *bond);
/* Is `direct` forbidden now, whatever the settings say? */
bool bypass_forbids_direct(struct bond *bond);

#endif
