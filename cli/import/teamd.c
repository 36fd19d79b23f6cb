/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teamd.conf(5): JSON, a file for each team device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_tools.h"
#include "common/paths.h"

static const char *teamd_mode(struct import *import, const char *value)
{
	static const char *const runners[][2] = {
		{ "roundrobin", "balance-rr" },	  { "random", "balance-rr" },
		{ "broadcast", "broadcast" },	  { "activebackup", "active-backup" },
		{ "loadbalance", "balance-xor" }, { "lacp", "802.3ad" },
	};

	for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++)
		if (!strcmp(value, runners[i][0]))
			return runners[i][1];
	return NULL;
}

static const char *teamd_rate(struct import *import, const char *value)
{
	return import_switch_as(value, "fast", "slow");
}

/* Of SONiC's teamd. Without it, teamd uses no port that has no partner. */
static const char *teamd_fallback(struct import *import, const char *value)
{
	return import_switch_as(value, "one", "none");
}

static const char *teamd_hwaddr_policy(struct import *import, const char *value)
{
	static const char *const policies[][2] = {
		{ "same_all", "none" },
		{ "by_active", "active" },
		{ "only_active", "follow" },
	};

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (!strcmp(value, policies[i][0]))
			return policies[i][1];
	return NULL;
}

static const struct import_key teamd_keys[] = {
	{ "device", .becomes = "the name of the file" },
	{ "ports", .becomes = "[slave DEV]" },
	{ "runner", .becomes = "(the keys below it)" },
	{ "link_watch", .becomes = "(the keys below it)" },
	{ "link_watch_policy", .becomes = "arp_all_targets" },
	{ "hwaddr", .why_lost = "xbond's files do not set the bond's MAC address; set it where the "
				"IP addresses are set" },
	{ "notify_peers", .becomes = "num_grat_arp and peer_notif_delay" },
	{ "mcast_rejoin", .becomes = "resend_igmp" },
	{ "debug_level", .becomes = "(nothing)" },
	{ .name = NULL },
};

static const struct import_key teamd_runner_keys[] = {
	{ "name", .option = OPT_MODE, .convert = teamd_mode },
	{ "tx_hash", .becomes = "xmit_hash_policy" },
	{ "tx_balancer", .becomes = "rebalance_interval" },
	{ "active", .option = OPT_LACP_ACTIVE, .convert = import_switch },
	{ "fast_rate", .option = OPT_LACP_RATE, .convert = teamd_rate },
	{ "sys_prio", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ "min_ports", .option = OPT_MIN_LINKS },
	{ "fallback", .option = OPT_LACP_FALLBACK, .convert = teamd_fallback },
	{ "retry_count",
	  .why_lost = "the partner expires after three missing LACPDUs, as in IEEE 802.1AX",
	  .usual = "3" },
	{ "agg_select_policy", .becomes = "ad_select" },
	{ "hwaddr_policy", .option = OPT_FAIL_OVER_MAC, .convert = teamd_hwaddr_policy },
	{ .name = NULL },
};

static const struct import_key teamd_notify_keys[] = {
	{ "count", .option = OPT_NUM_GRAT_ARP },
	{ "interval", .option = OPT_PEER_NOTIF_DELAY },
	{ .name = NULL },
};

static const struct import_key teamd_rejoin_keys[] = {
	{ "count", .option = OPT_RESEND_IGMP },
	{ "interval", .why_lost = "xbond's interval is 200 ms", .usual = "200" },
	{ .name = NULL },
};

static const struct import_key teamd_port_keys[] = {
	{ "prio", .option = OPT_PRIO },
	{ "queue_id", .option = OPT_QUEUE_ID },
	{ "lacp_prio", .option = OPT_ACTOR_PORT_PRIO },
	{ "sticky", .becomes = "primary_reselect" },
	{ "link_watch", .becomes = "(the same options of the bond)" },
	{ "lacp_key",
	  .why_lost =
		  "in xbond, slaves of the same speed have the same key; see ad_user_port_key" },
	{ .name = NULL },
};

const struct import_keys teamd_tables[] = {
	{ "top", teamd_keys },
	{ "runner", teamd_runner_keys },
	{ "link_watch", teamd_watch_keys },
	{ "notify_peers", teamd_notify_keys },
	{ "mcast_rejoin", teamd_rejoin_keys },
	{ "ports.DEV", teamd_port_keys },
	{ .title = NULL },
};

static void teamd_apply(struct import *import, const struct import_tree *tree,
			const struct import_key *table, struct import_bond *bond,
			struct import_slave *slave, const struct import_node *node)
{
	import_apply_key(import, import_find_key(table, node->key), bond, slave,
			 import_tree_list(import, tree, node->value), &node->line);
}

enum teamd_layer { TEAMD_ETH = 1, TEAMD_VLAN = 2, TEAMD_IP = 4, TEAMD_PORTS = 8 };

static unsigned int teamd_layer(const char *word)
{
	static const struct {
		const char *word;
		enum teamd_layer layer;
	} layers[] = {
		{ "eth", TEAMD_ETH },	{ "vlan", TEAMD_VLAN }, { "ip", TEAMD_IP },
		{ "ipv4", TEAMD_IP },	{ "ipv6", TEAMD_IP },	{ "l3", TEAMD_IP },
		{ "tcp", TEAMD_PORTS }, { "udp", TEAMD_PORTS }, { "sctp", TEAMD_PORTS },
		{ "l4", TEAMD_PORTS },
	};

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (!strcmp(word, layers[i].word))
			return layers[i].layer;
	return 0;
}

/* teamd hashes any set of parts of a packet, xbond some usual ones. */
static void teamd_hash(struct import *import, struct import_bond *bond, const char *words,
		       const struct import_line *line)
{
	char *rest = import_text(import, "%s", words), *word;
	const char *policy = "layer2";
	unsigned int layers = 0;
	bool exact = true;

	while ((word = import_next_word(&rest, ","))) {
		exact = exact && teamd_layer(word);
		layers |= teamd_layer(word);
	}
	if (layers & TEAMD_PORTS)
		policy = "layer3+4";
	else if (layers & TEAMD_IP)
		policy = "layer2+3";
	import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, policy, false, line);
	if (!exact || (layers != TEAMD_ETH && layers != (TEAMD_ETH | TEAMD_IP) &&
		       layers != (TEAMD_IP | TEAMD_PORTS)))
		import_changed(import, bond, line, "the closest policy is %s", policy);
}

/*
 * teamd compares the priorities of systems and ports, where the lower number wins, or prio and
 * sticky of the ports. xbond's actor_port_prio prefers the higher sum.
 */
static void teamd_agg_select(struct import *import, struct import_bond *bond, const char *policy,
			     const struct import_line *line)
{
	if (!strcmp(policy, "lacp_prio") || !strcmp(policy, "lacp_prio_stable") ||
	    !strcmp(policy, "port_config"))
		import_changed(import, bond, line,
			       "xbond does not choose an aggregator by these priorities; "
			       "ad_select is stable, the default");
	else
		import_option(import, bond, NULL, OPT_AD_SELECT, policy, false, line);
}

/* Tenths of a second; another name than basic turns it off. */
static void teamd_balancer(struct import *import, const struct import_tree *tree,
			   struct import_bond *bond, const struct import_node *balancer)
{
	const char *text = import_tree_value(tree, balancer->value, "balancing_interval");
	char *end;
	long tenths = strtol(text, &end, 10);

	if (!*text || *end || tenths < 0)
		tenths = 50;
	if (!strcmp(import_tree_value(tree, balancer->value, "name"), "basic"))
		import_option(import, bond, NULL, OPT_REBALANCE_INTERVAL,
			      import_text(import, "%ld", tenths < 10 ? 1 : tenths / 10), false,
			      &balancer->line);
}

static bool teamd_is_runner(const char *runner, const char *name)
{
	return !strcmp(runner, name);
}

/* What a runner does without being told. */
static void teamd_runner_defaults(struct import *import, struct import_bond *bond,
				  const char *runner, const struct import_line *line)
{
	if (teamd_is_runner(runner, "random"))
		import_option(import, bond, NULL, OPT_PACKETS_PER_SLAVE, "0", false, line);
	if ((teamd_is_runner(runner, "roundrobin") || teamd_is_runner(runner, "random")) &&
	    !import_find_option(&bond->options, OPT_RESEND_IGMP))
		import_option(import, bond, NULL, OPT_RESEND_IGMP, "0", false, line);
	if (teamd_is_runner(runner, "loadbalance") || teamd_is_runner(runner, "lacp"))
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "layer2+3", false, line);
	if (teamd_is_runner(runner, "lacp"))
		import_option(import, bond, NULL, OPT_LACP_FALLBACK, "none", false, line);
}

static void teamd_runner(struct import *import, const struct import_tree *tree,
			 struct import_bond *bond, const struct import_node *runner)
{
	struct import_node node;
	const char *name;

	if (!import_tree_is_map(import, bond, runner))
		return;
	name = import_tree_value(tree, runner->value, "name");
	teamd_runner_defaults(import, bond, *name ? name : "roundrobin", &runner->line);
	for (size_t i = 0; import_tree_at(import, tree, runner->value, i, &node); i++)
		if (!strcmp(node.key, "tx_hash"))
			teamd_hash(import, bond, import_tree_list(import, tree, node.value),
				   &node.line);
		else if (!strcmp(node.key, "agg_select_policy"))
			teamd_agg_select(import, bond, import_tree_list(import, tree, node.value),
					 &node.line);
		else if (!strcmp(node.key, "tx_balancer"))
			teamd_balancer(import, tree, bond, &node);
		else
			teamd_apply(import, tree, teamd_runner_keys, bond, NULL, &node);
}

static void teamd_sticky(struct import *import, struct import_bond *bond,
			 const struct import_node *node)
{
	const char *text = import_tree_text(node->value);

	if (!text || !import_is_on(text) ||
	    import_find_option(&bond->options, OPT_PRIMARY_RESELECT))
		return;
	import_option(import, bond, NULL, OPT_PRIMARY_RESELECT, "failure", false, &node->line);
	import_changed(import, bond, &node->line,
		       "primary_reselect = failure applies to all slaves");
}

static void teamd_port_keys_of(struct import *import, const struct import_tree *tree,
			       struct import_bond *bond, struct import_slave *slave,
			       const yaml_node_t *keys)
{
	struct import_node node;

	for (size_t i = 0; import_tree_at(import, tree, keys, i, &node); i++)
		if (!strcmp(node.key, "sticky"))
			teamd_sticky(import, bond, &node);
		else if (!strcmp(node.key, "link_watch"))
			teamd_watch(import, tree, bond, &node, true);
		else
			teamd_apply(import, tree, teamd_port_keys, bond, slave, &node);
}

static void teamd_port(struct import *import, const struct import_tree *tree,
		       struct import_bond *bond, const struct import_node *port)
{
	struct import_slave *slave = import_slave(import, bond, port->key, &port->line);

	if (slave)
		teamd_port_keys_of(import, tree, bond, slave, port->value);
}

static void teamd_below(struct import *import, const struct import_tree *tree,
			const struct import_key *table, struct import_bond *bond,
			const struct import_node *above)
{
	struct import_node node;

	if (!import_tree_is_map(import, bond, above))
		return;
	for (size_t i = 0; import_tree_at(import, tree, above->value, i, &node); i++)
		teamd_apply(import, tree, table, bond, NULL, &node);
}

static void teamd_top(struct import *import, const struct import_tree *tree,
		      struct import_bond *bond, const struct import_node *node)
{
	struct import_node port;

	if (!strcmp(node->key, "runner"))
		teamd_runner(import, tree, bond, node);
	else if (!strcmp(node->key, "link_watch"))
		teamd_watch(import, tree, bond, node, false);
	else if (!strcmp(node->key, "notify_peers"))
		teamd_below(import, tree, teamd_notify_keys, bond, node);
	else if (!strcmp(node->key, "mcast_rejoin"))
		teamd_below(import, tree, teamd_rejoin_keys, bond, node);
	else if (!strcmp(node->key, "ports") && import_tree_is_map(import, bond, node))
		for (size_t i = 0; import_tree_at(import, tree, node->value, i, &port); i++)
			teamd_port(import, tree, bond, &port);
	else
		teamd_apply(import, tree, teamd_keys, bond, NULL, node);
}

/* A file without the key device is named after it, as for teamd@.service. */
static const char *teamd_device(struct import *import, const struct import_tree *tree,
				struct import_line *ret_line)
{
	const char *base = paths_base(tree->file->path);
	struct import_node node;

	if (import_tree_find(import, tree, import_tree_root(tree), "device", &node) &&
	    import_tree_text(node.value)) {
		*ret_line = node.line;
		return import_tree_text(node.value);
	}
	*ret_line = (struct import_line){ tree->file, 1, base };
	return import_text(import, "%.*s", (int)strcspn(base, "."), base);
}

/* In other runners than activebackup teamd announces too, if it is told to. */
static void teamd_announcements(struct import *import, struct import_bond *bond)
{
	static const enum option_id ids[] = { OPT_NUM_GRAT_ARP, OPT_RESEND_IGMP };
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct import_option *count = import_find_option(&bond->options, ids[i]);

		if (!count || !count->value.number ||
		    option_has_effect(option_at(ids[i]),
				      mode ? mode->value.number : XBOND_MODE_BALANCE_RR))
			continue;
		import_lost(import, bond, &count->line, "xbond does not announce in this mode");
		import_remove_option(&bond->options, ids[i]);
	}
}

static void teamd_take_tree(struct import *import, const struct import_tree *tree,
			    struct import_bond *bond)
{
	const yaml_node_t *root = import_tree_root(tree);
	struct import_node node;

	if (!import_tree_find(import, tree, root, "runner", &node))
		teamd_runner_defaults(import, bond, "roundrobin", &bond->line);
	for (size_t i = 0; import_tree_at(import, tree, root, i, &node); i++)
		teamd_top(import, tree, bond, &node);
	teamd_watch_policy(import, tree, bond);
	teamd_announcements(import, bond);
}

/* Reads what has to be a JSON object; of a key that comes twice the last one counts. */
static int teamd_tree(struct import *import, const struct import_file *file,
		      struct import_tree *ret_tree, struct err *err)
{
	int r = import_tree_read(import, file, ret_tree, err);
	const yaml_node_t *root = r ? NULL : import_tree_root(ret_tree);

	if (r)
		return r;
	if (!root || root->type != YAML_MAPPING_NODE)
		return err_set(err, EINVAL, "%s:1: is not a JSON object", file->path);
	import_tree_keep_last(import, ret_tree);
	return 0;
}

void teamd_take_text(struct import *import, struct import_bond *bond, struct import_slave *slave,
		     const char *json, const struct import_line *line)
{
	const struct import_file *within = import_file_part(
		import, line->file, json, strlen(json), line->number > 0 ? line->number - 1 : 0);
	struct import_tree tree = { 0 };
	struct err err;

	bond->is_not_of_driver = true;
	if (teamd_tree(import, within, &tree, &err))
		import_refuse(import, bond, line, "%s", err.text);
	else if (slave)
		teamd_port_keys_of(import, &tree, bond, slave, import_tree_root(&tree));
	else
		teamd_take_tree(import, &tree, bond);
	import_tree_done(&tree);
}

static int teamd_read_file(void *context, const char *path, struct err *err)
{
	struct import *import = context;
	const struct import_file *file;
	struct import_tree tree = { 0 };
	struct import_bond *bond = NULL;
	struct import_line line;
	int r = import_file_read(import, path, &file, err);

	if (r)
		return r;
	r = teamd_tree(import, file, &tree, err);
	if (!r)
		bond = import_new_bond(import, teamd_device(import, &tree, &line), &line);
	if (bond)
		teamd_take_tree(import, &tree, bond);
	import_tree_done(&tree);
	return r;
}

int teamd_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *const own[] = { import_path(import, "/etc/teamd"), NULL };
	const char *const suffixes[] = { ".conf", NULL };

	return import_read_files(import, request, own, suffixes, teamd_read_file, import, err);
}
