/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/pins.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/monitor.h"

/* Between two looks while nothing would tell of a change; with many bonds longer. */
#define LOOK_US 5000
#define LOOK_PER_BOND_US 500
/*
 * Tracepoints tell of every device of the machine. If they tell more often than this, for each
 * bond, the next look is that of the timer.
 */
#define PAUSE_PER_BOND_NS (100 * 1000ull)
#define LOOK_ACCURACY_US 500

struct wake {
	int fd; /* an epoll of all rings */
	struct carrier_watch *watch;
	uint64_t netns_cookie;
	uint64_t looked_ns; /* at all bonds */
	sd_event_source *io, *timer;
};

struct wake_bond {
	struct ring_buffer *ring; /* NULL: its programs tell nothing */
	int doubt;		  /* carrier_watch_add_doubt() */
	bool unsure; /* packets avoid a slot of which the kernel has not decided: look again */
};

struct part wake_part = { .bond_size = sizeof(struct wake_bond) };

static struct wake_bond *wake_of(const struct bond *bond)
{
	return part_of_bond(bond, &wake_part);
}

static bool look_set(struct bond *bond, unsigned int slot, bool up, uint64_t since_ns)
{
	if (!verdict_is_known(bond, slot, XBOND_MONITOR_CARRIER) ||
	    verdict_of(bond, slot, XBOND_MONITOR_CARRIER) == up)
		return false; /* it is being enslaved, or this is not news */
	if (!up)
		failover_began(bond, slot, since_ns);
	return verdict_set(bond, slot, XBOND_MONITOR_CARRIER, up);
}

/*
 * A slot that is neither up nor lost keeps its verdict: the kernel has not acted on a change yet. A
 * slot whose loss is known has left the table, so its next loss is news.
 */
bool look_take(struct bond *bond, uint64_t since_ns)
{
	uint64_t up, lost;
	bool changed = false;

	if (!dataplane_look(&bond->dataplane, &up, &lost))
		return false;
	bond_for_each_member (bond, slot)
		if (slots_have(up | lost, slot))
			changed |= look_set(bond, slot, slots_have(up, slot), since_ns);
	if (changed)
		bond_evaluate(bond);
	wake_of(bond)->unsure = !dataplane_listen_for(&bond->dataplane, up | lost);
	return true;
}

/* Where the kernel lets nobody look, the record itself says what has happened. */
static void wake_on_change(void *arg, const struct watch_record *record)
{
	struct daemon *daemon = arg;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		int slot = bond_slot_by_ifindex(bond, (int)record->ifindex);

		if (slot < 0 || !bond_is_ready(bond) || look_take(bond, record->ns))
			continue;
		if (record->what == WATCH_LOST)
			carrier_message_take_loss(bond, (unsigned int)slot, clock_now_ns());
		else
			poll_soon(bond);
	}
}

static int wake_on_loss(void *arg, void *data, size_t size)
{
	const struct xbond_loss *loss = data;
	struct bond *bond = arg;

	if (size >= sizeof(*loss) && bond_is_ready(bond))
		look_take(bond, loss->ns);
	return 0;
}

static unsigned int wake_bonds(const struct daemon *daemon)
{
	unsigned int count = 0;

	for (const struct bond *bond = daemon->bonds; bond; bond = bond->next)
		count++;
	return count;
}

/* Where the kernel lets nobody look, the drivers are asked. */
static void wake_look_at_all(struct daemon *daemon, uint64_t since_ns)
{
	daemon->wake->looked_ns = clock_now_ns();
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond_is_ready(bond) && !look_take(bond, since_ns))
			poll_soon(bond);
}

static bool wake_must_look(const struct daemon *daemon)
{
	bool must = carrier_watch_is_blind(daemon->wake->watch);

	for (const struct bond *bond = daemon->bonds; bond && !must; bond = bond->next)
		must = wake_of(bond)->unsure;
	return must;
}

static uint64_t wake_interval_us(const struct daemon *daemon)
{
	uint64_t us = wake_bonds(daemon) * (uint64_t)LOOK_PER_BOND_US;

	return us > LOOK_US ? us : LOOK_US;
}

static void wake_arm(const struct daemon *daemon)
{
	if (wake_must_look(daemon))
		loop_timer_after(daemon->wake->timer, wake_interval_us(daemon));
	else
		loop_timer_at(daemon->wake->timer, UINT64_MAX);
}

/* While the main loop waits for something else, the timer does not run. */
static bool wake_is_time_to_look(const struct daemon *daemon, bool told)
{
	uint64_t passed_ns = clock_now_ns() - daemon->wake->looked_ns;

	if (told && carrier_watch_source(daemon->wake->watch) == XBOND_CARRIER_TRACEPOINT)
		return passed_ns >= wake_bonds(daemon) * PAUSE_PER_BOND_NS;
	return wake_must_look(daemon) && passed_ns >= wake_interval_us(daemon) * 1000;
}

void wake_read(struct daemon *daemon)
{
	uint64_t since_ns = carrier_watch_read(daemon->wake->watch);

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (wake_of(bond)->ring)
			ring_buffer__consume(wake_of(bond)->ring);
	if (wake_is_time_to_look(daemon, since_ns))
		wake_look_at_all(daemon, since_ns ? since_ns : clock_now_ns());
	wake_arm(daemon);
}

static int wake_on_record(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return burst_run(arg, "carrier", wake_read);
}

static int wake_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct daemon *daemon = arg;

	latency_note("carrier");
	burst_begin(daemon);
	wake_look_at_all(daemon, clock_now_ns());
	burst_end(daemon);
	wake_arm(daemon);
	return 0;
}

static int wake_start(struct daemon *daemon, struct wake *wake)
{
	int r = carrier_watch_fd(wake->watch) < 0
			? 0
			: loop_epoll_add(wake->fd, carrier_watch_fd(wake->watch), EPOLLIN);

	if (r >= 0)
		r = sd_event_add_io(daemon->event, &wake->io, wake->fd, EPOLLIN, wake_on_record,
				    daemon);
	if (r >= 0)
		r = sd_event_source_set_priority(wake->io, SD_EVENT_PRIORITY_IMPORTANT);
	return r < 0 ? r
		     : loop_timer(daemon->event, LOOK_ACCURACY_US, wake_on_time, daemon,
				  &wake->timer);
}

int wake_init(struct daemon *daemon)
{
	struct wake *wake = memory_need(calloc(1, sizeof(*wake)));

	daemon->wake = wake;
	wake->netns_cookie = link_netns_cookie();
	wake->fd = epoll_create1(EPOLL_CLOEXEC);
	if (wake->fd < 0)
		return -errno;
	wake->watch = carrier_watch_new(wake_on_change, daemon);
	return wake->watch ? wake_start(daemon, wake) : -ENOMEM;
}

void wake_done(struct daemon *daemon)
{
	struct wake *wake = daemon->wake;

	sd_event_source_disable_unref(wake->io);
	sd_event_source_disable_unref(wake->timer);
	carrier_watch_free(wake->watch);
	close(wake->fd);
	free(wake);
	daemon->wake = NULL;
}

int wake_fd(const struct daemon *daemon)
{
	return daemon->wake->fd;
}

static void wake_note_source(struct bond *bond)
{
	if (bond->dataplane.pins.failover)
		bond->dataplane.pins.failover->carrier_source =
			carrier_watch_source(bond->daemon->wake->watch);
}

static void wake_add_doubt(struct bond *bond)
{
	int fd = pin_open(bond->dataplane.pins.dir, XBOND_PIN_DOUBT);

	wake_of(bond)->doubt = fd < 0 ? -1 : carrier_watch_add_doubt(bond->daemon->wake->watch, fd);
	if (fd >= 0)
		close(fd);
}

/* A bond without the ring has older programs; the other ways remain. */
void wake_add(struct bond *bond)
{
	int fd = pin_open(bond->dataplane.pins.dir, XBOND_PIN_LOSSES);

	wake_note_source(bond);
	wake_add_doubt(bond);
	if (fd < 0)
		return;
	wake_of(bond)->ring = ring_buffer__new(fd, wake_on_loss, bond, NULL);
	close(fd);
	/* What an earlier bondd was told, and did not live to see. */
	dataplane_listen_for(&bond->dataplane, UINT64_MAX);
	if (wake_of(bond)->ring)
		loop_epoll_add(bond->daemon->wake->fd, ring_buffer__epoll_fd(wake_of(bond)->ring),
			       EPOLLIN);
	else
		event_warning(bond_pin(bond)->name, NULL,
			      "cannot read what the programs report of carriers: %m");
}

void wake_remove(struct bond *bond)
{
	carrier_watch_drop_doubt(bond->daemon->wake->watch, wake_of(bond)->doubt);
	ring_buffer__free(wake_of(bond)->ring);
	wake_of(bond)->ring = NULL;
}

void wake_settle(struct daemon *daemon)
{
	struct wake *wake = daemon->wake;
	uint32_t *watched = NULL; /* ifindexes */
	unsigned int count = 0;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		bond_for_each_member (bond, slot) {
			memory_more(watched, count);
			watched[count++] = bond_slave(bond, slot)->ifindex;
		}
		wake_note_source(bond);
	}
	carrier_watch_set(wake->watch, wake->netns_cookie, watched, count);
	free(watched);
}
