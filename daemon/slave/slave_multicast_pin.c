/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_multicast_pin.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"

static bool slave_multicast_pin_has_shape(int fd)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_MAP_TYPE_HASH &&
	       info.key_size == sizeof(struct xbond_group) && info.value_size == sizeof(uint64_t);
}

int slave_multicast_pin_open(const char *dir)
{
	int fd = pin_open(dir, XBOND_PIN_GROUPS);

	if (fd < 0 || slave_multicast_pin_has_shape(fd))
		return fd;
	close(fd);
	return -EBADMSG;
}

/* Most bonds have few groups, so memory is taken as they come. */
int slave_multicast_pin_make(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, XBOND_PIN_GROUPS, sizeof(struct xbond_group),
			      sizeof(uint64_t), XBOND_MAX_GROUPS, &options);
}

int slave_multicast_pin_publish(int fd, const char *dir)
{
	char path[PIN_PATH_SIZE];

	return bpf_obj_pin(fd, pin_path(path, dir, XBOND_PIN_GROUPS));
}

int slave_multicast_pin_write(int fd, const uint8_t mac[XBOND_MAC_SIZE], uint64_t slots)
{
	struct xbond_group key = { 0 };

	memcpy(key.mac, mac, XBOND_MAC_SIZE);
	return slots ? bpf_map_update_elem(fd, &key, &slots, BPF_ANY)
		     : bpf_map_delete_elem(fd, &key);
}

void slave_multicast_pin_read(int fd, slave_multicast_pin_visit visit, void *arg)
{
	struct xbond_group key, *before = NULL;
	uint64_t slots;

	while (!bpf_map_get_next_key(fd, before, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &slots))
			visit(key.mac, slots, arg);
		before = &key;
	}
}
