/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/going_back.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clock.h"

unsigned int going_back_s(const struct paths *paths, const char *bond)
{
	char path[PATH_MAX];
	json_t *json;
	uint64_t at_us, now_us = clock_boot_us();

	snprintf(path, sizeof(path), "%s/%s.rollback", paths->run_dir, bond);
	json = json_load_file(path, 0, NULL);
	if (!json)
		return 0;
	at_us = (uint64_t)json_integer_value(json_object_get(json, "at_us"));
	json_decref(json);
	return at_us > now_us ? (unsigned int)((at_us - now_us + US_PER_S - 1) / US_PER_S) : 0;
}
