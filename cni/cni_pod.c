/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_pod.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cni/cni.h"
#include "network/ip.h"

#define HOME "/proc/self/ns/net"

/* Does the work in the pod's namespace. Without a way back, nothing would be right any more. */
static int cni_pod_inside(const struct cni_pod *pod, int (*work)(void *arg), void *arg)
{
	int home = open(HOME, O_RDONLY | O_CLOEXEC), r;

	if (home < 0)
		return -errno;
	r = setns(pod->fd, CLONE_NEWNET) ? -errno : work(arg);
	if (setns(home, CLONE_NEWNET))
		abort();
	close(home);
	return r;
}

static int cni_pod_open_socket(void *arg)
{
	return nl_init(arg);
}

/* -1: the path leads to nothing, or to something else than a network namespace. */
static int cni_pod_open_path(const char *path)
{
	struct statfs system;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

	if (fd >= 0 && (fstatfs(fd, &system) || system.f_type != NSFS_MAGIC)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int cni_pod_enter(struct cni_pod *pod, const char *path, struct err *err)
{
	struct stat home, there;
	int r;

	if (stat(HOME, &home) || fstat(pod->fd, &there))
		return err_set(err, CNI_IO, "%s: %s", HOME, strerror(errno));
	if (home.st_ino == there.st_ino && home.st_dev == there.st_dev)
		return err_set(err, CNI_BAD_ENVIRONMENT,
			       "CNI_NETNS %s is the namespace of the host; a bond of the host is "
			       "made by 'bondctl create'",
			       path);
	pod->inode = there.st_ino;
	r = cni_pod_inside(pod, cni_pod_open_socket, &pod->nl);
	return r ? err_set(err, CNI_UNKNOWN_CONTAINER, "cannot enter the namespace %s: %s", path,
			   strerror(-r))
		 : 0;
}

int cni_pod_open(struct cni_pod *ret_pod, const char *path, struct err *err)
{
	struct cni_pod *pod = ret_pod;
	int r;

	*pod = (struct cni_pod){ .fd = -1 };
	r = nl_init(&pod->host);
	if (r)
		return err_set(err, CNI_KERNEL, "netlink: %s", strerror(-r));
	pod->fd = cni_pod_open_path(path);
	if (pod->fd < 0)
		return err_set(err, CNI_UNKNOWN_CONTAINER, "there is no network namespace at %s",
			       path ? path : "CNI_NETNS");
	r = cni_pod_enter(pod, path, err);
	if (r) {
		close(pod->fd);
		pod->fd = -1;
	}
	return r;
}

void cni_pod_done(struct cni_pod *pod)
{
	if (pod->fd >= 0)
		close(pod->fd);
	nl_done(&pod->host);
	nl_done(&pod->nl);
}

int cni_pod_put(struct cni_pod *pod, int ifindex, const char *name, struct err *err)
{
	return link_move(&pod->host, ifindex, pod->fd, name, err);
}

int cni_pod_fetch(struct cni_pod *pod, int ifindex, const char *name, struct err *err)
{
	int home = open(HOME, O_RDONLY | O_CLOEXEC), r;

	if (home < 0)
		return err_set(err, errno, "%s: %s", HOME, strerror(errno));
	r = link_move(&pod->nl, ifindex, home, name, err);
	close(home);
	return r;
}

static int cni_pod_turn_ipv6_on(void *arg)
{
	return ipv6_set_disabled(arg, 0);
}

int cni_pod_allow_ipv6(const struct cni_pod *pod, const char *device)
{
	return cni_pod_inside(pod, cni_pod_turn_ipv6_on, (void *)(uintptr_t)device);
}
