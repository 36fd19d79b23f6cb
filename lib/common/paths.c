/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

const char *paths_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int paths_rename(const char *from, const char *to, bool exchange)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
			    exchange ? RENAME_EXCHANGE : RENAME_NOREPLACE);
}

int paths_glob(const char *pattern, glob_t *ret_found)
{
	const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;
	char path[PATH_MAX];
	int length;

	if (!close)
		return glob(pattern, 0, NULL, ret_found);
	*ret_found = (glob_t){};
	for (const char *word = open + 1; word <= close; word += length + 1) {
		length = (int)strcspn(word, ",}");
		snprintf(path, sizeof(path), "%.*s%.*s%s", (int)(open - pattern), pattern, length,
			 word, close + 1);
		glob(path, GLOB_APPEND, NULL, ret_found);
	}
	return ret_found->gl_pathc ? 0 : GLOB_NOMATCH;
}

/* Whatever umask is: the group of bondd's socket must get into its directory. */
static int paths_make_one(const char *path, mode_t mode)
{
	if (!mkdir(path, mode))
		return chmod(path, mode) ? -errno : 0;
	return errno == EEXIST ? 0 : -errno;
}

int paths_make_dir(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	int r = 0;

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash && !r; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = paths_make_one(part, 0755);
		*slash = '/';
	}
	return r ? r : paths_make_one(path, mode);
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
