/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All parts of bonds, in the order in which a slave is made. */
#ifndef XBOND_DAEMON_PARTS_H
#define XBOND_DAEMON_PARTS_H

/* Before there are bonds. */
void parts_list(void);

#endif
