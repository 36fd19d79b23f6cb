/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_model.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"

struct config_slave *config_file_find_slave(const struct config_file *file,
					    const struct config_slave *like)
{
	for (size_t i = 0; i < file->slave_count; i++)
		if (!strcmp(file->slaves[i].name, like->name) &&
		    !memcmp(file->slaves[i].perm_mac, like->perm_mac, XBOND_MAC_SIZE))
			return &file->slaves[i];
	return NULL;
}

struct config_slave *config_file_add_slave(struct config_file *file,
					   const struct config_slave *like)
{
	struct config_slave *slave;

	file->slaves =
		memory_need(reallocarray(file->slaves, file->slave_count + 1, sizeof(*slave)));
	slave = &file->slaves[file->slave_count++];
	*slave = (struct config_slave){ .place = like->place };
	memcpy(slave->name, like->name, sizeof(slave->name));
	memcpy(slave->perm_mac, like->perm_mac, sizeof(slave->perm_mac));
	return slave;
}

const char *config_slave_name(const struct config_slave *slave, char ret_text[MAC_FORMAT_SIZE])
{
	if (config_slave_is_by_mac(slave))
		return mac_format(slave->perm_mac, ret_text);
	memcpy(ret_text, slave->name, sizeof(slave->name));
	return ret_text;
}

void config_file_free(struct config_file *file)
{
	for (unsigned int i = 0; i < file->path_count; i++)
		free(file->paths[i]);
	free(file->paths);
	free(file->slaves);
	*file = (struct config_file){ 0 };
}
