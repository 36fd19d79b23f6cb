/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include <fcntl.h>
#include <linux/if_ether.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "xbond/loader.h"
#include "xsk/choice.h"

#define CHOICE_MAP(its_pin, field, is_writable, is_kept)                                 \
	{                                                                                \
		.pin = (its_pin), .at = offsetof(struct choice, field),                  \
		.size = sizeof(*((struct choice *)0)->field), .writable = (is_writable), \
		.kept = (is_kept)                                                        \
	}
static const struct {
	const char *pin;
	size_t at, size;    /* of the pointer in struct choice; of what it points to */
	int writable, kept; /* kept: its descriptor, for choice_fd() */
} choice_maps[CHOICE_MAPS] = {
	CHOICE_MAP(XBOND_PIN_TABLE, table, 0, 1),
	CHOICE_MAP(XBOND_PIN_SETTINGS, settings, 0, 0),
	CHOICE_MAP(XBOND_PIN_BUCKETS, buckets, 0, 0),
	CHOICE_MAP(XBOND_PIN_ALB, alb, 0, 1),
	CHOICE_MAP(XBOND_PIN_CURSOR, cursor, 1, 0),
	CHOICE_MAP(XBOND_PIN_FLOWLETS, flowlets, 1, 0),
	CHOICE_MAP(XBOND_PIN_MOVES, moves, 1, 0),
	CHOICE_MAP(XBOND_PIN_VLANS, vlans, 1, 0),
	CHOICE_MAP(XBOND_PIN_AFXDP, afxdp, 1, 0),
};

static void **choice_pointer(struct choice *choice, size_t map)
{
	return (void **)((char *)choice + choice_maps[map].at);
}

static size_t choice_whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

static int choice_may_write(int fd)
{
	return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

/* Whoever may only read the map has memory for a copy of it. */
static int choice_map_memory(struct choice *choice, size_t map, int fd, __u32 value_size)
{
	int is_copy = !choice_maps[map].writable && !choice_may_write(fd);
	size_t length = choice_whole_pages(is_copy ? value_size : choice_maps[map].size);
	void *memory =
		is_copy ? mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0)
			: mmap(NULL, length,
			       choice_maps[map].writable ? PROT_READ | PROT_WRITE : PROT_READ,
			       MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return errno;
	*choice_pointer(choice, map) = memory;
	choice->lengths[map] = length;
	choice->copied |= (__u32)is_copy << map;
	return 0;
}

/*
 * XBOND_SELECT_ABI has said that the bond's maps are as this library knows them. Those of a later
 * version may have more at their end.
 */
static int choice_map(struct choice *choice, const char *bond, size_t map, char *why)
{
	int fd = xbond_open_pin(bond, choice_maps[map].pin), r;
	struct bpf_map_info info;
	__u32 length = sizeof(info);

	if (fd == -ENOENT)
		return xbond_say(why, EAGAIN,
				 "%s has no map %s: its bondd is of an earlier version, or has not "
				 "adopted it yet",
				 bond, choice_maps[map].pin);
	if (fd < 0)
		return xbond_say(why, -fd, "cannot open the map %s of %s: %s", choice_maps[map].pin,
				 bond, strerror(-fd));
	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		r = errno;
	else if (info.type != BPF_MAP_TYPE_ARRAY || info.max_entries != 1 ||
		 info.value_size < choice_maps[map].size)
		r = EPROTO;
	else
		r = choice_map_memory(choice, map, fd, info.value_size);
	if (!r && (choice_maps[map].kept || choice->copied >> map & 1)) {
		choice->fds[map] = fd;
		return 0;
	}
	close(fd);
	return !r ? 0
		  : xbond_say(why, r, "cannot map %s of %s: %s", choice_maps[map].pin, bond,
			      r == EPROTO ? "it is of another version of xbond" : strerror(r));
}

void choice_renew_look(struct choice *choice, const char *bond)
{
	__u32 select_abi, id;
	int fd;

	/* Another bond may have this name now. */
	if (xbond_read_table(bond, &id, &select_abi) || id != choice->table_id)
		return;
	fd = xbond_open_pin(bond, XBOND_PIN_PROG_LOOK);
	if (fd < 0)
		return;
	if (choice->look_fd >= 0)
		close(choice->look_fd);
	choice->look_fd = fd;
}

int choice_look(const struct choice *choice, __u64 *ret_lost)
{
	static const unsigned char frame[ETH_ZLEN]; /* the kernel wants one */
	struct __sk_buff context = { .cb = { 1 } };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame),
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .ctx_out = &context,
		    .ctx_size_out = sizeof(context));

	if (choice->look_fd < 0 || bpf_prog_test_run_opts(choice->look_fd, &run) ||
	    run.retval != XBOND_LOOK_ANSWERED)
		return 0;
	*ret_lost = context.cb[0] | (__u64)context.cb[1] << 32;
	return 1;
}

/* The kernel does not say which rights are missing. */
static int choice_may_not(const char *bond, int r, char *why)
{
	if (r == -EACCES)
		return xbond_say(why, EACCES,
				 "may not use the maps of %s: that takes the group xbond-xsk, and "
				 "'chmod o+x /sys/fs/bpf' (xsk.md)",
				 bond);
	if (r == -EPERM)
		return xbond_say(why, EPERM,
				 "may not use the maps of %s: this kernel asks for CAP_BPF", bond);
	return r;
}

int choice_open(struct choice *ret, const char *bond, char *why)
{
	struct timespec now;
	__u32 select_abi, id;
	int r = xbond_check_bond(bond, XBOND_SELECT_ABI, why);

	memset(ret, 0, sizeof(*ret));
	ret->look_fd = -1;
	if (!r)
		r = xbond_read_table(bond, &ret->table_id, &select_abi);
	for (size_t map = 0; !r && map < CHOICE_MAPS; map++)
		r = choice_map(ret, bond, map, why);
	/* Or it may have maps of two bonds. */
	if (!r && (xbond_read_table(bond, &id, &select_abi) || id != ret->table_id))
		r = xbond_say(why, EAGAIN, "%s was made anew meanwhile; try again", bond);
	if (r)
		choice_close(ret);
	else
		choice_refresh(ret);
	r = choice_may_not(bond, r, why);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ret->random = (__u64)now.tv_nsec << 20 | 1;
	ret->up = ~0ULL;
	return r;
}

void choice_close(struct choice *choice)
{
	if (choice->look_fd >= 0)
		close(choice->look_fd);
	choice->look_fd = -1;
	for (size_t map = 0; map < CHOICE_MAPS; map++) {
		void **memory = choice_pointer(choice, map);

		if (!*memory)
			continue;
		munmap(*memory, choice->lengths[map]);
		if (choice_maps[map].kept || choice->copied >> map & 1)
			close(choice->fds[map]);
		*memory = NULL;
	}
	choice->copied = 0;
}

void choice_copy(struct choice *choice)
{
	__u32 key = 0;

	for (size_t map = 0; map < CHOICE_MAPS; map++)
		if (choice->copied >> map & 1)
			bpf_map_lookup_elem(choice->fds[map], &key, *choice_pointer(choice, map));
}

int choice_fd(const struct choice *choice, const char *pin)
{
	size_t map = 0;

	while (strcmp(choice_maps[map].pin, pin))
		map++;
	return choice->fds[map];
}
