/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD that lets a system call of the program's first thread fail, or two. A
 * test writes into the file XBOND_TEST_FAULTS which ones (`struct faults`), and reads there which
 * there were. A call is known by the stack of those who made it, which the next run has too, and
 * not by its number, which a timer changes. The failing call and its stack are written to stderr. A
 * call fails as the kernel lets it fail on a host that is short of something; calls that cannot
 * fail so are left alone, and so are those of a thread for itself (epoll_wait, futex), which would
 * end any program.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/types.h>
#include <unistd.h>

#define FRAMES 24
#define NEAR_FRAMES 12
#define CALLS 8192

struct faults {
	uint64_t fail_stack; /* of the calls of this stack, one fails; 0: none does */
	uint32_t fail_nth;   /* which of them, from 1 */
	uint32_t seen;	     /* calls of that stack since the test set it to 0 */
	uint32_t count;	     /* calls that were recorded */
	uint32_t is_recording;
	uint32_t then;	       /* so many calls after it another one fails; 0: none, or it did */
	uint32_t stays;	       /* so do all later calls from the same places */
	char failed[24];       /* the function that failed */
	uint64_t stack[CALLS]; /* of each call that was recorded */
};

static struct faults *faults;

__attribute__((constructor)) static void faults_init(void)
{
	const char *path = getenv("XBOND_TEST_FAULTS");
	void *frames[FRAMES], *map;
	int fd;

	backtrace(frames, FRAMES); /* loads what it needs */
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		faults = map;
}

/* FNV-1a of where the callers are in their objects, so that it is the same after a restart. */
static uint64_t faults_stack(void *const *frames, int count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < count; i++) {
		uintptr_t at = (uintptr_t)frames[i];
		struct dl_find_object object;

		if (!_dl_find_object(frames[i], &object))
			at -= (uintptr_t)object.dlfo_map_start;
		hash = (hash ^ at) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/*
 * A later call for the same thing differs only in the outer frames. No signal comes for ever, so
 * EINTR does not stay: whoever is interrupted goes on until he is not.
 */
static int faults_is_chosen(uint64_t stack, uint64_t near, int error)
{
	static uint64_t place, next_place;

	if (stack == faults->fail_stack && ++faults->seen == faults->fail_nth) {
		place = next_place = near;
		return 1;
	}
	if (faults->seen < faults->fail_nth)
		return 0;
	if (faults->stays && error != EINTR && (near == place || near == next_place))
		return 1;
	if (!faults->then || --faults->then)
		return 0;
	next_place = near;
	return 1;
}

static int faults_is_due(const char *function, int error)
{
	void *frames[FRAMES];
	uint64_t stack;
	int depth;

	if (!faults || (!faults->is_recording && !faults->fail_stack) || gettid() != getpid())
		return 0;
	depth = backtrace(frames, FRAMES);
	stack = faults_stack(frames, depth);
	if (faults->is_recording && faults->count < CALLS)
		faults->stack[faults->count++] = stack;
	if (!faults->fail_stack ||
	    !faults_is_chosen(
		    stack, faults_stack(frames, depth < NEAR_FRAMES ? depth : NEAR_FRAMES), error))
		return 0;
	snprintf(faults->failed, sizeof(faults->failed), "%s", function);
	dprintf(STDERR_FILENO, "faults: %s: %s\n", function, strerror(error));
	backtrace_symbols_fd(frames, depth, STDERR_FILENO);
	errno = error;
	return 1;
}

static int faults_is_file(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode);
}

static int faults_is_netlink(int fd)
{
	socklen_t size = sizeof(int);
	int domain = 0;

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) && domain == AF_NETLINK;
}

/* Of what is read and written, the error of each kind. */
static int faults_in(int fd)
{
	return faults_is_netlink(fd) ? ENOBUFS : faults_is_file(fd) ? ENOMEM : EINTR;
}

static int faults_out(int fd)
{
	return faults_is_netlink(fd) ? ENOBUFS : faults_is_file(fd) ? ENOSPC : EAGAIN;
}

#define FAULT(type, name, failure, error, parameters, ...)                        \
	type name parameters                                                      \
	{                                                                         \
		static __typeof__(&name) real;                                    \
                                                                                  \
		if (!real)                                                        \
			real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);        \
		return faults_is_due(#name, error) ? failure : real(__VA_ARGS__); \
	}

FAULT(int, socket, -1, EMFILE, (int domain, int type, int protocol), domain, type, protocol)
FAULT(int, bind, -1, ENOMEM, (int fd, const struct sockaddr *to, socklen_t size), fd, to, size)
FAULT(int, connect, -1, EAGAIN, (int fd, const struct sockaddr *to, socklen_t size), fd, to, size)
FAULT(int, accept4, -1, EMFILE, (int fd, struct sockaddr *from, socklen_t *size, int flags), fd,
      from, size, flags)
FAULT(int, setsockopt, -1, ENOMEM, (int fd, int level, int name, const void *to, socklen_t size),
      fd, level, name, to, size)
FAULT(ssize_t, sendmsg, -1, faults_out(fd), (int fd, const struct msghdr *message, int flags), fd,
      message, flags)
FAULT(ssize_t, sendto, -1, faults_out(fd),
      (int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
       socklen_t to_size),
      fd, data, size, flags, to, to_size)
FAULT(ssize_t, send, -1, faults_out(fd), (int fd, const void *data, size_t size, int flags), fd,
      data, size, flags)
FAULT(ssize_t, recvmsg, -1, faults_in(fd), (int fd, struct msghdr *message, int flags), fd, message,
      flags)
FAULT(ssize_t, recv, -1, faults_in(fd), (int fd, void *data, size_t size, int flags), fd, data,
      size, flags)
FAULT(ssize_t, read, -1, faults_in(fd), (int fd, void *data, size_t size), fd, data, size)
FAULT(ssize_t, pread, -1, faults_in(fd), (int fd, void *data, size_t size, off_t at), fd, data,
      size, at)
FAULT(ssize_t, write, -1, faults_out(fd), (int fd, const void *data, size_t size), fd, data, size)
FAULT(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), path, mode)
FAULT(FILE *, fopen64, NULL, EMFILE, (const char *path, const char *mode), path, mode)
FAULT(DIR *, opendir, NULL, EMFILE, (const char *path), path)
FAULT(int, scandir, -1, EMFILE,
      (const char *path, struct dirent ***ret_list, int (*choose)(const struct dirent *),
       int (*compare)(const struct dirent **, const struct dirent **)),
      path, ret_list, choose, compare)
FAULT(void *, mmap, MAP_FAILED, ENOMEM,
      (void *at, size_t size, int protection, int flags, int fd, off_t offset), at, size,
      protection, flags, fd, offset)
FAULT(void *, mmap64, MAP_FAILED, ENOMEM,
      (void *at, size_t size, int protection, int flags, int fd, off_t offset), at, size,
      protection, flags, fd, offset)
FAULT(int, ftruncate, -1, ENOSPC, (int fd, off_t size), fd, size)
FAULT(int, fsync, -1, ENOSPC, (int fd), fd)
FAULT(int, rename, -1, ENOSPC, (const char *from, const char *to), from, to)
FAULT(int, renameat2, -1, ENOSPC,
      (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags), from_fd, from,
      to_fd, to, flags)
FAULT(int, unlink, -1, ENOMEM, (const char *path), path)
FAULT(int, mkdir, -1, ENOSPC, (const char *path, mode_t mode), path, mode)
FAULT(int, rmdir, -1, ENOMEM, (const char *path), path)
FAULT(int, chmod, -1, ENOSPC, (const char *path, mode_t mode), path, mode)
FAULT(int, fchmod, -1, ENOSPC, (int fd, mode_t mode), fd, mode)
FAULT(int, chown, -1, ENOSPC, (const char *path, uid_t user, gid_t group), path, user, group)
FAULT(int, access, -1, ENOMEM, (const char *path, int mode), path, mode)
FAULT(int, stat, -1, ENOMEM, (const char *path, struct stat *ret_status), path, ret_status)
FAULT(int, lstat, -1, ENOMEM, (const char *path, struct stat *ret_status), path, ret_status)
FAULT(int, statfs, -1, ENOMEM, (const char *path, struct statfs *ret_status), path, ret_status)
FAULT(int, flock, -1, EINTR, (int fd, int how), fd, how)
FAULT(int, setns, -1, ENOMEM, (int fd, int kind), fd, kind)
FAULT(int, dup3, -1, EMFILE, (int from, int to, int flags), from, to, flags)
FAULT(pid_t, fork, -1, EAGAIN, (void))
FAULT(pid_t, waitpid, -1, EINTR, (pid_t pid, int *ret_status, int options), pid, ret_status,
      options)
FAULT(int, epoll_create1, -1, EMFILE, (int flags), flags)
FAULT(int, eventfd, -1, EMFILE, (unsigned int value, int flags), value, flags)
FAULT(int, timerfd_create, -1, EMFILE, (int clock, int flags), clock, flags)
FAULT(int, signalfd, -1, EMFILE, (int fd, const sigset_t *signals, int flags), fd, signals, flags)
FAULT(int, poll, -1, EINTR, (struct pollfd * fds, nfds_t count, int timeout), fds, count, timeout)
FAULT(char *, if_indextoname, NULL, EMFILE, (unsigned int ifindex, char name[IF_NAMESIZE]), ifindex,
      name)
FAULT(int, pthread_create, EAGAIN, EAGAIN,
      (pthread_t * ret_thread, const pthread_attr_t *how, void *(*start)(void *), void *arg),
      ret_thread, how, start, arg)

/* Those with parts that fail and parts that do not, or with `...` */

int epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event)
{
	static __typeof__(&epoll_ctl) real;

	if (!real)
		real = (__typeof__(&epoll_ctl))dlsym(RTLD_NEXT, "epoll_ctl");
	if (what == EPOLL_CTL_ADD && faults_is_due("epoll_ctl", ENOMEM))
		return -1;
	return real(epoll_fd, what, fd, event);
}

long syscall(long number, ...)
{
	static __typeof__(&syscall) real;
	long words[6];
	va_list args;

	if (!real)
		real = (__typeof__(&syscall))dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(args, long);
	va_end(args);
	if ((number == SYS_bpf || number == SYS_perf_event_open) &&
	    faults_is_due(number == SYS_bpf ? "bpf" : "perf_event_open", ENOMEM))
		return -1;
	return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

#define FAULT_WITH_ARGUMENT(name, error, type, parameters, ...)                    \
	int name parameters                                                        \
	{                                                                          \
		static __typeof__(&name) real;                                     \
		va_list args;                                                      \
		type last;                                                         \
                                                                                   \
		if (!real)                                                         \
			real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);         \
		va_start(args, FAULT_LAST);                                        \
		last = va_arg(args, type);                                         \
		va_end(args);                                                      \
		return faults_is_due(#name, error) ? -1 : real(__VA_ARGS__, last); \
	}

#define FAULT_LAST flags
FAULT_WITH_ARGUMENT(open, EMFILE, mode_t, (const char *path, int flags, ...), path, flags)
FAULT_WITH_ARGUMENT(open64, EMFILE, mode_t, (const char *path, int flags, ...), path, flags)
FAULT_WITH_ARGUMENT(openat, EMFILE, mode_t, (int dir, const char *path, int flags, ...), dir, path,
		    flags)
FAULT_WITH_ARGUMENT(openat64, EMFILE, mode_t, (int dir, const char *path, int flags, ...), dir,
		    path, flags)
#undef FAULT_LAST
#define FAULT_LAST request
FAULT_WITH_ARGUMENT(ioctl, ENOMEM, void *, (int fd, unsigned long request, ...), fd, request)
