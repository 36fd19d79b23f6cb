/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *paths_from_env(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value && *value ? value : otherwise;
}

void paths_init(struct paths *paths)
{
	paths->run_dir = paths_from_env("XBOND_RUN_DIR", "/run/xbond");
	paths->bpf_dir = paths_from_env("XBOND_BPF_DIR", "/sys/fs/bpf/xbond");
	paths->config_dir = paths_from_env("XBOND_CONFIG_DIR", "/etc/xbond");
}

int paths_length(const char *directory)
{
	int length = (int)strlen(directory);

	while (length > 1 && directory[length - 1] == '/')
		length--;
	return length;
}

int paths_make_dir(const char *path, mode_t mode)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(part, mode) && errno != EEXIST ? -errno : 0;
}

void paths_keep_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* The Makefile defines it for this file alone, so that a new commit compiles nothing else anew. */
const char xbond_version[] = XBOND_VERSION;
