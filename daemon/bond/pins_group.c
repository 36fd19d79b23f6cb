/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/pins_group.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"

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
	if (stat(path, &st) ||
	    (st.st_gid == group && (!given || (st.st_mode & ACCESSPERMS) == mode)))
		return;
	if ((chown(path, (uid_t)-1, group) || chmod(path, mode)) && errno != ENOENT)
		log_warning("%s: cannot %s the group " PINS_GROUP ": %m", path,
			    given ? "give it to" : "take it from");
}

void pins_give(const struct bond *bond)
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
