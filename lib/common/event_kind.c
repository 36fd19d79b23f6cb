/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/event_kind.h"

static const struct event_kind_info event_kinds[EVENT_KINDS] = {
	[EVENT_LINK] = { "link",
			 "a slave's link is up, down, going_up or going_down",
			 { "state", "reason" } },
	[EVENT_FAILOVER] = { "failover",
			     "a slave that failed is out of use: how long that took",
			     { "duration_us" } },
	[EVENT_ACTIVE] = { "active", "another slave is the active one, or none is", { "before" } },
	[EVENT_CARRIER] = { "carrier", "the bond has carrier (on), or has lost it", { "state" } },
	[EVENT_MONITOR] = { "monitor",
			    "a link monitor has a new verdict: works, fails or none",
			    { "monitor", "state" } },
	[EVENT_LACP] = { "lacp", "a state of an 802.3ad port has changed", { "what", "state" } },
	[EVENT_BUCKETS] = { "buckets",
			    "flows have moved: how many of the 4096 buckets, and where",
			    { "moved", "moves", "cause" } },
	[EVENT_CONFIG] = { "config",
			   "somebody has created, deleted or changed a bond",
			   { "action", "options", "pid", "program", "login_uid" } },
	[EVENT_DEVICE] = { "device",
			   "a slave's device has gone, and the slave with it",
			   { "state" } },
	[EVENT_ATTACHED] = { "attached",
			     "a program or pin that somebody had removed is back",
			     { 0 } },
	[EVENT_PROBLEM] = { "problem", "something does not work as it should", { 0 } },
	[EVENT_NOTE] = { "note", "anything else that bondd writes to its log about a bond", { 0 } },
	[EVENT_BONDD] = { "bondd", "bondd does not answer, or is back", { "state" } },
	[EVENT_DETOUR] = { "detour",
			   "without bondd packets avoid the slave, or use it again",
			   { "state" } },
	[EVENT_HOLD] = { "hold",
			 "without bondd the programs hold an 802.3ad port, or have ended that",
			 { "state" } },
	[EVENT_LOST] = { "lost",
			 "this reader was too slow: so many events are missing",
			 { "count" } },
};

const struct event_kind_info *event_kind_info(enum event_kind kind)
{
	return &event_kinds[kind];
}
