/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim [-v] FILE...: scenarios. sim [-v] histories COUNT [SEED]: random ones. Exit status 1 when one
 * failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/world.h"

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	int first = verbose ? 2 : 1, failures = 0;

	if (first >= argc) {
		fprintf(stderr, "usage: sim [-v] FILE... | histories COUNT [SEED]\n");
		return 2;
	}
	if (!strcmp(argv[first], "histories"))
		return histories_run(first + 1 < argc ? (unsigned int)atoi(argv[first + 1]) : 1000,
				     first + 2 < argc ? strtoull(argv[first + 2], NULL, 0) : 1,
				     verbose) != 0;
	for (int i = first; i < argc; i++)
		failures += scenario_run(argv[i], verbose);
	return failures != 0;
}
