/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured packets in the order of time, as pcapng or as lines of text. */
#include "cli/packets/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "cli/base/print.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"

/* The order of time. */

static bool order_is_before(const struct order_packet *a, const struct order_packet *b)
{
	if (a->packet.time_ns != b->packet.time_ns)
		return a->packet.time_ns < b->packet.time_ns;
	return a->number < b->number;
}

static void order_swap(struct order *order, size_t a, size_t b)
{
	struct order_packet *kept = order->heap[a];

	order->heap[a] = order->heap[b];
	order->heap[b] = kept;
}

static void order_rise(struct order *order, size_t at)
{
	while (at && order_is_before(order->heap[at], order->heap[(at - 1) / 2])) {
		order_swap(order, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void order_sink(struct order *order, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < order->count &&
			    order_is_before(order->heap[child], order->heap[least]))
				least = child;
		if (least == at)
			return;
		order_swap(order, at, least);
		at = least;
	}
}

static void order_make_room(struct order *order)
{
	if (order->count < order->capacity)
		return;
	order->capacity = order->capacity ? 2 * order->capacity : 1024;
	order->heap =
		memory_need(realloc(order->heap, order->capacity * sizeof(struct order_packet *)));
}

void order_put(struct order *order, const struct tap_packet *packet, const void *source,
	       uint64_t due_ns)
{
	struct order_packet *kept = memory_need(malloc(sizeof(*kept) + packet->kept));

	order_make_room(order);
	*kept = (struct order_packet){ due_ns, order->number++, source, *packet };
	memcpy(kept->bytes, packet->bytes, packet->kept);
	kept->packet.bytes = kept->bytes;
	order->size += sizeof(*kept) + packet->kept;
	order->heap[order->count++] = kept;
	order_rise(order, order->count - 1);
}

struct order_packet *order_take(struct order *order, uint64_t now_ns)
{
	struct order_packet *first = order->count ? order->heap[0] : NULL;

	if (!first || (first->due_ns > now_ns && order->size <= ORDER_MOST))
		return NULL;
	order->heap[0] = order->heap[--order->count];
	order_sink(order, 0);
	order->size -= sizeof(*first) + first->packet.kept;
	return first;
}

void order_done(struct order *order)
{
	while (order->count)
		free(order->heap[--order->count]);
	free(order->heap);
	*order = (struct order){ 0 };
}

/* What is written: blocks to a file, or lines. */

/* Of epb_flags. */
#define PCAPNG_INBOUND 1
#define PCAPNG_OUTBOUND 2
#define PCAPNG_UNICAST (1 << 2)
#define PCAPNG_MULTICAST (2 << 2)
#define PCAPNG_BROADCAST (3 << 2)
#define PCAPNG_PROMISCUOUS (4 << 2)

#define FLUSH_AT (256 * 1024)

void capture_out_begin(struct capture_out *out, const char *file, const char *bond)
{
	char application[64];

	*out = (struct capture_out){ .file = file, .fd = -1 };
	snprintf(application, sizeof(application), "bondctl %.30s: %.15s", xbond_version, bond);
	if (file)
		pcapng_put_section(&out->blocks, application);
}

int capture_out_open(struct capture_out *out, struct err *err)
{
	bool to_stdout = out->file && !strcmp(out->file, "-");
	struct stat status;

	if (!out->file)
		return 0;
	if (to_stdout && isatty(STDOUT_FILENO))
		return err_set(err, EINVAL,
			       "standard output is a terminal: give a file or a pipe after -w, or "
			       "leave -w out for text");
	out->fd = STDOUT_FILENO;
	if (!to_stdout)
		out->fd = open(out->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out->fd < 0)
		return err_set(err, errno, "cannot write '%s': %m", out->file);
	out->is_regular = !to_stdout && !fstat(out->fd, &status) && S_ISREG(status.st_mode);
	return 0;
}

static const char *capture_out_direction(const struct capture_source *source)
{
	return source->tap.direction == TAP_IN ? "in" : "out";
}

void capture_out_interface(struct capture *capture, struct capture_source *source)
{
	char name[IF_NAMESIZE + 8], description[64];
	const struct pcapng_interface interface = { .name = name,
						    .description = description,
						    .filter = capture->expression,
						    .snaplen = capture->snaplen };

	source->interface = capture->out.interfaces++;
	if (!capture->out.file)
		return;
	snprintf(name, sizeof(name), "%s %s", source->device, capture_out_direction(source));
	snprintf(description, sizeof(description), "%s by slave %s of %s",
		 source->tap.direction == TAP_IN ? "received" : "sent", source->device,
		 capture->bond);
	pcapng_put_interface(&capture->out.blocks, &interface);
}

static uint32_t capture_out_flags(const struct capture_source *source,
				  const struct tap_packet *packet)
{
	if (source->tap.direction == TAP_OUT)
		return PCAPNG_OUTBOUND;
	switch (packet->packet_type) {
	case PACKET_BROADCAST: return PCAPNG_INBOUND | PCAPNG_BROADCAST;
	case PACKET_MULTICAST: return PCAPNG_INBOUND | PCAPNG_MULTICAST;
	case PACKET_OTHERHOST: return PCAPNG_INBOUND | PCAPNG_PROMISCUOUS;
	default: return PCAPNG_INBOUND | PCAPNG_UNICAST;
	}
}

static void capture_out_print(const struct capture_source *source, const struct tap_packet *packet)
{
	struct timespec time = { (time_t)(packet->time_ns / 1000000000),
				 (long)(packet->time_ns % 1000000000) };
	char when[CLOCK_TEXT], name[XBOND_NAME_SIZE], flow[TUPLE_TEXT] = "?";
	struct captured captured;
	struct tuple tuple;

	if (captured_take(CAPTURED_ETHERNET, packet->bytes, packet->kept, packet->length,
			  packet->vlan_tci, &captured)) {
		tuple_of(&captured, &tuple);
		tuple_format(&tuple, flow);
	}
	printf("%s %-8s %-3s %s length %u\n", clock_text(&time, when),
	       cli_name(source->device, name), capture_out_direction(source), flow,
	       captured.length);
}

void capture_out_packet(struct capture *capture, const struct capture_source *source,
			const struct tap_packet *packet)
{
	const struct pcapng_packet block = { .interface = source->interface,
					     .time_ns = packet->time_ns,
					     .bytes = packet->bytes,
					     .kept = packet->kept,
					     .length = packet->length,
					     .vlan_tci = packet->vlan_tci,
					     .vlan_type = packet->vlan_type,
					     .snaplen = capture->snaplen,
					     .flags = capture_out_flags(source, packet) };

	if (!capture->out.file)
		capture_out_print(source, packet);
	else
		pcapng_put_packet(&capture->out.blocks, &block);
}

void capture_out_statistics(struct capture *capture, const struct capture_source *source)
{
	const struct pcapng_statistics statistics = { .interface = source->interface,
						      .start_ns = source->start_ns,
						      .end_ns = clock_unix_ns(),
						      .received = source->tap.seen,
						      .dropped = source->tap.dropped };

	if (capture->out.file)
		pcapng_put_statistics(&capture->out.blocks, &statistics);
}

/* The size of the first blocks that make a good write together. */
static size_t capture_out_some(const struct pcapng *blocks, size_t from)
{
	size_t end = from;
	uint32_t size;

	while (end < blocks->size) {
		memcpy(&size, blocks->bytes + end + sizeof(uint32_t), sizeof(size));
		if (end > from && end + size - from > FLUSH_AT)
			break;
		end += size;
	}
	return end - from;
}

static int capture_out_write(struct capture_out *out, const uint8_t *bytes, size_t size,
			     struct err *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write(out->fd, bytes + done, size - done);
		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EPIPE) {
			out->closed = true;
			return 0;
		}
		err_set(err, errno, "cannot write '%s': %m%s", out->file,
			out->is_regular ? "; it ends with the last whole packet" : "");
		if (out->is_regular && done && ftruncate(out->fd, (off_t)out->written))
			err_set(err, EIO, "cannot write '%s', and its end is damaged", out->file);
		return -EIO;
	}
	out->written += size;
	return 0;
}

int capture_out_flush(struct capture_out *out, struct err *err)
{
	int r = 0;

	if (!out->file)
		fflush(stdout);
	for (size_t at = 0, size; at < out->blocks.size && !r && !out->closed; at += size) {
		size = capture_out_some(&out->blocks, at);
		r = capture_out_write(out, out->blocks.bytes + at, size, err);
	}
	pcapng_clear(&out->blocks);
	return r;
}

int capture_out_close(struct capture_out *out, struct err *err)
{
	int r = capture_out_flush(out, err);

	if (out->fd > STDOUT_FILENO && close(out->fd) && !r)
		r = err_set(err, errno, "cannot write '%s': %m", out->file);
	return r;
}
