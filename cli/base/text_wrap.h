/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bondctl writes to a terminal fits into 80 columns: longer lines are broken between words.
 * Elsewhere a sentence is one line, for grep. Verbs print as if there were no columns.
 */
#ifndef XBOND_CLI_BASE_TEXT_WRAP_H
#define XBOND_CLI_BASE_TEXT_WRAP_H

#define TEXT_WIDTH 80

/* From now on standard output and standard error are broken into lines where they are terminals. */
void text_wrap_begin(void);
/* No longer standard output, for what must stay as it is: files, full screens. */
void text_wrap_end(void);

#endif
