/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/worker.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/event.h"

#define CAPABILITY_WORDS _LINUX_CAPABILITY_U32S_3

/*
 * Slaves and bonds may come at any time, so what they need stays: devices (NET_ADMIN), packet
 * sockets (NET_RAW), programs and maps (BPF, PERFMON; SYS_ADMIN finds programs by their numbers and
 * enters the namespace of a bond), whose mounts and namespaces others have (SYS_PTRACE), the
 * priority of the threads of LACP and BFD (SYS_NICE), and a socket or pins that somebody has
 * removed (CHOWN: they belong to groups).
 */
static const unsigned int capabilities_kept[] = { CAP_NET_ADMIN, CAP_NET_RAW,	CAP_BPF,
						  CAP_PERFMON,	 CAP_SYS_ADMIN, CAP_SYS_PTRACE,
						  CAP_SYS_NICE,	 CAP_CHOWN };

static int capabilities_keep(const __u32 keep[CAPABILITY_WORDS])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[CAPABILITY_WORDS] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (int i = 0; i < CAPABILITY_WORDS; i++) {
		data[i].effective &= keep[i];
		data[i].permitted &= keep[i];
		data[i].inheritable &= keep[i];
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

void capabilities_drop(void)
{
	__u32 keep[CAPABILITY_WORDS] = { 0 };
	int r;

	for (size_t i = 0; i < sizeof(capabilities_kept) / sizeof(capabilities_kept[0]); i++)
		keep[capabilities_kept[i] / 32] |= 1u << (capabilities_kept[i] % 32);
	r = capabilities_keep(keep);
	if (r)
		log_warning("cannot drop capabilities: %s", strerror(-r));
}

/* Threads that read what strangers send. */

/* Those of libmicrohttpd, of memory and of locks, and what the C library calls in their place. */
static const uint32_t calls_allowed[] = {
	SYS_accept4,
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_shutdown,
	SYS_close,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_fcntl,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_ppoll,
	SYS_futex,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_uname,
	SYS_gettid,
	SYS_getpid,
	SYS_getrandom,
	SYS_sched_yield,
	SYS_rseq,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_set_robust_list,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
};

#define CALLS (sizeof(calls_allowed) / sizeof(calls_allowed[0]))
#if defined(__x86_64__)
#define CALLS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CALLS_ARCH AUDIT_ARCH_AARCH64
#endif

/* Calls by the numbers of another architecture, and of x32, are refused, too. */
static int calls_confine(void)
{
#ifdef CALLS_ARCH
	const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_filter code[CALLS + 5] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS_ARCH, 0, CALLS + 1),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = CALLS + 5, .filter = code };

	for (size_t i = 0; i < CALLS; i++)
		code[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   calls_allowed[i], CALLS - i, 0);
	code[CALLS + 3] = refuse;
	code[CALLS + 4] = allow;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
#else
	return -ENOSYS;
#endif
}

static unsigned int descriptors_next(const int *fds, size_t count, unsigned int from)
{
	unsigned int next = UINT_MAX;

	for (size_t i = 0; i < count; i++)
		if ((unsigned int)fds[i] >= from && (unsigned int)fds[i] < next)
			next = (unsigned int)fds[i];
	return next;
}

/* Closes those before, between and after the ones that stay. */
static int descriptors_keep(const int *fds, size_t count)
{
	unsigned int from = 0, next;

	if (unshare(CLONE_FILES) < 0)
		return -errno;
	do {
		next = descriptors_next(fds, count, from);
		if (from < next && syscall(SYS_close_range, from, next - 1, 0) < 0)
			return -errno;
		from = next + 1;
	} while (next != UINT_MAX);
	return 0;
}

int thread_confine(const int *fds, size_t count)
{
	const __u32 none[CAPABILITY_WORDS] = { 0 };
	int files = descriptors_keep(fds, count), capabilities = capabilities_keep(none),
	    calls = calls_confine();

	return files ? files : capabilities ? capabilities : calls;
}
