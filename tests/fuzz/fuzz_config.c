/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration file of any content: options/config_file.c with the option table behind it. */
#include "options/config_file.h"
#include "tests/fuzz/input.h"

static void config_check(const struct config_file *file)
{
	for (size_t i = 0; i < file->slave_count; i++)
		input_check(file->slaves[i].name[0] != '\0', "a slave has a name");
	if (file->bond.given[OPT_MODE])
		input_check(file->bond.value[OPT_MODE].number <= XBOND_MODE_8023AD,
			    "a mode that is taken exists");
	input_check(!file->bond.given[OPT_ACTIVE_SLAVE], "active_slave is refused in a file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *stream = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct config_file file;
	struct err err = { "" };
	int r;

	if (!stream)
		return 0;
	r = config_file_read_stream(&file, stream, "input", &err);
	input_check(r <= 0, "0 or -errno");
	input_check(!r || !strncmp(err.text, "input:", 6), "an error names the file and the line");
	if (r)
		return 0;
	config_check(&file);
	config_file_free(&file);
	return 0;
}
