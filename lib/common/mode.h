/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of modes, and the names of the link monitors. */
#ifndef XBOND_COMMON_MODE_H
#define XBOND_COMMON_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/*
 * The table of modes. A mode is one row: its name and number, its traits, and how the programs
 * choose a slave in it. Code that needs to know something about a mode asks here, so a new mode is
 * a new row. Options name the trait that they belong to (options/option_table.c), never a mode.
 */

/* The traits of a mode. An option that belongs to a trait is valid in the modes that have it. */
enum mode_trait {
	MODE_ACTIVE = 1,   /* one slave is the active one */
	MODE_TURNS = 2,	   /* slaves take turns, packet by packet */
	MODE_HASH = 4,	   /* a hash of the packet decides */
	MODE_SHARES = 8,   /* each slave has a share of the traffic, by weight */
	MODE_LACP = 16,	   /* LACP decides which slaves carry traffic */
	MODE_REPORTS = 32, /* multicast groups are reported after a failover */
	/* the active slave alone sends and receives, unless all_slaves_active */
	MODE_ALONE = 64,
	/* each slave has a MAC address of its own, and the active one has the bond's */
	MODE_OWN_MACS = 128,
	MODE_RECEIVES = 256, /* each slave receives what is sent to its own address */
	MODE_PROBES = 512,   /* the ARP monitor can probe through the slaves */
};

struct mode {
	const char *name;   /* the kernel's */
	const char *words;  /* the kernel's, in /proc/net/bonding */
	uint32_t number;    /* the kernel's, enum xbond_mode */
	uint32_t traits;    /* enum mode_trait */
	uint32_t selection; /* enum xbond_selection; in MODE_LACP, lacp_tx may say otherwise */
};

/* The i-th mode in the order of the numbers; NULL behind the last one. */
const struct mode *mode_at(unsigned int i);
/* NULL if there is none; the number may come from a damaged map. */
const struct mode *mode_find(uint32_t number);
/* NULL if there is none of that name. */
const struct mode *mode_by_name(const char *name);
/* "unknown" if there is none. */
const char *mode_name(uint32_t number);
/* What the kernel calls it in /proc/net/bonding; "unknown" if there is none. */
const char *mode_words(uint32_t number);
/* The name of the mode whose words the text begins with, or NULL. */
const char *mode_name_of_words(const char *text);
/* Does it have one of these traits (enum mode_trait)? */
bool mode_has(uint32_t number, uint32_t traits);

/* How the programs choose the slave for a packet of this bond. */
enum xbond_selection mode_selection(const struct xbond_bond *bond);

/* The link monitors' names and words, for logs and for `show`. */

/* As in JSON: "carrier". */
const char *monitor_name(enum xbond_monitor monitor);
/* What it has found if it says that the link does not work: "no carrier". */
const char *monitor_finding(enum xbond_monitor monitor);
/* Why a slave is used although a monitor says that it does not work. */
const char *monitor_why_used(uint32_t min_links);

#endif
