/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save: writes the contents of the pinned maps to CONFIG_DIR/BOND.conf (xbond.conf(5)), which bondd
 * applies when the bond does not exist. The file is written completely or stays as it was. If it is
 * a symbolic link, the link stays, and the file that it leads to is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "common/mac.h"
#include "common/managers.h"
#include "common/paths.h"
#include "network/link.h"
#include "options/config_file.h"
#include "options/values.h"

#define SAVE_MAX_LINKS 40 /* as many as the kernel follows */

static int save_check_names(const struct pins *pins, const char *name, struct err *err)
{
	int r = config_write_check_name(pins->bond->primary, err);

	if (name[0] == '.')
		return err_set(err, EINVAL,
			       "%s.conf would be a hidden file, which bondd does not read; rename "
			       "the bond",
			       name);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++)
		if (pins_is_member(pins, slot))
			r = config_write_check_name(pins->slaves[slot].name, err);
	return r;
}

/*
 * mode and hash_seed are always written, so that a bond made from the file hashes alike. State
 * never is.
 */
static bool save_is_saved(const struct pins *pins, const struct option_spec *option,
			  const struct option_value *value)
{
	if (option->id == OPT_MODE || option->id == OPT_HASH_SEED)
		return true;
	if (option->id == OPT_ACTIVE_SLAVE || option->is_alias ||
	    option_check_mode(option, pins->bond->mode, NULL))
		return false;
	return !option_is_default(option, value);
}

static void save_write_options(FILE *file, const struct pins *pins, enum option_scope scope,
			       unsigned int slot)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value value;

		if (option->scope != scope || option->home == OPTION_NOWHERE)
			continue;
		values_read(pins, option, slot, &value);
		if (save_is_saved(pins, option, &value))
			config_write_option(file, option, &value);
	}
}

/* Is the bond administratively up? -errno: that cannot be found out here. */
static int save_ask_up(const struct pins *pins, const char *name)
{
	struct link_info link;
	struct nl nl;
	int r = nl_init(&nl);

	if (r)
		return r;
	r = link_get(&nl, -1, (int)pins->bond->ifindex, &link);
	nl_done(&nl);
	if (!r && strcmp(link.name, name) != 0)
		r = -ENODEV; /* another device, in another namespace than the bond's */
	return r ? r : !!(link.flags & IFF_UP);
}

/* The default is to bring it up. What another tool does with it is not in this file. */
static void save_write_up(FILE *file, const struct pins *pins, const char *name,
			  const struct config_file *old)
{
	const char *manager = managers_are_here() ? managers_configured("", name) : NULL;
	struct option_value off = { .number = false };
	int up = manager ? -EBUSY : save_ask_up(pins, name);

	if (up < 0 && old->bond.given[OPT_UP])
		config_write_option(file, option_at(OPT_UP), &old->bond.value[OPT_UP]);
	if (up)
		return;
	config_write_option(file, option_at(OPT_UP), &off);
	cli_print(stderr, "%s is down, and stays so when it is made from this file: up = off",
		  name);
}

static bool save_is_awaited(const json_t *awaited, const struct config_slave *slave)
{
	char text[MAC_FORMAT_SIZE];
	const json_t *name;
	size_t at;

	config_slave_name(slave, text);
	json_array_foreach (awaited, at, name)
		if (!strcmp(json_string_value(name), text))
			return true;
	return !awaited && (config_slave_is_by_mac(slave) || !if_nametoindex(text));
}

/*
 * Slaves that the old file knows by their MAC address stay so: ret_by_mac has their slots. Keeps
 * slaves of the old file that are, for example, unplugged: bondd is waiting for them, and
 * shall also do so after the next boot. Without bondd, these are slaves whose device is not there.
 */
static void save_read_absent(const struct cli *cli, const struct pins *pins, const char *path,
			     const char *name, struct config_file *ret_old, uint64_t *ret_by_mac)
{
	json_t *awaited;
	size_t kept = 0;
	struct err err;

	if (config_file_read_alone(ret_old, path, &err) && !access(path, F_OK))
		cli_say("%s; slaves that only this file names are left out", err.text);
	if (!ret_old->slave_count)
		return;
	cli_name_slaves(pins, ret_old);
	awaited = client_awaited(cli->paths.run_dir, name);
	for (size_t i = 0; i < ret_old->slave_count; i++) {
		const struct config_slave *slave = &ret_old->slaves[i];
		int slot = config_slave_slot(slave, pins);

		if (slot >= 0 && config_slave_is_by_mac(slave))
			*ret_by_mac |= slots_bit((unsigned int)slot);
		if (slot < 0 && save_is_awaited(awaited, slave))
			ret_old->slaves[kept++] = *slave;
	}
	ret_old->slave_count = kept;
	json_decref(awaited);
}

static void save_write_absent(FILE *file, const struct pins *pins, const struct config_slave *slave)
{
	char text[MAC_FORMAT_SIZE];

	fprintf(file, "\n[slave %s]\n", config_slave_name(slave, text));
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (!slave->options.given[id] || option_check_mode(option, pins->bond->mode, NULL))
			continue;
		config_write_option(file, option, &slave->options.value[id]);
	}
}

static void save_write_bond(FILE *file, const struct pins *pins, const char *name,
			    const struct config_file *old, uint64_t by_mac)
{
	char text[MAC_FORMAT_SIZE];

	fprintf(file, "# Written by bondctl save %s; see xbond.conf(5).\n[bond]\n", name);
	save_write_options(file, pins, OPTION_BOND, 0);
	save_write_up(file, pins, name, old);
	pins_for_each_member (pins, slot) {
		fprintf(file, "\n[slave %s]\n",
			by_mac & slots_bit(slot) ? mac_format(pins->slaves[slot].perm_mac, text)
						 : pins->slaves[slot].name);
		save_write_options(file, pins, OPTION_SLAVE, slot);
	}
	for (size_t i = 0; i < old->slave_count; i++)
		save_write_absent(file, pins, &old->slaves[i]);
}

static void save_note_absent(const char *path, const struct config_file *old)
{
	char text[MAC_FORMAT_SIZE];

	for (size_t i = 0; i < old->slave_count; i++)
		cli_print(stderr, "%s is not a slave now, but bondd waits for it: it stays in %s",
			  config_slave_name(&old->slaves[i], text), path);
}

/* They go on to apply after the file that was written. */
static void save_note_drop_ins(const char *path)
{
	struct config_file file;

	if (config_file_read_or_err(&file, path, NULL))
		return;
	if (file.path_count > 1)
		cli_print(stderr,
			  "%s" CONFIG_DROP_INS_SUFFIX " has %u drop-ins, which still override this "
			  "file: check them",
			  path, file.path_count - 1);
	config_file_free(&file);
}

static bool save_is_of_slave(const struct pins *pins, const uint8_t *mac)
{
	pins_for_each_member (pins, slot)
		if (mac_is_same(pins->slaves[slot].before.mac, mac))
			return true;
	return mac_is_same(pins->bond->random_mac, mac);
}

/* What somebody has set, and no tool sets again after a boot. */
static void save_note_left_out(const struct pins *pins, const char *name)
{
	const struct xbond_bond *bond = pins->bond;
	char mac[MAC_FORMAT_SIZE];

	if (managers_are_here() && managers_configured("", name))
		return;
	if (bond->mtu != ETH_DATA_LEN)
		cli_print(stderr,
			  "the MTU of %s, %u, is not in the file; set it where the IP addresses "
			  "are set",
			  name, bond->mtu);
	if (!save_is_of_slave(pins, bond->mac))
		cli_print(stderr,
			  "the MAC address of %s, %s, is not in the file; set it where the IP "
			  "addresses are set",
			  name, mac_format(bond->mac, mac));
}

static int save_write_temporary(int fd, const char *replaced, const struct pins *pins,
				const char *name, const struct config_file *old, uint64_t by_mac)
{
	FILE *file = fdopen(fd, "w");

	if (!file) {
		int r = -errno;

		close(fd);
		return r;
	}
	save_write_bond(file, pins, name, old, by_mac);
	return config_write_end(file, replaced);
}

static size_t save_dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follows one link, which may lead to nothing. Returns 0 if path is no link. */
static int save_resolve_link(char path[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target));
	size_t kept = 0;

	if (length < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if (target[0] != '/')
		kept = save_dir_length(path);
	if (kept + (size_t)length >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + kept, target, (size_t)length);
	path[kept + (size_t)length] = '\0';
	return 1;
}

static int save_resolve_links(char path[PATH_MAX])
{
	int r = 1;

	for (int i = 0; i < SAVE_MAX_LINKS && r == 1; i++)
		r = save_resolve_link(path);
	return r == 1 ? -ELOOP : r;
}

static void save_sync_dir_of(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s.", (int)save_dir_length(path), path);
	config_write_sync_dir(dir);
}

static int save_write_file(const struct cli *cli, const struct pins *pins, const char *name)
{
	const char *dir = cli->paths.config_dir;
	char path[PATH_MAX], temporary[PATH_MAX];
	struct config_file old = { 0 };
	uint64_t by_mac = 0;
	int fd, r;

	r = paths_make_dir(dir, 0755);
	if (r)
		return r;
	if (snprintf(path, sizeof(path), "%s/%s" PATHS_CONFIG_SUFFIX, dir, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	r = save_resolve_links(path);
	if (r)
		return r;
	/*
	 * The temporary file is beside it, under a name that bondd does not take for the file of a
	 * bond.
	 */
	if (snprintf(temporary, sizeof(temporary), "%.*s.%s.XXXXXX", (int)save_dir_length(path),
		     path, name) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	save_read_absent(cli, pins, path, name, &old, &by_mac);
	r = save_write_temporary(fd, path, pins, name, &old, by_mac);
	if (!r && rename(temporary, path))
		r = -errno;
	if (r) {
		unlink(temporary);
	} else {
		save_sync_dir_of(path);
		save_note_absent(path, &old);
		save_note_drop_ins(path);
		save_note_left_out(pins, name);
	}
	config_file_free(&old);
	return r;
}

static enum cli_exit save_run(const struct cli *cli, const struct pins *pins, const char *name)
{
	struct err err;
	int r;

	r = save_check_names(pins, name, &err);
	if (!r) {
		r = save_write_file(cli, pins, name);
		if (r)
			err_set(&err, -r, "cannot write %s/%s.conf: %s; the file is as it was",
				cli->paths.config_dir, name, strerror(-r));
	}
	return r ? cli_refuse(&err) : CLI_DONE;
}

enum cli_exit cmd_save(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	enum cli_exit status;
	struct pins pins;

	if (cli_open(cli, argv[0], &pins))
		return CLI_REFUSED;
	status = save_run(cli, &pins, argv[0]);
	pins_close(&pins);
	return status;
}
