/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a request for nl_call(): a message with its head, then attributes, some of them in nests.
 * Nothing here fails: without memory the program ends (common/memory.h), and a message that is too
 * long for its room is marked, so that nl_call() refuses it with -EMSGSIZE instead of sending a
 * part. Called by all files in network that ask the kernel.
 */
#ifndef XBOND_NETWORK_NL_REQUEST_H
#define XBOND_NETWORK_NL_REQUEST_H

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

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
void nl_request_put_s32(struct nl_msg *msg, int attribute, int32_t value);
void nl_request_put_text(struct nl_msg *msg, int attribute, const char *text);
/* What is put from now on is in the nest. Returns what nl_request_end() takes. */
struct nlattr *nl_request_nest(struct nl_msg *msg, int attribute);
void nl_request_end(struct nl_msg *msg, struct nlattr *nest);
/* It was too long: something is missing in it. */
bool nl_request_is_cut(struct nl_msg *msg);

#endif
