/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/policy_pins.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "common/pin.h"

#define MAPS_MAX 64 /* that a program may use, as the kernel has it */

_Static_assert(POLICY_NAME_SIZE == BPF_OBJ_NAME_LEN, "the kernel's size of a name");

/* Returns 0 if there is none. */
static uint32_t policy_program_in(int programs_fd)
{
	uint32_t key = 0, id = 0;

	return bpf_map_lookup_elem(programs_fd, &key, &id) ? 0 : id;
}

static uint32_t policy_program_id(const char *dir, const char *pin)
{
	int fd = pin_open(dir, pin);
	uint32_t id;

	if (fd < 0)
		return 0;
	id = policy_program_in(fd);
	close(fd);
	return id;
}

/* Name and tag of the program with this id, as far as this process may ask for them. */
static void policy_program_read(struct policy_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(program->id);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length)) {
		memcpy(program->name, info.name, sizeof(info.name));
		memcpy(program->tag, info.tag, sizeof(info.tag));
	}
	close(fd);
}

bool policy_program(const char *dir, const char *pin, struct policy_program *ret_program)
{
	memset(ret_program, 0, sizeof(*ret_program));
	ret_program->id = policy_program_id(dir, pin);
	if (!ret_program->id)
		return false;
	policy_program_read(ret_program);
	return true;
}

/* The names of the programs that ask, as the kernel has them: cut off. */
bool policy_is_asked_by(uint32_t program_id)
{
	static const char *const names[] = { "xbond_port_asks", "xbond_egress_asks",
					     "xbond_xdp_tx_asks" };
	struct policy_program program = { .id = program_id };
	bool asks = false;

	policy_program_read(&program);
	for (size_t i = 0; !asks && i < sizeof(names) / sizeof(names[0]); i++)
		asks = !strncmp(program.name, names[i], POLICY_NAME_SIZE - 1);
	return asks;
}

bool policy_is_loaded(const char *dir)
{
	return policy_program_id(dir, XBOND_PIN_POLICY) ||
	       policy_program_id(dir, XBOND_PIN_POLICY_XDP);
}

static bool policy_program_uses_map(int program_fd, uint32_t map_id)
{
	uint32_t maps[MAPS_MAX];
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)maps };
	uint32_t length = sizeof(info);

	if (bpf_obj_get_info_by_fd(program_fd, &info, &length))
		return false;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++)
		if (maps[i] == map_id)
			return true;
	return false;
}

bool policy_uses_map(int programs_fd, int map_fd)
{
	uint32_t id = policy_program_in(programs_fd);
	int program_fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	bool uses;

	if (program_fd < 0)
		return false;
	uses = !bpf_obj_get_info_by_fd(map_fd, &info, &length) &&
	       policy_program_uses_map(program_fd, info.id);
	close(program_fd);
	return uses;
}
