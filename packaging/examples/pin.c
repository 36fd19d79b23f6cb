/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * For programs with AF_XDP sockets of their own, such as DPDK's: pin BOND PORT|ADDRESS|FILE.o
 * DIRECTORY. FILE.o has a function that chooses, as by_vni.bpf.c. Until it is ended, each slave of
 * the bond has a filter, and a map of sockets as DIRECTORY/SLAVE.
 */
#include <arpa/inet.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbond/xsk.h>

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static void want(struct xbond_xsk_options *options, const char *text)
{
	if (inet_pton(AF_INET, text, options->address) == 1)
		options->family = AF_INET;
	else if (inet_pton(AF_INET6, text, options->address) == 1)
		options->family = AF_INET6;
	else if (strstr(text, ".o"))
		options->function = text;
	else
		options->ports[0] = (unsigned short)atoi(text);
}

int main(int argc, char **argv)
{
	struct xbond_xsk_options options = { .size = sizeof(options) };
	char why[XBOND_XSK_WHY_SIZE];
	struct xbond_xsk *xsk;

	if (argc != 4)
		errx(2, "usage: pin BOND PORT|ADDRESS|FILE.o DIRECTORY");
	want(&options, argv[2]);
	options.pins = argv[3];
	if (xbond_xsk_open(&xsk, argv[1], &options, why)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	signal(SIGTERM, end);
	signal(SIGINT, end);
	printf("ready\n");
	fflush(stdout);
	while (!ended)
		if (xbond_xsk_wait(xsk, -1) == 0)
			xbond_xsk_update(xsk);
	xbond_xsk_close(xsk);
	return 0;
}
