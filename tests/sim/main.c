/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim [-v] FILE[:NAME]...: scenarios. sim [-v] histories COUNT [SEED]: random ones. sim explore
 * MOVES [SHARE [PICK [SYSTEMS]]]: all that there are. Exit status 1 when one failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/world.h"

/* Of the arguments, or if there are fewer. */
static uint64_t number(char **argv, int index, uint64_t otherwise)
{
	for (int i = 1; i <= index; i++)
		if (!argv[i])
			return otherwise;
	return strtoull(argv[index], NULL, 0);
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	int first = verbose ? 2 : 1, failures = 0;

	if (first >= argc) {
		fprintf(stderr, "usage: sim [-v] FILE[:NAME]... | histories COUNT [SEED] | "
				"explore MOVES [SHARE [PICK [SYSTEMS]]]\n");
		return 2;
	}
	if (!strcmp(argv[first], "histories"))
		return histories_run((unsigned int)number(argv, first + 1, 1000),
				     number(argv, first + 2, 1), verbose) != 0;
	if (!strcmp(argv[first], "explore"))
		return explore_run((unsigned int)number(argv, first + 1, 1),
				   (unsigned int)number(argv, first + 2, 1),
				   (unsigned int)number(argv, first + 3, 0),
				   (int)number(argv, first + 4, 2), verbose) != 0;
	for (int i = first; i < argc; i++) {
		const char *path = strsep(&argv[i], ":");

		failures += scenario_run(path, argv[i], verbose);
	}
	return failures != 0;
}
