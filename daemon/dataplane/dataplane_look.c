/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs know of the slaves' carriers, and when they tell. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/dataplane/dataplane.h"

bool dataplane_look(struct dataplane *dataplane, uint64_t *ret_up, uint64_t *ret_lost)
{
	static const unsigned char frame[64]; /* the kernel wants one */
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame));
	const struct xbond_wake *wake = dataplane->pins.wake;

	if (dataplane->look_fd < 0 || !wake || dataplane->devices_fd < 0 ||
	    bpf_prog_test_run_opts(dataplane->look_fd, &options) < 0 || !options.retval)
		return false;
	*ret_up = __atomic_load_n(&wake->up, __ATOMIC_RELAXED);
	*ret_lost = __atomic_load_n(&wake->lost, __ATOMIC_RELAXED);
	return true;
}

bool dataplane_listen_for(struct dataplane *dataplane, uint64_t slots)
{
	struct xbond_wake *wake = dataplane->pins.wake;
	uint64_t told = wake ? __atomic_load_n(&wake->told, __ATOMIC_RELAXED) : 0;

	if (told & slots)
		told = __atomic_and_fetch(&wake->told, ~slots, __ATOMIC_RELEASE);
	return !told;
}
