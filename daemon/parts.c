/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/watch.h"

#include "daemon/alb/alb.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/evaluate.h"
#include "daemon/device/device.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"

/*
 * A slave is made from the top down and given back from the bottom up, so a part stands below what
 * it needs. `state` and `up` stand around what must not be seen half done.
 */
/* clang-format off */
static struct part *const parts[] = {
	&pins_part,
	&state_part, /* down, for a team; at last up again */
	&ipv6_part,
	&mtu_part,
	&slow_part,
	&groups_part,
	&flags_part,
	&mac_part, /* before up: some drivers refuse it afterwards */
	&lro_part, /* before those that turn it off: they hold it */
	&vlan_filter_part,
	&own_vlans_part, /* before rx */
	&up_part,
	&mac_try_part, /* needs a device that is up */
	&rx_part,
	&team_part, /* after rx: a port hands frames to bond0 at once */
	&xdp_part,
	&rx_turn_part,
	&hooks_part,
	&trouble_part,
	&team_refusal_part,
	&pair_part,
	&policy_part,
	&bypass_part,
	&xdp_tx_part,
	&bfd_part,
	&lacp_part,
	&learning_part,
	&clients_part,
	&fail_over_mac_part,
	&rebalance_part,
	&delay_part,
	&failover_part,
	&told_part,
	&poll_part,
	&arp_part,
	&quality_part,
	&wake_part,
};
/* clang-format on */

void parts_list(void)
{
	parts_init(parts, sizeof(parts) / sizeof(*parts));
}
