/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/flags.h"

#include <string.h>

const struct verb_flag flags_global[FLAG_COUNT + 1] = {
	[FLAG_JSON] = { "--json", "-j", NULL, "JSON for scripts instead of text" },
	[FLAG_RUN_DIR] = { "--run-dir", NULL, "DIR",
			   "where bondd's socket is (XBOND_RUN_DIR, /run/xbond)" },
	[FLAG_BPF_DIR] = { "--bpf-dir", NULL, "DIR",
			   "where the bonds' maps are pinned (XBOND_BPF_DIR, /sys/fs/bpf/xbond)" },
	[FLAG_CONFIG_DIR] = { "--config-dir", NULL, "DIR",
			      "where configuration files are (XBOND_CONFIG_DIR, /etc/xbond)" },
	[FLAG_HELP] = { "--help", "-h", NULL, "this help, or that of a verb" },
	[FLAG_VERSION] = { "--version", NULL, NULL, "the version" },
	[FLAG_END] = { "--", NULL, NULL, "ends the flags" },
};

bool flags_looks_like(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789", word[1]);
}

static bool flags_is(const struct verb_flag *flag, const char *word, const char **ret_argument)
{
	size_t length = strlen(flag->name);

	if (flag->letter && !strcmp(word, flag->letter))
		return true;
	if (strncmp(word, flag->name, length) || (word[length] && word[length] != '='))
		return false;
	if (word[length])
		*ret_argument = word + length + 1;
	return true;
}

const struct verb_flag *flags_find(const struct verb_flag *flags, const char *word,
				   const char **ret_argument)
{
	*ret_argument = NULL;
	for (; flags && flags->name; flags++)
		if (flags_is(flags, word, ret_argument))
			return flags;
	return NULL;
}

void flags_set_directory(struct paths *paths, enum flag_global flag, const char *directory)
{
	if (flag == FLAG_RUN_DIR)
		paths->run_dir = directory;
	else if (flag == FLAG_BPF_DIR)
		paths->bpf_dir = directory;
	else if (flag == FLAG_CONFIG_DIR)
		paths->config_dir = directory;
}
