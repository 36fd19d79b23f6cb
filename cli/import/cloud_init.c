/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Version 1 of cloud-init's configuration. Knows no files; netplan.c reads them. */
#include <string.h>

#include "cli/import/import_tools.h"

static const struct import_key cloud_init_keys[] = {
	{ "name", .becomes = "the name of the file" },
	{ "bond_interfaces", .becomes = "[slave DEV]" },
	{ "params", .becomes = "(the keys below it)" },
	{ .name = NULL },
};

const struct import_keys cloud_init_tables[] = {
	{ "a device of type bond", cloud_init_keys },
	{ "params, with bond- or bond_ before the name", import_bonding_keys },
	{ .title = NULL },
};

struct cloud_init {
	struct import *import;
	const struct import_tree *tree;
	const yaml_node_t *devices;
	struct import_index types; /* of the devices, by their names */
};

static void cloud_init_param(const struct cloud_init *from, struct import_bond *bond,
			     const struct import_node *param)
{
	char *name = import_text(from->import, "%s", param->key);
	const struct import_key *key = NULL;

	for (char *at = name; (at = strchr(at, '-'));)
		*at = '_';
	if (!strncmp(name, "bond_", 5))
		key = import_find_key(import_bonding_keys, name + 5);
	if (key)
		import_apply_key(from->import, key, bond, NULL,
				 import_tree_list(from->import, from->tree, param->value),
				 &param->line);
	else if (!strcmp(name, "mode"))
		import_refuse(from->import, bond, &param->line,
			      "cloud-init reads bond-mode, and ignores this key");
	else
		import_lost(from->import, bond, &param->line, IMPORT_NO_OPTION);
}

static void cloud_init_params(const struct cloud_init *from, struct import_bond *bond,
			      const struct import_node *params)
{
	struct import_node param;

	if (!import_tree_is_map(from->import, bond, params))
		return;
	for (size_t i = 0; import_tree_at(from->import, from->tree, params->value, i, &param); i++)
		cloud_init_param(from, bond, &param);
}

static void cloud_init_slave(const struct cloud_init *from, struct import_bond *bond,
			     const struct import_node *item)
{
	const char *name = import_tree_text(item->value);
	const char *type = name ? import_index_get(&from->types, NULL, name) : NULL;

	if (type && !strcmp(type, "infiniband"))
		import_refuse(from->import, bond, &item->line,
			      "slaves must be Ethernet devices, not of type %s", type);
	else
		import_slave(from->import, bond, name ? name : "", &item->line);
}

static void cloud_init_slaves(const struct cloud_init *from, struct import_bond *bond,
			      const struct import_node *list)
{
	struct import_node item;

	if (import_tree_text(list->value)) {
		cloud_init_slave(from, bond, list);
		return;
	}
	if (!import_tree_is_list(from->import, bond, list))
		return;
	for (size_t i = 0; import_tree_at(from->import, from->tree, list->value, i, &item); i++)
		cloud_init_slave(from, bond, &item);
}

/* An option of the bond beside params, where cloud-init does not look. */
static void cloud_init_stray(const struct cloud_init *from, struct import_bond *bond,
			     const struct import_node *node)
{
	static const char why[] = "cloud-init reads it below params, and ignores it here";

	if (strstr(node->key, "mode"))
		import_refuse(from->import, bond, &node->line, "%s", why);
	else
		import_lost(from->import, bond, &node->line, "%s", why);
}

/* What is not of the bond: of the bond itself, or of a slave, which is found by its address. */
static void cloud_init_rest(const struct cloud_init *from, struct import_bond *bond,
			    const yaml_node_t *device, bool is_slave)
{
	struct import_node node;

	for (size_t i = 0; import_tree_at(from->import, from->tree, device, i, &node); i++)
		if (!strcmp(node.key, "type") || !strcmp(node.key, "id") ||
		    import_find_key(cloud_init_keys, node.key) ||
		    (is_slave && !strcmp(node.key, "mac_address")))
			continue;
		else if (!strncmp(node.key, "bond", 4))
			cloud_init_stray(from, bond, &node);
		else
			import_stays(from->import, bond, &node.line);
}

static void cloud_init_bond(const struct cloud_init *from, const struct import_node *device)
{
	const char *name = import_tree_value(from->tree, device->value, "name");
	struct import_bond *bond = import_new_bond(from->import, name, &device->line);
	struct import_node node;

	if (!bond)
		return;
	if (import_tree_find(from->import, from->tree, device->value, "bond_interfaces", &node))
		cloud_init_slaves(from, bond, &node);
	if (import_tree_find(from->import, from->tree, device->value, "params", &node))
		cloud_init_params(from, bond, &node);
	cloud_init_rest(from, bond, device->value, false);
	if (!bond->refused.file && !import_find_option(&bond->options, OPT_MODE))
		import_changed(from->import, bond, &device->line, IMPORT_NO_MODE);
}

/* A slave, or a VLAN or bridge above a bond. */
static void cloud_init_other(const struct cloud_init *from, const struct import_node *device)
{
	struct import_bond *bond = import_find_bond(
		from->import, import_tree_value(from->tree, device->value, "vlan_link"));
	struct import_node list, item;

	if (import_find_slave(from->import, import_tree_value(from->tree, device->value, "name"),
			      &bond)) {
		cloud_init_rest(from, bond, device->value, true);
		return;
	}
	if (import_tree_find(from->import, from->tree, device->value, "bridge_interfaces", &list))
		for (size_t i = 0;
		     !bond && import_tree_at(from->import, from->tree, list.value, i, &item); i++)
			if (import_tree_text(item.value))
				bond = import_find_bond(from->import, import_tree_text(item.value));
	if (bond)
		import_stays(from->import, bond, &device->line);
}

void cloud_init_take(struct import *import, struct import_tree *tree, const yaml_node_t *network)
{
	struct cloud_init from = { .import = import, .tree = tree };
	struct import_node config, device;

	if (!import_tree_find(import, tree, network, "config", &config))
		return;
	import_tree_keep_last(import, tree);
	from.devices = config.value;
	for (size_t i = 0; import_tree_at(import, tree, from.devices, i, &device); i++)
		import_index_put(import, &from.types, NULL,
				 import_tree_value(tree, device.value, "name"),
				 import_tree_value(tree, device.value, "type"));
	for (size_t i = 0; import_tree_at(import, tree, from.devices, i, &device); i++)
		if (!strcmp(import_tree_value(tree, device.value, "type"), "bond"))
			cloud_init_bond(&from, &device);
	for (size_t i = 0; import_tree_at(import, tree, from.devices, i, &device); i++)
		if (strcmp(import_tree_value(tree, device.value, "type"), "bond") != 0)
			cloud_init_other(&from, &device);
}
