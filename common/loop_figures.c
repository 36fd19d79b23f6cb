/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/loop_figures.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/paths.h"

static void loop_path(char ret_path[PATH_MAX], const char *run_dir)
{
	snprintf(ret_path, PATH_MAX, "%s/" PATHS_LOOP_NAME, run_dir);
}

/* The blocks are allocated here: where they are missing, writing to the memory would be SIGBUS. */
static void *loop_map(int fd)
{
	void *memory;

	errno = posix_fallocate(fd, 0, sizeof(struct loop_figures));
	if (errno)
		return NULL;
	memory = mmap(NULL, sizeof(struct loop_figures), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

struct loop_figures *loop_create(const char *run_dir)
{
	struct loop_figures *figures;
	char path[PATH_MAX];
	int fd, reason;

	loop_path(path, run_dir);
	unlink(path); /* readers of the old file keep it */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return NULL;
	figures = loop_map(fd);
	reason = errno;
	close(fd);
	if (!figures) {
		unlink(path);
		errno = reason;
		return NULL;
	}
	figures->size = sizeof(*figures);
	figures->magic = LOOP_MAGIC;
	return figures;
}

void loop_remove(struct loop_figures *figures, const char *run_dir)
{
	char path[PATH_MAX];

	if (!figures)
		return;
	loop_path(path, run_dir);
	unlink(path);
	munmap(figures, sizeof(*figures));
}

int loop_read(const char *run_dir, struct loop_figures *ret_figures)
{
	char path[PATH_MAX];
	ssize_t got;
	int fd;

	loop_path(path, run_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, ret_figures, sizeof(*ret_figures));
	close(fd);
	if (got != sizeof(*ret_figures) || ret_figures->magic != LOOP_MAGIC ||
	    ret_figures->size != sizeof(*ret_figures))
		return -EBADMSG;
	ret_figures->worst_work[LOOP_WORK_SIZE - 1] = '\0';
	return 0;
}
