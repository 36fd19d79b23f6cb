/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_ipam.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"

#define IPAM_MAX_REPLY (1024 * 1024)
#define IPAM_MAX_CODE 999

/* Looks through the directories of CNI_PATH, as the runtime does. */
static int cni_ipam_find(const struct cni_call *call, char *ret_path, size_t size, struct err *err)
{
	const char *dir = call->path ? call->path : "";

	while (*dir) {
		size_t length = strcspn(dir, ":");
		int written =
			snprintf(ret_path, size, "%.*s/%s", (int)length, dir, call->config.ipam);

		if (length && written > 0 && (size_t)written < size && !access(ret_path, X_OK))
			return 0;
		dir += length + (dir[length] == ':');
	}
	return err_set(err, CNI_IPAM, "there is no plugin %s in CNI_PATH %s", call->config.ipam,
		       call->path ? call->path : "(not given)");
}

/* The configuration as a file, so that nobody waits for the plugin to read it. */
static int cni_ipam_input(const struct cni_call *call)
{
	int fd = memfd_create("config", MFD_CLOEXEC);

	if (fd >= 0 &&
	    (json_dumpfd(call->config.json, fd, JSON_COMPACT) || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void cni_ipam_exec(const struct cni_call *call, const char *path, const char *command,
			  int input, int output)
{
	setenv("CNI_COMMAND", command, 1);
	if (call->ifname)
		setenv("CNI_IFNAME", cni_device(call), 1);
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execl(path, path, (char *)NULL);
	_exit(127);
}

/* Reads to the end, and keeps what has room. */
static json_t *cni_ipam_read(int fd)
{
	char *text = memory_need(malloc(IPAM_MAX_REPLY));
	size_t used = 0;
	json_t *reply;
	ssize_t got;

	while (used < IPAM_MAX_REPLY && (got = read(fd, text + used, IPAM_MAX_REPLY - used)) > 0)
		used += (size_t)got;
	reply = text ? json_loadb(text, used, 0, NULL) : NULL;
	free(text);
	return reply;
}

/* Its error becomes ours, with its code. */
static int cni_ipam_judge(const struct cni_call *call, const char *command, int status,
			  const json_t *reply, struct err *err)
{
	const char *text = json_string_value(json_object_get(reply, "msg"));
	const char *details = json_string_value(json_object_get(reply, "details"));
	json_int_t code = json_integer_value(json_object_get(reply, "code"));

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (code < 1 || code > IPAM_MAX_CODE)
		code = CNI_IPAM;
	return err_set(err, (int)code, "%s of the ipam plugin %s failed: %s%s%s", command,
		       call->config.ipam, text ? text : "it gave no reason",
		       details && *details ? ": " : "", details ? details : "");
}

static int cni_ipam_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Takes both ends of the pipe, and input. Returns the plugin's exit status, as waitpid() does. */
static int cni_ipam_run(const struct cni_call *call, const char *path, const char *command,
			int input, const int pipe_fd[2], json_t **ret_reply)
{
	pid_t pid = fork();

	if (!pid)
		cni_ipam_exec(call, path, command, input, pipe_fd[1]);
	close(input);
	close(pipe_fd[1]);
	*ret_reply = pid > 0 ? cni_ipam_read(pipe_fd[0]) : NULL;
	close(pipe_fd[0]);
	return pid > 0 ? cni_ipam_wait(pid) : -1;
}

int cni_ipam_call(const struct cni_call *call, const char *command, json_t **ret_reply,
		  struct err *err)
{
	json_t *reply = NULL;
	char path[4096];
	int pipe_fd[2], input, status, r;

	if (ret_reply)
		*ret_reply = NULL;
	if (!call->config.ipam)
		return 0;
	r = cni_ipam_find(call, path, sizeof(path), err);
	if (r)
		return r;
	input = cni_ipam_input(call);
	if (input < 0)
		return err_set(err, CNI_IO, "the configuration of %s: %s", path, strerror(errno));
	if (pipe2(pipe_fd, O_CLOEXEC)) {
		close(input);
		return err_set(err, CNI_IO, "a pipe to %s: %s", path, strerror(errno));
	}
	status = cni_ipam_run(call, path, command, input, pipe_fd, &reply);
	r = cni_ipam_judge(call, command, status, reply, err);
	if (ret_reply && !r && !json_is_object(reply))
		r = err_set(err, CNI_IPAM, "%s of the ipam plugin %s gave no result", command,
			    call->config.ipam);
	if (ret_reply && !r)
		*ret_reply = reply;
	else
		json_decref(reply);
	return r;
}
