/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What top knows of the bonds. top_read.c writes it from the maps; the other files show it and know
 * no maps. Names are as the maps have them, and may contain any character.
 */
#ifndef XBOND_CLI_TOP_TOP_MODEL_H
#define XBOND_CLI_TOP_TOP_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/top/top_drops.h"
#include "cli/top/top_series.h"
#include "common/err.h"
#include "common/pins.h"

#define TOP_UNKNOWN (-1)
#define TOP_WORDS 512
#define TOP_MESSAGE 1152 /* an error line, and some words before it */

struct top_slave {
	unsigned int slot;
	uint32_t ifindex;
	char name[XBOND_NAME_SIZE];
	bool is_there; /* for top_read.c: it was in the maps this time */
	enum xbond_link link;
	bool is_active; /* in use for transmission */
	bool is_drained;
	const char *state;	 /* as show says it: of its link, or what it is used for */
	const char *lacp;	 /* the state of its Mux machine; NULL: the mode is not 802.3ad */
	double due;		 /* the share that it should carry, of 1 */
	int buckets;		 /* TOP_UNKNOWN: the mode does not hash */
	char why[TOP_WORDS];	 /* why it is not in use; "": it is */
	char problem[TOP_WORDS]; /* what others have done to it; "": nothing */
	struct top_series series;
	struct top_drops drops;
};

#define TOP_HOT 6 /* buckets that are listed */

struct top_hot {
	unsigned int bucket, slot;
	double tx_bits; /* a second */
};

struct top_bond {
	char name[XBOND_NAME_SIZE];
	bool is_there;
	struct err error; /* why it cannot be read; then nothing below is known; "": it can */
	int error_code;
	struct pins pins; /* open if there is no error */
	dev_t device;	  /* of the directory of the pins */
	ino_t inode;
	uint64_t rates_ns; /* when the counters were read last */
	const char *mode;
	bool has_lacp;
	bool has_carrier;
	bool is_down; /* administratively */
	bool has_bondd;
	json_t *problems; /* as show says them, but for drops */
	struct top_series series;
	struct top_slave *slaves;
	size_t slave_count;
	/* top_hot.c: the loads of buckets as last read (NULL: they are not counted). */
	struct xbond_load *loads;
	uint64_t loads_ns;
	struct top_hot hot[TOP_HOT]; /* the hottest first */
	size_t hot_count;
};

struct top {
	const char *bpf_dir, *run_dir;
	const char *only; /* the one bond to show; NULL: all */
	bool has_socket;  /* bondd accepts connections */
	struct top_bond **bonds;
	size_t bond_count;
};

/* The part of the bond's transmitted bytes that the slave carries; TOP_UNKNOWN if there are none.
 */
static inline double top_share(const struct top_bond *bond, const struct top_slave *slave)
{
	if (!bond->series.is_known || !slave->series.is_known || bond->series.rates.tx_bits <= 0)
		return TOP_UNKNOWN;
	return slave->series.rates.tx_bits / bond->series.rates.tx_bits;
}

#endif
