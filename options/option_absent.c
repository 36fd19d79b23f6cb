/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_absent.h"

#include <stdio.h>
#include <string.h>

#include "common/guess.h"

#define OF_DEVICE "it belongs to the device: 'ip link set BOND "

static const struct {
	const char *name, *why;
} absent[] = {
	{ "use_carrier", OPTION_ABSENT_CARRIER "; leave it out" },
	{ "max_bonds", OPTION_ABSENT_MODULE "; leave it out" },
	{ "tx_queues", OPTION_ABSENT_MODULE "; leave it out" },
	{ "slaves",
	  "slaves are added by 'bondctl add-slave', or by sections [slave DEV] of a file" },
	{ "type", "bondctl makes nothing but bonds; leave it out" },
	{ "mtu", OF_DEVICE "mtu N'" },
	{ "address", OF_DEVICE "address MAC'" },
	{ "txqueuelen", OF_DEVICE "txqueuelen N'" },
	{ "name", OF_DEVICE "name NAME'" },
	{ "master", OF_DEVICE "master DEV'" },
	{ "down", OF_DEVICE "down'" },
};

const char *option_absent(const char *name)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (!strcmp(absent[i].name, name))
			return absent[i].why;
	return NULL;
}

const char *option_guess(enum option_scope scope, const char *name)
{
	struct guess guess = { .word = name };

	for (int id = 0; id < OPT_COUNT; id++)
		if (option_at(id)->scope == scope)
			guess_offer(&guess, option_at(id)->name);
	return guess.best;
}

/* What others call a value. */
static const struct {
	enum option_id option;
	const char *theirs, *ours;
} values[] = {
	{ OPT_MODE, "lacp", "802.3ad" },
	{ OPT_MODE, "ad", "802.3ad" },
	{ OPT_MODE, "8023ad", "802.3ad" },
	{ OPT_MODE, "802.1ax", "802.3ad" },
	{ OPT_MODE, "dynamic", "802.3ad" },
	{ OPT_MODE, "roundrobin", "balance-rr" },
	{ OPT_MODE, "round-robin", "balance-rr" },
	{ OPT_MODE, "rr", "balance-rr" },
	{ OPT_MODE, "activebackup", "active-backup" },
	{ OPT_MODE, "failover", "active-backup" },
	{ OPT_MODE, "ab", "active-backup" },
	{ OPT_MODE, "loadbalance", "balance-xor" },
	{ OPT_MODE, "static", "balance-xor" },
	{ OPT_MODE, "xor", "balance-xor" },
	{ OPT_MODE, "tlb", "balance-tlb" },
	{ OPT_MODE, "alb", "balance-alb" },
	{ OPT_MODE, "balance-slb", "balance-alb" },
	{ OPT_XMIT_HASH_POLICY, "l2", "layer2" },
	{ OPT_XMIT_HASH_POLICY, "l2+3", "layer2+3" },
	{ OPT_XMIT_HASH_POLICY, "l3+4", "layer3+4" },
	{ OPT_XMIT_HASH_POLICY, "layer4", "layer3+4" },
};

void option_guess_value(const struct option_spec *option, const char *text, struct err *err)
{
	size_t length = strlen(err->text);
	struct guess guess = { .word = text };
	struct option_name name;

	for (unsigned int i = 0; option_name_at(option, i, &name); i++)
		guess_offer(&guess, name.name);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].option == option->id && !strcmp(values[i].theirs, text))
			guess.best = values[i].ours;
	if (guess.best && strcmp(guess.best, text) && text[strspn(text, "-0123456789")])
		snprintf(err->text + length, sizeof(err->text) - length, "; did you mean %s?",
			 guess.best);
}
