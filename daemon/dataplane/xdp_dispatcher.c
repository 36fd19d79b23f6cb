/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "common/clock.h"
#include "daemon/base/worker.h"
#include "daemon/dataplane/xdp_load.h"

#define MAPS_MAX 32	    /* of a program; more than ours use */
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

/*
 * For a loaded program. Can be repeated without harm. Returns 0 or -errno; -ENOENT: it has no such
 * map.
 */
static int xdp_gate_open(int program_fd, uint32_t port_ifindex)
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

#define LIBXDP_DIR "/sys/fs/bpf/xdp" /* the directory that libxdp locks */
#define LOCK_LIMIT_MS 1000
#define LOCK_STEP_MS 20
/* for how long libxdp is not asked again after its lock was taken */
#define PATIENCE_NS (5000 * NS_PER_MS)
/*
 * Behind filters and monitors, whose default is 50, because frames that our program takes go no
 * further.
 */
#define PRIORITY 90

struct call {
	int (*work)(const struct call *call);
	int ifindex;
	const char *pin_dir;   /* for xdp_dispatcher_add() and _upgrade() */
	uint32_t port_ifindex; /* 0: set later, by xdp_dispatcher_open() */
	const struct xdp_identity *identity;
};

/* libxdp repeats on stderr what its return values say. */
static int xdp_dispatcher_say_nothing(enum libxdp_print_level level, const char *format,
				      va_list values)
{
	return 0;
}

/*
 * libxdp waits for its lock without a limit, and a child that waits would be killed at the wrong
 * moment. So the child tries the lock first. -ENOLCK: somebody holds it; nothing was done.
 */
static int xdp_dispatcher_wait_for_lock(void)
{
	int fd = open(LIBXDP_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	for (unsigned int waited = 0; fd >= 0; waited += LOCK_STEP_MS) {
		r = flock(fd, LOCK_EX | LOCK_NB) ? -ENOLCK : 0;
		if (!r || waited >= LOCK_LIMIT_MS)
			break;
		usleep(LOCK_STEP_MS * 1000);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static int xdp_dispatcher_locked_work(const void *arg)
{
	const struct call *call = arg;
	int r = xdp_dispatcher_wait_for_lock();

	return r ? r : call->work(call);
}

/*
 * libxdp before 1.4.2 leaks descriptors at every look, so a child looks. The lock is for all
 * devices, so one wait is enough for all of them.
 */
static int xdp_dispatcher_in_child(const struct call *call)
{
	static uint64_t locked_until_ns;
	int r;

	if (clock_now_ns() < locked_until_ns)
		return -ENOLCK;
	libxdp_set_print(xdp_dispatcher_say_nothing);
	r = child_run(xdp_dispatcher_locked_work, call, -1);
	if (r == -ENOLCK)
		locked_until_ns = clock_now_ns() + PATIENCE_NS;
	return r;
}

/* Returns NULL if there is no XDP, or none that libxdp can read. */
static struct xdp_multiprog *xdp_dispatcher_open_attached(int ifindex)
{
	struct xdp_multiprog *attached = xdp_multiprog__get_from_ifindex(ifindex);

	return libxdp_get_error(attached) ? NULL : attached;
}

/* By name, which needs no record that could be lost. A device is a slave of one bond only. */
static bool xdp_dispatcher_is_ours(const struct xdp_program *program)
{
	return !strcmp(xdp_program__name(program), XDP_RX_NAME);
}

static struct xdp_program *xdp_dispatcher_find_ours(const struct xdp_multiprog *attached)
{
	struct xdp_program *program = NULL;

	while ((program = xdp_multiprog__next_prog(program, attached)))
		if (xdp_dispatcher_is_ours(program))
			return program;
	return NULL;
}

/* Without freplace, libxdp attaches the program alone, without a dispatcher. */
static struct xdp_program *xdp_dispatcher_find_alone(const struct xdp_multiprog *attached)
{
	struct xdp_program *program = xdp_multiprog__main_prog(attached);

	return xdp_multiprog__is_legacy(attached) && program && xdp_dispatcher_is_ours(program)
		       ? program
		       : NULL;
}

/* -ENOENT: there is none. */
static int
xdp_dispatcher_take_out(int ifindex,
			struct xdp_program *(*find)(const struct xdp_multiprog *attached))
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(ifindex);
	struct xdp_program *program = attached ? find(attached) : NULL;
	int r = -ENOENT;

	if (program)
		r = xdp_program__detach(program, ifindex, xdp_multiprog__attach_mode(attached), 0);
	xdp_multiprog__close(attached);
	return r;
}

static int xdp_dispatcher_child_has(const struct call *call)
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(call->ifindex);

	return attached && (xdp_dispatcher_find_ours(attached) ||
			    xdp_dispatcher_find_alone(attached))
		       ? 0
		       : -ENOENT;
}

int xdp_dispatcher_has(int ifindex)
{
	const struct call call = { .work = xdp_dispatcher_child_has, .ifindex = ifindex };
	int r = xdp_dispatcher_in_child(&call);

	return r == -ENOENT ? 0 : r ? r : 1;
}

static int xdp_dispatcher_open_gate(const struct call *call)
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(call->ifindex);
	struct xdp_program *program = attached ? xdp_dispatcher_find_ours(attached) : NULL;

	if (attached && !program)
		program = xdp_dispatcher_find_alone(attached);
	return program ? xdp_gate_open(xdp_program__fd(program), call->port_ifindex) : -ENOENT;
}

int xdp_dispatcher_open(int ifindex, uint32_t port_ifindex)
{
	const struct call call = { .work = xdp_dispatcher_open_gate,
				   .ifindex = ifindex,
				   .port_ifindex = port_ifindex };

	return xdp_dispatcher_in_child(&call);
}

static int xdp_dispatcher_remove_ours(const struct call *call)
{
	int r = xdp_dispatcher_take_out(call->ifindex, xdp_dispatcher_find_ours);

	if (r == -ENOENT)
		r = xdp_dispatcher_take_out(call->ifindex, xdp_dispatcher_find_alone);
	return r == -ENOENT ? 0 : r;
}

int xdp_dispatcher_remove(int ifindex)
{
	const struct call call = { .work = xdp_dispatcher_remove_ours, .ifindex = ifindex };

	return xdp_dispatcher_in_child(&call);
}

static int xdp_dispatcher_attach(struct xdp_object *object, int ifindex)
{
	DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = xdp_object_bpf(object),
			    .prog_name = XDP_RX_NAME);
	struct xdp_program *program = xdp_program__create(&options);
	int r = (int)libxdp_get_error(program);

	if (r)
		return r;
	r = xdp_program__set_run_prio(program, PRIORITY);
	if (!r) /* libbpf tells the kernel what the section's name says, libxdp does not */
		r = xdp_program__set_xdp_frags_support(program, true);
	return r ? r : xdp_program__attach(program, ifindex, XDP_MODE_NATIVE, 0);
}

/* -ENOSYS: no freplace. The object's descriptors must belong to the child. */
static int xdp_dispatcher_child_add(const struct call *call)
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(call->ifindex);
	struct xdp_object *object;
	int r;

	if (attached && xdp_multiprog__attach_mode(attached) != XDP_MODE_NATIVE)
		return -EBUSY;
	r = xdp_object_open(&object, call->pin_dir, XDP_ROLE_RX, call->ifindex, call->port_ifindex,
			    NULL);
	if (!r)
		r = xdp_dispatcher_attach(object, call->ifindex);
	if (!r && !xdp_dispatcher_take_out(call->ifindex, xdp_dispatcher_find_alone))
		r = -ENOSYS;
	return r;
}

static bool xdp_dispatcher_is_current(const struct xdp_program *program, const struct call *call)
{
	int fd = bpf_prog_get_fd_by_id(xdp_program__id(program));
	struct xdp_identity identity;
	bool current = fd >= 0 && !xdp_object_identify(fd, call->pin_dir, &identity) &&
		       !memcmp(&identity, call->identity, sizeof(identity));

	if (fd >= 0)
		close(fd);
	return current;
}

/* Finds a program of ours that is current, or one that is not. Returns its number; 0: none. */
static uint32_t xdp_dispatcher_find_build(const struct call *call, bool current)
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(call->ifindex);
	struct xdp_program *program = NULL;
	uint32_t id = 0;

	while (attached && !id && (program = xdp_multiprog__next_prog(program, attached)))
		if (xdp_dispatcher_is_ours(program) &&
		    xdp_dispatcher_is_current(program, call) == current)
			id = xdp_program__id(program);
	xdp_multiprog__close(attached);
	return id;
}

static int xdp_dispatcher_take_out_id(int ifindex, uint32_t id)
{
	struct xdp_multiprog *attached = xdp_dispatcher_open_attached(ifindex);
	struct xdp_program *program = NULL;
	int r = -ENOENT;

	while (attached && r == -ENOENT && (program = xdp_multiprog__next_prog(program, attached)))
		if (xdp_program__id(program) == id)
			r = xdp_program__detach(program, ifindex,
						xdp_multiprog__attach_mode(attached), 0);
	xdp_multiprog__close(attached);
	return r;
}

/*
 * For a moment both programs are there, so every frame meets one. A frame that the first lets pass
 * is also passed by the second.
 */
static int xdp_dispatcher_child_upgrade(const struct call *call)
{
	uint32_t stale = xdp_dispatcher_find_build(call, false);
	int r = 0;

	if (stale && !xdp_dispatcher_find_build(call, true))
		r = xdp_dispatcher_child_add(call);
	while (!r && (stale = xdp_dispatcher_find_build(call, false)))
		r = xdp_dispatcher_take_out_id(call->ifindex, stale);
	return r;
}

static int xdp_dispatcher_refused(int r, struct err *err)
{
	switch (-r) {
	case ENOSYS:
		return err_set(err, EOPNOTSUPP,
			       "the kernel does not let them share a device (no freplace)");
	case EBUSY:
	case EEXIST: return err_set(err, EBUSY, "libxdp's dispatcher cannot extend it");
	case ENOLCK: return err_set(err, ENOLCK, "another program holds libxdp's lock");
	case ETIMEDOUT: return err_set(err, ETIMEDOUT, "libxdp does not answer");
	default: return err_set(err, -r, "libxdp's dispatcher: %s", strerror(-r));
	}
}

int xdp_dispatcher_add(const char *pin_dir, int ifindex, struct err *err)
{
	const struct call call = { .work = xdp_dispatcher_child_add,
				   .ifindex = ifindex,
				   .pin_dir = pin_dir };
	static bool no_freplace;
	int r = no_freplace ? -ENOSYS : xdp_dispatcher_in_child(&call);

	no_freplace = r == -ENOSYS;
	return r ? xdp_dispatcher_refused(r, err) : 0;
}

int xdp_dispatcher_upgrade(const char *pin_dir, int ifindex, uint32_t port_ifindex,
			   const struct xdp_identity *identity, struct err *err)
{
	const struct call call = { .work = xdp_dispatcher_child_upgrade,
				   .ifindex = ifindex,
				   .pin_dir = pin_dir,
				   .port_ifindex = port_ifindex,
				   .identity = identity };
	int r = xdp_dispatcher_in_child(&call);

	return r ? xdp_dispatcher_refused(r, err) : 0;
}

static bool xdp_dispatcher_pins_uses_map(const char *program_pin, uint32_t id)
{
	int fd = bpf_obj_get(program_pin);
	bool uses;

	if (fd < 0)
		return false;
	uses = pin_program_uses(fd, id);
	close(fd);
	return uses;
}

/*
 * Removes progN-prog and progN-link, and the directory if they were the last. Returns true if they
 * were.
 */
static bool xdp_dispatcher_pins_unlink_program(char *pin)
{
	char *tail = strrchr(pin, '-');

	unlink(pin);
	memcpy(tail, "-link", sizeof("-link"));
	unlink(pin);
	*strrchr(pin, '/') = '\0';
	return !rmdir(pin);
}

bool xdp_dispatcher_pins_remove(int ifindex, int map_fd)
{
	uint32_t id = pin_map_id(map_fd);
	char pattern[PATH_MAX];
	bool emptied = false;
	glob_t programs;

	snprintf(pattern, sizeof(pattern), "/sys/fs/bpf/xdp/dispatch-%d-*/prog*-prog", ifindex);
	if (glob(pattern, 0, NULL, &programs))
		return false;
	for (size_t i = 0; i < programs.gl_pathc; i++)
		if (xdp_dispatcher_pins_uses_map(programs.gl_pathv[i], id))
			emptied |= xdp_dispatcher_pins_unlink_program(programs.gl_pathv[i]);
	globfree(&programs);
	return emptied;
}
