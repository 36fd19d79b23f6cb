/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files: a bond in memory, its reader, its mistakes, its writer, and the directory.
 */
#ifndef XBOND_OPTIONS_CONFIG_FILE_H
#define XBOND_OPTIONS_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"
#include "common/mac.h"
#include "common/pins.h"
#include "options/option_set.h"
#include "options/options.h"

/*
 * The mistakes of a configuration file, all of them, each with its place. The readers of files fill
 * the list; bondd logs it and `bondctl check` prints it.
 */

#define CONFIG_MISTAKES_MAX 200 /* so many are kept; who reads more? */
#define CONFIG_MISTAKE_SIZE 1400

struct config_mistake {
	char *text; /* "PATH:LINE: why", one line without control characters */
	size_t path_length;
	unsigned int file; /* as in struct config_place */
	int line;
	/* The file is taken all the same. */
	bool is_warning;
};

struct config_mistakes {
	struct config_mistake list[CONFIG_MISTAKES_MAX];
	size_t count;
	size_t errors; /* those that are no warnings, also those that are not kept */
	size_t left_out;
};

struct config_place {
	const char *path;  /* belongs to struct config_file */
	unsigned int file; /* its number, in the order in which the files are read */
	int line;	   /* 0: the file as a whole */
};

/* Only the first mistake of a line is kept. */
void config_mistakes_add(struct config_mistakes *mistakes, struct config_place place,
			 const char *why);
void config_mistakes_warn(struct config_mistakes *mistakes, struct config_place place,
			  const char *format, ...) __attribute__((format(printf, 3, 4)));
/* By file and line. */
void config_mistakes_sort(struct config_mistakes *mistakes);
/* The first one that is no warning becomes the line in err. */
int config_mistakes_first(const struct config_mistakes *mistakes, int code, struct err *err);
/* What stands behind "PATH:LINE: ". */
const char *config_mistake_why(const struct config_mistake *mistake);
void config_mistakes_free(struct config_mistakes *mistakes);

/* The configuration of one bond in memory, wherever it comes from. */

struct config_slave {
	char name[XBOND_NAME_SIZE];	  /* "": it is known by its permanent MAC address */
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: it is known by its name */
	struct option_set options;
	struct config_place place; /* of its first section */
	struct config_place at[OPT_COUNT];
};

struct config_file {
	struct option_set bond;
	struct config_place at[OPT_COUNT]; /* of the bond's options */
	struct config_slave *slaves;
	size_t slave_count;
	char **paths; /* the file, then its drop-ins */
	unsigned int path_count;
};

void config_file_free(struct config_file *file);

struct config_slave *config_file_find_slave(const struct config_file *file,
					    const struct config_slave *like);
/* A new one like this, without options. */
struct config_slave *config_file_add_slave(struct config_file *file,
					   const struct config_slave *like);
/* As its section names it. Any slave's name or MAC address fits. */
const char *config_slave_name(const struct config_slave *slave, char ret_text[MAC_FORMAT_SIZE]);
static inline bool config_slave_is_by_mac(const struct config_slave *slave)
{
	return !slave->name[0];
}
/* The slot of the member that it is; -1: it is none. */
int config_slave_slot(const struct config_slave *slave, const struct pins *pins);

/*
 * The configuration of one bond in memory, as bondd and bondctl read it from BOND.conf and its
 * drop-ins: parsed and checked, but not applied. Also a target of the fuzzers.
 */

#define CONFIG_DROP_INS_SUFFIX ".d" /* BOND.conf.d has the drop-ins of BOND.conf */

/*
 * BOND.conf with its drop-ins: the regular files BOND.conf.d/<name>.conf, by name. An option in a
 * drop-in replaces its value in the files before; slaves join. Returns 0 or -errno, with every
 * mistake in the list, which the caller frees in any case. After success, free the file with
 * config_file_free().
 */
int config_file_read(struct config_file *ret_file, const char *path,
		     struct config_mistakes *ret_mistakes);
/* The same with the first mistake only. */
int config_file_read_or_err(struct config_file *ret_file, const char *path, struct err *err);
/* One file without drop-ins. */
int config_file_read_alone(struct config_file *ret_file, const char *path, struct err *err);

struct config_stream {
	FILE *stream; /* is closed */
	const char *name;
};

/* The first one is the file, the others its drop-ins. */
int config_file_read_streams(struct config_file *ret_file, const struct config_stream *streams,
			     size_t count, struct config_mistakes *ret_mistakes);
/* One stream without drop-ins, and the first mistake only. */
int config_file_read_stream(struct config_file *ret_file, FILE *stream, const char *name,
			    struct err *err);

/* Which bonds CONFIG_DIR has a file for. Called by bondd and bondctl. */

/* CONFIG_DIR/BOND.conf. -ENAMETOOLONG: it does not fit. */
int config_dir_path(char *ret_path, size_t size, const char *config_dir, const char *bond);
/*
 * The names of the bonds, in the order of their bytes, with NULL at the end; free them with
 * memory_free_texts(). A directory that does not exist has none.
 */
int config_dir_bonds(const char *config_dir, char ***ret_names, struct err *err);

/*
 * Lines of a configuration file, written so that config_file.c reads the same. Called by those who
 * make such files (save, import).
 */

/* Would the reader take this name differently from how it is written? Returns 0 or -EINVAL. */
int config_write_check_name(const char *name, struct err *err);
/* One line, or several for a long list. */
void config_write_option(FILE *file, const struct option_spec *option,
			 const struct option_value *value);

/*
 * Ends a file that was written beside its place: complete on disk, closed, and with the permissions
 * and the owner of the file that it will replace. Without one (or with NULL), all may read it.
 * Returns 0 or -errno; it is closed in any case.
 */
int config_write_end(FILE *file, const char *replaced);
/* So that the new name of a file outlives a loss of power. */
void config_write_sync_dir(const char *dir);

/*
 * The lines of one configuration file. Called by config_file.c for a file and for each drop-in.
 * Knows nothing of other files; config_file.c looks at the whole.
 */

/*
 * Adds what the stream says to an empty file, and every mistake to the list. Closes the stream. The
 * first file of a configuration (place.file 0) needs a [bond] section.
 */
void config_parse(struct config_file *file, FILE *stream, struct config_place place,
		  struct config_mistakes *mistakes);

#endif
