/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/xdp_dispatcher.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <xdp/libxdp.h>

#define PRIORITY 90 /* after filters and monitors, whose default is 50: what we take goes no further */

/* libxdp says on stderr what its return values say, too. */
static int say_nothing(enum libxdp_print_level level, const char *format, va_list values)
{
	(void)level;
	(void)format;
	(void)values;
	return 0;
}

/* NULL: no XDP there, or none that libxdp can read. */
static struct xdp_multiprog *open_attached(int ifindex)
{
	struct xdp_multiprog *attached;

	libxdp_set_print(say_nothing);
	attached = xdp_multiprog__get_from_ifindex(ifindex);
	return libxdp_get_error(attached) ? NULL : attached;
}

/* By name, which needs no record that could be lost: a device is a slave of one bond only. */
static struct xdp_program *find_ours(const struct xdp_multiprog *attached)
{
	struct xdp_program *program = NULL;

	while ((program = xdp_multiprog__next_prog(program, attached)))
		if (!strcmp(xdp_program__name(program), XDP_RX_NAME))
			return program;
	return NULL;
}

/* Without freplace libxdp attaches the program by itself, in nobody's company. */
static struct xdp_program *find_alone(const struct xdp_multiprog *attached)
{
	struct xdp_program *program = xdp_multiprog__main_prog(attached);

	return xdp_multiprog__is_legacy(attached) && program &&
			       !strcmp(xdp_program__name(program), XDP_RX_NAME)
		       ? program
		       : NULL;
}

bool xdp_dispatcher_has(int ifindex)
{
	struct xdp_multiprog *attached = open_attached(ifindex);
	bool has = attached && find_ours(attached);

	xdp_multiprog__close(attached);
	return has;
}

/* True: there was one. */
static bool take_out(int ifindex, struct xdp_program *(*find)(const struct xdp_multiprog *attached))
{
	struct xdp_multiprog *attached = open_attached(ifindex);
	struct xdp_program *program = attached ? find(attached) : NULL;

	if (program)
		xdp_program__detach(program, ifindex, xdp_multiprog__attach_mode(attached), 0);
	xdp_multiprog__close(attached);
	return program;
}

void xdp_dispatcher_remove(int ifindex)
{
	if (!take_out(ifindex, find_ours))
		take_out(ifindex, find_alone);
}

static int refused(int r, struct err *err)
{
	switch (-r) {
	case EOPNOTSUPP:
		return err_set(err, -r, "this kernel lets XDP programs not share a device (no freplace)");
	case EBUSY:
	case EEXIST: return err_set(err, EBUSY, "that is not attached by libxdp's dispatcher");
	default: return err_set(err, -r, "libxdp's dispatcher: %s", strerror(-r));
	}
}

static int add(struct xdp_object *object, int ifindex)
{
	DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = xdp_object_bpf(object),
			    .prog_name = XDP_RX_NAME);
	struct xdp_program *program = xdp_program__create(&options);
	int r = (int)libxdp_get_error(program);

	if (r)
		return r;
	r = xdp_program__set_run_prio(program, PRIORITY);
	if (!r)
		r = xdp_program__attach(program, ifindex, XDP_MODE_NATIVE, 0);
	xdp_program__close(program);
	return r;
}

int xdp_dispatcher_add(struct xdp_object *object, int ifindex, struct err *err)
{
	static bool no_freplace;
	int r;

	if (no_freplace)
		return refused(-EOPNOTSUPP, err);
	xdp_dispatcher_remove(ifindex);
	r = add(object, ifindex);
	if (!r && take_out(ifindex, find_alone)) {
		no_freplace = true;
		r = -EOPNOTSUPP;
	}
	return r ? refused(r, err) : 0;
}
