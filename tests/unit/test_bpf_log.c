/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What remains of libbpf's lines for an error line. They are those of libbpf 1.5. */
#include <stdio.h>
#include <bpf/libbpf.h>

#include "common/err.h"
#include "tests/unit/unit.h"

static libbpf_print_fn_t keep;

static void say(enum libbpf_print_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	keep(level, format, args);
	va_end(args);
}

static int begin(void **state)
{
	bpf_log_init();
	keep = libbpf_set_print(NULL);
	bpf_log_start();
	return 0;
}

TEST(the_verifiers_last_lines, begin)
{
	say(LIBBPF_WARN, "libbpf: prog 'p': BPF program load failed: Permission denied\n");
	say(LIBBPF_WARN,
	    "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n", "p",
	    "0: (b7) r1 = 8\n1: (79) r0 = *(u64 *)(r1 +0)\nR1 invalid mem access 'scalar'\n"
	    "processed 2 insns (limit 1000000) max_states_per_insn 0\n");
	say(LIBBPF_WARN, "libbpf: prog 'p': failed to load: -13\n");
	say(LIBBPF_WARN, "libbpf: failed to load object 'policy'\n");
	assert_string_equal(bpf_log_last(), " (0: (b7) r1 = 8 | 1: (79) r0 = *(u64 *)(r1 +0) | "
					    "R1 invalid mem access 'scalar')");
}

/* That of a policy that was too complex had 30 MB. */
TEST(the_end_of_a_long_log, begin)
{
	static char log[1 << 20];
	size_t end = 0;

	while (end < sizeof(log) - 200)
		end += (size_t)sprintf(log + end, "22: (0f) r3 += r2\n");
	sprintf(log + end, "24: (15) if r3 == 0x4d goto pc-13\n"
			   "The sequence of 8193 jumps is too complex.\n"
			   "processed 81937 insns (limit 1000000) max_states_per_insn 4\n");
	say(LIBBPF_WARN,
	    "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n", "p", log);
	assert_string_equal(bpf_log_last(), " (22: (0f) r3 += r2 | 24: (15) if r3 == 0x4d goto "
					    "pc-13 | The sequence of 8193 jumps is too complex.)");
}

TEST(what_libbpf_refuses_itself, begin)
{
	say(LIBBPF_WARN, "libbpf: extern (func ksym) '%s': not found in kernel or module BTFs\n",
	    "nosuch");
	say(LIBBPF_WARN, "libbpf: extern '%s' (strong): not resolved\n", "CONFIG_\x1b[2J");
	say(LIBBPF_INFO, "libbpf: something else\n");
	say(LIBBPF_DEBUG, "libbpf: and more\n");
	say(LIBBPF_WARN, "libbpf: failed to load object 'policy'\n");
	assert_string_equal(bpf_log_last(),
			    " (libbpf: extern 'CONFIG_?[2J' (strong): not resolved)");
	bpf_log_start();
	assert_string_equal(bpf_log_last(), "");
}

/* The log of BTF that the kernel does not take, and that no program needs. */
TEST(optional_btf_is_no_reason, begin)
{
	say(LIBBPF_WARN, "libbpf: BTF loading error: -22\n");
	say(LIBBPF_WARN,
	    "libbpf: -- BEGIN BTF LOAD LOG ---\n[6] ARRAY type_id=2\n-- END BTF LOAD LOG --\n");
	say(LIBBPF_WARN,
	    "libbpf: Error loading .BTF into kernel: -22. BTF is optional, ignoring.\n");
	assert_string_equal(bpf_log_last(), "");
	say(LIBBPF_WARN, "libbpf: map 'm': failed to create: -E2BIG\n");
	assert_string_equal(bpf_log_last(), " (libbpf: map 'm': failed to create: -E2BIG)");
}
