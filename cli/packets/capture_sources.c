/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/packets/capture_run.h"
#include "common/err.h"
#include "common/slots.h"

#define ROOM (32 << 20) /* of the rings, for all slaves together */
/* Longer than a packet may wait in a ring while a later one of another ring is there already. */
#define HOLD_NS (5 * TAP_RETIRE_MS * UINT64_C(1000000))

static bool capture_wants(const struct capture *capture, unsigned int slot)
{
	const struct xbond_slave *slave = &capture->pins->slaves[slot];

	return pins_is_member(capture->pins, slot) &&
	       (!capture->slave || !strcmp(capture->slave, slave->name));
}

static struct capture_source *capture_find(const struct capture *capture, int ifindex,
					   enum tap_direction direction)
{
	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open && source->ifindex == ifindex &&
		    source->tap.direction == direction)
			return source;
	return NULL;
}

static unsigned int capture_count_slaves(const struct capture *capture)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		count += capture_wants(capture, slot);
	return count ? count : 1;
}

static struct tap_options capture_tap_options(const struct capture *capture,
					      const struct capture_source *source)
{
	return (struct tap_options){ .device = source->device,
				     .ifindex = source->ifindex,
				     .direction = source->tap.direction,
				     .one_of = 1,
				     .snaplen = capture->snaplen,
				     .room = ROOM / 2 / capture_count_slaves(capture),
				     .filter = capture->filter };
}

static int capture_open_source(struct capture *capture, const struct xbond_slave *slave,
			       enum tap_direction direction, struct err *err)
{
	struct capture_source *source = memory_need(calloc(1, sizeof(*source)));
	struct tap_options options;
	int r;

	memcpy(source->device, slave->name, sizeof(source->device) - 1);
	source->ifindex = (int)slave->ifindex;
	source->tap.direction = direction;
	options = capture_tap_options(capture, source);
	r = tap_open(&source->tap, &options, err);
	if (r) {
		free(source);
		return r;
	}
	source->open = true;
	source->start_ns = capture_out_now_ns();
	source->next = capture->sources;
	capture->sources = source;
	capture_out_interface(capture, source);
	return 0;
}

static void capture_say_unseen(const struct capture *capture, const struct xbond_slave *slave)
{
	if (slave->rx_hook == XBOND_RX_XDP)
		cli_say("%s receives through XDP: received frames that XDP hands to %s are not "
			"seen; "
			"'bondctl set %s rx_hook tc' shows all",
			slave->name, capture->bond, capture->bond);
}

static int capture_open_slave(struct capture *capture, const struct xbond_slave *slave,
			      struct err *err)
{
	bool opened = false;
	int r = 0;

	for (enum tap_direction direction = TAP_IN; direction <= TAP_OUT && !r; direction++) {
		if (capture_find(capture, (int)slave->ifindex, direction))
			continue;
		r = capture_open_source(capture, slave, direction, err);
		opened = !r;
	}
	if (opened)
		capture_say_unseen(capture, slave);
	return r;
}

static void capture_close_source(struct capture *capture, struct capture_source *source)
{
	tap_follow_statistics(&source->tap);
	capture_out_statistics(capture, source);
	tap_close(&source->tap);
	source->open = false;
}

static bool capture_has_left(const struct capture *capture, const struct capture_source *source)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (capture_wants(capture, slot) &&
		    (int)capture->pins->slaves[slot].ifindex == source->ifindex)
			return false;
	return true;
}

/* All sockets are open, so that no slave is ahead of the others. */
static int capture_start_sources(struct capture *capture, struct err *err)
{
	int r = 0;

	for (struct capture_source *source = capture->sources; source; source = source->next) {
		struct tap_options options = capture_tap_options(capture, source);

		if (!source->open || source->started)
			continue;
		source->started = true;
		if (tap_start(&source->tap, &options))
			r = err_set(err, ENOMEM, "cannot filter the packets of %s", source->device);
	}
	if (!capture->since_ns)
		capture->since_ns = capture_out_now_ns();
	return r;
}

int capture_follow_slaves(struct capture *capture, struct err *err)
{
	struct err later;
	int r = 0, started;

	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open && capture_has_left(capture, source)) {
			capture_read(capture, 0);
			capture_close_source(capture, source);
		}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		int of_slave;

		if (!capture_wants(capture, slot))
			continue;
		of_slave =
			capture_open_slave(capture, &capture->pins->slaves[slot], r ? &later : err);
		if (!r)
			r = of_slave;
	}
	started = capture_start_sources(capture, r ? &later : err);
	return r ? r : started;
}

struct capture_reading {
	struct capture *capture;
	struct capture_source *source;
	uint64_t due_ns;
};

static void capture_take(void *context, const struct tap_packet *packet)
{
	const struct capture_reading *reading = context;

	if (packet->time_ns < reading->capture->since_ns)
		return;
	order_put(&reading->capture->order, packet, reading->source, reading->due_ns);
}

void capture_read(struct capture *capture, uint64_t now_ns)
{
	struct capture_reading reading = { .capture = capture, .due_ns = now_ns + HOLD_NS };

	for (struct capture_source *source = capture->sources; source; source = source->next) {
		reading.source = source;
		if (source->open)
			tap_read(&source->tap, capture_take, &reading);
	}
}

void capture_stop(struct capture *capture)
{
	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open)
			tap_stop(&source->tap);
}

void capture_close(struct capture *capture)
{
	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open)
			capture_close_source(capture, source);
}

uint64_t capture_dropped(const struct capture *capture)
{
	uint64_t dropped = 0;

	for (const struct capture_source *source = capture->sources; source; source = source->next)
		dropped += source->tap.dropped;
	return dropped;
}

void capture_free(struct capture *capture)
{
	while (capture->sources) {
		struct capture_source *source = capture->sources;

		capture->sources = source->next;
		if (source->open)
			tap_close(&source->tap);
		free(source);
	}
	order_done(&capture->order);
	pcapng_done(&capture->out.blocks);
}
