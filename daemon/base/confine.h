/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the calling thread may do from then on. It cannot be taken back. */
#ifndef XBOND_DAEMON_BASE_CONFINE_H
#define XBOND_DAEMON_BASE_CONFINE_H

#include <stddef.h>

/*
 * It gives up the capabilities that it does not need once bondd runs. Threads that it starts later
 * have no more than it; those that run already call this themselves.
 */
void capabilities_drop(void);

/*
 * For a thread that reads what strangers send: it keeps the descriptors in fds, no
 * capability, and the system calls by which a server reads, writes and accepts connections. Others
 * fail with EPERM. What it opens later, other threads do not have, and the other way round. They
 * still share memory. Returns 0, or -errno when the kernel refuses a part; the other parts hold.
 */
int thread_confine(const int *fds, size_t count);

#endif
