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

#endif
