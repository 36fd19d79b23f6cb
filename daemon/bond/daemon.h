/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all parts of bondd share: its sockets, its event loop, its bonds. The file is in bond/
 * because that is the lowest folder that uses it.
 */
#ifndef XBOND_DAEMON_BOND_DAEMON_H
#define XBOND_DAEMON_BOND_DAEMON_H

#include <string.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "common/paths.h"
#include "daemon/bond/bond.h"
#include "network/driver.h"
#include "network/nl.h"
#include "network/rtnl_listener.h"

enum hook_choice { HOOK_AUTO, HOOK_TCX, HOOK_CLSACT };

struct daemon {
	struct paths paths;
	enum hook_choice hook;
	const char *metrics_at;	 /* where to answer for metrics; NULL: nowhere */
	struct metrics *metrics; /* bondd.c */
	sd_event *event;
	struct nl nl;
	struct ethtool ethtool;
	struct rtnl_listener listener;
	struct realtime *lacp_thread, *bfd_thread;
	struct announcer *announcer;
	struct settler *settler; /* evaluate.c */
	struct asker *poller;	 /* poll.c */
	struct wake *wake;	 /* wake.c */
	sd_event_source *poll;
	sd_event_source *arp; /* arp.c, as the next two */
	struct asker *arp_paths;
	struct arp_sender *arp_sender;
	struct asker *sampler; /* quality.c */
	sd_event_source *quality;
	sd_event_source *sync;	  /* for bonds whose due.sync is set */
	sd_event_source *settle;  /* for bonds of which parts are due */
	sd_event_source *groups;  /* slave_multicast.c is due; evaluate.c turns it on, too */
	sd_event_source *kept;	  /* for messages that were kept meanwhile */
	sd_event_source *paused;  /* the kernel's messages, until the next tick */
	unsigned int losses;	  /* of such messages since the last tick */
	gid_t reader_gid;	  /* of the group whose members may ask */
	struct client *readers;	  /* its connections: control_socket.c */
	bool socket_is_inherited; /* somebody else made the control socket, and keeps it */
	struct bond *bonds;
	struct bond *ending;   /* slaves are not yet as before, or devices are left: lifecycle.c */
	char **unadopted;      /* bonds that adopt.c tries again, by name */
	bool in_burst;	       /* burst_begin() */
	uint64_t caught_up_ns; /* the last time when no message of the kernel was waiting */
	struct awaited *awaited; /* slaves that the configuration names: awaited.h */
	struct link_list links;	 /* daemon_links() */
	bool links_are_read;
	int links_result; /* of reading them */
};

/*
 * All devices of this namespace; NULL: they cannot be read. One answer, or failure, serves all
 * bonds that settle one after another, until a device changes or they have settled.
 */
const struct link_list *daemon_links(struct daemon *daemon);
void daemon_forget_links(struct daemon *daemon);
/* rtnl_listener_glance() has left messages: they are read soon. */
void daemon_read_kept(struct daemon *daemon);

static inline struct bond *daemon_find_bond(struct daemon *daemon, const char *name)
{
	struct bond *bond = daemon->bonds;

	while (bond && strcmp(bond_pin(bond)->name, name))
		bond = bond->next;
	return bond;
}

static inline bool daemon_is_unadopted(const struct daemon *daemon, const char *name)
{
	for (char **unadopted = daemon->unadopted; unadopted && *unadopted; unadopted++)
		if (!strcmp(*unadopted, name))
			return true;
	return false;
}

#endif
