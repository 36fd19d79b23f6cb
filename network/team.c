/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/team.h"

int team_create(struct nl *nl, const struct link_end *device, struct err *err)
{
	struct link_info made;
	int r = link_create(nl, TEAM_KIND, device, err);

	if (r)
		return r;
	r = link_get_by_name(nl, device->name, &made);
	if (r)
		return err_set(err, -r, "%s has gone while it was made; try again", device->name);
	return link_set_carrier(nl, made.ifindex, false, err);
}
