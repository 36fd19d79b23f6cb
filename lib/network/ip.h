/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IP on devices, and nothing of bonds: addresses and routes over rtnetlink, and the switches that
 * devices have in /proc/sys.
 */
#ifndef XBOND_NETWORK_IP_H
#define XBOND_NETWORK_IP_H

#include <stdbool.h>
#include <stdint.h>

#include "network/nl.h"

/* IP addresses of devices in the namespace of nl. */

struct address {
	int ifindex;
	int family;
	uint32_t flags;	    /* IFA_F_* */
	bool is_link_local; /* IPv6, which the kernel makes itself */
	unsigned char prefix_length;
	unsigned char bytes[16];
	uint32_t preferred_s, valid_s; /* 0: for ever */
	char text[64];		       /* 192.0.2.1/24; of address_list() only */
};

/* A message about an address (RTM_NEWADDR, RTM_DELADDR); false: it is none that is understood. */
bool address_parse(struct nlmsghdr *message, struct address *ret_address);

typedef void (*address_visitor)(const struct address *address, void *arg);
/*
 * Every address of every device. Some may appear twice if they change meanwhile. Returns 0 or
 * -errno.
 */
int address_visit(struct nl *nl, address_visitor visitor, void *arg);

/*
 * The addresses of one device, except link-local IPv6 addresses. At most max are stored. Returns
 * their number, or -errno.
 */
int address_list(struct nl *nl, int ifindex, struct address *ret_addresses, int max);
int address_delete(struct nl *nl, int ifindex, const struct address *address, struct err *err);
/* Puts back an address that was there, with its flags and its remaining time. */
int address_add(struct nl *nl, int ifindex, const struct address *address);

/* Which way the kernel's routes lead to an address; and new routes, for the CNI plugin. */

struct route {
	int ifindex;	    /* the device that packets leave by */
	uint8_t source[16]; /* the address that they get; zero: none */
};

/*
 * to: 4 or 16 bytes, by family. ifindex: only by this device; 0: by any. Returns 0 or -errno;
 * -ENETUNREACH and the like: there is no route.
 */
int route_get(struct nl *nl, int family, const uint8_t *to, int ifindex, struct route *ret_route);

struct route_change {
	int ifindex;
	int family;
	unsigned char prefix_length;
	uint8_t to[16];
	bool has_gateway; /* otherwise the network is on the link */
	uint8_t gateway[16];
	uint32_t priority, table; /* 0: the kernel's default; the main one */
	uint32_t mtu, advmss;	  /* 0: not said */
};

/* -EEXIST: there is such a route. */
int route_add(struct nl *nl, const struct route_change *route, struct err *err);

/*
 * The kernel's switches of a device in the namespace of the process, net.DIRECTORY.DEVICE.NAME.
 * Those that write return 0 or -errno, and do nothing if there is no such switch.
 */

int sysctl_write(const char *directory, const char *device, const char *name, const char *value);
/* Gives a device what another one has; if this tells nothing, it keeps its own. */
int sysctl_copy(const char *directory, const char *from, const char *to, const char *name);
/* Returns 0 or 1; -1 if there is no such switch (no IPv6, or no such device). */
int ipv6_disabled(const char *name);
int ipv6_set_disabled(const char *name, int disabled);

typedef void (*ipv6_visitor)(int ifindex, void *arg);
/*
 * Every device that forwards IPv6. Some may appear twice if devices change meanwhile. Returns 0 or
 * -errno.
 */
int ipv6_visit_routers(struct nl *nl, ipv6_visitor visit, void *arg);

#endif
