/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon/slave/lro.c on a device that has LRO; of the devices that tests can make, none has it. */
#include <errno.h>

#include "daemon/slave/slave.h"
#include "network/driver.h"
#include "tests/unit/one_bond.h"

#define SLOT 3

static struct feature lro; /* of the slave */
static int refusal;	   /* of the driver, to set it */
static int master;	   /* of bond0 */

int __wrap_feature_get(const struct ethtool *ethtool, const char *dev, const char *name,
		       struct feature *ret_feature)
{
	assert_ptr_equal(ethtool, &host.ethtool);
	assert_string_equal(dev, "eth0");
	assert_string_equal(name, FEATURE_LRO);
	*ret_feature = lro;
	return 0;
}

int __wrap_feature_set(const struct ethtool *ethtool, const char *dev, const char *name,
		       bool active)
{
	if (!refusal)
		lro.active = lro.wanted = active;
	return refusal;
}

int __wrap_link_visit(struct nl *nl, int nsid, link_visitor visit, void *arg)
{
	const struct link_info bond0 = { .ifindex = 7, .master = master };

	assert_ptr_equal(nl, &host.nl);
	visit(&bond0, arg);
	return 0;
}

static uint32_t reasons(void)
{
	return slaves[SLOT].before.flags & LRO_REASONS;
}

static int setup(void **state)
{
	bond_begin(&lro_part);
	strcpy(slaves[SLOT].name, "eth0");
	slaves[SLOT].state = XBOND_SLOT_MEMBER;
	lro = (struct feature){ .active = true, .wanted = true };
	refusal = master = 0;
	pin.ifindex = 7;
	return 0;
}

TEST(the_last_reason_that_goes_brings_it_back, setup, bond_end)
{
	lro_hold(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	lro.active = false;
	lro_hold(&bond, SLOT, XBOND_SLAVE_LRO_VLAN); /* it was on before the first */
	assert_int_equal(reasons(), XBOND_SLAVE_LRO_OFF | XBOND_SLAVE_LRO_VLAN);
	lro_let_go(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_false(lro.active);
	lro_let_go(&bond, SLOT, XBOND_SLAVE_LRO_VLAN);
	assert_true(lro.active);
	assert_int_equal(reasons(), 0);
}

TEST(what_was_off_before_stays_off, setup, bond_end)
{
	lro = (struct feature){ .active = false };
	lro_hold(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_int_equal(reasons(), 0);
	lro_let_go(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_false(lro.active);
}

TEST(a_device_whose_driver_fixes_it_has_none, setup, bond_end)
{
	lro.fixed = true;
	lro_hold(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_int_equal(reasons(), 0);
}

TEST(what_the_driver_refuses_is_not_forgotten, setup, bond_end)
{
	lro_hold(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	lro.active = false;
	refusal = -EIO;
	lro_let_go(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_int_equal(reasons(), XBOND_SLAVE_LRO_OFF);
	refusal = 0;
	lro_let_go(&bond, SLOT, XBOND_SLAVE_LRO_OFF);
	assert_true(lro.active);
	assert_int_equal(reasons(), 0);
}

TEST(a_port_of_another_device_has_none, setup, bond_end)
{
	master = 9;
	lro_part.settle_bond(&bond, NEWS_ON_BOND);
	assert_false(lro.active);
	assert_int_equal(reasons(), XBOND_SLAVE_LRO_OFF);
	master = 0;
	lro_part.settle_bond(&bond, NEWS_ON_BOND);
	assert_true(lro.active);
	assert_int_equal(reasons(), 0);
}

TEST(of_a_team_the_kernel_takes_care, setup, bond_end)
{
	master = 9;
	pin.device_kind = XBOND_DEVICE_TEAM;
	lro_part.settle_bond(&bond, NEWS_ON_BOND);
	assert_true(lro.active);
}
