/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/fields.h"
#include "cli/base/news.h"
#include "cli/base/terminal.h"
#include "common/mode.h"

#define NOTE_SIZE 128

static bool text_option_is_default(const struct option_spec *option, const char *text)
{
	struct option_value value;

	return !option_parse(option, text, &value, NULL) && option_is_default(option, &value);
}

/* How the options of one bond are printed. */
struct manner {
	uint32_t mode;
	bool lacp_rr; /* lacp_tx balance-rr */
	bool flowlets;
	char counted[NOTE_SIZE - 16]; /* why `path direct` is not in force; "": it may be */
	const char *device;	      /* what the bond is made of; NULL if that is unknown */
	const char *lead; /* before the first, if only some are printed; NULL: all, one a line */
	int column;	  /* how far the line is printed */
};

/* Why the option has no effect; NULL if it has one. */
static const char *text_option_idle(const struct option_spec *option, const struct manner *manner)
{
	if (!option_has_effect(option, manner->mode))
		return "no effect in this mode";
	if (option->id == OPT_REBALANCE_INTERVAL && manner->flowlets)
		return "no effect with flowlet_gap";
	if (!mode_has(manner->mode, MODE_LACP))
		return NULL;
	if (option->needs == MODE_TURNS && !manner->lacp_rr)
		return "no effect with lacp_tx hash";
	if (option->effect == MODE_HASH && manner->lacp_rr)
		return "no effect with lacp_tx balance-rr";
	return NULL;
}

/* What must be said of the value; "" if nothing. */
static const char *text_option_note(const struct option_spec *option, const char *text,
				    const struct manner *manner)
{
	const char *idle = text_option_idle(option, manner);

	if (option->id == OPT_PATH && *manner->counted && !strcmp(text, "direct"))
		return manner->counted;
	if (option->id == OPT_DEVICE && manner->device && strcmp(text, manner->device))
		return manner->device;
	return idle ? idle : "";
}

/* "lead NAME VALUE (NOTE), NAME VALUE", broken before TEXT_WIDTH. */
static void text_option_append(struct manner *manner, const char *name, const char *text,
			       const char *note)
{
	char item[OPTION_TEXT_SIZE + NOTE_SIZE];
	int length = snprintf(item, sizeof(item), "%s %s%s%s%s", name, text, *note ? " (" : "",
			      note, *note ? ")" : "");

	if (manner->column && manner->column + 2 + length + 1 > TEXT_WIDTH) {
		printf(",\n");
		manner->column = printf("    ");
	} else if (manner->column) {
		manner->column += printf(", ");
	} else {
		manner->column = printf("  %s ", manner->lead);
	}
	printf("%s", item);
	manner->column += length;
}

static void text_option_print(const struct option_spec *option, const json_t *value,
			      struct manner *manner)
{
	char text[OPTION_TEXT_SIZE];
	const char *note;
	bool is_default;

	field_option_text(value, text, sizeof(text));
	is_default = text_option_is_default(option, text);
	note = text_option_note(option, text, manner);
	if (is_default && (manner->lead || text_option_idle(option, manner)))
		return;
	if (manner->lead) {
		text_option_append(manner, option->name, text, note);
		return;
	}
	printf("    %-20s %s%s%s%s\n", option->name, text, *note ? "   (" : "", note,
	       *note ? ")" : "");
}

/* What stands elsewhere is left out. */
static bool text_option_is_shown(const struct option_spec *option, enum option_scope scope)
{
	return option->scope == scope && option->id != OPT_MODE && option->id != OPT_ACTIVE_SLAVE &&
	       !option->is_alias;
}

static void text_options_print(const json_t *options, enum option_scope scope, struct manner manner)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		const json_t *value = json_object_get(options, option->name);

		if (value && text_option_is_shown(option, scope) &&
		    !(manner.lead && id == OPT_WEIGHT))
			text_option_print(option, value, &manner);
	}
	if (manner.column)
		printf("\n");
}

static struct manner text_options_manner(const json_t *bond, const char *lead)
{
	return (struct manner){
		.mode = field_option_number(bond, "mode"),
		.flowlets = field_option_number(bond, "flowlet_gap") > 0,
		.lacp_rr = field_option_number(bond, "lacp_tx") == XBOND_LACP_TX_BALANCE_RR,
		.device = field_text_or(bond, "device", NULL),
		.lead = lead,
	};
}

static void text_options_of_bond(const json_t *bond, bool forced_counted, const char *lead)
{
	struct manner manner = text_options_manner(bond, lead);

	if (forced_counted)
		snprintf(manner.counted, sizeof(manner.counted), "counted for now: %s",
			 counted_why_now(field_text(bond, "name")));
	text_options_print(json_object_get(bond, "options"), OPTION_BOND, manner);
}

void text_options_bond(const json_t *bond, bool forced_counted)
{
	text_options_of_bond(bond, forced_counted, "options");
}

void text_options_all_of_bond(const json_t *bond, bool forced_counted)
{
	text_options_of_bond(bond, forced_counted, NULL);
}

void text_options_slave(const json_t *bond, const json_t *slave)
{
	char lead[64];

	snprintf(lead, sizeof(lead), "options of %s", field_text(slave, "name"));
	text_options_print(json_object_get(slave, "options"), OPTION_SLAVE,
			   text_options_manner(bond, lead));
}

void text_options_all_of_slave(const json_t *bond, const json_t *slave)
{
	text_options_print(json_object_get(slave, "options"), OPTION_SLAVE,
			   text_options_manner(bond, NULL));
}
