/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Reads the kernel's struct net_device of an entry of a devmap, in place. Knows no bond.
 */
#ifndef XBOND_BPF_NETDEV_READ_H
#define XBOND_BPF_NETDEV_READ_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"

/* Types of the kernel; only the fields that are read. */
#define NETDEV_KERNEL __attribute__((preserve_access_index))
struct net_device {
	unsigned long state;
	const unsigned char *dev_addr;
} NETDEV_KERNEL;
struct bpf_dtab_netdev { /* an entry of a devmap */
	struct net_device *dev;
	struct bpf_devmap_val val; /* what a lookup finds */
} NETDEV_KERNEL;
struct bpf_dtab { /* a devmap */
	struct bpf_dtab_netdev **netdev_map;
} NETDEV_KERNEL;
struct list_head { /* stands for any struct that begins with a pointer */
	struct list_head *next;
} NETDEV_KERNEL;

/* From Linux 6.2. A read of an address that is not mapped gives 0. */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

#define NETDEV_CAST(address, type) ((type *)bpf_rdonly_cast(address, bpf_core_type_id_kernel(type)))

/* The answer is known when the program is loaded. */
static __always_inline int netdev_is_readable(void)
{
	return bpf_rdonly_cast && bpf_core_field_exists(struct bpf_dtab, netdev_map);
}

/* A devmap of XBOND_MAX_SLAVES entries. */
static __always_inline const struct bpf_dtab_netdev *netdev_entry(const void *devmap, __u32 slot)
{
	const struct list_head *place;

	asm volatile("" : "+r"(slot));
	place = NETDEV_CAST(((struct bpf_dtab *)devmap)->netdev_map +
				    (slot & (XBOND_MAX_SLAVES - 1)),
			    struct list_head);
	return NETDEV_CAST(place->next, struct bpf_dtab_netdev);
}

#endif
