/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/carriers.h"

#include <bpf/bpf.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/pin.h"

#define LOOK_AGAIN_NS (100 * NS_PER_MS)

struct carriers {
	uint64_t seen_ns; /* 0: never */
	uint64_t up, lost;
};

static bool carriers_run(const struct pins *pins)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame));
	int fd = pins->wake ? pin_open(pins->dir, XBOND_PIN_PROG_LOOK) : -1, r;

	if (fd < 0)
		return false;
	r = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	return !r && run.retval;
}

static struct carriers carriers_look(const struct pins *pins)
{
	struct carriers carriers = { .seen_ns = clock_now_ns(), .up = UINT64_MAX };

	if (carriers_run(pins)) {
		carriers.up = __atomic_load_n(&pins->wake->up, __ATOMIC_RELAXED);
		carriers.lost = __atomic_load_n(&pins->wake->lost, __ATOMIC_RELAXED);
	}
	return carriers;
}

/* A capture has many packets of one bond, so not for each. */
static const struct carriers *carriers_of_late(const struct pins *pins)
{
	static struct carriers carriers;

	if (!carriers.seen_ns || clock_now_ns() - carriers.seen_ns >= LOOK_AGAIN_NS)
		carriers = carriers_look(pins);
	return &carriers;
}

uint64_t carriers_live(const struct pins *pins, uint64_t mask)
{
	const struct carriers *carriers = carriers_of_late(pins);
	uint64_t live = mask & carriers->up;

	if (!live)
		live = pins->table->tx_mask & carriers->up;
	if (!live)
		live = mask & ~carriers->lost;
	return live ? live : mask;
}

uint64_t carriers_lost(const struct pins *pins)
{
	return carriers_look(pins).lost;
}
