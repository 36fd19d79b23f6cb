// SPDX-License-Identifier: GPL-2.0-or-later
/* A policy: five flows, by their source ports from 20000 on, take one slot. */
#include <xbond/policy.bpf.h>

XBOND_POLICY(first_five)
{
	__be16 port;

	if (packet->type != ETH_P_IP ||
	    xbond_load(packet, packet->network + 20, &port, sizeof(port)))
		return XBOND_DEFAULT;
	port = bpf_ntohs(port);
	return port >= 20000 && port < 20005 ? xbond_slot(0) : XBOND_DEFAULT;
}

char _license[] SEC("license") = "GPL";
