/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover_elsewhere.h"

#include <errno.h>

#include "daemon/base/idle.h"
#include "network/link_list.h"
#include "network/namespaces.h"

struct elsewhere {
	const struct handover *plan;
	struct link_info found; /* ifindex 0: none */
	int lower;		/* index in the plan of the device that it is on */
};

static void elsewhere_look_at(struct elsewhere *search, const struct link_info *link, int home)
{
	if (link_is_paired(link) || link->lower_nsid < 0 || link->lower_nsid != home)
		return;
	for (size_t i = 0; i < search->plan->device_count; i++)
		if (link->lower == search->plan->devices[i].old ||
		    link->tunnel == search->plan->devices[i].old) {
			search->found = *link;
			search->lower = (int)i;
		}
}

static void elsewhere_visit(int home_fd, void *arg)
{
	struct link_list links;
	struct nl nl;
	int home;

	if (nl_init(&nl))
		return;
	if (!link_list_read(&nl, &links)) {
		/* A device on one of ours has given our namespace its number by now. */
		home = namespaces_number(&nl, home_fd);
		for (size_t i = 0; i < links.count; i++)
			elsewhere_look_at(arg, &links.link[i], home);
	}
	link_list_free(&links);
	nl_done(&nl);
}

static void elsewhere_run(void *arg)
{
	namespaces_visit(elsewhere_visit, arg);
}

int handover_elsewhere_check(const struct handover *plan, struct err *err)
{
	struct elsewhere search = { .plan = plan };

	idle_run(elsewhere_run, &search);
	if (!search.found.ifindex)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s (%s) in another network namespace is on %s and would be lost; remove it "
		       "first",
		       search.found.name, search.found.kind, plan->devices[search.lower].name);
}
