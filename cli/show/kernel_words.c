/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/kernel_words.h"

#include <string.h>

#include "bpf/abi.h"
#include "cli/base/fields.h"
#include "common/mode.h"
#include "lacp/lacp.h"

#define STATE_BITS 8

bool kernel_is_mode(const json_t *bond, uint32_t mode)
{
	return !strcmp(field_text(bond, "mode"), mode_name(mode));
}

bool kernel_has(const json_t *bond, uint32_t traits)
{
	const struct mode *mode = mode_by_name(field_text(bond, "mode"));

	return mode && mode->traits & traits;
}

const char *kernel_link(const json_t *slave)
{
	const char *link = field_text(slave, "mii_status");

	if (!strcmp(link, "going_up"))
		return "going back";
	return !strcmp(link, "going_down") ? "going down" : link;
}

bool kernel_is_active(const json_t *bond, const json_t *slave)
{
	if (kernel_is_mode(bond, XBOND_MODE_ACTIVE_BACKUP) ||
	    kernel_is_mode(bond, XBOND_MODE_8023AD))
		return field_is_true(slave, "active");
	return true;
}

static const json_t *kernel_find_slave(const json_t *bond, const char *name)
{
	const json_t *slave;
	size_t at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		if (name && !strcmp(field_text(slave, "name"), name))
			return slave;
	return NULL;
}

const char *kernel_primary(const json_t *bond)
{
	const char *name = field_text_or(json_object_get(bond, "options"), "primary", NULL);

	return kernel_find_slave(bond, name) ? name : NULL;
}

static unsigned int kernel_state(const json_t *flags)
{
	unsigned int state = 0;
	const json_t *flag;
	size_t at;

	json_array_foreach (flags, at, flag)
		for (unsigned int bit = 0; bit < STATE_BITS; bit++)
			if (!strcmp(json_string_value(flag), lacp_flag_name(bit)))
				state |= 1u << bit;
	return state;
}

unsigned int kernel_actor_state(const json_t *lacp)
{
	return kernel_state(json_object_get(lacp, "actor_state"));
}

unsigned int kernel_partner_state(const json_t *lacp)
{
	if (json_is_null(json_object_get(lacp, "partner_system")))
		return KERNEL_NO_PARTNER_STATE;
	return kernel_state(json_object_get(lacp, "partner_state"));
}
