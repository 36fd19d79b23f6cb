/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/arp_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "daemon/base/worker.h"
#include "daemon/monitor/arp_frames.h"
#include "network/packet.h"

#define PRIORITY_CONTROL 7 /* before data, as the kernel's own */
#define MOST_WAITING (2 * XBOND_MAX_SLAVES * XBOND_PROBE_TARGETS)

struct arp_outgoing {
	int ifindex;
	uint8_t size;
	uint8_t frame[ARP_FRAME_SIZE];
};

struct arp_batch {
	struct arp_outgoing *frames;
	size_t count, room;
};

struct arp_sender {
	struct worker worker;
	struct arp_batch added;	  /* of the main loop */
	struct arp_batch waiting; /* the worker's lock protects it */
	struct arp_batch sending; /* of the thread */
	int fd;
};

static bool arp_sender_append(struct arp_batch *batch, const struct arp_outgoing *frame)
{
	struct arp_outgoing *grown = batch->frames;

	if (batch->count == MOST_WAITING)
		return false;
	if (batch->count == batch->room) {
		grown = memory_need(reallocarray(grown, 2 * batch->room + 8, sizeof(*grown)));
		batch->frames = grown;
		batch->room = 2 * batch->room + 8;
	}
	grown[batch->count++] = *frame;
	return true;
}

static bool arp_sender_begin(void *context)
{
	struct arp_sender *sender = context;
	struct arp_batch sent = sender->sending;

	sender->sending = sender->waiting;
	sender->waiting = sent;
	sender->waiting.count = 0;
	return sender->sending.count;
}

static void arp_sender_work(void *context)
{
	struct arp_sender *sender = context;

	for (size_t i = 0; i < sender->sending.count; i++)
		packet_send(sender->fd, sender->sending.frames[i].ifindex,
			    sender->sending.frames[i].frame, sender->sending.frames[i].size);
}

static void arp_sender_end(void *context)
{
	struct arp_sender *sender = context;

	sender->sending.count = 0;
}

static const struct worker_kind arp_sender_kind = {
	.name = "probe",
	.begin = arp_sender_begin,
	.work = arp_sender_work,
	.end = arp_sender_end,
};

static int arp_sender_start(struct arp_sender *sender)
{
	int priority = PRIORITY_CONTROL, r;

	sender->fd = packet_open();
	if (sender->fd < 0)
		return -errno;
	setsockopt(sender->fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	r = worker_start(&sender->worker, &arp_sender_kind, sender);
	if (r)
		close(sender->fd);
	return r;
}

struct arp_sender *arp_sender_new(struct err *err)
{
	struct arp_sender *sender = memory_need(calloc(1, sizeof(*sender)));
	int r = arp_sender_start(sender);

	if (!r)
		return sender;
	free(sender);
	err_set(err, -r, "cannot start the thread that sends probes: %s", strerror(-r));
	return NULL;
}

void arp_sender_free(struct arp_sender *sender)
{
	if (!sender)
		return;
	worker_stop(&sender->worker);
	close(sender->fd);
	free(sender->added.frames);
	free(sender->waiting.frames);
	free(sender->sending.frames);
	free(sender);
}

void arp_sender_add(struct arp_sender *sender, int ifindex, const uint8_t *frame, size_t size)
{
	struct arp_outgoing outgoing = { .ifindex = ifindex, .size = (uint8_t)size };

	memcpy(outgoing.frame, frame, size);
	arp_sender_append(&sender->added, &outgoing);
}

void arp_sender_flush(struct arp_sender *sender)
{
	if (!sender->added.count)
		return;
	worker_lock(&sender->worker);
	for (size_t i = 0; i < sender->added.count; i++)
		if (!arp_sender_append(&sender->waiting, &sender->added.frames[i]))
			break;
	worker_unlock_and_wake(&sender->worker);
	sender->added.count = 0;
}
