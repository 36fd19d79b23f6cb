/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is handed over, and how far it is: shared by the files of this folder. */
#ifndef XBOND_DAEMON_HANDOVER_HANDOVER_PLAN_H
#define XBOND_DAEMON_HANDOVER_HANDOVER_PLAN_H

#include <jansson.h>
#include <limits.h>

#include "daemon/bond/daemon.h"
#include "daemon/handover/handover.h"
#include "daemon/manage/requests.h"
#include "network/netconf.h"
#include "options/option_set.h"

#define HANDOVER_DEVICES_MAX 1024
#define HANDOVER_NO_DEVICE INT_MAX /* the kernel refuses what is for it */

/* The bond, or a device on it. Nothing below it comes after it in the plan. */
struct handover_device {
	char name[XBOND_NAME_SIZE];	/* before and after */
	char new_name[XBOND_NAME_SIZE]; /* of the new one, until the names change over */
	char old_name[XBOND_NAME_SIZE]; /* of the old one, from then on */
	char kind[16];			/* of the old one */
	int old, new;			/* ifindexes; new: 0: there is none yet */
	int lower; /* its lower device's index in the plan; -1: it is the bond */
	bool is_up;
	bool has_master;
};

struct handover_slave {
	char name[XBOND_NAME_SIZE];
	int ifindex;
	unsigned int port; /* its number in LACPDUs */
	bool has_link;
	bool is_down;  /* an administrator had set it down */
	bool is_first; /* to change over */
	json_t *options;
};

struct handover_side;

struct handover {
	struct daemon *daemon;
	enum handover_kind kind;
	bool is_untouched; /* nothing old has changed but that slaves which go first have left */
	bool is_ending;	   /* the new bond has everything; the old one is being removed */
	char old_kind[16]; /* bond or team: what the kernel's is; "" if the old one is xbond's */
	json_t *options;   /* of the new bond */
	uint8_t mac[XBOND_MAC_SIZE];
	uint32_t mtu;
	struct handover_device *devices; /* the first is the bond */
	size_t device_count;
	struct handover_slave slaves[XBOND_MAX_SLAVES];
	size_t slave_count;
	struct netconf conf; /* of the old devices */
	bool has_chains;     /* of nftables: the old bond */
	json_t *notes;	     /* borrowed; NULL: nobody reads them */
	const struct handover_words *words;
	const struct handover_side *old_side, *new_side;
	/* How far it is: handover.c */
	unsigned int stage;
	size_t next_slave;	/* of those that the stage moves or waits for */
	uint64_t wait_until_ns; /* for those that have been moved */
	uint64_t looked_ns;	/* at them, the last time */
	bool has_switched;	/* the new bond has the names and addresses */
	bool is_hurried;	/* waits for no slave */
};

struct handover_words {
	const char *name; /* in the journal, in events and in the log */
	const char *done; /* what the bond is then */
};

const struct handover_words *handover_words(enum handover_kind kind);
struct handover *handover_new(struct daemon *daemon, enum handover_kind kind, json_t *notes);
void handover_free(struct handover *plan);
#define handover_note(plan, ...) request_note((plan)->notes, __VA_ARGS__)

static inline const char *handover_name(const struct handover *plan)
{
	return plan->devices[0].name;
}
/*
 * Reads the old device at this index of the plan. -ENODEV: it is gone; whatever has its number now
 * is another.
 */
int handover_find_old(const struct handover *plan, size_t index, struct link_info *ret_link);
/* The pairs for netconf_apply(): to the new devices, or, with `back`, to the old ones themselves.
 */
struct netconf_device *handover_pairs(const struct handover *plan, bool back);

/*
 * The two kinds of bond between which slaves move: xbond's and the kernel's. Each function says in
 * err what it could not do. ifindex: of the bond.
 */

struct handover_side {
	/* Makes the bond of the plan under this name, up, without IPv6 and without slaves. */
	int (*create)(struct handover *plan, const char *name, struct err *err);
	/* Adds the slave, which has no master, or gives one that it has its options. */
	int (*add)(struct handover *plan, int ifindex, const struct handover_slave *slave,
		   struct err *err);
	/* Frees the slave. */
	int (*release)(struct handover *plan, int ifindex, const struct handover_slave *slave,
		       struct err *err);
	bool (*has)(struct handover *plan, int ifindex, const struct handover_slave *slave);
	/* The slave carries traffic, as far as its link and LACP allow. */
	bool (*uses)(struct handover *plan, int ifindex, const struct handover_slave *slave);
	/* The bond has all its slaves. */
	int (*complete)(struct handover *plan, int ifindex, struct err *err);
	/* Its name, MTU, address or state was changed. */
	void (*hear)(struct handover *plan, int ifindex);
	/* Frees all slaves and removes the bond with what is on it. */
	int (*remove)(struct handover *plan, int ifindex, struct err *err);
};

extern const struct handover_side handover_side_kernel, handover_side_xbond;

/* The journal of a handover: the plan as a file. It is replaced as a whole, by a rename. */

#define HANDOVER_DIRECTORY "handover"
#define HANDOVER_SUFFIX ".json"

int handover_journal_write(const struct handover *plan, struct err *err);
void handover_journal_remove(const struct handover *plan);
/*
 * name: of the bond. -ENOENT: there is none of this boot; -EPROTO: it cannot be read, and err says
 * why.
 */
int handover_journal_read(struct daemon *daemon, const char *name, struct handover **ret_plan,
			  struct err *err);

/* Finds out what is to be handed over, and refuses what cannot be. Changes nothing. */

/* given: options that the user wants otherwise, {NAME: TEXT}; NULL: none. */
int handover_survey(struct handover *plan, const char *name, const json_t *given, struct err *err);
/*
 * What has come on the old devices or has gone while a slave was waited for: addresses, routes,
 * masters and the like are in the plan and in its journal then, and slaves that others have taken
 * out are no more. From then on the old devices are changed.
 */
int handover_survey_now(struct handover *plan, struct err *err);
/* The same. Refuses what has come and would be lost. */
int handover_survey_again(struct handover *plan, struct err *err);

/* Of both looks. Is the master of a device, and is a name, no hindrance? */
int handover_check_master(const struct link_list *links, const struct link_info *link,
			  struct err *err);
int handover_check_name(const struct link_list *links, const char *name, struct err *err);
/* Reads the addresses, routes and the like of the old devices into the plan. */
int handover_survey_conf(struct handover *plan, struct err *err);
/* The slave's options, if it is one of a kernel bond. */
void handover_survey_options(struct handover *plan, struct handover_slave *slave);

/* The steps of a handover. Each says in err what it could not do. */

/* The new bond and what is on it, asleep, under their meanwhile names. */
int handover_prepare(struct handover *plan, struct err *err);
/* Names, masters, addresses, routes: from the old devices to the new ones. */
int handover_switch(struct handover *plan, struct err *err);
/* Moves a slave from the old bond to the new one. */
int handover_move(struct handover *plan, const struct handover_slave *slave, struct err *err);
/* Does the new bond use the slave, if that has a link? */
bool handover_is_used(struct handover *plan, const struct handover_slave *slave);
/* Removes the old bond, which has nothing any more. */
int handover_end(struct handover *plan, struct err *err);
/* Of steps and undo. Adds a slave to one side. Whoever adds one sets it up. */
int handover_add(struct handover *plan, const struct handover_side *side, int bond,
		 const struct handover_slave *slave, bool is_down, struct err *err);
int handover_rename(struct nl *nl, int ifindex, const char *name, struct err *err);

/*
 * Everything is with the old bond again, whatever was done. Goes on after what it cannot do.
 * -ESTALE: another attempt cannot do more.
 */
int handover_undo(struct handover *plan, struct err *err);

/* Tests let a step fail here (XBOND_TEST_FAIL_AT=STEP), or let bondd die. */
int handover_passed(const char *step, struct err *err);

#endif
