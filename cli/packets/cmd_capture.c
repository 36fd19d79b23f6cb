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

#include "cli/base/cli.h"
#include "cli/packets/capture_run.h"
#include "common/clock.h"
#include "common/err.h"

#define LOOK_MS 200 /* for slaves that come and go */
#define TEXT_SNAPLEN 256

static volatile sig_atomic_t capture_is_over;

static void capture_on_signal(int number)
{
	(void)number;
	capture_is_over = 1;
}

/* A second signal ends the process at once, if the first was not enough. */
static void capture_take_signals(const struct capture *capture)
{
	struct sigaction action = { .sa_handler = capture_on_signal,
				    .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (capture->out.file)
		signal(SIGPIPE, SIG_IGN);
}

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
		if (pins_is_member(capture->pins, slot) &&
		    (!capture->slave || !strcmp(capture->pins->slaves[slot].name, capture->slave)))
			return capture->pins->slaves[slot].name;
	return NULL;
}

static void capture_write_due(struct capture *capture, uint64_t now_ns)
{
	struct order_packet *held;

	while (!capture_is_over || now_ns == UINT64_MAX) {
		if (capture->most && capture->packets >= capture->most) {
			capture_is_over = 1;
			return;
		}
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

static bool capture_bond_is_there(const struct capture *capture)
{
	return !access(capture->pins->dir, F_OK);
}

/* What fails for a slave that came later does not end the capture of the others. */
static void capture_look(struct capture *capture)
{
	struct err err;

	if (!capture_bond_is_there(capture)) {
		cli_say("%s has been deleted", capture->bond);
		capture_is_over = 1;
	} else if (capture_follow_slaves(capture, &err) &&
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
	if (!capture->most || capture->packets < capture->most) {
		usleep(3 * TAP_RETIRE_MS * 1000);
		capture_read(capture, 0);
		capture_write_due(capture, UINT64_MAX);
	}
	capture_close(capture);
	return capture_out_close(&capture->out, err);
}

static void capture_say_counts(const struct capture *capture)
{
	fprintf(stderr, "%llu packets captured, %llu dropped by the kernel\n",
		(unsigned long long)capture->packets, (unsigned long long)capture_dropped(capture));
	for (const struct capture_source *source = capture->sources; source; source = source->next)
		if (source->tap.dropped)
			fprintf(stderr, "%s %s: %llu dropped\n", source->device,
				source->tap.direction == TAP_IN ? "in" : "out",
				(unsigned long long)source->tap.dropped);
}

static enum cli_exit capture_run(struct capture *capture)
{
	uint64_t looked_ns = clock_now_ns();
	struct err err;
	int r = 0;

	capture_take_signals(capture);
	while (!r && !capture_is_over && !capture->out.closed) {
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
		r = capture_follow_slaves(capture, &err);
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
	unsigned long long most = 0, snaplen = TAP_MOST;
	const char *file = cli_flag(cli, verb, "--write");
	struct capture capture = { .bond = argv[0], .slave = cli_flag(cli, verb, "--slave") };
	enum cli_exit status;
	char *expression;
	struct pins pins;
	struct err err;

	if (cli->json)
		return cli_usage(verb,
				 "no JSON here; 'bondctl capture %s -w - | tshark -r - -T "
				 "json' makes some",
				 argv[0]);
	if (!file)
		snaplen = TEXT_SNAPLEN;
	if (cli_number(cli, verb, "--count", 1ULL << 62, &most) ||
	    cli_number(cli, verb, "--snaplen", TAP_MOST, &snaplen))
		return CLI_USAGE;
	if (pins_open(&pins, cli->paths.bpf_dir, argv[0], &err))
		return cli_refuse(&err);
	capture.pins = &pins;
	capture.most = most;
	capture.snaplen = (uint32_t)snaplen;
	capture.expression = expression = capture_join(argc, argv);
	status = capture_begin(&capture, file);
	free(expression);
	pins_close(&pins);
	return status;
}
