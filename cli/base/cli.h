/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of bondctl share: the call's global flags, the shape of a verb, exit
 * statuses, and the one way to say that something failed.
 */
#ifndef XBOND_CLI_BASE_CLI_H
#define XBOND_CLI_BASE_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"
#include "common/paths.h"
#include "common/pins.h"
#include "options/config_file.h"
#include "options/options.h"

enum cli_exit {
	CLI_DONE = 0,
	CLI_REFUSED = 1, /* bondd, the maps, the kernel or a file was asked, and that failed */
	CLI_USAGE = 2,	 /* the command line is wrong by itself: nothing was asked */
	CLI_NO_BONDD = 3,
	/* Of doctor alone, which has done what it was asked for: */
	CLI_WARNINGS = 4, /* it has found something to warn of, and nothing bad */
	CLI_BAD = 5,
	/* Of load and apply with --changed-status: they have changed something. */
	CLI_CHANGED = 6,
};

#define CLI_FLAGS_MAX 8

struct verb;
struct view_table;

struct cli {
	struct paths paths;
	const struct verb *verbs; /* all of them, for complete */
	bool json;
	const char *flags[CLI_FLAGS_MAX]; /* the verb's own; read them by cli_flag() */
};

/* A flag of one verb. The global flags are bondctl.c's. */
struct verb_flag {
	const char *name;     /* with its dashes; NULL ends a list */
	const char *letter;   /* "-d"; NULL: it has none */
	const char *argument; /* as help prints it; NULL: it takes none */
	const char *help;
};

typedef enum cli_exit cli_run(const struct cli *cli, const struct verb *verb, int argc,
			      char **argv);

struct verb {
	const char *name;
	const char *arguments; /* as help prints them */
	const char *help;
	int min_words, max_words; /* after the verb */
	cli_run *run;
	const struct verb_flag *flags; /* NULL: none; at most CLI_FLAGS_MAX */
	bool takes_options;
	enum option_scope scope;   /* of the options it takes, or of the devices that it names */
	enum option_id not_option; /* an option of that scope that it refuses; OPT_COUNT: none */
};

/* All verbs, in the order of the manual. The last entry has a NULL name. */
extern const struct verb cli_verbs[];

/* The argument of the verb's flag, "" if it takes none; NULL if the flag was not given. */
const char *cli_flag(const struct cli *cli, const struct verb *verb, const char *name);

/* By its name, or a beginning of it that no other verb has. NULL if there is none. */
const struct verb *cli_verb(const struct cli *cli, const char *name);

/* From now on SIGINT, SIGTERM or SIGHUP only says that this is to end; a second one ends it. */
void cli_catch_interrupts(void);
bool cli_is_interrupted(void);

bool cli_verb_takes(const struct verb *verb, const struct option_spec *option);

/* Prints one line that cannot steer a terminal to stderr, after "bondctl: ". */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same without "bondctl: ". */
void cli_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the line and returns CLI_REFUSED. */
enum cli_exit cli_refuse(const struct err *err);
/* Prints the line and returns CLI_USAGE: a name or a value on the command line is not allowed. */
enum cli_exit cli_wrong(const struct err *err);
/* Prints the line with a hint where to read on, and returns CLI_USAGE. */
enum cli_exit cli_usage(const struct verb *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Sends a request to bondd, of which it takes the reference, and prints an error line if that
 * failed. NULL: it could not be made, because a text is no UTF-8. *ret_reply: a new reference, if
 * CLI_DONE is returned.
 */
enum cli_exit cli_ask(const struct cli *cli, json_t *request, int wait_s, json_t **ret_reply);
/*
 * Sends a request to bondd, prints the notes of the answer, and an error line if it failed. Takes
 * the references to slaves and options; both may be NULL.
 */
enum cli_exit cli_request(const struct cli *cli, const char *method, const char *bond,
			  json_t *slaves, json_t *options);

/* The same for a request that may take minutes. */
enum cli_exit cli_request_long(const struct cli *cli, const char *method, const char *bond,
			       json_t *options);

/* Opens the pinned maps of the bond, or says why not. The caller closes them. */
enum cli_exit cli_open(const struct cli *cli, const char *bond, struct pins *ret_pins);

/* Whether the user allows colours (NO_COLOR). What the terminal can do is another question. */
bool cli_allows_colour(void);

/* Prints the JSON to stdout. Takes the reference. */
enum cli_exit cli_print_json(json_t *json);

/* The name of a device as a terminal may get it, with question marks for what could steer it. */
const char *cli_name(const char *name, char ret_text[XBOND_NAME_SIZE]);

/* The name of the slave of whose device this is another name; any other name, or NULL, is itself.
 */
const char *cli_slave_name(const struct pins *pins, const char *name,
			   char ret_name[XBOND_NAME_SIZE]);
/* The same for all slaves of a file. */
void cli_name_slaves(const struct pins *pins, struct config_file *file);

/*
 * The number of 1 to `most` after the verb's flag. Leaves ret_number as it is if the flag was not
 * given. CLI_USAGE, which has been said: it is another word.
 */
enum cli_exit cli_number(const struct cli *cli, const struct verb *verb, const char *flag,
			 unsigned long long most, unsigned long long *ret_number);

/*
 * The flags that every call may have, and how a word is known to be a flag. Used by bondctl.c,
 * which obeys them, by help and by complete.
 */

/* The rows of flags_global. */
enum flag_global {
	FLAG_JSON,
	FLAG_RUN_DIR,
	FLAG_BPF_DIR,
	FLAG_CONFIG_DIR,
	FLAG_HELP,
	FLAG_VERSION,
	FLAG_END,
	FLAG_COUNT,
};
extern const struct verb_flag flags_global[FLAG_COUNT + 1];

/* A minus before a digit is a value, which its option will refuse. */
bool flags_looks_like(const char *word);

/*
 * The flag that the word is, in its long or short form; NULL if it is none of these. flags may be
 * NULL. With '=' in the word, ret_argument is what follows, otherwise NULL.
 */
const struct verb_flag *flags_find(const struct verb_flag *flags, const char *word,
				   const char **ret_argument);

/* Sets the directory that this flag is for, if it is for one. */
void flags_set_directory(struct paths *paths, enum flag_global flag, const char *directory);

void help_print(const struct cli *cli);
void help_print_verb(const struct verb *verb);
/* Prints the option table as JSON, for the test of the manual. */
enum cli_exit help_dump_options(void);

/*
 * Answers to calls that are wrong, but from which one can see what was meant: mistyped verbs, verbs
 * of ip-link(8), ifenslave and teamdctl, and words in another order.
 */

/* The first of these words is no verb. Says so, with what may be meant, and returns CLI_USAGE. */
enum cli_exit habits_refuse_verb(const struct cli *cli, int count, char **words);

/* The verb needs more than these words. Says so and returns CLI_USAGE. */
enum cli_exit habits_refuse_few(const struct cli *cli, const struct verb *verb, int count,
				char **words);

/*
 * Of a verb whose bond must exist. If this one does not, but one of the words is a bond, or it is
 * a slave of one, says so and returns CLI_REFUSED; otherwise CLI_DONE.
 */
enum cli_exit habits_check_bond(const struct cli *cli, const struct verb *verb, const char *bond,
				int count, char **words);

/* What verbs print with -j, for tests/tools/fields.c, which makes schemas and lists of it. */
extern const struct view_table explain_json, flows_table, top_json, import_json, import_keys_json;

/* What the rows of cli_verbs run. */
cli_run cmd_create, cmd_delete, cmd_slaves, cmd_set, cmd_set_slave, cmd_show, cmd_list, cmd_stats,
	cmd_top, cmd_explain, cmd_policy, cmd_simulate, cmd_sysfs_tree, cmd_monitor, cmd_doctor,
	cmd_flows, cmd_capture, cmd_handover, cmd_check, cmd_apply, cmd_confirm, cmd_import,
	cmd_complete, cmd_help, cmd_save;

#endif
