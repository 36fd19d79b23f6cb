/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/child.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 10

int child_run(int (*work)(const void *arg), const void *arg)
{
	pid_t child = fork();
	int status, code;

	if (child < 0)
		return -errno;
	if (!child) {
		alarm(LIMIT_S);
		code = -work(arg);
		_exit(code >= 0 && code <= 255 ? code : EIO);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
}
