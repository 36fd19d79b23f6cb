/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture: packets on the slaves of a bond, by a socket for each slave and direction, in the order
 * of time, as pcapng or as lines of text. Needs no bondd.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "cli/base/cli.h"
#include "cli/packets/packets.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"

/* A socket for each slave and direction, opened and closed as slaves come and go. */

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
	source->start_ns = clock_unix_ns();
	source->next = capture->sources;
	capture->sources = source;
	capture_out_interface(capture, source);
	return 0;
}

static void capture_say_unseen(const struct capture *capture, const struct xbond_slave *slave)
{
	if (slave->rx_hook == XBOND_RX_XDP)
		cli_say("%s receives through XDP: received frames that XDP hands to %s are not "
			"seen; 'bondctl set %s rx_hook tc' shows all",
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
	tap_read_statistics(&source->tap);
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
		capture->since_ns = clock_unix_ns();
	return r;
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

/* Takes what is in the rings. */
static void capture_read(struct capture *capture, uint64_t now_ns)
{
	struct capture_reading reading = { .capture = capture, .due_ns = now_ns + HOLD_NS };

	for (struct capture_source *source = capture->sources; source; source = source->next) {
		reading.source = source;
		if (source->open)
			tap_read(&source->tap, capture_take, &reading);
	}
}

/* At the look after the one that finds that it has left: then what was in its ring can be read. */
static void capture_close_left(struct capture *capture)
{
	for (struct capture_source *source = capture->sources; source; source = source->next) {
		bool has_left = source->open && capture_has_left(capture, source);

		if (has_left && source->has_left) {
			capture_read(capture, 0);
			capture_close_source(capture, source);
		} else if (has_left) {
			tap_stop(&source->tap);
		} else if (source->has_left) {
			source->started = false; /* it has come back */
		}
		source->has_left = has_left;
	}
}

/* Opens what is missing, closes what has left. */
static int capture_settle_slaves(struct capture *capture, struct err *err)
{
	struct err later;
	int r = 0, started;

	capture_close_left(capture);
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

/* No more packets come into the rings. */
static void capture_stop(struct capture *capture)
{
	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open)
			tap_stop(&source->tap);
}

/* Counts of the kernel into the file, and sockets closed. */
static void capture_close(struct capture *capture)
{
	for (struct capture_source *source = capture->sources; source; source = source->next)
		if (source->open)
			capture_close_source(capture, source);
}

static uint64_t capture_dropped(const struct capture *capture)
{
	uint64_t dropped = 0;

	for (const struct capture_source *source = capture->sources; source; source = source->next)
		dropped += source->tap.dropped;
	return dropped;
}

/* Memory, at the very end. */
static void capture_free(struct capture *capture)
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

/* The call, and the loop from the sockets to what is written. */

#define CAPTURE_SOURCES (2 * XBOND_MAX_SLAVES)

#define LOOK_MS 200 /* for slaves that come and go */
#define TEXT_SNAPLEN 256

/* An open device, because only for such a one libpcap knows where the kernel keeps tags. */
static pcap_t *capture_compiler(const struct capture *capture, const char *device)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = device ? pcap_create(device, text) : NULL;

	if (!pcap)
		return pcap_open_dead(DLT_EN10MB, (int)capture->snaplen);
	pcap_set_snaplen(pcap, (int)capture->snaplen);
	pcap_set_buffer_size(pcap, 64 * 1024);
	if (pcap_activate(pcap) >= 0 && pcap_datalink(pcap) == DLT_EN10MB)
		return pcap;
	pcap_close(pcap);
	return pcap_open_dead(DLT_EN10MB, (int)capture->snaplen);
}

static int capture_compile(struct capture *capture, const char *device, struct err *err)
{
	pcap_t *pcap = capture_compiler(capture, device);
	struct bpf_program program;

	if (!pcap)
		return err_set(err, ENOMEM, "out of memory");
	if (pcap_compile(pcap, &program, capture->expression, 1, PCAP_NETMASK_UNKNOWN)) {
		err_set(err, EINVAL, "filter '%s': %s; pcap-filter(7) describes filters",
			capture->expression, pcap_geterr(pcap));
		pcap_close(pcap);
		return -EINVAL;
	}
	pcap_close(pcap);
	/* Classic BPF has one form everywhere: struct bpf_insn is struct sock_filter. */
	_Static_assert(sizeof(struct bpf_insn) == sizeof(struct sock_filter), "classic BPF");
	capture->filter.len = (unsigned short)program.bf_len;
	capture->filter.filter = (void *)program.bf_insns;
	return 0;
}

/* The first slave of the capture; NULL: none yet. */
static const char *capture_first_slave(const struct capture *capture)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (capture_wants(capture, slot))
			return capture->pins->slaves[slot].name;
	return NULL;
}

static bool capture_is_full(const struct capture *capture)
{
	return capture->most && capture->packets >= capture->most;
}

static bool capture_is_over(const struct capture *capture)
{
	return capture->out.closed || capture->is_deleted || capture_is_full(capture) ||
	       cli_is_interrupted();
}

static void capture_write_due(struct capture *capture, uint64_t now_ns)
{
	struct order_packet *held;

	while (!capture_is_over(capture) || now_ns == UINT64_MAX) {
		if (capture_is_full(capture))
			return;
		held = order_take(&capture->order, now_ns);
		if (!held)
			return;
		capture->packets++;
		capture_out_packet(capture, held->source, &held->packet);
		free(held);
	}
}

static void capture_wait(const struct capture *capture)
{
	struct pollfd fds[CAPTURE_SOURCES];
	nfds_t count = 0;

	for (const struct capture_source *source = capture->sources;
	     source && count < CAPTURE_SOURCES; source = source->next)
		if (source->open)
			fds[count++] = (struct pollfd){ source->tap.fd, POLLIN, 0 };
	/* With packets in hand, it is their time that counts. */
	poll(fds, count, capture->order.count ? TAP_RETIRE_MS : LOOK_MS);
}

/* What fails for a slave that came later does not end the capture of the others. */
static void capture_look(struct capture *capture)
{
	struct err err;

	/* What was heard too early has been read, and the date may be set back. */
	capture->since_ns = 1;
	if (access(capture->pins->dir, F_OK)) {
		cli_say("%s has been deleted", capture->bond);
		capture->is_deleted = true;
	} else if (capture_settle_slaves(capture, &err) &&
		   strcmp(err.text, capture->trouble.text)) {
		cli_say("%s", err.text);
		capture->trouble = err;
	}
}

static int capture_turn(struct capture *capture, uint64_t *looked_ns, struct err *err)
{
	uint64_t now_ns = clock_now_ns();

	capture_read(capture, now_ns);
	capture_write_due(capture, now_ns);
	if (now_ns - *looked_ns > LOOK_MS * UINT64_C(1000000)) {
		*looked_ns = now_ns;
		capture_look(capture);
	}
	return capture_out_flush(&capture->out, err);
}

/* What the rings still have, and the kernel's counts. */
static int capture_finish(struct capture *capture, struct err *err)
{
	capture_stop(capture);
	if (!capture_is_full(capture)) {
		usleep(3 * TAP_RETIRE_MS * 1000);
		capture_read(capture, 0);
		capture_write_due(capture, UINT64_MAX);
	}
	capture_close(capture);
	return capture_out_close(&capture->out, err);
}

static void capture_say_counts(const struct capture *capture)
{
	fprintf(stderr, "%llu packet%s captured, %llu dropped by the kernel\n",
		(unsigned long long)capture->packets, capture->packets == 1 ? "" : "s",
		(unsigned long long)capture_dropped(capture));
	for (const struct capture_source *source = capture->sources; source; source = source->next)
		if (source->tap.dropped)
			cli_print(stderr, "%s %s: %llu dropped", source->device,
				  source->tap.direction == TAP_IN ? "in" : "out",
				  (unsigned long long)source->tap.dropped);
}

static enum cli_exit capture_run(struct capture *capture)
{
	uint64_t looked_ns = clock_now_ns();
	struct err err;
	int r = 0;

	cli_catch_interrupts();
	if (capture->out.file)
		signal(SIGPIPE, SIG_IGN);
	while (!r && !capture_is_over(capture)) {
		capture_wait(capture);
		r = capture_turn(capture, &looked_ns, &err);
	}
	if (!r)
		r = capture_finish(capture, &err);
	if (r)
		return cli_refuse(&err);
	capture_say_counts(capture);
	return CLI_DONE;
}

static enum cli_exit capture_begin(struct capture *capture, const char *file)
{
	const char *first = capture_first_slave(capture);
	enum cli_exit status = CLI_REFUSED;
	struct err err = { "" };
	int r = 0;

	if (capture->slave && !first)
		r = err_set(&err, ENOENT, "%s is not a slave of %s; 'bondctl show %s' lists them",
			    capture->slave, capture->bond, capture->bond);
	if (!r && capture->expression)
		r = capture_compile(capture, first, &err);
	capture_out_begin(&capture->out, file, capture->bond);
	if (!r)
		r = capture_settle_slaves(capture, &err);
	if (!r)
		r = capture_out_open(&capture->out, &err);
	if (!r)
		r = capture_out_flush(&capture->out, &err);
	if (!r && capture->pins->table->flags & XBOND_F_XDP_TX)
		cli_say("frames that XDP programs send through %s are not seen", capture->bond);
	if (r)
		cli_say("%s", err.text);
	else
		status = capture_run(capture);
	free(capture->filter.filter);
	capture_free(capture);
	return status;
}

/* The words after BOND, with blanks between them; NULL without any. free() it. */
static char *capture_join(int argc, char **argv)
{
	size_t size = 1;
	char *joined;

	for (int i = 1; i < argc; i++)
		size += strlen(argv[i]) + 1;
	joined = argc > 1 ? memory_need(calloc(1, size)) : NULL;
	for (int i = 1; i < argc; i++) {
		strcat(joined, i > 1 ? " " : "");
		strcat(joined, argv[i]);
	}
	return joined;
}

enum cli_exit cmd_capture(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const char *file = cli_flag(cli, verb, "--write");
	unsigned long long most = 0, snaplen = file ? TAP_MOST : TEXT_SNAPLEN;
	struct capture capture = { .bond = argv[0], .slave = cli_flag(cli, verb, "--slave") };
	char name[XBOND_NAME_SIZE], *expression;
	enum cli_exit status;
	struct pins pins;

	if (cli->json)
		return cli_usage(verb,
				 "no JSON here; 'bondctl capture %s -w - | tshark -r - -T json' "
				 "makes some",
				 argv[0]);
	if (cli_number(cli, verb, "--count", 1ULL << 62, &most) ||
	    cli_number(cli, verb, "--snaplen", TAP_MOST, &snaplen))
		return CLI_USAGE;
	if (cli_open(cli, argv[0], &pins))
		return CLI_REFUSED;
	capture.slave = cli_slave_name(&pins, capture.slave, name);
	capture.pins = &pins;
	capture.most = most;
	capture.snaplen = (uint32_t)snaplen;
	capture.expression = expression = capture_join(argc, argv);
	status = capture_begin(&capture, file);
	free(expression);
	pins_close(&pins);
	return status;
}
