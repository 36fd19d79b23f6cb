/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include "xsk/xsk_filter.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "bpf/abi.h"
#include "bpf/port_filter.skel.h"
#include "xbond/loader.h"

#define FILTER_PRIORITY 20 /* xbond's own has 90, and others 50 if they say nothing */

/* Of the bond; the other maps are the filter's own. */
static int filter_use_maps(struct port_filter_bpf *object, const char *bond)
{
	char why[XBOND_WHY_SIZE];
	int r = xbond_use_map(object->maps.data_bond, bond, XBOND_PIN_BOND, why);

	if (!r)
		r = xbond_use_map(object->maps.data_table, bond, XBOND_PIN_TABLE, why);
	if (!r)
		r = xbond_use_map(object->maps.data_alb, bond, XBOND_PIN_ALB, why);
	return r;
}

static void filter_set_wanted(struct port_filter_bpf__rodata *wanted,
			      const struct xbond_xsk_options *options)
{
	for (int i = 0; i < XBOND_XSK_PORTS; i++) {
		__u16 port = options->ports[i];

		if (!port)
			continue;
		wanted->wants_ports = 1;
		wanted->wanted_ports[port / 8] |= (__u8)(1 << port % 8);
	}
	wanted->wanted_type = htons(options->ether_type);
	if (options->family)
		wanted->wanted_ip = htons(options->family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	memcpy(wanted->wanted_address, options->address, sizeof(options->address));
}

static int filter_open(struct filter *filter, const struct filter_rule *rule)
{
	memset(filter, 0, sizeof(*filter));
	filter->link_fd = -1;
	filter->object = port_filter_bpf__open();
	if (!filter->object)
		return -errno;
	filter->object->rodata->filter_slot = rule->slot;
	filter_set_wanted(filter->object->rodata, rule->options);
	return filter_use_maps(filter->object, rule->bond);
}

/* Without an entry the address that bondd has written is taken. */
static void filter_point_at_bond(const struct filter *filter, __u32 bond_ifindex)
{
	__u32 key = 0;

	if (bond_ifindex)
		bpf_map_update_elem(bpf_map__fd(filter->object->maps.device), &key, &bond_ifindex,
				    0);
}

static int filter_link(struct filter *filter, __u32 ifindex)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
	int r = port_filter_bpf__load(filter->object);

	if (r)
		return r;
	filter->link_fd = bpf_link_create(bpf_program__fd(filter->object->progs.xbond_port_filter),
					  (int)ifindex, BPF_XDP, &options);
	return filter->link_fd < 0 ? -errno : 0;
}

/* What libxdp attaches without a dispatcher would outlive the process. */
static int filter_has_dispatcher(__u32 ifindex)
{
	struct xdp_multiprog *found = xdp_multiprog__get_from_ifindex((int)ifindex);
	int has;

	if (libxdp_get_error(found))
		return 0;
	has = !xdp_multiprog__is_legacy(found);
	xdp_multiprog__close(found);
	return has;
}

static int filter_dispatch(struct filter *filter, __u32 ifindex)
{
	int r;

	if (!filter_has_dispatcher(ifindex))
		return -EBUSY;
	filter->program = xdp_program__from_bpf_obj(filter->object->obj, "xdp.frags");
	r = (int)libxdp_get_error(filter->program);
	if (r) {
		filter->program = NULL;
		return r;
	}
	r = xdp_program__set_run_prio(filter->program, FILTER_PRIORITY);
	if (!r)
		r = xdp_program__set_chain_call_enabled(filter->program, XDP_PASS, true);
	if (!r)
		r = xdp_program__attach(filter->program, (int)ifindex, XDP_MODE_NATIVE, 0);
	if (!r)
		filter->ifindex = ifindex;
	return r;
}

/* A link ends with the process, so it is the first choice. */
int filter_attach(struct filter *filter, const struct filter_rule *rule)
{
	int r = filter_open(filter, rule);

	if (!r)
		r = filter_link(filter, rule->ifindex);
	if (r == -EBUSY || r == -EEXIST) {
		filter_detach(filter);
		r = filter_open(filter, rule);
		if (!r)
			r = filter_dispatch(filter, rule->ifindex);
	}
	if (r)
		filter_detach(filter);
	else
		filter_point_at_bond(filter, rule->bond_ifindex);
	return r;
}

int filter_add(struct filter *filter, __u32 queue, int socket_fd)
{
	int fd = bpf_map__fd(filter->object->maps.sockets);

	return bpf_map_update_elem(fd, &queue, &socket_fd, 0) ? -errno : 0;
}

void filter_detach(struct filter *filter)
{
	if (filter->program && filter->ifindex)
		xdp_program__detach(filter->program, (int)filter->ifindex, XDP_MODE_NATIVE, 0);
	if (filter->program)
		xdp_program__close(filter->program);
	if (filter->object) {
		if (filter->link_fd >= 0)
			close(filter->link_fd);
		port_filter_bpf__destroy(filter->object);
	}
	memset(filter, 0, sizeof(*filter));
}
