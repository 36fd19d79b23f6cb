/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses of devices in the namespace of nl. */
#ifndef XBOND_NETWORK_ADDRESS_H
#define XBOND_NETWORK_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "network/nl.h"

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

#endif
