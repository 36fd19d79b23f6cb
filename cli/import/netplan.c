/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netplan(5), and version 2 of cloud-init's network configuration, which is the same. Its files are
 * one configuration: later ones add to lists and replace single values. Interfaces have names of
 * netplan's own, which need not be those of the devices.
 */
#include <string.h>

#include "cli/import/import_tools.h"

static const struct import_key netplan_keys[] = {
	{ "mode", .option = OPT_MODE },
	{ "lacp-rate", .option = OPT_LACP_RATE },
	{ "mii-monitor-interval", .option = OPT_MIIMON, .convert = import_ms_of_ms },
	{ "min-links", .option = OPT_MIN_LINKS },
	{ "transmit-hash-policy", .option = OPT_XMIT_HASH_POLICY },
	{ "ad-select", .option = OPT_AD_SELECT },
	{ "all-members-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "all-slaves-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "arp-interval", .option = OPT_ARP_INTERVAL, .convert = import_ms_of_ms },
	{ "arp-ip-targets", .option = OPT_ARP_IP_TARGET, .convert = import_list, .more = true },
	{ "arp-validate", .option = OPT_ARP_VALIDATE },
	{ "arp-all-targets", .option = OPT_ARP_ALL_TARGETS },
	{ "up-delay", .option = OPT_UPDELAY, .convert = import_ms_of_ms },
	{ "down-delay", .option = OPT_DOWNDELAY, .convert = import_ms_of_ms },
	{ "fail-over-mac-policy", .option = OPT_FAIL_OVER_MAC },
	{ "gratuitous-arp", .option = OPT_NUM_GRAT_ARP },
	{ "gratuitious-arp", .option = OPT_NUM_GRAT_ARP },
	{ "packets-per-member", .option = OPT_PACKETS_PER_SLAVE },
	{ "packets-per-slave", .option = OPT_PACKETS_PER_SLAVE },
	{ "primary-reselect-policy", .option = OPT_PRIMARY_RESELECT },
	{ "resend-igmp", .option = OPT_RESEND_IGMP },
	{ "primary", .becomes = "primary" },
	{ "learn-packet-interval", .option = OPT_LP_INTERVAL, .convert = import_s_of_s },
	{ .name = NULL },
};

static const struct import_key netplan_bond_keys[] = {
	{ "interfaces", .becomes = "[slave DEV]" },
	{ "parameters", .becomes = "(the keys below it)" },
	{ "openvswitch",
	  .becomes =
		  "mode and lacp_active, by lacp; what bondctl import ovs makes of other-config" },
	{ .name = NULL },
};

const struct import_keys netplan_tables[] = {
	{ "a bond", netplan_bond_keys },
	{ "parameters of a bond", netplan_keys },
	{ .title = NULL },
};

struct netplan {
	struct import *import;
	struct import_tree *trees;
	size_t count;
	struct import_index patches; /* ports of Open vSwitch that are no devices */
};

/* cloud-init's configuration may be without the key network. */
static const yaml_node_t *netplan_network(const struct netplan *netplan, size_t tree)
{
	const struct import_tree *at = &netplan->trees[tree];
	const yaml_node_t *root = import_tree_root(at);
	struct import_node network;

	return import_tree_find(netplan->import, at, root, "network", &network) ? network.value
										: root;
}

static bool netplan_section(const struct netplan *netplan, size_t tree, const char *section,
			    struct import_node *ret_node)
{
	return import_tree_find(netplan->import, &netplan->trees[tree],
				netplan_network(netplan, tree), section, ret_node);
}

/* Of physical devices, whose names need not be those that netplan has for them. */
static const char *const device_sections[] = { "ethernets", "wifis", "modems" };
#define DEVICE_SECTIONS (sizeof(device_sections) / sizeof(device_sections[0]))

/* A key of the definition of a physical device; of several files the last one counts. */
static bool netplan_find_in_device(const struct netplan *netplan, const char *id, const char *key,
				   const char *below, struct import_node *ret_node)
{
	struct import_node section, device, value;
	bool found = false;

	for (size_t i = 0; i < netplan->count * DEVICE_SECTIONS; i++) {
		size_t file = i / DEVICE_SECTIONS;
		const struct import_tree *tree = &netplan->trees[file];

		if (!netplan_section(netplan, file, device_sections[i % DEVICE_SECTIONS],
				     &section) ||
		    !import_tree_find(netplan->import, tree, section.value, id, &device) ||
		    !import_tree_find(netplan->import, tree, device.value, key, &value))
			continue;
		if (below && !import_tree_find(netplan->import, tree, value.value, below, &value))
			continue;
		*ret_node = value;
		found = true;
	}
	return found;
}

static const char *netplan_value_in_device(const struct netplan *netplan, const char *id,
					   const char *key, const char *below)
{
	struct import_node node;

	return netplan_find_in_device(netplan, id, key, below, &node) ? import_tree_text(node.value)
								      : NULL;
}

/*
 * The device's name, or its MAC address. NULL: the configuration does not say it, and ret_why says
 * that.
 */
static const char *netplan_device(const struct netplan *netplan, const char *id,
				  const char **ret_why)
{
	const char *name = netplan_value_in_device(netplan, id, "set-name", NULL);
	struct import_node match;

	*ret_why = NULL;
	if (name)
		return name;
	if (!netplan_find_in_device(netplan, id, "match", NULL, &match))
		return id;
	name = netplan_value_in_device(netplan, id, "match", "name");
	if (name && !strpbrk(name, "*?["))
		return name;
	if (!name && netplan_value_in_device(netplan, id, "match", "macaddress"))
		return netplan_value_in_device(netplan, id, "match", "macaddress");
	*ret_why = import_text(netplan->import,
			       "it matches devices without naming them (%s); add [slave DEV] "
			       "for each",
			       match.line.what);
	return NULL;
}

static void netplan_interfaces(const struct netplan *netplan, struct import_bond *bond,
			       const struct import_tree *tree, const struct import_node *list)
{
	struct import_node item;
	const char *why;

	if (!import_tree_is_list(netplan->import, bond, list))
		return;
	for (size_t i = 0; import_tree_at(netplan->import, tree, list->value, i, &item); i++) {
		const char *id = import_tree_text(item.value), *name;

		if (id && import_index_get(&netplan->patches, NULL, id)) {
			import_lost(netplan->import, bond, &item.line,
				    "an Open vSwitch patch port is not a device");
			continue;
		}
		name = id ? netplan_device(netplan, id, &why) : "";
		if (id && netplan_value_in_device(netplan, id, "infiniband-mode", NULL))
			import_refuse(netplan->import, bond, &item.line,
				      "slaves must be Ethernet devices, not InfiniBand");
		else if (name)
			import_slave(netplan->import, bond, name, &item.line);
		else
			import_refuse(netplan->import, bond, &item.line, "%s", why);
	}
}

static void netplan_primary(const struct netplan *netplan, struct import_bond *bond,
			    const struct import_node *node)
{
	const char *id = import_tree_text(node->value), *why, *name;

	name = id ? netplan_device(netplan, id, &why) : "";
	if (name)
		import_option(netplan->import, bond, NULL, OPT_PRIMARY, name, false, &node->line);
	else
		import_lost(netplan->import, bond, &node->line, "%s", why);
}

/* Numbers that netplan hands on only if they are not 0. cloud-init also has other renderers. */
static bool netplan_drops_zero(const struct import *import, enum option_id id)
{
	return !strcmp(import->tool, "netplan") &&
	       (id == OPT_NUM_GRAT_ARP || id == OPT_PACKETS_PER_SLAVE || id == OPT_RESEND_IGMP);
}

static void netplan_parameter(const struct netplan *netplan, struct import_bond *bond,
			      const struct import_tree *tree, const struct import_node *node)
{
	const struct import_key *key = import_find_key(netplan_keys, node->key);
	const char *value = import_tree_list(netplan->import, tree, node->value);

	if (!strcmp(node->key, "primary"))
		netplan_primary(netplan, bond, node);
	else if (key && !strcmp(value, "0") && netplan_drops_zero(netplan->import, key->option))
		import_lost(netplan->import, bond, &node->line,
			    "netplan takes 0 for unset, so it is 1, the default of kernel bonding");
	else
		import_apply_key(netplan->import, key, bond, NULL, value, &node->line);
}

/* With a port that only Open vSwitch has, netplan makes the whole bond there. */
static bool netplan_has_patch(const struct netplan *netplan, const struct import_tree *tree,
			      const yaml_node_t *value)
{
	struct import_node list, item;

	if (!import_tree_find(netplan->import, tree, value, "interfaces", &list))
		return false;
	for (size_t i = 0; import_tree_at(netplan->import, tree, list.value, i, &item); i++) {
		const char *id = import_tree_text(item.value);

		if (id && import_index_get(&netplan->patches, NULL, id))
			return true;
	}
	return false;
}

/* A bond of Open vSwitch, which has modes of its own. */
static bool netplan_is_ovs(const struct netplan *netplan, const struct import_tree *tree,
			   const yaml_node_t *value)
{
	struct import_node node;
	const char *mode;

	if (import_tree_find(netplan->import, tree, value, "openvswitch", &node) ||
	    netplan_has_patch(netplan, tree, value))
		return true;
	if (!import_tree_find(netplan->import, tree, value, "parameters", &node) ||
	    !import_tree_find(netplan->import, tree, node.value, "mode", &node))
		return false;
	mode = import_tree_text(node.value);
	return mode && strcmp(mode, "active-backup") && ovs_knows_mode(mode);
}

static void netplan_ovs(const struct netplan *netplan, struct import_bond *bond,
			const struct import_tree *tree, const struct import_node *definition)
{
	struct ovs_mode ovs = { .mode_line = definition->line, .lacp_line = definition->line };
	struct import_node section, node, config = { 0 };

	if (import_tree_find(netplan->import, tree, definition->value, "parameters", &section) &&
	    import_tree_find(netplan->import, tree, section.value, "mode", &node)) {
		ovs.mode = import_tree_text(node.value);
		ovs.mode_line = node.line;
	}
	if (import_tree_find(netplan->import, tree, definition->value, "openvswitch", &section)) {
		for (size_t i = 0; import_tree_at(netplan->import, tree, section.value, i, &node);
		     i++)
			if (!strcmp(node.key, "lacp")) {
				ovs.lacp = import_tree_text(node.value);
				ovs.lacp_line = node.line;
			} else if (!strcmp(node.key, "other-config")) {
				config = node;
			} else {
				import_stays(netplan->import, bond, &node.line);
			}
	}
	ovs.falls_back = !strcmp(import_tree_value(tree, config.value, "lacp-fallback-ab"), "true");
	ovs_set_mode(netplan->import, bond, &ovs);
	for (size_t i = 0; import_tree_at(netplan->import, tree, config.value, i, &node); i++)
		ovs_take_other_config(netplan->import, bond, node.key,
				      import_tree_list(netplan->import, tree, node.value),
				      &node.line);
}

static void netplan_parameters(const struct netplan *netplan, struct import_bond *bond,
			       const struct import_tree *tree, const struct import_node *parameters,
			       bool is_ovs)
{
	struct import_node node;

	if (!import_tree_is_map(netplan->import, bond, parameters))
		return;
	for (size_t i = 0; import_tree_at(netplan->import, tree, parameters->value, i, &node);
	     i++) {
		const struct import_key *key = import_find_key(netplan_keys, node.key);
		const char *why = is_ovs && key ? ovs_ignores(bond, key->option) : NULL;

		if (why)
			import_lost(netplan->import, bond, &node.line, "%s", why);
		else if (!is_ovs || strcmp(node.key, "mode"))
			netplan_parameter(netplan, bond, tree, &node);
	}
}

static void netplan_bond(const struct netplan *netplan, const struct import_tree *tree,
			 const struct import_node *definition)
{
	struct import *import = netplan->import;
	bool is_ovs = netplan_is_ovs(netplan, tree, definition->value);
	struct import_bond *bond;
	struct import_node node;

	bond = import_bond(import, definition->key, &definition->line);
	if (!bond || !import_tree_is_map(import, bond, definition))
		return;
	if (is_ovs)
		netplan_ovs(netplan, bond, tree, definition);
	for (size_t i = 0; import_tree_at(import, tree, definition->value, i, &node); i++)
		if (!strcmp(node.key, "interfaces"))
			netplan_interfaces(netplan, bond, tree, &node);
		else if (!strcmp(node.key, "parameters"))
			netplan_parameters(netplan, bond, tree, &node, is_ovs);
		else if (strcmp(node.key, "openvswitch"))
			import_stays(import, bond, &node.line);
}

static void netplan_slave_rest(const struct netplan *netplan, const struct import_tree *tree,
			       const struct import_node *device)
{
	const char *why, *name = netplan_device(netplan, device->key, &why);
	struct import_bond *bond = NULL;
	struct import_node node;

	if (!name || !import_find_slave(netplan->import, name, &bond))
		return;
	for (size_t i = 0; import_tree_at(netplan->import, tree, device->value, i, &node); i++)
		if (strcmp(node.key, "match") && strcmp(node.key, "set-name"))
			import_stays(netplan->import, bond, &node.line);
}

/* VLANs, bridges and others that name the bond. */
static void netplan_above(const struct netplan *netplan, const struct import_tree *tree,
			  const struct import_node *definition)
{
	static const char *const keys[] = { "link", "interfaces", "id" };
	struct import_node node, item;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		const char *text;
		struct import_bond *bond;

		if (!import_tree_find(netplan->import, tree, definition->value, keys[k], &node))
			continue;
		text = import_tree_text(node.value);
		bond = text ? import_find_bond(netplan->import, text) : NULL;
		for (size_t i = 0;
		     !bond && import_tree_at(netplan->import, tree, node.value, i, &item); i++)
			if ((text = import_tree_text(item.value)))
				bond = import_find_bond(netplan->import, text);
		if (bond) {
			import_stays(netplan->import, bond, &definition->line);
			return;
		}
	}
}

typedef void netplan_visit(const struct netplan *netplan, const struct import_tree *tree,
			   const struct import_node *definition);

static void netplan_each(const struct netplan *netplan, const char *section, netplan_visit *visit)
{
	struct import_node node, definition;

	for (size_t i = 0; i < netplan->count; i++) {
		const struct import_tree *tree = &netplan->trees[i];

		if (!netplan_section(netplan, i, section, &node))
			continue;
		for (size_t j = 0;
		     import_tree_at(netplan->import, tree, node.value, j, &definition); j++)
			visit(netplan, tree, &definition);
	}
}

/* "openvswitch: {ports: [[patch0, patch1], ...]}" */
static void netplan_number_patches(struct netplan *netplan)
{
	struct import_node section, ports, pair, item;

	for (size_t i = 0; i < netplan->count; i++) {
		const struct import_tree *tree = &netplan->trees[i];

		if (!netplan_section(netplan, i, "openvswitch", &section) ||
		    !import_tree_find(netplan->import, tree, section.value, "ports", &ports))
			continue;
		for (size_t j = 0; import_tree_at(netplan->import, tree, ports.value, j, &pair);
		     j++)
			for (size_t k = 0;
			     import_tree_at(netplan->import, tree, pair.value, k, &item); k++)
				if (import_tree_text(item.value))
					import_index_put(netplan->import, &netplan->patches, NULL,
							 import_tree_text(item.value), tree);
	}
}

static void netplan_take(struct netplan *netplan)
{
	netplan_number_patches(netplan);
	for (size_t i = 0; i < netplan->count; i++)
		cloud_init_take(netplan->import, &netplan->trees[i], netplan_network(netplan, i));
	netplan_each(netplan, "bonds", netplan_bond);
	for (size_t i = 0; i < DEVICE_SECTIONS; i++)
		netplan_each(netplan, device_sections[i], netplan_slave_rest);
	netplan_each(netplan, "vlans", netplan_above);
	netplan_each(netplan, "bridges", netplan_above);
	netplan_each(netplan, "vrfs", netplan_above);
}

static int netplan_read_file(void *context, const char *path, struct err *err)
{
	struct netplan *netplan = context;
	const struct import_file *file;
	int r;

	if (import_is_dir(path)) /* one in a directory */
		return 0;
	r = import_file_read(netplan->import, path, &file, err);
	if (r)
		return r;
	netplan->trees = import_grow(netplan->import, netplan->trees, netplan->count,
				     sizeof(*netplan->trees));
	return import_tree_read(netplan->import, file, &netplan->trees[netplan->count++], err);
}

static int netplan_read_files(struct import *import, const struct import_request *request,
			      const char *const *own, const char *const *suffixes, struct err *err)
{
	struct netplan netplan = { .import = import };
	int r = import_read_files(import, request, own, suffixes, netplan_read_file, &netplan, err);

	if (!r)
		netplan_take(&netplan);
	for (size_t i = 0; i < netplan.count; i++)
		import_tree_done(&netplan.trees[i]);
	return r;
}

int netplan_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *const own[] = { import_path(import, "/run/netplan"),
				    import_path(import, "/etc/netplan"),
				    import_path(import, "/lib/netplan"), NULL };
	const char *const suffixes[] = { ".yaml", NULL };

	return netplan_read_files(import, request, own, suffixes, err);
}

int cloud_init_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *const own[] = { import_path(import, "/var/lib/cloud/seed/nocloud"),
				    import_path(import, "/var/lib/cloud/seed/nocloud-net"),
				    import_path(import, "/etc/cloud/cloud.cfg.d"), NULL };
	const char *const suffixes[] = { "network-config", ".cfg", ".yaml", ".yml", NULL };

	return netplan_read_files(import, request, own, suffixes, err);
}
