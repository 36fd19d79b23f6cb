/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_ovs_mode.h"

#include <string.h>

static bool ovs_is(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

bool ovs_knows_mode(const char *mode)
{
	return ovs_is(mode, "active-backup") || ovs_is(mode, "balance-slb") ||
	       ovs_is(mode, "balance-tcp");
}

static bool ovs_has_lacp(const struct ovs_mode *ovs)
{
	return ovs_is(ovs->lacp, "active") || ovs_is(ovs->lacp, "passive");
}

/* Without LACP the members share traffic only as far as any switch bears it. */
static void ovs_set_static(struct import *import, struct import_bond *bond,
			   const struct ovs_mode *ovs)
{
	import_option(import, bond, NULL, OPT_MODE, "active-backup", false, &ovs->mode_line);
	if (ovs_is(ovs->mode, "balance-slb"))
		import_changed(import, bond, &ovs->mode_line,
			       "xbond does not have this mode; active-backup is written, which "
			       "needs as little from the switch, but uses one slave at a time");
	if (ovs_is(ovs->mode, "balance-tcp"))
		import_changed(import, bond, &ovs->mode_line,
			       "without LACP this bond carries no balanced traffic; active-backup "
			       "is written");
}

static void ovs_set_lacp(struct import *import, struct import_bond *bond,
			 const struct ovs_mode *ovs)
{
	const struct import_line *line = &ovs->lacp_line;

	import_option(import, bond, NULL, OPT_MODE, "802.3ad", false, line);
	import_option(import, bond, NULL, OPT_LACP_ACTIVE,
		      ovs_is(ovs->lacp, "active") ? "on" : "off", false, line);
	/* Without a partner Open vSwitch disables the bond, unless lacp-fallback-ab is true. */
	import_option(import, bond, NULL, OPT_LACP_FALLBACK, ovs->falls_back ? "one" : "none",
		      false, line);
	if (ovs_is(ovs->mode, "balance-tcp")) {
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "layer3+4", false,
			      &ovs->mode_line);
	} else if (ovs_is(ovs->mode, "balance-slb")) {
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "vlan+srcmac", false,
			      &ovs->mode_line);
	} else {
		import_option(import, bond, NULL, OPT_MAX_LINKS, "1", false, &ovs->mode_line);
		import_changed(import, bond, &ovs->mode_line,
			       "with LACP it becomes 802.3ad with one port in use (max_links 1)");
	}
}

void ovs_set_mode(struct import *import, struct import_bond *bond, const struct ovs_mode *ovs)
{
	if (ovs->mode && !ovs_knows_mode(ovs->mode))
		import_refuse(import, bond, &ovs->mode_line, "Open vSwitch has no such mode");
	if (ovs->lacp && !ovs_has_lacp(ovs) && strcmp(ovs->lacp, "off") != 0)
		import_refuse(import, bond, &ovs->lacp_line, "lacp is active, passive or off");
	if (ovs_has_lacp(ovs))
		ovs_set_lacp(import, bond, ovs);
	else
		ovs_set_static(import, bond, ovs);
}

bool ovs_ignores(const struct import_bond *bond, enum option_id id)
{
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);

	return (id == OPT_UPDELAY || id == OPT_DOWNDELAY) && mode &&
	       mode->value.number == XBOND_MODE_8023AD;
}
