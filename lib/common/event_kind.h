/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of events, and the fields that each kind may have beside those that all have. The one
 * list: bondd, bondctl, the manual and the JSON schema are held against it.
 */
#ifndef XBOND_COMMON_EVENT_KIND_H
#define XBOND_COMMON_EVENT_KIND_H

#define EVENT_FIELDS_MAX 5 /* of one kind */

enum event_kind {
	EVENT_LINK,
	EVENT_FAILOVER,
	EVENT_ACTIVE,
	EVENT_CARRIER,
	EVENT_MONITOR,
	EVENT_LACP,
	EVENT_BUCKETS,
	EVENT_CONFIG,
	EVENT_DEVICE,
	EVENT_ATTACHED,
	EVENT_PROBLEM,
	EVENT_NOTE,
	/* Told by bondctl, not by bondd: */
	EVENT_BONDD,
	EVENT_DETOUR,
	EVENT_HOLD,
	EVENT_LOST,
	EVENT_KINDS
};

struct event_kind_info {
	const char *name;
	const char *meaning;
	const char *fields[EVENT_FIELDS_MAX + 1]; /* NULL at the end */
};

const struct event_kind_info *event_kind_info(enum event_kind kind);

#endif
