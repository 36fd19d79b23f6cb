/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of devices when it changes while it is read; the kernel's answers are by hand. And a
 * request that is longer than a message.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "network/link.h"
#include "tests/unit/unit.h"

static int changes; /* how often the list still changes */

int __real_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err);

static void tell(int ifindex, nl_handler handler, void *arg)
{
	const struct ifinfomsg head = { .ifi_index = ifindex };
	struct nl_msg *msg = nl_request_new(RTM_NEWLINK, 0, &head, sizeof(head));

	handler(nlmsg_hdr(msg), arg);
	nlmsg_free(msg);
}

int __wrap_nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg,
		   struct err *err)
{
	if (nlmsg_hdr(msg)->nlmsg_type != RTM_GETLINK)
		return __real_nl_call(nl, msg, handler, arg, err);
	assert_null(nl);
	nlmsg_free(msg);
	tell(3, handler, arg);
	if (!changes)
		return 0;
	tell(2, handler, arg);
	changes--;
	return -EAGAIN;
}

static void each_device_stands_once(void **state)
{
	struct link_list list;

	for (int times = 0; times < 3; times++) {
		changes = times;
		assert_int_equal(link_list_read(NULL, &list), 0);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.link[0].ifindex, 3);
		link_list_free(&list);
	}
}

static void a_list_that_never_rests_is_an_error(void **state)
{
	struct link_list list;

	changes = 1000;
	assert_int_equal(link_list_read(NULL, &list), -EAGAIN);
	link_list_free(&list);
}

/* The message has room for a page; what is left of it would change nothing, and be acknowledged. */
static void a_request_that_is_too_long_is_not_sent_in_part(void **state)
{
	char alias[8192];
	struct nl none = { 0 }; /* nothing is sent */

	memset(alias, 'x', sizeof(alias) - 1);
	alias[sizeof(alias) - 1] = '\0';
	assert_int_equal(link_set_alias(&none, 1, alias, NULL), -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_device_stands_once),
		cmocka_unit_test(a_list_that_never_rests_is_an_error),
		cmocka_unit_test(a_request_that_is_too_long_is_not_sent_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
