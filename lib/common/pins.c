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

#include "bpf/rules.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/mode.h"

struct map_shape {
	const char *pin;
	uint32_t type;
	uint32_t value_size;
	uint32_t max_entries;
};

static const struct map_shape settings_shape = { XBOND_PIN_SETTINGS, BPF_MAP_TYPE_ARRAY,
						 sizeof(struct xbond_settings), 1 };
static const struct map_shape table_shape = { XBOND_PIN_TABLE, BPF_MAP_TYPE_ARRAY,
					      sizeof(struct xbond_table), 1 };
static const struct map_shape buckets_shape = { XBOND_PIN_BUCKETS, BPF_MAP_TYPE_ARRAY,
						sizeof(struct xbond_buckets), 1 };
static const struct map_shape bond_shape = { XBOND_PIN_BOND, BPF_MAP_TYPE_ARRAY,
					     sizeof(struct xbond_bond), 1 };
static const struct map_shape slaves_shape = { XBOND_PIN_SLAVES, BPF_MAP_TYPE_ARRAY,
					       sizeof(struct xbond_slave), XBOND_MAX_SLAVES };
static const struct map_shape hold_shape = { XBOND_PIN_HOLD, BPF_MAP_TYPE_ARRAY,
					     XBOND_MAX_SLAVES * sizeof(struct xbond_hold), 1 };
static const struct map_shape lacp_shape = { XBOND_PIN_LACP, BPF_MAP_TYPE_ARRAY,
					     sizeof(struct xbond_lacp), 1 };
static const struct map_shape attached_shape = { XBOND_PIN_ATTACHED, BPF_MAP_TYPE_ARRAY,
						 sizeof(struct xbond_attached), 1 };
static const struct map_shape monitors_shape = { XBOND_PIN_MONITORS, BPF_MAP_TYPE_ARRAY,
						 sizeof(struct xbond_verdict), XBOND_MAX_SLAVES };
static const struct map_shape bfd_shape = { XBOND_PIN_BFD, BPF_MAP_TYPE_ARRAY,
					    sizeof(struct xbond_bfd), 1 };
static const struct map_shape failover_shape = { XBOND_PIN_FAILOVER, BPF_MAP_TYPE_ARRAY,
						 sizeof(struct xbond_failover), 1 };
static const struct map_shape wake_shape = { XBOND_PIN_WAKE, BPF_MAP_TYPE_ARRAY,
					     sizeof(struct xbond_wake), 1 };
static const struct map_shape probes_shape = { XBOND_PIN_PROBES, BPF_MAP_TYPE_ARRAY,
					       sizeof(struct xbond_probes), 1 };
static const struct map_shape quality_shape = { XBOND_PIN_QUALITY, BPF_MAP_TYPE_ARRAY,
						sizeof(struct xbond_quality), XBOND_MAX_SLAVES };
static const struct map_shape alb_shape = { XBOND_PIN_ALB, BPF_MAP_TYPE_ARRAY,
					    sizeof(struct xbond_alb), 1 };
static const struct map_shape vlans_shape = { XBOND_PIN_VLANS, BPF_MAP_TYPE_ARRAY,
					      sizeof(struct xbond_vlans), 1 };
static const struct map_shape own_vlans_shape = { XBOND_PIN_OWN_VLANS, BPF_MAP_TYPE_ARRAY,
						  sizeof(struct xbond_own_vlans), 1 };
static const struct map_shape receivers_shape = { XBOND_PIN_RECEIVERS, BPF_MAP_TYPE_ARRAY,
						  sizeof(struct xbond_receivers), 1 };
static const struct map_shape moves_shape = { XBOND_PIN_MOVES, BPF_MAP_TYPE_ARRAY,
					      sizeof(struct xbond_moves), 1 };
static const struct map_shape flowlets_shape = { XBOND_PIN_FLOWLETS, BPF_MAP_TYPE_ARRAY,
						 sizeof(struct xbond_flowlets), 1 };
static const struct map_shape afxdp_shape = { XBOND_PIN_AFXDP, BPF_MAP_TYPE_ARRAY,
					      sizeof(struct xbond_afxdp), 1 };
static const struct map_shape loads_shape = { XBOND_PIN_LOADS, BPF_MAP_TYPE_PERCPU_ARRAY,
					      sizeof(struct xbond_load), XBOND_BUCKETS };
static const struct map_shape drops_shape = { XBOND_PIN_DROPS, BPF_MAP_TYPE_PERCPU_ARRAY,
					      sizeof(struct xbond_drops), XBOND_MAX_SLAVES + 1 };
static const struct map_shape counters_shape = { XBOND_PIN_COUNTERS, BPF_MAP_TYPE_PERCPU_ARRAY,
						 sizeof(struct xbond_counters), XBOND_MAX_SLAVES };

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

static int pins_check_dir(const struct pins *pins, const char *bpf_dir, const char *name,
			  struct err *err)
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

static int pins_open_pin(struct pins *pins, const char *pin, bool *ret_writable, struct err *err)
{
	LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
	char path[PIN_PATH_SIZE];
	int fd = pin_open(pins->dir, pin);

	*ret_writable = fd >= 0;
	if (fd == -EPERM || fd == -EACCES)
		fd = bpf_obj_get_opts(pin_path(path, pins->dir, pin), &read_only);
	if (fd < 0)
		return pins_open_failed(pins, pin, -fd, err);
	return fd;
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
	if (shape->type == BPF_MAP_TYPE_ARRAY && !(info.map_flags & BPF_F_MMAPABLE))
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

static int pins_map_pin(struct pins *pins, const struct map_shape *shape, void **ret_memory,
			bool *ret_writable, struct err *err)
{
	void *memory;
	int fd, r;

	fd = pins_open_pin(pins, shape->pin, ret_writable, err);
	if (fd < 0)
		return fd;
	r = shape == &bond_shape ? pins_check_abi(pins, fd, err) : 0;
	if (!r)
		r = pins_check_shape(pins, shape, fd, err);
	if (!r) {
		memory = mmap(NULL, pins_mapped_size(shape),
			      PROT_READ | (*ret_writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
		if (memory == MAP_FAILED)
			r = err_set(err, errno, "cannot map %s/%s into memory: %m", pins->dir,
				    shape->pin);
		else
			*ret_memory = memory;
	}
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

static int pins_map_added(struct pins *pins, const struct map_shape *shape, void **memory,
			  struct err *err)
{
	int r = *memory ? 0 : pins_have(pins, shape->pin, err);
	bool writable;

	return r == 1 ? pins_map_pin(pins, shape, memory, &writable, err) : r;
}

static int pins_open_per_cpu(struct pins *pins, const struct map_shape *shape, int *ret_fd,
			     struct err *err)
{
	bool writable;

	*ret_fd = pins_open_pin(pins, shape->pin, &writable, err);
	return *ret_fd < 0 ? *ret_fd : pins_check_shape(pins, shape, *ret_fd, err);
}

static int pins_open_per_cpu_added(struct pins *pins, const struct map_shape *shape, int *fd,
				   struct err *err)
{
	int r = *fd >= 0 ? 0 : pins_have(pins, shape->pin, err);

	return r == 1 ? pins_open_per_cpu(pins, shape, fd, err) : r;
}

/* Not shown if it has another shape: everything else works without it. */
static int pins_open_clients(struct pins *pins)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	int fd = pins->clients_fd < 0 ? pin_open(pins->dir, XBOND_PIN_CLIENTS) : -1;

	if (fd < 0)
		return 0;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_MAP_TYPE_HASH &&
	    info.key_size == sizeof(struct xbond_client_key) &&
	    info.value_size == sizeof(struct xbond_client))
		pins->clients_fd = fd;
	else
		close(fd);
	return 0;
}

int pins_open_added(struct pins *pins, struct err *err)
{
	int r = pins_map_added(pins, &attached_shape, (void **)&pins->attached, err);

	if (!r)
		r = pins_map_added(pins, &monitors_shape, (void **)&pins->monitors, err);
	if (!r)
		r = pins_map_added(pins, &bfd_shape, (void **)&pins->bfd, err);
	if (!r)
		r = pins_map_added(pins, &failover_shape, (void **)&pins->failover, err);
	if (!r)
		r = pins_map_added(pins, &wake_shape, (void **)&pins->wake, err);
	if (!r)
		r = pins_map_added(pins, &probes_shape, (void **)&pins->probes, err);
	if (!r)
		r = pins_map_added(pins, &quality_shape, (void **)&pins->quality, err);
	if (!r)
		r = pins_map_added(pins, &alb_shape, (void **)&pins->alb, err);
	if (!r)
		r = pins_map_added(pins, &vlans_shape, (void **)&pins->vlans, err);
	if (!r)
		r = pins_map_added(pins, &own_vlans_shape, (void **)&pins->own_vlans, err);
	if (!r)
		r = pins_map_added(pins, &receivers_shape, (void **)&pins->receivers, err);
	if (!r)
		r = pins_map_added(pins, &moves_shape, (void **)&pins->moves, err);
	if (!r)
		r = pins_map_added(pins, &flowlets_shape, (void **)&pins->flowlets, err);
	if (!r)
		r = pins_map_added(pins, &afxdp_shape, (void **)&pins->afxdp, err);
	if (!r)
		r = pins_open_per_cpu_added(pins, &loads_shape, &pins->loads_fd, err);
	if (!r)
		r = pins_open_per_cpu_added(pins, &drops_shape, &pins->drops_fd, err);
	if (!r)
		r = pins_open_clients(pins);
	return r;
}

int pins_check(const struct pins *pins, const char *name, struct err *err)
{
	if (pins->bond->state > XBOND_BOND_DELETING || !mode_find(pins->bond->mode))
		return pins_damaged(pins, XBOND_PIN_BOND, "has a state or mode that does not exist",
				    err);
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

static int pins_map_all(struct pins *pins, struct err *err)
{
	bool other;
	int r;

	/* The bond map comes first, because it has the ABI version. */
	r = pins_map_pin(pins, &bond_shape, (void **)&pins->bond, &other, err);
	if (!r)
		r = pins_map_pin(pins, &settings_shape, (void **)&pins->settings, &pins->writable,
				 err);
	if (!r)
		r = pins_map_pin(pins, &table_shape, (void **)&pins->table, &other, err);
	if (!r)
		r = pins_map_pin(pins, &buckets_shape, (void **)&pins->buckets, &other, err);
	if (!r)
		r = pins_map_pin(pins, &slaves_shape, (void **)&pins->slaves, &other, err);
	if (!r)
		r = pins_map_pin(pins, &hold_shape, (void **)&pins->hold, &other, err);
	if (!r)
		r = pins_map_pin(pins, &lacp_shape, (void **)&pins->lacp, &other, err);
	if (!r)
		r = pins_open_added(pins, err);
	if (!r)
		r = pins_open_per_cpu(pins, &counters_shape, &pins->counters_fd, err);
	return r;
}

int pins_open(struct pins *ret_pins, const char *bpf_dir, const char *name, struct err *err)
{
	struct pins pins = { PINS_NO_FILES };
	int r;

	pins_path(pins.dir, sizeof(pins.dir), bpf_dir, name);
	r = pins_check_dir(&pins, bpf_dir, name, err);
	if (!r)
		r = pins_map_all(&pins, err);
	if (!r)
		r = pins_check(&pins, name, err);
	if (r)
		pins_close(&pins);
	else
		*ret_pins = pins;
	return r;
}

uint32_t pins_abi(const char *bpf_dir, const char *name, struct err *err)
{
	struct pins pins;
	bool writable;
	uint32_t abi;
	int fd, r;

	pins_path(pins.dir, sizeof(pins.dir), bpf_dir, name);
	if (pins_check_dir(&pins, bpf_dir, name, err))
		return 0;
	fd = pins_open_pin(&pins, XBOND_PIN_BOND, &writable, err);
	if (fd < 0)
		return 0;
	r = pins_read_abi(&pins, fd, &abi, err);
	close(fd);
	return r ? 0 : abi;
}

static void pins_unmap(void *memory, const struct map_shape *shape)
{
	if (memory)
		munmap(memory, pins_mapped_size(shape));
}

void pins_close(struct pins *pins)
{
	pins_unmap(pins->settings, &settings_shape);
	pins_unmap(pins->table, &table_shape);
	pins_unmap(pins->buckets, &buckets_shape);
	pins_unmap(pins->bond, &bond_shape);
	pins_unmap(pins->slaves, &slaves_shape);
	pins_unmap(pins->hold, &hold_shape);
	pins_unmap(pins->lacp, &lacp_shape);
	pins_unmap(pins->attached, &attached_shape);
	pins_unmap(pins->monitors, &monitors_shape);
	pins_unmap(pins->bfd, &bfd_shape);
	pins_unmap(pins->failover, &failover_shape);
	pins_unmap(pins->wake, &wake_shape);
	pins_unmap(pins->probes, &probes_shape);
	pins_unmap(pins->quality, &quality_shape);
	pins_unmap(pins->alb, &alb_shape);
	pins_unmap(pins->vlans, &vlans_shape);
	pins_unmap(pins->own_vlans, &own_vlans_shape);
	pins_unmap(pins->receivers, &receivers_shape);
	pins_unmap(pins->moves, &moves_shape);
	pins_unmap(pins->flowlets, &flowlets_shape);
	pins_unmap(pins->afxdp, &afxdp_shape);
	if (pins->counters_fd >= 0)
		close(pins->counters_fd);
	if (pins->loads_fd >= 0)
		close(pins->loads_fd);
	if (pins->drops_fd >= 0)
		close(pins->drops_fd);
	if (pins->clients_fd >= 0)
		close(pins->clients_fd);
	*pins = (struct pins){ PINS_NO_FILES };
}

void pins_add_counters(struct xbond_counters *sum, const struct xbond_counters *part)
{
	sum->tx_packets += part->tx_packets;
	sum->tx_bytes += part->tx_bytes;
	sum->rx_packets += part->rx_packets;
	sum->rx_bytes += part->rx_bytes;
	sum->rx_dropped += part->rx_dropped;
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

int pins_refuse_handed_over(const char *bond, struct err *err)
{
	return err_set(err, EBUSY,
		       "a takeover or handback of %s has not ended yet; try again when it has",
		       bond);
}
