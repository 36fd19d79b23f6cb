/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What top knows of the bonds, and how it shows it. top_read.c writes it from the maps; the other
 * files show it and know no maps.
 */
#ifndef XBOND_CLI_TOP_TOP_H
#define XBOND_CLI_TOP_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "cli/base/cli.h"
#include "common/err.h"
#include "common/pins.h"

/*
 * Rates out of counters that are read from time to time, and the last of these rates. Pure: knows
 * no maps, no clock and no screen.
 */

#define TOP_SERIES_SIZE 64

/* Per second. */
struct top_rates {
	double tx_bits, rx_bits;
	double tx_packets, rx_packets;
	double rx_dropped;
	double afxdp_tx_bits, afxdp_rx_bits; /* of tx_bits and rx_bits */
};

enum top_direction { TOP_OUT, TOP_IN };

struct top_series {
	struct xbond_counters last, last_afxdp;
	uint64_t last_ns; /* 0: nothing was read yet */
	bool is_known;	  /* rates hold what the last interval showed */
	struct top_rates rates;
	double history[2][TOP_SERIES_SIZE]; /* bits per second, a ring */
	unsigned int begin, count;
};

/*
 * Takes what was read at now_ns. The rates are not known after the first call, and after one whose
 * counters are lower than before: then they were set to zero in between.
 */
void top_series_read(struct top_series *series, const struct xbond_counters *counters,
		     const struct xbond_counters *afxdp, uint64_t now_ns);
/* Takes rates that come from elsewhere. NULL: they are not known. */
void top_series_push(struct top_series *series, const struct top_rates *rates);

void top_rates_add(struct top_rates *sum, const struct top_rates *part);

/* Writes the last `size` rates, the newest last. Where there are fewer, the first ones are -1. */
void top_series_last(const struct top_series *series, enum top_direction direction,
		     double *ret_rates, unsigned int size);
/* The highest of the last `size` rates; 0 if there are none. */
double top_series_highest(const struct top_series *series, enum top_direction direction,
			  unsigned int size);

/* Rates of what is dropped, by reason, from the counts of common/readings.h. Pure: knows no maps.
 */

struct top_drops {
	uint64_t last[XBOND_DROPS];
	uint64_t last_ns; /* 0: nothing was read yet */
	double rate[XBOND_DROPS];
};

/* Takes what was read at now_ns. A rate is 0 where a count is not known, or fell. */
void top_drops_take(struct top_drops *drops, const uint64_t packets[XBOND_DROPS], uint64_t now_ns);

/* The bonds. Names are as the maps have them, and may contain any character. */

#define TOP_UNKNOWN (-1)
#define TOP_WORDS 512
#define TOP_MESSAGE 1152 /* an error line, and some words before it */

struct top_slave {
	unsigned int slot;
	uint32_t ifindex;
	char name[XBOND_NAME_SIZE];
	bool is_there; /* for top_read.c: it was in the maps this time */
	enum xbond_link link;
	bool is_active; /* in use for transmission */
	bool is_drained;
	const char *state;	 /* as show says it: of its link, or what it is used for */
	const char *lacp;	 /* the state of its Mux machine; NULL: the mode is not 802.3ad */
	double share;		 /* of the bond's transmitted bytes, of 1; TOP_UNKNOWN: of none */
	double due;		 /* the share that it should carry */
	int buckets;		 /* TOP_UNKNOWN: the mode does not hash */
	char why[TOP_WORDS];	 /* why it is not in use; "": it is */
	char problem[TOP_WORDS]; /* what others have done to it; "": nothing */
	struct top_series series;
	struct top_drops drops;
};

#define TOP_HOT 6 /* buckets that are listed */

struct top_hot {
	unsigned int bucket;
	char slave[XBOND_NAME_SIZE];
	double tx_bits; /* a second */
};

struct top_bond {
	char name[XBOND_NAME_SIZE];
	bool is_there;
	struct err error; /* why it cannot be read; then nothing below is known; "": it can */
	int error_code;
	struct pins pins;  /* open if there is no error */
	uint64_t rates_ns; /* when the counters were read last */
	const char *mode;
	bool has_lacp;
	bool has_carrier;
	bool is_down; /* administratively */
	bool has_bondd;
	json_t *problems; /* as show says them, but for drops */
	struct top_series series;
	struct top_slave *slaves;
	size_t slave_count;
	/* top_rates.c: the loads of buckets as last read (NULL: they are not counted). */
	struct xbond_load *loads;
	uint64_t loads_ns;
	struct top_hot hot[TOP_HOT]; /* the hottest first */
	size_t hot_count;
};

struct top {
	const char *bpf_dir, *run_dir;
	const char *only; /* the one bond to show; NULL: all */
	bool has_socket;  /* bondd accepts connections */
	struct top_bond **bonds;
	size_t bond_count;
};

/* The buckets of a bond that send most, while flows move by load, so that they are counted. */

/* Call it at each reading of rates. Does nothing to bonds that do not count. */
void top_hot_read(struct top_bond *bond);
void top_hot_free(struct top_bond *bond);
/* One line, or "" if nothing is known. */
void top_hot_words(const struct top_bond *bond, char *ret_text, size_t size);

/*
 * Reads the bonds from their pinned maps. The maps stay open from one reading to the next, so a
 * reading costs little; bonds and slaves may come and go in between.
 */

/*
 * Fails if the names of the bonds cannot be read, or if the only bond is not there (-ENOENT). A
 * bond that is there but cannot be read has its error in top_bond.error.
 */
int top_read(struct top *top, struct err *err);
/* NULL: it is not there. */
struct top_bond *top_read_find(struct top *top, const char *name);
void top_close(struct top *top);

/* What is wrong with a bond, in words. Pure. */

/*
 * An array of sentences, without the bond's name. A slave that is a backup or drained is no
 * problem, nor are packets that it drops because it is. A new reference.
 */
json_t *top_problems(const struct top_bond *bond);

/*
 * The rows of the table in their order: each bond with its slaves below it. Pure. Called again
 * after every reading, because bonds and slaves come and go.
 */

enum top_order {
	TOP_BY_NAME,  /* eth2 comes before eth10 */
	TOP_BY_RATE,  /* of both directions together, the highest first */
	TOP_BY_DROPS, /* the most first */
	TOP_ORDERS,
};

struct top_row {
	const struct top_bond *bond;
	const struct top_slave *slave; /* NULL: the row is the bond's */
};

struct top_rows {
	struct top_row *row;
	size_t count, room;
};

const char *top_order_name(enum top_order order);

/*
 * Bonds in this order, and the slaves of each in this order. only: the name of the one bond to
 * take; NULL: all.
 */
void top_rows_make(struct top_rows *rows, const struct top *top, enum top_order order,
		   const char *only);
void top_rows_free(struct top_rows *rows);

/*
 * A line of the screen as text of an exact width: cells of words, rates, shares and sparklines.
 * Pure, but for the locale (LC_CTYPE), which says what a character is and how wide.
 */

#define TOP_LINE_CELLS 256 /* wider screens stay empty at the right */

struct top_line {
	char text[TOP_LINE_CELLS * 4 + 1];
	size_t length;	    /* bytes */
	unsigned int width; /* cells */
};

void top_line_clear(struct top_line *line);
/*
 * Appends the text in exactly so many cells, cut or filled with spaces. Characters that cannot be
 * shown become '?', so the text may come from outside.
 */
void top_line_add(struct top_line *line, const char *text, unsigned int cells, bool right);
/*
 * Appends the text in as many cells as it takes, at most `cells` of them. Returns how many. line:
 * NULL to count only.
 */
unsigned int top_line_add_some(struct top_line *line, const char *text, unsigned int cells);

/*
 * Appends as many whole words as fit, or a part of the first one if that is longer. Returns what is
 * left of the text.
 */
const char *top_line_add_words(struct top_line *line, const char *text, unsigned int cells);

/*
 * Appends a sparkline with one cell for each rate; `full` is the height of the whole cell. A rate
 * of 0 or less (not known) is empty; a rate above 0 never is.
 */
void top_line_add_spark(struct top_line *line, const double *rates, unsigned int cells, double full,
			bool blocks);

#define TOP_NUMBER_SIZE 16

/* In at most 5 cells: 0, 999, 1.25k, 99.9M, 1000G. Returns ret_text. */
const char *top_cells_rate(char ret_text[TOP_NUMBER_SIZE], double rate);
/* Of 1, in at most 5 cells: 0%, 33.3%, 100%. Returns ret_text. */
const char *top_cells_share(char ret_text[TOP_NUMBER_SIZE], double share);

/* The table: which columns a screen of some width has, its head, and a row as a line. Pure. */

enum top_column {
	TOP_COLUMN_NAME,
	TOP_COLUMN_STATE,
	TOP_COLUMN_LACP,
	TOP_COLUMN_OUT,
	TOP_COLUMN_OUT_SPARK,
	TOP_COLUMN_IN,
	TOP_COLUMN_IN_SPARK,
	TOP_COLUMN_SHARE,
	TOP_COLUMN_DUE,
	TOP_COLUMN_BUCKETS,
	TOP_COLUMN_DROPS,
	TOP_COLUMN_AFXDP,
	TOP_COLUMNS,
};

struct top_table {
	unsigned int width[TOP_COLUMNS]; /* 0: the column is left out */
	bool blocks;			 /* sparklines of Unicode's block elements, not of ASCII */
};

/*
 * As many columns as fit, the least important left out first. The sparklines share what is left of
 * the width. The column of LACP and that of buckets are there only if a row has something in it.
 */
void top_table_fit(struct top_table *table, const struct top_rows *rows, unsigned int cells,
		   bool sparks);

/* Both lines have at most the width that the table was made for. */
void top_table_head(const struct top_table *table, struct top_line *ret_line);
void top_table_row(const struct top_table *table, const struct top_row *row,
		   struct top_line *ret_line);

/* One word for the state of a bond or slave. */
const char *top_table_state(const struct top_row *row);

/*
 * What the user does with the screen: which row is picked, the order, the interval, and the
 * question before a drain. Pure: keys go in, and what has to be done comes out.
 */

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_OTHER,
};

#define TOP_KEY_ESCAPE 27

enum top_action {
	TOP_DRAW,  /* show the new state */
	TOP_QUIT,  /* end */
	TOP_STEER, /* the user has said yes: drain the slave that was asked about, or end its drain
		    */
};

struct top_ui {
	struct top_rows rows;
	enum top_order order;
	size_t picked, first; /* rows; first: the first one that the screen shows */
	char bond[XBOND_NAME_SIZE], slave[XBOND_NAME_SIZE]; /* of the picked row; "": a bond's */
	char only[XBOND_NAME_SIZE];			    /* the bond that is shown; "": all */
	unsigned int interval_ms;
	bool is_paused, has_help;
	bool is_asking;
	struct {
		char bond[XBOND_NAME_SIZE], slave[XBOND_NAME_SIZE];
		bool drain;
	} asked;
	char message[TOP_MESSAGE];     /* until the next key, or for some readings */
	unsigned int message_readings; /* since the message came */
	bool is_reading_error;	       /* the message is; it goes when a reading succeeds */
};

/* page: how many rows the screen shows. */
enum top_action top_ui_key(struct top_ui *ui, int key, size_t page);
/* After a reading. error: why it failed; NULL: it did not. */
void top_ui_end_reading(struct top_ui *ui, const char *error);
/* Makes the rows anew. The picked row stays the same bond or slave. */
void top_ui_settle(struct top_ui *ui, const struct top *top);
/* Moves the rows that are shown so that the picked one is among them. */
void top_ui_scroll(struct top_ui *ui, size_t page);
/* The picked row; NULL if there are none. */
const struct top_row *top_ui_picked(const struct top_ui *ui);

/* Draws the screen of top with curses. Reads no maps and no keys. */

struct top_draw {
	bool blocks; /* the terminal can show block elements */
	size_t page; /* how many rows it showed last */
};

void top_draw_begin(void);
void top_draw(struct top_draw *draw, struct top_ui *ui, const struct top *top);

/* `top` on a terminal: reads the bonds, draws them and obeys keys until the user has enough. */

/* The bonds have been read once. */
enum cli_exit top_screen(const struct cli *cli, struct top *top, unsigned int interval_ms);

#endif
