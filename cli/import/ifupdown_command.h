/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of a stanza (pre-up, up, post-up) that set up bonds of the kernel's driver:
 * ifenslave, modprobe bonding, ip link, and echo into files of sysfs. Runs nothing and knows no
 * shell: a command that is more than plain words is not understood.
 */
#ifndef XBOND_CLI_IMPORT_IFUPDOWN_COMMAND_H
#define XBOND_CLI_IMPORT_IFUPDOWN_COMMAND_H

#include "cli/import/import.h"

/* What a command sets: an option by the driver's name, "slaves", or nothing but the bond. */
struct ifupdown_setting {
	const char *bond; /* NULL: a parameter of the module, for all bonds that do not set it */
	const char *key;  /* NULL: the command makes the bond */
	const char *value;
};

struct ifupdown_command {
	struct ifupdown_setting *settings;
	size_t count;
	bool is_bonding;	  /* it speaks to the driver */
	const char *not_clear;	  /* the part that was not understood; NULL: all was */
	bool is_about_what_it_is; /* that part could set the mode or slaves */
};

/* iface: the stanza's interface, which commands call $IFACE. */
void ifupdown_command_read(struct import *import, const char *text, const char *iface,
			   struct ifupdown_command *ret_command);

#endif
