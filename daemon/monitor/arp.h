/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What arp.c and balance-alb send by, arp_sender.c, which knows no bonds; and what arp.c knows of
 * the way to the targets, arp_paths.c.
 */
#ifndef XBOND_DAEMON_MONITOR_ARP_H
#define XBOND_DAEMON_MONITOR_ARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "daemon/base/worker.h"
#include "network/link.h"

struct bond;
struct daemon;

/*
 * The frames by which the ARP monitor probes a host, and balance-alb tells one where to send: ARP
 * (RFC 826) and neighbour solicitations (RFC 4861); and RARP for switches. Pure: makes bytes.
 */

#define ARP_MAX_TAGS 2 /* as deep as the receive programs look */
#define ARP_FRAME_SIZE 96

struct arp_tag {
	uint16_t protocol, id;
};

struct arp_probe {
	const uint8_t *source; /* of 4 or 16 bytes; zero: the sender has no address */
	const uint8_t *target;
	const uint8_t *mac; /* of the sender */
	const uint8_t *to;  /* NULL: a request to everybody, a solicitation to the target's group */
	const struct arp_tag *tags;
	unsigned int tag_count;
};

/* Returns the size of the frame. */
size_t arp_frame_request(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
/* A reply that answers nothing: tells `to` that the source has this MAC. */
size_t arp_frame_reply(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
size_t arp_frame_solicitation(const struct arp_probe *probe, uint8_t ret_frame[ARP_FRAME_SIZE]);
/* To everybody (RFC 903): switches learn where this MAC is, and hosts ignore it. tag: or NULL. */
size_t arp_frame_rarp(const uint8_t *mac, const struct arp_tag *tag,
		      uint8_t ret_frame[ARP_FRAME_SIZE]);

/*
 * Sends frames out of devices. Many targets and slaves make many probes, and each may take as long
 * as the driver, the switch and the answer of a virtual link: the main loop does not wait for that.
 */
struct arp_sender;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct arp_sender *arp_sender_new(struct err *err);
void arp_sender_free(struct arp_sender *sender);

/* Takes a frame of at most ARP_FRAME_SIZE bytes. If too many wait already, it is lost. */
void arp_sender_add(struct arp_sender *sender, int ifindex, const uint8_t *frame, size_t size);
/* Sends what was added. */
void arp_sender_flush(struct arp_sender *sender);

/*
 * Which VLAN tags a packet gets on its way from a device down to bond0. Pure; works on a list of
 * devices.
 */

struct arp_tags {
	struct arp_tag tag[ARP_MAX_TAGS]; /* from the outside */
	unsigned int count;
};

/*
 * Returns false if the device is not on bond0: directly, on a VLAN, macvlan or the like, or on a
 * bridge that one of them is a port of, at whatever height. The same for more tags than there is
 * room for.
 */
bool arp_tags_to_bond(const struct link_list *links, int ifindex, int bond,
		      struct arp_tags *ret_tags);

/*
 * By which addresses and VLANs probes get to the targets of the ARP monitor. A thread asks for
 * routes and devices, in the namespace that bond0 is in. The kernel may answer under the RTNL lock,
 * for which the main loop does not wait.
 */

struct arp_path {
	bool leads; /* over the bond; also if there is no route at all */
	uint8_t source[16];
	uint8_t mac[XBOND_MAC_SIZE]; /* of the device with that address; zero: it is bond0 */
	struct arp_tags tags;
};

/* Of a bond: as last found. */
struct arp_paths {
	struct arp_path path[XBOND_PROBE_TARGETS];
	bool are_known;
	uint64_t asked_ns; /* when they were last asked for; 0: they are due */
	bool are_dear;	   /* to ask for them, as the thread has found out */
};

/* The thread. */
extern const struct asker_kind arp_paths_kind;
/* Asks for those that are due. */
void arp_paths_ask(struct daemon *daemon, uint64_t now_ns);
/* Takes the answers. */
void arp_paths_take(struct daemon *daemon);
/* The address of target i, as in struct xbond_probes; zero: there is none. */
void arp_paths_target(struct bond *bond, unsigned int i, uint8_t ret_address[16]);

/* By arp.c. NULL: the monitor is off. */
struct arp_paths *arp_paths_of(const struct bond *bond);
/* The first paths are known: an interval begins now. */
void arp_begin(struct bond *bond);

#endif
