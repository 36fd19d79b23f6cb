/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables Port and Interface of Open vSwitch's database: as 'ovs-vsctl --format=json list'
 * prints them, or as its file has them, which is a log of changes (ovsdb(5)). Knows nothing of
 * bonds.
 */
#ifndef XBOND_CLI_IMPORT_OVS_TABLES_H
#define XBOND_CLI_IMPORT_OVS_TABLES_H

#include <jansson.h>

#include "cli/import/import.h"

struct ovs_tables {
	json_t *ports, *interfaces; /* objects: UUID -> { column: value } */
};

/* Begins and ends; both tables are there in between. */
void ovs_tables_init(struct ovs_tables *tables);
void ovs_tables_done(struct ovs_tables *tables);

/* Adds what the file has. Returns -errno, with a line in err. */
int ovs_tables_add(struct ovs_tables *tables, const struct import_file *file, struct err *err);

/* The members of a set, or the one value; NULL behind the last one. */
const json_t *ovs_set_at(const json_t *value, size_t i);
/* The UUID of an atom ["uuid", "..."]; NULL if it is none. */
const char *ovs_uuid(const json_t *atom);
/* The i-th pair of a map. Returns false behind the last one. */
bool ovs_map_at(const json_t *value, size_t i, const char **ret_key, const char **ret_value);
/* NULL: there is none. */
const char *ovs_map_find(const json_t *value, const char *key);

#endif
