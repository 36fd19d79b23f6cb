/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/carriers.h"

#include <unistd.h>

#include "cli/base/carrier_look.h"
#include "common/clock.h"

#define LOOK_AGAIN_NS (100 * NS_PER_MS)

struct carriers {
	uint64_t seen_ns; /* 0: never */
	uint64_t up, lost;
};

/* A capture has many packets, so not for each. */
static const struct carriers *carriers_look(const struct pins *pins)
{
	static struct carriers carriers;
	uint64_t now_ns = clock_now_ns();
	int fd;

	if (carriers.seen_ns && now_ns - carriers.seen_ns < LOOK_AGAIN_NS)
		return &carriers;
	carriers = (struct carriers){ .seen_ns = now_ns, .up = UINT64_MAX };
	fd = carrier_look_open(pins);
	carrier_look(fd, pins, &carriers.up, &carriers.lost);
	if (fd >= 0)
		close(fd);
	return &carriers;
}

uint64_t carriers_live(const struct pins *pins, uint64_t mask)
{
	const struct carriers *carriers = carriers_look(pins);
	uint64_t live = mask & carriers->up;

	if (!live)
		live = pins->table->tx_mask & carriers->up;
	if (!live)
		live = mask & ~carriers->lost;
	if (!live)
		live = pins->table->failed & ~carriers->lost;
	return live ? live : mask;
}
