/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured packets in the order of time, as pcapng or as lines of text. */
#include "cli/packets/capture_out.h"

#include <arpa/inet.h>
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

/* The blocks of pcapng. */

#define MACS 12
#define TAG 4
#define LINK_ETHERNET 1

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};

enum {
	OPTION_END = 0,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_TIME_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	PACKET_FLAGS = 2,
	STATISTICS_START = 2,
	STATISTICS_END = 3,
	STATISTICS_RECEIVED = 4,
	STATISTICS_OS_DROPS = 7,
};

static void pcapng_put(struct pcapng *pcapng, const void *bytes, size_t size)
{
	size_t capacity = pcapng->capacity ? pcapng->capacity : 65536;

	while (capacity < pcapng->size + size)
		capacity *= 2;
	if (capacity > pcapng->capacity) {
		pcapng->bytes = memory_need(realloc(pcapng->bytes, capacity));
		pcapng->capacity = capacity;
	}
	if (size)
		memcpy(pcapng->bytes + pcapng->size, bytes, size);
	pcapng->size += size;
}

static void pcapng_put16(struct pcapng *pcapng, uint16_t number)
{
	pcapng_put(pcapng, &number, sizeof(number));
}

static void pcapng_put32(struct pcapng *pcapng, uint32_t number)
{
	pcapng_put(pcapng, &number, sizeof(number));
}

/* To a multiple of 4 bytes. */
static void pcapng_pad(struct pcapng *pcapng, size_t size)
{
	static const uint8_t zeros[4];

	pcapng_put(pcapng, zeros, -size & 3);
}

/* Returns where the block begins; its length is filled in by pcapng_end(). */
static size_t pcapng_begin(struct pcapng *pcapng, uint32_t type)
{
	size_t begin = pcapng->size;

	pcapng_put32(pcapng, type);
	pcapng_put32(pcapng, 0);
	return begin;
}

static void pcapng_end(struct pcapng *pcapng, size_t begin)
{
	uint32_t size = (uint32_t)(pcapng->size - begin + sizeof(size));

	pcapng_put32(pcapng, size);
	memcpy(pcapng->bytes + begin + sizeof(uint32_t), &size, sizeof(size));
}

static void pcapng_put_option(struct pcapng *pcapng, uint16_t code, const void *bytes, size_t size)
{
	pcapng_put16(pcapng, code);
	pcapng_put16(pcapng, (uint16_t)size);
	pcapng_put(pcapng, bytes, size);
	pcapng_pad(pcapng, size);
}

static void pcapng_put_text(struct pcapng *pcapng, uint16_t code, const char *text)
{
	pcapng_put_option(pcapng, code, text, strnlen(text, 1024));
}

static void pcapng_end_options(struct pcapng *pcapng)
{
	pcapng_put_option(pcapng, OPTION_END, NULL, 0);
}

void pcapng_put_section(struct pcapng *pcapng, const char *application)
{
	const int64_t unknown = -1;
	size_t begin = pcapng_begin(pcapng, BLOCK_SECTION);

	pcapng_put32(pcapng, 0x1a2b3c4d);
	pcapng_put16(pcapng, 1);
	pcapng_put16(pcapng, 0);
	pcapng_put(pcapng, &unknown, sizeof(unknown));
	pcapng_put_text(pcapng, SECTION_APPLICATION, application);
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

/* The first byte of the option says that text follows. */
static void pcapng_put_filter(struct pcapng *pcapng, const char *filter)
{
	char text[1025] = "";
	size_t size = strnlen(filter, sizeof(text) - 1);

	memcpy(text + 1, filter, size);
	pcapng_put_option(pcapng, INTERFACE_FILTER, text, size + 1);
}

void pcapng_put_interface(struct pcapng *pcapng, const struct pcapng_interface *interface)
{
	const uint8_t nanoseconds = 9;
	size_t begin = pcapng_begin(pcapng, BLOCK_INTERFACE);

	pcapng_put16(pcapng, LINK_ETHERNET);
	pcapng_put16(pcapng, 0);
	pcapng_put32(pcapng, interface->snaplen);
	pcapng_put_text(pcapng, INTERFACE_NAME, interface->name);
	pcapng_put_text(pcapng, INTERFACE_DESCRIPTION, interface->description);
	pcapng_put_option(pcapng, INTERFACE_TIME_RESOLUTION, &nanoseconds, sizeof(nanoseconds));
	if (interface->filter)
		pcapng_put_filter(pcapng, interface->filter);
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

static void pcapng_put_time(struct pcapng *pcapng, uint64_t time_ns)
{
	pcapng_put32(pcapng, (uint32_t)(time_ns >> 32));
	pcapng_put32(pcapng, (uint32_t)time_ns);
}

/* At most `kept` bytes of the packet with its tag. */
static void pcapng_put_frame(struct pcapng *pcapng, const struct pcapng_packet *packet,
			     uint32_t kept)
{
	uint16_t tag[2] = { htons(packet->vlan_type), htons((uint16_t)packet->vlan_tci) };
	size_t macs = kept < MACS ? kept : MACS, rest = kept - macs, tagged;

	pcapng_put(pcapng, packet->bytes, macs);
	if (packet->vlan_tci >= 0) {
		tagged = rest < TAG ? rest : TAG;
		pcapng_put(pcapng, tag, tagged);
		rest -= tagged;
	}
	pcapng_put(pcapng, packet->bytes + macs, rest);
	pcapng_pad(pcapng, kept);
}

void pcapng_put_packet(struct pcapng *pcapng, const struct pcapng_packet *packet)
{
	uint32_t tag = packet->vlan_tci >= 0 && packet->kept >= MACS ? TAG : 0;
	uint32_t kept = packet->kept + tag;
	struct pcapng_packet taken = *packet;
	size_t begin = pcapng_begin(pcapng, BLOCK_PACKET);

	if (!tag)
		taken.vlan_tci = -1;
	if (kept > packet->snaplen)
		kept = packet->snaplen;
	pcapng_put32(pcapng, packet->interface);
	pcapng_put_time(pcapng, packet->time_ns);
	pcapng_put32(pcapng, kept);
	pcapng_put32(pcapng, packet->length + tag);
	pcapng_put_frame(pcapng, &taken, kept);
	pcapng_put_option(pcapng, PACKET_FLAGS, &packet->flags, sizeof(packet->flags));
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

static void pcapng_put_time_option(struct pcapng *pcapng, uint16_t code, uint64_t time_ns)
{
	uint32_t words[2] = { (uint32_t)(time_ns >> 32), (uint32_t)time_ns };

	pcapng_put_option(pcapng, code, words, sizeof(words));
}

void pcapng_put_statistics(struct pcapng *pcapng, const struct pcapng_statistics *statistics)
{
	size_t begin = pcapng_begin(pcapng, BLOCK_STATISTICS);

	pcapng_put32(pcapng, statistics->interface);
	pcapng_put_time(pcapng, statistics->end_ns);
	pcapng_put_time_option(pcapng, STATISTICS_START, statistics->start_ns);
	pcapng_put_time_option(pcapng, STATISTICS_END, statistics->end_ns);
	pcapng_put_option(pcapng, STATISTICS_RECEIVED, &statistics->received,
			  sizeof(statistics->received));
	pcapng_put_option(pcapng, STATISTICS_OS_DROPS, &statistics->dropped,
			  sizeof(statistics->dropped));
	pcapng_end_options(pcapng);
	pcapng_end(pcapng, begin);
}

void pcapng_clear(struct pcapng *pcapng)
{
	pcapng->size = 0;
}

void pcapng_done(struct pcapng *pcapng)
{
	free(pcapng->bytes);
	*pcapng = (struct pcapng){ 0 };
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

uint64_t capture_out_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

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
						      .end_ns = capture_out_now_ns(),
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
