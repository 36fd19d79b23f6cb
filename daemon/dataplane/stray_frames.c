/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/stray_frames.h"

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

#define MOMENT_NS (20 * NS_PER_MS)
#define MEMORY_NS (5000 * NS_PER_MS)
#define FRAMES_AT_ONCE 64
#define PROTOCOLS 3

struct witness {
	sd_event_source *source[PROTOCOLS];
	int fd[PROTOCOLS]; /* -1: none */
	witness_handler handler;
	struct bond *bond;
	unsigned int slot;
	uint64_t since_ns;
	uint64_t heard_ns; /* the first of two frames; 0: none */
};

/*
 * Not link-local groups: of these the slave keeps some, and a neighbour could send what it wants
 * there.
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

static int witness_open(int ifindex, uint16_t protocol)
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

/* Two frames, not in one moment, and not long after each other. */
static bool witness_is_sure(struct witness *witness)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - witness->since_ns < MOMENT_NS)
		return false;
	if (witness->heard_ns && now_ns - witness->heard_ns <= MEMORY_NS)
		return now_ns - witness->heard_ns >= MOMENT_NS;
	witness->heard_ns = now_ns;
	return false;
}

static int witness_on_frame(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct witness *witness = arg;
	bool heard = false;
	char byte;
	int i = 0;

	(void)source;
	(void)events;
	while (i++ < FRAMES_AT_ONCE && recv(fd, &byte, sizeof(byte), 0) > 0)
		heard = true;
	if (heard && witness_is_sure(witness))
		witness->handler(witness->bond, witness->slot);
	return 0;
}

static int witness_listen(struct witness *witness, sd_event *event, int i, int ifindex,
			  uint16_t protocol)
{
	witness->fd[i] = witness_open(ifindex, protocol);
	if (witness->fd[i] < 0)
		return witness->fd[i];
	return sd_event_add_io(event, &witness->source[i], witness->fd[i], EPOLLIN,
			       witness_on_frame, witness);
}

struct witness *witness_new(sd_event *event, int ifindex, witness_handler handler,
			    struct bond *bond, unsigned int slot)
{
	static const uint16_t protocols[PROTOCOLS] = { ETH_P_ARP, ETH_P_IP, ETH_P_IPV6 };
	struct witness *witness = calloc(1, sizeof(*witness));

	if (!witness)
		return NULL;
	witness->handler = handler;
	witness->bond = bond;
	witness->slot = slot;
	for (int i = 0; i < PROTOCOLS; i++)
		witness->fd[i] = -1;
	witness_reset(witness);
	for (int i = 0; i < PROTOCOLS; i++)
		if (witness_listen(witness, event, i, ifindex, protocols[i]) < 0) {
			witness_free(witness);
			return NULL;
		}
	return witness;
}

void witness_reset(struct witness *witness)
{
	witness->since_ns = clock_now_ns();
	witness->heard_ns = 0;
}

static void *witness_close(void *arg)
{
	struct witness *witness = arg;

	for (int i = 0; i < PROTOCOLS; i++)
		if (witness->fd[i] >= 0)
			close(witness->fd[i]);
	free(witness);
	return NULL;
}

/* By a thread: the kernel waits at each until nobody can be delivering to it. */
void witness_free(struct witness *witness)
{
	pthread_t thread;

	if (!witness)
		return;
	for (int i = 0; i < PROTOCOLS; i++)
		sd_event_source_disable_unref(witness->source[i]);
	if (pthread_create(&thread, NULL, witness_close, witness))
		witness_close(witness);
	else
		pthread_detach(thread);
}
