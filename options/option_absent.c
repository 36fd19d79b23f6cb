/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_absent.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *why;
} absent[] = {
	{ "use_carrier", OPTION_ABSENT_CARRIER "; leave it out" },
	{ "max_bonds", OPTION_ABSENT_MODULE "; leave it out" },
	{ "tx_queues", OPTION_ABSENT_MODULE "; leave it out" },
	{ "slaves",
	  "slaves are added by 'bondctl add-slave', or by sections [slave DEV] of a file" },
};

const char *option_absent(const char *name)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (!strcmp(absent[i].name, name))
			return absent[i].why;
	return NULL;
}
