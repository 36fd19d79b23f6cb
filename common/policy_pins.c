/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/policy_pins.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/pin.h"

_Static_assert(POLICY_NAME_SIZE == BPF_OBJ_NAME_LEN, "the kernel's size of a name");

/* Returns 0 if there is none. */
static uint32_t policy_program_id(const char *dir, const char *pin)
{
	uint32_t key = 0, id = 0;
	int fd = pin_open(dir, pin);

	if (fd < 0)
		return 0;
	if (bpf_map_lookup_elem(fd, &key, &id))
		id = 0;
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
