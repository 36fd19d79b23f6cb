/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the pinned maps of a bond, checks that they match bpf/abi.h, and maps them into memory.
 * Called by bondctl for everything it reads, and by bondd when it adopts a bond. Creates, changes
 * and removes no pin.
 */
#include "common/pins.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libgen.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/mode.h"

/* A map, and where struct pins has it: its memory, or its descriptor if it is per CPU. */
struct map_shape {
	const char *pin;
	uint32_t type;
	uint32_t value_size;
	uint32_t max_entries;
	size_t at;
	bool is_added; /* bonds of earlier builds do not have it */
};

#define ARRAY_OF(field, count)                                            \
	BPF_MAP_TYPE_ARRAY, sizeof(*((struct pins *)NULL)->field), count, \
		.at = offsetof(struct pins, field)
#define PER_CPU_OF(type, count, field) \
	BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(type), count, .at = offsetof(struct pins, field)

/* The bond map comes first, because it has the ABI version. */
static const struct map_shape shapes[] = {
	{ XBOND_PIN_BOND, ARRAY_OF(bond, 1) },
	{ XBOND_PIN_SETTINGS, ARRAY_OF(settings, 1) },
	{ XBOND_PIN_TABLE, ARRAY_OF(table, 1) },
	{ XBOND_PIN_BUCKETS, ARRAY_OF(buckets, 1) },
	{ XBOND_PIN_SLAVES, ARRAY_OF(slaves, XBOND_MAX_SLAVES) },
	{ XBOND_PIN_HOLD, BPF_MAP_TYPE_ARRAY, XBOND_MAX_SLAVES * sizeof(struct xbond_hold), 1,
	  .at = offsetof(struct pins, hold) },
	{ XBOND_PIN_LACP, ARRAY_OF(lacp, 1) },
	{ XBOND_PIN_ATTACHED, ARRAY_OF(attached, 1), true },
	{ XBOND_PIN_MONITORS, ARRAY_OF(monitors, XBOND_MAX_SLAVES), true },
	{ XBOND_PIN_BFD, ARRAY_OF(bfd, 1), true },
	{ XBOND_PIN_FAILOVER, ARRAY_OF(failover, 1), true },
	{ XBOND_PIN_WAKE, ARRAY_OF(wake, 1), true },
	{ XBOND_PIN_PROBES, ARRAY_OF(probes, 1), true },
	{ XBOND_PIN_QUALITY, ARRAY_OF(quality, XBOND_MAX_SLAVES), true },
	{ XBOND_PIN_ALB, ARRAY_OF(alb, 1), true },
	{ XBOND_PIN_VLANS, ARRAY_OF(vlans, 1), true },
	{ XBOND_PIN_OWN_VLANS, ARRAY_OF(own_vlans, 1), true },
	{ XBOND_PIN_RECEIVERS, ARRAY_OF(receivers, 1), true },
	{ XBOND_PIN_MOVES, ARRAY_OF(moves, 1), true },
	{ XBOND_PIN_FLOWLETS, ARRAY_OF(flowlets, 1), true },
	{ XBOND_PIN_AFXDP, ARRAY_OF(afxdp, 1), true },
	{ XBOND_PIN_LOADS, PER_CPU_OF(struct xbond_load, XBOND_BUCKETS, loads_fd), true },
	{ XBOND_PIN_DROPS, PER_CPU_OF(struct xbond_drops, XBOND_MAX_SLAVES + 1, drops_fd), true },
	{ XBOND_PIN_COUNTERS, PER_CPU_OF(struct xbond_counters, XBOND_MAX_SLAVES, counters_fd) },
};

#define SHAPES_END (shapes + sizeof(shapes) / sizeof(*shapes))

static bool pins_is_mapped(const struct map_shape *shape)
{
	return shape->type == BPF_MAP_TYPE_ARRAY;
}

static void **pins_memory(struct pins *pins, const struct map_shape *shape)
{
	return (void **)((char *)pins + shape->at);
}

static int *pins_fd(struct pins *pins, const struct map_shape *shape)
{
	return (int *)((char *)pins + shape->at);
}

static size_t pins_mapped_size(const struct map_shape *shape)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = ((shape->value_size + 7) & ~(size_t)7) * shape->max_entries;

	return (size + page - 1) & ~(page - 1);
}

static int pins_no_permission(const struct pins *pins, struct err *err)
{
	return err_set(err, EPERM, "no permission to read %s; run as root", pins->dir);
}

static int pins_damaged(const struct pins *pins, const char *pin, const char *what, struct err *err)
{
	return err_set(err, EBADMSG, "%s/%s %s: the pins are damaged or foreign; " PINS_REMOVE,
		       pins->dir, pin, what, pins->dir);
}

bool pins_on_bpffs(const char *path)
{
	char copy[PATH_MAX];
	struct statfs fs;
	char *at = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while (statfs(at, &fs)) {
		if (errno != ENOENT && errno != ENOTDIR)
			return true; /* not visible from here; another check says why */
		at = dirname(at);
	}
	return fs.f_type == BPF_FS_MAGIC;
}

static int pins_no_such_bond(const char *bpf_dir, const char *name, struct err *err)
{
	if (!pins_on_bpffs(bpf_dir))
		return err_set(err, ENOENT, "cannot see %s: " PINS_HIDDEN, name, bpf_dir);
	return err_set(err, ENOENT, "no such bond: %s ('bondctl list' lists the bonds)", name);
}

static int pins_check_dir(struct pins *pins, const char *bpf_dir, const char *name, struct err *err)
{
	struct stat st;

	if (stat(pins->dir, &st)) {
		if (errno == EACCES || errno == EPERM)
			return pins_no_permission(pins, err);
		if (errno != ENOENT && errno != ENOTDIR)
			return err_set(err, errno, "cannot look at %s: %m; try again", pins->dir);
		return pins_no_such_bond(bpf_dir, name, err);
	}
	if (!S_ISDIR(st.st_mode))
		return err_set(err, EBADMSG,
			       "%s is not a directory, so it is not an xbond bond; remove it",
			       pins->dir);
	if (!pins_on_bpffs(pins->dir))
		return err_set(err, EBADMSG,
			       "%s is not on a BPF file system; mount one with 'mount -t bpf bpf "
			       "/sys/fs/bpf' or give the right --bpf-dir",
			       pins->dir);
	pins->device = st.st_dev;
	pins->inode = st.st_ino;
	return 0;
}

/* An error of bpf_obj_get() in words. For root, EACCES means that the file is no map. */
static int pins_open_failed(const struct pins *pins, const char *pin, int code, struct err *err)
{
	if (code == ENOENT)
		return pins_damaged(pins, pin, "is missing", err);
	if (code == EPERM || (code == EACCES && geteuid() != 0))
		return pins_no_permission(pins, err);
	if (code == EACCES || code == EINVAL)
		return pins_damaged(pins, pin, "is no map", err);
	return err_set(err, code, "cannot open %s/%s: %s; try again", pins->dir, pin,
		       strerror(code));
}

/* That the kernel does not answer is no damage. */
static int pins_describe(const struct pins *pins, const char *pin, int fd,
			 struct bpf_map_info *ret_info, struct err *err)
{
	uint32_t length = sizeof(*ret_info);
	int r;

	*ret_info = (struct bpf_map_info){};
	r = bpf_obj_get_info_by_fd(fd, ret_info, &length);
	return r ? err_set(err, -r, "cannot read what %s/%s is: %s; try again", pins->dir, pin,
			   strerror(-r))
		 : 0;
}

static int pins_open_pin(const struct pins *pins, const char *pin, struct err *err)
{
	int fd = pin_open(pins->dir, pin);

	return fd < 0 ? pins_open_failed(pins, pin, -fd, err) : fd;
}

static int pins_check_shape(const struct pins *pins, const struct map_shape *shape, int fd,
			    struct err *err)
{
	struct bpf_map_info info;
	int r = pins_describe(pins, shape->pin, fd, &info, err);

	if (r)
		return r;
	if (info.type != shape->type || info.key_size != sizeof(uint32_t))
		return pins_damaged(pins, shape->pin, "is not of the right type", err);
	if (info.value_size != shape->value_size || info.max_entries != shape->max_entries)
		return pins_damaged(pins, shape->pin, "has another size", err);
	if (pins_is_mapped(shape) && !(info.map_flags & BPF_F_MMAPABLE))
		return pins_damaged(pins, shape->pin, "cannot be mapped into memory", err);
	return 0;
}

/*
 * Looks at the first two words of the bond map, whatever its size: another ABI version may have
 * another size, and the error line must name the version.
 */
static int pins_read_abi(const struct pins *pins, int fd, uint32_t *ret_abi, struct err *err)
{
	struct bpf_map_info info;
	struct xbond_bond *bond;
	uint32_t key = 0;
	int r = pins_describe(pins, XBOND_PIN_BOND, fd, &info, err);

	if (r)
		return r;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.key_size != sizeof(key) ||
	    info.value_size < 2 * sizeof(uint32_t))
		return pins_damaged(pins, XBOND_PIN_BOND, "is not of the right type", err);
	bond = memory_need(
		calloc(1, info.value_size > sizeof(*bond) ? info.value_size : sizeof(*bond)));
	r = bpf_map_lookup_elem(fd, &key, bond);
	if (r)
		r = err_set(err, -r, "cannot read %s/" XBOND_PIN_BOND ": %s; try again", pins->dir,
			    strerror(-r));
	else if (bond->magic != XBOND_ABI_MAGIC || !bond->abi_version)
		r = pins_damaged(pins, XBOND_PIN_BOND, "does not belong to xbond", err);
	*ret_abi = bond->abi_version;
	free(bond);
	return r;
}

static int pins_check_abi(const struct pins *pins, int fd, struct err *err)
{
	uint32_t abi;
	int r = pins_read_abi(pins, fd, &abi, err);

	if (r || abi == XBOND_ABI_VERSION)
		return r;
	return err_set(err, EPROTO,
		       "%s has ABI version %u, but this program knows version %d; use bondctl and "
		       "bondd of the same version",
		       pins->dir, abi, XBOND_ABI_VERSION);
}

static int pins_map(struct pins *pins, const struct map_shape *shape, int fd, struct err *err)
{
	void *memory =
		mmap(NULL, pins_mapped_size(shape), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return err_set(err, errno, "cannot map %s/%s into memory: %m", pins->dir,
			       shape->pin);
	*pins_memory(pins, shape) = memory;
	return 0;
}

static int pins_open_map(struct pins *pins, const struct map_shape *shape, struct err *err)
{
	int fd = pins_open_pin(pins, shape->pin, err), r;

	if (fd < 0)
		return fd;
	r = shape == shapes ? pins_check_abi(pins, fd, err) : 0;
	if (!r)
		r = pins_check_shape(pins, shape, fd, err);
	if (!r && !pins_is_mapped(shape)) {
		*pins_fd(pins, shape) = fd;
		return 0;
	}
	if (!r)
		r = pins_map(pins, shape, fd, err);
	close(fd);
	return r;
}

/* Bonds of earlier versions do not have every pin. Returns 1 or 0. */
static int pins_have(const struct pins *pins, const char *pin, struct err *err)
{
	char path[PIN_PATH_SIZE];

	if (!access(pin_path(path, pins->dir, pin), F_OK))
		return 1;
	return errno == ENOENT ? 0 : pins_open_failed(pins, pin, errno, err);
}

static int pins_open_map_added(struct pins *pins, const struct map_shape *shape, struct err *err)
{
	bool is_open = pins_is_mapped(shape) ? *pins_memory(pins, shape) != NULL
					     : *pins_fd(pins, shape) >= 0;
	int r = is_open ? 0 : pins_have(pins, shape->pin, err);

	return r == 1 ? pins_open_map(pins, shape, err) : r;
}

/* Not shown if it has another shape: everything else works without it. */
static void pins_open_clients(struct pins *pins)
{
	struct bpf_map_info info;
	int fd = pins->clients_fd < 0 ? pin_open(pins->dir, XBOND_PIN_CLIENTS) : -1;

	if (fd < 0)
		return;
	if (!pins_describe(pins, XBOND_PIN_CLIENTS, fd, &info, NULL) &&
	    info.type == BPF_MAP_TYPE_HASH && info.key_size == sizeof(struct xbond_client_key) &&
	    info.value_size == sizeof(struct xbond_client))
		pins->clients_fd = fd;
	else
		close(fd);
}

int pins_open_added(struct pins *pins, struct err *err)
{
	int r = 0;

	for (const struct map_shape *shape = shapes; shape < SHAPES_END; shape++) {
		if (shape->is_added)
			r = pins_open_map_added(pins, shape, err);
		if (r)
			return r;
	}
	pins_open_clients(pins);
	return 0;
}

int pins_check(const struct pins *pins, const char *name, struct err *err)
{
	if (pins->bond->state > XBOND_BOND_DELETING)
		return pins_damaged(pins, XBOND_PIN_BOND, "has a state that does not exist", err);
	if (!mode_find(pins->bond->mode))
		return err_set(
			err, EBADMSG,
			"%s/%s has mode %u, which this version of xbond does not know; use "
			"the version that made the bond or, if the pins are damaged, " PINS_REMOVE,
			pins->dir, XBOND_PIN_BOND, pins->bond->mode, pins->dir);
	if (!memchr(pins->bond->name, '\0', XBOND_NAME_SIZE) || strlen(name) >= XBOND_NAME_SIZE)
		return pins_damaged(pins, XBOND_PIN_BOND, "holds no name", err);
	if (pins->lacp->current > 1)
		return pins_damaged(pins, XBOND_PIN_LACP, "has a wrong index", err);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (pins->slaves[slot].state > XBOND_SLOT_RELEASING ||
		    !memchr(pins->slaves[slot].name, '\0', XBOND_NAME_SIZE))
			return pins_damaged(pins, XBOND_PIN_SLAVES, "has a wrong slot number", err);
	return 0;
}

static int pins_open_all(struct pins *pins, struct err *err)
{
	int r;

	for (const struct map_shape *shape = shapes; shape < SHAPES_END; shape++) {
		r = shape->is_added ? 0 : pins_open_map(pins, shape, err);
		if (r)
			return r;
	}
	return pins_open_added(pins, err);
}

int pins_open(struct pins *ret_pins, const char *bpf_dir, const char *name, struct err *err)
{
	struct pins pins = { PINS_NO_FILES };
	int r;

	pins_path(pins.dir, sizeof(pins.dir), bpf_dir, name);
	r = pins_check_dir(&pins, bpf_dir, name, err);
	if (!r)
		r = pins_open_all(&pins, err);
	if (!r)
		r = pins_check(&pins, name, err);
	if (r)
		pins_close(&pins);
	else
		*ret_pins = pins;
	return r;
}

int pins_abi(const char *bpf_dir, const char *name, uint32_t *ret_abi, struct err *err)
{
	struct pins pins;
	int fd, r;

	*ret_abi = 0;
	pins_path(pins.dir, sizeof(pins.dir), bpf_dir, name);
	r = pins_check_dir(&pins, bpf_dir, name, err);
	if (r)
		return r;
	fd = pins_open_pin(&pins, XBOND_PIN_BOND, err);
	if (fd < 0)
		return fd;
	r = pins_read_abi(&pins, fd, ret_abi, err);
	close(fd);
	if (r)
		*ret_abi = 0;
	return r;
}

static void pins_close_map(struct pins *pins, const struct map_shape *shape)
{
	if (!pins_is_mapped(shape)) {
		if (*pins_fd(pins, shape) >= 0)
			close(*pins_fd(pins, shape));
	} else if (*pins_memory(pins, shape)) {
		munmap(*pins_memory(pins, shape), pins_mapped_size(shape));
	}
}

void pins_close(struct pins *pins)
{
	for (const struct map_shape *shape = shapes; shape < SHAPES_END; shape++)
		pins_close_map(pins, shape);
	if (pins->clients_fd >= 0)
		close(pins->clients_fd);
	*pins = (struct pins){ PINS_NO_FILES };
}

bool pins_are_current(const struct pins *pins)
{
	struct stat st;

	return !stat(pins->dir, &st) && st.st_dev == pins->device && st.st_ino == pins->inode;
}

void pins_add_counters(struct xbond_counters *sum, const struct xbond_counters *part)
{
	const __u64 *add = (const __u64 *)part;
	__u64 *count = (__u64 *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*count); i++)
		count[i] += add[i];
}

int pins_program_counters(const struct pins *pins, unsigned int slot,
			  struct xbond_counters *ret_sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct xbond_counters *each;
	uint32_t key = slot;
	int r = 0;

	memset(ret_sum, 0, sizeof(*ret_sum));
	if (cpus < 0)
		return cpus;
	each = memory_need(calloc((size_t)cpus, sizeof(*each)));
	if (bpf_map_lookup_elem(pins->counters_fd, &key, each))
		r = -errno;
	for (int cpu = 0; !r && cpu < cpus; cpu++)
		pins_add_counters(ret_sum, &each[cpu]);
	free(each);
	return r;
}

int pins_counters(const struct pins *pins, unsigned int slot, struct xbond_counters *ret_sum)
{
	int r = pins_program_counters(pins, slot, ret_sum);

	if (!r && pins->afxdp)
		pins_add_counters(ret_sum, &pins->afxdp->slot[slot]);
	return r;
}

void pins_retired_counters(const struct pins *pins, struct xbond_counters *ret_sum)
{
	*ret_sum = pins->bond->retired;
	if (pins->afxdp)
		pins_add_counters(ret_sum, &pins->afxdp->retired);
}

int pins_bond_counters(const struct pins *pins, struct xbond_counters *ret_sum)
{
	struct xbond_counters part;
	int r;

	pins_retired_counters(pins, ret_sum);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		r = pins_counters(pins, slot, &part);
		if (r)
			return r;
		pins_add_counters(ret_sum, &part);
	}
	return 0;
}

int pins_slot_by_name(const struct pins *pins, const char *name)
{
	pins_for_each_member (pins, slot)
		if (!strcmp(pins->slaves[slot].name, name))
			return (int)slot;
	return -1;
}

bool pins_bondd_alive(const struct pins *pins)
{
	uint64_t beat_ns = __atomic_load_n(&pins->table->heartbeat_ns, __ATOMIC_RELAXED);

	return beat_ns &&
	       !xbond_heartbeat_is_older(beat_ns, clock_now_ns(), XBOND_HEARTBEAT_FRESH_NS);
}
