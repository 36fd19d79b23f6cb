/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/loads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

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
