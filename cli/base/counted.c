/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/counted.h"

#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "network/packet.h"

#define COUNTED_CAPTURES 1024

const char *counted_why(const struct link_info *link, bool is_captured)
{
	if (!link)
		return "it is in another network namespace";
	if (is_captured)
		return "somebody captures packets on it";
	if (!(link->flags & IFF_UP))
		return "it is administratively down";
	if (link->xdp_id)
		return "it has an XDP program";
	if (link->qdisc[0] && strcmp(link->qdisc, "noqueue") != 0)
		return "it has a root qdisc";
	return "it has filters on its egress";
}

const char *counted_why_now(const char *bond)
{
	int captured[COUNTED_CAPTURES];
	size_t count = capture_list(captured, COUNTED_CAPTURES);
	bool is_known = !access("/proc/net/packet", R_OK), is_captured = false;
	struct link_info link;
	struct nl nl;
	int r;

	if (!is_known || nl_init(&nl))
		return "something on it would be skipped";
	r = link_get_by_name(&nl, bond, &link);
	nl_done(&nl);
	for (size_t i = 0; !r && i < count; i++)
		is_captured |= captured[i] == link.ifindex;
	return counted_why(r ? NULL : &link, is_captured);
}
