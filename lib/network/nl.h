/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink as the other files in network use it: a socket for requests, requests that are built
 * piece by piece, the values in answers, and the families of generic netlink.
 */
#ifndef XBOND_NETWORK_NL_H
#define XBOND_NETWORK_NL_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/*
 * One rtnetlink request socket: sends a message, hands the answers to a handler, and returns -errno
 * with the kernel's own words (extack). Everything in network builds on it.
 */

struct nl {
	struct nl_sock *sock;
	bool is_generic;
};

typedef void (*nl_handler)(struct nlmsghdr *message, void *arg);

int nl_init(struct nl *nl);
/* The same for generic netlink, and for the kernel's lists of sockets (sock_diag). */
int nl_init_generic(struct nl *nl);
int nl_init_diag(struct nl *nl);
void nl_done(struct nl *nl);

/*
 * Sends msg (and frees it) and reads until its acknowledgement or the end of its dump. -EAGAIN: a
 * change interrupted the dump, and it must be repeated. err, which may be NULL, gets the kernel's
 * explanation or the text of the errno.
 *
 * A request that could not be sent, or reads a single thing and failed for want of memory, is
 * repeated here. What fails even so is -EIO, -ENOBUFS or -ENOMEM: nobody knows whether what was
 * asked for is there. Only -ENODEV says that a device is not.
 */
int nl_call(struct nl *nl, struct nl_msg *msg, nl_handler handler, void *arg, struct err *err);

/*
 * Builds a request for nl_call(): a message with its head, then attributes, some of them in nests.
 * Nothing here fails: without memory the program ends (common/err.h), and a message that is too
 * long for its room is marked, so that nl_call() refuses it with -EMSGSIZE instead of sending a
 * part. Called by all files in network that ask the kernel.
 */

#define NL_REQUEST_LARGE (1 << 17) /* an attribute of 64 KB and what is beside it */

/* Head is the family's, after the header of netlink. flags: NLM_F_*, beside NLM_F_REQUEST. */
struct nl_msg *nl_request_new(int type, int flags, const void *head, size_t size);
/* The same with room for the longest list that an attribute can be (64 KB), not for a page. */
struct nl_msg *nl_request_new_large(int type, int flags, const void *head, size_t size);
struct nl_msg *nl_request_copy(const struct nlmsghdr *request);
void nl_request_append(struct nl_msg *msg, const void *data, size_t size);
void nl_request_put(struct nl_msg *msg, int attribute, int size, const void *data);
void nl_request_put_u8(struct nl_msg *msg, int attribute, uint8_t value);
void nl_request_put_u16(struct nl_msg *msg, int attribute, uint16_t value);
void nl_request_put_u32(struct nl_msg *msg, int attribute, uint32_t value);
void nl_request_put_text(struct nl_msg *msg, int attribute, const char *text);
/* What is put from now on is in the nest. Returns what nl_request_end() takes. */
struct nlattr *nl_request_nest(struct nl_msg *msg, int attribute);
void nl_request_end(struct nl_msg *msg, struct nlattr *nest);
/* It was too long: something is missing in it. */
bool nl_request_is_cut(struct nl_msg *msg);

/*
 * Values of netlink attributes. Lengths are not trusted: an attribute that is too short for its
 * value, or a text without an end, counts as missing. So does NULL. Called by all files in
 * network that read messages.
 */

uint32_t nl_attr_u32(const struct nlattr *attribute, uint32_t otherwise);
uint16_t nl_attr_u16(const struct nlattr *attribute, uint16_t otherwise);
uint8_t nl_attr_u8(const struct nlattr *attribute, uint8_t otherwise);
/* NULL: missing. It points into the message. */
const char *nl_attr_text(const struct nlattr *attribute);
bool nl_attr_is(const struct nlattr *attribute, const char *text);

/*
 * Requests by generic netlink: a family's number, and messages to it. Called by the files in
 * network that speak to a family.
 */

struct nl_msg *genl_new_request(uint16_t family, uint8_t command);
/* -ENOENT: the kernel does not have the family. */
int genl_find_family(struct nl *nl, const char *name, uint16_t *ret_family);

#endif
