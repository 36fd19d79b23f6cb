/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay FILE|DIRECTORY...: feeds files to the fuzz target that it is linked with, where libFuzzer
 * is not. A crash is the failure; before each file its name is noted, for who looks at the crash.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "tests/fuzz/input.h"

static char now_at[4096];

static void replay_file(void)
{
	FILE *file = fopen(now_at, "rb");
	uint8_t *data = NULL;
	size_t size = 0;

	if (!file) {
		perror(now_at);
		exit(1);
	}
	for (size_t got = 1; got;) {
		data = realloc(data, size + 65536);
		if (!data)
			abort();
		got = fread(data + size, 1, 65536, file);
		size += got;
	}
	fclose(file);
	data = realloc(data, size ? size : 1); /* exactly, for the address sanitizer */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

static unsigned int replay_directory(const char *path)
{
	DIR *directory = opendir(path);
	unsigned int count = 0;

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(now_at, sizeof(now_at), "%s/%s", path, entry->d_name);
		replay_file();
		count++;
	}
	if (directory)
		closedir(directory);
	return count;
}

static unsigned int replay(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return replay_directory(path);
	snprintf(now_at, sizeof(now_at), "%s", path);
	replay_file();
	return 1;
}

/* For a report of a sanitizer, too, which ends the process in its own way. */
static void replay_say_where(void)
{
	if (now_at[0])
		fprintf(stderr, "at input %s\n", now_at);
}

int main(int argc, char **argv)
{
	unsigned int count = 0;

	atexit(replay_say_where);
	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	now_at[0] = '\0';
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
