/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of one request or configuration section: parsed, each at most once. */
#ifndef XBOND_OPTIONS_OPTION_SET_H
#define XBOND_OPTIONS_OPTION_SET_H

#include <jansson.h>

#include "options/options.h"

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
/* Every given one may be set on a bond that exists. */
int option_set_check_set(const struct option_set *set, struct err *err);
/* The mode that the set asks for, or `otherwise` if it asks for none. */
uint32_t option_set_mode(const struct option_set *set, uint32_t otherwise);
/* Every given one may be set in the mode that the set asks for, or in this one. */
int option_set_check_mode(const struct option_set *set, uint32_t mode, struct err *err);
/* Every given one may be set on this bond, as its device was or is to be made (values_fill()). */
int option_set_check_device(const struct option_set *set, const struct xbond_bond *bond,
			    struct err *err);

#endif
