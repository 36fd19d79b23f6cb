/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/event_author.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_LOGIN UINT32_MAX

/* Up to the end of the first line. Returns false if there is nothing. */
static bool event_author_read(int pid, const char *file, char *ret_text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, ret_text, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	ret_text[got] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return true;
}

void event_author_find(int pid, struct event_author *ret_author)
{
	char text[16];

	*ret_author = (struct event_author){ .pid = pid };
	if (pid <= 0)
		return;
	event_author_read(pid, "comm", ret_author->program, sizeof(ret_author->program));
	if (!event_author_read(pid, "loginuid", text, sizeof(text)))
		return;
	ret_author->login_uid = (uint32_t)strtoul(text, NULL, 10);
	ret_author->has_login = ret_author->login_uid != NO_LOGIN;
}
