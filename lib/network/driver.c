/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/driver.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/memory.h"
#include "network/nl.h"

/* By the ethtool ioctl. */

#define LINK_MODE_WORDS_MAX 127 /* per mask: the field is a signed byte */

int ethtool_init(struct ethtool *ethtool)
{
	ethtool->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return ethtool->fd < 0 ? -errno : 0;
}

void ethtool_done(struct ethtool *ethtool)
{
	if (ethtool->fd >= 0)
		close(ethtool->fd);
	ethtool->fd = -1;
}

/* request begins with its ETHTOOL_* command; 0 or more, or -errno. */
static int ethtool_call(const struct ethtool *ethtool, const char *name, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	return ioctl(ethtool->fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

int ethtool_carrier(const struct ethtool *ethtool, const char *name)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GLINK };
	int r = ethtool_call(ethtool, name, &value);

	return r < 0 ? r : !!value.data;
}

unsigned int ethtool_rx_queues(const struct ethtool *ethtool, const char *name)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };

	return ethtool_call(ethtool, name, &channels) < 0
		       ? 0
		       : channels.rx_count + channels.combined_count;
}

/*
 * Found by its place on the bus: /sys/class/net shows the devices of another namespace if bondd was
 * started by nsenter.
 */
bool ethtool_is_virtual_function(const struct ethtool *ethtool, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char path[sizeof(info.bus_info) + 64];

	if (ethtool_call(ethtool, name, &info) < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.*s/physfn", (int)sizeof(info.bus_info),
		 info.bus_info);
	return info.bus_info[0] && !access(path, F_OK);
}

void ethtool_speed(struct ethtool *ethtool, const char *name, uint32_t *ret_mbps,
		   uint32_t *ret_duplex)
{
	struct {
		struct ethtool_link_settings settings;
		__u32 masks[3 * LINK_MODE_WORDS_MAX];
	} request = {
		.settings = { .cmd = ETHTOOL_GLINKSETTINGS,
			      .link_mode_masks_nwords = ethtool->mask_words },
	};

	*ret_mbps = 0;
	*ret_duplex = DUPLEX_UNKNOWN;
	if (ethtool_call(ethtool, name, &request) < 0)
		return;
	/* The kernel wants another length and returns it as a negative number. */
	if (request.settings.link_mode_masks_nwords < 0) {
		ethtool->mask_words = (signed char)-request.settings.link_mode_masks_nwords;
		request.settings.link_mode_masks_nwords = ethtool->mask_words;
		request.settings.cmd = ETHTOOL_GLINKSETTINGS;
		if (ethtool_call(ethtool, name, &request) < 0)
			return;
	}
	*ret_duplex = request.settings.duplex;
	if (request.settings.speed != (__u32)SPEED_UNKNOWN)
		*ret_mbps = request.settings.speed;
}

/* Offloads. */

#define FEATURES_MAX 256
#define BLOCKS_MAX (FEATURES_MAX / 32)

static int features_count_features(const struct ethtool *ethtool, const char *dev)
{
	struct {
		struct ethtool_sset_info info;
		__u32 count;
	} request = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1 << ETH_SS_FEATURES } };
	int r = ethtool_call(ethtool, dev, &request);

	if (r < 0)
		return r;
	return request.info.sset_mask && request.count <= FEATURES_MAX ? (int)request.count
								       : -ENOENT;
}

/* Their names, in the order of their numbers, and how many there are, or -errno. To be freed. */
static int features_names(const struct ethtool *ethtool, const char *dev,
			  struct ethtool_gstrings **ret_names)
{
	int count = features_count_features(ethtool, dev), r;
	struct ethtool_gstrings *names;

	if (count < 0)
		return count;
	names = memory_need(calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN));
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = (__u32)count;
	r = ethtool_call(ethtool, dev, names);
	if (r < 0)
		free(names);
	else
		*ret_names = names;
	return r < 0 ? r : count;
}

static const char *features_name(const struct ethtool_gstrings *names, int number)
{
	return (const char *)&names->data[number * ETH_GSTRING_LEN];
}

/* The number of the feature in this kernel, or -errno. */
static int features_find(const struct ethtool *ethtool, const char *dev, const char *name)
{
	struct ethtool_gstrings *names;
	int count = features_names(ethtool, dev, &names), found = -ENOENT;

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++)
		if (!strncmp(features_name(names, i), name, ETH_GSTRING_LEN))
			found = i;
	free(names);
	return found;
}

static uint32_t features_bit(int number)
{
	return UINT32_C(1) << (number & 31);
}

struct features {
	struct ethtool_gfeatures head;
	struct ethtool_get_features_block block[BLOCKS_MAX];
};

static int features_read(const struct ethtool *ethtool, const char *dev,
			 struct features *ret_features)
{
	*ret_features = (struct features){ .head = { ETHTOOL_GFEATURES, BLOCKS_MAX } };
	return ethtool_call(ethtool, dev, ret_features);
}

static struct feature features_at(const struct features *now, int number)
{
	const struct ethtool_get_features_block *block = &now->block[number / 32];
	uint32_t bit = features_bit(number);

	return (struct feature){
		.active = block->active & bit,
		.wanted = block->requested & bit,
		.fixed = !(block->available & bit) || block->never_changed & bit,
	};
}

int feature_get(const struct ethtool *ethtool, const char *dev, const char *name,
		struct feature *ret_feature)
{
	int number = features_find(ethtool, dev, name), r;
	struct features now;

	if (number < 0)
		return number;
	r = features_read(ethtool, dev, &now);
	if (r < 0)
		return r;
	*ret_feature = features_at(&now, number);
	return 0;
}

struct features_order {
	struct ethtool_sfeatures head;
	struct ethtool_set_features_block block[BLOCKS_MAX];
};

/* count: of all features in this kernel. */
static int features_write(const struct ethtool *ethtool, const char *dev, uint32_t count,
			  struct features_order *order)
{
	order->head.cmd = ETHTOOL_SFEATURES;
	order->head.size = (count + 31) / 32; /* the kernel takes no other size */
	return ethtool_call(ethtool, dev, order);
}

static void features_put(struct features_order *order, int number, bool active)
{
	order->block[number / 32].valid |= features_bit(number);
	order->block[number / 32].requested |= active ? features_bit(number) : 0;
}

int feature_set(const struct ethtool *ethtool, const char *dev, const char *name, bool active)
{
	int number = features_find(ethtool, dev, name),
	    count = features_count_features(ethtool, dev);
	struct features_order order = { 0 };

	if (number < 0)
		return number;
	if (count < 0)
		return count;
	features_put(&order, number, active);
	return features_write(ethtool, dev, (uint32_t)count, &order);
}

/* What is to be set. Returns whether anything is, and the names of what cannot be turned off. */
static bool features_compare(const struct ethtool_gstrings *names, const struct features *old,
			     const struct features *new, const char *but,
			     struct features_order *order, char *ret_refused, size_t size)
{
	bool differs = false;

	ret_refused[0] = '\0';
	for (int i = 0; i < (int)names->len; i++) {
		struct feature was = features_at(old, i), is = features_at(new, i);
		const char *name = features_name(names, i);
		size_t used = strlen(ret_refused);

		if (was.fixed || !strncmp(name, but, ETH_GSTRING_LEN))
			continue;
		if (!is.fixed && was.wanted != is.wanted) {
			features_put(order, i, was.wanted);
			differs = true;
		} else if (is.fixed && is.active && !was.wanted) {
			snprintf(ret_refused + used, size - used, "%s%.*s", used ? ", " : "",
				 ETH_GSTRING_LEN, name);
		}
	}
	return differs;
}

int features_copy(const struct ethtool *ethtool, const char *from, const char *to, const char *but,
		  struct err *err)
{
	struct features_order order = { 0 };
	struct ethtool_gstrings *names;
	char refused[512] = "";
	struct features old, new;
	int r = features_names(ethtool, to, &names);

	if (r < 0)
		return err_set(err, -r, "%s", strerror(-r));
	r = features_read(ethtool, from, &old);
	if (r >= 0)
		r = features_read(ethtool, to, &new);
	if (r >= 0 && features_compare(names, &old, &new, but, &order, refused, sizeof(refused)))
		r = features_write(ethtool, to, names->len, &order);
	free(names);
	if (r < 0)
		return err_set(err, -r, "%s", strerror(-r));
	return *refused ? err_set(err, EOPNOTSUPP, "%s cannot be turned off", refused) : 0;
}

/* XDP, by the family `netdev` of generic netlink. */

/* From Linux 6.3; the headers of Debian bookworm do not have it. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_DEV_GET 1
#define NETDEV_IFINDEX 1
#define NETDEV_XDP_FEATURES 3

struct xdp_features_answer {
	uint64_t features;
	bool is_there;
};

static void xdp_features_take(struct nlmsghdr *message, void *arg)
{
	struct nlattr *found = nlmsg_find_attr(message, GENL_HDRLEN, NETDEV_XDP_FEATURES);
	struct xdp_features_answer *answer = arg;

	if (!found || nla_len(found) < (int)sizeof(answer->features))
		return;
	answer->features = nla_get_u64(found);
	answer->is_there = true;
}

static int xdp_features_ask(struct nl *nl, uint16_t family, int ifindex, uint64_t *ret_features)
{
	struct nl_msg *msg = genl_new_request(family, NETDEV_DEV_GET);
	struct xdp_features_answer answer = { 0 };
	int r;

	nl_request_put_u32(msg, NETDEV_IFINDEX, (uint32_t)ifindex);
	r = nl_call(nl, msg, xdp_features_take, &answer, NULL);
	*ret_features = answer.features;
	return r || answer.is_there ? r : -ENOENT;
}

int xdp_features_get(int ifindex, uint64_t *ret_features)
{
	uint16_t family;
	struct nl nl;
	int r = nl_init_generic(&nl);

	if (r)
		return r;
	r = genl_find_family(&nl, NETDEV_FAMILY, &family);
	if (!r)
		r = xdp_features_ask(&nl, family, ifindex, ret_features);
	nl_done(&nl);
	return r;
}

/* Counters. */

struct link_stats_answer {
	struct link_stats *stats;
	bool complete;
};

static struct error_counters link_stats_counters(const struct rtnl_link_stats64 *from)
{
	return (struct error_counters){
		.packets = from->rx_packets,
		.errors = from->rx_errors,
		.crc = from->rx_crc_errors,
		.frame = from->rx_frame_errors,
		.length = from->rx_length_errors,
		.over = from->rx_over_errors,
		.fifo = from->rx_fifo_errors,
		.missed = from->rx_missed_errors,
	};
}

/* The struct grows at its end from kernel to kernel. */
static void link_stats_take(struct nlmsghdr *message, void *arg)
{
	struct link_stats_answer *answer = arg;
	struct rtnl_link_stats64 counted = { 0 };
	struct nlattr *tb[IFLA_MAX + 1];
	size_t length;

	if (message->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(message, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 ||
	    !tb[IFLA_STATS64] || !tb[IFLA_CARRIER_DOWN_COUNT])
		return;
	length = (size_t)nla_len(tb[IFLA_STATS64]);
	memcpy(&counted, nla_data(tb[IFLA_STATS64]),
	       length < sizeof(counted) ? length : sizeof(counted));
	answer->stats->rx = link_stats_counters(&counted);
	answer->stats->carrier_losses = nl_attr_u32(tb[IFLA_CARRIER_DOWN_COUNT], 0);
	answer->complete = true;
}

int link_stats_get(struct nl *nl, int ifindex, struct link_stats *ret_stats)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct link_stats_answer answer = { .stats = ret_stats };
	int r = nl_call(nl, nl_request_new(RTM_GETLINK, 0, &info, sizeof(info)), link_stats_take,
			&answer, NULL);

	return !r && !answer.complete ? -ENODATA : r;
}
