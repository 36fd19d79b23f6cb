/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The LACP thread and its locking. lacp_thread_bond.c has the PDUs, masks and pinned state of one
 * bond.
 */
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

struct lacp_thread {
	pthread_t thread;
	/* Protects the list and the machines of every bond; never held during a blocking call. */
	pthread_mutex_t lock;
	bool running, stopping;
	int epoll_fd;
	int wake_fd; /* main loop -> thread */
	int news_fd; /* thread -> main loop */
	int send_fd;
	struct lacp_thread_bond *bonds;
};

static void lacp_thread_signal_fd(int fd)
{
	uint64_t one = 1;
	ssize_t written = write(fd, &one, sizeof(one));

	(void)written; /* a full counter is also a signal */
}

/* Was there a signal? */
static bool lacp_thread_clear_fd(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) > 0;
}

static bool lacp_thread_watch_fd(struct lacp_thread *lacp_thread, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(lacp_thread->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Control priority, so that a full queue of data does not delay a PDU. */
static int lacp_thread_open_send_socket(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	    priority = TC_PRIO_CONTROL;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	return fd;
}

/*
 * If the main loop was preempted while it holds the lock, it gets the CPU when the thread waits for
 * the lock.
 */
static void lacp_thread_init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

struct lacp_thread *lacp_thread_new(struct err *err)
{
	struct lacp_thread *lacp_thread = calloc(1, sizeof(*lacp_thread));

	if (!lacp_thread) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	lacp_thread_init_lock(&lacp_thread->lock);
	lacp_thread->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	lacp_thread->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lacp_thread->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lacp_thread->send_fd = lacp_thread_open_send_socket();
	if (lacp_thread->epoll_fd < 0 || lacp_thread->wake_fd < 0 || lacp_thread->news_fd < 0 ||
	    lacp_thread->send_fd < 0 || !lacp_thread_watch_fd(lacp_thread, lacp_thread->wake_fd)) {
		err_set(err, errno, "cannot open sockets for LACP: %m");
		lacp_thread_free(lacp_thread);
		return NULL;
	}
	return lacp_thread;
}

int lacp_thread_fd(const struct lacp_thread *lacp_thread)
{
	return lacp_thread->news_fd;
}

bool lacp_thread_acknowledge(struct lacp_thread *lacp_thread)
{
	return lacp_thread_clear_fd(lacp_thread->news_fd);
}

/* Runs what is due and renews every heartbeat. Returns the time of the next call. */
static uint64_t lacp_thread_run_bonds(struct lacp_thread *lacp_thread, uint64_t now_ns)
{
	uint64_t next_ns = lacp_thread->bonds ? now_ns + BEAT_NS : LACP_NEVER;
	bool news = false;

	for (struct lacp_thread_bond *bond = lacp_thread->bonds; bond; bond = bond->next) {
		lacp_thread_bond_run(bond, now_ns);
		if (bond->deadline_ns < next_ns)
			next_ns = bond->deadline_ns;
		news |= bond->has_news;
		bond->has_news = false;
	}
	if (news)
		lacp_thread_signal_fd(lacp_thread->news_fd);
	return next_ns;
}

static void lacp_thread_wait_until(const struct lacp_thread *lacp_thread, uint64_t next_ns)
{
	uint64_t now_ns = clock_now_ns(), wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
	struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
				    .tv_nsec = (long)(wait_ns % NS_PER_S) };
	struct epoll_event events[MAX_EPOLL];

	epoll_pwait2(lacp_thread->epoll_fd, events, MAX_EPOLL,
		     next_ns == LACP_NEVER ? NULL : &timeout, NULL);
}

static void *lacp_thread_run(void *arg)
{
	struct lacp_thread *lacp_thread = arg;

	pthread_setname_np(pthread_self(), "lacp");
	for (;;) {
		uint64_t next_ns;

		pthread_mutex_lock(&lacp_thread->lock);
		if (lacp_thread->stopping)
			break;
		lacp_thread_clear_fd(lacp_thread->wake_fd);
		next_ns = lacp_thread_run_bonds(lacp_thread, clock_now_ns());
		pthread_mutex_unlock(&lacp_thread->lock);
		lacp_thread_wait_until(lacp_thread, next_ns);
	}
	pthread_mutex_unlock(&lacp_thread->lock);
	return NULL;
}

/* A real-time priority, so that a busy CPU does not cost an aggregate. A refusal is no error. */
static int lacp_thread_start_thread(struct lacp_thread *lacp_thread)
{
	struct sched_param priority = { .sched_priority = 1 };
	int r;

	if (lacp_thread->running)
		return 0;
	r = pthread_create(&lacp_thread->thread, NULL, lacp_thread_run, lacp_thread);
	if (r)
		return -r;
	pthread_setschedparam(lacp_thread->thread, SCHED_RR, &priority);
	lacp_thread->running = true;
	return 0;
}

void lacp_thread_free(struct lacp_thread *lacp_thread)
{
	int fds[] = { lacp_thread->epoll_fd, lacp_thread->wake_fd, lacp_thread->news_fd,
		      lacp_thread->send_fd };

	if (lacp_thread->running) {
		pthread_mutex_lock(&lacp_thread->lock);
		lacp_thread->stopping = true;
		pthread_mutex_unlock(&lacp_thread->lock);
		lacp_thread_signal_fd(lacp_thread->wake_fd);
		pthread_join(lacp_thread->thread, NULL);
	}
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&lacp_thread->lock);
	free(lacp_thread);
}

/* After a change by the main loop, the thread runs the machines. */
static void lacp_thread_release_and_wake(struct lacp_thread *lacp_thread)
{
	pthread_mutex_unlock(&lacp_thread->lock);
	lacp_thread_signal_fd(lacp_thread->wake_fd);
}

struct lacp_thread_bond *lacp_thread_add(struct lacp_thread *lacp_thread, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err)
{
	struct lacp_thread_bond *bond =
		lacp_thread_bond_new(lacp_thread, lacp_thread->send_fd, pins, err);
	int r;

	if (!bond)
		return NULL;
	r = lacp_thread_start_thread(lacp_thread);
	if (r || !lacp_thread_watch_fd(lacp_thread, lacp_thread_bond_fd(bond))) {
		err_set(err, r ? -r : errno, "cannot start the LACP thread: %s",
			strerror(r ? -r : errno));
		lacp_thread_bond_free(bond);
		return NULL;
	}
	pthread_mutex_lock(&lacp_thread->lock);
	lacp_thread_bond_start(bond, members, config);
	bond->next = lacp_thread->bonds;
	lacp_thread->bonds = bond;
	lacp_thread_release_and_wake(lacp_thread);
	return bond;
}

void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget)
{
	struct lacp_thread *lacp_thread = bond->lacp_thread;
	struct lacp_thread_bond **at = &lacp_thread->bonds;

	pthread_mutex_lock(&lacp_thread->lock);
	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
	if (forget)
		lacp_thread_bond_forget(bond);
	__atomic_store_n(&bond->table->lacp_heartbeat_ns, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lacp_thread->lock);
	epoll_ctl(lacp_thread->epoll_fd, EPOLL_CTL_DEL, lacp_thread_bond_fd(bond), NULL);
	lacp_thread_bond_free(bond);
}

void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots)
{
	pthread_mutex_lock(&bond->lacp_thread->lock);
	bond->lingering = slots;
	pthread_mutex_unlock(&bond->lacp_thread->lock);
}

void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair)
{
	pthread_mutex_lock(&bond->lacp_thread->lock);
	lacp_thread_bond_publish(bond, tx, members, pair);
	pthread_mutex_unlock(&bond->lacp_thread->lock);
}

int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config)
{
	int r;

	pthread_mutex_lock(&bond->lacp_thread->lock);
	r = lacp_configure(&bond->sys, config, clock_now_ns());
	bond->changed = true;
	lacp_thread_release_and_wake(bond->lacp_thread);
	return r;
}

int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config)
{
	int r;

	pthread_mutex_lock(&bond->lacp_thread->lock);
	r = lacp_thread_bond_set_port(bond, slot, ifindex, config);
	lacp_thread_release_and_wake(bond->lacp_thread);
	return r;
}

void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot)
{
	pthread_mutex_lock(&bond->lacp_thread->lock);
	lacp_thread_bond_remove_port(bond, slot);
	lacp_thread_release_and_wake(bond->lacp_thread);
}

int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot)
{
	int r;

	pthread_mutex_lock(&bond->lacp_thread->lock);
	r = lacp_drain(&bond->sys, slot, clock_now_ns());
	if (!r)
		__atomic_or_fetch(&bond->draining, UINT64_C(1) << slot, __ATOMIC_RELEASE);
	bond->changed = true;
	lacp_thread_release_and_wake(bond->lacp_thread);
	return r;
}

bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event)
{
	bool taken = false;

	pthread_mutex_lock(&bond->lacp_thread->lock);
	if (bond->event_count) {
		*ret_event = bond->events[0];
		memmove(bond->events, bond->events + 1,
			--bond->event_count * sizeof(bond->events[0]));
		taken = true;
	}
	pthread_mutex_unlock(&bond->lacp_thread->lock);
	return taken;
}
