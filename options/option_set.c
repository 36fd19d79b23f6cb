/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/names.h"
#include "options/option_set.h"

#include <errno.h>

#include "options/option_address.h"

const struct option_spec *option_set_other_name(const struct option_spec *option)
{
	if (option->is_alias)
		return option_at(option->id - 1);
	return option->id + 1 < OPT_COUNT && option_at(option->id + 1)->is_alias
		       ? option_at(option->id + 1)
		       : NULL;
}

static int option_set_check_other_name(const struct option_set *set,
				       const struct option_spec *option, struct err *err)
{
	const struct option_spec *other = option_set_other_name(option);

	if (!other || !set->given[other->id] ||
	    set->value[other->id].number == set->value[option->id].number)
		return 0;
	return err_set(err, EINVAL,
		       "%s: is another name for %s, which is given with another value; give one "
		       "of them",
		       option->name, other->name);
}

int option_set_add(struct option_set *set, enum option_scope scope, const char *name,
		   const char *text, struct err *err)
{
	const struct option_spec *option = option_find(scope, name);
	int r;

	if (!option)
		return err_set(err, EINVAL, "unknown %s option: %s ('bondctl --help' lists them)",
			       scope == OPTION_BOND ? "bond" : "slave", name);
	if (set->given[option->id])
		return err_set(err, EINVAL, "%s: given twice", name);
	set->given[option->id] = true;
	r = option_parse(option, text, &set->value[option->id], err);
	return r ? r : option_set_check_other_name(set, option, err);
}

int option_set_add_line(struct option_set *set, enum option_scope scope, const char *name,
			const char *text, struct err *err)
{
	const struct option_spec *option = option_find(scope, name);

	if (!option || !option_is_list(option) || !set->given[option->id])
		return option_set_add(set, scope, name, text, err);
	return option_address_add(option, text, &set->value[option->id], err);
}

int option_set_from_json(struct option_set *set, enum option_scope scope, const json_t *object,
			 struct err *err)
{
	char device[XBOND_NAME_SIZE];
	const char *name, *text;
	json_t *value;
	int r;

	*set = (struct option_set){ 0 };
	if (object && !json_is_object(object))
		return err_set(err, EINVAL, "bad request: options is not an object");
	json_object_foreach ((json_t *)object, name, value) {
		if (!json_is_string(value))
			return err_set(err, EINVAL, "bad request: the value of %s is not text",
				       name);
		text = json_string_value(value);
		/* What is longer than a name is no name. */
		r = option_set_add(set, scope, name, name_from_json(value, device) ? device : text,
				   err);
		if (r)
			return r;
	}
	return 0;
}

uint32_t option_set_mode(const struct option_set *set, uint32_t otherwise)
{
	return set->given[OPT_MODE] ? set->value[OPT_MODE].number : otherwise;
}

int option_set_check_mode(const struct option_set *set, uint32_t mode, struct err *err)
{
	int r = 0;

	mode = option_set_mode(set, mode);
	for (int id = 0; id < OPT_COUNT && !r; id++)
		if (set->given[id])
			r = option_check_mode(option_at(id), mode, err);
	return r;
}

int option_set_check_set(const struct option_set *set, struct err *err)
{
	int r = 0;

	for (int id = 0; id < OPT_COUNT && !r; id++)
		if (set->given[id])
			r = option_check_set(option_at(id), err);
	return r;
}

int option_set_check_device(const struct option_set *set, const struct xbond_bond *bond,
			    struct err *err)
{
	if ((bond->device_kind != XBOND_DEVICE_TEAM && bond->device != XBOND_DEVICE_TEAM) ||
	    bond->team_sends || !set->given[OPT_PATH] ||
	    set->value[OPT_PATH].number == XBOND_PATH_DIRECT)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "path: a team that is made for mac_policy filter or fail_over_mac, by an "
		       "older bondd, or by a kernel without team_mode_loadbalance can only send "
		       "directly; leave path out, or create the bond again");
}
