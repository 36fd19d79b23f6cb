/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_check.h"

#include <errno.h>
#include <string.h>

#include "options/option_together.h"
#include "options/values.h"

/* It has a place, so somebody has set it, but the value was refused. */
static bool config_check_is_unknown(const struct config_file *file, enum option_id id)
{
	return file->at[id].line && !file->bond.given[id];
}

static void config_check_modes(const struct option_set *set, const struct config_place *at,
			       uint32_t mode, struct config_mistakes *mistakes)
{
	struct err why;

	for (int id = 0; id < OPT_COUNT; id++)
		if (set->given[id] && option_check_mode(option_at(id), mode, &why))
			config_mistakes_add(mistakes, at[id], why.text);
}

/* The mode may come after an option that it refuses. */
static void config_check_all_modes(const struct config_file *file, struct config_mistakes *mistakes)
{
	uint32_t mode = option_set_mode(&file->bond, option_initial(option_at(OPT_MODE)).number);

	if (config_check_is_unknown(file, OPT_MODE))
		return;
	config_check_modes(&file->bond, file->at, mode, mistakes);
	for (size_t i = 0; i < file->slave_count; i++)
		config_check_modes(&file->slaves[i].options, file->slaves[i].at, mode, mistakes);
}

/* The later one of the options; NULL: a value is not known. */
static const struct config_place *config_check_place(const struct config_file *file,
						     const struct option_together *together)
{
	static const struct config_place nowhere;
	const struct config_place *last = &nowhere;

	for (unsigned int i = 0; i < together->involved_count; i++) {
		const struct config_place *place = &file->at[together->involved[i]];

		if (config_check_is_unknown(file, together->involved[i]))
			return NULL;
		if (place->line && (place->file > last->file ||
				    (place->file == last->file && place->line > last->line)))
			last = place;
	}
	return last;
}

static void config_check_together(const struct config_file *file, struct config_mistakes *mistakes)
{
	const struct option_together *together;
	struct xbond_settings settings = { 0 };
	struct xbond_bond bond = { 0 };
	struct err why;

	values_fill(&bond, &settings, &file->bond);
	for (unsigned int i = 0; (together = option_together_at(i)); i++) {
		const struct config_place *place = config_check_place(file, together);

		if (place && place->line && together->check(&bond, &why))
			config_mistakes_add(mistakes, *place, why.text);
	}
}

static void config_check_device(const struct config_file *file, struct config_mistakes *mistakes)
{
	struct xbond_settings settings = { 0 };
	struct xbond_bond bond = { 0 };
	struct err why;

	values_fill(&bond, &settings, &file->bond);
	if (option_set_check_device(&file->bond, &bond, &why))
		config_mistakes_add(mistakes, file->at[OPT_PATH], why.text);
}

static void config_check_queue_ids(const struct config_file *file, struct config_mistakes *mistakes)
{
	char text[MAC_FORMAT_SIZE];
	struct err why;

	for (size_t i = 0; i < file->slave_count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct config_slave *slave = &file->slaves[i];
			const struct config_slave *other = &file->slaves[j];
			uint32_t number = slave->options.value[OPT_QUEUE_ID].number;

			if (!slave->options.given[OPT_QUEUE_ID] || !number ||
			    !other->options.given[OPT_QUEUE_ID] ||
			    other->options.value[OPT_QUEUE_ID].number != number)
				continue;
			err_set(&why, EEXIST, "queue_id: %u is the number of %s; choose another",
				number, config_slave_name(other, text));
			config_mistakes_add(mistakes, slave->at[OPT_QUEUE_ID], why.text);
		}
}

static void config_check_count(const struct config_file *file, struct config_mistakes *mistakes)
{
	struct err why;

	if (file->slave_count <= XBOND_MAX_SLAVES)
		return;
	err_set(&why, ENOSPC, "one slave too many; a bond can have %d", XBOND_MAX_SLAVES);
	config_mistakes_add(mistakes, file->slaves[XBOND_MAX_SLAVES].place, why.text);
}

/* It may be added by hand, so the file is right; but a name that is mistyped looks the same. */
static void config_check_primary(const struct config_file *file, struct config_mistakes *mistakes)
{
	const char *primary = file->bond.value[OPT_PRIMARY].name;

	if (!file->bond.given[OPT_PRIMARY] || !*primary)
		return;
	for (size_t i = 0; i < file->slave_count; i++)
		if (config_slave_is_by_mac(&file->slaves[i]) ||
		    !strcmp(file->slaves[i].name, primary))
			return;
	config_mistakes_warn(
		mistakes, file->at[OPT_PRIMARY],
		"primary: %s is not a slave in this file; it has no effect until it is one",
		primary);
}

void config_check(struct config_file *file, struct config_mistakes *mistakes)
{
	config_check_all_modes(file, mistakes);
	config_check_together(file, mistakes);
	config_check_device(file, mistakes);
	config_check_queue_ids(file, mistakes);
	config_check_count(file, mistakes);
	config_check_primary(file, mistakes);
	if (file->bond.value[OPT_HASH_SEED].is_drawn)
		file->bond.given[OPT_HASH_SEED] = false;
}
