/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teamd's link watchers, which are xbond's delays and its ARP monitor. */
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_tools.h"
#include "options/option_set.h"

/* teamd takes a link out when more are missed than that, xbond when so many are. */
static const char *teamd_missed(struct import *import, const char *value)
{
	char *end;
	long missed = strtol(value, &end, 10);

	return *end || missed < 0 || missed > 254 ? value : import_text(import, "%ld", missed + 1);
}

const struct import_key teamd_watch_keys[] = {
	{ "name", .becomes = "(says which of the others count)" },
	{ "delay_up", .option = OPT_UPDELAY },
	{ "delay_down", .option = OPT_DOWNDELAY },
	{ "interval", .option = OPT_ARP_INTERVAL },
	{ "missed_max", .option = OPT_ARP_MISSED_MAX, .convert = teamd_missed },
	{ "target_host", .becomes = "arp_ip_target or ns_ip6_target" },
	{ "validate_active", .becomes = "arp_validate" },
	{ "validate_inactive", .becomes = "arp_validate" },
	{ "init_wait", .why_lost = "xbond starts to probe at once", .usual = "0" },
	{ "source_host", .why_lost = "routes decide the source address of probes",
	  .usual = "0.0.0.0" },
	{ "vlanid", .why_lost = "routes decide the VLAN of probes" },
	{ "send_always",
	  .why_lost = "see arp_validate for probes over slaves that are not active" },
	{ .name = NULL },
};

struct teamd_watching {
	struct import *import;
	const struct import_tree *tree;
	struct import_bond *bond;
	const yaml_node_t *watch;
	const char *name;
};

static bool teamd_is_on(const struct teamd_watching *watching, const char *key)
{
	return import_is_on(import_tree_value(watching->tree, watching->watch, key));
}

/* Without being told to validate, arp_ping takes any ARP frame; nsna_ping takes only answers. */
static void teamd_validate(const struct teamd_watching *watching, const struct import_line *line)
{
	bool active =
		teamd_is_on(watching, "validate_active") || !strcmp(watching->name, "nsna_ping");
	bool inactive = teamd_is_on(watching, "validate_inactive");
	const char *value = inactive ? "filter_backup" : "filter";

	if (active)
		value = inactive ? "all" : "filter_active";
	import_option(watching->import, watching->bond, NULL, OPT_ARP_VALIDATE, value, false, line);
}

/* What a second watcher says differently: xbond has one monitor, with several targets. */
static bool teamd_is_taken(const struct teamd_watching *watching, const struct import_key *key,
			   const char *text, const struct import_line *line)
{
	const struct import_option *known =
		key->why_lost ? NULL : import_find_option(&watching->bond->options, key->option);
	char value[OPTION_TEXT_SIZE];

	if (!known)
		return false;
	option_format(option_at(key->option), &known->value, value, sizeof(value));
	if (key->convert)
		text = key->convert(watching->import, text);
	if (strcmp(value, text))
		import_lost(watching->import, watching->bond, line,
			    "xbond has one %s for all slaves, and it is already %s",
			    option_at(key->option)->name, value);
	return true;
}

static void teamd_watch_key(const struct teamd_watching *watching, const struct import_node *node)
{
	const struct import_key *key = import_find_key(teamd_watch_keys, node->key);
	const char *text = import_tree_text(node->value);

	if (!key || !text)
		import_lost(watching->import, watching->bond, &node->line, IMPORT_NO_OPTION);
	else if (!strcmp(node->key, "target_host"))
		import_option(watching->import, watching->bond, NULL,
			      strcmp(watching->name, "nsna_ping") ? OPT_ARP_IP_TARGET
								  : OPT_NS_IP6_TARGET,
			      text, true, &node->line);
	else if (!strncmp(node->key, "validate_", 9))
		teamd_validate(watching, &node->line);
	else if (!key->becomes && !teamd_is_taken(watching, key, text, &node->line))
		import_apply_key(watching->import, key, watching->bond, NULL, text, &node->line);
}

/* What arp_ping and nsna_ping do without being told. */
static void teamd_ping_defaults(const struct teamd_watching *watching,
				const struct import_line *line)
{
	struct import_bond *bond = watching->bond;
	struct import_node node;

	if (!import_tree_find(watching->import, watching->tree, watching->watch, "interval",
			      &node) &&
	    !import_find_option(&bond->options, OPT_ARP_INTERVAL))
		import_option(watching->import, bond, NULL, OPT_ARP_INTERVAL, "1000", false, line);
	if (!import_tree_find(watching->import, watching->tree, watching->watch, "missed_max",
			      &node) &&
	    !import_find_option(&bond->options, OPT_ARP_MISSED_MAX))
		import_option(watching->import, bond, NULL, OPT_ARP_MISSED_MAX, "4", false, line);
	if (!import_find_option(&bond->options, OPT_ARP_VALIDATE))
		teamd_validate(watching, line);
}

static void teamd_watch_one(struct import *import, const struct import_tree *tree,
			    struct import_bond *bond, const struct import_node *watch)
{
	struct teamd_watching watching = { import, tree, bond, watch->value,
					   import_tree_value(tree, watch->value, "name") };
	struct import_node node;

	if (strcmp(watching.name, "ethtool") && strcmp(watching.name, "arp_ping") &&
	    strcmp(watching.name, "nsna_ping")) {
		import_lost(import, bond, &watch->line, "xbond has no such link monitor");
		return;
	}
	if (strcmp(watching.name, "ethtool"))
		teamd_ping_defaults(&watching, &watch->line);
	for (size_t i = 0; import_tree_at(import, tree, watch->value, i, &node); i++)
		teamd_watch_key(&watching, &node);
}

void teamd_watch(struct import *import, const struct import_tree *tree, struct import_bond *bond,
		 const struct import_node *node, bool of_port)
{
	struct import_node watch;

	if (of_port)
		import_changed(import, bond, &node->line,
			       "xbond's link monitors apply to all slaves");
	if (node->value->type == YAML_MAPPING_NODE)
		teamd_watch_one(import, tree, bond, node);
	else
		for (size_t i = 0; import_tree_at(import, tree, node->value, i, &watch); i++)
			teamd_watch_one(import, tree, bond, &watch);
}

/* Whether there are watchers of carrier and watchers that send probes. */
static bool teamd_is_mixed(struct import *import, const struct import_tree *tree,
			   const yaml_node_t *watchers)
{
	struct import_node watch;
	bool carrier = false, probes = false;

	for (size_t i = 0; import_tree_at(import, tree, watchers, i, &watch); i++) {
		const char *text = import_tree_value(tree, watch.value, "name");

		carrier |= !strcmp(text, "ethtool");
		probes |= *text && strcmp(text, "ethtool") != 0;
	}
	return carrier && probes;
}

static bool teamd_find_mixed(struct import *import, const struct import_tree *tree,
			     struct import_node *ret_watch)
{
	const yaml_node_t *root = import_tree_root(tree);
	struct import_node ports, port;

	if (import_tree_find(import, tree, root, "link_watch", ret_watch) &&
	    teamd_is_mixed(import, tree, ret_watch->value))
		return true;
	if (!import_tree_find(import, tree, root, "ports", &ports))
		return false;
	for (size_t i = 0; import_tree_at(import, tree, ports.value, i, &port); i++)
		if (import_tree_find(import, tree, port.value, "link_watch", ret_watch) &&
		    teamd_is_mixed(import, tree, ret_watch->value))
			return true;
	return false;
}

static void teamd_watch_all(struct import *import, struct import_bond *bond,
			    const struct import_line *line)
{
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);
	const struct import_option *ipv4 = import_find_option(&bond->options, OPT_ARP_IP_TARGET);
	const struct import_option *ipv6 = import_find_option(&bond->options, OPT_NS_IP6_TARGET);

	if ((ipv4 ? option_address_count(&ipv4->value) : 0) +
		    (ipv6 ? option_address_count(&ipv6->value) : 0) <
	    2)
		return;
	if (mode && mode->value.number == XBOND_MODE_ACTIVE_BACKUP)
		import_option(import, bond, NULL, OPT_ARP_ALL_TARGETS, "all", false, line);
	else
		import_lost(import, bond, line,
			    "in this mode xbond needs an answer from one target only");
}

void teamd_watch_policy(struct import *import, const struct import_tree *tree,
			struct import_bond *bond)
{
	struct import_node policy, watch;
	const char *text = "any";

	if (import_tree_find(import, tree, import_tree_root(tree), "link_watch_policy", &policy))
		text = import_tree_list(import, tree, policy.value);
	if (!strcmp(text, "all"))
		teamd_watch_all(import, bond, &policy.line);
	else if (strcmp(text, "any") != 0)
		import_lost(import, bond, &policy.line, "it must be any or all");
	else if (teamd_find_mixed(import, tree, &watch))
		import_changed(import, bond, &watch.line,
			       "teamd takes a link for up while one of these watchers does "
			       "(link_watch_policy any); xbond needs both carrier and answers");
}
