/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two CPUs, for targets that read counters: what an input does must not depend on the machine, and
 * where OSS-Fuzz runs them there is no /sys to count CPUs from. The Makefile wraps the function.
 */
#ifndef XBOND_TESTS_FUZZ_CPUS_H
#define XBOND_TESTS_FUZZ_CPUS_H

int __wrap_libbpf_num_possible_cpus(void)
{
	return 2;
}

#endif
