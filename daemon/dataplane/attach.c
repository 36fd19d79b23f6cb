/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "network/filters.h"

/* enum bpf_attach_type of Linux 6.6; the headers of Debian bookworm do not have it. */
#define TCX_INGRESS 46
#define TCX_EGRESS 47
/* Linux 6.7: attached to the primary, runs in its peer's transmit function */
#define NETKIT_PEER 55

#define BEFORE_ALL (1U << 3) /* BPF_F_BEFORE, without naming another program */

#define FILTER_HANDLE 0x78 /* marks xbond's filters on a device */
#define OURS "xbond_"	   /* the names of its programs begin so */

static int attach_link_type(const struct attach_point *point)
{
	if (point->hook == XBOND_HOOK_NETKIT)
		return NETKIT_PEER;
	return point->egress ? TCX_EGRESS : TCX_INGRESS;
}

/* The hook may come from a pinned map, so it may be any number. */
static const char *attach_hook_name(enum xbond_hook hook)
{
	switch (hook) {
	case XBOND_HOOK_TCX: return "TCX";
	case XBOND_HOOK_CLSACT: return "clsact";
	case XBOND_HOOK_NETKIT: return "netkit";
	}
	return "an unknown hook";
}

static int attach_refused(const struct attach_point *point, int code, struct err *err)
{
	return err_set(err, code, "cannot attach the BPF program to device %d by %s: %s",
		       point->ifindex, attach_hook_name(point->hook), strerror(code));
}

int attach_link_create(const struct attach_point *point, int program_fd, bool before_all)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = before_all ? BEFORE_ALL : 0);

	return bpf_link_create(program_fd, point->ifindex,
			       (enum bpf_attach_type)attach_link_type(point), &options);
}

static int attach_add_link(const struct attach_point *point, int program_fd, struct err *err)
{
	int link_fd = attach_link_create(point, program_fd, false), r;

	if (link_fd < 0)
		return attach_refused(point, -link_fd, err);
	remove(point->pin);
	r = bpf_obj_pin(link_fd, point->pin);
	close(link_fd);
	if (r < 0)
		return err_set(err, -r, "cannot pin %s: %s", point->pin, strerror(-r));
	return 0;
}

static struct bpf_tc_hook attach_filter_hook(const struct attach_point *point)
{
	return (struct bpf_tc_hook){
		.sz = sizeof(struct bpf_tc_hook),
		.ifindex = point->ifindex,
		.attach_point = point->egress ? BPF_TC_EGRESS : BPF_TC_INGRESS,
	};
}

int attach_prepare(const struct attach_point *point, struct err *err)
{
	struct bpf_tc_hook hook = attach_filter_hook(point);
	int r = point->hook == XBOND_HOOK_CLSACT ? bpf_tc_hook_create(&hook) : 0;

	return r < 0 && r != -EEXIST ? attach_refused(point, -r, err) : 0;
}

/* What libbpf says if there is no filter, no qdisc or no device. */
static bool attach_has_no_filter(int r)
{
	return r == -ENOENT || r == -EINVAL || r == -ENODEV;
}

static unsigned int attach_priority_of(const struct attach_point *point)
{
	return point->priority ? point->priority : ATTACH_FILTER_PRIORITY;
}

static int attach_add_clsact(const struct attach_point *point, int program_fd, struct err *err)
{
	LIBBPF_OPTS(bpf_tc_opts, filter, .prog_fd = program_fd, .handle = FILTER_HANDLE,
		    .priority = attach_priority_of(point), .flags = BPF_TC_F_REPLACE);
	struct bpf_tc_hook hook = attach_filter_hook(point);
	int r;

	r = bpf_tc_hook_create(&hook);
	if (r < 0 && r != -EEXIST)
		return attach_refused(point, -r, err);
	crashpoint("clsact-made");
	r = bpf_tc_attach(&hook, &filter);
	return r < 0 ? attach_refused(point, -r, err) : 0;
}

int attach_add(const struct attach_point *point, int program_fd, struct err *err)
{
	if (point->hook == XBOND_HOOK_CLSACT)
		return attach_add_clsact(point, program_fd, err);
	return attach_add_link(point, program_fd, err);
}

int attach_remove_clsact(struct nl *nl, int ifindex)
{
	int r = filters_count(nl, ifindex);

	if (!r)
		r = filters_delete_clsact(nl, ifindex);
	return r > 0 || attach_has_no_filter(r) ? 0 : r;
}

static int attach_remove_filter(const struct attach_point *point)
{
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE,
		    .priority = attach_priority_of(point));
	struct bpf_tc_hook hook = attach_filter_hook(point);
	int r = bpf_tc_detach(&hook, &filter);

	return attach_has_no_filter(r) ? 0 : r;
}

int attach_remove(const struct attach_point *point)
{
	int r = point->hook == XBOND_HOOK_CLSACT ? attach_remove_filter(point)
						 : pin_link_detach(point->pin);

	return r == -ENOENT ? 0 : r;
}

bool attach_tcx_works(int ifindex)
{
	uint32_t count = 0;

	/* another error says nothing about the kernel */
	return bpf_prog_query(ifindex, (enum bpf_attach_type)TCX_EGRESS, 0, NULL, NULL, &count) !=
	       -EINVAL;
}

/* Returns how many there are, or -errno. */
static int attach_query(const struct attach_point *point, uint32_t ret_ids[ATTACH_PROGRAMS_MAX])
{
	uint32_t count = ATTACH_PROGRAMS_MAX;
	int r = bpf_prog_query(point->ifindex, (enum bpf_attach_type)attach_link_type(point), 0,
			       NULL, ret_ids, &count);

	return r < 0 ? r : (int)count;
}

uint32_t attach_tcx_list(int ifindex, bool egress, uint32_t ret_ids[ATTACH_PROGRAMS_MAX])
{
	const struct attach_point point = {
		.hook = XBOND_HOOK_TCX,
		.egress = egress,
		.ifindex = ifindex,
	};
	int count = attach_query(&point, ret_ids);

	return count < 0 ? 0 : (uint32_t)count;
}

bool attach_lists(const uint32_t ids[], int count, uint32_t id)
{
	for (int i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

bool attach_has(const struct attach_point *point, uint32_t id)
{
	uint32_t ids[ATTACH_PROGRAMS_MAX];

	return point->hook != XBOND_HOOK_CLSACT && attach_lists(ids, attach_query(point, ids), id);
}

static int attach_filter_is_there(const struct attach_point *point)
{
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE,
		    .priority = attach_priority_of(point));
	struct bpf_tc_hook hook = attach_filter_hook(point);
	int r = bpf_tc_query(&hook, &filter);

	return attach_has_no_filter(r) ? 0 : r < 0 ? r : 1;
}

/* EACCES: a directory, or something else that is not of BPF. */
static int attach_link_is_there(const struct attach_point *point)
{
	uint32_t ids[ATTACH_PROGRAMS_MAX];
	struct pin_link link;
	int link_fd = bpf_obj_get(point->pin), r, count;

	if (link_fd < 0)
		return link_fd == -ENOENT || link_fd == -EACCES ? 0 : link_fd;
	r = pin_link_read(link_fd, &link);
	close(link_fd);
	if (r || !link.ifindex)
		return r;
	count = attach_query(point, ids);
	return count < 0 ? count : attach_lists(ids, count, link.program);
}

int attach_is_there(const struct attach_point *point)
{
	return point->hook == XBOND_HOOK_CLSACT ? attach_filter_is_there(point)
						: attach_link_is_there(point);
}

static bool attach_is_named(uint32_t id, const char *begin)
{
	struct bpf_prog_info info;

	return pin_program_read(id, &info) && !strncmp(info.name, begin, strlen(begin));
}

/* Is there one whose name begins so, or, with others, one whose name does not? */
static bool attach_tcx_has(int ifindex, bool egress, const char *begin, bool others)
{
	uint32_t ids[ATTACH_PROGRAMS_MAX], count = attach_tcx_list(ifindex, egress, ids);

	for (uint32_t i = 0; i < count; i++)
		if (attach_is_named(ids[i], begin) != others)
			return true;
	return false;
}

bool attach_has_program(int ifindex, bool egress, const char *begin)
{
	return attach_tcx_has(ifindex, egress, begin, false);
}

bool attach_is_of_xbond(uint32_t id)
{
	return attach_is_named(id, OURS);
}

static bool attach_has_program_behind(int ifindex, uint32_t id)
{
	uint32_t ids[ATTACH_PROGRAMS_MAX], count = attach_tcx_list(ifindex, true, ids);

	for (uint32_t i = 0; i + 1 < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* TCX comes before clsact. */
bool attach_skips_others(struct nl *nl, const struct attach_point *egress, int program_fd)
{
	struct filter_place place = { .ifindex = egress->ifindex };

	if (egress->hook == XBOND_HOOK_CLSACT) {
		place.handle = FILTER_HANDLE;
		place.priority = ATTACH_FILTER_PRIORITY;
	}
	return filters_are_behind(nl, &place) ||
	       (egress->hook != XBOND_HOOK_CLSACT &&
		attach_has_program_behind(egress->ifindex, pin_program_id(program_fd)));
}

static uint32_t attach_filter_program(int ifindex, bool egress, uint32_t priority)
{
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = priority);
	struct attach_point point = { .ifindex = ifindex, .egress = egress };
	struct bpf_tc_hook hook = attach_filter_hook(&point);

	return bpf_tc_query(&hook, &filter) ? 0 : filter.prog_id;
}

bool attach_has_egress_filter(int ifindex)
{
	return attach_filter_program(ifindex, true, ATTACH_FILTER_PRIORITY);
}

/* A link that somebody has detached stays. */
uint32_t attach_linked_program(const struct attach_point *point)
{
	int link_fd = bpf_obj_get(point->pin);
	struct pin_link link = { 0 };

	if (link_fd < 0)
		return 0;
	pin_link_read(link_fd, &link);
	close(link_fd);
	return link.ifindex ? link.program : 0;
}

uint32_t attach_program(const struct attach_point *point)
{
	return point->hook == XBOND_HOOK_CLSACT
		       ? attach_filter_program(point->ifindex, point->egress,
					       attach_priority_of(point))
		       : attach_linked_program(point);
}

static int attach_replace_in_link(const struct attach_point *point, int program_fd, struct err *err)
{
	int link_fd = bpf_obj_get(point->pin), r;

	if (link_fd < 0)
		return err_set(err, -link_fd, "cannot open %s: %s", point->pin, strerror(-link_fd));
	r = bpf_link_update(link_fd, program_fd, NULL);
	close(link_fd);
	return r < 0 ? attach_refused(point, -r, err) : 0;
}

int attach_replace(const struct attach_point *point, int program_fd, struct err *err)
{
	return point->hook == XBOND_HOOK_CLSACT ? attach_add_clsact(point, program_fd, err)
						: attach_replace_in_link(point, program_fd, err);
}

bool attach_has_rx_filter(int ifindex, unsigned int priority)
{
	return attach_filter_program(ifindex, false, priority);
}

bool attach_is_our_priority(unsigned int priority)
{
	return priority == ATTACH_FILTER_PRIORITY || priority == ATTACH_LAST_PRIORITY ||
	       priority == ATTACH_FIRST_PRIORITY;
}

bool attach_is_our_filter(unsigned int priority, unsigned int handle)
{
	return handle == FILTER_HANDLE && attach_is_our_priority(priority);
}

int attach_look_for_filters(struct nl *nl, int ifindex, struct filters_others *ret_others)
{
	return filters_look(nl, ifindex, attach_is_our_filter, ret_others);
}

bool attach_has_others(struct nl *nl, int ifindex)
{
	return filters_count(nl, ifindex) > attach_has_egress_filter(ifindex) ||
	       attach_tcx_has(ifindex, false, OURS, true) ||
	       attach_tcx_has(ifindex, true, OURS, true);
}
