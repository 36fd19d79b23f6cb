/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "bpf/abi.h"

/*
 * Checks names as the kernel's dev_valid_name() does, and also for what the error lines need.
 * Called by bondctl before it sends anything, and by bondd for every request and file. Does not
 * know which names exist.
 */

#define BYTES_MARK '\1' /* no name that may be given begins with it */

json_t *name_to_json(const char *text)
{
	char marked[2 * XBOND_NAME_SIZE + 2] = { BYTES_MARK };
	json_t *json = json_string(text);
	size_t length = 1;

	for (; !json && *text && length + 2 < sizeof(marked); text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x80) {
			marked[length++] = (char)(0xc0 | c >> 6);
			c = 0x80 | (c & 0x3f);
		}
		marked[length++] = (char)c;
	}
	return json ? json : json_string(marked);
}

static char name_next_byte(const char **at)
{
	unsigned char c = (unsigned char)*(*at)++;

	if (c < 0x80 || !**at)
		return (char)c;
	return (char)((c & 3) << 6 | ((unsigned char)*(*at)++ & 0x3f));
}

bool name_from_json(const json_t *json, char ret_name[XBOND_NAME_SIZE])
{
	const char *at = json_string_value(json);
	bool is_marked = at && *at == BYTES_MARK;
	size_t length = 0;

	if (!at)
		return false;
	for (at += is_marked; *at && length < XBOND_NAME_SIZE; length++)
		ret_name[length] = is_marked ? name_next_byte(&at) : *at++;
	if (length == XBOND_NAME_SIZE)
		return false;
	ret_name[length] = '\0';
	return true;
}

static int name_check_characters(const char *what, const char *name, struct err *err)
{
	for (const char *at = name; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (isspace(c) || iscntrl(c))
			return err_set(
				err, EINVAL,
				"%s name contains white space or a control character; remove it",
				what);
		if (c == '/' || c == ':' || c == '%') /* the kernel replaces %d by a number */
			return err_set(err, EINVAL,
				       "%s name '%s' contains '%c', which no device name may "
				       "contain; remove it",
				       what, name, c);
	}
	return 0;
}

int name_check(const char *what, const char *name, struct err *err)
{
	size_t length = strlen(name);

	if (length == 0)
		return err_set(err, EINVAL, "%s name is empty; give a name of 1 to %d characters",
			       what, XBOND_NAME_SIZE - 1);
	if (length >= XBOND_NAME_SIZE)
		return err_set(err, EINVAL, "%s name too long: %zu characters, at most %d", what,
			       length, XBOND_NAME_SIZE - 1);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return err_set(err, EINVAL,
			       "%s name '%s' is the name of a directory; choose another", what,
			       name);
	if (!strcmp(name, "all") || !strcmp(name, "default"))
		return err_set(err, EINVAL,
			       "%s name '%s' is what the kernel calls the settings of all devices "
			       "(net.ipv4.conf.%s); choose another",
			       what, name, name);
	return name_check_characters(what, name, err);
}

#define GUESS_LENGTH 40
#define GUESS_DISTANCE 2 /* letters that may differ */

/* A hyphen counts as an underscore, and a capital as a small letter. */
static void guess_fold(const char *word, char ret_folded[GUESS_LENGTH + 1])
{
	for (; *word; word++)
		*ret_folded++ = *word == '-' ? '_' : (char)tolower((unsigned char)*word);
	*ret_folded = '\0';
}

/*
 * How many letters must be put in, left out or changed (Levenshtein). If it is more than `most`,
 * any number above that.
 */
static unsigned int guess_distance(const char *a, const char *b, unsigned int most)
{
	unsigned int row[GUESS_LENGTH + 1], least = 0;
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i] && least <= most; i++) {
		unsigned int diagonal = row[0];

		least = row[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < length; j++) {
			unsigned int changed = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = MIN(changed, MIN(row[j], diagonal) + 1);
			least = MIN(least, row[j + 1]);
		}
	}
	return row[length];
}

/* At least half of each word must be right. */
void guess_offer(struct guess *guess, const char *candidate)
{
	size_t word = strlen(guess->word), length = strlen(candidate);
	size_t most = MIN(GUESS_DISTANCE, MIN(word, length) / 2);
	char folded[2][GUESS_LENGTH + 1];
	unsigned int distance;

	if (word > GUESS_LENGTH || length > GUESS_LENGTH || word > length + most ||
	    length > word + most)
		return;
	guess_fold(guess->word, folded[0]);
	guess_fold(candidate, folded[1]);
	distance = guess_distance(folded[0], folded[1], (unsigned int)most);
	if (distance > most || (guess->best && distance >= guess->distance))
		return;
	guess->best = candidate;
	guess->distance = distance;
}

#define OF_DEVICE "it belongs to the device: 'ip link set BOND "

static const struct {
	const char *name, *why;
} absent[] = {
	{ "use_carrier", OPTION_ABSENT_CARRIER "; leave it out" },
	{ "missed_max", "it is called arp_missed_max here" }, /* iproute2's name */
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

/* Without the "bond-" that ifupdown writes before it. */
static const char *option_bare(const char *name)
{
	return strncmp(name, "bond", 4) || (name[4] != '-' && name[4] != '_') ? name : name + 5;
}

const char *option_absent(const char *name)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (!strcmp(absent[i].name, option_bare(name)))
			return absent[i].why;
	return NULL;
}

const char *option_guess(enum option_scope scope, const char *name)
{
	struct guess guess = { .word = option_bare(name) };

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
