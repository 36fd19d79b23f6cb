/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The assembler takes the files into the program. The Makefile knows that it does. */
#include "daemon/metrics/metrics_page.h"

#define METRICS_PAGE_FILE(symbol, file)                      \
	__asm__(".pushsection .rodata\n"                     \
		".global " #symbol "\n" #symbol ":\n"        \
		".incbin \"daemon/metrics/page/" file "\"\n" \
		".byte 0\n"                                  \
		".popsection\n")

METRICS_PAGE_FILE(metrics_page_html, "page.html");
METRICS_PAGE_FILE(metrics_page_style, "page.css");
METRICS_PAGE_FILE(metrics_page_script, "page.js");
