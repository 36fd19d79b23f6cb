/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/xdp_dispatcher_pins.h"

#include <bpf/bpf.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAPS_MAX 16 /* more than our program uses */

static uint32_t xdp_dispatcher_pins_map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

static bool xdp_dispatcher_pins_uses_map(const char *program_pin, uint32_t id)
{
	uint32_t ids[MAPS_MAX] = { 0 };
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)ids };
	uint32_t size = sizeof(info);
	int fd = bpf_obj_get(program_pin);
	bool uses = false;

	if (fd < 0)
		return false;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		for (size_t i = 0; i < MAPS_MAX; i++)
			uses |= id && ids[i] == id;
	close(fd);
	return uses;
}

/*
 * Removes progN-prog and progN-link, and the directory if they were the last. Returns true if they
 * were.
 */
static bool xdp_dispatcher_pins_unlink_program(char *pin)
{
	char *tail = strrchr(pin, '-');

	unlink(pin);
	memcpy(tail, "-link", sizeof("-link"));
	unlink(pin);
	*strrchr(pin, '/') = '\0';
	return !rmdir(pin);
}

bool xdp_dispatcher_pins_remove(int ifindex, int map_fd)
{
	uint32_t id = xdp_dispatcher_pins_map_id(map_fd);
	char pattern[PATH_MAX];
	bool emptied = false;
	glob_t programs;

	snprintf(pattern, sizeof(pattern), "/sys/fs/bpf/xdp/dispatch-%d-*/prog*-prog", ifindex);
	if (glob(pattern, 0, NULL, &programs))
		return false;
	for (size_t i = 0; i < programs.gl_pathc; i++)
		if (xdp_dispatcher_pins_uses_map(programs.gl_pathv[i], id))
			emptied |= xdp_dispatcher_pins_unlink_program(programs.gl_pathv[i]);
	globfree(&programs);
	return emptied;
}
