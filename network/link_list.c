/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/link_list.h"

#include <errno.h>
#include <stdlib.h>

#include "common/memory.h"

static void link_list_collect(const struct link_info *link, void *arg)
{
	struct link_list *list = arg;

	list->link = memory_need(reallocarray(list->link, list->count + 1, sizeof(*list->link)));
	list->link[list->count++] = *link;
}

int link_list_read(struct nl *nl, struct link_list *ret_list)
{
	int r = -EAGAIN;

	*ret_list = (struct link_list){ 0 };
	for (int try = 0; try < LINK_TRIES && r == -EAGAIN; try++) {
		ret_list->count = 0;
		r = link_visit_once(nl, -1, link_list_collect, ret_list);
	}
	return r;
}

void link_list_free(struct link_list *list)
{
	free(list->link);
}
