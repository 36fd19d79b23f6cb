/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration of any content: options/config_file.c and what it calls, with the option table
 * behind it. A form feed ends the file and begins a drop-in.
 */
#include "common/mode.h"
#include "options/config_file.h"
#include "tests/fuzz/input.h"

#define MAX_FILES 4

static void config_check_slaves(const struct config_file *file)
{
	char text[MAC_FORMAT_SIZE];

	input_check(file->slave_count <= XBOND_MAX_SLAVES, "a bond can have so many slaves");
	for (size_t i = 0; i < file->slave_count; i++) {
		const struct config_slave *slave = &file->slaves[i];

		input_check(config_slave_is_by_mac(slave) != mac_is_zero(slave->perm_mac),
			    "a slave has a name or a MAC address");
		input_check(*config_slave_name(slave, text) != '\0', "which can be printed");
		input_check(config_file_find_slave(file, slave) == slave, "and is there once");
	}
}

static void config_check_file(const struct config_file *file)
{
	config_check_slaves(file);
	if (file->bond.given[OPT_MODE])
		input_check(mode_find(file->bond.value[OPT_MODE].number) != NULL,
			    "a mode that is taken exists");
	input_check(!file->bond.given[OPT_ACTIVE_SLAVE], "active_slave is refused in a file");
	for (int id = 0; id < OPT_COUNT; id++)
		input_check(!file->bond.given[id] || file->at[id].line > 0,
			    "a value comes from a line");
}

static void config_check_mistakes(const struct config_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++) {
		const char *text = mistakes->list[i].text;

		input_check(!strncmp(text, "input:", 6), "a mistake names the file");
		for (; *text; text++)
			input_check(*text >= ' ' && *text < 0x7f, "and steers no terminal");
	}
}

static size_t config_split(const uint8_t *data, size_t size, struct config_stream *ret_streams)
{
	size_t count = 0;

	while (size && count < MAX_FILES) {
		const uint8_t *end = memchr(data, '\f', size);
		size_t length = end && count + 1 < MAX_FILES ? (size_t)(end - data) : size;

		ret_streams[count].stream = length ? fmemopen((void *)(uintptr_t)data, length, "r")
						   : fmemopen((void *)(uintptr_t) "\n", 1, "r");
		ret_streams[count++].name = "input";
		data += length;
		size -= length;
		if (size) {
			data++;
			size--;
		}
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config_stream streams[MAX_FILES];
	struct config_mistakes mistakes;
	size_t count = config_split(data, size, streams);
	struct config_file file;
	int r;

	if (!count)
		return 0;
	r = config_file_read_streams(&file, streams, count, &mistakes);
	input_check(r <= 0, "0 or -errno");
	input_check(!r == !mistakes.errors,
		    "what is refused has a mistake, and what is not has none");
	config_check_mistakes(&mistakes);
	config_mistakes_free(&mistakes);
	if (r)
		return 0;
	config_check_file(&file);
	config_file_free(&file);
	return 0;
}
