/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/netns_call.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/child.h"
#include "network/namespaces.h"

struct call {
	int namespace_fd;
	netns_work work;
	const void *arg;
};

static int netns_call_open_among(struct nl *nl, const char *pattern, int nsid)
{
	int found = -ENOENT;
	glob_t paths;

	if (glob(pattern, 0, NULL, &paths))
		return -ENOENT;
	for (size_t i = 0; i < paths.gl_pathc && found < 0; i++) {
		int fd = open(paths.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && namespaces_number(nl, fd) == nsid)
			found = fd;
		else if (fd >= 0)
			close(fd);
	}
	globfree(&paths);
	return found;
}

static int netns_call_enter_and_work(const void *arg)
{
	const struct call *call = arg;
	struct nl nl;
	int r;

	if (setns(call->namespace_fd, CLONE_NEWNET) < 0)
		return -errno;
	r = nl_init(&nl);
	if (r)
		return r;
	r = call->work(&nl, call->arg);
	nl_done(&nl);
	return r;
}

static int netns_call_open(struct nl *nl, int nsid)
{
	int fd = netns_call_open_among(nl, "/run/netns/*", nsid);

	return fd >= 0 ? fd : netns_call_open_among(nl, "/proc/[0-9]*/ns/net", nsid);
}

int netns_call(struct nl *nl, int nsid, netns_work work, const void *arg, struct err *err)
{
	struct call call = { .work = work, .arg = arg };
	int r;

	if (nsid < 0) {
		r = work(nl, arg);
		return r ? err_set(err, -r, "%s", strerror(-r)) : 0;
	}
	call.namespace_fd = netns_call_open(nl, nsid);
	if (call.namespace_fd < 0)
		return err_set(err, ENOENT,
			       "no process and no name in /run/netns refers to its namespace");
	r = child_run(netns_call_enter_and_work, &call, call.namespace_fd);
	close(call.namespace_fd);
	return r ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

/* Without a way back, the thread would take another namespace for its own. */
static int netns_call_visit(const struct call *call)
{
	int home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), r;

	if (home_fd < 0)
		return -errno;
	r = netns_call_enter_and_work(call);
	if (setns(home_fd, CLONE_NEWNET) < 0)
		abort();
	close(home_fd);
	return r;
}

int netns_call_in_thread(struct nl *nl, int nsid, netns_work work, const void *arg)
{
	struct call call = { .work = work, .arg = arg };
	int r;

	if (nsid < 0)
		return work(nl, arg);
	call.namespace_fd = netns_call_open(nl, nsid);
	if (call.namespace_fd < 0)
		return -ENOENT;
	r = netns_call_visit(&call);
	close(call.namespace_fd);
	return r;
}
