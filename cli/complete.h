/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call that is being typed has already, and what its next word may be. */
#ifndef XBOND_CLI_COMPLETE_H
#define XBOND_CLI_COMPLETE_H

#include <jansson.h>

#include "cli/base/cli.h"

/*
 * The words of a call that is being typed, up to the one that is asked for: its verb, its flags
 * and its arguments. Reads the words as bondctl itself would. Knows nothing of bonds.
 */

struct line {
	struct cli cli; /* with the directories of the line */
	const struct verb *verb;
	bool is_lost;	  /* the first word is no verb */
	char **arguments; /* behind the verb, without flags */
	int argument_count;
	bool flags_ended;
	const struct verb_flag *awaits; /* the flag that the word is an argument of, or NULL */
	bool given_global[CLI_FLAGS_MAX], given[CLI_FLAGS_MAX];
	const char *bond; /* the argument that is the name of the bond, or NULL */
};

/*
 * What the word may be: those words that begin as it does, each with a line of help. Knows nothing
 * of verbs and bonds.
 */

/* The shell completes names of files better than bondctl, so it is only told to do so. */
enum offers_files { OFFERS_NO_FILES, OFFERS_FILES, OFFERS_DIRECTORIES };

struct offers {
	const char *begin; /* what the user has typed of the word */
	char *before;	   /* NULL, or stands before each word that is offered: "--slave=" */
	json_t *words;	   /* [{"word", "help"}] */
	enum offers_files files;
};

/*
 * Leaves out what does not fit, what is there already, and names that a shell or a terminal could
 * take for something else: those with control characters, and those that are not UTF-8.
 */
void offers_add(struct offers *offers, const char *word, const char *help);

json_t *offers_json(struct offers *offers);
/* A line each, "WORD\tHELP"; ":files" or ":directories" if the shell shall complete these. */
void offers_print(const struct offers *offers);

/*
 * The bonds and devices that there are now. Read from the pinned maps, or asked of bondd by those
 * who may not read these. What cannot be found out is left out: nobody waits, and nothing is said.
 */

struct live_bond {
	bool known;
	uint32_t mode;
	char port[XBOND_NAME_SIZE]; /* its port side; "" if only bondd could be asked */
	json_t *slaves;		    /* their names */
};

void live_bond_read(const struct cli *cli, const char *name, struct live_bond *ret_bond);
void live_bond_done(struct live_bond *bond);

void live_offer_bonds(const struct cli *cli, struct offers *offers);
/* Those that have a configuration file. */
void live_offer_configured(const struct cli *cli, struct offers *offers);
/* The bonds and team devices of the kernel. */
void live_offer_kernel_bonds(const struct cli *cli, struct offers *offers);
/* The slaves of a bond, NULL: of none. */
void live_offer_slaves(const struct cli *cli, const char *bond, struct offers *offers);
/* The devices that add-slave might take. */
void live_offer_devices(const struct cli *cli, struct offers *offers);

/*
 * What the next word of a call may be by the `arguments` of its verb, the text that help prints:
 * words in capitals are names of something (BOND, DEV, FILE, DIR, OPTION VALUE), others are to be
 * typed as they are, a bar separates alternatives. So a new verb completes without code of its own.
 */

/* Is the verb's BOND one that runs? */
bool grammar_is_of_bonds(const struct verb *verb);

/* Sets line->bond, for what stands for a device. */
void grammar_find_bond(struct line *line);

#endif
