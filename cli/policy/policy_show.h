/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `policy show` prints, from the pins alone. */
#ifndef XBOND_CLI_POLICY_POLICY_SHOW_H
#define XBOND_CLI_POLICY_POLICY_SHOW_H

#include <jansson.h>

#include "common/pins.h"

json_t *policy_show_json(const struct pins *pins, const char *bond);
void policy_show_print(const json_t *json);

#endif
