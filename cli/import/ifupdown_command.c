/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of a stanza that set up bonds of the kernel's driver. Runs nothing. */
#include <ctype.h>
#include <string.h>

#include "cli/import/import_tools.h"
#include "common/paths.h"

#define MAX_WORDS 128	 /* of a command; more slaves than a bond can have */
#define MAX_SETTINGS 256 /* of a line */

struct ifupdown_words {
	struct import *import;
	const char *iface;
	const char *list[MAX_WORDS];
	size_t count;
	struct ifupdown_command *command;
};

static void ifupdown_set(const struct ifupdown_words *words, const char *bond, const char *key,
			 const char *value)
{
	struct ifupdown_command *command = words->command;

	command->settings = import_grow(words->import, command->settings, command->count,
					sizeof(*command->settings));
	command->settings[command->count++] = (struct ifupdown_setting){ bond, key, value };
}

/* Where the word is; the count if it is not there. */
static size_t ifupdown_find_word(const struct ifupdown_words *words, const char *word)
{
	size_t at = 0;

	while (at < words->count && strcmp(words->list[at], word) != 0)
		at++;
	return at;
}

/* ifenslave [-f] BOND DEV... */
static bool ifupdown_read_ifenslave(const struct ifupdown_words *words)
{
	const char *slaves = "";
	size_t at = 1;

	for (; at < words->count && *words->list[at] == '-'; at++)
		if (words->list[at][strspn(words->list[at], "-fv")])
			return false;
	if (at + 1 >= words->count)
		return false;
	for (size_t i = at + 1; i < words->count; i++)
		if (*words->list[i] == '-')
			return false;
		else
			slaves = import_text(words->import, "%s %s", slaves, words->list[i]);
	ifupdown_set(words, words->list[at], NULL, NULL);
	ifupdown_set(words, words->list[at], "slaves", slaves);
	return true;
}

/* modprobe [-o BOND] [-FLAG]... bonding [KEY=VALUE]... The module makes bond0 by itself. */
static bool ifupdown_read_modprobe(const struct ifupdown_words *words)
{
	size_t option = ifupdown_find_word(words, "-o");
	const char *bond = option + 1 < words->count ? words->list[option + 1] : NULL;

	for (size_t i = 1; i < words->count; i++) {
		char *value = import_text(words->import, "%s", words->list[i]);
		const char *key = strsep(&value, "=");

		if (value)
			ifupdown_set(words, bond, key, value);
	}
	if (bond || !strncmp(words->iface, "bond", 4))
		ifupdown_set(words, bond ? bond : words->iface, NULL, NULL);
	return true;
}

/*
 * The word behind "dev" or "name", or the one behind "link add"; NULL: there is none. ip takes "l"
 * for "link".
 */
static const char *ifupdown_ip_device(const struct ifupdown_words *words)
{
	size_t dev = ifupdown_find_word(words, "dev"), name = ifupdown_find_word(words, "name");
	size_t at = 1;

	while (at < words->count && *words->list[at] == '-')
		at++;
	if (at >= words->count || strncmp("link", words->list[at], strlen(words->list[at])) != 0)
		return NULL;
	at = dev < words->count ? dev + 1 : name < words->count ? name + 1 : at + 2;
	return at < words->count ? words->list[at] : NULL;
}

/* ip link add|set [name|dev] DEV [type bond [KEY VALUE]...] [master BOND] */
static bool ifupdown_read_ip(const struct ifupdown_words *words)
{
	size_t type = ifupdown_find_word(words, "type");
	size_t master = ifupdown_find_word(words, "master");
	const char *device = ifupdown_ip_device(words);
	size_t at;

	if (!device || !strcmp(device, "master"))
		return false;
	if (master + 1 < words->count)
		ifupdown_set(words, words->list[master + 1], "slaves", device);
	if (type + 1 >= words->count)
		return master + 1 < words->count;
	ifupdown_set(words, device, NULL, NULL);
	for (at = type + 2; at + 1 < words->count; at += 2)
		ifupdown_set(words, device, words->list[at], words->list[at + 1]);
	return at == words->count;
}

/* The bond and the file of /sys/class/net/BOND/bonding/FILE, or NULL. */
static const char *ifupdown_sysfs(struct import *import, const char *path, const char **ret_file)
{
	char *rest = import_text(import, "%s", path), *bond;

	if (strncmp(rest, "/sys/class/net/", 15) != 0)
		return NULL;
	rest += 15;
	bond = strsep(&rest, "/");
	if (!rest || strncmp(rest, "bonding/", 8) != 0)
		return NULL;
	*ret_file = rest + 8;
	return bond;
}

/* echo VALUE > FILE */
static bool ifupdown_read_echo(const struct ifupdown_words *words)
{
	size_t at = ifupdown_find_word(words, ">");
	const char *value = at ? words->list[at - 1] : "", *file, *bond;

	if (at + 2 != words->count || (at != 2 && (at != 3 || strcmp(words->list[1], "-n"))))
		return false;
	if (!strcmp(words->list[at + 1], "/sys/class/net/bonding_masters")) {
		if (*value == '+')
			ifupdown_set(words, value + 1, NULL, NULL);
		return *value == '+';
	}
	bond = ifupdown_sysfs(words->import, words->list[at + 1], &file);
	if (!bond || (!strcmp(file, "slaves") && *value != '+'))
		return false;
	ifupdown_set(words, bond, NULL, NULL);
	ifupdown_set(words, bond, file, value + (*value == '+'));
	return true;
}

static bool ifupdown_has_module(const struct ifupdown_words *words)
{
	for (size_t i = 1; i < words->count; i++) {
		const char *base = paths_base(words->list[i]);

		if (!strcmp(base, "bonding") || !strncmp(base, "bonding.ko", 10))
			return true;
	}
	return false;
}

static bool ifupdown_has_type_bond(const struct ifupdown_words *words)
{
	size_t type = ifupdown_find_word(words, "type");

	return type + 1 < words->count && !strcmp(words->list[type + 1], "bond");
}

static bool ifupdown_has_master(const struct ifupdown_words *words)
{
	return ifupdown_find_word(words, "master") < words->count &&
	       ifupdown_find_word(words, "type") == words->count;
}

static bool ifupdown_has_sysfs(const struct ifupdown_words *words)
{
	const char *last = words->list[words->count - 1];

	return strstr(last, "/bonding/") || strstr(last, "/bonding_masters");
}

static bool ifupdown_always(const struct ifupdown_words *words)
{
	return words->count > 0;
}

static const struct {
	const char *name;
	bool (*is_bonding)(const struct ifupdown_words *words);
	bool (*read)(const struct ifupdown_words *words);
} programs[] = {
	{ "ifenslave", ifupdown_always, ifupdown_read_ifenslave },
	{ "ifenslave-2.6", ifupdown_always, ifupdown_read_ifenslave },
	{ "modprobe", ifupdown_has_module, ifupdown_read_modprobe },
	{ "insmod", ifupdown_has_module, ifupdown_read_modprobe },
	{ "ip", ifupdown_has_type_bond, ifupdown_read_ip },
	{ "ip", ifupdown_has_master, ifupdown_read_ip },
	{ "echo", ifupdown_has_sysfs, ifupdown_read_echo },
	{ "printf", ifupdown_has_sysfs, ifupdown_read_echo },
};

/* What may be before a command and changes nothing about it. */
static bool ifupdown_is_shell(const char *word)
{
	return import_is_one_of(word, "do", "then", "else", "sudo");
}

/* Words without quotes around them, of ">FILE" two; where messages go (2>FILE) is left out. */
static void ifupdown_split(struct ifupdown_words *words, const char *text)
{
	char *rest = import_text(words->import, "%s", text), *word;

	words->count = 0;
	while (words->count + 2 < MAX_WORDS && (word = import_next_word(&rest, IFUPDOWN_BLANKS))) {
		size_t length;

		if (*word == '#')
			break;
		if (!words->count && ifupdown_is_shell(word))
			continue;
		if (isdigit((unsigned char)*word) && word[1] == '>')
			continue;
		word += strspn(word, "(\"'");
		if (*word == '>' && word[1]) {
			words->list[words->count++] = ">";
			word++;
		}
		for (length = strlen(word); length && strchr(")\"'", word[length - 1]);)
			word[--length] = '\0';
		if (length)
			words->list[words->count++] = word;
	}
}

/* In the place of $IFACE and ${IFACE}. */
static char *ifupdown_with_iface(struct import *import, const char *text, const char *iface)
{
	static const char *const names[] = { "$IFACE", "${IFACE}" };
	char *result = import_memory(import, strlen(text) * (strlen(iface) + 1) / 6 + strlen(text) +
						     strlen(iface) + 1);
	char *end = result;

	while (*text) {
		size_t length = 0;

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(text, names[i], strlen(names[i])))
				length = strlen(names[i]);
		if (length)
			end = stpcpy(end, iface);
		else
			*end++ = *text;
		text += length ? length : 1;
	}
	return result;
}

static bool ifupdown_mentions(const char *part, const char *const *texts)
{
	for (; *texts; texts++)
		if (strstr(part, *texts))
			return true;
	return false;
}

/* One command, without the others that the shell would run after it. */
static void ifupdown_read_part(struct ifupdown_words *words, const char *part)
{
	static const char *const driver[] = { "ifenslave", "bonding", "type bond", "master bond",
					      NULL };
	static const char *const vital[] = { "ifenslave", "mode", "slaves", "master", NULL };
	struct ifupdown_command *command = words->command;
	size_t before = command->count;

	ifupdown_split(words, part);
	if (!words->count)
		return;
	if (strcmp(words->list[0], "echo") && strcmp(words->list[0], "printf"))
		words->count = ifupdown_find_word(words, ">");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i].name, paths_base(words->list[0])) != 0 ||
		    !programs[i].is_bonding(words))
			continue;
		command->is_bonding = true;
		if (!strpbrk(part, "$`*?[") && programs[i].read(words))
			return;
		command->count = before;
		break;
	}
	if (!ifupdown_mentions(part, driver))
		return;
	command->is_bonding = true;
	command->not_clear = import_text(words->import, "%s", part);
	command->is_about_what_it_is |= ifupdown_mentions(part, vital);
}

void ifupdown_command_read(struct import *import, const char *text, const char *iface,
			   struct ifupdown_command *ret_command)
{
	struct ifupdown_words words = { .import = import, .iface = iface, .command = ret_command };
	char *rest = ifupdown_with_iface(import, text, iface), *part;

	*ret_command = (struct ifupdown_command){ 0 };
	while ((part = import_next_word(&rest, ";&|\n")) && ret_command->count < MAX_SETTINGS)
		ifupdown_read_part(&words, part);
	if (!part)
		return;
	ret_command->count = 0;
	ret_command->not_clear = part;
	ret_command->is_about_what_it_is = true;
}
