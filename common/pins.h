/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned maps of one bond, mapped into memory. bondctl reads all of them and
 * writes settings; bondd writes the rest (see bpf/abi.h for who writes what).
 */
#ifndef XBOND_COMMON_PINS_H
#define XBOND_COMMON_PINS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"

/*
 * For who must remove a bond's pins by hand. %s: their directory. That detaches everything but
 * programs in libxdp's dispatchers, which bondd takes out of a device that becomes a slave.
 */
#define PINS_REMOVE                                                                               \
	"remove them with 'rm -r %s', then create the bond and add its slaves again, which also " \
	"takes "                                                                                  \
	"XDP programs off them that were left there"

struct pins {
	char dir[PATH_MAX];
	struct xbond_settings *settings;
	struct xbond_table *table;
	struct xbond_buckets *buckets;
	struct xbond_bond *bond;
	struct xbond_slave *slaves; /* XBOND_MAX_SLAVES of them */
	struct xbond_hold *hold;    /* XBOND_MAX_SLAVES of them */
	struct xbond_lacp *lacp;
	/* NULL: of an earlier build, and no bondd of this one has adopted it. */
	struct xbond_attached *attached;
	int counters_fd; /* per-CPU array by slot */
	bool writable;	 /* settings may be written */
};

/*
 * Opens and checks BPF_DIR/name. Fails with a line in err: no such bond (-ENOENT),
 * no permission (-EPERM, -EACCES), damaged or foreign pins (-EBADMSG), another ABI (-EPROTO).
 * The memory is writable when the caller may write the maps.
 */
int pins_open(struct pins *ret_pins, const char *bpf_dir, const char *name, struct err *err);
/* Maps that were not there when the pins were opened, and may be by now. */
int pins_open_added(struct pins *pins, struct err *err);
void pins_close(struct pins *pins);

/*
 * The ABI version of BPF_DIR/name, whatever it is; 0 and a line in err: there is none to be read.
 */
uint32_t pins_abi(const char *bpf_dir, const char *name, struct err *err);

/*
 * The directory of a bond's pins. bpffs takes no dots in names and a device name has no
 * colon, so one stands for the other: bond0.5 lives in bond0:5.
 */
void pins_path(char *ret_path, size_t size, const char *bpf_dir, const char *name);

/* Is it on a BPF file system? For a path that does not exist: the nearest directory that does. */
bool pins_on_bpffs(const char *path);

/* Directories whose name is longer than a device's are bondd's own: bonds being made or removed. */
#define PINS_STAGING "staging-of-bondd-"

/*
 * Names below bpf_dir, sorted, NULL-terminated; free with pins_names_free. A missing bpf_dir is no
 * names.
 */
int pins_names(char ***ret_names, const char *bpf_dir, struct err *err);
void pins_names_free(char **names);

/* Sum over all CPUs for one slot. 0 or -errno. */
int pins_counters(const struct pins *pins, unsigned int slot, struct xbond_counters *ret_sum);
/* Sum over all slots and the slaves that left. */
int pins_bond_counters(const struct pins *pins, struct xbond_counters *ret_sum);

/* Slot of the member called name, or -1. */
int pins_slot_by_name(const struct pins *pins, const char *name);

/* True while bondd's heartbeat is younger than 3 s. */
bool pins_bondd_alive(const struct pins *pins);

#endif
