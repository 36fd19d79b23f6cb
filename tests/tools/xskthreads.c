/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that share a bond: xskthreads BOND PORT... has a thread for each PORT, which opens a
 * handle, the first with queue 0 of every slave, the next with queue 1 and so on, and receives what
 * is for the port. Prints "ready" when all are open. A line on stdin may have a thread's number,
 * and this thread ends; or one behind an "h", and this thread hangs, or goes on. After each line it
 * prints how many frames each has received.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "xbond/xsk.h"

#define BATCH 64
#define TURN_MS 5
#define MOST 16

struct receiver {
	pthread_t thread;
	const char *bond;
	struct xbond_xsk_options options;
	int ended, hangs;
	unsigned long long received;
};

static pthread_barrier_t begin, opened;

static void *receive(void *argument)
{
	struct receiver *self = argument;
	struct xbond_xsk_frame frames[BATCH];
	char why[XBOND_XSK_WHY_SIZE];
	struct xbond_xsk *xsk;

	pthread_barrier_wait(&begin);
	if (xbond_xsk_open(&xsk, self->bond, &self->options, why)) {
		fprintf(stderr, "xskthreads: %s\n", why);
		exit(1);
	}
	pthread_barrier_wait(&opened);
	while (!__atomic_load_n(&self->ended, __ATOMIC_RELAXED)) {
		int count;

		if (__atomic_load_n(&self->hangs, __ATOMIC_RELAXED)) {
			usleep(TURN_MS * 1000);
			continue;
		}
		count = xbond_xsk_receive(xsk, frames, BATCH);
		xbond_xsk_release(xsk, frames, count);
		__atomic_fetch_add(&self->received, (unsigned)count, __ATOMIC_RELAXED);
		if (!count)
			xbond_xsk_wait(xsk, TURN_MS);
	}
	xbond_xsk_close(xsk);
	return NULL;
}

static void finish(struct receiver *receiver)
{
	if (receiver->ended)
		return;
	__atomic_store_n(&receiver->ended, 1, __ATOMIC_RELAXED);
	pthread_join(receiver->thread, NULL);
}

int main(int argc, char **argv)
{
	static struct receiver receivers[MOST];
	int count = argc - 2, number;
	char line[16];

	if (count < 1 || count > MOST) {
		fprintf(stderr, "usage: xskthreads BOND PORT...\n");
		return 2;
	}
	pthread_barrier_init(&begin, NULL, (unsigned)count);
	pthread_barrier_init(&opened, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		receivers[i] =
			(struct receiver){ .bond = argv[1],
					   .options = { .size = sizeof(receivers[i].options),
							.queue = (__u32)i,
							.ports[0] = (__u16)atoi(argv[i + 2]) } };
		pthread_create(&receivers[i].thread, NULL, receive, &receivers[i]);
	}
	pthread_barrier_wait(&opened);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "h%d", &number) == 1 && number < count)
			__atomic_xor_fetch(&receivers[number].hangs, 1, __ATOMIC_RELAXED);
		else if (sscanf(line, "%d", &number) == 1 && number < count)
			finish(&receivers[number]);
		for (int i = 0; i < count; i++)
			printf("%s%llu", i ? ", " : "[",
			       __atomic_load_n(&receivers[i].received, __ATOMIC_RELAXED));
		printf("]\n");
		fflush(stdout);
	}
	for (int i = 0; i < count; i++)
		finish(&receivers[i]);
	return 0;
}
