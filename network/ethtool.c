/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

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

int ethtool_call(const struct ethtool *ethtool, const char *name, void *request)
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
