/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XBOND_DAEMON_BASE_CAPABILITIES_H
#define XBOND_DAEMON_BASE_CAPABILITIES_H

/*
 * The calling thread gives up what it does not need once bondd runs. Threads that it starts later
 * have no more than it; those that run already call this themselves.
 */
void capabilities_drop(void);

#endif
