/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users of kernel bonding may write and xbond does not have, and why. Called by whoever
 * refuses an unknown option; knows nothing of the option table.
 */
#ifndef XBOND_OPTIONS_OPTION_ABSENT_H
#define XBOND_OPTIONS_OPTION_ABSENT_H

#define OPTION_ABSENT_CARRIER \
	"xbond asks the kernel for carrier, and never the registers of the MII"
#define OPTION_ABSENT_MODULE "it is a parameter of the kernel's module, which xbond does not use"

/* Why xbond does not have this option of the kernel's, and what to do; NULL if it is not one. */
const char *option_absent(const char *name);

#endif
