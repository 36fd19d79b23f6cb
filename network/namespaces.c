/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/namespaces.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "network/nl.h"

#define NAMESPACES_HOME "/proc/thread-self/ns/net"

struct namespaces {
	ino_t *seen; /* home first */
	size_t count;
	dev_t nsfs;
	int home_fd;
};

static void namespaces_take_number(struct nlmsghdr *message, void *arg)
{
	int *number = arg;

	*number = (int)nl_attr_u32(nlmsg_find_attr(message, sizeof(struct rtgenmsg), NETNSA_NSID),
				   (uint32_t)*number);
}

int namespaces_number(struct nl *nl, int fd)
{
	struct rtgenmsg general = { .rtgen_family = AF_UNSPEC };
	int number = -1;
	struct nl_msg *msg = nl_request_new(RTM_GETNSID, 0, &general, sizeof(general));

	nl_request_put_u32(msg, NETNSA_FD, (uint32_t)fd);
	nl_call(nl, msg, namespaces_take_number, &number, NULL);
	return number;
}

static bool namespaces_is_new(struct namespaces *namespaces, ino_t inode)
{
	ino_t *grown;

	for (size_t i = 0; i < namespaces->count; i++)
		if (namespaces->seen[i] == inode)
			return false;
	grown = memory_need(reallocarray(namespaces->seen, namespaces->count + 1, sizeof(*grown)));
	namespaces->seen = grown;
	grown[namespaces->count++] = inode;
	return true;
}

/* Without a way back, the thread would take another namespace for its own. */
static void namespaces_go_home(int home_fd)
{
	if (setns(home_fd, CLONE_NEWNET) < 0)
		abort();
}

static void namespaces_visit_one(struct namespaces *namespaces, const char *path,
				 void (*visit)(int home_fd, void *arg), void *arg)
{
	struct stat there;
	int fd;

	if (stat(path, &there) || there.st_dev != namespaces->nsfs ||
	    !namespaces_is_new(namespaces, there.st_ino))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!setns(fd, CLONE_NEWNET)) {
		visit(namespaces->home_fd, arg);
		namespaces_go_home(namespaces->home_fd);
	}
	close(fd);
}

static void namespaces_visit_all(struct namespaces *namespaces, const char *pattern,
				 void (*visit)(int home_fd, void *arg), void *arg)
{
	glob_t paths;

	if (glob(pattern, GLOB_NOSORT, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		namespaces_visit_one(namespaces, paths.gl_pathv[i], visit, arg);
	globfree(&paths);
}

void namespaces_visit(void (*visit)(int home_fd, void *arg), void *arg)
{
	struct namespaces namespaces = { .home_fd = open(NAMESPACES_HOME, O_RDONLY | O_CLOEXEC) };
	struct stat home;

	if (namespaces.home_fd >= 0 && !fstat(namespaces.home_fd, &home) &&
	    namespaces_is_new(&namespaces, home.st_ino)) {
		namespaces.nsfs = home.st_dev;
		namespaces_visit_all(&namespaces, "/run/netns/*", visit, arg);
		namespaces_visit_all(&namespaces, "/proc/[0-9]*/ns/net", visit, arg);
	}
	if (namespaces.home_fd >= 0)
		close(namespaces.home_fd);
	free(namespaces.seen);
}
