/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What build/bondctl-static has in place of libsystemd, which not every system has as a static
 * library: no journal, so that `bondctl monitor --since` prints what bondd itself remembers.
 * libdbus, which libpcap brings along, would ask for sockets of systemd only where it listens.
 */
#include <errno.h>

static int static_none(void)
{
	return -EOPNOTSUPP;
}

#define STATIC_NONE(name) extern __typeof__(static_none) name __attribute__((alias("static_none")))

STATIC_NONE(sd_journal_open);
/* Without a journal nobody calls these. */
STATIC_NONE(sd_journal_add_match);
STATIC_NONE(sd_journal_close);
STATIC_NONE(sd_journal_get_data);
STATIC_NONE(sd_journal_next);
STATIC_NONE(sd_journal_seek_realtime_usec);
STATIC_NONE(sd_journal_set_data_threshold);
STATIC_NONE(sd_is_socket);
STATIC_NONE(sd_listen_fds);
