/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two network namespaces, of the host and of the pod, and the devices that move between them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cni/cni.h"
#include "network/ip.h"

/* The namespaces. */

#define HOME "/proc/self/ns/net"

static int cni_pod_open_socket(const void *arg)
{
	struct nl *const *nl = arg;

	return nl_init(*nl);
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
	struct nl *nl = &pod->nl;
	int r;

	if (stat(HOME, &home) || fstat(pod->fd, &there))
		return err_set(err, CNI_IO, "%s: %s", HOME, strerror(errno));
	if (home.st_ino == there.st_ino && home.st_dev == there.st_dev)
		return err_set(err, CNI_BAD_ENVIRONMENT,
			       "CNI_NETNS %s is the namespace of the host; a bond of the host is "
			       "made by 'bondctl create'",
			       path);
	pod->inode = there.st_ino;
	r = namespaces_inside(pod->fd, cni_pod_open_socket, &nl);
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

static int cni_pod_fetch(struct cni_pod *pod, int ifindex, const char *name, struct err *err)
{
	int home = open(HOME, O_RDONLY | O_CLOEXEC), r;

	if (home < 0)
		return err_set(err, errno, "%s: %s", HOME, strerror(errno));
	r = link_move(&pod->nl, ifindex, home, name, err);
	close(home);
	return r;
}

static int cni_pod_turn_ipv6_on(const void *arg)
{
	return ipv6_set_disabled(arg, 0);
}

int cni_pod_allow_ipv6(const struct cni_pod *pod, const char *device)
{
	return namespaces_inside(pod->fd, cni_pod_turn_ipv6_on, device);
}

/* The links of a bond that were in the pod. */

static const char *cni_links_text(const json_t *link, const char *key)
{
	return json_string_value(json_object_get(link, key));
}

const char *cni_links_host_name(const struct cni_record *record, const char *name)
{
	json_t *link;
	size_t i;

	json_array_foreach (cni_record_links(record), i, link)
		if (!strcmp(cni_links_text(link, "name"), name))
			return cni_links_text(link, "host");
	return name;
}

int cni_links_survey(struct cni_record *record, const struct cni_call *call, struct cni_pod *pod,
		     struct err *err)
{
	for (size_t i = 0; i < call->config.link_count; i++) {
		const char *name = call->config.links[i].name;
		struct link_info link;

		if (link_get_by_name(&pod->nl, name, &link))
			return err_set(err, CNI_BAD_CONFIG,
				       "links: there is no device %s in the container", name);
		if (link.type != ARPHRD_ETHER)
			return err_set(err, CNI_BAD_CONFIG, "links: %s is not an Ethernet device",
				       name);
		json_array_append_new(cni_record_links(record),
				      json_pack("{s:s, s:o, s:b}", "name", name, "host",
						json_sprintf("%s-%zu", record->bond, i), "up",
						!!(link.flags & IFF_UP)));
	}
	return 0;
}

int cni_links_fetch(const struct cni_record *record, struct cni_pod *pod, struct err *err)
{
	json_t *entry;
	size_t i;

	json_array_foreach (cni_record_links(record), i, entry) {
		const char *name = cni_links_text(entry, "name");
		struct err why = { "it has gone" };
		struct link_info link;

		if (link_get_by_name(&pod->nl, name, &link) ||
		    cni_pod_fetch(pod, link.ifindex, cni_links_text(entry, "host"), &why))
			return err_set(err, CNI_KERNEL,
				       "%s cannot be moved out of the container: %s", name,
				       why.text);
	}
	return 0;
}

static int cni_links_give(const json_t *entry, struct cni_pod *pod, const struct link_info *link,
			  struct err *err)
{
	const char *name = cni_links_text(entry, "name");
	struct link_info back;
	struct err why;
	int r = cni_pod_put(pod, link->ifindex, name, &why);

	if (r)
		return err_set(err, CNI_KERNEL,
			       "%s cannot be given back to the container as %s: %s", link->name,
			       name, why.text);
	if (json_is_true(json_object_get(entry, "up")) && !link_get_by_name(&pod->nl, name, &back))
		link_set_flags(&pod->nl, back.ifindex, IFF_UP, IFF_UP, NULL);
	return 0;
}

static void cni_links_leave(const json_t *entry, struct cni_pod *pod, const struct link_info *link)
{
	if (*link->kind) {
		link_delete(&pod->host, link->ifindex, NULL);
		return;
	}
	link_set_flags(&pod->host, link->ifindex, 0, IFF_UP, NULL);
	link_set_name(&pod->host, link->ifindex, cni_links_text(entry, "name"), NULL);
}

int cni_links_return(const struct cni_record *record, struct cni_pod *pod, struct err *err)
{
	json_t *entry;
	int first = 0;
	size_t i;

	json_array_foreach (cni_record_links(record), i, entry) {
		struct link_info link;
		struct err why;
		int r = link_get_by_name(&pod->host, cni_links_text(entry, "host"), &link);

		if (r == -ENODEV)
			continue;
		if (r)
			r = err_set(&why, CNI_KERNEL, "the kernel does not say whether %s is there",
				    cni_links_text(entry, "host"));
		else if (pod->fd >= 0)
			r = cni_links_give(entry, pod, &link, &why);
		else
			cni_links_leave(entry, pod, &link);
		if (r && !first) {
			first = r;
			*err = why;
		}
	}
	return first;
}
