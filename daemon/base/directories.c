/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/directories.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pins.h"
#include "network/link.h"
#include "options/names.h"

/* Directories and their locks. */

#define BPFFS "/sys/fs/bpf"

static int directories_make_dir(const char *path, mode_t mode, struct err *err)
{
	int r = paths_make_dir(path, mode);

	return r ? err_set(err, -r, "cannot make %s: %s", path, strerror(-r)) : 0;
}

/* `ip netns exec` and the unit have mounts of their own. Pins made there would end with them. */
static bool directories_has_own_mounts(void)
{
	struct stat ours, theirs;

	return !stat("/proc/self/ns/mnt", &ours) && !stat("/proc/1/ns/mnt", &theirs) &&
	       ours.st_ino != theirs.st_ino;
}

static int directories_mount_bpffs(const char *bpf_dir, struct err *err)
{
	bool below = !strncmp(bpf_dir, BPFFS, strlen(BPFFS));

	if (!below || pins_on_bpffs(BPFFS))
		return 0;
	if (directories_has_own_mounts() && !pins_on_bpffs("/proc/1/root" BPFFS))
		return err_set(err, EINVAL,
			       "there is no BPF file system at " BPFFS ", and in this mount "
			       "namespace nobody else would see one; do 'mount -t bpf bpf " BPFFS
			       "' outside of it");
	if (directories_has_own_mounts())
		return err_set(err, EINVAL,
			       "there is no BPF file system at " BPFFS
			       " in this mount namespace; enter the network namespace by 'nsenter "
			       "--net=/run/netns/NAME bondd', not by 'ip netns exec'");
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0700") < 0)
		return err_set(err, errno,
			       "cannot mount the BPF file system (%m); do 'mount -t bpf bpf " BPFFS
			       "'");
	return 0;
}

/* The descriptor stays open, because it is the lock. */
static int directories_lock(int fd, const char *path, struct err *err)
{
	if (fd < 0)
		return err_set(err, errno, "cannot open %s: %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return err_set(err, EBUSY,
			       "another bondd uses %s; stop it, or give other directories", path);
	}
	return fd;
}

static int directories_run_lock = -1;

static int directories_lock_run_dir(const char *run_dir, struct err *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" PATHS_LOCK_NAME, run_dir);
	fd = directories_lock(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), path, err);
	if (fd < 0)
		return fd;
	if (directories_run_lock >= 0)
		close(directories_run_lock);
	directories_run_lock = fd;
	return 0;
}

int directories_keep_run_dir(const char *run_dir, struct err *err)
{
	struct stat ours, there;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/" PATHS_LOCK_NAME, run_dir);
	if (!stat(path, &there) && !fstat(directories_run_lock, &ours) &&
	    there.st_ino == ours.st_ino && there.st_dev == ours.st_dev)
		return 0;
	r = directories_make_dir(run_dir, 0755, err);
	return r ? r : directories_lock_run_dir(run_dir, err);
}

/* bondctl locks the directories of bonds; this lock is on the directory above them. */
static int directories_lock_bpf_dir(const char *bpf_dir, struct err *err)
{
	static int locked = -1;
	int fd = directories_lock(open(bpf_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), bpf_dir, err);

	if (fd < 0)
		return fd;
	if (locked >= 0)
		close(locked);
	locked = fd;
	return 0;
}

static int directories_open_bpf_dir(const char *bpf_dir, struct err *err)
{
	int r = directories_mount_bpffs(bpf_dir, err);

	if (!r)
		r = directories_make_dir(bpf_dir, 0700, err);
	if (!r && !pins_on_bpffs(bpf_dir))
		r = err_set(err, EINVAL,
			    "%s is not on a BPF file system; give a --bpf-dir below " BPFFS,
			    bpf_dir);
	return r ? r : directories_lock_bpf_dir(bpf_dir, err);
}

int directories_open(const struct paths *paths, struct err *err)
{
	int r;

	if (geteuid() != 0)
		return err_set(
			err, EPERM,
			"bondd needs root: it changes network devices and loads BPF programs");
	r = directories_make_dir(paths->run_dir, 0755, err);
	if (!r)
		r = directories_lock_run_dir(paths->run_dir, err);
	return r ? r : directories_open_bpf_dir(paths->bpf_dir, err);
}

int directories_reopen(const struct paths *paths, struct err *err)
{
	if (!access(paths->bpf_dir, F_OK) && pins_on_bpffs(paths->bpf_dir))
		return 0;
	/* Directories below a mount point without a mount would be useless. */
	if (!pins_on_bpffs(paths->bpf_dir) && strncmp(paths->bpf_dir, BPFFS, strlen(BPFFS)))
		return err_set(err, ENOENT, "there is no BPF file system");
	return directories_open_bpf_dir(paths->bpf_dir, err);
}

/* Files in RUN_DIR. */

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_SIZE 64

/*
 * "" where the kernel has none. It is read once, because a record without it would count for none.
 */
static int run_file_boot_id(const char **ret_text)
{
	static char text[BOOT_ID_SIZE];
	FILE *file = *text ? NULL : fopen(BOOT_ID, "re");
	bool is_read;

	*ret_text = text;
	if (!file)
		return *text || errno == ENOENT ? 0 : -errno;
	is_read = fgets(text, sizeof(text), file);
	fclose(file);
	text[is_read ? strcspn(text, "\n") : 0] = '\0';
	return is_read ? 0 : -EIO;
}

static int run_file_path(char ret_path[PATH_MAX], const struct paths *paths, const char *name,
			 const char *more)
{
	int length = snprintf(ret_path, PATH_MAX, "%s/%s%s", paths->run_dir, name, more);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int run_file_put(const char *path, const json_t *json)
{
	FILE *file = fopen(path, "we");
	int r = 0;

	if (!file)
		return -errno;
	if (json_dumpf(json, file, JSON_INDENT(1)) || fflush(file) || ferror(file) ||
	    fsync(fileno(file)))
		r = errno ? -errno : -EIO;
	if (fclose(file) && !r)
		r = -errno;
	return r;
}

static int run_file_replace(const struct paths *paths, const char *name, const json_t *json)
{
	char path[PATH_MAX], unfinished[PATH_MAX];
	int r = run_file_path(path, paths, name, "");

	if (!r)
		r = run_file_path(unfinished, paths, name, ".new");
	if (r)
		return r;
	r = run_file_put(unfinished, json);
	if (!r && rename(unfinished, path))
		r = -errno;
	if (r)
		unlink(unfinished);
	return r;
}

int run_file_write(const struct paths *paths, const char *name, json_t *json)
{
	const char *boot_id;
	int r = run_file_boot_id(&boot_id);

	json_object_set_new(json, "boot_id", json_string(boot_id));
	json_object_set_new(json, "netns_cookie", json_integer((json_int_t)link_netns_cookie()));
	if (!r)
		r = run_file_replace(paths, name, json);
	json_decref(json);
	return r;
}

/* A pipe would keep bondd waiting. */
static json_t *run_file_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	json_t *json = NULL;
	struct stat about;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_uid == geteuid())
		json = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	return json;
}

json_t *run_file_read(const struct paths *paths, const char *name, bool *ret_is_of_this_boot)
{
	const char *theirs, *ours;
	char path[PATH_MAX];
	json_t *json;

	*ret_is_of_this_boot = false;
	if (run_file_path(path, paths, name, "") || run_file_boot_id(&ours))
		return NULL;
	json = run_file_load(path);
	theirs = json_string_value(json_object_get(json, "boot_id"));
	*ret_is_of_this_boot = theirs && !strcmp(theirs, ours) &&
			       !link_is_elsewhere((uint64_t)json_integer_value(
				       json_object_get(json, "netns_cookie")));
	return json;
}

void run_file_remove(const struct paths *paths, const char *name)
{
	char path[PATH_MAX];

	if (!run_file_path(path, paths, name, ""))
		unlink(path);
}

int run_file_visit(const struct paths *paths, const char *folder, const char *suffix,
		   run_file_visitor visit, void *arg)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count = run_file_path(path, paths, folder, "")
			    ? -1
			    : scandir(path, &entries, NULL, alphasort);

	if (count < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;
		size_t length = strlen(name), tail = strlen(suffix);

		if (length > tail && !strcmp(name + length - tail, suffix)) {
			name[length - tail] = '\0';
			if (!name_check("bond", name,
					NULL)) /* otherwise bondd wrote no such file */
				visit(name, arg);
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}
