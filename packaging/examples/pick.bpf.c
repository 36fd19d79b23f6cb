// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A classifier for the ingress of any device (a tunnel, a container's veth) that sends Ethernet
 * frames straight out of the slave that the bond would choose, past the bond's own device. The bond
 * counts them. Build and attach it, for bond0 and the device dev0:
 *
 *   clang -O2 -g -ffreestanding -target bpf -mcpu=v3 -I/usr/include/$(uname -m)-linux-gnu \
 *       -c pick.bpf.c -o pick.o
 *   cd /sys/fs/bpf/xbond/bond0
 *   bpftool prog load "$OLDPWD/pick.o" /sys/fs/bpf/pick type classifier \
 *       map name .data.settings pinned settings map name .data.table pinned table \
 *       map name .data.buckets pinned buckets map name .data.cursor pinned cursor \
 *       map name .data.wake pinned wake map name .data.doubt pinned doubt \
 *       map name .data.alb pinned alb map name .data.vlans pinned vlans \
 *       map name .data.moves pinned moves map name xbond_loads pinned loads \
 *       map name .data.flowlets pinned flowlets map name xbond_recents pinned recent \
 *       map name xbond_counters pinned counters \
 *       map name xbond_devices pinned devices map name xbond_losses pinned losses
 *   tc qdisc add dev dev0 clsact
 *   tc filter add dev dev0 ingress bpf direct-action object-pinned /sys/fs/bpf/pick
 *
 * route.bpf.c is the same for XDP, with a loader that follows when the bond gets other maps.
 */
#include <linux/bpf.h>

#define XBOND_SELECT_TC
#include <xbond/select.bpf.h>

char _license[] SEC("license") = "GPL";

SEC("classifier")
int pick(struct __sk_buff *skb)
{
	return xbond_send(skb);
}
