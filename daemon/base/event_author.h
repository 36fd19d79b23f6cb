/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has sent a request, by what /proc says of the process while it waits for the answer. */
#ifndef XBOND_DAEMON_BASE_EVENT_AUTHOR_H
#define XBOND_DAEMON_BASE_EVENT_AUTHOR_H

#include <stdbool.h>
#include <stdint.h>

struct event_author {
	int pid;	  /* 0: nobody */
	char program[32]; /* as the process calls itself; "": unknown */
	/* Who has logged in, whoever they have become since. */
	bool has_login;
	uint32_t login_uid;
};

void event_author_find(int pid, struct event_author *ret_author);

#endif
