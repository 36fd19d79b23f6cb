/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/managers.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/requests.h"
#include "network/link.h"
#include "options/config_file.h"

struct slave_search {
	struct daemon *daemon;
	const uint8_t *mac;
	struct link_info permanent, present, slave; /* slave: of a bond, and had it before */
	unsigned int others;			    /* with this address now, beside `present` */
	unsigned int permanents; /* with this permanent address, beside `permanent` */
};

/*
 * Bonds and their slaves have addresses of others. ret_before: of a slave, the address that it had
 * before; NULL of a bond.
 */
static bool slave_find_is_of_bond(struct daemon *daemon, const struct link_info *link,
				  const uint8_t **ret_before)
{
	*ret_before = NULL;
	if (bond_is_port_side(link))
		return true;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		int slot = bond_slot_by_ifindex(bond, link->ifindex);

		if (slot >= 0)
			*ret_before = bond_slave(bond, (unsigned int)slot)->perm_mac;
		if (slot >= 0 || link->ifindex == (int)bond_pin(bond)->ifindex)
			return true;
	}
	return false;
}

/* A device may come several times: link_visit(). */
static void slave_find_compare(const struct link_info *link, void *arg)
{
	struct slave_search *search = arg;
	const uint8_t *before;

	if (link->has_perm_mac) {
		if (!mac_is_same(link->perm_mac, search->mac))
			return;
		search->permanents +=
			search->permanent.ifindex && search->permanent.ifindex != link->ifindex;
		search->permanent = *link;
		return;
	}
	if (slave_find_is_of_bond(search->daemon, link, &before)) {
		if (before && mac_is_same(before, search->mac))
			search->slave = *link;
		return;
	}
	if (!link->has_mac || !mac_is_same(link->mac, search->mac) || link->type != ARPHRD_ETHER ||
	    link->vlan_id >= 0)
		return;
	search->others += search->present.ifindex && search->present.ifindex != link->ifindex;
	search->present = *link;
}

/*
 * The device with this permanent MAC address. or_present: if there is none, the one device without
 * a permanent address (veth, tap) that has it now and belongs to no bond, or else the slave that
 * had it before. Returns 0, -ENODEV, or -ENOTUNIQ if there are several.
 */
static int slave_find_by_mac(struct daemon *daemon, const uint8_t *mac, bool or_present,
			     struct link_info *ret_link)
{
	struct slave_search search = { .daemon = daemon, .mac = mac };
	int r = link_visit(&daemon->nl, -1, slave_find_compare, &search);

	if (r)
		return r;
	if (search.permanent.ifindex) {
		*ret_link = search.permanent;
		return search.permanents ? -ENOTUNIQ : 0;
	}
	if (!search.present.ifindex)
		search.present = search.slave;
	if (!or_present || !search.present.ifindex)
		return -ENODEV;
	*ret_link = search.present;
	return search.others ? -ENOTUNIQ : 0;
}

static bool slave_find_member(struct bond *bond, const uint8_t *mac, struct link_info *ret_link)
{
	bond_for_each_member (bond, slot)
		if (mac_is_same(bond_slave(bond, slot)->perm_mac, mac) &&
		    !link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex,
			      ret_link))
			return true;
	return false;
}

int slave_find(struct bond *bond, const struct config_slave *slave, struct link_info *ret_link)
{
	int r = config_slave_is_by_mac(slave)
			? -ENODEV
			: link_get_by_name(&bond->daemon->nl, slave->name, ret_link);

	if (r != -ENODEV)
		return r;
	if (mac_is_zero(slave->perm_mac))
		return -ENODEV;
	if (slave_find_member(bond, slave->perm_mac, ret_link))
		return 0;
	return slave_find_by_mac(bond->daemon, slave->perm_mac, true, ret_link);
}

int slave_find_is_unclear(const struct config_slave *slave, struct err *err)
{
	char mac[MAC_FORMAT_SIZE];

	return err_set(err, ENOTUNIQ,
		       "several devices have the address %s; name the slave by its name",
		       mac_format(slave->perm_mac, mac));
}

int slave_find_new(struct daemon *daemon, const struct config_slave *slave,
		   struct link_info *ret_link)
{
	if (!config_slave_is_by_mac(slave))
		return link_get_by_name(&daemon->nl, slave->name, ret_link);
	return slave_find_by_mac(daemon, slave->perm_mac, true, ret_link);
}

/*
 * Does it have the name that it will keep? Where udev runs, it renames new devices, and some
 * kernels do not let it once they are up.
 */
static bool slave_find_has_name(const struct link_info *link)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/run/udev/data/n%d", link->ifindex);
	return access("/run/udev/control", F_OK) != 0 || !access(path, F_OK);
}

#define LOOKS_UNTIL_BY_MAC 3
#define RETRY_NS (10 * 1000 * NS_PER_MS) /* doubles with each refusal */
#define RETRY_DOUBLED 5
#define TICKS_OF_NEWS (2 * LOOKS_UNTIL_BY_MAC)
#define TICKS_WITHOUT_NEWS 20

static unsigned int config_wait_news; /* for so many ticks, devices may have appeared */

static int config_wait_add(const struct awaited *awaited, const char *name, struct err *err)
{
	struct bond *bond = awaited->bond;
	struct option_set options = awaited->slave.options;
	int r;

	/* The mode may have changed meanwhile. */
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++)
		options.given[id] &= option_is_of_mode(option_at(id), bond_pin(bond)->mode);
	if (!config_slave_is_by_mac(&awaited->slave))
		awaited_rename_primary(bond, awaited->slave.name, name);
	r = request_add_slaves(bond->daemon, bond_pin(bond)->name, &name, 1, &options, NULL, err);
	if (r && !config_slave_is_by_mac(&awaited->slave))
		awaited_rename_primary(bond, name, awaited->slave.name);
	return r;
}

/*
 * Returns true if there is no need to wait any more. What was added under another name than the
 * configuration's is remembered, in case it goes again.
 */
static bool config_wait_is_done(struct awaited *awaited, const char *name)
{
	int slot = pins_slot_by_name(&awaited->bond->dataplane.pins, name);

	if (config_slave_is_by_mac(&awaited->slave) || !strcmp(name, awaited->slave.name) ||
	    slot < 0)
		return true;
	awaited->added = true;
	memcpy(awaited->perm_mac, bond_slave(awaited->bond, (unsigned int)slot)->perm_mac,
	       XBOND_MAC_SIZE);
	return false;
}

static bool config_wait_is_too_early(const struct awaited *awaited)
{
	unsigned int doubled;

	if (!awaited->refusals)
		return false;
	doubled = awaited->refusals > RETRY_DOUBLED ? RETRY_DOUBLED : awaited->refusals - 1;
	return clock_now_ns() - awaited->refused_ns < RETRY_NS << doubled;
}

/* Says once why the slave cannot be added. */
static void config_wait_tell(struct awaited *awaited, const char *name, const char *why)
{
	if (strcmp(why, awaited->refused))
		event_error(bond_pin(awaited->bond)->name, NULL, "slave %s: %s", name, why);
	snprintf(awaited->refused, sizeof(awaited->refused), "%s", why);
}

/*
 * Adds the slave. If that fails, logs once why and goes on waiting, because the slave may come back
 * in another state. Does not try again at once, because the attempt itself causes messages about
 * the device.
 */
static bool config_wait_try(struct awaited *awaited, const char *name)
{
	struct err err = { 0 };

	if (awaited->bond->handed_over[0] || config_wait_is_too_early(awaited)) {
		awaited->news = true;
		return false;
	}
	if (!config_wait_add(awaited, name, &err))
		return config_wait_is_done(awaited, name);
	awaited->refused_ns = clock_now_ns();
	awaited->refusals++;
	awaited->news = false;
	config_wait_tell(awaited, name, err.text);
	return false;
}

void config_link_appeared(struct daemon *daemon, const char *name)
{
	config_wait_news = TICKS_OF_NEWS;
	for (struct awaited **at = &daemon->awaited; *at;)
		at = awaited_next(at, !(*at)->added && !strcmp((*at)->slave.name, name) &&
					      config_wait_try(*at, name));
}

/* The device may have this name as an alternative name. */
static bool config_wait_by_name(struct daemon *daemon, struct awaited *awaited)
{
	struct link_info link;

	if (config_slave_is_by_mac(&awaited->slave))
		return false;
	return !awaited->added && !link_get_by_name(&daemon->nl, awaited->slave.name, &link) &&
	       config_wait_try(awaited, link.name);
}

/* Returns true if the entry is done. */
static bool config_wait_by_mac(struct daemon *daemon, struct awaited *awaited)
{
	bool by_mac = config_slave_is_by_mac(&awaited->slave);
	char text[MAC_FORMAT_SIZE];
	struct link_info link;
	struct err err;
	int r;

	if (awaited->added || mac_is_zero(awaited->perm_mac))
		return false;
	r = slave_find_by_mac(daemon, awaited->perm_mac, by_mac, &link);
	if (r == -ENOTUNIQ && by_mac) {
		slave_find_is_unclear(&awaited->slave, &err);
		config_wait_tell(awaited, config_slave_name(&awaited->slave, text), err.text);
	}
	if (r) {
		awaited->looks = 0;
		return false;
	}
	if (++awaited->looks < LOOKS_UNTIL_BY_MAC && !slave_find_has_name(&link))
		return false;
	return config_wait_try(awaited, link.name);
}

void config_look_again(struct daemon *daemon)
{
	config_wait_news = TICKS_OF_NEWS;
	for (struct awaited **at = &daemon->awaited; *at;)
		at = awaited_next(at, config_slave_is_by_mac(&(*at)->slave)
					      ? config_wait_by_mac(daemon, *at)
					      : config_wait_by_name(daemon, *at));
}

/* A search by MAC addresses reads all devices, so it comes after news of one, and now and then. */
static bool config_wait_looks_by_mac(void)
{
	static unsigned int ticks;

	if (config_wait_news)
		config_wait_news--;
	return config_wait_news || ticks++ % TICKS_WITHOUT_NEWS == 0;
}

void config_wait_tick(struct daemon *daemon)
{
	bool by_mac = daemon->awaited && config_wait_looks_by_mac();

	for (struct awaited **at = &daemon->awaited; *at;)
		at = awaited_next(at, (by_mac && config_wait_by_mac(daemon, *at)) ||
					      ((!(*at)->refusals || (*at)->news) &&
					       config_wait_by_name(daemon, *at)));
}

static void config_keep_name(struct bond *bond, const struct config_slave *slave, int slot)
{
	const struct xbond_slave *member;

	if (slot < 0 || config_slave_is_by_mac(slave))
		return;
	member = bond_slave(bond, (unsigned int)slot);
	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && awaited->added &&
		    mac_is_same(awaited->perm_mac, member->perm_mac))
			return;
	if (strcmp(member->name, slave->name) != 0)
		awaited_add(bond, slave, member->perm_mac, true)->added = true;
}

void config_keep_names(struct bond *bond, const struct config_file *file)
{
	struct link_info link;

	for (size_t i = 0; i < file->slave_count; i++)
		if (!slave_find(bond, &file->slaves[i], &link))
			config_keep_name(bond, &file->slaves[i],
					 bond_slot_by_ifindex(bond, link.ifindex));
}

/* A bond that already ran stays as it was left, except for slaves that are not there. */
static void config_await_slaves(struct bond *bond, const struct config_file *file, bool ran)
{
	char text[MAC_FORMAT_SIZE];
	struct link_info link;

	for (size_t i = 0; i < file->slave_count; i++) {
		const struct config_slave *slave = &file->slaves[i];
		bool is_there = !slave_find(bond, slave, &link);

		if (!awaited_find(bond, config_slave_name(slave, text)) && (!ran || !is_there))
			awaited_add(bond, slave, NULL, is_there);
	}
	config_look_again(bond->daemon);
}

/*
 * The administrative state of a bond belongs to the administrator, and to other tools that know
 * the bond: it is set once, when the bond is made.
 */
static bool config_is_up(const char *name, const struct option_set *options)
{
	const char *manager = managers_are_here() ? managers_configured("", name) : NULL;

	if (options->given[OPT_UP])
		return options->value[OPT_UP].number;
	if (manager)
		log_info("%s is left down, because %s brings it up ('up = on' in its file changes "
			 "that)",
			 name, manager);
	return !manager;
}

static void config_bring_up(struct bond *bond, const struct option_set *options)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct err err;

	if (config_is_up(pin->name, options) &&
	    link_set_flags(&bond->daemon->nl, (int)pin->ifindex, IFF_UP, IFF_UP, &err))
		log_error("%s stays down: %s", pin->name, err.text);
}

int config_create(struct daemon *daemon, const char *name, const struct config_file *file,
		  struct err *err)
{
	struct bond *bond;
	int r = request_create(daemon, name, &file->bond, err);

	if (r)
		return r;
	bond = daemon_find_bond(daemon, name);
	/* a bondd that finds it unfinished starts again */
	bond_pin(bond)->state = XBOND_BOND_CREATING;
	config_await_slaves(bond, file, false);
	config_bring_up(bond, &file->bond);
	bond_pin(bond)->state = XBOND_BOND_READY;
	return 0;
}

int config_check_dir(const struct daemon *daemon, const char *theirs, struct err *err)
{
	const char *ours = daemon->paths.config_dir;
	char real_ours[PATH_MAX], real_theirs[PATH_MAX];

	if (!theirs || !strcmp(theirs, ours) ||
	    (realpath(theirs, real_theirs) && realpath(ours, real_ours) &&
	     !strcmp(real_theirs, real_ours)))
		return 0;
	return err_set(err, EINVAL,
		       "bondd reads its configuration from %s, not from %s; call bondctl with "
		       "'--config-dir %s'",
		       ours, theirs, ours);
}

int config_read(struct daemon *daemon, const char *bond, struct config_file *ret_file,
		struct err *err)
{
	struct config_mistakes mistakes;
	char path[PATH_MAX];
	struct err first;
	int r = config_dir_path(path, sizeof(path), daemon->paths.config_dir, bond);

	if (r)
		return err_set(err, -r, "the path of the configuration file is too long");
	r = config_file_read(ret_file, path, &mistakes);
	for (size_t i = 0; i < mistakes.count; i++)
		if (mistakes.list[i].is_warning)
			log_warning("%s", mistakes.list[i].text);
		else
			log_error("%s", mistakes.list[i].text);
	if (r) {
		config_mistakes_first(&mistakes, -r, &first);
		if (mistakes.errors > 1)
			err_set(err, -r, "%.900s (and %zu more; 'bondctl check' lists all)",
				first.text, mistakes.errors - 1);
		else if (r == -ENOENT && access(path, F_OK))
			err_set(err, -r, "%.900s; 'bondctl save %s' writes it from a running bond",
				first.text, bond);
		else
			err_set(err, -r, "%s", first.text);
	}
	config_mistakes_free(&mistakes);
	return r;
}

void config_apply(struct daemon *daemon, const char *name)
{
	struct bond *bond = daemon_find_bond(daemon, name);
	struct config_file file;
	char path[PATH_MAX];
	struct err err;

	if (config_dir_path(path, sizeof(path), daemon->paths.config_dir, name) ||
	    faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) ||
	    config_read(daemon, name, &file, &err))
		return;
	if (bond)
		config_keep_names(bond, &file);
	if (bond)
		config_await_slaves(bond, &file, true);
	else if (!daemon_is_unadopted(daemon, name) && config_create(daemon, name, &file, &err))
		log_error("%s: %s", file.paths[0], err.text);
	config_file_free(&file);
}

void config_apply_all(struct daemon *daemon)
{
	char **names;
	struct err err;

	if (config_dir_bonds(daemon->paths.config_dir, &names, &err)) {
		log_error("%s", err.text);
		return;
	}
	for (char **name = names; *name; name++)
		config_apply(daemon, *name);
	memory_free_texts(names);
}
