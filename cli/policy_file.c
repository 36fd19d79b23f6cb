/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A policy of the user: read from its file, checked, loaded, and pinned into a bond's pins. */
#include "cli/verb_parts.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "cli/base/cli.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/pins.h"

/* From the file into the kernel. */

#define POLICY_FILE_MAP_NAME 48 /* the longest name of a map */

#define FILE_MAX (16 * 1024 * 1024) /* policies are some kilobytes long */

#define NAME_OF_(name) #name
#define NAME_OF(name) NAME_OF_(name)

static int policy_file_read_all(int fd, void *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = read(fd, (char *)bytes + at, size - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO; /* it has become shorter */
		at += (size_t)got;
	}
	return 0;
}

static int policy_file_read_from(struct policy_file *file, int fd, size_t *ret_size,
				 struct err *err)
{
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return err_set(err, errno, "it cannot be read: %m");
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "it is not a regular file");
	if (st.st_size > FILE_MAX)
		return err_set(err, EFBIG, "it has more than %d MiB", FILE_MAX >> 20);
	*ret_size = (size_t)st.st_size;
	file->bytes = memory_need(malloc(*ret_size + 1));
	r = policy_file_read_all(fd, file->bytes, *ret_size);
	return r ? err_set(err, -r, "it cannot be read: %s", strerror(-r)) : 0;
}

/* Once and for all: the file may change while it is being looked at. */
static int policy_file_read(struct policy_file *file, const char *path, size_t *ret_size,
			    struct err *err)
{
	/* O_NONBLOCK, because it may be a FIFO that nobody writes. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;

	if (fd < 0)
		return err_set(err, errno, "it cannot be opened: %m");
	r = policy_file_read_from(file, fd, ret_size, err);
	close(fd);
	return r;
}

static int policy_file_refuse_object(struct err *err)
{
	return err_set(err, EINVAL, "it is not a BPF object file that libbpf can read");
}

static int policy_file_open(struct policy_file *file, size_t size, struct err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "policy");

	bpf_log_init();
	bpf_log_start();
	file->object = bpf_object__open_mem(file->bytes, size, &options);
	return file->object ? 0 : policy_file_refuse_object(err);
}

static int policy_file_take_program(struct policy_file *file, struct bpf_program *program,
				    struct err *err)
{
	enum bpf_prog_type type = bpf_program__type(program);
	struct bpf_program **place = type == BPF_PROG_TYPE_SCHED_CLS ? &file->tc
				     : type == BPF_PROG_TYPE_XDP     ? &file->xdp
								     : NULL;
	char name[XBOND_NAME_SIZE];

	cli_name(bpf_program__name(program), name);
	if (!place)
		return err_set(err, EINVAL, "its program %s is neither for TC nor for XDP", name);
	if (*place)
		return err_set(err, EINVAL, "it has more than one policy");
	*place = program;
	return 0;
}

/* The programs must go together with ours in a map of programs. */
static int policy_file_take_programs(struct policy_file *file, struct err *err)
{
	struct bpf_program *program;
	int r;

	bpf_object__for_each_program(program, file->object)
	{
		r = policy_file_take_program(file, program, err);
		if (r)
			return r;
		bpf_program__set_autoload(program, true);
	}
	if (!file->tc || !file->xdp)
		return err_set(err, EINVAL, "it has no policy made with XBOND_POLICY()");
	bpf_program__set_expected_attach_type(file->tc, 0);
	bpf_program__set_expected_attach_type(file->xdp, BPF_XDP);
	bpf_program__set_flags(file->xdp, bpf_program__flags(file->xdp) | BPF_F_XDP_HAS_FRAGS);
	return 0;
}

static bool policy_file_is_pinnable(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return length && length < POLICY_FILE_MAP_NAME && !name[length];
}

static int policy_file_take_map(struct policy_file *file, struct bpf_map *map, struct err *err)
{
	char name[XBOND_NAME_SIZE];

	cli_name(bpf_map__name(map), name);
	if (bpf_map__pin_path(map))
		return err_set(err, EINVAL,
			       "its map %s asks for a pin of its own; xbond pins the maps", name);
	if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
		return err_set(err, EINVAL, "%s cannot be used in a policy", name);
	if (bpf_map__is_internal(map))
		return 0;
	if (!policy_file_is_pinnable(bpf_map__name(map)))
		return err_set(err, EINVAL, "the name of its map %s cannot be that of a pin", name);
	if (file->map_count == POLICY_FILE_MAPS)
		return err_set(err, E2BIG, "it has more than %d maps", POLICY_FILE_MAPS);
	file->maps[file->map_count++] = map;
	return 0;
}

static int policy_file_take_maps(struct policy_file *file, struct err *err)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, file->object)
	{
		if (!r && map != file->question)
			r = policy_file_take_map(file, map, err);
	}
	return r;
}

static int policy_file_use_question(struct policy_file *file, const char *dir, struct err *err)
{
	int fd = pin_open(dir, XBOND_PIN_POLICY_QUESTION), r;

	if (fd == -ENOENT)
		return err_set(err, ENOENT,
			       "bondd of this version has not adopted the bond yet; start it");
	if (fd < 0)
		return err_set(err, -fd, "cannot open %s/" XBOND_PIN_POLICY_QUESTION ": %s", dir,
			       strerror(-fd));
	r = bpf_map__reuse_fd(file->question, fd);
	close(fd);
	return r ? err_set(err, -r, "cannot use %s/" XBOND_PIN_POLICY_QUESTION ": %s", dir,
			   strerror(-r))
		 : 0;
}

static int policy_file_check(struct policy_file *file, const char *dir, struct err *err)
{
	const struct bpf_map *question;
	int r = policy_file_take_programs(file, err);

	file->question = bpf_object__find_map_by_name(file->object, NAME_OF(XBOND_POLICY_QUESTION));
	question = file->question;
	if (r)
		return r;
	if (!question || bpf_map__type(question) != BPF_MAP_TYPE_PERCPU_ARRAY ||
	    bpf_map__value_size(question) != sizeof(struct xbond_question) ||
	    bpf_map__pin_path(question))
		return err_set(err, EINVAL,
			       "it is not a policy of version %d; compile it with the "
			       "xbond/policy.bpf.h of this xbond",
			       XBOND_POLICY_VERSION);
	r = policy_file_take_maps(file, err);
	return r ? r : policy_file_use_question(file, dir, err);
}

/*
 * libbpf leaves out the names of programs if the kernel cannot have any. It takes one that has no
 * memory for the question for such a kernel.
 */
static bool policy_file_has_name(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);

	return !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) && info.name[0];
}

static int policy_file_load_bytes(struct policy_file *file, size_t size, const char *dir,
				  struct err *err)
{
	int r = policy_file_open(file, size, err);

	if (!r)
		r = policy_file_check(file, dir, err);
	if (r)
		return r;
	bpf_log_start();
	r = bpf_object__load(file->object);
	if (r)
		return err_set(err, -r, "the kernel refused it: %s%s", strerror(-r),
			       bpf_log_last());
	if (!policy_file_has_name(file->tc) || !policy_file_has_name(file->xdp))
		return err_set(err, ENOMEM, "the kernel was short of memory; load it again");
	return 0;
}

/* A child tries first, because libbpf crashes on some damaged files (seen with 1.1.2). */
static int policy_file_try(const struct policy_file *file, size_t size, const char *dir,
			   struct err *err)
{
	const struct rlimit no_core = { 0 };
	struct policy_file tried = *file;
	pid_t child = fork();
	int status;

	if (child < 0)
		return err_set(err, errno, "cannot start a process: %m");
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		policy_file_load_bytes(&tried, size, dir, err);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, errno, "cannot wait for a process: %m");
	return WIFSIGNALED(status) ? policy_file_refuse_object(err) : 0;
}

int policy_file_load(struct policy_file *ret_file, const char *path, const char *dir,
		     struct err *err)
{
	size_t size = 0;
	int r;

	memset(ret_file, 0, sizeof(*ret_file));
	r = policy_file_read(ret_file, path, &size, err);
	if (!r)
		r = policy_file_try(ret_file, size, dir, err);
	return r ? r : policy_file_load_bytes(ret_file, size, dir, err);
}

void policy_file_close(struct policy_file *file)
{
	bpf_object__close(file->object);
	free(file->bytes);
}

/* Into the pins of a bond, and out of them. */

/* The entry of a map of programs; program_fd -1: none. */
static int policy_pin_program(const char *dir, const char *pin, int program_fd, struct err *err)
{
	int fd = pin_open(dir, pin), r;
	uint32_t key = 0;

	if (fd < 0)
		return err_set(err, -fd, "cannot open %s/%s: %s", dir, pin, strerror(-fd));
	r = program_fd < 0 ? bpf_map_delete_elem(fd, &key)
			   : bpf_map_update_elem(fd, &key, &program_fd, BPF_ANY);
	close(fd);
	if (!r || (program_fd < 0 && r == -ENOENT))
		return 0;
	return err_set(err, -r, "cannot write %s/%s: %s", dir, pin, strerror(-r));
}

static int policy_pin_visit(const char *dir, const char *prefix, policy_pin_visitor *visit,
			    const void *arg)
{
	size_t length = strlen(prefix);
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int r = 0;

	if (!stream)
		return -errno;
	while (!r && (entry = readdir(stream))) {
		char pin[PIN_PATH_SIZE];

		if (!strncmp(entry->d_name, prefix, length))
			r = visit(entry->d_name + length, pin_path(pin, dir, entry->d_name), arg);
	}
	closedir(stream);
	return r;
}

int policy_pin_visit_maps(const char *dir, policy_pin_visitor *visit, const void *arg)
{
	return policy_pin_visit(dir, XBOND_PIN_POLICY_MAPS, visit, arg);
}

static int policy_pin_remove(const char *map, const char *pin, const void *arg)
{
	return unlink(pin) ? -errno : 0;
}

static bool policy_file_has_map(const struct policy_file *file, const char *name)
{
	for (unsigned int i = 0; i < file->map_count; i++)
		if (!strcmp(bpf_map__name(file->maps[i]), name))
			return true;
	return false;
}

/* arg: the new policy. */
static int policy_pin_remove_old(const char *map, const char *pin, const void *arg)
{
	return policy_file_has_map(arg, map) ? 0 : policy_pin_remove(map, pin, NULL);
}

/* arg: the directory. */
static int policy_pin_put_in_place(const char *map, const char *pin, const void *arg)
{
	char path[PIN_PATH_SIZE + 32];

	snprintf(path, sizeof(path), "%s/" XBOND_PIN_POLICY_MAPS "%s", (const char *)arg, map);
	return rename(pin, path) ? -errno : 0;
}

static int policy_pin_replace_maps(const struct policy_file *file, const char *dir)
{
	int r = policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_put_in_place, dir);

	return r ? r : policy_pin_visit_maps(dir, policy_pin_remove_old, file);
}

static int policy_pin_stage_maps(const struct policy_file *file, const char *dir, struct err *err)
{
	char path[PIN_PATH_SIZE + 32];
	int r = policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);

	if (r)
		return err_set(err, -r, "cannot tidy %s: %s", dir, strerror(-r));
	for (unsigned int i = 0; !r && i < file->map_count; i++) {
		snprintf(path, sizeof(path), "%s/" POLICY_MAPS_STAGED "%s", dir,
			 bpf_map__name(file->maps[i]));
		r = bpf_obj_pin(bpf_map__fd(file->maps[i]), path);
	}
	return r ? err_set(err, -r, "cannot pin %s: %s", path, strerror(-r)) : 0;
}

/* The program that is there now, to put it back; -1: none. The caller closes it. */
static int policy_pin_current(const char *dir, const char *pin)
{
	uint32_t key = 0, id = 0;
	int fd = pin_open(dir, pin);

	if (fd < 0)
		return -1;
	if (bpf_map_lookup_elem(fd, &key, &id))
		id = 0;
	close(fd);
	return id ? bpf_prog_get_fd_by_id(id) : -1;
}

static int policy_pin_programs(const struct policy_file *file, const char *dir, struct err *err)
{
	int before = policy_pin_current(dir, XBOND_PIN_POLICY_XDP), r;
	struct err ignored;

	r = policy_pin_program(dir, XBOND_PIN_POLICY_XDP, bpf_program__fd(file->xdp), err);
	if (!r) {
		r = policy_pin_program(dir, XBOND_PIN_POLICY, bpf_program__fd(file->tc), err);
		if (r)
			policy_pin_program(dir, XBOND_PIN_POLICY_XDP, before, &ignored);
	}
	if (before >= 0)
		close(before);
	return r;
}

int policy_pin(const struct policy_file *file, const char *dir, struct err *err)
{
	int r = policy_pin_stage_maps(file, dir, err);

	if (!r)
		r = policy_pin_programs(file, dir, err);
	if (r) {
		policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);
		return r;
	}
	/* The policy decides already. What the kernel had no memory for is done the second time. */
	if (policy_pin_replace_maps(file, dir) && (r = policy_pin_replace_maps(file, dir)))
		cli_say("the policy decides, but not all pins of its maps are in place in %s: %s; "
			"load it again",
			dir, strerror(-r));
	return 0;
}

static int policy_pin_remove_maps(const char *dir)
{
	int r = policy_pin_visit_maps(dir, policy_pin_remove, NULL);

	return r ? r : policy_pin_visit(dir, POLICY_MAPS_STAGED, policy_pin_remove, NULL);
}

/* bondd puts back pins that are removed before the programs. */
int policy_unpin(const char *dir, struct err *err)
{
	/* That of XDP first: as long as the other is there, the policy is one that can be removed.
	 */
	int r = policy_pin_program(dir, XBOND_PIN_POLICY_XDP, -1, err);

	if (!r)
		r = policy_pin_program(dir, XBOND_PIN_POLICY, -1, err);
	if (r)
		return r;
	if (policy_pin_remove_maps(dir) && (r = policy_pin_remove_maps(dir)))
		cli_say("the policy is unloaded, but pins of its maps are left in %s: %s; they go "
			"with the next policy or with the bond",
			dir, strerror(-r));
	return 0;
}
