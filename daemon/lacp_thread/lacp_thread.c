/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread and its locking. One bond's PDUs, masks and pinned state: slowio_bond.c. */
#include "daemon/lacp_thread/lacp_thread.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/lacp_thread/lacp_thread_bond.h"

#define BEAT_NS (100 * NS_PER_MS) /* XBOND_LACP_AWAY_NS is five of these */
#define MAX_EPOLL 32

struct slowio {
	pthread_t thread;
	/* Of the list and of every bond's machines; never held over a blocking call. */
	pthread_mutex_t lock;
	bool running, stopping;
	int epoll_fd;
	int wake_fd; /* main loop -> thread */
	int news_fd; /* thread -> main loop */
	int send_fd;
	struct slowio_bond *bonds;
};

static void signal_fd(int fd)
{
	uint64_t one = 1;
	ssize_t written = write(fd, &one, sizeof(one));

	(void)written; /* a full counter is a signal, too */
}

/* Was there a signal? */
static bool clear_fd(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) > 0;
}

static bool watch_fd(struct slowio *slowio, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(slowio->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Control priority, so that a full queue of data does not delay a PDU. */
static int open_send_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	    priority = TC_PRIO_CONTROL;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	return fd;
}

/* A main loop that was preempted with the lock gets the CPU when the thread waits for it. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

struct slowio *slowio_new(struct err *err)
{
	struct slowio *slowio = calloc(1, sizeof(*slowio));

	if (!slowio) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	init_lock(&slowio->lock);
	slowio->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	slowio->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	slowio->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	slowio->send_fd = open_send_socket();
	if (slowio->epoll_fd < 0 || slowio->wake_fd < 0 || slowio->news_fd < 0 ||
	    slowio->send_fd < 0 || !watch_fd(slowio, slowio->wake_fd)) {
		err_set(err, errno, "no sockets for LACP: %m");
		slowio_free(slowio);
		return NULL;
	}
	return slowio;
}

int slowio_fd(const struct slowio *slowio)
{
	return slowio->news_fd;
}

bool slowio_acknowledge(struct slowio *slowio)
{
	return clear_fd(slowio->news_fd);
}

/* Runs what is due, beats every heart. Returns when to come again. */
static uint64_t run_bonds(struct slowio *slowio, uint64_t now_ns)
{
	uint64_t next_ns = slowio->bonds ? now_ns + BEAT_NS : LACP_NEVER;
	bool news = false;

	for (struct slowio_bond *bond = slowio->bonds; bond; bond = bond->next) {
		slowio_bond_run(bond, now_ns);
		if (bond->deadline_ns < next_ns)
			next_ns = bond->deadline_ns;
		news |= bond->has_news;
		bond->has_news = false;
	}
	if (news)
		signal_fd(slowio->news_fd);
	return next_ns;
}

static void wait_until(const struct slowio *slowio, uint64_t next_ns)
{
	uint64_t now_ns = clock_now_ns(), wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
	struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
				    .tv_nsec = (long)(wait_ns % NS_PER_S) };
	struct epoll_event events[MAX_EPOLL];

	epoll_pwait2(slowio->epoll_fd, events, MAX_EPOLL, next_ns == LACP_NEVER ? NULL : &timeout,
		     NULL);
}

static void *run(void *arg)
{
	struct slowio *slowio = arg;

	pthread_setname_np(pthread_self(), "slowio");
	for (;;) {
		uint64_t next_ns;

		pthread_mutex_lock(&slowio->lock);
		if (slowio->stopping)
			break;
		clear_fd(slowio->wake_fd);
		next_ns = run_bonds(slowio, clock_now_ns());
		pthread_mutex_unlock(&slowio->lock);
		wait_until(slowio, next_ns);
	}
	pthread_mutex_unlock(&slowio->lock);
	return NULL;
}

/*
 * Before other work of the machine, so that a busy CPU does not cost an aggregate. Refused is no
 * error.
 */
static int start_thread(struct slowio *slowio)
{
	struct sched_param priority = { .sched_priority = 1 };
	int r;

	if (slowio->running)
		return 0;
	r = pthread_create(&slowio->thread, NULL, run, slowio);
	if (r)
		return -r;
	pthread_setschedparam(slowio->thread, SCHED_RR, &priority);
	slowio->running = true;
	return 0;
}

void slowio_free(struct slowio *slowio)
{
	int fds[] = { slowio->epoll_fd, slowio->wake_fd, slowio->news_fd, slowio->send_fd };

	if (slowio->running) {
		pthread_mutex_lock(&slowio->lock);
		slowio->stopping = true;
		pthread_mutex_unlock(&slowio->lock);
		signal_fd(slowio->wake_fd);
		pthread_join(slowio->thread, NULL);
	}
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&slowio->lock);
	free(slowio);
}

/* What follows a change by the main loop: the thread runs the machines. */
static void release_and_wake(struct slowio *slowio)
{
	pthread_mutex_unlock(&slowio->lock);
	signal_fd(slowio->wake_fd);
}

struct slowio_bond *slowio_add(struct slowio *slowio, const struct pins *pins, uint64_t members,
			       const struct lacp_config *config, struct err *err)
{
	struct slowio_bond *bond = slowio_bond_new(slowio, slowio->send_fd, pins, err);
	int r;

	if (!bond)
		return NULL;
	r = start_thread(slowio);
	if (r || !watch_fd(slowio, slowio_bond_fd(bond))) {
		err_set(err, r ? -r : errno, "no LACP thread: %s", strerror(r ? -r : errno));
		slowio_bond_free(bond);
		return NULL;
	}
	pthread_mutex_lock(&slowio->lock);
	slowio_bond_start(bond, members, config);
	bond->next = slowio->bonds;
	slowio->bonds = bond;
	release_and_wake(slowio);
	return bond;
}

void slowio_remove(struct slowio_bond *bond, bool forget)
{
	struct slowio *slowio = bond->slowio;
	struct slowio_bond **at = &slowio->bonds;

	pthread_mutex_lock(&slowio->lock);
	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
	if (forget)
		slowio_bond_forget(bond);
	__atomic_store_n(&bond->table->lacp_heartbeat_ns, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&slowio->lock);
	epoll_ctl(slowio->epoll_fd, EPOLL_CTL_DEL, slowio_bond_fd(bond), NULL);
	slowio_bond_free(bond);
}

void slowio_linger(struct slowio_bond *bond, uint64_t slots)
{
	pthread_mutex_lock(&bond->slowio->lock);
	bond->lingering = slots;
	pthread_mutex_unlock(&bond->slowio->lock);
}

void slowio_publish(struct slowio_bond *bond, uint64_t tx, uint64_t members, enum slowio_pair pair)
{
	pthread_mutex_lock(&bond->slowio->lock);
	slowio_bond_publish(bond, tx, members, pair);
	pthread_mutex_unlock(&bond->slowio->lock);
}

int slowio_configure(struct slowio_bond *bond, const struct lacp_config *config)
{
	int r;

	pthread_mutex_lock(&bond->slowio->lock);
	r = lacp_configure(&bond->sys, config, clock_now_ns());
	bond->changed = true;
	release_and_wake(bond->slowio);
	return r;
}

int slowio_set_port(struct slowio_bond *bond, unsigned int slot, int ifindex,
		    const struct lacp_port_config *config)
{
	int r;

	pthread_mutex_lock(&bond->slowio->lock);
	r = slowio_bond_set_port(bond, slot, ifindex, config);
	release_and_wake(bond->slowio);
	return r;
}

void slowio_remove_port(struct slowio_bond *bond, unsigned int slot)
{
	pthread_mutex_lock(&bond->slowio->lock);
	slowio_bond_remove_port(bond, slot);
	release_and_wake(bond->slowio);
}

int slowio_drain(struct slowio_bond *bond, unsigned int slot)
{
	int r;

	pthread_mutex_lock(&bond->slowio->lock);
	r = lacp_drain(&bond->sys, slot, clock_now_ns());
	if (!r)
		__atomic_or_fetch(&bond->draining, UINT64_C(1) << slot, __ATOMIC_RELEASE);
	bond->changed = true;
	release_and_wake(bond->slowio);
	return r;
}

bool slowio_take(struct slowio_bond *bond, struct slowio_event *ret_event)
{
	bool taken = false;

	pthread_mutex_lock(&bond->slowio->lock);
	if (bond->event_count) {
		*ret_event = bond->events[0];
		memmove(bond->events, bond->events + 1,
			--bond->event_count * sizeof(bond->events[0]));
		taken = true;
	}
	pthread_mutex_unlock(&bond->slowio->lock);
	return taken;
}
