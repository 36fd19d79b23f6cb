/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bonds there are and where their pins are, one pin, and the pins of a policy. No maps. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"

static void pins_names_swap(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

void pins_path(char *ret_path, size_t size, const char *bpf_dir, const char *name)
{
	size_t prefix = strlen(bpf_dir) + 1;

	snprintf(ret_path, size, "%s/%s", bpf_dir, name);
	if (prefix < size)
		pins_names_swap(ret_path + prefix, '.', ':');
}

static int pins_names_by_name(const void *left, const void *right)
{
	return strverscmp(*(char *const *)left, *(char *const *)right);
}

static bool pins_names_is_bond_dir(const char *bpf_dir, const struct dirent *entry)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct stat st;

	if (entry->d_name[0] == '.' || strlen(entry->d_name) >= XBOND_NAME_SIZE)
		return false;
	snprintf(path, sizeof(path), "%s/%s", bpf_dir, entry->d_name);
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void pins_names_add_name(char ***names, size_t *count, const char *name)
{
	char **grown = memory_need(reallocarray(*names, *count + 2, sizeof(**names)));

	*names = grown;
	grown[*count] = memory_need(strdup(name));
	pins_names_swap(grown[*count], ':', '.');
	grown[++*count] = NULL;
}

static void pins_names_read_names(DIR *dir, const char *bpf_dir, char ***names)
{
	struct dirent *entry;
	size_t count = 0;

	*names = memory_need(calloc(1, sizeof(**names)));
	while ((entry = readdir(dir)))
		if (pins_names_is_bond_dir(bpf_dir, entry))
			pins_names_add_name(names, &count, entry->d_name);
	qsort(*names, count, sizeof(**names), pins_names_by_name);
}

int pins_names(char ***ret_names, const char *bpf_dir, struct err *err)
{
	DIR *dir = opendir(bpf_dir);

	if (!dir && errno == ENOENT) {
		*ret_names = memory_need(calloc(1, sizeof(**ret_names)));
		return 0;
	}
	if (!dir && (errno == EACCES || errno == EPERM))
		return err_set(err, errno, "no permission to read %s; run as root", bpf_dir);
	if (!dir)
		return err_set(err, errno, "cannot read %s: %m", bpf_dir);
	pins_names_read_names(dir, bpf_dir, ret_names);
	closedir(dir);
	return 0;
}

const char *pin_path(char ret_path[PIN_PATH_SIZE], const char *dir, const char *name)
{
	snprintf(ret_path, PIN_PATH_SIZE, "%s/%s", dir, name);
	return ret_path;
}

int pin_open(const char *dir, const char *name)
{
	char path[PIN_PATH_SIZE];

	return bpf_obj_get(pin_path(path, dir, name));
}

uint32_t pin_map_id(int map_fd)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);

	return bpf_obj_get_info_by_fd(map_fd, &info, &length) ? 0 : info.id;
}

uint32_t pin_program_id(int program_fd)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);

	return bpf_obj_get_info_by_fd(program_fd, &info, &length) ? 0 : info.id;
}

bool pin_program_read(uint32_t id, struct bpf_prog_info *ret_info)
{
	uint32_t length = sizeof(*ret_info);
	int fd = bpf_prog_get_fd_by_id(id), r;

	if (fd < 0)
		return false;
	memset(ret_info, 0, sizeof(*ret_info));
	r = bpf_obj_get_info_by_fd(fd, ret_info, &length);
	close(fd);
	return !r;
}

#define PROGRAM_MAPS_MAX 64 /* as the kernel has it */

bool pin_program_uses(int program_fd, uint32_t map_id)
{
	uint32_t maps[PROGRAM_MAPS_MAX];
	struct bpf_prog_info info = { .nr_map_ids = PROGRAM_MAPS_MAX, .map_ids = (uintptr_t)maps };
	uint32_t length = sizeof(info);

	if (bpf_obj_get_info_by_fd(program_fd, &info, &length))
		return false;
	for (uint32_t i = 0; i < info.nr_map_ids && i < PROGRAM_MAPS_MAX; i++)
		if (map_id && maps[i] == map_id)
			return true;
	return false;
}

/* The kernel looks at the link before the program, which is none. */
static bool pin_is_link(int fd)
{
	return bpf_link_update(fd, -1, NULL) != -EINVAL;
}

int pin_link_detach(const char *path)
{
	int fd = bpf_obj_get(path), r;
	struct stat st;

	if (fd == -EACCES && !stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (fd < 0)
		return fd;
	r = pin_is_link(fd) ? bpf_link_detach(fd) : 0;
	close(fd);
	if (!r)
		unlink(path);
	return r;
}

/*
 * The device's number is where an XDP link has it. The headers of Debian bookworm know only that.
 */
int pin_link_read(int link_fd, struct pin_link *ret_link)
{
	struct bpf_link_info info = {};
	uint32_t length = sizeof(info);
	int r = bpf_obj_get_info_by_fd(link_fd, &info, &length);

	*ret_link = (struct pin_link){ 0 };
	if (!r && pin_is_link(link_fd))
		*ret_link = (struct pin_link){ info.prog_id, info.xdp.ifindex };
	return r;
}

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
	struct bpf_prog_info info;

	if (!pin_program_read(program->id, &info))
		return;
	memcpy(program->name, info.name, sizeof(info.name));
	memcpy(program->tag, info.tag, sizeof(info.tag));
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

static bool policy_pin_is_empty(const char *dir, const char *pin)
{
	int fd = pin_open(dir, pin), r;
	uint32_t key = 0, id;

	if (fd < 0)
		return false;
	r = bpf_map_lookup_elem(fd, &key, &id);
	close(fd);
	return r == -ENOENT;
}

bool policy_is_gone(const char *dir)
{
	return policy_pin_is_empty(dir, XBOND_PIN_POLICY) &&
	       policy_pin_is_empty(dir, XBOND_PIN_POLICY_XDP);
}

bool policy_is_loaded(const char *dir)
{
	return policy_program_id(dir, XBOND_PIN_POLICY) ||
	       policy_program_id(dir, XBOND_PIN_POLICY_XDP);
}

bool policy_uses_map(int programs_fd, int map_fd)
{
	uint32_t id = policy_program_in(programs_fd);
	int program_fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	bool uses;

	if (program_fd < 0)
		return false;
	uses = pin_program_uses(program_fd, pin_map_id(map_fd));
	close(program_fd);
	return uses;
}
