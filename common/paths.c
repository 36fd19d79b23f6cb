/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/paths.h"

#include <stdlib.h>

static const char *from_env(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value && *value ? value : otherwise;
}

void paths_init(struct paths *paths)
{
	paths->run_dir = from_env("XBOND_RUN_DIR", "/run/xbond");
	paths->bpf_dir = from_env("XBOND_BPF_DIR", "/sys/fs/bpf/xbond");
	paths->config_dir = from_env("XBOND_CONFIG_DIR", "/etc/xbond");
}
