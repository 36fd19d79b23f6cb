/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include "xsk/xsk_bond.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "bpf/port_filter.skel.h"
#include "xbond/loader.h"

#define FILTER_PRIORITY 20 /* xbond's own has 90, and others 50 if they say nothing */

struct filter {
	struct filter *next;
	__u32 handles;
	struct port_filter_bpf *object; /* NULL: not attached */
	struct bpf_program *chosen;	/* of its programs */
	int link_fd;			/* -1: it is in the dispatcher */
	struct xdp_program *program;
	int in_dispatcher;
	int given_fd;		   /* another process has the filter, and this is its map; or -1 */
	char pin[XBOND_PATH_SIZE]; /* "": none */
	char function[XBOND_PATH_SIZE]; /* likewise */
	__u64 namespace;
	__u32 ifindex, table_id;
};

/* All of this process, and what is in them. */
static pthread_mutex_t filter_lock = PTHREAD_MUTEX_INITIALIZER;
static struct filter *filters;

/* Of the bond; the other maps are the filter's own. */
static int filter_use_maps(struct port_filter_bpf *object, const struct choice *choice)
{
	int r = bpf_map__reuse_fd(object->maps.data_table, choice_fd(choice, XBOND_PIN_TABLE));

	if (!r)
		r = bpf_map__reuse_fd(object->maps.data_alb, choice_fd(choice, XBOND_PIN_ALB));
	return r;
}

static void filter_set_wanted(struct port_filter_bpf__rodata *wanted,
			      const struct filter_rule *rule)
{
	const struct xbond_xsk_options *options = rule->options;

	wanted->filter_slot = rule->slot;
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

/* clang -g writes down which functions there are. */
static int filter_has_function(const char *path)
{
	struct btf *btf = btf__parse(path, NULL);
	int id = btf ? btf__find_by_name_kind(btf, "xbond_wants", BTF_KIND_FUNC) : -1;
	int has = id > 0 && btf_vlen(btf__type_by_id(btf, (__u32)id)) == BTF_FUNC_GLOBAL;

	btf__free(btf);
	return has;
}

/* own_fd: the filter that asks the function. */
static int filter_link_files(int own_fd, const char *function, int linked_fd)
{
	char own[32], linked[32];
	struct bpf_linker *linker;
	int r;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", own_fd);
	snprintf(linked, sizeof(linked), "/proc/self/fd/%d", linked_fd);
	linker = bpf_linker__new(linked, NULL);
	r = linker ? bpf_linker__add_file(linker, own, NULL) : -errno;
	if (!r)
		r = bpf_linker__add_file(linker, function, NULL);
	if (!r)
		r = bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	return r;
}

int filter_link_function(const char *function)
{
	int own_fd = memfd_create("filter", MFD_CLOEXEC), linked_fd, r = -EINVAL;
	size_t size;
	const void *own = port_filter_bpf__elf_bytes(&size);

	linked_fd = memfd_create("filter_and_function", MFD_CLOEXEC);
	if (own_fd < 0 || linked_fd < 0 || write(own_fd, own, size) != (ssize_t)size)
		r = -ENOMEM;
	else if (filter_has_function(function))
		r = filter_link_files(own_fd, function, linked_fd);
	if (own_fd >= 0)
		close(own_fd);
	if (r && linked_fd >= 0)
		close(linked_fd);
	return r ? r : linked_fd;
}

/* What port_filter_bpf__open() does, with what has been linked. */
static struct port_filter_bpf *filter_open_linked(int linked_fd)
{
	struct port_filter_bpf *object = calloc(1, sizeof(*object));
	struct stat status;
	void *data;
	int r;

	if (!object || port_filter_bpf__create_skeleton(object) || fstat(linked_fd, &status))
		goto fail;
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, linked_fd, 0);
	if (data == MAP_FAILED)
		goto fail;
	object->skeleton->data = data;
	object->skeleton->data_sz = (size_t)status.st_size;
	r = bpf_object__open_skeleton(object->skeleton, NULL);
	munmap(data, (size_t)status.st_size);
	if (!r)
		return object;
	errno = -r;
fail:
	port_filter_bpf__destroy(object);
	return NULL;
}

static int filter_open(struct filter *filter, const struct filter_rule *rule)
{
	struct port_filter_bpf *object =
		rule->linked_fd < 0 ? port_filter_bpf__open() : filter_open_linked(rule->linked_fd);

	filter->object = object;
	if (!object)
		return -errno;
	filter->chosen = rule->linked_fd < 0 ? object->progs.xbond_port_filter
					     : object->progs.xbond_port_filter_asks;
	bpf_program__set_autoload(object->progs.xbond_port_filter, rule->linked_fd < 0);
	bpf_program__set_autoload(filter->chosen, true);
	filter_set_wanted(object->rodata, rule);
	return filter_use_maps(object, rule->choice);
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
	filter->link_fd =
		bpf_link_create(bpf_program__fd(filter->chosen), (int)ifindex, BPF_XDP, &options);
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
	DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = filter->object->obj,
			    .prog_name = bpf_program__name(filter->chosen));
	int r;

	if (!filter_has_dispatcher(ifindex))
		return -EBUSY;
	filter->program = xdp_program__create(&options);
	r = (int)libxdp_get_error(filter->program);
	if (r) {
		filter->program = NULL;
		return r;
	}
	r = xdp_program__set_run_prio(filter->program, FILTER_PRIORITY);
	if (!r) /* libxdp does not go by the section's name */
		r = xdp_program__set_xdp_frags_support(filter->program, true);
	if (!r)
		r = xdp_program__set_chain_call_enabled(filter->program, XDP_PASS, true);
	if (!r)
		r = xdp_program__attach(filter->program, (int)ifindex, XDP_MODE_NATIVE, 0);
	filter->in_dispatcher = !r;
	return r;
}

/* Of a map of sockets; 0: it is none. */
static __u32 filter_map_id(int fd)
{
	struct bpf_map_info info;
	__u32 length = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &length) ||
	    info.type != BPF_MAP_TYPE_XSKMAP)
		return 0;
	return info.id;
}

static __u32 filter_pinned_id(const char *path)
{
	int fd = bpf_obj_get(path);
	__u32 id = filter_map_id(fd);

	if (fd >= 0)
		close(fd);
	return id;
}

/*
 * One that is there was left by a process that was killed. In a directory with the setgid bit its
 * group gets the pin, and may write the map, but not if somebody else may write the directory: he
 * could put a link to another file there.
 */
static int filter_pin(struct filter *filter, const char *dir)
{
	struct bpf_map *sockets = filter->object->maps.sockets;
	int r = bpf_map__pin(sockets, filter->pin);
	struct stat about;

	if (r == -EEXIST && filter_pinned_id(filter->pin) && !unlink(filter->pin))
		r = bpf_map__pin(sockets, filter->pin);
	if (!r && !stat(dir, &about) && (!about.st_uid || about.st_uid == geteuid()) &&
	    (about.st_mode & (S_ISGID | S_IWGRP | S_IWOTH)) == S_ISGID)
		r = chmod(filter->pin, 0660);
	return r ? -ENOTDIR : 0;
}

static void filter_unpin(const struct filter *filter)
{
	__u32 id = filter_map_id(bpf_map__fd(filter->object->maps.sockets));

	if (id && filter_pinned_id(filter->pin) == id)
		unlink(filter->pin);
}

static void filter_take_off(struct filter *filter)
{
	if (*filter->pin && filter->object)
		filter_unpin(filter);
	if (filter->in_dispatcher)
		xdp_program__detach(filter->program, (int)filter->ifindex, XDP_MODE_NATIVE, 0);
	if (filter->program)
		xdp_program__close(filter->program);
	if (filter->link_fd >= 0) {
		bpf_link_detach(filter->link_fd); /* a child may have the descriptor, too */
		close(filter->link_fd);
	}
	if (filter->given_fd >= 0)
		close(filter->given_fd);
	port_filter_bpf__destroy(filter->object);
	filter->in_dispatcher = 0;
	filter->program = NULL;
	filter->link_fd = filter->given_fd = -1;
	filter->object = NULL;
}

/* A link ends with the process, so it is the first choice. */
static int filter_put_on(struct filter *filter, const struct filter_rule *rule)
{
	int r = filter_open(filter, rule);

	if (!r)
		r = filter_link(filter, rule->ifindex);
	if (r == -EBUSY || r == -EEXIST) {
		filter_take_off(filter);
		r = filter_open(filter, rule);
		if (!r)
			r = filter_dispatch(filter, rule->ifindex);
	}
	if (!r && *filter->pin)
		r = filter_pin(filter, rule->options->pins);
	if (r)
		filter_take_off(filter);
	else
		filter_point_at_bond(filter, rule->choice->table->bond_ifindex);
	return r;
}

static int filter_take_given(struct filter *filter)
{
	filter->given_fd = bpf_obj_get(filter->pin);
	if (filter->given_fd < 0)
		return errno == ENOENT ? -ENXIO : -errno;
	if (filter_map_id(filter->given_fd))
		return 0;
	filter_take_off(filter);
	return -ENXIO;
}

/* Returns 0, or -errno if the slave has no name any more. */
static int filter_pin_path(char ret[XBOND_PATH_SIZE], const struct filter_rule *rule)
{
	const struct xbond_xsk_options *options = rule->options;
	const char *dir = options->sockets ? options->sockets : options->pins;
	char name[IF_NAMESIZE];

	*ret = 0;
	if (!dir)
		return 0;
	if (!if_indextoname(rule->ifindex, name))
		return -errno;
	snprintf(ret, XBOND_PATH_SIZE, "%s/%s", dir, name);
	return 0;
}

static int filter_make(struct filter **ret, const struct filter_rule *rule)
{
	struct filter *made = calloc(1, sizeof(*made));
	int r;

	if (!made)
		return -ENOMEM;
	made->handles = 1;
	made->link_fd = made->given_fd = -1;
	made->namespace = rule->namespace;
	made->ifindex = rule->ifindex;
	made->table_id = rule->choice->table_id;
	strcpy(made->function, rule->options->function);
	r = filter_pin_path(made->pin, rule);
	if (!r)
		r = rule->options->sockets ? filter_take_given(made) : filter_put_on(made, rule);
	if (r) {
		free(made);
		return r;
	}
	made->next = filters;
	filters = made;
	*ret = made;
	return 0;
}

static struct filter *filter_find(const struct filter_rule *rule)
{
	struct filter *found = filters;

	while (found && (!found->object || found->namespace != rule->namespace ||
			 found->ifindex != rule->ifindex))
		found = found->next;
	return found;
}

/* Without what fills the struct up. */
#define FILTER_WANTED_SIZE                                        \
	(offsetof(struct port_filter_bpf__rodata, wanted_ports) + \
	 sizeof(((struct port_filter_bpf__rodata *)0)->wanted_ports))

static int filter_share(struct filter **ret, const struct filter_rule *rule)
{
	struct port_filter_bpf__rodata wanted = { 0 };
	struct filter *found = filter_find(rule);
	char pin[XBOND_PATH_SIZE];

	/* Its handles have not noticed yet that the slave is another's now, or in another slot. */
	if (found && (found->table_id != rule->choice->table_id ||
		      found->object->rodata->filter_slot != rule->slot)) {
		filter_take_off(found);
		found = NULL;
	}
	if (!found)
		return filter_make(ret, rule);
	filter_set_wanted(&wanted, rule);
	if (memcmp(&wanted, found->object->rodata, FILTER_WANTED_SIZE) ||
	    filter_pin_path(pin, rule) || strcmp(pin, found->pin) != 0 ||
	    strcmp(rule->options->function, found->function) != 0)
		return -EADDRINUSE;
	found->handles++;
	*ret = found;
	return 0;
}

int filter_attach(struct filter **ret, const struct filter_rule *rule)
{
	int r = -EBUSY;

	pthread_mutex_lock(&filter_lock);
	if (choice_is_current(rule->choice) &&
	    choice_ifindex(rule->choice, rule->slot) == rule->ifindex)
		r = rule->options->sockets ? filter_make(ret, rule) : filter_share(ret, rule);
	pthread_mutex_unlock(&filter_lock);
	return r;
}

int filter_add(const struct filter *filter, __u32 queue, int socket_fd)
{
	int r = -EBUSY;

	pthread_mutex_lock(&filter_lock);
	if (filter->object || filter->given_fd >= 0)
		r = bpf_map_update_elem(filter->object ? bpf_map__fd(filter->object->maps.sockets)
						       : filter->given_fd,
					&queue, &socket_fd, 0);
	pthread_mutex_unlock(&filter_lock);
	return r;
}

int filter_is_old(const struct filter *filter)
{
	__u32 id = filter_pinned_id(filter->pin);

	return id && id != filter_map_id(filter->given_fd);
}

void filter_detach(struct filter *filter)
{
	struct filter **at = &filters;

	pthread_mutex_lock(&filter_lock);
	if (!--filter->handles) {
		while (*at != filter)
			at = &(*at)->next;
		*at = filter->next;
		filter_take_off(filter);
		free(filter);
	}
	pthread_mutex_unlock(&filter_lock);
}
