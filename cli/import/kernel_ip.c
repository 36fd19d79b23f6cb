/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of what 'ip -details -json link show' says of bonds: all that netlink has, of which some
 * options are in no file of the kernel.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cli/import/kernel_bond.h"

/* Where iproute2 has other names than the kernel's files. */
const struct import_key kernel_ip_keys[] = {
	{ .name = "peer_notify_delay", .option = OPT_PEER_NOTIF_DELAY },
	{ .name = "num_peer_notif", .option = OPT_NUM_GRAT_ARP },
	{ .name = "ad_lacp_rate", .option = OPT_LACP_RATE },
	{ .name = "ad_lacp_active", .option = OPT_LACP_ACTIVE, .convert = import_switch },
	{ .name = NULL },
};

const struct import_key kernel_ip_slave_keys[] = {
	{ .name = "prio", .option = OPT_PRIO },
	{ .name = "actor_port_prio", .option = OPT_ACTOR_PORT_PRIO },
	{ .name = "queue_id", .option = OPT_QUEUE_ID },
	{ .name = NULL },
};

struct kernel_ip {
	struct import *import;
	const struct import_file *file;
	const char *only; /* the bond; NULL: all of them */
};

/* An array becomes a list with commas; NULL: nothing that is a value. */
static const char *kernel_ip_text(struct import *import, const json_t *value)
{
	const char *text = "";
	const json_t *item;
	size_t at;

	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_integer(value))
		return import_text(import, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (json_is_boolean(value))
		return json_is_true(value) ? "1" : "0";
	if (!json_is_array(value))
		return NULL;
	json_array_foreach (value, at, item)
		text = import_text(import, "%s%s%s", text, at ? "," : "",
				   json_is_string(item) ? json_string_value(item) : "");
	return text;
}

static void kernel_ip_options(const struct kernel_ip *ip, struct import_bond *bond,
			      struct import_slave *slave, const json_t *data)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)data, name, value) {
		const char *text = kernel_ip_text(ip->import, value);
		const struct import_key *key = import_find_key(
			slave ? kernel_ip_slave_keys : kernel_ip_keys, name, strcmp);
		struct import_line line = { ip->file, 0, NULL };

		if (!key && !slave)
			key = import_find_key(import_bonding_keys, name, strcmp);
		if (!key || !text || key->option == OPT_ACTIVE_SLAVE)
			continue;
		line.what = import_text(ip->import, "%s: %s %s", slave ? slave->name : bond->name,
					name, text);
		kernel_apply(ip->import, key, bond, slave, text, &line);
	}
}

static const json_t *kernel_ip_info(const json_t *link, const char *kind, const char *data)
{
	const json_t *info = json_object_get(link, "linkinfo");
	const char *text = json_string_value(json_object_get(info, kind));

	return text && !strcmp(text, "bond") ? json_object_get(info, data) : NULL;
}

static void kernel_ip_link(const struct kernel_ip *ip, const json_t *link, bool slaves)
{
	const json_t *data = slaves ? kernel_ip_info(link, "info_slave_kind", "info_slave_data")
				    : kernel_ip_info(link, "info_kind", "info_data");
	const char *name = json_string_value(json_object_get(link, "ifname"));
	const char *of = slaves ? json_string_value(json_object_get(link, "master")) : name;
	struct import_line line = { ip->file, 0, name };
	struct import_bond *bond;

	if (!data || !name || !of || (ip->only && strcmp(ip->only, of)))
		return;
	bond = slaves ? import_find_bond(ip->import, of) : import_bond(ip->import, of, &line);
	if (!bond)
		return;
	if (slaves) {
		struct import_slave *slave = import_slave(ip->import, bond, name, &line);

		if (slave)
			kernel_ip_options(ip, bond, slave, data);
	} else {
		kernel_ip_options(ip, bond, NULL, data);
	}
}

int kernel_take_ip(struct import *import, const struct import_file *file, const char *only,
		   struct err *err)
{
	const struct kernel_ip ip = { import, file, only };
	json_error_t error;
	json_t *links = json_loads(file->text, 0, &error), *link;
	size_t at;

	if (!links)
		return err_set(err, EINVAL, "%s:%d: %s", file->path, error.line, error.text);
	json_array_foreach (links, at, link)
		kernel_ip_link(&ip, link, false);
	json_array_foreach (links, at, link)
		kernel_ip_link(&ip, link, true);
	json_decref(links);
	return 0;
}
