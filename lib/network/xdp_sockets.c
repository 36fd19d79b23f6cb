/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/xdp_sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/xdp_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/memory.h"
#include "network/nl.h"

/* Newer headers have more. */
static void xdp_sockets_take_stats(struct xdp_socket *socket, const struct nlattr *attribute)
{
	struct xdp_diag_stats stats;

	if (!attribute || nla_len(attribute) < (int)sizeof(stats))
		return;
	memcpy(&stats, nla_data(attribute), sizeof(stats));
	socket->missed = stats.n_rx_dropped + stats.n_rx_full;
}

static void xdp_sockets_take(struct nlmsghdr *message, void *arg)
{
	struct xdp_sockets *sockets = arg;
	struct nlattr *found[XDP_DIAG_MAX + 1];
	const struct xdp_diag_msg *head = nlmsg_data(message);
	struct xdp_diag_info info;
	struct xdp_diag_umem umem;
	struct xdp_socket socket = { 0 };

	if (nlmsg_parse(message, sizeof(*head), found, XDP_DIAG_MAX, NULL) < 0 ||
	    !found[XDP_DIAG_INFO] || nla_len(found[XDP_DIAG_INFO]) < (int)sizeof(info))
		return;
	memcpy(&info, nla_data(found[XDP_DIAG_INFO]), sizeof(info));
	if (!info.ifindex)
		return;
	socket.ifindex = info.ifindex;
	socket.queue = info.queue_id;
	socket.inode = head->xdiag_ino;
	if (found[XDP_DIAG_UMEM] && nla_len(found[XDP_DIAG_UMEM]) >= (int)sizeof(umem)) {
		memcpy(&umem, nla_data(found[XDP_DIAG_UMEM]), sizeof(umem));
		socket.zero_copy = umem.flags & XDP_DU_F_ZEROCOPY;
	}
	xdp_sockets_take_stats(&socket, found[XDP_DIAG_STATS]);
	memory_more(sockets->socket, sockets->count);
	sockets->socket[sockets->count++] = socket;
}

static int xdp_sockets_compare(const void *left, const void *right)
{
	const struct xdp_socket *a = left, *b = right;

	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return (a->queue > b->queue) - (a->queue < b->queue);
}

int xdp_sockets_read(struct xdp_sockets *ret_sockets)
{
	const struct xdp_diag_req request = {
		.sdiag_family = AF_XDP,
		.xdiag_show = XDP_SHOW_INFO | XDP_SHOW_UMEM | XDP_SHOW_STATS,
	};
	struct nl nl;
	int r = nl_init_diag(&nl);

	*ret_sockets = (struct xdp_sockets){ 0 };
	if (r)
		return r;
	r = nl_call(&nl, nl_request_new(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &request, sizeof(request)),
		    xdp_sockets_take, ret_sockets, NULL);
	nl_done(&nl);
	if (r)
		xdp_sockets_free(ret_sockets);
	else if (ret_sockets->count)
		qsort(ret_sockets->socket, ret_sockets->count, sizeof(*ret_sockets->socket),
		      xdp_sockets_compare);
	return r;
}

void xdp_sockets_free(struct xdp_sockets *sockets)
{
	free(sockets->socket);
	*sockets = (struct xdp_sockets){ 0 };
}

static void xdp_sockets_name(int process_fd, char ret_name[16])
{
	int fd = openat(process_fd, "comm", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, ret_name, 15);

	ret_name[length > 0 ? length : 0] = '\0';
	ret_name[strcspn(ret_name, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void xdp_sockets_owned(struct xdp_sockets *sockets, uint32_t inode, int process_fd,
			      pid_t pid)
{
	for (size_t i = 0; i < sockets->count; i++) {
		struct xdp_socket *socket = &sockets->socket[i];

		if (socket->inode != inode || socket->pid)
			continue;
		socket->pid = pid;
		xdp_sockets_name(process_fd, socket->program);
	}
}

static void xdp_sockets_look_at(struct xdp_sockets *sockets, int process_fd, pid_t pid)
{
	int fd = openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *file;
	char target[64];
	uint32_t inode;

	if (!files && fd >= 0)
		close(fd);
	while (files && (file = readdir(files))) {
		ssize_t length = readlinkat(fd, file->d_name, target, sizeof(target) - 1);

		target[length > 0 ? length : 0] = '\0';
		if (sscanf(target, "socket:[%u]", &inode) == 1)
			xdp_sockets_owned(sockets, inode, process_fd, pid);
	}
	if (files)
		closedir(files);
}

static bool xdp_sockets_are_owned(const struct xdp_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (!sockets->socket[i].pid)
			return false;
	return true;
}

/* Programs may have many descriptors, so it ends when all owners are known. */
void xdp_sockets_find_owners(struct xdp_sockets *sockets)
{
	DIR *processes = sockets->count ? opendir("/proc") : NULL;
	const struct dirent *process;

	while (processes && !xdp_sockets_are_owned(sockets) && (process = readdir(processes))) {
		pid_t pid = (pid_t)atoi(process->d_name);
		int fd = pid > 0 ? openat(dirfd(processes), process->d_name,
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				 : -1;

		if (fd < 0)
			continue;
		xdp_sockets_look_at(sockets, fd, pid);
		close(fd);
	}
	if (processes)
		closedir(processes);
}
