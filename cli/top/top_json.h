/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `top --once -j` prints (docs/json/top.schema.json). Pure. */
#ifndef XBOND_CLI_TOP_TOP_JSON_H
#define XBOND_CLI_TOP_TOP_JSON_H

#include <jansson.h>

#include "cli/top/top_model.h"

/* A new reference. */
json_t *top_json(const struct top_bond *bond);

#endif
