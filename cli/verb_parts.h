/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What complete, policy and simulate are made of, each of which has two files. */
#ifndef XBOND_CLI_VERB_PARTS_H
#define XBOND_CLI_VERB_PARTS_H

#include <bpf/libbpf.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/flow_words.h"
#include "cli/base/cli.h"
#include "common/err.h"

/*
 * complete: the words of a call that is being typed, up to the one that is asked for: its verb, its
 * flags and its arguments. Reads the words as bondctl itself would. Knows nothing of bonds.
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

/*
 * policy: a policy in an ELF file of the user: read, checked, and loaded over a bond's question.
 * The file may contain anything. It is read by libbpf, in bondctl and not in bondd, and what is in
 * it is checked by the kernel.
 */

#define POLICY_FILE_MAPS 16 /* of its own */

struct policy_file {
	void *bytes;
	struct bpf_object *object;
	struct bpf_program *tc, *xdp;
	struct bpf_map *question;		/* that of the bond */
	struct bpf_map *maps[POLICY_FILE_MAPS]; /* those of its own that have a name */
	unsigned int map_count;
};

/* dir: of the pins of the bond. policy_file_close() also after a failure. */
int policy_file_load(struct policy_file *ret_file, const char *path, const char *dir,
		     struct err *err);
void policy_file_close(struct policy_file *file);

/* Puts a loaded policy into a bond's pins, and takes it out. */

/*
 * In place of an older one. If this fails, the older one decides as before. If bondctl dies in
 * between, one of the two decides.
 */
int policy_pin(const struct policy_file *file, const char *dir, struct err *err);
/* From the next packet on the bond decides. */
int policy_unpin(const char *dir, struct err *err);
/* Gets the name of a map and the path of its pin. What is not 0 ends the visit. */
typedef int policy_pin_visitor(const char *map, const char *pin, const void *arg);
int policy_pin_visit_maps(const char *dir, policy_pin_visitor *visit, const void *arg);

/*
 * simulate: what each slave gets of some packets, and what moves if a slave fails, by the hash of
 * bpf/flow.h and the bucket tables of rules/buckets.h.
 */

struct simulate_sum {
	uint64_t flows, packets, bytes;
};

struct simulate_table {
	uint8_t bucket[XBOND_BUCKETS], home[XBOND_BUCKETS];
};

/* What becomes of all packets once a slave has failed, and its buckets are shared out. */
struct simulate_failure {
	uint64_t at_once; /* slots that may transmit before that */
	uint64_t mask;	  /* slots that may transmit then; none: nothing is foretold */
	uint64_t unsure;  /* those of mask that need the consent of their partners */
	uint32_t weight[XBOND_MAX_SLAVES], member_weight[XBOND_MAX_SLAVES];
	struct simulate_table table;
	struct simulate_sum gets[XBOND_MAX_SLAVES]; /* each slot, in all */
	struct simulate_sum moved;		    /* what has another slave than before */
	struct simulate_sum moved_again; /* of that: had a third slave until bondd had shared out */
};

/* Packets of a capture that no hash decides about. */
enum simulate_other {
	SIMULATE_RECEIVED,
	SIMULATE_CUT,
	SIMULATE_NO_DEST,
	SIMULATE_NO_ETHERNET,
	SIMULATE_ACTIVE,
	SIMULATE_OTHERS,
};

struct simulate {
	const char *bond; /* NULL: none */
	const char *file; /* NULL: generated flows */
	uint64_t flows;	  /* of those */
	struct flow_rule rule;
	uint64_t mask;
	bool is_weighed;			  /* the weights are not those of a bond */
	uint32_t weight[XBOND_MAX_SLAVES];	  /* of the slots in mask */
	uint32_t member_weight[XBOND_MAX_SLAVES]; /* also of slaves that may not transmit now */
	char name[XBOND_MAX_SLAVES][XBOND_NAME_SIZE];
	uint8_t mac[XBOND_MAC_SIZE]; /* of the bond */
	bool is_tlb; /* balance-tlb or balance-alb: not all that is sent is balanced */
	struct simulate_table table;
	struct simulate_table settled; /* the same when no bucket is about to move by load */
	struct simulate_sum sum[XBOND_MAX_SLAVES], total;
	struct simulate_failure failure[XBOND_MAX_SLAVES];
	uint64_t other[SIMULATE_OTHERS];
	bool flows_lack; /* there were more flows than can be told from each other */
};

/* The slaves, weights, rule and buckets of a bond, and who replaces which of its slaves. */
int simulate_take_bond(struct simulate *simulate, const char *bpf_dir, struct err *err);
/*
 * Fills the tables. With other weights than those of a bond, the buckets of `table` stay where they
 * are as far as the weights allow.
 */
void simulate_share_out(struct simulate *simulate);

void simulate_generate(struct simulate *simulate);
/* Returns 0, or an error if the file cannot be read to its end. */
int simulate_read(struct simulate *simulate, struct err *err);

#endif
