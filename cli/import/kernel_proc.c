/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel or ip(8) has written about bonds, as files that the user has kept. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cli/import/import_tools.h"
#include "common/mode.h"

/*
 * A copy of what 'ip -details -json link show' says of bonds: all that netlink has, of which some
 * options are in no file of the kernel.
 */

/* Where iproute2 has other names than the kernel's files. */
const struct import_key kernel_ip_keys[] = {
	{ "peer_notify_delay", .option = OPT_PEER_NOTIF_DELAY },
	{ "num_peer_notif", .option = OPT_NUM_GRAT_ARP },
	{ "ad_lacp_rate", .option = OPT_LACP_RATE },
	{ "ad_lacp_active", .option = OPT_LACP_ACTIVE, .convert = import_switch },
	{ .name = NULL },
};

const struct import_key kernel_ip_slave_keys[] = {
	{ "prio", .option = OPT_PRIO },
	{ "actor_port_prio", .option = OPT_ACTOR_PORT_PRIO },
	{ "queue_id", .option = OPT_QUEUE_ID },
	{ .name = NULL },
};

struct kernel_ip {
	struct import *import;
	const struct import_file *file;
	const char *only; /* the bond; NULL: all of them */
};

/* An array becomes a list with commas; NULL: nothing that is a value. It outlives the JSON. */
static const char *kernel_ip_text(struct import *import, const json_t *value)
{
	const char *text = "";
	const json_t *item;
	size_t at;

	if (json_is_string(value))
		return import_text(import, "%s", json_string_value(value));
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
		const struct import_key *key =
			import_find_key(slave ? kernel_ip_slave_keys : kernel_ip_keys, name);
		struct import_line line = { ip->file, 0, NULL };

		if (!key && !slave)
			key = import_find_key(import_bonding_keys, name);
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
	const char *name = kernel_ip_text(ip->import, json_object_get(link, "ifname"));
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

/* /proc/net/bonding/BOND of Linux 4.9 to 6.12: lines "LABEL: VALUE", for the bond, then each slave.
 */

/* The mode in words, and behind it maybe "(fail_over_mac active)". */
static const char *kernel_proc_mode(struct import *import, const char *value)
{
	return mode_name_of_words(value);
}

/* "eth0 (primary_reselect always)", or "None" */
static const char *kernel_proc_primary(struct import *import, const char *value)
{
	const char *name = import_first_word(import, value);

	return strcmp(name, "None") ? name : "none";
}

const struct import_key kernel_proc_keys[] = {
	{ "Bonding Mode", .option = OPT_MODE, .convert = kernel_proc_mode },
	{ "Transmit Hash Policy", .option = OPT_XMIT_HASH_POLICY, .convert = import_first_word },
	{ "Primary Slave", .option = OPT_PRIMARY, .convert = kernel_proc_primary },
	{ "MII Polling Interval (ms)", .option = OPT_MIIMON },
	{ "Up Delay (ms)", .option = OPT_UPDELAY },
	{ "Down Delay (ms)", .option = OPT_DOWNDELAY },
	{ "Peer Notification Delay (ms)", .option = OPT_PEER_NOTIF_DELAY },
	{ "ARP Polling Interval (ms)", .option = OPT_ARP_INTERVAL },
	{ "ARP Missed Max", .option = OPT_ARP_MISSED_MAX },
	{ "ARP IP target/s (n.n.n.n form)", .option = OPT_ARP_IP_TARGET, .convert = import_list },
	{ "NS IPv6 target/s (XX::XX form)", .option = OPT_NS_IP6_TARGET, .convert = import_list },
	{ "LACP active", .option = OPT_LACP_ACTIVE, .convert = import_switch },
	{ "LACP rate", .option = OPT_LACP_RATE },
	{ "Min links", .option = OPT_MIN_LINKS },
	{ "Aggregator selection policy (ad_select)", .option = OPT_AD_SELECT },
	{ "System priority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ .name = NULL },
};

const struct import_key kernel_proc_slave_keys[] = {
	{ "Slave Interface", .becomes = "[slave DEV]" },
	{ "Slave queue ID", .option = OPT_QUEUE_ID },
	{ "port priority", .becomes = "actor_port_prio" },
	{ .name = NULL },
};

struct kernel_proc {
	struct import *import;
	struct import_bond *bond;
	struct import_slave *slave; /* NULL: the lines are of the bond */
	bool beside_sysfs;
	bool of_actor; /* below "details actor lacp pdu:" */
};

static void kernel_proc_fail_over_mac(const struct kernel_proc *proc, const char *value,
				      const struct import_line *line)
{
	static const char mark[] = "(fail_over_mac ";
	const char *at = strstr(value, mark);

	if (at)
		import_option(proc->import, proc->bond, NULL, OPT_FAIL_OVER_MAC,
			      import_text(proc->import, "%.*s",
					  (int)strcspn(at + strlen(mark), ")"), at + strlen(mark)),
			      false, line);
	at = strstr(value, "(primary_reselect ");
	if (at)
		import_option(
			proc->import, proc->bond, NULL, OPT_PRIMARY_RESELECT,
			import_text(proc->import, "%.*s", (int)strcspn(at + 18, ")"), at + 18),
			false, line);
}

static void kernel_proc_bond_line(const struct kernel_proc *proc, const char *label,
				  const char *value, const struct import_line *line)
{
	const struct import_key *key = import_find_key(kernel_proc_keys, label);

	/* Linux 5.19 to 6.0 wrote "xx::XX" */
	if (!key && !strncmp(label, "NS IPv6 target/s", 16))
		key = import_find_key(kernel_proc_keys, "NS IPv6 target/s (XX::XX form)");
	if (!key || (proc->beside_sysfs && kernel_is_in_sysfs(key->option)))
		return;
	kernel_apply(proc->import, key, proc->bond, NULL, value, line);
	if (!proc->beside_sysfs)
		kernel_proc_fail_over_mac(proc, value, line);
}

static void kernel_proc_slave_line(struct kernel_proc *proc, const char *label, const char *value,
				   const struct import_line *line)
{
	const struct import_key *queue = import_find_key(kernel_proc_slave_keys, "Slave queue ID");

	if (!strcmp(label, "details actor lacp pdu"))
		proc->of_actor = true;
	else if (!strcmp(label, "details partner lacp pdu"))
		proc->of_actor = false;
	else if (!strcmp(label, queue->name) && !proc->beside_sysfs)
		kernel_apply(proc->import, queue, proc->bond, proc->slave, value, line);
	else if (!strcmp(label, "port priority") && proc->of_actor && strcmp(value, "255"))
		import_option(proc->import, proc->bond, proc->slave, OPT_ACTOR_PORT_PRIO, value,
			      false, line);
}

/* A label may contain colons: "ARP IP target/s (n.n.n.n form)", "XX::XX form". */
static char *kernel_cut_label(char *text)
{
	char *colon = strstr(text, ": ");
	size_t length = strlen(text);

	if (colon) {
		*colon = '\0';
		return import_strip(colon + 2);
	}
	if (!length || text[length - 1] != ':')
		return NULL;
	text[length - 1] = '\0';
	return text + length - 1;
}

static void kernel_proc_line(struct kernel_proc *proc, char *text, struct import_line *line)
{
	char *value;

	line->what = import_text(proc->import, "%s", text);
	value = kernel_cut_label(text);
	if (!value)
		return;
	if (!strcmp(text, "Slave Interface")) {
		proc->slave = import_slave(proc->import, proc->bond, value, line);
		proc->of_actor = false;
	} else if (proc->slave) {
		kernel_proc_slave_line(proc, text, value, line);
	} else {
		kernel_proc_bond_line(proc, text, value, line);
	}
}

int kernel_take_proc(struct import *import, const struct import_file *file, const char *name,
		     bool beside_sysfs, struct err *err)
{
	struct import_line line = { file, 1, name }, whole = { file, 0, name };
	struct import_lines lines = { .rest = file->text };
	struct kernel_proc proc = { .import = import, .beside_sysfs = beside_sysfs };
	bool is_new;
	char *text;

	if (!strstr(file->text, "Bonding Mode: "))
		return err_set(err, EINVAL, "%s: is not a file of /proc/net/bonding", file->path);
	is_new = !import_find_bond(import, name);
	proc.bond = import_bond(import, name, &line);
	if (proc.bond && is_new)
		import_lost(import, proc.bond, &whole,
			    "this file lacks options, such as arp_validate and "
			    "num_grat_arp; /sys/class/net/%s/bonding has all",
			    name);
	while (proc.bond && (text = import_next_line(import, &lines))) {
		line.number = lines.number;
		kernel_proc_line(&proc, import_strip(text), &line);
	}
	return 0;
}
