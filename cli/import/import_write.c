/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of all that was found: it is settled, and written as xbond's configuration. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "options/config_file.h"

/*
 * When all is read: takes out the bonds that were refused. Of the others, takes out options that
 * xbond refuses in the bond's mode, and those that the other tool, or the kernel's driver below it,
 * refuses or ignores and xbond would act on. With these, xbond would do what the other tool never
 * did.
 */

#define IN(mode) (1u << XBOND_MODE_##mode)
#define PROBING (IN(BALANCE_RR) | IN(ACTIVE_BACKUP) | IN(BALANCE_XOR) | IN(BROADCAST))

static const struct {
	enum option_id id;
	unsigned int modes;  /* in which the driver acts on it */
	uint32_t idle;	     /* a number up to which it has no effect here, either */
	bool of_driver_only; /* other tools have it in all modes of xbond's */
	const char *why;
} rules[] = {
	{ OPT_ARP_INTERVAL, PROBING, 0, true, "kernel bonding does not probe in this mode" },
	{ OPT_ARP_VALIDATE, PROBING, 0, true, "kernel bonding does not probe in this mode" },
	{ OPT_ARP_MISSED_MAX, PROBING, 0, true, "kernel bonding does not probe in this mode" },
	{ OPT_MIN_LINKS, IN(8023AD), 1, false,
	  "kernel bonding ignores it in this mode, and xbond would not" },
};

static const struct import_option *import_driver_number(const struct import_bond *bond,
							enum option_id id)
{
	const struct import_option *option = import_find_option(&bond->options, id);

	return option && option->value.number ? option : NULL;
}

static bool import_is_of_driver(const struct import *import, const struct import_bond *bond)
{
	return import->is_of_driver && !bond->is_not_of_driver;
}

static const char *import_driver_refuses(const struct import *import,
					 const struct import_bond *bond,
					 const struct import_option *option, uint32_t mode)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].id == option->id && !(rules[i].modes & 1u << mode) &&
		    option->value.number > rules[i].idle &&
		    (import_is_of_driver(import, bond) || !rules[i].of_driver_only))
			return rules[i].why;
	if (import_is_of_driver(import, bond) && option->id == OPT_ARP_INTERVAL &&
	    option->value.number && import_driver_number(bond, OPT_MIIMON))
		return "kernel bonding does not probe if miimon is set; to probe, "
		       "leave miimon out";
	return NULL;
}

/* Why an option of the bond or a slave cannot be as the tool had it in this mode; NULL: it can. */
static const char *import_unsettled(const struct import *import, const struct import_bond *bond,
				    const struct import_option *option, uint32_t mode,
				    struct err *err)
{
	const struct option_spec *spec = option_at(option->id);

	if (!option_check_mode(spec, mode, err))
		return import_driver_refuses(import, bond, option, mode);
	return option_is_default(spec, &option->value) ? "" : err->text;
}

static void import_settle_options(struct import *import, const struct import_bond *bond,
				  struct import_options *options, uint32_t mode)
{
	size_t kept = 0;
	struct err err;

	for (size_t i = 0; i < options->count; i++) {
		const struct import_option option = options->list[i];
		const char *why = import_unsettled(import, bond, &option, mode, &err);

		if (!why)
			options->list[kept++] = option;
		else if (*why)
			import_lost(import, bond, &option.line, "%s", why);
	}
	options->count = kept;
}

/* A number means one slave. */
static void import_settle_queue_ids(struct import *import, struct import_bond *bond)
{
	for (size_t i = 0; i < bond->slave_count; i++) {
		const struct import_options *options = &bond->slaves[i]->options;
		const struct import_option *queue = import_find_option(options, OPT_QUEUE_ID),
					   *other;

		for (size_t j = 0; queue && queue->value.number && j < i; j++) {
			other = import_find_option(&bond->slaves[j]->options, OPT_QUEUE_ID);
			if (!other || other->value.number != queue->value.number)
				continue;
			import_lost(import, bond, &queue->line, "queue_id %u belongs to %s already",
				    queue->value.number, bond->slaves[j]->name);
			import_option(import, bond, bond->slaves[i], OPT_QUEUE_ID, "0", false,
				      &queue->line);
		}
	}
}

/*
 * The option primary takes a name. A slave that is known by its MAC address gets a priority above
 * all others', which makes it the preferred one as well.
 */
static void import_settle_primary(struct import *import, struct import_bond *bond, uint32_t mode)
{
	struct import_bond *of = NULL;
	struct import_slave *primary = import_find_slave(import, bond->primary_mac, &of);
	const struct import_line *line = &bond->primary_line;
	int32_t highest = 0;
	struct err err;

	if (option_check_mode(option_at(OPT_PRIMARY), mode, &err)) {
		import_lost(import, bond, line, "%s", err.text);
		return;
	}
	if (!primary || of != bond) {
		import_lost(import, bond, line, "no slave has this MAC address; set primary DEV");
		return;
	}
	for (size_t i = 0; i < bond->slave_count; i++) {
		const struct import_option *prio =
			import_find_option(&bond->slaves[i]->options, OPT_PRIO);

		if (prio && (int32_t)prio->value.number > highest)
			highest = (int32_t)prio->value.number;
	}
	import_option(import, bond, primary, OPT_PRIO,
		      import_text(import, "%d", highest < INT32_MAX ? highest + 1 : highest), false,
		      line);
	import_changed(import, bond, line,
		       "the primary is given by its MAC address, so it gets the "
		       "highest prio instead");
}

static void import_settle_bond(struct import *import, struct import_bond *bond)
{
	uint32_t mode;

	if (!import_find_option(&bond->options, OPT_MODE))
		import_option(import, bond, NULL, OPT_MODE, "balance-rr", false, &bond->line);
	mode = import_find_option(&bond->options, OPT_MODE)->value.number;
	if (bond->primary_mac)
		import_settle_primary(import, bond, mode);
	import_settle_options(import, bond, &bond->options, mode);
	for (size_t i = 0; i < bond->slave_count; i++)
		import_settle_options(import, bond, &bond->slaves[i]->options, mode);
	import_settle_queue_ids(import, bond);
	if (!bond->slave_count)
		import_changed(import, bond, &bond->line,
			       "no slave was found; add [slave DEV] for each");
}

/* By files, as they were read, and lines. */
static int import_compare_remarks(const void *left, const void *right)
{
	const struct import_remark *a = left, *b = right;

	if (a->line.file->rank != b->line.file->rank)
		return a->line.file->rank < b->line.file->rank ? -1 : 1;
	if (a->line.number != b->line.number)
		return a->line.number < b->line.number ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* What a refused bond's options would do is of no interest, and its mode is not known. */
void import_settle(struct import *import)
{
	size_t kept = 0;

	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (!bond->refused.file) {
			import_settle_bond(import, bond);
			import->bonds[kept++] = bond;
			continue;
		}
		import->refused_bonds = import_grow(import, import->refused_bonds,
						    import->refused_count, sizeof(bond));
		import->refused_bonds[import->refused_count++] = bond;
	}
	import->bond_count = kept;
	if (import->remark_count)
		qsort(import->remarks, import->remark_count, sizeof(*import->remarks),
		      import_compare_remarks);
}

static size_t import_keep_bond(struct import_bond **bonds, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(bonds[i]->name, name)) {
			bonds[0] = bonds[i];
			return 1;
		}
	return 0;
}

bool import_settle_on(struct import *import, const char *bond)
{
	size_t written = import_keep_bond(import->bonds, import->bond_count, bond);
	size_t refused = import_keep_bond(import->refused_bonds, import->refused_count, bond);
	size_t kept = 0;

	if (!written && !refused)
		return false;
	import->bond_count = written;
	import->refused_count = refused;
	import->is_incomplete = false;
	for (size_t i = 0; i < import->remark_count; i++)
		if (!import->remarks[i].bond || !strcmp(import->remarks[i].bond, bond))
			import->remarks[kept++] = import->remarks[i];
	import->remark_count = kept;
	return true;
}

/* The configuration as text, and as files. */

static void import_print_options(FILE *file, const struct import_options *options,
				 enum option_scope scope)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct import_option *option = import_find_option(options, id);

		if (option && option_at(id)->scope == scope)
			config_write_option(file, option_at(id), &option->value);
	}
}

static void import_print(FILE *file, const struct import *import, const struct import_bond *bond)
{
	fprintf(file, "# Written by bondctl import %s; see xbond.conf(5).\n[bond]\n", import->tool);
	import_print_options(file, &bond->options, OPTION_BOND);
	for (size_t i = 0; i < bond->slave_count; i++) {
		fprintf(file, "\n[slave %s]\n", bond->slaves[i]->name);
		import_print_options(file, &bond->slaves[i]->options, OPTION_SLAVE);
	}
}

int import_configuration(struct import *import, const struct import_bond *bond,
			 const char **ret_text, struct err *err)
{
	struct config_file parsed;
	char *text = NULL;
	size_t size;
	FILE *file = memory_need(open_memstream(&text, &size));
	int r;

	import_print(file, import, bond);
	if (fclose(file))
		return err_set(err, errno, "%m");
	*ret_text = import_text(import, "%s", text);
	r = config_file_read_stream(&parsed, fmemopen(text, size, "r"), bond->name, err);
	if (!r)
		config_file_free(&parsed);
	free(text);
	return r;
}

const char *import_target(struct import *import, const char *dir, const struct import_bond *bond)
{
	return import_text(import, "%s/%s" PATHS_CONFIG_SUFFIX, dir, bond->name);
}

static int import_write_temporary(int fd, const char *text)
{
	FILE *file = fdopen(fd, "w");

	if (!file) {
		int r = -errno;

		close(fd);
		return r;
	}
	fputs(text, file);
	return config_write_end(file, NULL);
}

/* The file gets its name when it is complete; link() refuses a name that is taken. */
static int import_write_one(struct import *import, const char *dir, const struct import_bond *bond,
			    struct err *err)
{
	const char *path = import_target(import, dir, bond), *text;
	char *temporary = import_text(import, "%s/.%s.XXXXXX", dir, bond->name);
	int r = import_configuration(import, bond, &text, err), fd;

	if (r)
		return r;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "%s: %m", temporary);
	r = import_write_temporary(fd, text);
	if (!r && link(temporary, path))
		r = -errno;
	unlink(temporary);
	if (r == -EEXIST)
		return err_set(err, EEXIST, "%s exists already; move it away first", path);
	return r ? err_set(err, -r, "%s: %s", path, strerror(-r)) : 0;
}

int import_write(struct import *import, const char *dir, struct import_bond *const *bonds,
		 size_t count, struct err *err)
{
	int r = paths_make_dir(dir, 0755);
	size_t done = 0;

	if (r)
		return err_set(err, -r, "%s: %s", dir, strerror(-r));
	for (; done < count && !r; done++)
		r = import_write_one(import, dir, bonds[done], err);
	if (r)
		for (done--; done; done--)
			unlink(import_target(import, dir, bonds[done - 1]));
	config_write_sync_dir(dir);
	return r;
}
