/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of one bond in memory, wherever it comes from. */
#ifndef XBOND_OPTIONS_CONFIG_MODEL_H
#define XBOND_OPTIONS_CONFIG_MODEL_H

#include "common/mac.h"
#include "options/config_mistakes.h"
#include "options/option_set.h"

struct config_slave {
	char name[XBOND_NAME_SIZE];	  /* "": it is known by its permanent MAC address */
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: it is known by its name */
	struct option_set options;
	struct config_place place; /* of its first section */
	struct config_place at[OPT_COUNT];
};

struct config_file {
	struct option_set bond;
	struct config_place at[OPT_COUNT]; /* of the bond's options */
	struct config_slave *slaves;
	size_t slave_count;
	char **paths; /* the file, then its drop-ins */
	unsigned int path_count;
};

void config_file_free(struct config_file *file);

struct config_slave *config_file_find_slave(const struct config_file *file,
					    const struct config_slave *like);
/* A new one like this, without options. */
struct config_slave *config_file_add_slave(struct config_file *file,
					   const struct config_slave *like);
/* As its section names it. Any slave's name or MAC address fits. */
const char *config_slave_name(const struct config_slave *slave, char ret_text[MAC_FORMAT_SIZE]);
static inline bool config_slave_is_by_mac(const struct config_slave *slave)
{
	return !slave->name[0];
}

#endif
