/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `hang PID THREAD`: stops the thread of this name until hang or the process is killed, while its
 * other threads go on, as if it had hung. Says "hung" when it does.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

static int thread_has_name(const char *process, const char *thread, const char *name)
{
	char path[300], found[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/comm", process, thread);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(found, sizeof(found), file))
		found[0] = '\0';
	fclose(file);
	found[strcspn(found, "\n")] = '\0';
	return !strcmp(found, name);
}

static pid_t find_thread(const char *process, const char *name)
{
	char path[64];
	struct dirent *entry;
	pid_t found = -1;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%s/task", process);
	tasks = opendir(path);
	while (tasks && found < 0 && (entry = readdir(tasks)))
		if (thread_has_name(process, entry->d_name, name))
			found = atoi(entry->d_name);
	if (tasks)
		closedir(tasks);
	return found;
}

int main(int argc, char **argv)
{
	pid_t thread;
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: hang PID THREAD\n");
		return 2;
	}
	thread = find_thread(argv[1], argv[2]);
	if (thread < 0 || ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) < 0 ||
	    waitpid(thread, &status, __WALL) < 0) {
		fprintf(stderr, "hang: cannot stop the thread %s of %s: %m\n", argv[2], argv[1]);
		return 1;
	}
	puts("hung");
	fflush(stdout);
	/* A dead thread stays until who stopped it has been told. */
	while (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status))
		;
	return 0;
}
