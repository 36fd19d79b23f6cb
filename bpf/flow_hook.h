/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The rare paths of flow_hash() as functions with the entry point's own context, which the verifier
 * checks once. Include it after defining FLOW_CONTEXT (struct __sk_buff or struct xdp_md) and
 * packet_of().
 */
#ifndef XBOND_BPF_FLOW_HOOK_H
#define XBOND_BPF_FLOW_HOOK_H

#include "bpf/flow.h"

__noinline __u64 untagged(FLOW_CONTEXT *context)
{
	struct packet packet = packet_of(context);

	return flow_untagged(&packet);
}

__noinline __u32 payload(FLOW_CONTEXT *context, __u32 at)
{
	struct packet packet = packet_of(context);

	return flow_payload(&packet, at);
}

__noinline __u32 encap_inner(FLOW_CONTEXT *context, __u32 payload)
{
	struct packet packet = packet_of(context);

	return flow_encap_inner(&packet, payload);
}

static __always_inline __u64 untagged_of(void *context)
{
	return untagged(context);
}

static __always_inline __u32 payload_of(void *context, __u32 at)
{
	return payload(context, at);
}

static __always_inline __u32 encap_inner_of(void *context, __u32 payload)
{
	return encap_inner(context, payload);
}

static __always_inline struct flow_hook flow_hook_of(FLOW_CONTEXT *context)
{
	return (struct flow_hook){ .context = context,
				   .untagged_of = untagged_of,
				   .payload_of = payload_of,
				   .inner_of = encap_inner_of };
}

#endif
