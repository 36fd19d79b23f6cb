/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads bonds from their pinned maps, with or without bondd. A user who may not read the maps asks
 * bondd.
 */
#ifndef XBOND_CLI_SHOW_SEE_H
#define XBOND_CLI_SHOW_SEE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "view/view_bond.h"

struct seen {
	json_t *view;
	bool forced_counted; /* something forbids `path direct` at present */
	bool is_down;	     /* administratively */
	enum view_bondd bondd;
	unsigned int back_in_s; /* it goes back then unless it is confirmed; 0: it does not */
};

/* One way of seeing a bond. */
struct sight {
	const char *method; /* the method of bondd; NULL: only the name is needed */
	json_t *(*view)(const struct cli *cli, const struct pins *pins, const char *name);
	/* For a bond of another ABI version; NULL: an error. */
	json_t *(*foreign)(const struct cli *cli, const char *name, uint32_t abi);
};

extern const struct sight sight_show, sight_stats, sight_list;
extern const struct sight sight_known; /* as sight_show, but not of another ABI version */

/* ret_seen->view is a new reference. -ENOENT: there is no such bond. */
int see_bond(const struct cli *cli, const struct sight *sight, const char *name,
	     struct seen *ret_seen, struct err *err);
/* Sorted names with NULL at the end; release them with pins_names_free(). */
int see_names(const struct cli *cli, char ***ret_names, struct err *err);

#endif
