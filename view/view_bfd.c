/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_bfd.h"

#include <string.h>

#include "bfd/bfd.h"
#include "common/clock.h"
#include "view/json_value.h"

#define READ_TRIES 100

static const struct view_bfd_end {
	const char *state;  /* of the monitor */
	const char *why;    /* NULL: it is no failure */
	enum bfd_diag diag; /* as the next bondd will have it */
} view_bfd_ends[] = {
	[XBOND_BFD_SILENT] = { "down", "the far end is silent on this link",
			       BFD_DIAG_TIME_EXPIRED },
	[XBOND_BFD_SIGNALED] = { "down", "the far end has taken it down", BFD_DIAG_NEIGHBOR_DOWN },
	[XBOND_BFD_TURNED_OFF] = { "unknown", NULL, BFD_DIAG_NEIGHBOR_DOWN },
};

/* How the programs have ended the session without bondd; NULL: they have not. */
static const struct view_bfd_end *view_bfd_end_of(const struct pins *pins, unsigned int slot)
{
	uint32_t ended;

	if (!view_bfd_has_session(pins, slot))
		return NULL;
	ended = __atomic_load_n(&pins->bfd->link[slot].ended, __ATOMIC_RELAXED);
	if (ended >= sizeof(view_bfd_ends) / sizeof(*view_bfd_ends) || !view_bfd_ends[ended].state)
		return NULL;
	return &view_bfd_ends[ended];
}

/* bondd writes the copy that is not in force. If it wrote twice meanwhile, we would get a mixture.
 */
static struct bfd_session view_bfd_read(const struct xbond_bfd_link *link)
{
	const struct bfd_session *from;
	struct bfd_session session;
	int tries = READ_TRIES;

	do {
		from = &link->words[__atomic_load_n(&link->in_force, __ATOMIC_ACQUIRE) & 1].session;
		memcpy(&session, from, sizeof(session));
	} while (memcmp(&session, from, sizeof(session)) && --tries);
	return session;
}

bool view_bfd_has_session(const struct pins *pins, unsigned int slot)
{
	return pins->bfd && pins->bfd->link[slot].enabled;
}

json_t *view_bfd_why(const struct pins *pins, unsigned int slot)
{
	const struct view_bfd_end *end = view_bfd_end_of(pins, slot);

	return end && end->why
		       ? json_sprintf("its BFD session has ended without bondd: %s", end->why)
		       : NULL;
}

static json_t *view_bfd_unknown(const struct bfd_session *session)
{
	return json_pack("{s:s, s:o}", "state", "unknown", "since_ms",
			 json_value_since_ms(session->since_ns));
}

/* Nobody has noted when; the far end was heard until shortly before. */
static void view_bfd_tell_end(const struct xbond_bfd_link *link, const struct view_bfd_end *end,
			      struct bfd_session *session, json_t *monitor)
{
	bfd_session_lose(session, end->diag, clock_now_ns());
	json_object_set_new(monitor, "state", json_string(end->state));
	json_object_set_new(monitor, "since_ms", json_value_since_ms(link->heard_ns));
}

json_t *view_bfd(const struct pins *pins, unsigned int slot, json_t *monitor)
{
	const struct xbond_bfd_link *link = &pins->bfd->link[slot];
	const struct view_bfd_end *end = view_bfd_end_of(pins, slot);
	struct bfd_session session = view_bfd_read(link);
	json_t *json = monitor ? monitor : view_bfd_unknown(&session);
	bool heard = session.remote_discr;

	if (end)
		view_bfd_tell_end(link, end, &session, json);
	json_object_set_new(json, "session", json_string(bfd_state_name(session.state)));
	json_object_set_new(json, "remote_session",
			    heard ? json_string(bfd_state_name(session.remote_state))
				  : json_null());
	json_object_set_new(json, "diag", json_string(bfd_diag_name(session.diag)));
	json_object_set_new(json, "remote_diag",
			    heard ? json_string(bfd_diag_name(session.remote_diag)) : json_null());
	json_object_set_new(json, "local_discriminator", json_integer(session.local_discr));
	json_object_set_new(json, "remote_discriminator",
			    heard ? json_integer(session.remote_discr) : json_null());
	json_object_set_new(json, "tx_interval_ms",
			    json_integer((json_int_t)(bfd_session_tx_ns(&session) / NS_PER_MS)));
	json_object_set_new(
		json, "detection_time_ms",
		heard ? json_integer((json_int_t)(bfd_session_detection_ns(&session) / NS_PER_MS))
		      : json_null());
	json_object_set_new(json, "lost", json_integer(session.lost));
	json_object_set_new(json, "refused", json_integer(link->refused));
	return json;
}
