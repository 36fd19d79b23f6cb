/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/link_list.h"

#include <errno.h>
#include <stdlib.h>

struct reading {
	struct link_list list;
	bool truncated;
};

static void link_list_collect(const struct link_info *link, void *arg)
{
	struct reading *reading = arg;
	struct link_list *list = &reading->list;
	struct link_info *grown = reallocarray(list->link, list->count + 1, sizeof(*grown));

	if (!grown) {
		reading->truncated = true;
		return;
	}
	list->link = grown;
	grown[list->count++] = *link;
}

int link_list_read(struct nl *nl, struct link_list *ret_list)
{
	struct reading reading = { 0 };
	int r = -EAGAIN;

	for (int try = 0; try < LINK_TRIES && r == -EAGAIN; try++) {
		reading.list.count = 0;
		r = link_visit_once(nl, -1, link_list_collect, &reading);
	}
	*ret_list = reading.list;
	return !r && reading.truncated ? -ENOMEM : r;
}

void link_list_free(struct link_list *list)
{
	free(list->link);
}
