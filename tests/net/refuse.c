/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by tests: while the file that XBOND_TEST_REFUSE names exists, the kernel has no memory
 * for what its lines name: a pin that is to be opened, or "detach" of any link.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse_names(const char *what)
{
	FILE *file = fopen(getenv("XBOND_TEST_REFUSE"), "re");
	char line[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, what);
	}
	if (file)
		fclose(file);
	errno = found ? ENOMEM : 0;
	return found;
}

int bpf_obj_get(const char *path)
{
	int (*get)(const char *) = dlsym(RTLD_NEXT, "bpf_obj_get");

	return refuse_names(strrchr(path, '/') + 1) ? -ENOMEM : get(path);
}

int bpf_link_detach(int link_fd)
{
	int (*detach)(int) = dlsym(RTLD_NEXT, "bpf_link_detach");

	return refuse_names("detach") ? -ENOMEM : detach(link_fd);
}
