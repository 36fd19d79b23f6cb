/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/monitor.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/linkwatch.skel.h"
#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/event.h"

/* A work of the kernel that is due and has not run for so long waits for somebody's RTNL lock. */
#define BLIND_NS (3 * NS_PER_S)
/* After it has run: it may have been queued again meanwhile, which nothing tells. */
#define AFTER_NS (10 * NS_PER_MS)

struct carrier_watch {
	struct linkwatch_bpf *skeleton;
	struct ring_buffer *ring;
	enum xbond_carrier_source source;
	carrier_watch_fn on_change;
	void *arg;
	uint64_t first_ns; /* of the records that are being read */
	bool misled;	   /* libbpf believes that this kernel is older than it is */
	bool armed;	   /* linkwatch's timer runs, or has not been heard of since */
	uint64_t blind_ns; /* until then */
	uint64_t doubts[WATCH_BONDS / 64]; /* places in use */
};

/* For tests: XBOND_TEST_CARRIER_SOURCE=poll takes what comes first, =tracepoint the first two. */
static bool carrier_watch_may(const char *without)
{
	const char *most = getenv("XBOND_TEST_CARRIER_SOURCE");

	return !most || (strcmp(most, "poll") && strcmp(most, without));
}

static void carrier_watch_hear(struct carrier_watch *watch, enum watch_what what)
{
	uint64_t now_ns = clock_now_ns();

	if (what == WATCH_RAN && !watch->armed)
		watch->blind_ns = now_ns + AFTER_NS;
	else
		watch->blind_ns = now_ns + BLIND_NS;
	if (what != WATCH_RAN)
		watch->armed = what == WATCH_ARMED;
}

static int carrier_watch_on_record(void *arg, void *data, size_t size)
{
	struct carrier_watch *watch = arg;
	const struct watch_record *record = data;

	if (size < sizeof(*record))
		return 0;
	if (!watch->first_ns)
		watch->first_ns = record->ns;
	if (record->what == WATCH_LOST || record->what == WATCH_RETURNED)
		watch->on_change(watch->arg, record);
	else
		carrier_watch_hear(watch, (enum watch_what)record->what);
	return 0;
}

/*
 * Has the kernel been told which functions the program has, and that others may call them? libbpf
 * leaves that out for kernels older than those that xbond runs on. Without it the verifier goes
 * through xbond's functions at each call of them, and gives up.
 */
static bool carrier_watch_has_functions(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	struct btf *btf;
	bool has = false;

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) || !info.btf_id)
		return false;
	btf = btf__load_from_kernel_by_id(info.btf_id);
	for (uint32_t id = 1; btf && id < btf__type_cnt(btf) && !has; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		has = btf_is_func(type) && btf_vlen(type) == BTF_FUNC_GLOBAL;
	}
	btf__free(btf);
	return has;
}

static int carrier_watch_load(struct carrier_watch *watch, bool functions)
{
	struct linkwatch_bpf *skeleton = linkwatch_bpf__open();
	int r;

	if (!skeleton)
		return -errno;
	bpf_program__set_autoload(skeleton->progs.watch_off, functions);
	bpf_program__set_autoload(skeleton->progs.watch_on, functions);
	bpf_program__set_autoload(skeleton->progs.watch_armed, !functions);
	bpf_program__set_autoload(skeleton->progs.watch_queued, !functions);
	bpf_program__set_autoload(skeleton->progs.watch_ran, !functions);
	r = linkwatch_bpf__load(skeleton);
	watch->misled = !r && (!skeleton->data_subject ||
			       !carrier_watch_has_functions(functions ? skeleton->progs.watch_off
								      : skeleton->progs.watch_ran));
	if (watch->misled)
		r = -ENOMEM;
	if (!r)
		r = linkwatch_bpf__attach(skeleton);
	if (!r) {
		watch->ring = ring_buffer__new(bpf_map__fd(skeleton->maps.records),
					       carrier_watch_on_record, watch, NULL);
		r = watch->ring ? 0 : -errno;
	}
	if (r)
		linkwatch_bpf__destroy(skeleton);
	else
		watch->skeleton = skeleton;
	return r;
}

static void carrier_watch_choose(struct carrier_watch *watch)
{
	int fentry = carrier_watch_may("tracepoint") ? carrier_watch_load(watch, true) : -EPERM;
	int tracepoint = 0;

	watch->source = XBOND_CARRIER_FENTRY;
	if (!fentry || watch->misled)
		return;
	watch->source = XBOND_CARRIER_TRACEPOINT;
	tracepoint = carrier_watch_may("poll") ? carrier_watch_load(watch, false) : -EPERM;
	if (!tracepoint || watch->misled)
		return;
	watch->source = XBOND_CARRIER_POLL;
	log_info("links without packets are watched only by link events and the poll, because "
		 "the kernel refuses fentry (%s) and tracepoints (%s)",
		 strerror(-fentry), strerror(-tracepoint));
}

struct carrier_watch *carrier_watch_new(carrier_watch_fn on_change, void *arg)
{
	struct carrier_watch *watch = memory_need(calloc(1, sizeof(*watch)));

	watch->on_change = on_change;
	watch->arg = arg;
	carrier_watch_choose(watch);
	if (watch->misled) {
		carrier_watch_free(watch);
		return NULL;
	}
	return watch;
}

void carrier_watch_free(struct carrier_watch *watch)
{
	if (!watch)
		return;
	ring_buffer__free(watch->ring);
	linkwatch_bpf__destroy(watch->skeleton);
	free(watch);
}

enum xbond_carrier_source carrier_watch_source(const struct carrier_watch *watch)
{
	return watch->source;
}

int carrier_watch_fd(const struct carrier_watch *watch)
{
	return watch->ring ? ring_buffer__epoll_fd(watch->ring) : -1;
}

void carrier_watch_set(struct carrier_watch *watch, uint64_t netns_cookie,
		       const uint32_t *ifindexes, unsigned int count)
{
	struct watch_subject chosen = { .netns_cookie = netns_cookie }, *subject;

	if (!watch->skeleton)
		return;
	for (unsigned int i = 0; i < count; i++) {
		uint32_t place = ifindexes[i] % WATCH_INDEXES;

		chosen.indexes[place / 64] |= UINT64_C(1) << place % 64;
	}
	subject = &watch->skeleton->data_subject->subject;
	if (memcmp(subject, &chosen, sizeof(chosen)))
		memcpy(subject, &chosen, sizeof(chosen));
}

static int carrier_watch_free_place(const struct carrier_watch *watch)
{
	for (int place = 0; place < WATCH_BONDS; place++)
		if (!(watch->doubts[place / 64] >> place % 64 & 1))
			return place;
	return -1;
}

int carrier_watch_add_doubt(struct carrier_watch *watch, int map_fd)
{
	int place = watch->source == XBOND_CARRIER_FENTRY ? carrier_watch_free_place(watch) : -1;

	if (place < 0 || bpf_map_update_elem(bpf_map__fd(watch->skeleton->maps.doubts), &place,
					     &map_fd, BPF_ANY))
		return -1;
	watch->doubts[place / 64] |= UINT64_C(1) << place % 64;
	return place;
}

void carrier_watch_drop_doubt(struct carrier_watch *watch, int place)
{
	if (place < 0)
		return;
	bpf_map_delete_elem(bpf_map__fd(watch->skeleton->maps.doubts), &place);
	watch->doubts[place / 64] &= ~(UINT64_C(1) << place % 64);
}

uint64_t carrier_watch_read(struct carrier_watch *watch)
{
	watch->first_ns = 0;
	if (watch->ring)
		ring_buffer__consume(watch->ring);
	return watch->first_ns;
}

bool carrier_watch_is_blind(struct carrier_watch *watch)
{
	return watch->blind_ns > clock_now_ns();
}
