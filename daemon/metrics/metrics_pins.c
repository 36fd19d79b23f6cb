/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_pins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/err.h"

#define KEEP_NS (60 * NS_PER_S) /* longer than scrapers usually pause */

struct metrics_open {
	struct metrics_open *next;
	char name[XBOND_NAME_SIZE];
	/* Of the directory: another one is there after an upgrade of the maps. */
	dev_t device;
	ino_t inode;
	uint64_t used_ns;
	struct pins pins;
};

struct metrics_pins {
	const char *bpf_dir;
	struct metrics_open *open;
};

struct metrics_pins *metrics_pins_new(const char *bpf_dir)
{
	struct metrics_pins *all = memory_need(calloc(1, sizeof(*all)));

	all->bpf_dir = bpf_dir;
	return all;
}

static void metrics_pins_close(struct metrics_open **at)
{
	struct metrics_open *open = *at;

	*at = open->next;
	pins_close(&open->pins);
	free(open);
}

void metrics_pins_free(struct metrics_pins *all)
{
	while (all && all->open)
		metrics_pins_close(&all->open);
	free(all);
}

int metrics_pins_names(const struct metrics_pins *all, char ***ret_names)
{
	return pins_names(ret_names, all->bpf_dir, NULL);
}

uint32_t metrics_pins_abi(const struct metrics_pins *all, const char *name)
{
	return pins_abi(all->bpf_dir, name, NULL);
}

/* The content of the maps may have changed in any way. */
static bool metrics_pins_are_good(struct metrics_open *open, const struct stat *dir)
{
	return open->device == dir->st_dev && open->inode == dir->st_ino &&
	       !pins_open_added(&open->pins, NULL) && !pins_check(&open->pins, open->name, NULL);
}

static struct metrics_open **metrics_pins_at(struct metrics_pins *all, const char *name)
{
	struct metrics_open **at = &all->open;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

static int metrics_pins_open(struct metrics_pins *all, const char *name, const struct stat *dir,
			     struct metrics_open **at)
{
	struct metrics_open *open = memory_need(calloc(1, sizeof(*open)));
	int r = pins_open(&open->pins, all->bpf_dir, name, NULL);

	if (r) {
		free(open);
		return r;
	}
	strncpy(open->name, name, sizeof(open->name) - 1);
	open->device = dir->st_dev;
	open->inode = dir->st_ino;
	open->next = *at;
	*at = open;
	return 0;
}

/* If the directory is exchanged between the two looks at it, the next answer finds that out. */
int metrics_pins_find(struct metrics_pins *all, const char *name, const struct pins **ret_pins)
{
	struct metrics_open **at = metrics_pins_at(all, name);
	char path[PATH_MAX];
	struct stat dir;
	int r;

	pins_path(path, sizeof(path), all->bpf_dir, name);
	if (stat(path, &dir))
		return -errno;
	if (*at && !metrics_pins_are_good(*at, &dir))
		metrics_pins_close(at);
	at = metrics_pins_at(all, name);
	r = *at ? 0 : metrics_pins_open(all, name, &dir, at);
	if (r)
		return r;
	(*at)->used_ns = clock_now_ns();
	*ret_pins = &(*at)->pins;
	return 0;
}

bool metrics_pins_close_unused(struct metrics_pins *all)
{
	uint64_t now_ns = clock_now_ns();
	struct metrics_open **at = &all->open;

	while (*at) {
		if (now_ns - (*at)->used_ns > KEEP_NS)
			metrics_pins_close(at);
		else
			at = &(*at)->next;
	}
	return all->open;
}
