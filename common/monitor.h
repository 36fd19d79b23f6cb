/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link monitors' names and words, for logs and for `show`. */
#ifndef XBOND_COMMON_MONITOR_H
#define XBOND_COMMON_MONITOR_H

#include "bpf/abi.h"

/* As in JSON: "carrier". */
const char *monitor_name(enum xbond_monitor monitor);
/* What it has found if it says that the link does not work: "no carrier". */
const char *monitor_finding(enum xbond_monitor monitor);
/* Why a slave is used although a monitor says that it does not work. */
const char *monitor_why_used(uint32_t min_links);

#endif
