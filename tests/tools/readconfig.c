/* SPDX-License-Identifier: GPL-2.0-or-later */
/* readconfig FILE...: reads configuration files as bondd does, and says what it refuses. */
#include <stdio.h>

#include "options/config_file.h"

int main(int argc, char **argv)
{
	struct config_file file;
	struct err err;
	int status = 0;

	for (int i = 1; i < argc; i++) {
		if (!config_file_read_or_err(&file, argv[i], &err)) {
			config_file_free(&file);
			continue;
		}
		fprintf(stderr, "%s\n", err.text);
		status = 1;
	}
	return status;
}
