/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options in sets, as a request or a file gives them: each at most once, lists of addresses, and
 * what excludes or needs each other.
 */
#ifndef XBOND_OPTIONS_OPTION_SET_H
#define XBOND_OPTIONS_OPTION_SET_H

#include <jansson.h>

#include "options/options.h"

/* The options of one request or configuration section: parsed, each at most once. */

struct option_set {
	bool given[OPT_COUNT];
	struct option_value value[OPT_COUNT];
};

int option_set_add(struct option_set *set, enum option_scope scope, const char *name,
		   const char *text, struct err *err);
/* The same, but a list that was given before goes on. */
int option_set_add_line(struct option_set *set, enum option_scope scope, const char *name,
			const char *text, struct err *err);
/* The other name of the same option; NULL if it has only one. */
const struct option_spec *option_set_other_name(const struct option_spec *option);
/* From {"NAME": "TEXT", ...}; NULL is no options. */
int option_set_from_json(struct option_set *set, enum option_scope scope, const json_t *object,
			 struct err *err);
/*
 * The given ones as such an object; a new reference. json_of: what a text becomes,
 * json_value_text() or name_to_json().
 */
json_t *option_set_to_json(const struct option_set *set, json_t *(*json_of)(const char *text));
/* The mode that the set asks for, or `otherwise` if it asks for none. */
uint32_t option_set_mode(const struct option_set *set, uint32_t otherwise);
/* Every given one may be set in the mode that the set asks for, or in this one. */
int option_set_check_mode(const struct option_set *set, uint32_t mode, struct err *err);
/* Every given one may be set on this bond, as its device was or is to be made (values_fill()). */
int option_set_check_device(const struct option_set *set, const struct xbond_bond *bond,
			    struct err *err);

/*
 * Values that are lists of IP addresses. Called by options.c, and by those who write a list in
 * parts. A list is as in struct xbond_bond: it ends with the first address that is zero.
 */

/* What is allowed, in words. */
const char *option_address_values(const struct option_spec *option);
/* The bytes of one address of such a list: 4 or 16. */
size_t option_address_size(const struct option_spec *option);
unsigned int option_address_count(const struct option_value *value);
/* The i-th address as text. */
const char *option_address_at(const struct option_spec *option, const struct option_value *value,
			      unsigned int i, char ret_text[OPTION_ADDRESS_SIZE]);

/* Why no host has this address; NULL: one may. An IPv4 address has zeroes behind it. */
const char *option_address_why_not(int family, const uint8_t address[16]);

/*
 * Adds the addresses of a text, which are separated by commas, to a list; "none" adds nothing.
 * Returns -EINVAL, with a line in err, for what can be no target of a monitor, for an address that
 * the list already has, and for one too many.
 */
int option_address_add(const struct option_spec *option, const char *text,
		       struct option_value *value, struct err *err);
/* "none" for an empty list. */
void option_address_format(const struct option_spec *option, const struct option_value *value,
			   char *ret_text, size_t size);

/*
 * Options of a bond that exclude or need each other. bondd asks before it takes options; the reader
 * of configuration files asks, too, so that a file that it takes is not refused later.
 */

#define OPTION_TOGETHER_INVOLVED 4

struct option_together {
	/* Returns 0, or -errno with a line in err that says what does not fit and what to do. */
	int (*check)(const struct xbond_bond *bond, struct err *err);
	enum option_id involved[OPTION_TOGETHER_INVOLVED];
	unsigned int involved_count;
};

/* NULL behind the last one. */
const struct option_together *option_together_at(unsigned int i);
/* The option for which device auto makes no team of the bond, or NULL. */
const char *option_against_team(const struct xbond_bond *bond);
/* Is a device of this kind what the option device, with this value, wants? */
bool option_device_is(uint32_t wanted, uint32_t kind);
/* Is a bond of this kind made anew when it gets this option, and all moved to it? NULL: not given.
 */
bool option_device_converts(const struct option_value *device, uint32_t kind);
/* All of them; the first that refuses. */
int option_together_check(const struct xbond_bond *bond, struct err *err);

#endif
