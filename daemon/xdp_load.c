/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/xdp_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xdp.skel.h"

/* Linux 6.3, which bookworm's headers do not know. */
#define XDP_DEV_BOUND_ONLY (1u << 6)

#define PATH_SIZE (PATH_MAX + 32)
#define DEVMAPS 3

struct pinned_map {
	struct bpf_map *map;
	const char *pin;
};

static int reuse(const struct pinned_map *map, const char *pin_dir, struct err *err)
{
	char path[PATH_SIZE];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", pin_dir, map->pin);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return err_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	r = bpf_map__reuse_fd(map->map, fd);
	close(fd);
	return r < 0 ? err_set(err, -r, "cannot use %s: %s", path, strerror(-r)) : 0;
}

static int pin(const struct pinned_map *map, const char *pin_dir, struct err *err)
{
	char path[PATH_SIZE];
	int r;

	snprintf(path, sizeof(path), "%s/%s", pin_dir, map->pin);
	r = bpf_obj_pin(bpf_map__fd(map->map), path);
	return r < 0 && r != -EEXIST ? err_set(err, -r, "cannot pin %s: %s", path, strerror(-r)) : 0;
}

/* By hand: libbpf 1.1 takes a pinned devmap for a foreign one, as the kernel adds a flag to it. */
static int load(struct xdp_bpf *skeleton, const char *pin_dir, struct err *err)
{
	const struct pinned_map shared[] = {
		{ skeleton->maps.data_settings, XBOND_PIN_SETTINGS },
		{ skeleton->maps.data_table, XBOND_PIN_TABLE },
		{ skeleton->maps.data_buckets, XBOND_PIN_BUCKETS },
		{ skeleton->maps.data_cursor, XBOND_PIN_CURSOR },
		{ skeleton->maps.counters, XBOND_PIN_COUNTERS },
	};
	const struct pinned_map devmaps[DEVMAPS] = {
		{ skeleton->maps.xdp_port, XBOND_PIN_XDP_PORT },
		{ skeleton->maps.xdp_slaves, XBOND_PIN_XDP_SLAVES },
		{ skeleton->maps.xdp_all, XBOND_PIN_XDP_ALL },
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(shared) / sizeof(shared[0]); i++)
		r = reuse(&shared[i], pin_dir, err);
	for (size_t i = 0; !r && i < DEVMAPS; i++) {
		r = reuse(&devmaps[i], pin_dir, err);
		if (r == -ENOENT)
			r = 0; /* this load makes it */
	}
	if (r)
		return r;
	r = xdp_bpf__load(skeleton);
	if (r)
		return err_set(err, -r, "the kernel refused the XDP program: %s", strerror(-r));
	for (size_t i = 0; !r && i < DEVMAPS; i++)
		r = pin(&devmaps[i], pin_dir, err);
	return r;
}

static struct bpf_program *choose(struct xdp_bpf *skeleton, enum xdp_program program, int ifindex)
{
	struct bpf_program *of[] = {
		[XDP_PROGRAM_RX] = skeleton->progs.xbond_xdp_rx,
		[XDP_PROGRAM_RX_TAGS] = skeleton->progs.xbond_xdp_rx_tags,
		[XDP_PROGRAM_TX] = skeleton->progs.xbond_xdp_tx,
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		bpf_program__set_autoload(of[i], i == program);
	if (program == XDP_PROGRAM_RX_TAGS) {
		bpf_program__set_ifindex(of[program], (__u32)ifindex);
		bpf_program__set_flags(of[program], bpf_program__flags(of[program]) | XDP_DEV_BOUND_ONLY);
	}
	return of[program];
}

int xdp_load(const char *pin_dir, enum xdp_program program, int ifindex, struct err *err)
{
	struct xdp_bpf *skeleton = xdp_bpf__open();
	struct bpf_program *chosen;
	int r;

	if (!skeleton)
		return err_set(err, errno, "the kernel refused the XDP program: %m");
	chosen = choose(skeleton, program, ifindex);
	r = load(skeleton, pin_dir, err);
	if (!r) {
		r = fcntl(bpf_program__fd(chosen), F_DUPFD_CLOEXEC, 0);
		if (r < 0)
			r = err_set(err, errno, "no descriptor: %m");
	}
	xdp_bpf__destroy(skeleton);
	return r;
}
