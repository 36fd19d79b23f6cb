/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/idle.h"

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
