/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/xdp_gate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAPS_MAX 32
#define MAP_NAME "xdp_port" /* of bpf/xdp.bpf.c */

/* Returns a descriptor if it is the devmap, otherwise -ENOENT. */
static int gate_try_map(uint32_t id)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return fd;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_MAP_TYPE_DEVMAP &&
	    !strcmp(info.name, MAP_NAME))
		return fd;
	close(fd);
	return -ENOENT;
}

static int gate_find(int program_fd)
{
	uint32_t ids[MAPS_MAX] = { 0 }, size = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)ids };
	int r = bpf_obj_get_info_by_fd(program_fd, &info, &size), fd = -ENOENT;

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX && fd < 0; i++)
		fd = gate_try_map(ids[i]);
	return fd;
}

int xdp_gate_open(int program_fd, uint32_t port_ifindex)
{
	const uint32_t key = 0;
	int fd = gate_find(program_fd), r;

	if (fd < 0)
		return fd;
	r = bpf_map_update_elem(fd, &key, &port_ifindex, BPF_ANY);
	close(fd);
	return r;
}

int xdp_gate_open_link(const char *pin, uint32_t port_ifindex)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	int link_fd = bpf_obj_get(pin), program_fd, r;

	if (link_fd < 0)
		return link_fd;
	r = bpf_obj_get_info_by_fd(link_fd, &info, &size);
	close(link_fd);
	if (r < 0)
		return r;
	program_fd = bpf_prog_get_fd_by_id(info.prog_id);
	if (program_fd < 0)
		return program_fd;
	r = xdp_gate_open(program_fd, port_ifindex);
	close(program_fd);
	return r;
}
