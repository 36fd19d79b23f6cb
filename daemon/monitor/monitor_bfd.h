/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * micro-BFD (RFC 7130) as a link monitor: takes over what the sessions of the BFD thread say of
 * their links. As long as no session of a bond has been up, none has a verdict, because the far end
 * may not speak BFD. docs/developers/bfd.md has the rules.
 */
#ifndef XBOND_DAEMON_MONITOR_MONITOR_BFD_H
#define XBOND_DAEMON_MONITOR_MONITOR_BFD_H

#include "daemon/bond/daemon.h"

/* Before the first evaluation of a bond of another bondd: its sessions go on. */
void monitor_bfd_adopt(struct bond *bond);
/* When bfd_thread_fd() is readable. Evaluates. */
void monitor_bfd_take_news(struct daemon *daemon);

#endif
