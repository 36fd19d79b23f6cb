/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user does with the screen: which row is picked, the order, the interval, and the
 * question before a drain. Pure: keys go in, and what has to be done comes out.
 */
#ifndef XBOND_CLI_TOP_TOP_UI_H
#define XBOND_CLI_TOP_TOP_UI_H

#include "cli/top/top_rows.h"

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
void top_ui_follow(struct top_ui *ui, const struct top *top);
/* Moves the rows that are shown so that the picked one is among them. */
void top_ui_scroll(struct top_ui *ui, size_t page);
/* The picked row; NULL if there are none. */
const struct top_row *top_ui_picked(const struct top_ui *ui);

#endif
