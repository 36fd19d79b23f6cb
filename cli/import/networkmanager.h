/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profiles of NetworkManager, of keyfiles and of ifcfg files alike. */
#ifndef XBOND_CLI_IMPORT_NETWORKMANAGER_H
#define XBOND_CLI_IMPORT_NETWORKMANAGER_H

#include "cli/import/import.h"
#include "cli/import/import_files.h"

/* Of an ifcfg file, what is not of the bond is in the section "ifcfg". */
struct nm_profile {
	struct import_ini ini;
	bool is_ifcfg;
	const char *type; /* "bond", "ethernet" and so on; "" if it does not say */
	const char *interface, *id, *uuid;
	const struct import_ini_entry *controller; /* NULL: none */
};

struct nm_profiles {
	struct nm_profile *list;
	size_t count;
	struct import_index bonds; /* their profiles, by all names that they have */
};

/* What becomes a bond of xbond: also teams, and bonds of Open vSwitch. */
bool nm_is_bond_type(const char *type);

/*
 * Adds what an ifcfg file has. A line whose meaning only the shell knows is in the section of this
 * name, and its value says why.
 */
#define NM_UNCLEAR "unclear"
void nm_read_ifcfg(struct import *import, const struct import_file *file, struct import_ini *ini);

/* The files of NetworkManager, or those that are given. Returns -errno, with a line in err. */
int nm_read_profiles(struct import *import, const struct import_request *request,
		     struct nm_profiles *profiles, struct err *err);

#endif
