/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond's policy of the user, for those who show it. */
#ifndef XBOND_VIEW_VIEW_POLICY_H
#define XBOND_VIEW_VIEW_POLICY_H

#include <jansson.h>
#include <stdbool.h>

#include "common/pins.h"

/*
 * Its name, which the kernel cuts off after 15 characters; null: there is none. A new reference.
 */
json_t *view_policy(const struct pins *pins);
/* Is there one, and do packets meet it? */
bool view_policy_decides(const struct pins *pins);
/* Why the policy that is there does not decide; null if it does, or if there is none. */
json_t *view_policy_problem(const struct pins *pins);

#endif
