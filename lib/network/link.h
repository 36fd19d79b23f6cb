/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network devices over rtnetlink: one, or all of a namespace, read, changed and copied; and the
 * namespaces. Knows nothing of bonds. Functions that change return -errno, with the kernel's words
 * in err.
 */
#ifndef XBOND_NETWORK_LINK_H
#define XBOND_NETWORK_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "network/nl.h"

struct link_info {
	int ifindex;
	char name[XBOND_NAME_SIZE];
	char kind[16]; /* "" for hardware */
	char qdisc[16];
	char alias[64];
	unsigned int type;  /* ARPHRD_* */
	unsigned int flags; /* IFF_* */
	unsigned int promiscuity;
	uint32_t mtu;
	bool carrier; /* admin up and carrier */
	bool protodown;
	uint32_t carrier_changes;
	bool has_mac;
	bool has_perm_mac; /* it has one of its own */
	uint8_t mac[XBOND_MAC_SIZE];
	uint8_t perm_mac[XBOND_MAC_SIZE];
	/* For a VLAN device, otherwise -1; ETH_P_8021Q or ETH_P_8021AD. */
	int vlan_id;
	uint16_t vlan_protocol;
	/* for a netkit: it does not change skb->priority in its own namespace */
	bool keeps_priority;
	int master;    /* ifindex or 0 */
	bool forwards; /* a port of a bridge that is neither off nor blocked */
	bool isolated; /* a port of a bridge that passes nothing on to others that are isolated */
	uint16_t filters_vlans; /* a bridge that tells VLANs of this ETH_P_* apart; otherwise 0 */
	int lower;	/* IFLA_LINK: the peer of a veth or netkit, or the device below; or 0 */
	int lower_nsid; /* namespace of lower and tunnel; -1: the same */
	int tunnel;	/* the device by which a vxlan sends, which IFLA_LINK does not tell; or 0 */
	uint32_t xdp_id;	 /* of its native XDP program; 0: none */
	uint32_t xdp_generic_id; /* of the one that the kernel runs for the driver; 0: none */
	int new_nsid; /* for RTM_DELLINK: the namespace it was moved to; -1: it was deleted */
	int new_ifindex;
};

/* How often to ask for a list that changes. */
#define LINK_TRIES 20

typedef void (*link_visitor)(const struct link_info *link, void *arg);

/* Is it one of two devices that are each other's `lower`: a veth or netkit? */
bool link_is_paired(const struct link_info *link);

/* Decodes RTM_NEWLINK or RTM_DELLINK. Returns false for messages of another family. */
bool link_parse(struct nlmsghdr *message, struct link_info *ret_link);

/* -ENODEV if there is no such device. nsid: -1 for the namespace of the process. */
int link_get(struct nl *nl, int nsid, int ifindex, struct link_info *ret_link);

/* Is it there, and administratively down? */
bool link_is_down(struct nl *nl, int ifindex);
/* Is it there, and a veth? */
bool link_is_veth(struct nl *nl, int ifindex);
int link_get_by_name(struct nl *nl, const char *name, struct link_info *ret_link);
/* Every device of a namespace. -EAGAIN: the list has changed meanwhile, so ask again. */
int link_visit_once(struct nl *nl, int nsid, link_visitor visit, void *arg);
/* The same, and asks again itself: devices may come several times. */
int link_visit(struct nl *nl, int nsid, link_visitor visit, void *arg);

int link_set_mtu(struct nl *nl, int ifindex, uint32_t mtu, struct err *err);
int link_set_mac(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err);
/* Has its driver a way to do so? Leaves it as it is; mac: the one that it has. */
bool link_can_change_mac(struct nl *nl, int ifindex, const uint8_t *mac);
/*
 * The same as link_set_mac() for drivers that refuse it while the device is up: takes the device
 * down for it and up again. Answers whether it has the address. If it does not come up, which the
 * answer does not say, the caller brings it up later.
 */
int link_force_mac(struct nl *nl, const struct link_info *link, const uint8_t *mac,
		   struct err *err);
int link_set_name(struct nl *nl, int ifindex, const char *name, struct err *err);
/* Moves it to the namespace of the descriptor, where it gets the name. It is down afterwards. */
int link_move(struct nl *nl, int ifindex, int namespace_fd, const char *name, struct err *err);
int link_set_alias(struct nl *nl, int ifindex, const char *alias, struct err *err);
/* Sets the IFF_* of mask to those of flags. */
int link_set_flags(struct nl *nl, int ifindex, unsigned int flags, unsigned int mask,
		   struct err *err);
/* It is never "running" (IFF_RUNNING, operstate) from its next start on; frames pass all the same.
 */
int link_set_dormant(struct nl *nl, int ifindex, struct err *err);
/* Detaches a native XDP program that was attached without a bpf_link. */
int link_clear_xdp(struct nl *nl, int ifindex, struct err *err);
/* master: 0 for none. */
int link_set_master(struct nl *nl, int ifindex, int master, struct err *err);
/* Of a device that leaves its carrier to others, such as a team. */
int link_set_carrier(struct nl *nl, int ifindex, bool carrier, struct err *err);
int link_delete(struct nl *nl, int ifindex, struct err *err);

struct link_end {
	const char *name;
	const uint8_t *mac;
	uint32_t mtu;
	unsigned int queues;
};
/*
 * Does the kernel have devices of this kind? It loads the module, but no device is made. True also
 * if it does not say.
 */
bool link_knows_kind(struct nl *nl, const char *kind);
/* Makes a device of a kind that needs to know nothing more. */
int link_create(struct nl *nl, const char *kind, const struct link_end *end, struct err *err);
int link_create_veth(struct nl *nl, const struct link_end *a, const struct link_end *b,
		     struct err *err);
/*
 * Makes a netkit in L2 mode. Packets that the peer sends are dropped while it has no program;
 * packets that the primary sends pass. -EOPNOTSUPP: the kernel has no netkit, or one that takes no
 * address (before 6.10).
 */
int link_create_netkit(struct nl *nl, const struct link_end *primary, const struct link_end *peer,
		       struct err *err);

/* Makes a VLAN device on lower, in the same namespace. */
static inline bool link_is_vlan_on(const struct link_info *link, int lower)
{
	return link->vlan_id >= 0 && link->lower == lower && link->lower_nsid < 0;
}

struct link_vlan {
	const char *name;
	int lower;
	uint16_t id, protocol;
};
/* It is down, and is not brought up with its lower device. */
int link_create_vlan(struct nl *nl, const struct link_vlan *vlan, struct err *err);

/* Adds a secondary unicast address to the device's filter (`bridge fdb add MAC dev DEV self`). */
int link_add_unicast(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err);
int link_del_unicast(struct nl *nl, int ifindex, const uint8_t *mac, struct err *err);

/* All devices of the namespace at once, for questions about which device is on which. */

struct link_list {
	struct link_info *link;
	size_t count;
};

/* Returns 0 or -errno. Free it with link_list_free() in either case. */
int link_list_read(struct nl *nl, struct link_list *ret_list);
void link_list_free(struct link_list *list);

/* NULL: there is none. */
static inline struct link_info *link_list_find(const struct link_list *list, int ifindex)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->link[i].ifindex == ifindex)
			return &list->link[i];
	return NULL;
}

/* IFLA_LINK of a veth or netkit is its peer; of any other device it is the device below. */
static inline bool link_has_lower(const struct link_info *link)
{
	return link->lower && !link_is_paired(link) &&
	       (link->lower_nsid >= 0 || link->lower != link->ifindex);
}

/* A vxlan that ends with this device, as if it were on it. */
static inline bool link_sends_by(const struct link_info *link, int lower)
{
	return link->tunnel == lower && link->lower_nsid < 0;
}

static inline bool link_is_on(const struct link_info *link, int lower)
{
	return link_has_lower(link) && link->lower == lower && link->lower_nsid < 0;
}

/* Makes a device on another lower device as one that exists, and gives a device its sysctls. */

/* Can link_copy() copy it? */
bool link_copy_can(const struct link_info *link);
/*
 * Makes another VLAN or macvlan device, down, of this name and on this lower device, with the same
 * options, MTU and, where it has one of its own, address.
 */
int link_copy(struct nl *nl, const struct link_info *link, const char *name, int lower,
	      struct err *err);

/*
 * Writes what differs below /proc/sys/net/ipv[46]/{conf,neigh} and mpls/conf. IPv6 stays on or off
 * as it is.
 */
void link_copy_sysctls(const char *from, const char *to);
/*
 * Of a device that is made ready and must not take part yet: no IPv6, and its addresses are not
 * checked for doubles. link_copy_wake() and link_copy_settle() end
 * that.
 */
void link_copy_sleep(const char *name);
/* IPv6 as on the device `like`. New addresses are not checked until link_copy_settle(). */
void link_copy_wake(const char *name, const char *like);
void link_copy_settle(const char *name, const char *like);

/* The other network namespaces of this machine to which a process or a name in /run/netns leads. */

/*
 * Calls visit once in each, with the descriptor of the caller's own namespace. During the call the
 * calling thread, which must not be the main one, is in that namespace.
 */
void namespaces_visit(void (*visit)(int home_fd, void *arg), void *arg);
/*
 * Looks in the same way for a device there that is on one of these of ours, which ret_lower
 * numbers. Returns false if there is none.
 */
bool namespaces_find_upper(const int *lowers, size_t count, struct link_info *ret_upper,
			   size_t *ret_lower);
/*
 * Does the work in the namespace of fd. Returns what it returns, or -errno. Without a way back the
 * program ends: the thread would take another namespace for its own.
 */
int namespaces_inside(int fd, int (*work)(const void *arg), const void *arg);
/* The number that the namespace of nl has for the namespace of fd; -1: none. */
int namespaces_number(struct nl *nl, int fd);

/* Of this process's network namespace; 0: the kernel does not tell it (before 5.14). */
uint64_t link_netns_cookie(void);
/* Is this cookie that of another one, where an ifindex means another device? false: who knows. */
bool link_is_elsewhere(uint64_t netns_cookie);

#endif
