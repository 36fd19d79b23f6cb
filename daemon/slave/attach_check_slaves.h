/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is the receive program of each slave where it must be? bond/attach_check.h does the work, and
 * also checks the bond's own pair.
 */
#ifndef XBOND_DAEMON_SLAVE_ATTACH_CHECK_SLAVES_H
#define XBOND_DAEMON_SLAVE_ATTACH_CHECK_SLAVES_H

#include "daemon/bond/bond.h"

/*
 * From time to time: checks everything, including the pair, with some three system calls for each
 * attachment. While a bond is adopted (bond->adopting), programs of another build are not a loss.
 */
void attach_check_all(struct bond *bond);
/* After a message about the slave's filters. */
void attach_check_slave(struct bond *bond, unsigned int slot);

#endif
