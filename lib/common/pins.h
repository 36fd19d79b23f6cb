/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is pinned of a bond: one pin, the maps in memory, and a policy. bondctl reads all of the
 * maps and writes settings; bondd writes the rest (bpf/abi.h names the writers).
 */
#ifndef XBOND_COMMON_PINS_H
#define XBOND_COMMON_PINS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "common/err.h"

/*
 * One pin of a bond: its path, what is pinned there, and what a pinned link tells about itself.
 * Does not know which pins a bond has (bpf/abi.h) or what is in its maps.
 */

#define PIN_PATH_SIZE (PATH_MAX + 32)

/* dir: of the bond's pins. Returns ret_path. */
const char *pin_path(char ret_path[PIN_PATH_SIZE], const char *dir, const char *name);
/* A descriptor of what is pinned there, or -errno. */
int pin_open(const char *dir, const char *name);

/* The kernel's number of a map; 0: unknown. */
uint32_t pin_map_id(int map_fd);
/* The same of a program. */
uint32_t pin_program_id(int program_fd);
struct bpf_prog_info;
/* The program with that number; false if there is none, or this process may not ask. */
bool pin_program_read(uint32_t id, struct bpf_prog_info *ret_info);
/* Is that map one of the program's? */
bool pin_program_uses(int program_fd, uint32_t map_id);

/* A TCX, netkit or XDP link. */
struct pin_link {
	uint32_t program; /* the kernel's number of it */
	uint32_t ifindex; /* 0: somebody has detached the link, or put something else there */
};

/*
 * Detaches the link that is pinned there, and removes the pin, also of something else. -ENOENT:
 * there is none. After another -errno the pin stays, because the link may go on; -EISDIR: there is
 * a directory in its place.
 */
int pin_link_detach(const char *path);
/* Returns 0 or -errno. */
int pin_link_read(int link_fd, struct pin_link *ret_link);

/* The pinned maps of one bond, mapped into memory. */

/*
 * How a user removes a bond's pins by hand; %s is their directory. This detaches everything except
 * programs in libxdp's dispatchers. bondd removes those when the device becomes a slave.
 */
#define PINS_REMOVE                                                                               \
	"remove them with 'rm -r %s', then create the bond and add its slaves again, which also " \
	"takes "                                                                                  \
	"XDP programs off them that were left there"

/* That bonds cannot be seen from here, whether there are any or not; %s is bpf_dir. */
#define PINS_HIDDEN                                                               \
	"%s is not on a BPF file system here ('ip netns exec' hides the host's; " \
	"'nsenter --net=/run/netns/NAME' does not)"

/* -EBUSY; %s is the bond. */
#define PINS_HANDED_OVER "a takeover or handback of %s has not ended yet; try again when it has"

#define PINS_NO_FILES .counters_fd = -1, .loads_fd = -1, .drops_fd = -1, .clients_fd = -1

struct pins {
	char dir[PATH_MAX];
	dev_t device; /* of the directory, when it was opened */
	ino_t inode;
	struct xbond_settings *settings;
	struct xbond_table *table;
	struct xbond_buckets *buckets;
	struct xbond_bond *bond;
	struct xbond_slave *slaves; /* XBOND_MAX_SLAVES of them */
	struct xbond_hold *hold;    /* XBOND_MAX_SLAVES of them */
	struct xbond_lacp *lacp;
	/* NULL: an earlier build made the bond, and no bondd of this build has adopted it. */
	struct xbond_attached *attached;
	struct xbond_verdict *monitors;	   /* XBOND_MAX_SLAVES of them; NULL as above */
	struct xbond_bfd *bfd;		   /* NULL as above */
	struct xbond_probes *probes;	   /* NULL as above */
	struct xbond_alb *alb;		   /* NULL as above */
	struct xbond_vlans *vlans;	   /* NULL as above */
	struct xbond_own_vlans *own_vlans; /* NULL as above */
	struct xbond_receivers *receivers; /* NULL as above */
	struct xbond_quality *quality;	   /* XBOND_MAX_SLAVES of them; NULL as above */
	struct xbond_failover *failover;   /* NULL as above */
	struct xbond_wake *wake;	   /* NULL as above */
	struct xbond_moves *moves;	   /* NULL as above */
	struct xbond_flowlets *flowlets;   /* NULL as above */
	struct xbond_afxdp *afxdp;	   /* NULL as above */
	int counters_fd;		   /* per-CPU array by slot */
	int loads_fd;			   /* per-CPU array by bucket (readings.h); -1 as above */
	int drops_fd;			   /* per-CPU array by slot (readings.h); -1 as above */
	int clients_fd;			   /* hash (readings.h); -1 as above, or not permitted */
};

/*
 * Opens and checks BPF_DIR/name. The caller must be allowed to write the maps, because the kernel
 * maps nothing for those who may only read it. Fails with a line in err: no such bond (-ENOENT), no
 * permission (-EPERM, -EACCES), damaged or foreign pins (-EBADMSG), another ABI (-EPROTO).
 */
int pins_open(struct pins *ret_pins, const char *bpf_dir, const char *name, struct err *err);
/*
 * Checks that the maps contain nothing that would harm their readers; otherwise returns -EBADMSG.
 * Called by pins_open().
 */
int pins_check(const struct pins *pins, const char *name, struct err *err);
/* Opens maps that were not there when the pins were opened but may be there now. */
int pins_open_added(struct pins *pins, struct err *err);
void pins_close(struct pins *pins);
/* False if another directory is in its place: of a new bond of that name, or after an upgrade. */
bool pins_are_current(const struct pins *pins);

/* Gives the ABI version of BPF_DIR/name, whatever it is; 0 with an error. */
int pins_abi(const char *bpf_dir, const char *name, uint32_t *ret_abi, struct err *err);

/*
 * The directory of a bond's pins. A BPF file system takes no dots in names, and a device name has
 * no colon, so a colon stands for a dot: bond0.5 is in bond0:5.
 */
void pins_path(char *ret_path, size_t size, const char *bpf_dir, const char *name);

/*
 * Is it on a BPF file system? If the path does not exist, the nearest existing directory above it
 * counts.
 */
bool pins_on_bpffs(const char *path);

/*
 * Directories whose names are longer than a device name belong to bondd: bonds that are being made
 * or removed.
 */
#define PINS_STAGING "staging-of-bondd-"

/*
 * The names below bpf_dir, bond2 before bond10, with NULL at the end; free them with
 * memory_free_texts(). If bpf_dir does not exist, there are no names.
 */
int pins_names(char ***ret_names, const char *bpf_dir, struct err *err);

/* What the bond's programs have counted for one slot. Returns 0 or -errno. */
int pins_program_counters(const struct pins *pins, unsigned int slot,
			  struct xbond_counters *ret_sum);
/* AF_XDP included. */
int pins_counters(const struct pins *pins, unsigned int slot, struct xbond_counters *ret_sum);
/* Of slaves that have left. */
void pins_retired_counters(const struct pins *pins, struct xbond_counters *ret_sum);
void pins_add_counters(struct xbond_counters *sum, const struct xbond_counters *part);
/* The sum over all slots and over the slaves that have left. */
int pins_bond_counters(const struct pins *pins, struct xbond_counters *ret_sum);

static inline bool pins_is_member(const struct pins *pins, unsigned int slot)
{
	return pins->slaves[slot].state == XBOND_SLOT_MEMBER;
}

/* Loops over every slot that is a member. */
#define pins_for_each_member(pins, slot)                             \
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) \
		if (pins_is_member(pins, slot))

/* The slot of the member with this name, or -1. */
int pins_slot_by_name(const struct pins *pins, const char *name);

/* True while bondd's heartbeat is younger than 3 s. */
bool pins_bondd_alive(const struct pins *pins);

/*
 * A bond's policy of the user, as the pinned maps have it (bpf/policy_ask.h). bondctl loads it;
 * bondd gives the bond the programs that ask it.
 */

/* Prefix of the pins of a policy's maps while bondctl is loading it. */
#define POLICY_MAPS_STAGED "new_" XBOND_PIN_POLICY_MAPS
#define POLICY_NAME_SIZE 16 /* BPF_OBJ_NAME_LEN */

struct policy_program {
	uint32_t id; /* the kernel's number; 0: there is none */
	char name[POLICY_NAME_SIZE];
	uint8_t tag[8];
};

/*
 * The program in XBOND_PIN_POLICY or XBOND_PIN_POLICY_XDP of a bond; dir: of its pins. The name is
 * empty if this process may not ask for it. Returns false if there is none.
 */
bool policy_program(const char *dir, const char *pin, struct policy_program *ret_program);
bool policy_is_loaded(const char *dir);
/* There is surely none. If that cannot be found out, neither is true. */
bool policy_is_gone(const char *dir);
/* Is the map one of those of the program in this map of programs? Both are descriptors. */
bool policy_uses_map(int programs_fd, int map_fd);
/*
 * Is this one of the bond's programs that choose a slave, and does it ask a policy? By the kernel's
 * number of the program; false also if this process may not ask for it.
 */
bool policy_is_asked_by(uint32_t program_id);

/* Stores into maps that BPF programs read at the same time. */

/* What was stored before is seen by whoever sees this. */
#define store_release(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

#endif
