/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A confined thread: what it has lost, and that the others have lost nothing. */
#include "daemon/base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/memory.h"
#include "tests/unit/unit.h"

/* With arguments that are wrong in another way, so that none of them does anything. */
static const long refused[] = { SYS_bpf,     SYS_execve, SYS_openat,   SYS_socket,
				SYS_connect, SYS_bind,	 SYS_setns,    SYS_ptrace,
				SYS_unshare, SYS_clone,	 SYS_kill,     SYS_mount,
				SYS_capset,  SYS_ioctl,	 SYS_unlinkat, SYS_pidfd_getfd };
#define REFUSED (sizeof(refused) / sizeof(refused[0]))

struct confined {
	int kept[2], lost;
	int returned;
	int errors[REFUSED]; /* what each call said */
	int lost_error;
	char got;
};

static void *confined_run(void *arg)
{
	struct confined *confined = arg;
	const int fds[] = { confined->kept[1], STDERR_FILENO, confined->kept[0] };

	confined->returned = thread_confine(fds, sizeof(fds) / sizeof(fds[0]));
	for (size_t i = 0; i < REFUSED; i++)
		confined->errors[i] = syscall(refused[i], -1, -1, -1, -1, -1, -1) < 0 ? errno : 0;
	confined->lost_error = fcntl(confined->lost, F_GETFD) < 0 ? errno : 0;
	if (write(confined->kept[1], "x", 1) == 1)
		(void)!read(confined->kept[0], &confined->got, 1);
	free(memory_need(malloc(1 << 20)));
	return NULL;
}

TEST(test_what_it_may_not_do)
{
	struct confined confined = { .lost = open("/", O_RDONLY | O_CLOEXEC) };
	pthread_t thread;

	assert_int_equal(pipe(confined.kept), 0);
	assert_int_equal(pthread_create(&thread, NULL, confined_run, &confined), 0);
	pthread_join(thread, NULL);
	assert_int_equal(confined.returned, 0);
	for (size_t i = 0; i < REFUSED; i++)
		if (confined.errors[i] != EPERM)
			fail_msg("call %ld: %d", refused[i], confined.errors[i]);
	assert_int_equal(confined.lost_error, EBADF);
	assert_int_equal(confined.got, 'x');
}

TEST(test_what_others_still_may)
{
	int fd;

	test_what_it_may_not_do(state);
	errno = 0;
	syscall(SYS_bpf, -1, NULL, 0);
	assert_int_equal(errno, geteuid() ? EPERM : EINVAL);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	close(fd);
}
