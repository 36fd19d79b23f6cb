/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bondd: command line, start, event loop, stop. When it stops, every bond goes on. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "daemon/announce/announce.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/base/worker.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/control/control.h"
#include "daemon/device/device.h"
#include "daemon/handover/handover.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/manage/plan.h"
#include "daemon/metrics/metrics.h"
#include "daemon/monitor/monitor.h"
#include "daemon/watch.h"

#define BEAT_NS (500 * NS_PER_MS)

/*
 * What goes on while the main loop waits for a child, which may take ten seconds: carriers, news of
 * LACP, delays, polls and heartbeats of all bonds. Everything else waits, including requests.
 */
static struct idle_work meanwhile = { .fd = -1 };

static void meanwhile_on_link(const struct link_info *link, bool gone, void *arg)
{
	struct daemon *daemon = arg;
	uint64_t now_ns = clock_now_ns();

	for (struct bond *bond = daemon->bonds; bond && (gone || !link->carrier);
	     bond = bond->next) {
		int slot = bond_slot_by_ifindex(bond, link->ifindex);

		if (slot >= 0)
			carrier_message_take_loss(bond, (unsigned int)slot, now_ns);
	}
}

static void meanwhile_serve_bonds(struct daemon *daemon)
{
	static uint64_t beat_ns;
	uint64_t now_ns = clock_now_ns();
	bool beat = now_ns - beat_ns >= BEAT_NS, news;

	if (beat) {
		beat_ns = now_ns;
		pulse_beat();
	}
	news = realtime_acknowledge(daemon->lacp_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!bond_is_ready(bond))
			continue;
		if (beat)
			dataplane_beat(&bond->dataplane);
		if ((bond_lacp_thread(bond) && news) || delay_is_over(bond, now_ns))
			bond_evaluate(bond);
		if (!bond->device.away)
			fail_over_mac_settle(bond);
	}
}

/* Whoever has asked for what is waited for has not asked for what is done meanwhile. */
static void meanwhile_turn(void *arg)
{
	struct daemon *daemon = arg;
	bool was_in_burst = daemon->in_burst;
	int author = event_set_author(0);

	burst_begin(daemon);
	if (rtnl_listener_glance(&daemon->listener, meanwhile_on_link))
		daemon_read_kept(daemon);
	meanwhile_serve_bonds(daemon);
	monitor_bfd_take_news(daemon);
	wake_read(daemon);
	poll_ask(daemon);
	poll_answer(daemon);
	arp_work(daemon);
	burst_settled(daemon);
	daemon->in_burst = was_in_burst;
	event_set_author(author);
}

/* Call it after the listener, the LACP thread and burst_init(). Returns 0 or -errno. */
static int meanwhile_init(struct daemon *daemon)
{
	int fds[] = { rtnl_listener_fd(&daemon->listener), daemon->lacp_thread->news_fd,
		      daemon->bfd_thread->news_fd,	   burst_fd(daemon),
		      daemon->poller->worker.fd,	   wake_fd(daemon) };
	int fd = epoll_create1(EPOLL_CLOEXEC), r = fd < 0 ? -errno : 0;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]) && !r; i++)
		r = loop_epoll_add(fd, fds[i], EPOLLIN);
	meanwhile = (struct idle_work){ .fd = fd, .turn = meanwhile_turn, .arg = daemon };
	if (!r)
		idle_set_work(&meanwhile);
	return r;
}

static void meanwhile_done(void)
{
	idle_set_work(NULL);
	if (meanwhile.fd >= 0)
		close(meanwhile.fd);
	meanwhile.fd = -1;
}

#define EXIT_USAGE 2
#define MAX_FDS 65536

static const char usage[] =
	"usage: bondd [--run-dir DIR] [--bpf-dir DIR] [--config-dir DIR]\n"
	"             [--hook auto|tcx|clsact] [--metrics ADDR:PORT|unix:PATH]\n"
	"\n"
	"Manages the bonds that bondctl makes: watches their links, and tells the BPF\n"
	"programs which of them to use. Runs in the foreground and logs to stderr. When\n"
	"it stops, the bonds continue.\n"
	"\n"
	"  --run-dir DIR     control socket and lock  (XBOND_RUN_DIR, /run/xbond)\n"
	"  --bpf-dir DIR     pinned maps and programs (XBOND_BPF_DIR, /sys/fs/bpf/xbond)\n"
	"  --config-dir DIR  BOND.conf files          (XBOND_CONFIG_DIR, /etc/xbond)\n"
	"  --hook HOOK       how new bonds attach their programs: tcx (Linux 6.6 on),\n"
	"                    clsact, or auto (default): tcx where the kernel has it\n"
	"  --metrics WHERE   answers HTTP with metrics and a page, read-only:\n"
	"                    127.0.0.1:9977, [::1]:9977 or unix:/PATH\n"
	"                    (XBOND_METRICS, off)\n"
	"  --help, --version\n";

static int bondd_set_hook(struct daemon *daemon, const char *text)
{
	static const char *const names[] = {
		[HOOK_AUTO] = "auto",
		[HOOK_TCX] = "tcx",
		[HOOK_CLSACT] = "clsact",
	};

	for (int choice = HOOK_AUTO; choice <= HOOK_CLSACT; choice++) {
		if (strcmp(text, names[choice]))
			continue;
		daemon->hook = choice;
		return 0;
	}
	fprintf(stderr, "bondd: --hook takes auto, tcx or clsact, not %s\n", text);
	return -EINVAL;
}

/* Returns an exit status, or -1 to go on. */
static int bondd_check_arguments(const struct daemon *daemon, int argc, char **argv)
{
	struct err err;

	if (optind < argc) {
		fprintf(stderr, "bondd: unexpected argument %s; see bondd --help\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (!daemon->metrics_at || !metrics_check(daemon->metrics_at, &err))
		return -1;
	fprintf(stderr, "bondd: %s\n", err.text);
	return EXIT_USAGE;
}

/* Returns an exit status, or -1 to go on. */
static int bondd_parse_arguments(struct daemon *daemon, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "run-dir", required_argument, NULL, 'r' },
		{ "bpf-dir", required_argument, NULL, 'b' },
		{ "config-dir", required_argument, NULL, 'c' },
		{ "hook", required_argument, NULL, 'k' },
		{ "metrics", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, ":h", long_options, NULL)) >= 0) {
		switch (letter) {
		case 'r': daemon->paths.run_dir = optarg; break;
		case 'b': daemon->paths.bpf_dir = optarg; break;
		case 'c': daemon->paths.config_dir = optarg; break;
		case 'm': daemon->metrics_at = optarg; break;
		case 'k':
			if (bondd_set_hook(daemon, optarg))
				return EXIT_USAGE;
			break;
		case 'h': fputs(usage, stdout); return 0;
		case 'v': printf("bondd %s\n", xbond_version); return 0;
		default:
			fprintf(stderr, "bondd: %s %s; see bondd --help\n",
				letter == ':' ? "no argument after" : "unknown flag",
				argv[optind - 1]);
			return EXIT_USAGE;
		}
	}
	return bondd_check_arguments(daemon, argc, argv);
}

/* As `bondctl apply` does it; the log says what was done. */
static int bondd_on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	struct apply_order order = { 0 };

	latency_note("apply");
	log_info("SIGHUP: every bond becomes what its configuration file says");
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_now_ns() / 1000);
	json_decref(apply_all(arg, &order));
	sd_notify(0, "READY=1");
	return 0;
}

static int bondd_watch_signals(struct daemon *daemon)
{
	sd_event *event = daemon->event;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	if (sd_event_add_signal(event, NULL, SIGHUP, bondd_on_hangup, daemon) < 0)
		return -ENOMEM;
	/* Without a handler, sd-event leaves the loop. */
	if (sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0)
		return -ENOMEM;
	return sd_event_add_signal(event, NULL, SIGINT, NULL, NULL) < 0 ? -ENOMEM : 0;
}

/* What watches links for all bonds at once. They end from the bottom up. */
static const struct {
	int (*init)(struct daemon *daemon);
	void (*done)(struct daemon *daemon);
} watchers[] = {
	{ watch_init, watch_done },
	{ wake_init, wake_done },
	{ poll_init, poll_done },
	{ quality_init, quality_done },
};

static int bondd_open_sockets(struct daemon *daemon)
{
	int r = sd_event_default(&daemon->event);

	if (r >= 0)
		r = bondd_watch_signals(daemon);
	if (r >= 0)
		r = nl_init(&daemon->nl);
	if (r >= 0)
		r = ethtool_init(&daemon->ethtool);
	for (size_t i = 0; i < sizeof(watchers) / sizeof(watchers[0]) && r >= 0; i++)
		r = watchers[i].init(daemon);
	return r < 0 ? r : 0;
}

/* Memory is locked by maps before Linux 5.11. Both end with CAP_SYS_RESOURCE. */
static void bondd_raise_limits(void)
{
	struct rlimit fds = { MAX_FDS, MAX_FDS }, memory = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_NOFILE, &fds);
	setrlimit(RLIMIT_MEMLOCK, &memory);
}

/* The programs go by the kernel's clock, and compare its times with those of bondd. */
static int bondd_check_clock(struct err *err)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long seconds = 0, ns = 0;

	if (!file)
		return 0;
	if (fscanf(file, "monotonic %ld %ld", &seconds, &ns) != 2)
		seconds = ns = 0;
	fclose(file);
	return !seconds && !ns ? 0
			       : err_set(err, EINVAL,
					 "cannot run in a time namespace whose monotonic clock is "
					 "not the kernel's (/proc/self/timens_offsets)");
}

/* Listening begins last, so a client that gets an answer finds every bond in place. */
static int bondd_start(struct daemon *daemon, struct err *err)
{
	int r = bondd_check_clock(err);

	if (!r)
		r = directories_open(&daemon->paths, err);
	if (r)
		return r;
	event_init(daemon->paths.run_dir);
	parts_list();
	bondd_raise_limits();
	pulse_init();
	dataplane_init(&daemon->paths);
	daemon->lacp_thread = realtime_new(&lacp_thread_kind, err);
	daemon->bfd_thread = daemon->lacp_thread ? realtime_new(&bfd_thread_kind, err) : NULL;
	if (!daemon->bfd_thread)
		return -ENOMEM;
	r = bondd_open_sockets(daemon);
	if (r)
		return err_set(err, -r, "cannot start: %s", strerror(-r));
	daemon->announcer = announcer_new(err);
	if (!daemon->announcer || burst_init(daemon, err) || arp_init(daemon, err))
		return -ENOMEM;
	r = meanwhile_init(daemon);
	if (r)
		return err_set(err, -r, "cannot start: %s", strerror(-r));
	r = adopt_all(daemon, err);
	if (r)
		return r;
	handover_recover(daemon, false);
	config_apply_all(daemon);
	rollback_resume(daemon, NULL);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		team_ports_look(bond);
	pins_find_group(daemon);
	return control_init(daemon, err);
}

/* Bonds do without it, so it is no reason to end. */
static void bondd_start_metrics(struct daemon *daemon)
{
	struct err err;

	if (!daemon->metrics_at)
		return;
	daemon->metrics = metrics_new(daemon->metrics_at, &daemon->paths, daemon->reader_gid, &err);
	if (!daemon->metrics)
		log_error("%s", err.text);
}

static void bondd_stop(struct daemon *daemon)
{
	handover_stop();
	metrics_free(daemon->metrics);
	meanwhile_done();
	control_done(daemon);
	rollback_stop();
	memory_free_texts(daemon->unadopted);
	lifecycle_let_go(daemon);
	arp_done(daemon);
	for (size_t i = sizeof(watchers) / sizeof(watchers[0]); i-- > 0;)
		watchers[i].done(daemon);
	announcer_free(daemon->announcer);
	burst_done(daemon);
	realtime_free(daemon->lacp_thread);
	realtime_free(daemon->bfd_thread);
	ethtool_done(&daemon->ethtool);
	nl_done(&daemon->nl);
	sd_event_unref(daemon->event);
	latency_stop(daemon->paths.run_dir);
	event_done();
}

/* The same as sd_event_loop(), but measured. Returns 0 or -errno. */
static int bondd_run(struct daemon *daemon)
{
	int r = 0;

	latency_start(daemon->paths.run_dir);
	while (r >= 0 && sd_event_get_state(daemon->event) != SD_EVENT_FINISHED) {
		r = sd_event_prepare(daemon->event);
		if (!r)
			r = sd_event_wait(daemon->event, UINT64_MAX);
		if (r <= 0)
			continue;
		latency_begin_turn();
		r = sd_event_dispatch(daemon->event);
		latency_end_turn();
	}
	return r < 0 ? r : 0;
}

int main(int argc, char **argv)
{
	struct daemon daemon = { 0 };
	struct err err;
	int status, r;

#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1); /* its threads need no memory arenas of their own */
	/* Large blocks, such as libbpf's 10 MB of the kernel's types, are given back. */
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
#endif
	memory_init();
	paths_keep_standard();
	signal(SIGPIPE, SIG_IGN); /* a reader of the log that dies must not end bondd */
	paths_init(&daemon.paths);
	daemon.metrics_at = paths_from_env("XBOND_METRICS", NULL);
	status = bondd_parse_arguments(&daemon, argc, argv);
	if (status >= 0)
		return status;
	if (bondd_start(&daemon, &err)) {
		log_error("%s", err.text);
		return EXIT_FAILURE;
	}
	log_info("ready");
	sd_notify(0, "READY=1");
	bondd_start_metrics(&daemon);
	capabilities_drop();
	r = bondd_run(&daemon);
	if (r < 0)
		log_error("cannot wait for events: %s; bondd must be started again", strerror(-r));
	sd_notify(0, "STOPPING=1");
	log_info("stopping; the bonds continue");
	bondd_stop(&daemon);
	return r < 0 ? EXIT_FAILURE : 0;
}
