/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/pins.h"
#include "daemon/base/crashpoint.h"

#define PIN_SIZE (sizeof(((struct attach_point *)0)->pin) + sizeof(XBOND_PIN_NEW))

static void tcx_new_pin(char path[PIN_SIZE], const struct attach_point *point)
{
	snprintf(path, PIN_SIZE, "%s" XBOND_PIN_NEW, point->pin);
}

struct tcx_order tcx_look(const struct attach_point *point, int program_fd)
{
	uint32_t ids[ATTACH_PROGRAMS_MAX], ours = pin_program_id(program_fd),
					   count = attach_tcx_list(point->ifindex, false, ids);
	struct tcx_order order = { 0 };

	if (!attach_lists(ids, (int)count, ours))
		ours = attach_linked_program(point); /* of another build, or a stand-in */
	for (uint32_t i = 0; i < count; i++) {
		if (ids[i] == ours) {
			order.is_there = true;
			continue;
		}
		order.others = (order.others ^ ids[i]) * 0x9e3779b1;
		if (order.is_there)
			order.after++;
		else
			order.before++;
	}
	return order;
}

/* Loads a program that only calls the other. */
static int tcx_load_caller(int array_fd)
{
	const struct bpf_insn code[] = {
		/* r2 = array; r3 = 0; bpf_tail_call(); return TC_ACT_UNSPEC */
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = array_fd },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = TC_ACT_UNSPEC },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "xbond_stand_in", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

/* The kernel takes no program twice on a device, so a stand-in calls it. */
static int tcx_stand_in(int program_fd)
{
	int array_fd = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "xbond_stand_in", 4, 4, 1, NULL), r;
	const uint32_t key = 0;

	if (array_fd < 0)
		return array_fd;
	r = bpf_map_update_elem(array_fd, &key, &program_fd, BPF_ANY);
	if (!r)
		r = tcx_load_caller(array_fd);
	close(array_fd);
	return r;
}

static int tcx_add(const struct attach_point *point, int program_fd, enum tcx_end end)
{
	int stand_in_fd, link_fd;

	if (!attach_has(point, pin_program_id(program_fd)))
		return attach_link_create(point, program_fd, end == TCX_FIRST);
	stand_in_fd = tcx_stand_in(program_fd);
	if (stand_in_fd < 0)
		return stand_in_fd;
	link_fd = attach_link_create(point, stand_in_fd, end == TCX_FIRST);
	close(stand_in_fd);
	return link_fd;
}

/* The pin of the new link replaces the old pin by one rename. */
static int tcx_replace(const struct attach_point *point, int program_fd, int old_fd, int link_fd)
{
	char path[PIN_SIZE];
	int r;

	tcx_new_pin(path, point);
	unlink(path);
	r = bpf_obj_pin(link_fd, path);
	if (r < 0)
		return r;
	crashpoint("tcx-pinned");
	if (rename(path, point->pin) < 0) {
		r = -errno;
		unlink(path);
		return r;
	}
	crashpoint("tcx-renamed");
	if (old_fd >= 0)
		bpf_link_detach(old_fd);
	/* Does the same without a stand-in. */
	return bpf_link_update(link_fd, program_fd, NULL);
}

int tcx_move(const struct attach_point *point, int program_fd, enum tcx_end end, struct err *err)
{
	int old_fd = bpf_obj_get(point->pin), link_fd = tcx_add(point, program_fd, end),
	    r = link_fd;

	if (link_fd >= 0) {
		r = tcx_replace(point, program_fd, old_fd, link_fd);
		close(link_fd);
	}
	if (old_fd >= 0)
		close(old_fd);
	return r < 0 ? err_set(err, -r, "cannot attach the BPF program to device %d by TCX: %s",
			       point->ifindex, strerror(-r))
		     : 0;
}

static int tcx_remove_new(const struct attach_point *point)
{
	char path[PIN_SIZE];
	int r;

	tcx_new_pin(path, point);
	r = pin_link_detach(path);
	return r == -ENOENT ? 0 : r;
}

int tcx_tidy(const struct attach_point *point, int program_fd)
{
	int r = tcx_remove_new(point), fd;

	if (attach_linked_program(point) == pin_program_id(program_fd))
		return r;
	fd = bpf_obj_get(point->pin);
	if (fd < 0)
		return r;
	bpf_link_update(fd, program_fd, NULL);
	close(fd);
	return r;
}
