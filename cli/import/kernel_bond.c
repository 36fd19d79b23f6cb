/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bonds of the kernel's driver: /sys/class/net/BOND/bonding/, what only /proc has, and what only
 * netlink has.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/import/import_tools.h"
#include "common/paths.h"
#include "network/bonding.h"

/* The values in the kernel's files. */

/* Such values come with their number: "802.3ad 4", "off 0". */
static const char *kernel_word(struct import *import, const struct import_key *key,
			       const char *value)
{
	return key->convert && key->convert != import_switch ? value
							     : import_first_word(import, value);
}

void kernel_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		  struct import_slave *slave, const char *value, const struct import_line *line)
{
	const struct option_spec *option = option_at(key->option);
	struct option_value parsed = { 0 };
	const char *text = value = kernel_word(import, key, value);

	if (*value && key->convert)
		text = key->convert(import, value);
	if (text && !*text)
		return;
	if (text && !key->why_lost && !option_is_list(option) && key->option != OPT_MODE &&
	    !option_parse(option, text, &parsed, NULL) && option_is_default(option, &parsed))
		return;
	import_apply_key(import, key, bond, slave, value, line);
}

bool kernel_is_in_sysfs(enum option_id id)
{
	switch ((unsigned int)id) {
	case OPT_LACP_ACTIVE:
	case OPT_NS_IP6_TARGET:
	case OPT_COUPLED_CONTROL:
	case OPT_BROADCAST_NEIGHBOR:
	case OPT_LACP_STRICT:
	case OPT_ACTOR_PORT_PRIO:
	case OPT_PRIO: return false;
	default: return true;
	}
}

/* What the driver tells over netlink of bonds that exist, and sysfs has no file for. */

struct kernel_live {
	struct import *import;
	const struct import_file *file; /* for remarks */
	struct nl nl;
};

static void kernel_live_take(const struct kernel_live *live, struct import_bond *bond,
			     struct import_slave *slave, const struct option_set *now)
{
	const struct import_options *known = slave ? &slave->options : &bond->options;
	char text[OPTION_TEXT_SIZE];

	for (int id = 0; id < OPT_COUNT; id++) {
		struct import_line line = { live->file, 0, NULL };

		if (!now->given[id] || kernel_is_in_sysfs(id) || import_find_option(known, id))
			continue;
		option_format(option_at(id), &now->value[id], text, sizeof(text));
		line.what = import_text(live->import, "%s: %s %s", slave ? slave->name : bond->name,
					option_at(id)->name, text);
		import_option(live->import, bond, slave, id, text, false, &line);
	}
}

static void kernel_live_slaves(struct kernel_live *live, struct import_bond *bond)
{
	struct bonding_slave now;
	struct link_info link;

	for (size_t i = 0; i < bond->slave_count; i++)
		if (!link_get_by_name(&live->nl, bond->slaves[i]->name, &link) &&
		    !bonding_read_slave(&live->nl, link.ifindex, &now))
			kernel_live_take(live, bond, bond->slaves[i], &now.options);
}

/* Asks the driver for what sysfs has no file for, of the bonds that were found. */
static void kernel_ask_driver(struct import *import)
{
	struct kernel_live live = { .import = import };
	struct option_set now;
	struct link_info link;

	if (nl_init(&live.nl))
		return;
	live.file = import_file_of(import, "netlink", "", 0);
	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (link_get_by_name(&live.nl, bond->name, &link) ||
		    bonding_read(&live.nl, link.ifindex, &now, NULL))
			continue;
		kernel_live_take(&live, bond, NULL, &now);
		kernel_live_slaves(&live, bond);
	}
	nl_done(&live.nl);
}

/* /sys/class/net/BOND/bonding/. */

static const struct import_key kernel_sysfs_keys[] = {
	{ "slaves", .becomes = "[slave DEV]" },
	{ "queue_id", .becomes = "queue_id" },
	{ .name = NULL },
};

const struct import_keys kernel_tables[] = {
	{ "files of /sys/class/net/BOND/bonding", import_bonding_keys },
	{ "files of /sys/class/net/BOND/bonding, beside those", kernel_sysfs_keys },
	{ "/proc/net/bonding/BOND", kernel_proc_keys },
	{ "a slave in /proc/net/bonding/BOND", kernel_proc_slave_keys },
	{ "ip -details -json link show, beside the names of the files", kernel_ip_keys },
	{ "a slave of ip -details -json link show", kernel_ip_slave_keys },
	{ .title = NULL },
};

/* Returns false if there is no such file, or nobody may read it. */
static bool kernel_read_value(struct import *import, const char *dir, const char *name,
			      struct import_line *ret_line, const char **ret_value)
{
	const char *path = import_text(import, "%s/%s", dir, name);
	const struct import_file *file;
	char *value;

	if (import_is_dir(path) || import_file_read(import, path, &file, NULL))
		return false;
	value = import_text(import, "%.*s", (int)strcspn(file->text, "\n"), file->text);
	*ret_value = import_strip(value);
	*ret_line = (struct import_line){
		file, 1, import_text(import, "%s%s%s", name, **ret_value ? " " : "", *ret_value)
	};
	return true;
}

/* Only root reads these; others find the files empty. */
static bool kernel_is_secret(enum option_id id)
{
	return id == OPT_AD_ACTOR_SYS_PRIO || id == OPT_AD_ACTOR_SYSTEM ||
	       id == OPT_AD_USER_PORT_KEY;
}

static void kernel_take_file(struct import *import, struct import_bond *bond, const char *dir,
			     const struct import_key *key)
{
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);
	struct import_line line;
	const char *value;

	if (!kernel_read_value(import, dir, key->name, &line, &value))
		return;
	if (!*value && kernel_is_secret(key->option) && mode &&
	    mode->value.number == XBOND_MODE_8023AD)
		import_lost(import, bond, &line, "the kernel shows it to root only");
	else
		kernel_apply(import, key, bond, NULL, value, &line);
}

static void kernel_take_slaves(struct import *import, struct import_bond *bond, const char *dir)
{
	struct import_line line;
	const char *value;
	char *rest, *word;

	if (kernel_read_value(import, dir, "slaves", &line, &value))
		for (rest = import_text(import, "%s", value);
		     (word = import_next_word(&rest, " "));)
			import_slave(import, bond, word, &line);
	if (!kernel_read_value(import, dir, "queue_id", &line, &value))
		return;
	for (rest = import_text(import, "%s", value); (word = import_next_word(&rest, " "));) {
		char *colon = strrchr(word, ':');
		struct import_slave *slave;

		if (!colon || !strcmp(colon, ":0"))
			continue;
		*colon = '\0';
		slave = import_find_slave(import, word, NULL);
		if (slave)
			import_option(import, bond, slave, OPT_QUEUE_ID, colon + 1, false, &line);
	}
}

/* dir is BOND's directory bonding. */
static int kernel_take_dir(struct import *import, const char *dir, const char *name,
			   struct err *err)
{
	const char *proc_path = import_text(import, "%s/proc/net/bonding/%s", import->root, name);
	const char *sys = import_path(import, "/sys/");
	struct import_line line;
	struct import_bond *bond;
	const struct import_file *file;
	const char *mode;

	if (!kernel_read_value(import, dir, "mode", &line, &mode))
		return err_set(err, EINVAL, "%s: its file 'mode' cannot be read", dir);
	bond = import_bond(import, name, &line);
	if (!bond)
		return 0;
	for (const struct import_key *key = import_bonding_keys; key->name; key++)
		if (key->option != OPT_ACTIVE_SLAVE && strcmp(key->name, "num_unsol_na"))
			kernel_take_file(import, bond, dir, key);
	kernel_take_slaves(import, bond, dir);
	/* A copy of these files says nothing about this machine. */
	if (strncmp(dir, sys, strlen(sys)) || access(proc_path, R_OK) ||
	    import_file_read(import, proc_path, &file, NULL))
		return 0;
	return kernel_take_proc(import, file, name, true, err);
}

/* All devices below that are bonds; what is no bond is passed over. */
static int kernel_take_class(struct import *import, const char *dir, const char *only,
			     struct err *err)
{
	size_t count;
	char **names;
	int r = import_list_dir(import, dir, "", &names, &count, err);

	for (size_t i = 0; i < count && !r; i++) {
		const char *bonding = import_text(import, "%s/%s/bonding", dir, names[i]);

		if ((!only || !strcmp(only, names[i])) && import_is_dir(bonding))
			r = kernel_take_dir(import, bonding, names[i], err);
	}
	return r;
}

static int kernel_take_given_dir(struct import *import, char *dir, const char *only,
				 struct err *err)
{
	const char *bonding = import_text(import, "%s/bonding", dir);
	const char *class_dir = import_text(import, "%s/class/net", dir);

	if (import_is_dir(bonding))
		return kernel_take_dir(import, bonding, paths_base(dir), err);
	if (import_is_dir(class_dir))
		return kernel_take_class(import, class_dir, only, err);
	if (!strcmp(paths_base(dir), "bonding") &&
	    !access(import_text(import, "%s/mode", dir), F_OK)) {
		const char *parent =
			import_text(import, "%.*s", (int)(paths_base(dir) - dir - 1), dir);

		return kernel_take_dir(import, dir, paths_base(parent), err);
	}
	return kernel_take_class(import, dir, only, err);
}

static int kernel_take_given(struct import *import, const char *path, const char *only,
			     struct err *err)
{
	char *dir = import_text(import, "%s", path);
	const struct import_file *file;
	int r;

	for (size_t length = strlen(dir); length > 1 && dir[length - 1] == '/';)
		dir[--length] = '\0';
	if (import_is_dir(dir))
		return kernel_take_given_dir(import, dir, only, err);
	r = import_file_read(import, path, &file, err);
	if (r)
		return r;
	return file->text[strspn(file->text, " \t\r\n")] == '['
		       ? kernel_take_ip(import, file, only, err)
		       : kernel_take_proc(import, file, paths_base(path), false, err);
}

int kernel_read(struct import *import, const struct import_request *request, struct err *err)
{
	int r = 0;

	if (!request->file_count) {
		r = kernel_take_class(import, import_path(import, "/sys/class/net"), request->bond,
				      err);
		if (!r && import->bond_count && !*import->root)
			kernel_ask_driver(import);
		return r;
	}
	for (size_t i = 0; i < request->file_count && !r; i++)
		r = kernel_take_given(import, request->files[i], request->bond, err);
	return r;
}
