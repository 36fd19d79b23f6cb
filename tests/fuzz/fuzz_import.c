/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of any content to each source of bondctl import. The first byte is the number of the
 * source, as a letter from 'a' on. Whatever was found must make a configuration that bondd takes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "tests/fuzz/input.h"

static const struct import_source *import_pick(uint8_t letter)
{
	const struct import_source *source = import_sources;

	for (; letter > 'a' && source[1].name; letter--)
		source++;
	return source;
}

static void import_check(struct import *import)
{
	const char *text;
	struct err err = { "" };

	for (size_t i = 0; i < import->bond_count; i++)
		input_check(!import_configuration(import, import->bonds[i], &text, &err), err.text);
	for (size_t i = 0; i < import->remark_count; i++)
		input_check(import->remarks[i].line.file && import->remarks[i].line.what,
			    "a remark names a file and a line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct import_source *source = import_pick(size ? data[0] : 0);
	struct import import = { .tool = source->name,
				 .is_of_driver = source->is_of_driver,
				 .root = "/nonexistent" };
	char path[32];
	const char *files[] = { path };
	const struct import_request request = { .files = files, .file_count = 1 };
	struct err err = { "" };
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || (size > 1 && write(fd, data + 1, size - 1) != (ssize_t)size - 1))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (source->read(&import, &request, &err)) {
		input_check(err.text[0] != '\0', "a failure says why");
	} else {
		import_settle(&import);
		import_check(&import);
	}
	import_free(&import);
	close(fd);
	return 0;
}
