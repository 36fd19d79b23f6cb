/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/config_wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/requests.h"
#include "daemon/manage/slave_find.h"

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
