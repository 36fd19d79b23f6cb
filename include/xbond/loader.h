/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * For loaders of programs that include select.bpf.h: gives the maps of a bond to an object that
 * libbpf has opened and not loaded yet.
 *
 *   char why[XBOND_WHY_SIZE];
 *   struct bpf_object *object = bpf_object__open("forward.bpf.o");
 *
 *   if (xbond_use(object, "bond0", why))
 *           fprintf(stderr, "%s\n", why);
 *   bpf_object__load(object);
 *
 * Another library than libbpf has to give each map of the first column of xbond_library_maps the
 * map that is pinned as the second column says, and to check what xbond_check_bond() checks.
 */
#ifndef XBOND_LOADER_H
#define XBOND_LOADER_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Also for loaders in C++, which has another word for it. */
#ifdef __cplusplus
#pragma push_macro("_Static_assert")
#define _Static_assert static_assert
#endif
#include "bpf/abi.h"
#ifdef __cplusplus
#pragma pop_macro("_Static_assert")
#endif

#define XBOND_WHY_SIZE 256
#define XBOND_PATH_SIZE 512
#define XBOND_BPF_DIR "/sys/fs/bpf/xbond"

struct xbond_library_map {
	const char *map, *pin;
};

/* An object has those of its kind, XDP or TC. */
static const struct xbond_library_map xbond_library_maps[] = {
	{ ".data.settings", XBOND_PIN_SETTINGS }, { ".data.table", XBOND_PIN_TABLE },
	{ ".data.buckets", XBOND_PIN_BUCKETS },	  { ".data.cursor", XBOND_PIN_CURSOR },
	{ ".data.wake", XBOND_PIN_WAKE },	  { ".data.doubt", XBOND_PIN_DOUBT },
	{ ".data.alb", XBOND_PIN_ALB },		  { ".data.vlans", XBOND_PIN_VLANS },
	{ ".data.moves", XBOND_PIN_MOVES },	  { "xbond_counters", XBOND_PIN_COUNTERS },
	{ "xbond_losses", XBOND_PIN_LOSSES },	  { "xbond_loads", XBOND_PIN_LOADS },
	{ ".data.flowlets", XBOND_PIN_FLOWLETS }, { "xbond_recents", XBOND_PIN_RECENT },
	{ "xbond_devices", XBOND_PIN_DEVICES },	  { "xbond_xdp_slaves", XBOND_PIN_XDP_SLAVES },
	{ "xbond_xdp_all", XBOND_PIN_XDP_ALL },
};

/* Returns -code. */
__attribute__((format(printf, 3, 4))) static inline int xbond_say(char *why, int code,
								  const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(why, XBOND_WHY_SIZE, format, values);
	va_end(values);
	return -code;
}

/*
 * bond: a name, or the directory of its pins if bondd was started with another --bpf-dir. For
 * reading alone if the caller may not write the map.
 */
static inline int xbond_open_pin(const char *bond, const char *pin)
{
	const char *dir = strchr(bond, '/') ? "" : XBOND_BPF_DIR "/";
	char path[XBOND_PATH_SIZE], *dot = path + strlen(dir);
	struct bpf_obj_get_opts for_reading;
	int fd;

	snprintf(path, sizeof(path), "%s%s/%s", dir, bond, pin);
	/* A BPF file system takes no dots: the pins of bond0.5 are in bond0:5. */
	while (*dir && (dot = strchr(dot, '.')))
		*dot = ':';
	memset(&for_reading, 0, sizeof(for_reading));
	for_reading.sz = sizeof(for_reading);
	for_reading.file_flags = BPF_F_RDONLY;
	fd = bpf_obj_get(path);
	if (fd < 0 && errno == EACCES)
		fd = bpf_obj_get_opts(path, &for_reading);
	return fd < 0 ? -errno : fd;
}

/* The table of the bond as it is pinned. Whatever the table's size, select_abi keeps its place. */
static inline int xbond_read_table(const char *bond, __u32 *ret_id, __u32 *ret_select_abi)
{
	int fd = xbond_open_pin(bond, XBOND_PIN_TABLE), r;
	struct bpf_map_info info;
	__u32 length = sizeof(info), key = 0;
	struct xbond_table *table;

	if (fd < 0)
		return fd;
	memset(&info, 0, sizeof(info));
	r = bpf_obj_get_info_by_fd(fd, &info, &length) ? -errno : 0;
	table = (struct xbond_table *)calloc(1, info.value_size + sizeof(*table));
	if (!r && (!table || info.key_size != sizeof(key)))
		r = -EBADMSG;
	if (!r)
		r = bpf_map_lookup_elem(fd, &key, table) ? -errno : 0;
	*ret_id = info.id;
	*ret_select_abi = r ? 0 : table->select_abi;
	free(table);
	close(fd);
	return r;
}

/* 0: the program does not include select.bpf.h. */
static inline __u32 xbond_compiled_for(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.xbond");
	__u32 select_abi = 0;
	size_t size = 0;
	const void *initial = map ? bpf_map__initial_value(map, &size) : NULL;

	if (initial && size >= sizeof(select_abi))
		memcpy(&select_abi, initial, sizeof(select_abi));
	return select_abi;
}

/* Does the bond's bondd offer the version of the selection that somebody was compiled for? */
static inline int xbond_check_bond(const char *bond, __u32 compiled_for, char *why)
{
	__u32 id, select_abi;
	int r = xbond_read_table(bond, &id, &select_abi);

	if (r == -ENOENT)
		return xbond_say(why, ENOENT, "no such bond: %s ('bondctl list' lists them)", bond);
	if (r)
		return xbond_say(why, -r, "cannot read the table of %s: %s", bond, strerror(-r));
	if (!compiled_for)
		return xbond_say(why, EINVAL, "the program does not include xbond/select.bpf.h");
	if (!select_abi)
		return xbond_say(why, EAGAIN,
				 "the bondd of %s does not offer it to programs: it is too old, or "
				 "has not adopted the bond yet",
				 bond);
	if (select_abi != compiled_for)
		return xbond_say(
			why, EPROTO,
			"the program was compiled for version %u of xbond's selection, and "
			"%s has version %u: compile it with the headers, or link it with the "
			"libxbond-xsk, of the xbond that runs",
			compiled_for, bond, select_abi);
	return 0;
}

static inline int xbond_use_map(struct bpf_map *map, const char *bond, const char *pin, char *why)
{
	int fd = xbond_open_pin(bond, pin), r;
	struct bpf_map_info info;
	__u32 length = sizeof(info);

	if (fd < 0)
		return xbond_say(why, -fd, "cannot open the map %s of %s: %s", pin, bond,
				 strerror(-fd));
	memset(&info, 0, sizeof(info));
	r = bpf_obj_get_info_by_fd(fd, &info, &length) ? -errno : 0;
	if (!r && (info.type != bpf_map__type(map) || info.value_size != bpf_map__value_size(map) ||
		   info.max_entries != bpf_map__max_entries(map)))
		r = -EPROTO;
	if (!r)
		r = bpf_map__reuse_fd(map, fd);
	close(fd);
	return r ? xbond_say(why, -r, "cannot use the map %s of %s: %s", pin, bond, strerror(-r))
		 : 0;
}

/* The kernel only says EINVAL to programs that are of another kind than the bond's. */
static inline int xbond_check_kind(const struct bpf_object *object, char *why)
{
	struct bpf_program *program;

	bpf_object__for_each_program(
		program,
		object) if (bpf_program__type(program) == BPF_PROG_TYPE_XDP &&
			    strncmp(bpf_program__section_name(program), "xdp.frags", 9) &&
			    !(bpf_program__flags(program) &
			      BPF_F_XDP_HAS_FRAGS)) return xbond_say(why, EINVAL,
								     "%s: its section must be "
								     "\"xdp.frags\", not \"%s\"",
								     bpf_program__name(program),
								     bpf_program__section_name(
									     program));
	return 0;
}

/*
 * Before Linux 6.2 the programs copy from the kernel's memory to see carriers. Lockdown may forbid
 * that, and then a program that asks does not load.
 */
static inline void xbond_let_copy(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.netdev");
	__u32 may =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_probe_read_kernel, NULL) == 1;

	if (map)
		bpf_map__set_initial_value(map, &may, sizeof(may));
}

/*
 * Call it after bpf_object__open() and before bpf_object__load(). Returns 0, or -errno with the
 * reason in `why`, which has XBOND_WHY_SIZE bytes: -ENOENT: no such bond; -EPROTO: the program was
 * compiled for another version; -EAGAIN: try again when bondd runs, or with the object opened anew
 * if the bond was just made anew; -EINVAL: something is wrong with the program.
 */
static inline int xbond_use(struct bpf_object *object, const char *bond, char *why)
{
	__u32 id = 0, id_now = 0, select_abi;
	int r = xbond_check_kind(object, why);

	if (!r)
		r = xbond_check_bond(bond, xbond_compiled_for(object), why);
	if (!r)
		xbond_read_table(bond, &id, &select_abi);
	for (size_t i = 0; !r && i < sizeof(xbond_library_maps) / sizeof(*xbond_library_maps);
	     i++) {
		const struct xbond_library_map *each = &xbond_library_maps[i];
		struct bpf_map *map = bpf_object__find_map_by_name(object, each->map);

		if (map)
			r = xbond_use_map(map, bond, each->pin, why);
	}
	/* Or it may have maps of two bonds. */
	if (!r && (xbond_read_table(bond, &id_now, &select_abi) || id_now != id))
		r = xbond_say(why, EAGAIN, "%s was made anew meanwhile; try again", bond);
	if (!r)
		xbond_let_copy(object);
	return r;
}

/*
 * Does the loaded program still have the maps of the bond? If not, xbond_select() returns
 * XBOND_NO_BOND: open the object again, xbond_use(), load it, and replace the program. If the bond
 * is gone, that fails with -ENOENT. So it does if the bond has another name now; then the program
 * still sends as that bond does.
 */
static inline int xbond_is_current(const struct bpf_object *object, const char *bond)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".data.table");
	struct bpf_map_info info;
	__u32 length = sizeof(info), id, select_abi;

	memset(&info, 0, sizeof(info));
	return map && !bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &length) &&
	       !xbond_read_table(bond, &id, &select_abi) && id == info.id &&
	       select_abi == xbond_compiled_for(object);
}

#endif
