/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/main_loop.h"
#include "network/link.h"

/* In a child. */

#define FIRST_FD 3 /* the first after the standard ones */

/* The caller waits for it, but a device whose driver is slow must not be left half changed. */
#define LIMIT_MS 10000

/* Among them are bondd's locks: a child that outlived bondd would keep the next bondd out. */
static void child_close_all_but(int fd)
{
	if (fd < FIRST_FD) {
		syscall(SYS_close_range, FIRST_FD, UINT_MAX, 0);
		return;
	}
	if (fd > FIRST_FD)
		syscall(SYS_close_range, FIRST_FD, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, UINT_MAX, 0);
}

static void child_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* the parent died before this */
		_exit(ECHILD);
}

static int child_wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
}

/* Not by an alarm in the child, because the child may be stopped. */
static void child_kill_if_late(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);

	if (fd < 0 || !idle_wait(fd, LIMIT_MS))
		kill(child, SIGKILL);
	if (fd >= 0)
		close(fd);
}

int child_run(int (*work)(const void *arg), const void *arg, int keep_fd)
{
	pid_t parent = getpid(), child = fork();
	int code;

	if (child < 0)
		return -errno;
	if (!child) {
		child_end_with(parent);
		child_close_all_but(keep_fd);
		code = -work(arg);
		_exit(code >= 0 && code <= 255 ? code : EIO);
	}
	child_kill_if_late(child);
	return child_wait_for(child);
}

/* In another namespace. */

struct netns_call {
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
		int fd = open(paths.gl_pathv[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0 && namespaces_number(nl, fd) == nsid)
			found = fd;
		else if (fd >= 0)
			close(fd);
	}
	globfree(&paths);
	return found;
}

static int netns_call_work(const void *arg)
{
	const struct netns_call *call = arg;
	struct nl nl;
	int r = nl_init(&nl);

	if (r)
		return r;
	r = call->work(&nl, call->arg);
	nl_done(&nl);
	return r;
}

static int netns_call_enter_and_work(const void *arg)
{
	const struct netns_call *call = arg;

	return setns(call->namespace_fd, CLONE_NEWNET) < 0 ? -errno : netns_call_work(call);
}

static int netns_call_open(struct nl *nl, int nsid)
{
	int fd = netns_call_open_among(nl, "/run/netns/*", nsid);

	return fd >= 0 ? fd : netns_call_open_among(nl, "/proc/[0-9]*/ns/net", nsid);
}

int netns_call(struct nl *nl, int nsid, netns_work work, const void *arg, struct err *err)
{
	struct netns_call call = { .work = work, .arg = arg };
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

int netns_call_in_thread(struct nl *nl, int nsid, netns_work work, const void *arg)
{
	struct netns_call call = { .work = work, .arg = arg };
	int r;

	if (nsid < 0)
		return work(nl, arg);
	call.namespace_fd = netns_call_open(nl, nsid);
	if (call.namespace_fd < 0)
		return -ENOENT;
	r = namespaces_inside(call.namespace_fd, netns_call_work, &call);
	close(call.namespace_fd);
	return r;
}
