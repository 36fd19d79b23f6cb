/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/features.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

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

/* The number of the feature in this kernel, or -errno. */
static int features_find(const struct ethtool *ethtool, const char *dev, const char *name)
{
	int count = features_count_features(ethtool, dev), found = -ENOENT, r;
	struct ethtool_gstrings *strings;

	if (count < 0)
		return count;
	strings = memory_need(calloc(1, sizeof(*strings) + (size_t)count * ETH_GSTRING_LEN));
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_FEATURES;
	strings->len = (__u32)count;
	r = ethtool_call(ethtool, dev, strings);
	for (int i = 0; i < count && !r; i++)
		if (!strncmp((char *)&strings->data[i * ETH_GSTRING_LEN], name, ETH_GSTRING_LEN))
			found = i;
	free(strings);
	return r < 0 ? r : found;
}

int feature_get(const struct ethtool *ethtool, const char *dev, const char *name,
		struct feature *ret_feature)
{
	struct {
		struct ethtool_gfeatures head;
		struct ethtool_get_features_block block[BLOCKS_MAX];
	} request = { .head = { .cmd = ETHTOOL_GFEATURES, .size = BLOCKS_MAX } };
	int number = features_find(ethtool, dev, name), r;
	uint32_t bit = UINT32_C(1) << (number & 31);

	if (number < 0)
		return number;
	r = ethtool_call(ethtool, dev, &request);
	if (r < 0)
		return r;
	ret_feature->wanted = request.block[number / 32].requested & bit;
	ret_feature->active = request.block[number / 32].active & bit;
	ret_feature->fixed = !(request.block[number / 32].available & bit) ||
			     request.block[number / 32].never_changed & bit;
	return 0;
}

int feature_set(const struct ethtool *ethtool, const char *dev, const char *name, bool active)
{
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block block[BLOCKS_MAX];
	} request = { .head = { .cmd = ETHTOOL_SFEATURES } };
	int number = features_find(ethtool, dev, name),
	    count = features_count_features(ethtool, dev);
	uint32_t bit = UINT32_C(1) << (number & 31);

	if (number < 0)
		return number;
	if (count < 0)
		return count;
	request.head.size = (__u32)(count + 31) / 32; /* the kernel takes no other size */
	request.block[number / 32].valid = bit;
	request.block[number / 32].requested = active ? bit : 0;
	return ethtool_call(ethtool, dev, &request);
}
