/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/attach_check.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/dataplane_pins.h"

/* Whose they are. */

#define PINS_GROUP "xbond-xsk"
#define PINS_NO_GROUP ((gid_t)-1)
#define PINS_SEARCH 0710
#define PINS_READ 0640
#define PINS_WRITE 0660

static gid_t pins_group = PINS_NO_GROUP;

static const struct {
	const char *name;
	mode_t mode;
} pins_given[] = {
	{ XBOND_PIN_SETTINGS, PINS_READ },  { XBOND_PIN_TABLE, PINS_READ },
	{ XBOND_PIN_BUCKETS, PINS_READ },   { XBOND_PIN_ALB, PINS_READ },
	{ XBOND_PIN_CURSOR, PINS_WRITE },   { XBOND_PIN_MOVES, PINS_WRITE },
	{ XBOND_PIN_FLOWLETS, PINS_WRITE }, { XBOND_PIN_VLANS, PINS_WRITE },
	{ XBOND_PIN_AFXDP, PINS_WRITE },
};

static void pins_give_one(const char *path, mode_t mode)
{
	bool given = pins_group != PINS_NO_GROUP;
	gid_t group = given ? pins_group : 0;
	struct stat st;

	if (!given)
		mode &= S_IRWXU;
	if (stat(path, &st) || (st.st_gid == group && (!given || (st.st_mode & 0777) == mode)))
		return;
	if ((chown(path, (uid_t)-1, group) || chmod(path, mode)) && errno != ENOENT)
		log_warning("%s: cannot %s the group " PINS_GROUP ": %m", path,
			    given ? "give it to" : "take it from");
}

/* Those that are made anew have no rights yet. */
static void pins_give(const struct bond *bond)
{
	const char *dir = bond->dataplane.pins.dir;
	char path[PIN_PATH_SIZE];

	pins_give_one(bond->daemon->paths.bpf_dir, PINS_SEARCH);
	pins_give_one(dir, PINS_SEARCH);
	for (size_t i = 0; i < sizeof(pins_given) / sizeof(pins_given[0]); i++)
		pins_give_one(pin_path(path, dir, pins_given[i].name), pins_given[i].mode);
}

void pins_find_group(struct daemon *daemon)
{
	const struct group *group = getgrnam(PINS_GROUP);

	pins_group = group ? group->gr_gid : PINS_NO_GROUP;
	for (const struct bond *bond = daemon->bonds; bond; bond = bond->next)
		pins_give(bond);
}

/* That they are there. */

#define NAME_SIZE 64 /* more than any pin's name */
/* File times are coarse. A change just after a check must not be missed. */
#define SETTLED_S 1

struct kept {
	char name[NAME_SIZE];
	ino_t inode;
	int fd;
};

struct pins_keep {
	struct stat dir; /* as last seen; zero: check everything */
	bool homeless;	 /* there is no directory, and this was logged */
	struct kept *kept;
	size_t count;
};

static struct pins_keep *pins_kept(const struct bond *bond)
{
	return part_of_bond(bond, &pins_part);
}

static struct kept *pins_keep_find(struct pins_keep *keep, const char *name)
{
	for (size_t i = 0; i < keep->count; i++)
		if (!strcmp(keep->kept[i].name, name))
			return &keep->kept[i];
	return NULL;
}

static void pins_keep_forget(struct pins_keep *keep, struct kept *kept)
{
	close(kept->fd);
	*kept = keep->kept[--keep->count];
}

static void pins_keep_fd(struct pins_keep *keep, const char *name, ino_t inode, int fd)
{
	struct kept *known = pins_keep_find(keep, name);

	if (known) {
		close(known->fd);
		known->fd = fd;
		known->inode = inode;
		return;
	}
	if (strlen(name) >= NAME_SIZE) {
		close(fd);
		return;
	}
	memory_more(keep->kept, keep->count);
	keep->kept[keep->count] = (struct kept){ .inode = inode, .fd = fd };
	memcpy(keep->kept[keep->count++].name, name, strlen(name) + 1);
}

static bool pins_keep_begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static int pins_keep_pin(const char *dir, const char *name, void *arg)
{
	struct pins_keep *keep = arg;
	const struct kept *known = pins_keep_find(keep, name);
	char path[PATH_MAX + NAME_MAX + 2];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (pins_keep_begins(name, POLICY_MAPS_STAGED) || stat(path, &st) ||
	    (known && known->inode == st.st_ino))
		return 0;
	fd = bpf_obj_get(path);
	if (fd >= 0)
		pins_keep_fd(keep, name, st.st_ino, fd);
	return 0;
}

/* A link that bondd or somebody else has detached. Its pin is gone or may go. */
static bool pins_keep_is_detached(const struct kept *kept)
{
	struct pin_link link;

	return pins_keep_begins(kept->name, XBOND_PIN_LINKS) &&
	       (pin_link_read(kept->fd, &link) || !link.ifindex);
}

/* A map of a policy that bondctl has replaced or removed. */
static bool pins_keep_is_of_old_policy(struct pins_keep *keep, const struct kept *kept)
{
	static const char *const programs[] = { XBOND_PIN_POLICY, XBOND_PIN_POLICY_XDP };

	if (!pins_keep_begins(kept->name, XBOND_PIN_POLICY_MAPS))
		return false;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct kept *policy = pins_keep_find(keep, programs[i]);

		if (policy && policy_uses_map(policy->fd, kept->fd))
			return false;
	}
	return true;
}

/* Returns how many pins were missing. */
static unsigned int pins_keep_pin_again(struct pins_keep *keep, const char *dir)
{
	char path[PIN_PATH_SIZE];
	unsigned int missing = 0;

	for (size_t i = keep->count; i-- > 0;) {
		struct kept *kept = &keep->kept[i];

		if (!access(pin_path(path, dir, kept->name), F_OK))
			continue;
		if (pins_keep_is_detached(kept) || pins_keep_is_of_old_policy(keep, kept))
			pins_keep_forget(keep, kept);
		else
			missing += !bpf_obj_pin(kept->fd, path);
	}
	return missing;
}

static void pins_keep_look(struct bond *bond, const struct stat *now)
{
	const char *dir = bond->dataplane.pins.dir, *name = bond_pin(bond)->name;
	struct pins_keep *keep = pins_kept(bond);
	unsigned int missing = pins_keep_pin_again(keep, dir);

	if (missing)
		event_attached(name, NULL,
			       "somebody has removed %u of its pins; they are back in %s", missing,
			       dir);
	pins_give(bond);
	pin_dirs_visit(dir, pins_keep_pin, keep);
	keep->dir = *now;
	if (missing || labs(time(NULL) - now->st_mtim.tv_sec) <= SETTLED_S)
		keep->dir = (struct stat){ 0 };
}

/* The directory appears complete. If bondd dies before, the next bondd removes what it has left. */
static int pins_keep_make_home(struct bond *bond, struct err *err)
{
	const char *bpf_dir = bond->daemon->paths.bpf_dir, *dir = bond->dataplane.pins.dir;
	struct pins_keep *keep = pins_kept(bond);
	char staging[PATH_MAX];
	int r = directories_reopen(&bond->daemon->paths, err);

	pin_dirs_staging(staging, sizeof(staging), bpf_dir, bond_pin(bond)->name);
	if (!r)
		r = pin_dirs_make(staging, err);
	for (size_t i = 0; !r && i < keep->count; i++)
		if (!pins_keep_is_detached(&keep->kept[i]))
			r = pin_dirs_pin(keep->kept[i].fd, staging, keep->kept[i].name, err);
	if (!r && rename(staging, dir) < 0)
		r = err_set(err, errno, "cannot rename %s to %s: %m", staging, dir);
	return r;
}

static void pins_keep_come_home(struct bond *bond)
{
	const char *dir = bond->dataplane.pins.dir, *name = bond_pin(bond)->name;
	struct pins_keep *keep = pins_kept(bond);
	struct err err;

	if (!pins_keep_make_home(bond, &err)) {
		event_attached(name, NULL, "its pins were gone, and are back in %s", dir);
		keep->homeless = false;
		return;
	}
	if (!keep->homeless)
		event_error(
			name, NULL,
			"its pins are gone from %s and cannot be put back (%s): traffic goes "
			"on only as long as this bondd runs; mount the BPF file system there again",
			dir, err.text);
	keep->homeless = true;
}

bool pins_keep(struct bond *bond)
{
	struct pins_keep *keep = pins_kept(bond);
	struct stat now;

	if (stat(bond->dataplane.pins.dir, &now)) {
		pins_keep_come_home(bond);
		return !keep->homeless;
	}
	if (now.st_ino != keep->dir.st_ino || now.st_dev != keep->dir.st_dev ||
	    memcmp(&now.st_mtim, &keep->dir.st_mtim, sizeof(now.st_mtim)))
		pins_keep_look(bond, &now);
	return true;
}

/* The bond ends, or is handed over to the next bondd. */
static void pins_keep_nothing(struct bond *bond)
{
	struct pins_keep *keep = pins_kept(bond);

	for (size_t i = 0; i < keep->count; i++)
		close(keep->kept[i].fd);
	free(keep->kept);
}

static void pins_settle(struct bond *bond, uint32_t news)
{
	pins_keep(bond);
}

struct part pins_part = { .bond_size = sizeof(struct pins_keep),
			  .hears = NEWS_TIME,
			  .settle_bond = pins_settle,
			  .free = pins_keep_nothing };
