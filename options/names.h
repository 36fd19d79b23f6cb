/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which names a bond or a slave may have: names of network devices that are also
 * safe as a file name below BPF_DIR and CONFIG_DIR. Used by bondd and bondctl.
 */
#ifndef XBOND_OPTIONS_NAMES_H
#define XBOND_OPTIONS_NAMES_H

#include <jansson.h>
#include <stdbool.h>

#include "bpf/abi.h"
#include "common/err.h"

/* what: "bond" or "slave", for the line in err. Returns 0 or -EINVAL. */
int name_check(const char *what, const char *name, struct err *err);
/*
 * For files of bondd's own, in which no name may get lost: JSON takes UTF-8 only, and the kernel
 * takes any bytes as the name of a device. What is no UTF-8 is written as one character for each
 * byte, behind a mark. Other text is written as it is.
 */
json_t *name_to_json(const char *text);
/* Returns false if it is no text, or longer than a name. */
bool name_from_json(const json_t *json, char ret_name[XBOND_NAME_SIZE]);

#endif
