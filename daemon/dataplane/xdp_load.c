/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/xdp_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/xdp.skel.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"

/* From Linux 6.3; the headers of Debian bookworm do not have it. */
#define XDP_DEV_BOUND_ONLY (1u << 6)

struct xdp_object {
	struct xdp_bpf *skeleton;
	struct bpf_program *program;
	bool sees_tags;
};

struct pinned_map {
	struct bpf_map *map;
	const char *pin;
};

static int xdp_load_reuse(const struct pinned_map *map, const char *pin_dir, struct err *err)
{
	int fd = pin_open(pin_dir, map->pin), r;

	if (fd < 0)
		return err_set(err, -fd, "cannot open %s/%s: %s", pin_dir, map->pin, strerror(-fd));
	r = bpf_map__reuse_fd(map->map, fd);
	close(fd);
	return r < 0 ? err_set(err, -r, "cannot use %s/%s: %s", pin_dir, map->pin, strerror(-r))
		     : 0;
}

static int xdp_load_make_like(const struct bpf_map *map)
{
	return bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
			      bpf_map__value_size(map), bpf_map__max_entries(map), NULL);
}

/*
 * Each program has its own devmap, because the kernel does not let a dispatched program and one
 * that is alone share one. port_ifindex 0: it stays empty (xdp_dispatcher.c).
 */
static int xdp_load_point_to_port(const struct xdp_bpf *skeleton, uint32_t port_ifindex,
				  struct err *err)
{
	int fd = xdp_load_make_like(skeleton->maps.xdp_port), r;
	const uint32_t key = 0;

	if (fd < 0)
		return err_set(err, -fd, "cannot make a devmap: %s", strerror(-fd));
	r = port_ifindex ? bpf_map_update_elem(fd, &key, &port_ifindex, BPF_ANY) : 0;
	if (!r)
		r = bpf_map__reuse_fd(skeleton->maps.xdp_port, fd);
	close(fd);
	return r < 0 ? err_set(err, -r, "cannot use a devmap: %s", strerror(-r)) : 0;
}

static int xdp_load_use_policy(struct xdp_bpf *skeleton, const char *pin_dir, enum xdp_role role,
			       struct err *err)
{
	const struct pinned_map maps[] = {
		{ skeleton->maps.policy_xdp, XBOND_PIN_POLICY_XDP },
		{ skeleton->maps.XBOND_POLICY_QUESTION, XBOND_PIN_POLICY_QUESTION },
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(maps) / sizeof(maps[0]); i++)
		if (role == XDP_ROLE_TX_ASKS)
			r = xdp_load_reuse(&maps[i], pin_dir, err);
		else
			bpf_map__set_autocreate(maps[i].map, false);
	return r;
}

static int xdp_load_use_maps(struct xdp_bpf *skeleton, const char *pin_dir, struct err *err)
{
	const struct pinned_map shared[] = {
		{ skeleton->maps.data_settings, XBOND_PIN_SETTINGS },
		{ skeleton->maps.data_table, XBOND_PIN_TABLE },
		{ skeleton->maps.data_buckets, XBOND_PIN_BUCKETS },
		{ skeleton->maps.data_cursor, XBOND_PIN_CURSOR },
		{ skeleton->maps.counters, XBOND_PIN_COUNTERS },
		{ skeleton->maps.drops, XBOND_PIN_DROPS },
		{ skeleton->maps.loads, XBOND_PIN_LOADS },
		{ skeleton->maps.data_moves, XBOND_PIN_MOVES },
		{ skeleton->maps.data_flowlets, XBOND_PIN_FLOWLETS },
		{ skeleton->maps.recent, XBOND_PIN_RECENT },
		{ skeleton->maps.data_wake, XBOND_PIN_WAKE },
		{ skeleton->maps.data_doubt, XBOND_PIN_DOUBT },
		{ skeleton->maps.losses, XBOND_PIN_LOSSES },
		{ skeleton->maps.data_alb, XBOND_PIN_ALB },
		{ skeleton->maps.data_vlans, XBOND_PIN_VLANS },
		{ skeleton->maps.devices, XBOND_PIN_XDP_SLAVES },
		{ skeleton->maps.xdp_all, XBOND_PIN_XDP_ALL },
	};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(shared) / sizeof(shared[0]); i++)
		r = xdp_load_reuse(&shared[i], pin_dir, err);
	return r;
}

static struct bpf_program *xdp_load_choose(struct xdp_bpf *skeleton, enum xdp_role role,
					   int ifindex)
{
	struct bpf_program *of[] = {
		[XDP_ROLE_RX] = skeleton->progs.xbond_xdp_rx,
		[XDP_ROLE_RX_TAGS] = skeleton->progs.xbond_xdp_rx_tags,
		[XDP_ROLE_TX] = skeleton->progs.xbond_xdp_tx,
		[XDP_ROLE_TX_ASKS] = skeleton->progs.xbond_xdp_tx_asks,
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		bpf_program__set_autoload(of[i], i == role);
	if (role == XDP_ROLE_RX_TAGS) {
		bpf_program__set_ifindex(of[role], (__u32)ifindex);
		bpf_program__set_flags(of[role], bpf_program__flags(of[role]) | XDP_DEV_BOUND_ONLY);
	}
	return of[role];
}

enum xdp_role xdp_role_tx(const char *pin_dir)
{
	return policy_is_loaded(pin_dir) ? XDP_ROLE_TX_ASKS : XDP_ROLE_TX;
}

int xdp_object_open(struct xdp_object **ret_object, const char *pin_dir, enum xdp_role role,
		    int ifindex, uint32_t port_ifindex, struct err *err)
{
	struct xdp_object *object = memory_need(calloc(1, sizeof(*object)));
	int r;

	object->skeleton = xdp_bpf__open();
	r = object->skeleton ? 0 : err_set(err, errno, "the kernel refused the XDP program: %m");
	if (!r) {
		object->sees_tags = role == XDP_ROLE_RX_TAGS;
		object->program = xdp_load_choose(object->skeleton, role, ifindex);
		r = xdp_load_use_maps(object->skeleton, pin_dir, err);
		if (!r)
			r = xdp_load_use_policy(object->skeleton, pin_dir, role, err);
		if (!r)
			r = xdp_load_point_to_port(object->skeleton, port_ifindex, err);
	}
	if (r)
		xdp_object_close(object);
	else
		*ret_object = object;
	return r;
}

struct bpf_object *xdp_object_bpf(struct xdp_object *object)
{
	return object->skeleton->obj;
}

int xdp_object_load(struct xdp_object *object, struct err *err)
{
	int r = xdp_bpf__load(object->skeleton);

	if (r)
		return err_set(err, -r, "%s: %s",
			       object->sees_tags
				       ? "this kernel hides the device's VLAN tags from XDP"
				       : "the kernel refused the XDP program",
			       strerror(-r));
	r = fcntl(bpf_program__fd(object->program), F_DUPFD_CLOEXEC, 0);
	return r < 0 ? err_set(err, errno, "cannot get a descriptor: %m") : r;
}

void xdp_object_close(struct xdp_object *object)
{
	xdp_bpf__destroy(object->skeleton);
	free(object);
}

static uint32_t xdp_load_pinned_map_id(const char *pin_dir, const char *pin)
{
	int fd = pin_open(pin_dir, pin);
	uint32_t id;

	if (fd < 0)
		return 0;
	id = pin_map_id(fd);
	close(fd);
	return id;
}

int xdp_object_identify(int program_fd, const char *pin_dir, struct xdp_identity *ret_identity)
{
	static const char *const pins[] = { XBOND_PIN_SETTINGS, XBOND_PIN_TABLE,
					    XBOND_PIN_BUCKETS,	XBOND_PIN_CURSOR,
					    XBOND_PIN_COUNTERS, XBOND_PIN_XDP_SLAVES,
					    XBOND_PIN_XDP_ALL };
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(program_fd, &info, &length);

	if (r)
		return r;
	memset(ret_identity, 0, sizeof(*ret_identity));
	memcpy(ret_identity->tag, info.tag, sizeof(ret_identity->tag));
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		ret_identity->shared_maps +=
			pin_program_uses(program_fd, xdp_load_pinned_map_id(pin_dir, pins[i]));
	return 0;
}

static const char *xdp_link_reason(int r)
{
	switch (-r) {
	case EOPNOTSUPP: return "its driver has no native XDP";
	case EBUSY:
	case EEXIST: return "it has an XDP program already";
	default: return strerror(-r);
	}
}

static int xdp_link_make(const char *pin, int program_fd, int ifindex, struct err *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
	int link_fd = bpf_link_create(program_fd, ifindex, BPF_XDP, &options), r;

	if (link_fd < 0)
		return err_set(err, -link_fd, "%s", xdp_link_reason(link_fd));
	unlink(pin);
	r = bpf_obj_pin(link_fd, pin);
	close(link_fd);
	return r < 0 ? err_set(err, -r, "cannot pin %s: %s", pin, strerror(-r)) : 0;
}

int xdp_link_attach(const char *pin, const char *pin_dir, enum xdp_role role, int ifindex,
		    uint32_t port_ifindex, struct err *err)
{
	struct xdp_object *object;
	int r = xdp_object_open(&object, pin_dir, role, ifindex, port_ifindex, err), program_fd;

	if (r)
		return r;
	program_fd = xdp_object_load(object, err);
	r = program_fd < 0 ? program_fd : xdp_link_make(pin, program_fd, ifindex, err);
	if (program_fd >= 0)
		close(program_fd);
	xdp_object_close(object);
	return r;
}

bool xdp_link_is_attached(const char *pin)
{
	int fd = bpf_obj_get(pin);
	struct pin_link link;
	bool is_attached;

	if (fd < 0)
		return false;
	is_attached = !pin_link_read(fd, &link) && link.ifindex;
	close(fd);
	return is_attached;
}
