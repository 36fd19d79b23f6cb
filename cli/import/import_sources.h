/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tools that import reads the configuration of. */
#ifndef XBOND_CLI_IMPORT_IMPORT_SOURCES_H
#define XBOND_CLI_IMPORT_IMPORT_SOURCES_H

#include "cli/import/import_keys.h"

struct import_request {
	const char *const *files; /* files and directories; none: where the tool has its own */
	size_t file_count;
	const char *bond; /* the only one that is asked for; NULL: all */
};

struct import_keys {
	const char *title; /* NULL ends a list */
	const struct import_key *keys;
};

struct import_source {
	const char *name; /* NULL ends the table */
	const char *reads;
	const struct import_keys *tables;
	/* Returns -errno, with a line in err. Finding no bond is no failure. */
	int (*read)(struct import *import, const struct import_request *request, struct err *err);
	bool is_of_driver; /* it sets up bonds of the kernel's driver */
};

extern const struct import_source import_sources[];

int ifupdown_read(struct import *import, const struct import_request *request, struct err *err);
int netplan_read(struct import *import, const struct import_request *request, struct err *err);
int cloud_init_read(struct import *import, const struct import_request *request, struct err *err);
int nmstate_read(struct import *import, const struct import_request *request, struct err *err);
int networkd_read(struct import *import, const struct import_request *request, struct err *err);
int networkmanager_read(struct import *import, const struct import_request *request,
			struct err *err);
int kernel_read(struct import *import, const struct import_request *request, struct err *err);
int teamd_read(struct import *import, const struct import_request *request, struct err *err);
int ovs_read(struct import *import, const struct import_request *request, struct err *err);

extern const struct import_keys ifupdown_tables[], netplan_tables[], cloud_init_tables[],
	nmstate_tables[], networkd_tables[], networkmanager_tables[], kernel_tables[],
	teamd_tables[], ovs_tables_of_keys[];

#endif
