/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/log.h"

#define WORDS _LINUX_CAPABILITY_U32S_3

/*
 * Slaves and bonds may come at any time, so what they need stays: devices (NET_ADMIN), packet
 * sockets (NET_RAW), programs and maps (BPF, PERFMON; SYS_ADMIN finds programs by their numbers and
 * enters the namespace of a bond), whose mounts and namespaces others have (SYS_PTRACE), the
 * priority of the threads of LACP and BFD (SYS_NICE), and a socket that somebody has removed
 * (CHOWN: it belongs to a group).
 */
static const unsigned int kept[] = { CAP_NET_ADMIN, CAP_NET_RAW,    CAP_BPF,	  CAP_PERFMON,
				     CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYS_NICE, CAP_CHOWN };

void capabilities_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[WORDS] = { 0 };
	__u32 keep[WORDS] = { 0 };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		keep[kept[i] / 32] |= 1u << (kept[i] % 32);
	if (syscall(SYS_capget, &header, data) < 0) {
		log_warning("cannot read the capabilities: %m");
		return;
	}
	for (int i = 0; i < WORDS; i++) {
		data[i].effective &= keep[i];
		data[i].permitted &= keep[i];
		data[i].inheritable &= keep[i];
	}
	if (syscall(SYS_capset, &header, data) < 0)
		log_warning("cannot drop capabilities: %m");
}
