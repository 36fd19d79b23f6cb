/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slaves that user space chooses (xsk/choice.c): choose BOND... reads frames (a __u32 length,
 * then the bytes), and prints for each the ifindex, or another answer, of every one of these bonds.
 * Each is its name or the directory of its pins.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "xbond/loader.h"
#include "xsk/choice.h"

#define MAX_BONDS 4

/* Who only reads a map cannot get it for writing either. */
static int is_writable(const void *map)
{
	return !mprotect((void *)map, sizeof(struct xbond_table), PROT_READ | PROT_WRITE);
}

static int slave_of(struct choice *choice, void *frame, __u32 length)
{
	int selected = choice_select(choice, frame, length);

	return selected >= 0 && selected < XBOND_MAX_SLAVES ? (int)choice->table->ifindex[selected]
							    : selected;
}

int main(int argc, char **argv)
{
	static struct choice choice[MAX_BONDS];
	char frame[2048], why[XBOND_WHY_SIZE];
	int bonds = argc - 1;
	__u32 length;

	for (int i = 0; i < bonds && i < MAX_BONDS; i++) {
		if (choice_open(&choice[i], argv[i + 1], why)) {
			fprintf(stderr, "choose: %s\n", why);
			return 1;
		}
		if (is_writable(choice[i].settings) || is_writable(choice[i].table) ||
		    is_writable(choice[i].buckets) || is_writable(choice[i].alb)) {
			fprintf(stderr, "choose: what decides can be written\n");
			return 1;
		}
	}
	while (fread(&length, sizeof(length), 1, stdin) == 1 && length <= sizeof(frame) &&
	       fread(frame, length, 1, stdin) == 1) {
		for (int i = 0; i < bonds && i < MAX_BONDS; i++)
			printf("%d ", slave_of(&choice[i], frame, length));
		printf("\n");
	}
	for (int i = 0; i < bonds && i < MAX_BONDS; i++)
		choice_close(&choice[i]);
	return 0;
}
