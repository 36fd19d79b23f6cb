/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/meanwhile.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/fail_over_mac.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/monitor/monitor.h"
#include "daemon/watch.h"

#define BEAT_NS (500 * NS_PER_MS)

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

static bool meanwhile_is_delay_over(struct bond *bond, uint64_t now_ns)
{
	bond_for_each_member (bond, slot)
		if (bond->members[slot].delay.deadline_ns &&
		    bond->members[slot].delay.deadline_ns <= now_ns)
			return true;
	return false;
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
	news = lacp_thread_acknowledge(daemon->lacp_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!bond_is_ready(bond))
			continue;
		if (beat)
			dataplane_beat(&bond->dataplane);
		if ((bond->lacp.thread && news) || meanwhile_is_delay_over(bond, now_ns))
			bond_evaluate(bond);
		if (!bond->device.away)
			fail_over_mac_follow(bond);
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
		watch_read_kept(daemon);
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

static int meanwhile_add(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int meanwhile_init(struct daemon *daemon)
{
	int fd = epoll_create1(EPOLL_CLOEXEC), r = fd < 0 ? -errno : 0;

	if (!r)
		r = meanwhile_add(fd, rtnl_listener_fd(&daemon->listener));
	if (!r)
		r = meanwhile_add(fd, lacp_thread_fd(daemon->lacp_thread));
	if (!r)
		r = meanwhile_add(fd, bfd_thread_fd(daemon->bfd_thread));
	if (!r)
		r = meanwhile_add(fd, burst_fd(daemon));
	if (!r)
		r = meanwhile_add(fd, poll_fd(daemon));
	if (!r)
		r = meanwhile_add(fd, wake_fd(daemon));
	meanwhile = (struct idle_work){ .fd = fd, .turn = meanwhile_turn, .arg = daemon };
	if (!r)
		idle_set_work(&meanwhile);
	return r;
}

void meanwhile_done(void)
{
	idle_set_work(NULL);
	if (meanwhile.fd >= 0)
		close(meanwhile.fd);
	meanwhile.fd = -1;
}
