/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every verb needs: flags, error lines, usage lines, JSON, a request to bondd with the notes
 * of its answer, and the maps of a bond.
 */
#include "cli/base/cli.h"

#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/client.h"
#include "common/memory.h"
#include "network/link.h"
#include "view/view_json.h"

/* Flags. */

const struct verb_flag flags_global[FLAG_COUNT + 1] = {
	[FLAG_JSON] = { "--json", "-j", NULL, "JSON for scripts instead of text" },
	[FLAG_RUN_DIR] = { "--run-dir", NULL, "DIR",
			   "where bondd's socket is (XBOND_RUN_DIR, /run/xbond)" },
	[FLAG_BPF_DIR] = { "--bpf-dir", NULL, "DIR",
			   "where the bonds' maps are pinned (XBOND_BPF_DIR, /sys/fs/bpf/xbond)" },
	[FLAG_CONFIG_DIR] = { "--config-dir", NULL, "DIR",
			      "where configuration files are (XBOND_CONFIG_DIR, /etc/xbond)" },
	[FLAG_HELP] = { "--help", "-h", NULL, "this help, or that of a verb" },
	[FLAG_VERSION] = { "--version", NULL, NULL, "the version" },
	[FLAG_END] = { "--", NULL, NULL, "ends the flags" },
};

bool flags_looks_like(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789", word[1]);
}

static bool flags_is(const struct verb_flag *flag, const char *word, const char **ret_argument)
{
	size_t length = strlen(flag->name);

	if (flag->letter && !strcmp(word, flag->letter))
		return true;
	if (strncmp(word, flag->name, length) || (word[length] && word[length] != '='))
		return false;
	if (word[length])
		*ret_argument = word + length + 1;
	return true;
}

const struct verb_flag *flags_find(const struct verb_flag *flags, const char *word,
				   const char **ret_argument)
{
	*ret_argument = NULL;
	for (; flags && flags->name; flags++)
		if (flags_is(flags, word, ret_argument))
			return flags;
	return NULL;
}

void flags_set_directory(struct paths *paths, enum flag_global flag, const char *directory)
{
	if (flag == FLAG_RUN_DIR)
		paths->run_dir = directory;
	else if (flag == FLAG_BPF_DIR)
		paths->bpf_dir = directory;
	else if (flag == FLAG_CONFIG_DIR)
		paths->config_dir = directory;
}

/* Verbs, and what they say and ask. */

const char *cli_flag(const struct cli *cli, const struct verb *verb, const char *name)
{
	for (unsigned int i = 0; verb->flags && verb->flags[i].name; i++)
		if (!strcmp(verb->flags[i].name, name))
			return cli->flags[i];
	return NULL;
}

const struct verb *cli_verb(const struct cli *cli, const char *name)
{
	const struct verb *found = NULL;
	unsigned int count = 0;

	for (const struct verb *verb = cli->verbs; verb->name; verb++) {
		if (!strcmp(verb->name, name))
			return verb;
		if (!*name || strncmp(verb->name, name, strlen(name)) != 0)
			continue;
		found = verb;
		count++;
	}
	return count == 1 ? found : NULL;
}

bool cli_allows_colour(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !no_color || !*no_color;
}

static void cli_print_tamed(FILE *to, const char *before, const char *format, va_list args)
{
	char *text = memory_text_of(format, args);

	json_value_tame(text);
	fprintf(to, "%s%s\n", before, text);
	free(text);
}

void cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cli_print_tamed(stderr, "bondctl: ", format, args);
	va_end(args);
}

void cli_print(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cli_print_tamed(to, "", format, args);
	va_end(args);
}

enum cli_exit cli_refuse(const struct err *err)
{
	cli_say("%s", err->text);
	return CLI_REFUSED;
}

enum cli_exit cli_wrong(const struct err *err)
{
	cli_say("%s", err->text);
	return CLI_USAGE;
}

enum cli_exit cli_usage(const struct verb *verb, const char *format, ...)
{
	char text[512];
	const char *see;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	see = text[0] && text[strlen(text) - 1] == '?' ? " See" : "; see";
	if (verb)
		cli_say("%s: %s%s 'bondctl %s --help'", verb->name, text, see, verb->name);
	else
		cli_say("%s%s 'bondctl --help'", text, see);
	return CLI_USAGE;
}

static void cli_print_notes(const json_t *reply)
{
	const json_t *note;
	size_t at;

	json_array_foreach (json_object_get(reply, "notes"), at, note)
		cli_print(stderr, "%s", json_string_value(note));
}

static json_t *cli_request_new(const char *method, const char *bond, json_t *slaves,
			       json_t *options)
{
	json_t *request = json_pack("{s:s, s:s}", "method", method, "bond", bond);

	if (slaves)
		json_object_set_new(request, "slaves", slaves);
	if (options)
		json_object_set_new(request, "options", options);
	return request;
}

enum cli_exit cli_ask(const struct cli *cli, json_t *request, int wait_s, json_t **ret_reply)
{
	struct err err;
	int r = request ? client_call(cli->paths.run_dir, request, wait_s, ret_reply, &err)
			: err_set(&err, EINVAL,
				  "the request contains text that is not UTF-8; use other names");

	json_decref(request);
	if (!r)
		return CLI_DONE;
	cli_say("%s", err.text);
	return r == -ENOTCONN || r == -ECONNRESET ? CLI_NO_BONDD : CLI_REFUSED;
}

/* Takes the reference. */
static enum cli_exit cli_send(const struct cli *cli, json_t *request, int wait_s)
{
	json_t *reply = NULL;
	enum cli_exit status = cli_ask(cli, request, wait_s, &reply);

	cli_print_notes(reply);
	json_decref(reply);
	return status;
}

enum cli_exit cli_request(const struct cli *cli, const char *method, const char *bond,
			  json_t *slaves, json_t *options)
{
	return cli_send(cli, cli_request_new(method, bond, slaves, options), CLIENT_WAIT_S);
}

enum cli_exit cli_request_long(const struct cli *cli, const char *method, const char *bond,
			       json_t *options)
{
	return cli_send(cli, cli_request_new(method, bond, NULL, options), CLIENT_WAIT_LONG_S);
}

enum cli_exit cli_open(const struct cli *cli, const char *bond, struct pins *ret_pins)
{
	struct err err;

	return pins_open(ret_pins, cli->paths.bpf_dir, bond, &err) ? cli_refuse(&err) : CLI_DONE;
}

enum cli_exit cli_print_json(json_t *json)
{
	int r = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_VALUE_REALS);

	json_decref(json);
	if (r) {
		cli_say("cannot write JSON to standard output");
		return CLI_REFUSED;
	}
	putchar('\n');
	return CLI_DONE;
}

const char *cli_name(const char *name, char ret_text[XBOND_NAME_SIZE])
{
	json_t *json = json_value_text(name);
	const char *text = json_string_value(json);

	snprintf(ret_text, XBOND_NAME_SIZE, "%s", text ? text : "");
	json_decref(json);
	return ret_text;
}

const char *cli_slave_name(const struct pins *pins, const char *name,
			   char ret_name[XBOND_NAME_SIZE])
{
	unsigned int ifindex;

	if (!name || pins_slot_by_name(pins, name) >= 0 ||
	    link_is_elsewhere(pins->table->netns_cookie))
		return name;
	ifindex = if_nametoindex(name);
	pins_for_each_member (pins, slot)
		if (ifindex && pins->slaves[slot].ifindex == ifindex)
			return memcpy(ret_name, pins->slaves[slot].name, XBOND_NAME_SIZE);
	return name;
}

void cli_name_slaves(const struct pins *pins, struct config_file *file)
{
	for (size_t i = 0; i < file->slave_count; i++)
		cli_slave_name(pins, file->slaves[i].name, file->slaves[i].name);
}

enum cli_exit cli_number(const struct cli *cli, const struct verb *verb, const char *flag,
			 unsigned long long most, unsigned long long *ret_number)
{
	const char *text = cli_flag(cli, verb, flag);
	unsigned long long number;
	char *end;

	if (!text)
		return CLI_DONE;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || text[strspn(text, "0123456789")] || !number || number > most)
		return cli_usage(verb, "%s: '%s' is not allowed; allowed: 1..%llu", flag, text,
				 most);
	*ret_number = number;
	return CLI_DONE;
}

bool cli_verb_takes(const struct verb *verb, const struct option_spec *option)
{
	return verb->takes_options && option->scope == verb->scope && !option->in_file &&
	       option->id != verb->not_option;
}

static volatile sig_atomic_t cli_interrupted;

static void cli_on_interrupt(int number)
{
	cli_interrupted = 1;
}

void cli_catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = cli_on_interrupt, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

bool cli_is_interrupted(void)
{
	return cli_interrupted;
}
