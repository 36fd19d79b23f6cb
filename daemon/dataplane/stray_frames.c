/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/attach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"

#define MOMENT_NS (20 * NS_PER_MS)
#define MEMORY_NS (5000 * NS_PER_MS)
#define FRAMES_AT_ONCE 64
#define PROTOCOLS 3

struct stray_frames {
	sd_event_source *source[PROTOCOLS];
	int fd[PROTOCOLS]; /* -1: none */
	stray_frames_handler handler;
	struct bond *bond;
	unsigned int slot;
	uint64_t since_ns;
	uint64_t heard_ns; /* the first of two frames; 0: none */
};

/*
 * Not link-local groups: the slave keeps some of these, and a neighbour could send anything there.
 */
static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x0180c200, 0, 3),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 4),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfff0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 1),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

static int stray_frames_open(int ifindex, uint16_t protocol)
{
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
					    (struct sock_filter *)filter };
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = ifindex,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) &&
	    !bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Two frames, neither at the same moment nor long after each other. */
static bool stray_frames_is_sure(struct stray_frames *strays)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - strays->since_ns < MOMENT_NS)
		return false;
	if (strays->heard_ns && now_ns - strays->heard_ns <= MEMORY_NS)
		return now_ns - strays->heard_ns >= MOMENT_NS;
	strays->heard_ns = now_ns;
	return false;
}

static int stray_frames_on_frame(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct stray_frames *strays = arg;
	bool heard = false;
	char byte;
	int i = 0;

	while (i++ < FRAMES_AT_ONCE && recv(fd, &byte, sizeof(byte), 0) > 0)
		heard = true;
	if (heard && stray_frames_is_sure(strays))
		strays->handler(strays->bond, strays->slot);
	return 0;
}

static int stray_frames_listen(struct stray_frames *strays, sd_event *event, int i, int ifindex,
			       uint16_t protocol)
{
	strays->fd[i] = stray_frames_open(ifindex, protocol);
	if (strays->fd[i] < 0)
		return strays->fd[i];
	return sd_event_add_io(event, &strays->source[i], strays->fd[i], EPOLLIN,
			       stray_frames_on_frame, strays);
}

struct stray_frames *stray_frames_new(sd_event *event, int ifindex, stray_frames_handler handler,
				      struct bond *bond, unsigned int slot)
{
	static const uint16_t protocols[PROTOCOLS] = { ETH_P_ARP, ETH_P_IP, ETH_P_IPV6 };
	struct stray_frames *strays = memory_need(calloc(1, sizeof(*strays)));

	strays->handler = handler;
	strays->bond = bond;
	strays->slot = slot;
	for (int i = 0; i < PROTOCOLS; i++)
		strays->fd[i] = -1;
	stray_frames_reset(strays);
	for (int i = 0; i < PROTOCOLS; i++)
		if (stray_frames_listen(strays, event, i, ifindex, protocols[i]) < 0) {
			stray_frames_free(strays);
			return NULL;
		}
	return strays;
}

void stray_frames_reset(struct stray_frames *strays)
{
	strays->since_ns = clock_now_ns();
	strays->heard_ns = 0;
}

static void *stray_frames_close(void *arg)
{
	struct stray_frames *strays = arg;

	for (int i = 0; i < PROTOCOLS; i++)
		if (strays->fd[i] >= 0)
			close(strays->fd[i]);
	free(strays);
	return NULL;
}

/*
 * Done by a thread, because for each socket the kernel waits until nobody can be delivering to it.
 */
void stray_frames_free(struct stray_frames *strays)
{
	pthread_t thread;

	if (!strays)
		return;
	for (int i = 0; i < PROTOCOLS; i++)
		sd_event_source_disable_unref(strays->source[i]);
	if (pthread_create(&thread, NULL, stray_frames_close, strays))
		stray_frames_close(strays);
	else
		pthread_detach(thread);
}
