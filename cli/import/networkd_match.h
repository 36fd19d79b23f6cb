/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section [Match] of a .network file, asked about a device of which little is known. */
#ifndef XBOND_CLI_IMPORT_NETWORKD_MATCH_H
#define XBOND_CLI_IMPORT_NETWORKD_MATCH_H

#include "cli/import/import_ini.h"

#define NETWORKD_MATCH_KEYS 4

/* Read once, because it is asked about many devices. */
struct networkd_match {
	bool is_there;				/* systemd passes over a file without it */
	const char *lists[NETWORKD_MATCH_KEYS]; /* by the keys about name, type and address */
	bool has_others;			/* keys about what is not known */
};

enum networkd_answer { NETWORKD_OTHER, NETWORKD_MAYBE, NETWORKD_MATCHES };

void networkd_match_read(struct import *import, const struct import_ini *ini,
			 struct networkd_match *ret_match);
/* device: a name or a MAC address. All keys have to match. */
enum networkd_answer networkd_match_device(struct import *import,
					   const struct networkd_match *match, const char *device);

#endif
