/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one option table: names, values, limits, modes, defaults, help. It serves the command line,
 * help, JSON, the configuration file and the test of the manual. It knows where a value lives in
 * the maps, but not who sets it.
 */
#ifndef XBOND_OPTIONS_OPTIONS_H
#define XBOND_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"

enum option_scope { OPTION_BOND, OPTION_SLAVE };
enum option_type {
	OPTION_ENUM,   /* by name or number */
	OPTION_UINT,   /* a number, or one of the named values (auto, random) */
	OPTION_INT,    /* a number with a sign, of 32 bits; kept as a u32 */
	OPTION_BOOL,   /* on|off, yes|no, 1|0 */
	OPTION_IFNAME, /* a slave's name; "" or none clears */
	OPTION_MAC,    /* a unicast MAC; none or all zeroes clears */
	/* Up to XBOND_MAX_TARGETS addresses of hosts; none clears. option_set.h has more. */
	OPTION_IPV4_LIST,
	OPTION_IPV6_LIST,
	OPTION_ADDRESS, /* one IPv4 or IPv6 address of a host; none clears */
};
enum option_home {
	/* struct xbond_settings: bondctl writes it, and it acts without bondd ("steering"). */
	OPTION_IN_SETTINGS,
	OPTION_IN_BOND,	 /* struct xbond_bond: bondd writes it */
	OPTION_IN_SLAVE, /* struct xbond_slave: bondd writes it */
	OPTION_NOWHERE,	 /* not kept: force is a word of the call, up one of the file */
};

/* Identifies the options whose value is not a plain u32 at an offset, and those that code names. */
enum option_id {
	OPT_MODE,
	OPT_PATH,
	OPT_XMIT_HASH_POLICY,
	OPT_SYMMETRIC,
	OPT_IP6_FLOW_LABEL,
	OPT_PACKETS_PER_SLAVE,
	OPT_BYTES_PER_SLAVE,
	OPT_PRIMARY,
	OPT_PRIMARY_RESELECT,
	OPT_ACTIVE_SLAVE,
	OPT_FAIL_OVER_MAC,
	OPT_NUM_GRAT_ARP,
	OPT_NUM_UNSOL_NA,
	OPT_PEER_NOTIF_DELAY,
	OPT_RESEND_IGMP,
	OPT_ALL_SLAVES_ACTIVE,
	OPT_MIN_LINKS,
	OPT_MIIMON,
	OPT_UPDELAY,
	OPT_DOWNDELAY,
	OPT_ARP_INTERVAL, /* from here on: of the ARP monitor */
	OPT_ARP_IP_TARGET,
	OPT_ARP_VALIDATE,
	OPT_ARP_ALL_TARGETS,
	OPT_ARP_MISSED_MAX,
	OPT_NS_IP6_TARGET, /* the last of it */
	OPT_BFD_INTERVAL,
	OPT_BFD_MULTIPLIER,
	OPT_BFD_LOCAL,
	OPT_BFD_REMOTE,
	OPT_FLAP_LIMIT,
	OPT_RX_SILENCE,
	OPT_ERROR_LIMIT,
	OPT_RX_HOOK,
	OPT_XDP_TX,
	OPT_MAC_POLICY,
	OPT_HASH_SEED,
	OPT_DEVICE,
	OPT_UP,
	OPT_REBALANCE_INTERVAL, /* from here on: of steering by load */
	OPT_REBALANCE_IDLE,
	OPT_FLOWLET_GAP,
	OPT_TLB_DYNAMIC_LB,
	OPT_LP_INTERVAL,
	OPT_LACP_RATE, /* from here on: of 802.3ad */
	OPT_LACP_ACTIVE,
	OPT_LACP_TX,
	OPT_AD_SELECT,
	OPT_AD_ACTOR_SYS_PRIO,
	OPT_AD_ACTOR_SYSTEM,
	OPT_AD_USER_PORT_KEY,
	OPT_COUPLED_CONTROL,
	OPT_BROADCAST_NEIGHBOR,
	OPT_MAX_LINKS,
	OPT_LACP_REVERT,
	OPT_LACP_WTR,
	OPT_MIN_LINKS_LACP,
	OPT_LACP_PARTNER,
	OPT_LACP_STRICT,
	OPT_LACP_FALLBACK,
	OPT_LACP_FALLBACK_DELAY,
	OPT_LACP_HOLD,
	OPT_DRAIN_MARKERS,
	OPT_WEIGHT, /* from here on: of a slave */
	OPT_DRAIN,
	OPT_ACTOR_PORT_PRIO,
	OPT_QUEUE_ID,
	OPT_PRIO,
	OPT_FORCE,
	OPT_COUNT,
};

#define OPTION_VALUES_SIZE 160
#define OPTION_ADDRESS_SIZE 64 /* one address as text, and more than the longest has */
#define OPTION_TEXT_SIZE 768   /* any value as text */

struct option_name {
	const char *name;
	uint32_t number;
};

struct option_spec {
	enum option_id id;
	enum option_scope scope;
	const char *name;
	enum option_type type;
	enum option_home home;
	size_t offset;	     /* of the u32 (or name, or MAC) in its home */
	const char *initial; /* the default, as a user would write it */
	const char *help;    /* one line */
	/*
	 * Ends with a NULL name; aliases follow the name they stand for. NULL: there are none, or
	 * they are those of the modes.
	 */
	const struct option_name *names;
	const char *word; /* allowed too; option_parse() makes a number of it */
	uint32_t min, max;
	/* Refused in modes without one of these traits (enum mode_trait); 0: allowed in all. */
	uint32_t needs;
	/* Kept, and without effect, in modes without one of these; 0: as needs says. */
	uint32_t effect;
	bool in_file;  /* and nowhere else: it says what to do when bondd has made the bond */
	bool is_alias; /* another name for the option of the row before */
};

struct option_value {
	uint32_t number;
	char name[XBOND_NAME_SIZE];  /* OPTION_IFNAME */
	uint8_t mac[XBOND_MAC_SIZE]; /* OPTION_MAC */
	/* Lists of addresses; an IPv4 address is in the first four bytes. */
	uint8_t address[XBOND_MAX_TARGETS][16];
	struct xbond_address host; /* OPTION_ADDRESS */
	bool is_drawn;		   /* by chance: hash_seed random */
};

/* Index over all options, 0..OPT_COUNT-1, in the order of enum option_id. */
const struct option_spec *option_at(enum option_id id);
/* NULL if there is none of that name in that scope. */
const struct option_spec *option_find(enum option_scope scope, const char *name);

/* The i-th name that its value may have, aliases included. Returns false behind the last one. */
bool option_name_at(const struct option_spec *option, unsigned int i, struct option_name *ret_name);
/* NULL if the number has no name. */
const char *option_name_by_number(const struct option_spec *option, uint32_t number);
/* The allowed values in words, as help and messages have them: "on|off", "0..65535". */
const char *option_values(const struct option_spec *option, char ret_text[OPTION_VALUES_SIZE]);

/*
 * Turns text into a value. On failure it returns -EINVAL, with one line in err that names the
 * option, the text and what is allowed.
 */
int option_parse(const struct option_spec *option, const char *text, struct option_value *ret_value,
		 struct err *err);
/* Turns a value into text that option_parse() takes. */
void option_format(const struct option_spec *option, const struct option_value *value,
		   char *ret_text, size_t size);

static inline bool option_is_list(const struct option_spec *option)
{
	return option->type == OPTION_IPV4_LIST || option->type == OPTION_IPV6_LIST;
}

/* The default, as the table has it. Of hash_seed each is drawn anew. */
struct option_value option_initial(const struct option_spec *option);
/* Every hash_seed counts as the default, because the default is to draw one. */
bool option_is_default(const struct option_spec *option, const struct option_value *value);
bool option_value_is_same(const struct option_value *a, const struct option_value *b);

/* May it be set in this mode? */
bool option_is_of_mode(const struct option_spec *option, uint32_t mode);
typedef bool option_of_mode(const struct option_spec *option, uint32_t mode);
#define OPTION_MODES_SIZE 128
/* "mode A", or "modes A, B": of which of_mode() says yes. */
void option_list_modes(const struct option_spec *option, option_of_mode *of_mode,
		       char ret_text[OPTION_MODES_SIZE]);
/* Returns 0 if it may, otherwise -EACCES with one line in err. */
int option_check_mode(const struct option_spec *option, uint32_t mode, struct err *err);
bool option_has_effect(const struct option_spec *option, uint32_t mode);

#endif
