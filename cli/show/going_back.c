/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/going_back.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define US_PER_S 1000000

static int64_t going_back_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

unsigned int going_back_s(const struct paths *paths, const char *bond)
{
	char path[PATH_MAX];
	json_t *json;
	int64_t left_us;

	snprintf(path, sizeof(path), "%s/%s.rollback", paths->run_dir, bond);
	json = json_load_file(path, 0, NULL);
	if (!json)
		return 0;
	left_us = json_integer_value(json_object_get(json, "at_us")) - going_back_now_us();
	json_decref(json);
	return left_us > 0 ? (unsigned int)((left_us + US_PER_S - 1) / US_PER_S) : 0;
}
