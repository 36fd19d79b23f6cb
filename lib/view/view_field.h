/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown: tables with a row for each field. From a row follow its JSON, its metric, and its
 * entries in a schema and in a manual, which tests/tools/fields.c makes. The tables of bonds, their
 * slaves and LACP ports are in view/, those of other verbs with what else the verb does.
 */
#ifndef XBOND_VIEW_VIEW_FIELD_H
#define XBOND_VIEW_VIEW_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/pins.h"
#include "common/readings.h"
#include "lacp/lacp.h"

struct view_packets {
	struct xbond_counters all, afxdp; /* afxdp: how many of them */
};

/* What the values are read from. */
struct view_source {
	const struct pins *pins;	 /* NULL: the bond is of another ABI version, or damaged */
	const char *name;		 /* of the bond */
	uint32_t abi;			 /* without pins: that version */
	bool bondd;			 /* it runs and answers */
	const struct loop_figures *loop; /* NULL: unknown */
	const struct lacp_system *lacp;	 /* NULL: not in mode 802.3ad */
	struct view_packets packets[XBOND_DROPS_OF_BOND + 1]; /* by slot */
	const struct client_entry *clients;		      /* of balance-alb */
	int client_count;
	unsigned int bonds; /* how many have pins; for the metrics */
};

/* Where a row is read. */
struct view_place {
	const struct view_source *source; /* NULL: no row needs it, nor the slot */
	unsigned int slot;		  /* XBOND_DROPS_OF_BOND: of the bond as a whole */
	const void *at;			  /* the struct that the offsets of the table are in */
	const struct view_field *field;	  /* for `read` */
};

static inline const struct pins *view_pins(const struct view_place *place)
{
	return place->source->pins;
}

enum view_type {
	VIEW_COUNT,
	VIEW_REAL, /* below 0 means unknown if null is set */
	VIEW_TRUTH,
	VIEW_TEXT,
	VIEW_STRING, /* text that the member points to, one of `word` if it has some; NULL: unknown
		      */
	VIEW_MAC,    /* null: unknown */
	VIEW_WORD,   /* one of those that `word` has */
	VIEW_WORDS,  /* an array of them; without `word`, of any text */
	VIEW_TEXTS,  /* an object of texts, each of which may be missing; `word` has their names.
		      * Without it any names, and null.
		      */
	VIEW_OBJECT, /* with the fields of `table` */
	VIEW_ARRAY,  /* of such objects */
	VIEW_FIELDS, /* the fields of `table` stand here, in the same object */
	VIEW_OPTIONS,
	VIEW_DROPS, /* of what `index` says: a slot, or XBOND_DROPS_OF_BOND */
};

enum view_metric_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_INFO, METRICS_HISTOGRAM };

struct view_metric {
	enum view_metric_type type;
	/* Without the suffix that its type adds to samples (_total, _info). NULL: it is none. */
	const char *name;
	const char *help; /* NULL: what the row means */
	const char *unit; /* the end of the name; NULL: it has none */
	const char *of;	  /* the label that has the bond's name; NULL: bond */
	/*
	 * Besides those of the bond and the slave. INFO: each is a member of the value. Others: the
	 * value has a number for each value of this label.
	 */
	const char *labels;
	double scale;	/* 0: 1 */
	const char *is; /* a word for which the number is 1 */
};

struct view_field {
	const char *name; /* in JSON; NULL: not in it */
	enum view_type type;
	const char *means;   /* sentences for the manuals */
	const char *more;    /* what the metric's entry in its manual says beyond its help */
	size_t offset, size; /* of the member that has the value; 0 means unknown if null is set */
	/* NULL: as type, offset and size say. It returns NULL if the field is not there. */
	json_t *(*read)(const struct view_place *place);
	const char *(*word)(unsigned int number); /* NULL: no such word */
	const struct view_table *table;
	/* Of the table. NULL: the member itself. It returns NULL if it is unknown. */
	const void *(*base)(const struct view_place *place);
	size_t index;	/* for read */
	json_int_t max; /* of the number, for the schema; 0: any */
	uint32_t needs; /* only in modes with this trait */
	bool null;	/* the value may be unknown */
	bool optional;	/* it need not be there */
	bool foreign;	/* known of a bond whose maps cannot be read */
	struct view_metric metric;
};

#define VIEW_BYTES_OF_MBIT 125000.0

#define VIEW_IN(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct view_table {
	const char *name; /* of the definition in the schema */
	const struct view_field *fields;
	size_t count;
};

#define VIEW_TABLE(title, rows)                                                          \
	{                                                                                \
		.name = title, .fields = rows, .count = sizeof(rows) / sizeof((rows)[0]) \
	}

extern const struct view_table view_table_bondd, view_table_bond, view_table_slave;
extern const struct view_table view_table_packets_of_bond, view_table_packets_of_slave;
extern const struct view_table view_table_loop, view_table_failovers, view_table_stats;
extern const struct view_table view_table_monitors, view_table_lacp_bond, view_table_lacp_slave;

/* The value as JSON, a new reference; NULL if the field is not there. */
json_t *view_value(const struct view_field *field, const struct view_place *place);
/* The value of the member, whatever `read` says. */
json_t *view_member(const struct view_field *field, const void *at);
/* The same, if it is known also if it is 0. */
json_t *view_known(const struct view_field *field, const void *at);
/* An object of the table's fields, a new reference. NULL in place->at: null. */
json_t *view_object(const struct view_table *table, const struct view_place *place);
/* The same of a struct alone. */
json_t *view_struct(const struct view_table *table, const void *at);
/* The same of each of so many structs in a row, each of so many bytes. */
json_t *view_structs(const struct view_table *table, const void *first, size_t count, size_t size);

/* The counters of the slave, or of the bond, for `base`. */
const void *view_base_packets(const struct view_place *place);
/* The figures of the main loop, for `base`. */
const void *view_base_loop(const struct view_place *place);

/* For `word`, of enum xbond_mode. */
const char *view_mode_word(unsigned int mode);

/* These are for `read`. What others add: */
json_t *view_read_nothing(const struct view_place *place);
/* An object of field->table for each slave: */
json_t *view_read_slaves(const struct view_place *place);
/* The options of the slave, or of the bond: */
json_t *view_read_options(const struct view_place *place);
/* The packets that were dropped, by reason, of the slave, or of the bond as a whole: */
json_t *view_read_drops(const struct view_place *place);
/* Of the histogram in the member an object of field->table for each class that is not empty: */
json_t *view_read_histogram(const struct view_place *place);
/* For a metric, all its classes, and behind them the sum in seconds; index: the offset of it. */
json_t *view_read_classes(const struct view_place *place);

/* Is the field in the JSON of this bond? */
bool view_has(const struct view_field *field, const struct view_source *source);

/*
 * Fills in all that the rows read, for a bond in this mode; room is for source->lacp. Returns 0, or
 * -errno if the counters cannot be read.
 */
int view_source_fill(struct view_source *source, struct lacp_system *room);

#endif
