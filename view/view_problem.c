/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_problem.h"

#include <stddef.h>

#include "bpf/abi.h"

#define CONTINUES ": traffic continues, and avoids slaves that lose carrier"

const char *view_problem_bondd(enum view_bondd bondd, bool has_carrier)
{
	switch (bondd) {
	case VIEW_BONDD_IS_HERE: break;
	case VIEW_BONDD_IS_STOPPED:
		return has_carrier ? VIEW_BONDD_STOPPED CONTINUES : VIEW_BONDD_STOPPED;
	case VIEW_BONDD_IS_SILENT:
		return has_carrier ? VIEW_BONDD_SILENT CONTINUES : VIEW_BONDD_SILENT;
	}
	return NULL;
}

const char view_problem_detached_bond[] =
	"the bond's own programs were taken off: it sends nothing, or not as it should";
const char view_problem_detached_slave[] = "its receive program was taken off: it receives nothing";

static const struct view_problem view_problems[] = {
	{ XBOND_TROUBLE_MASTER,
	  "it was made a port of another device, which receives nothing from it" },
	{ XBOND_TROUBLE_ADDRESSES, "it has IP addresses, which belong on the bond" },
	{ XBOND_TROUBLE_UPPERS, "devices were made on it, which receive nothing there" },
	{ XBOND_TROUBLE_ENDING, "filters on its ingress accept frames before xbond's program sees "
				"them, so they are bypassed" },
	{ XBOND_TROUBLE_UNMET, "filters on its ingress do not see what the bond receives" },
	{ XBOND_TROUBLE_NFT, "nft chains on its ingress do not see what the bond receives" },
};

const struct view_problem *view_problem_at(unsigned int i)
{
	return i < sizeof(view_problems) / sizeof(view_problems[0]) ? &view_problems[i] : NULL;
}
