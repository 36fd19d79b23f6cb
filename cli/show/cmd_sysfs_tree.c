/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysfs-tree: all bonds as files, as the kernel's bonding driver has them below /sys, for programs
 * that read those. The tree is built beside DIR, in a directory that only this user may write. A
 * rename exchanges the two, and then the old one is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/print.h"
#include "cli/show/show.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"

#define TREE_MARK ".bondctl-sysfs-tree"
#define TREE_OPEN_DIRS 16
#define TREE_TRIES 100

static int tree_write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	size_t length = strlen(text);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != (ssize_t)length || fchmod(fd, 0644))
		r = errno ? -errno : -EIO;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

/* Returns a descriptor. The directory may be there: two bonds may tell of one device. */
static int tree_make_dir(int dir, const char *name)
{
	int fd;

	if (mkdirat(dir, name, 0755) && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fchmod(fd, 0755);
	return fd;
}

static int tree_link(int dir, const char *prefix, const char *name, const char *target)
{
	char link[64], to[64];

	snprintf(link, sizeof(link), "%s%s", prefix, name);
	snprintf(to, sizeof(to), "../%s", target);
	return symlinkat(to, dir, link) && errno != EEXIST ? -errno : 0;
}

static int tree_write_slave_files(int device, const json_t *bond, const json_t *slave)
{
	char value[SYSFS_VALUE_SIZE];
	int dir = tree_make_dir(device, "bonding_slave"), r = 0;
	const char *name;

	if (dir < 0)
		return dir;
	for (unsigned int i = 0; !r && (name = sysfs_slave_value(bond, slave, i, value)); i++)
		r = tree_write_file(dir, name, value);
	close(dir);
	return r;
}

static int tree_write_device_files(int device, const json_t *bond, const json_t *slave)
{
	char value[SYSFS_VALUE_SIZE];
	const char *name;
	int r = 0;

	for (unsigned int i = 0; !r && (name = sysfs_device_value(bond, slave, i, value)); i++)
		r = tree_write_file(device, name, value);
	return r;
}

static int tree_write_slave(int net, int master, const json_t *bond, const json_t *slave)
{
	const char *name = field_text(slave, "name"), *master_name = field_text(bond, "name");
	int device = tree_make_dir(net, name), r;

	if (device < 0)
		return device;
	r = tree_write_slave_files(device, bond, slave);
	if (!r)
		r = tree_write_device_files(device, bond, slave);
	if (!r)
		r = tree_link(device, "upper_", master_name, master_name);
	if (!r)
		r = tree_link(device, "", "master", master_name);
	if (!r)
		r = tree_link(master, "lower_", name, name);
	close(device);
	return r;
}

static int tree_write_bond_files(int master, const json_t *bond)
{
	char value[SYSFS_VALUE_SIZE];
	int dir = tree_make_dir(master, "bonding"), r = 0;
	const char *name;

	if (dir < 0)
		return dir;
	for (unsigned int i = 0; !r && (name = sysfs_bond_value(bond, i, value)); i++)
		r = tree_write_file(dir, name, value);
	close(dir);
	return r;
}

static int tree_write_bond(int net, const json_t *bond)
{
	int master = tree_make_dir(net, field_text(bond, "name")), r;
	const json_t *slave;
	size_t at;

	if (master < 0)
		return master;
	r = tree_write_bond_files(master, bond);
	if (!r)
		r = tree_write_device_files(master, bond, NULL);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		if (!r)
			r = tree_write_slave(net, master, bond, slave);
	close(master);
	return r;
}

static int tree_write_masters(int net, const json_t *bonds)
{
	size_t size = (json_array_size(bonds) + 1) * 64, used = 0, at;
	char *text = memory_need(calloc(1, size));
	const json_t *bond;
	int r;

	json_array_foreach (bonds, at, bond)
		used += (size_t)snprintf(text + used, size - used, "%s%s", at ? " " : "",
					 field_text(bond, "name"));
	if (used)
		snprintf(text + used, size - used, "\n");
	r = tree_write_file(net, "bonding_masters", text);
	free(text);
	return r;
}

static int tree_write_net(int class, const json_t *bonds)
{
	int net = tree_make_dir(class, "net"), r;
	const json_t *bond;
	size_t at;

	if (net < 0)
		return net;
	r = tree_write_masters(net, bonds);
	json_array_foreach (bonds, at, bond)
		if (!r)
			r = tree_write_bond(net, bond);
	close(net);
	return r;
}

static int tree_write(int dir, const json_t *bonds)
{
	int class, r = tree_write_file(dir, TREE_MARK, "");

	if (r)
		return r;
	class = tree_make_dir(dir, "class");
	if (class < 0)
		return class;
	r = tree_write_net(class, bonds);
	close(class);
	return r ? r : fchmod(dir, 0755) ? -errno : 0;
}

static int tree_remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
	return remove(path);
}

static void tree_remove(const char *path)
{
	nftw(path, tree_remove_one, TREE_OPEN_DIRS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool tree_is_empty(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	const struct dirent *entry;
	int others = 0;

	while (dir && (entry = readdir(dir)))
		others += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return dir && !others;
}

/* Another call may have put its tree there, and be removing the one that was looked at. */
static bool tree_is_current(int fd, const char *dir)
{
	struct stat was, is;

	return !fstat(fd, &was) && !lstat(dir, &is) && was.st_dev == is.st_dev &&
	       was.st_ino == is.st_ino;
}

static int tree_look_at_old(const char *dir, bool *ret_is_there, struct err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;
	int r = 0;

	*ret_is_there = fd >= 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, errno, "%s is not a directory that can be replaced: %s", dir,
			       strerror(errno));
	if (fstat(fd, &stat) || stat.st_uid != geteuid())
		r = err_set(err, EPERM, "%s belongs to another user; give another directory", dir);
	else if (faccessat(fd, TREE_MARK, F_OK, AT_SYMLINK_NOFOLLOW) && !tree_is_empty(fd))
		r = err_set(err, EEXIST,
			    "%s is not empty and was not made by sysfs-tree; give another "
			    "directory",
			    dir);
	if (r && !tree_is_current(fd, dir))
		r = -EAGAIN;
	close(fd);
	return r;
}

/* Returns whether there is one already. */
static int tree_check_old(const char *dir, bool *ret_is_there, struct err *err)
{
	int r = -EAGAIN;

	for (int try = 0; try < TREE_TRIES && r == -EAGAIN; try++)
		r = tree_look_at_old(dir, ret_is_there, err);
	return r;
}

/*
 * Puts the new tree in the place of the old one, if there is one, which then has the new one's
 * name. Another call may put its tree there meanwhile.
 */
static int tree_put(const char *made, const char *dir, bool *ret_is_there, struct err *err)
{
	for (int try = 0; try < TREE_TRIES; try++) {
		int r = tree_check_old(dir, ret_is_there, err);

		if (r)
			return r;
		if (!paths_rename(made, dir, *ret_is_there))
			return 0;
		if (errno != (*ret_is_there ? ENOENT : EEXIST))
			break;
	}
	if (errno == EBUSY || errno == EXDEV)
		return err_set(err, errno,
			       "%s cannot be replaced, since it is a mount point or '.'; give "
			       "a directory below it",
			       dir);
	return err_set(err, errno, "cannot replace %s: %s", dir, strerror(errno));
}

static int tree_build(const char *path, const char *dir, const json_t *bonds, bool *ret_is_there,
		      struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : tree_write(fd, bonds);

	if (fd >= 0)
		close(fd);
	if (r)
		return err_set(err, -r, "cannot write below %s: %s", path, strerror(-r));
	return tree_put(path, dir, ret_is_there, err);
}

/* Without slashes at its end, which would make other names of the same directory. */
static int tree_trim(const char *dir, char ret_dir[PATH_MAX - 16], struct err *err)
{
	size_t length = strlen(dir);

	while (length > 1 && dir[length - 1] == '/')
		length--;
	if (!length || length >= PATH_MAX - 16)
		return err_set(err, ENAMETOOLONG, "the name of the directory is too long");
	snprintf(ret_dir, PATH_MAX - 16, "%.*s", (int)length, dir);
	return 0;
}

/* Removes what was at dir, unless it has changed since it was checked. Then it goes back. */
static int tree_remove_old(const char *path, const char *dir, struct err *err)
{
	struct err why;
	bool is_there;
	int r = 0;

	if (tree_check_old(path, &is_there, &why)) {
		if (paths_rename(path, dir, true))
			return err_set(err, EEXIST, "%s has changed meanwhile; it is now %s", dir,
				       path);
		r = err_set(err, EAGAIN, "%s has changed meanwhile; try again", dir);
	}
	tree_remove(path);
	return r;
}

/*
 * bonds: an array of objects of view_bond(). The tree appears at dir completely: one rename puts it
 * there, in the place of an earlier one. A dir that is not empty and was not made by this function
 * is refused with -EEXIST.
 */
static int sysfs_tree_write(const char *dir, const json_t *bonds, struct err *err)
{
	char trimmed[PATH_MAX - 16], path[PATH_MAX];
	bool is_there;
	int r = tree_trim(dir, trimmed, err);

	if (!r)
		r = tree_check_old(trimmed, &is_there, err);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s.XXXXXX", trimmed);
	if (!mkdtemp(path))
		return err_set(err, errno, "cannot make a directory beside %s: %s", trimmed,
			       strerror(errno));
	r = tree_build(path, trimmed, bonds, &is_there, err);
	if (r)
		tree_remove(path);
	return r || !is_there ? r : tree_remove_old(path, trimmed, err);
}

/* A bond that cannot be read causes a warning and is left out. */
static enum cli_exit sysfs_tree_collect(const struct cli *cli, char **names, json_t *ret_bonds)
{
	enum cli_exit status = CLI_DONE;
	struct seen seen;
	struct err err;
	int r;

	for (char **name = names; *name; name++) {
		r = see_bond(cli, &sight_known, *name, &seen, &err);
		if (!r && seen.is_down) /* to the kernel, such a device has no carrier */
			json_object_set_new(seen.view, "carrier", json_false());
		if (!r)
			json_array_append_new(ret_bonds, seen.view);
		else if (r != -ENOENT)
			status = cli_refuse(&err);
	}
	return status;
}

enum cli_exit cmd_sysfs_tree(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	enum cli_exit status;
	json_t *bonds;
	struct err err;
	char **names;

	if (cli->json)
		return cli_usage(verb, "it prints no JSON");
	if (see_names(cli, &names, &err))
		return cli_refuse(&err);
	bonds = json_array();
	status = sysfs_tree_collect(cli, names, bonds);
	memory_free_texts(names);
	if (sysfs_tree_write(argv[0], bonds, &err))
		status = cli_refuse(&err);
	json_decref(bonds);
	return status;
}
