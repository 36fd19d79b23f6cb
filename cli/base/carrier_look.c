/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/carrier_look.h"

#include <bpf/bpf.h>

#include "common/pins.h"

int carrier_look_open(const struct pins *pins)
{
	return pins->wake ? pin_open(pins->dir, XBOND_PIN_PROG_LOOK) : -1;
}

bool carrier_look(int fd, const struct pins *pins, uint64_t *ret_up, uint64_t *ret_lost)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = sizeof(frame));

	if (fd < 0 || bpf_prog_test_run_opts(fd, &run) || !run.retval)
		return false;
	*ret_up = __atomic_load_n(&pins->wake->up, __ATOMIC_RELAXED);
	*ret_lost = __atomic_load_n(&pins->wake->lost, __ATOMIC_RELAXED);
	return true;
}
