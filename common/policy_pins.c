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

bool policy_program(const char *dir, const char *pin, struct policy_program *ret_program)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int fd;

	memset(ret_program, 0, sizeof(*ret_program));
	ret_program->id = policy_program_id(dir, pin);
	if (!ret_program->id)
		return false;
	fd = bpf_prog_get_fd_by_id(ret_program->id);
	if (fd < 0)
		return true;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length)) {
		memcpy(ret_program->name, info.name, sizeof(info.name));
		memcpy(ret_program->tag, info.tag, sizeof(info.tag));
	}
	close(fd);
	return true;
}

bool policy_is_loaded(const char *dir)
{
	return policy_program_id(dir, XBOND_PIN_POLICY) ||
	       policy_program_id(dir, XBOND_PIN_POLICY_XDP);
}
