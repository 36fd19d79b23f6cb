/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/readings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/pins.h"

/* Is it attached, and up? */

/* While bondd makes or deletes the bond, it is bondd that has taken a program off. */
static enum attached attached_not(const struct pins *pins)
{
	return __atomic_load_n(&pins->bond->state, __ATOMIC_RELAXED) == XBOND_BOND_READY
		       ? ATTACHED_NOT
		       : ATTACHED_UNKNOWN;
}

static enum attached attached_link_is_attached(const struct pins *pins, const char *pin)
{
	int fd = pin_open(pins->dir, pin), r;
	struct pin_link link;

	if (fd < 0)
		return fd == -ENOENT ? attached_not(pins) : ATTACHED_UNKNOWN;
	r = pin_link_read(fd, &link);
	close(fd);
	if (r)
		return ATTACHED_UNKNOWN;
	return link.ifindex ? ATTACHED : attached_not(pins);
}

enum attached attached_slave(const struct pins *pins, unsigned int slot)
{
	char pin[32];

	if (pins->attached && slots_have(pins->attached->missing, slot))
		return attached_not(pins);
	if (pins->bond->hook == XBOND_HOOK_CLSACT || pins->slaves[slot].clsact)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	snprintf(pin, sizeof(pin), XBOND_PIN_LINK_RX "%u", slot);
	return attached_link_is_attached(pins, pin);
}

/*
 * The programs by which bond0 transmits. A netkit has the egress program only while it is needed, a
 * team only that.
 */
enum attached attached_pair(const struct pins *pins)
{
	bool netkit = pins->bond->device_kind == XBOND_DEVICE_NETKIT;
	bool team = pins->bond->device_kind == XBOND_DEVICE_TEAM;
	enum attached port;

	if (pins->attached && pins->attached->missing_bond)
		return attached_not(pins);
	if (pins->bond->hook == XBOND_HOOK_CLSACT && !netkit)
		return pins->attached ? ATTACHED : ATTACHED_UNKNOWN;
	port = team ? ATTACHED : attached_link_is_attached(pins, XBOND_PIN_LINK_PORT);
	return port != ATTACHED || netkit || pins->bond->hook == XBOND_HOOK_CLSACT
		       ? port
		       : attached_link_is_attached(pins, XBOND_PIN_LINK_EGRESS);
}

bool set_down_is(const char *name, const uint8_t mac[XBOND_MAC_SIZE])
{
	struct ifreq request = { 0 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_down;

	if (fd < 0)
		return false;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	is_down = !ioctl(fd, SIOCGIFHWADDR, &request) &&
		  !memcmp(request.ifr_hwaddr.sa_data, mac, XBOND_MAC_SIZE) &&
		  !ioctl(fd, SIOCGIFFLAGS, &request) && !(request.ifr_flags & IFF_UP);
	close(fd);
	return is_down;
}

/* What it drops. */

static const struct {
	const char *name, *words;
	bool is_of_control; /* the alert XbondControlFlood knows these by their beginnings */
} drops_reasons[XBOND_DROPS] = {
	[XBOND_DROP_NO_SLAVE] = { "no_slave", "sent while no slave could transmit", false },
	[XBOND_DROP_NO_COPY] = { "no_copy", "copies that could not be made or sent", false },
	[XBOND_DROP_INACTIVE] = { "inactive",
				  "arrived on a slave that does not receive for the bond", false },
	[XBOND_DROP_NO_CARRIER] = { "no_carrier", "arrived while the bond had no carrier", false },
	[XBOND_DROP_LACP_REFUSED] = { "lacp_refused",
				      "LACPDUs and markers that were refused, without bondd",
				      true },
	[XBOND_DROP_LACP_QUEUE] = { "lacp_queue", "LACPDUs that bondd did not read in time", true },
	[XBOND_DROP_BFD_REFUSED] = { "bfd_refused", "BFD packets that were refused", true },
	[XBOND_DROP_BFD_QUEUE] = { "bfd_queue", "BFD packets that bondd did not read in time",
				   true },
	[XBOND_DROP_LACP_FLOOD] = { "lacp_flood", "too many LACPDUs of the partner", true },
	[XBOND_DROP_LACP_STRANGERS] = { "lacp_strangers", "too many LACPDUs of others", true },
	[XBOND_DROP_MARKER_FLOOD] = { "marker_flood", "too many markers", true },
	[XBOND_DROP_BFD_FLOOD] = { "bfd_flood", "too many packets of the BFD session", true },
	[XBOND_DROP_BFD_STRANGERS] = { "bfd_strangers", "too many packets of other BFD sessions",
				       true },
};

const char *drops_name(enum xbond_drop reason)
{
	return drops_reasons[reason].name;
}

const char *drops_words(enum xbond_drop reason)
{
	return drops_reasons[reason].words;
}

bool drops_is_of_control(enum xbond_drop reason)
{
	return drops_reasons[reason].is_of_control;
}

/* The sum over all CPUs. */
static bool drops_read_map(const struct pins *pins, uint32_t slot,
			   uint64_t ret_packets[XBOND_DROPS])
{
	int cpus = libbpf_num_possible_cpus();
	struct xbond_drops *each;
	bool known;

	each = cpus > 0 && pins->drops_fd >= 0 ? memory_need(calloc((size_t)cpus, sizeof(*each)))
					       : NULL;
	known = each && !bpf_map_lookup_elem(pins->drops_fd, &slot, each);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		ret_packets[i] = known ? 0 : DROPS_UNKNOWN;
	for (int cpu = 0; known && cpu < cpus; cpu++)
		for (unsigned int i = 0; i < XBOND_DROPS; i++)
			ret_packets[i] += each[cpu].packets[i];
	free(each);
	return known;
}

static void drops_read_budgets(const struct pins *pins, unsigned int slot,
			       uint64_t ret_packets[XBOND_DROPS])
{
	const struct xbond_pdu_budget *pdus = pins->hold[slot].budget;
	const struct xbond_bfd_link *bfd = pins->bfd ? &pins->bfd->link[slot] : NULL;

	ret_packets[XBOND_DROP_LACP_FLOOD] = pdus[XBOND_PDU_PARTNER].flooded;
	ret_packets[XBOND_DROP_LACP_STRANGERS] = pdus[XBOND_PDU_STRANGER].flooded;
	ret_packets[XBOND_DROP_MARKER_FLOOD] = pdus[XBOND_PDU_MARKER].flooded;
	ret_packets[XBOND_DROP_BFD_FLOOD] = bfd ? bfd->budget[0].flooded : DROPS_UNKNOWN;
	ret_packets[XBOND_DROP_BFD_STRANGERS] = bfd ? bfd->budget[1].flooded : DROPS_UNKNOWN;
}

void drops_read(const struct pins *pins, unsigned int slot, uint64_t ret_packets[XBOND_DROPS])
{
	bool known = drops_read_map(pins, slot, ret_packets);

	if (slot >= XBOND_MAX_SLAVES)
		return;
	drops_read_budgets(pins, slot, ret_packets);
	if (known && pins->afxdp)
		ret_packets[XBOND_DROP_INACTIVE] += pins->afxdp->slot[slot].rx_dropped;
	if (known && pins->bfd)
		ret_packets[XBOND_DROP_BFD_REFUSED] += pins->bfd->link[slot].refused;
}

/* What its buckets send. */

#define LOADS_AT_ONCE 256
#define LOADS_AHEAD 1000 /* ticks: more than clocks of CPUs and callers can differ */

uint32_t loads_silence(const struct xbond_load *load, uint64_t now_ns)
{
	uint32_t ticks = (uint32_t)(now_ns >> XBOND_LOAD_TICK_SHIFT) - load->last;

	/* A packet may be younger than the caller's clock. Ticks wrap around after 52 days. */
	return ticks > UINT32_MAX - LOADS_AHEAD ? 0 : ticks;
}

static void loads_add(struct xbond_load *sum, const struct xbond_load *part)
{
	if (!part->packets && !part->bytes)
		return;
	if (!sum->packets || (int32_t)(part->last - sum->last) > 0)
		sum->last = part->last;
	sum->packets += part->packets;
	sum->bytes += part->bytes;
}

/* Before Linux 5.13 these maps have no batches. */
static int loads_read_singly(int fd, uint32_t first, uint32_t count, int cpus,
			     struct xbond_load *each)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = first + i;

		if (bpf_map_lookup_elem(fd, &key, each + (size_t)i * (size_t)cpus))
			return -errno;
	}
	return 0;
}

static int loads_read_some(int fd, uint32_t first, int cpus, struct xbond_load *each)
{
	uint32_t keys[LOADS_AT_ONCE], before = first - 1, next, count = LOADS_AT_ONCE;

	if (!bpf_map_lookup_batch(fd, first ? &before : NULL, &next, keys, each, &count, NULL) ||
	    (errno == ENOENT && count == LOADS_AT_ONCE))
		return count == LOADS_AT_ONCE && keys[0] == first ? 0 : -EIO;
	return loads_read_singly(fd, first, LOADS_AT_ONCE, cpus, each);
}

int loads_read(const struct pins *pins, struct xbond_load ret_load[XBOND_BUCKETS])
{
	int cpus = libbpf_num_possible_cpus(), r = 0;
	struct xbond_load *each;

	if (cpus <= 0 || pins->loads_fd < 0)
		return -ENOENT;
	each = memory_need(calloc((size_t)cpus * LOADS_AT_ONCE, sizeof(*each)));
	memset(ret_load, 0, XBOND_BUCKETS * sizeof(*ret_load));
	for (uint32_t first = 0; !r && first < XBOND_BUCKETS; first += LOADS_AT_ONCE) {
		r = loads_read_some(pins->loads_fd, first, cpus, each);
		for (int i = 0; !r && i < LOADS_AT_ONCE * cpus; i++)
			loads_add(&ret_load[first + (uint32_t)(i / cpus)], &each[i]);
	}
	free(each);
	return r;
}

/* The clients of balance-alb. */

#define CLIENTS_AT_ONCE 512

/* One batch, as the kernel fills it: keys and values apart. */
struct client_batch {
	struct xbond_client_key keys[CLIENTS_AT_ONCE];
	struct xbond_client clients[CLIENTS_AT_ONCE];
	__u32 at, next, count;
};

static int client_table_take(const struct client_batch *batch, struct client_entry *entries,
			     int count)
{
	for (__u32 i = 0; i < batch->count && count < XBOND_MAX_CLIENTS; i++)
		entries[count++] = (struct client_entry){ batch->keys[i], batch->clients[i] };
	return count;
}

static int client_table_read_all(int fd, struct client_batch *batch, struct client_entry *entries)
{
	bool first = true, ends = false;
	int count = 0, r;

	while (!ends && count < XBOND_MAX_CLIENTS) {
		batch->count = CLIENTS_AT_ONCE;
		r = bpf_map_lookup_batch(fd, first ? NULL : &batch->at, &batch->next, batch->keys,
					 batch->clients, &batch->count, NULL);
		if (r && r != -ENOENT)
			return r;
		ends = r == -ENOENT;
		count = client_table_take(batch, entries, count);
		batch->at = batch->next;
		first = false;
	}
	return count;
}

int client_table_read(int clients_fd, struct client_entry **ret_entries)
{
	struct client_entry *entries;
	struct client_batch *batch;
	int r;

	*ret_entries = NULL;
	if (clients_fd < 0)
		return 0;
	entries = memory_need(calloc(XBOND_MAX_CLIENTS, sizeof(*entries)));
	batch = memory_need(malloc(sizeof(*batch)));
	r = client_table_read_all(clients_fd, batch, entries);
	free(batch);
	if (r > 0)
		*ret_entries = entries;
	else
		free(entries);
	return r;
}

int client_table_size(int clients_fd)
{
	struct client_entry *entries;
	int count = client_table_read(clients_fd, &entries);

	free(entries);
	return count;
}

bool client_table_find(int clients_fd, const struct xbond_client_key *key,
		       struct xbond_client *ret_client)
{
	return clients_fd >= 0 && !bpf_map_lookup_elem(clients_fd, key, ret_client);
}

struct xbond_client_key client_table_mark(int family, const uint8_t *bytes)
{
	struct xbond_client_key mark = { .is_mark = 1 };

	if (bytes) {
		mark.family = (__u16)family;
		memcpy(mark.own, bytes, sizeof(mark.own));
	}
	return mark;
}

bool client_table_excludes(int clients_fd, const struct xbond_client_key *key)
{
	struct xbond_client_key only_marked = client_table_mark(0, NULL),
				mark = client_table_mark(key->family, key->own);
	struct xbond_client found;

	return client_table_find(clients_fd, &only_marked, &found) &&
	       !client_table_find(clients_fd, &mark, &found);
}

bool client_table_is_own(const struct client_entry *entry)
{
	static const __u8 none[16];

	return !memcmp(entry->key.peer, none, sizeof(none));
}

unsigned int client_table_count(const struct client_entry *entries, int count, __u64 told)
{
	unsigned int found = 0;

	for (int i = 0; i < count; i++)
		found += !client_table_is_own(&entries[i]) && entries[i].client.told == told;
	return found;
}

/* The main loop. */

static void loop_path(char ret_path[PATH_MAX], const char *run_dir)
{
	snprintf(ret_path, PATH_MAX, "%s/" PATHS_LOOP_NAME, run_dir);
}

/* The blocks are allocated here: where they are missing, writing to the memory would be SIGBUS. */
static void *loop_map(int fd)
{
	void *memory;

	errno = posix_fallocate(fd, 0, sizeof(struct loop_figures));
	if (errno)
		return NULL;
	memory = mmap(NULL, sizeof(struct loop_figures), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

struct loop_figures *loop_create(const char *run_dir)
{
	struct loop_figures *figures;
	char path[PATH_MAX];
	int fd, reason;

	loop_path(path, run_dir);
	unlink(path); /* readers of the old file keep it */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return NULL;
	figures = loop_map(fd);
	reason = errno;
	close(fd);
	if (!figures) {
		unlink(path);
		errno = reason;
		return NULL;
	}
	figures->size = sizeof(*figures);
	figures->magic = LOOP_MAGIC;
	return figures;
}

void loop_remove(struct loop_figures *figures, const char *run_dir)
{
	char path[PATH_MAX];

	if (!figures)
		return;
	loop_path(path, run_dir);
	unlink(path);
	munmap(figures, sizeof(*figures));
}

int loop_read(const char *run_dir, struct loop_figures *ret_figures)
{
	char path[PATH_MAX];
	ssize_t got;
	int fd;

	loop_path(path, run_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, ret_figures, sizeof(*ret_figures));
	close(fd);
	if (got != sizeof(*ret_figures) || ret_figures->magic != LOOP_MAGIC ||
	    ret_figures->size != sizeof(*ret_figures))
		return -EBADMSG;
	ret_figures->worst_work[LOOP_WORK_SIZE - 1] = '\0';
	return 0;
}

/* Released slaves. */

static const struct {
	uint32_t bit;
	const char *name;
} restored[] = {
	{ XBOND_RESTORED_MAC, "MAC address" },
	{ XBOND_RESTORED_MTU, "MTU" },
	{ XBOND_RESTORED_FLAGS, "promiscuity and allmulti" },
	{ XBOND_RESTORED_STATE, "state" },
	{ XBOND_RESTORED_DOWN, "state" },
	{ XBOND_RESTORED_MASTER, "master" },
	{ XBOND_RESTORED_IPV6, "IPv6" },
	{ XBOND_RESTORED_SLOW, "multicast list" },
	{ XBOND_RESTORED_GROUPS, "multicast list" },
	{ XBOND_RESTORED_LRO, "rx-lro" },
	{ XBOND_RESTORED_VLAN_FILTER, "VLAN filter" },
	{ XBOND_RESTORED_INGRESS, "ingress" },
	{ XBOND_RESTORED_XDP, "XDP program" },
};

const char *restored_name(uint32_t bit)
{
	for (size_t i = 0; i < sizeof(restored) / sizeof(restored[0]); i++)
		if (restored[i].bit == bit)
			return restored[i].name;
	return "rest";
}

/* What is left of one, as a list: "MAC address, MTU". Returns text. */
static const char *restored_left(uint32_t done, char *text, size_t size)
{
	const char *last = "";
	size_t at = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(restored) / sizeof(restored[0]); i++) {
		if (done & restored[i].bit || !strcmp(restored[i].name, last))
			continue;
		last = restored[i].name;
		at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", last);
		if (at >= size)
			break;
	}
	return text;
}

/* One that did not become a slave is left, too, if not all could be taken back. */
static bool restored_is_left(const struct xbond_slave *slave)
{
	return slave->state == XBOND_SLOT_RELEASING ||
	       (slave->state == XBOND_SLOT_ENSLAVING && slave->restored);
}

const char *restored_left_of(const struct pins *pins, char text[RESTORED_TEXT_SIZE])
{
	char what[RESTORED_TEXT_SIZE];
	size_t at = 0;

	*text = '\0';
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && at < RESTORED_TEXT_SIZE; slot++) {
		const struct xbond_slave *slave = &pins->slaves[slot];

		if (restored_is_left(slave))
			at += (size_t)snprintf(text + at, RESTORED_TEXT_SIZE - at, "%s%s: %s",
					       at ? "; " : "", slave->name,
					       restored_left(slave->restored, what, sizeof(what)));
	}
	return text;
}
