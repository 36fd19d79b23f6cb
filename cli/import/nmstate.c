/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * States of nmstate: a list of interfaces, as 'nmstatectl show' prints it or as a policy of
 * Kubernetes has it. A bond is an interface, or a port of a bridge of Open vSwitch.
 */
#include <string.h>

#include "cli/import/import_tools.h"

static const struct import_key nmstate_keys[] = {
	{ "mode", .option = OPT_MODE },
	{ "port", .becomes = "[slave DEV]" },
	{ "ports", .becomes = "[slave DEV]" },
	{ "slaves", .becomes = "[slave DEV]" },
	{ "ports-config", .becomes = "[slave DEV], and the keys below it" },
	{ "options", .becomes = "(the keys below it)" },
	{ .name = NULL },
};

static const struct import_key nmstate_option_keys[] = {
	{ "balance-slb",
	  .why_lost = "xbond has no balance-slb; without it the switch needs a link aggregation "
		      "group for the slaves",
	  .convert = import_switch, .usual = "off" },
	{ .name = NULL },
};

static const struct import_key nmstate_port_keys[] = {
	{ "name", .becomes = "[slave DEV]" },
	{ "priority", .option = OPT_PRIO },
	{ "queue-id", .option = OPT_QUEUE_ID },
	{ .name = NULL },
};

static const struct import_key nmstate_ovs_keys[] = {
	{ "mode", .becomes = "mode and xmit_hash_policy" },
	{ "port", .becomes = "[slave DEV]" },
	{ "ports", .becomes = "[slave DEV]" },
	{ "slaves", .becomes = "[slave DEV]" },
	{ "bond-updelay", .option = OPT_UPDELAY },
	{ "bond-downdelay", .option = OPT_DOWNDELAY },
	{ "ovs-db", .becomes = "(what bondctl import ovs makes of its other_config)" },
	{ .name = NULL },
};

const struct import_keys nmstate_tables[] = {
	{ "link-aggregation", nmstate_keys },
	{ "options of link-aggregation", import_bonding_keys },
	{ "options of link-aggregation, beside those", nmstate_option_keys },
	{ "ports-config of link-aggregation", nmstate_port_keys },
	{ "link-aggregation of a port of Open vSwitch", nmstate_ovs_keys },
	{ .title = NULL },
};

struct nmstate {
	struct import *import;
	const struct import_tree *tree;
	const yaml_node_t *interfaces;
	struct import_index by_name; /* their nodes */
};

static bool nmstate_is(const struct nmstate *state, const yaml_node_t *map, const char *key,
		       const char *word)
{
	return !strcmp(import_tree_value(state->tree, map, key), word);
}

/* The state makes no such interface. */
static bool nmstate_is_left(const struct nmstate *state, const yaml_node_t *interface)
{
	return nmstate_is(state, interface, "state", "absent") ||
	       nmstate_is(state, interface, "state", "ignore");
}

/* The name, or the MAC address of an interface that is known by it. */
static struct import_slave *nmstate_slave(const struct nmstate *state, struct import_bond *bond,
					  const char *name, const struct import_line *line)
{
	const yaml_node_t *interface = import_index_get(&state->by_name, NULL, name);

	if (interface && nmstate_is(state, interface, "type", "infiniband")) {
		import_refuse(state->import, bond, line,
			      "slaves must be Ethernet devices, not of type infiniband");
		return NULL;
	}
	if (interface && nmstate_is_left(state, interface))
		import_changed(state->import, bond, line,
			       "the state of %s is %s; it becomes a slave anyway", name,
			       import_tree_value(state->tree, interface, "state"));
	if (interface && nmstate_is(state, interface, "identifier", "mac-address"))
		name = import_tree_value(state->tree, interface, "mac-address");
	return import_slave(state->import, bond, name, line);
}

/* Names, or maps with a name and options of the port. */
static void nmstate_ports(const struct nmstate *state, struct import_bond *bond,
			  const struct import_node *list)
{
	struct import_node item, node;

	if (!import_tree_is_list(state->import, bond, list))
		return;
	for (size_t i = 0; import_tree_at(state->import, state->tree, list->value, i, &item); i++) {
		const char *name = import_tree_text(item.value);
		struct import_slave *slave = nmstate_slave(
			state, bond,
			name ? name : import_tree_value(state->tree, item.value, "name"),
			&item.line);

		for (size_t j = 0;
		     slave && import_tree_at(state->import, state->tree, item.value, j, &node); j++)
			import_apply_key(state->import,
					 import_find_key(nmstate_port_keys, node.key), bond, slave,
					 import_tree_list(state->import, state->tree, node.value),
					 &node.line);
	}
}

/* Numbers of the driver that nmstate has as words. */
static const char *nmstate_value(const char *text)
{
	static const char *const words[][2] = {
		{ "true", "1" },
		{ "false", "0" },
		{ "delivered", "1" },
		{ "dropped", "0" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i][0]))
			return words[i][1];
	return text;
}

static void nmstate_options(const struct nmstate *state, struct import_bond *bond,
			    const struct import_node *options)
{
	struct import_node node;

	if (!import_tree_is_map(state->import, bond, options))
		return;
	for (size_t i = 0; import_tree_at(state->import, state->tree, options->value, i, &node);
	     i++) {
		const struct import_key *key = import_find_key(import_bonding_keys, node.key);
		const char *value =
			nmstate_value(import_tree_list(state->import, state->tree, node.value));

		if (!key)
			key = import_find_key(nmstate_option_keys, node.key);
		if (!key)
			import_lost(state->import, bond, &node.line, IMPORT_NO_OPTION);
		else
			kernel_apply(state->import, key, bond, NULL, value, &node.line);
		if (!strcmp(node.key, "balance-slb") && !strcmp(value, "1"))
			import_option(state->import, bond, NULL, OPT_XMIT_HASH_POLICY,
				      "vlan+srcmac", false, &node.line);
	}
}

static void nmstate_aggregation(const struct nmstate *state, struct import_bond *bond,
				const yaml_node_t *aggregation)
{
	struct import_node node;

	for (size_t i = 0; import_tree_at(state->import, state->tree, aggregation, i, &node); i++) {
		const struct import_key *key = import_find_key(nmstate_keys, node.key);

		if (!key || !key->becomes)
			import_apply_key(state->import, key, bond, NULL,
					 import_tree_list(state->import, state->tree, node.value),
					 &node.line);
		else if (!strcmp(node.key, "options"))
			nmstate_options(state, bond, &node);
		else
			nmstate_ports(state, bond, &node);
	}
}

/* Keys that say which interface it is, or what the kernel made of it. */
static bool nmstate_is_identity(const char *key)
{
	return import_is_one_of(key, "name", "type", "state", "identifier", "profile-name",
				"link-aggregation", "controller", "mac-address",
				"permanent-mac-address", "driver", "min-mtu", "max-mtu");
}

static void nmstate_rest(const struct nmstate *state, const struct import_bond *bond,
			 const yaml_node_t *interface)
{
	struct import_node node;

	for (size_t i = 0; import_tree_at(state->import, state->tree, interface, i, &node); i++)
		if (!nmstate_is_identity(node.key))
			import_stays(state->import, bond, &node.line);
}

static void nmstate_bond(const struct nmstate *state, const struct import_node *interface)
{
	struct import *import = state->import;
	struct import_node line = *interface, aggregation, node;
	struct import_bond *bond;

	import_tree_find(import, state->tree, interface->value, "name", &line);
	if (nmstate_is_left(state, interface->value)) {
		import_lost(import, NULL, &line.line,
			    "its state is %s, so nmstate does not make this bond",
			    import_tree_value(state->tree, interface->value, "state"));
		return;
	}
	bond = import_new_bond(import, import_tree_value(state->tree, interface->value, "name"),
			       &line.line);
	if (!bond)
		return;
	if (!nmstate_is(state, interface->value, "type", "bond")) {
		import_refuse(import, bond, &line.line,
			      "it has link-aggregation, but its type is not bond; if it is a "
			      "bond, write type: bond");
		return;
	}
	if (import_tree_find(import, state->tree, interface->value, "state", &node) &&
	    nmstate_is(state, interface->value, "state", "down"))
		import_lost(import, bond, &node.line, "bondd makes the bond whenever it starts");
	if (!import_tree_find(import, state->tree, interface->value, "link-aggregation",
			      &aggregation) ||
	    !import_tree_find(import, state->tree, aggregation.value, "mode", &node))
		import_refuse(import, bond, &line.line,
			      "its link-aggregation has no mode, so the machine keeps its "
			      "own; import the output of 'nmstatectl show'");
	else
		nmstate_aggregation(state, bond, aggregation.value);
	nmstate_rest(state, bond, interface->value);
}

/* Adds what is in its other_config to the words. */
static const char *nmstate_ovs_db(const struct nmstate *state, const struct import_bond *bond,
				  const struct import_node *ovs_db, const char *words)
{
	struct import_node node, item;

	for (size_t i = 0; import_tree_at(state->import, state->tree, ovs_db->value, i, &node); i++)
		if (strcmp(node.key, "other_config") != 0)
			import_stays(state->import, bond, &node.line);
		else
			for (size_t j = 0;
			     import_tree_at(state->import, state->tree, node.value, j, &item); j++)
				words = import_text(
					state->import, "%s other_config:%s=%s", words, item.key,
					import_tree_value(state->tree, node.value, item.key));
	return words;
}

/* nmstate has LACP as one of the modes, and turns it on in balance-tcp, too. */
static void nmstate_ovs_bond(const struct nmstate *state, const struct import_node *port,
			     const struct import_node *aggregation)
{
	struct import *import = state->import;
	const char *mode = import_tree_value(state->tree, aggregation->value, "mode"), *words;
	struct import_bond *bond = import_new_bond(
		import, import_tree_value(state->tree, port->value, "name"), &port->line);
	struct import_node node;

	if (!bond)
		return;
	words = !strcmp(mode, "lacp")	       ? "lacp=active"
		: !strcmp(mode, "balance-tcp") ? "bond_mode=balance-tcp lacp=active"
		: *mode			       ? import_text(import, "bond_mode=%s", mode)
					       : "";
	for (size_t i = 0; import_tree_at(import, state->tree, aggregation->value, i, &node); i++)
		if (!strcmp(node.key, "bond-updelay") || !strcmp(node.key, "bond-downdelay"))
			words = import_text(
				import, "%s bond_%s=%s", words, node.key + 5,
				import_tree_value(state->tree, aggregation->value, node.key));
		else if (!strcmp(node.key, "port") || !strcmp(node.key, "ports") ||
			 !strcmp(node.key, "slaves"))
			nmstate_ports(state, bond, &node);
		else if (!strcmp(node.key, "ovs-db"))
			words = nmstate_ovs_db(state, bond, &node, words);
		else if (strcmp(node.key, "mode") != 0)
			import_stays(import, bond, &node.line);
	ovs_take_settings(import, bond, words, &aggregation->line);
}

/* A port of a bridge: a bond of Open vSwitch, or one that another interface is. */
static void nmstate_bridge(const struct nmstate *state, const struct import_node *interface)
{
	struct import *import = state->import;
	struct import_node bridge, ports, port, aggregation;
	const struct import_bond *bond;

	if (!import_tree_find(import, state->tree, interface->value, "bridge", &bridge) ||
	    (!import_tree_find(import, state->tree, bridge.value, "port", &ports) &&
	     !import_tree_find(import, state->tree, bridge.value, "ports", &ports)))
		return;
	for (size_t i = 0; import_tree_at(import, state->tree, ports.value, i, &port); i++) {
		if (import_tree_find(import, state->tree, port.value, "link-aggregation",
				     &aggregation))
			nmstate_ovs_bond(state, &port, &aggregation);
		else if ((bond = import_find_bond(
				  import, import_tree_value(state->tree, port.value, "name"))))
			import_stays(import, bond, &port.line);
	}
}

/* Interfaces that are no bonds: slaves, and what is above a bond. */
static void nmstate_other(const struct nmstate *state, const struct import_node *interface)
{
	struct import *import = state->import;
	const char *name = import_tree_value(state->tree, interface->value, "name");
	struct import_bond *bond = import_find_bond(
		import, import_tree_value(state->tree, interface->value, "controller"));
	struct import_node vlan;

	if (bond)
		nmstate_slave(state, bond, name, &interface->line);
	if (nmstate_is(state, interface->value, "identifier", "mac-address"))
		name = import_tree_value(state->tree, interface->value, "mac-address");
	bond = NULL;
	if (import_find_slave(import, name, &bond))
		nmstate_rest(state, bond, interface->value);
	nmstate_bridge(state, interface);
	if (import_tree_find(import, state->tree, interface->value, "vlan", &vlan))
		bond = import_find_bond(import,
					import_tree_value(state->tree, vlan.value, "base-iface"));
	if (bond && !import_find_slave(import, name, NULL))
		import_stays(import, bond, &interface->line);
}

/* Also one whose type the machine has, or is not one that nmstate knows. */
static bool nmstate_is_bond(const struct nmstate *state, const yaml_node_t *interface)
{
	struct import_node node;

	return nmstate_is(state, interface, "type", "bond") ||
	       import_tree_find(state->import, state->tree, interface, "link-aggregation", &node);
}

static void nmstate_take_interfaces(struct nmstate *state)
{
	struct import_node interface;

	for (size_t i = 0;
	     import_tree_at(state->import, state->tree, state->interfaces, i, &interface); i++)
		import_index_put(state->import, &state->by_name, NULL,
				 import_tree_value(state->tree, interface.value, "name"),
				 interface.value);
	for (size_t i = 0;
	     import_tree_at(state->import, state->tree, state->interfaces, i, &interface); i++)
		if (nmstate_is_bond(state, interface.value))
			nmstate_bond(state, &interface);
	for (size_t i = 0;
	     import_tree_at(state->import, state->tree, state->interfaces, i, &interface); i++)
		if (!nmstate_is_bond(state, interface.value))
			nmstate_other(state, &interface);
}

/* The list of a document; NULL: it has none. */
static const yaml_node_t *nmstate_interfaces(struct import *import, const struct import_tree *tree)
{
	static const char *const places[][4] = {
		{ "interfaces" },
		{ "desiredState", "interfaces" },
		{ "networkConfig", "interfaces" },
		{ "spec", "desiredState", "interfaces" },
		{ "status", "currentState", "interfaces" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct import_node node = { .value = import_tree_root(tree) };
		const char *const *key = places[i];

		while (*key && import_tree_find(import, tree, node.value, *key, &node))
			key++;
		if (!*key)
			return node.value;
	}
	return NULL;
}

static int nmstate_take_document(struct import *import, const struct import_file *file,
				 struct err *err)
{
	struct import_tree tree = { 0 };
	struct nmstate state = { .import = import, .tree = &tree };
	int r = import_tree_read(import, file, &tree, err);

	if (!r) {
		import_tree_keep_last(import, &tree);
		state.interfaces = nmstate_interfaces(import, &tree);
		if (state.interfaces)
			nmstate_take_interfaces(&state);
	}
	import_tree_done(&tree);
	return r;
}

/* Bytes up to the line that begins the next document; *lines grows by the lines in them. */
static size_t nmstate_document_size(const char *text, int *lines)
{
	const char *at = text, *end;

	while ((end = strchr(at, '\n'))) {
		at = end + 1;
		++*lines;
		if (!strncmp(at, "---", 3) && strchr(" \t\r\n", at[3]))
			return (size_t)(at - text);
	}
	return strlen(text);
}

static int nmstate_read_file(void *context, const char *path, struct err *err)
{
	struct import *import = context;
	const struct import_file *file;
	int r = import_file_read(import, path, &file, err), lines = 0;
	const char *at = r ? "" : file->text;

	while (!r && *at) {
		int before = lines;
		size_t size = nmstate_document_size(at, &lines);

		r = nmstate_take_document(import, import_file_part(import, file, at, size, before),
					  err);
		at += size;
	}
	return r;
}

int nmstate_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *const own[] = { import_path(import, "/etc/nmstate"), NULL };
	const char *const suffixes[] = { ".yml", ".yaml", ".json", NULL };

	return import_read_files(import, request, own, suffixes, nmstate_read_file, import, err);
}
