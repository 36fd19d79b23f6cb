/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_bfd.h"

#include <string.h>

#include "bfd/bfd_packet.h"
#include "bfd/bfd_session.h"
#include "common/clock.h"

#define READ_TRIES 100

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

static json_t *view_bfd_unknown(const struct bfd_session *session)
{
	uint64_t now_ns = clock_now_ns(), since_ns = session->since_ns;

	return json_pack("{s:s, s:I}", "state", "unknown", "since_ms",
			 (json_int_t)(now_ns > since_ns ? (now_ns - since_ns) / NS_PER_MS : 0));
}

json_t *view_bfd(const struct pins *pins, unsigned int slot, json_t *monitor)
{
	const struct xbond_bfd_link *link = &pins->bfd->link[slot];
	struct bfd_session session = view_bfd_read(link);
	json_t *json = monitor ? monitor : view_bfd_unknown(&session);
	bool heard = session.remote_discr;

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
