/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/xdp_load.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "network/driver.h"

/* the time that others may need to remove the pins of programs they take off */
#define TIDY_NS (1000 * NS_PER_MS)

/* Of a slave. */
struct xdp_seen {
	uint32_t id;	  /* the device's program when ours was last seen; 0: check again */
	uint64_t gone_ns; /* since when ours has been missing; 0: it is not */
};

static struct xdp_seen *xdp_of(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &xdp_part, slot);
}

void xdp_slave_pin(char ret_path[PIN_PATH_SIZE], struct bond *bond, unsigned int slot)
{
	snprintf(ret_path, PIN_PATH_SIZE, "%s/" XBOND_PIN_LINK_XDP_RX "%u",
		 bond->dataplane.pins.dir, slot);
}

/* port_ifindex 0: it is set later (xdp_dispatcher.c). */
static int xdp_attach_alone(struct bond *bond, unsigned int slot, enum xdp_role role,
			    uint32_t port_ifindex, struct err *err)
{
	char pin[PIN_PATH_SIZE];

	xdp_slave_pin(pin, bond, slot);
	return xdp_link_attach(pin, bond->dataplane.pins.dir, role,
			       (int)bond_slave(bond, slot)->ifindex, port_ifindex, err);
}

/*
 * A veth keeps VLAN tags beside the frame, whatever its features say. A program that can see them
 * is bound to the device, and no dispatcher can call it.
 */
static int xdp_attach_veth(struct bond *bond, unsigned int slot, struct err *err)
{
	int r = xdp_attach_alone(bond, slot, XDP_ROLE_RX_TAGS, bond_pin(bond)->port_ifindex, err);

	if (!r)
		event_warning(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			      "%s is a veth: through XDP it receives only frames with complete "
			      "checksums; 'ethtool -K DEV tx off' at its other end makes them so",
			      bond_slave(bond, slot)->name);
	return r;
}

static bool xdp_unpin_dispatched(struct bond *bond, const struct xbond_slave *slave)
{
	return xdp_dispatcher_pins_remove((int)slave->ifindex, bond->dataplane.pins.counters_fd);
}

/* Also removes what a bondd that died in the middle of this has left. */
static int xdp_clear_dispatcher(struct bond *bond, const struct xbond_slave *slave)
{
	int r = xdp_dispatcher_remove((int)slave->ifindex);

	if (!r)
		xdp_unpin_dispatched(bond, slave);
	return r;
}

static int xdp_leave_dispatcher(struct bond *bond, const struct xbond_slave *slave)
{
	int r = xdp_clear_dispatcher(bond, slave);

	if (r)
		event_warning(bond_pin(bond)->name, slave->name,
			      "libxdp's dispatcher of %s keeps an entry of xbond: %s", slave->name,
			      strerror(-r));
	return r;
}

/* Only now it is known that the driver takes the program, which has let everything pass so far. */
static int xdp_take_over(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	uint32_t port_ifindex = bond_pin(bond)->port_ifindex;
	int r = xdp_nic_keep_tags(bond, slave, err);
	char pin[PIN_PATH_SIZE];

	if (r)
		return r;
	xdp_slave_pin(pin, bond, slot);
	r = access(pin, F_OK) ? xdp_dispatcher_open((int)slave->ifindex, port_ifindex)
			      : xdp_gate_open_link(pin, port_ifindex);
	return r ? err_set(err, -r, "its XDP program cannot find %s: %s", bond_pin(bond)->port_name,
			   strerror(-r))
		 : 0;
}

static int xdp_attach_nic(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct err why;
	int beside, r;

	/* Some drivers turn it off for XDP and do not turn it on again. */
	lro_hold(bond, slot, XBOND_SLAVE_HAD_LRO);
	xdp_clear_dispatcher(bond, slave);
	beside = xdp_dispatcher_add(bond->dataplane.pins.dir, (int)slave->ifindex, &why);
	r = beside ? xdp_attach_alone(bond, slot, XDP_ROLE_RX, 0, err) : 0;
	if (r)
		return r == -EBUSY
			       ? err_set(err, EBUSY, "it has an XDP program already; %s", why.text)
			       : xdp_nic_explain(bond, slave, r, err);
	if (beside)
		event_info(bond_pin(bond)->name, slave->name,
			   "%s is not shared with other XDP programs: %s", slave->name, why.text);
	crashpoint("xdp-closed");
	return xdp_take_over(bond, slot, err);
}

static bool xdp_is_veth(struct bond *bond, unsigned int slot)
{
	return link_is_veth(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex);
}

static int xdp_attach_slave(struct bond *bond, unsigned int slot, struct err *err)
{
	struct link_info link;
	char pin[PIN_PATH_SIZE];
	bool veth;
	int r = link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex, &link);

	if (r) /* the program of the other kind would stay */
		return err_set(err, EBUSY, "it is not known what kind of device it is: %s",
			       strerror(-r));
	veth = !strcmp(link.kind, "veth");
	r = veth ? 0 : xdp_nic_check(bond, bond_slave(bond, slot), err);
	if (r)
		return r;
	xdp_slave_pin(pin, bond, slot);
	pin_link_detach(pin); /* somebody may have detached it and left the link */
	/* From here on there may be something to undo. */
	bond_slave(bond, slot)->rx_hook = XBOND_RX_XDP;
	crashpoint("xdp-recorded");
	r = xdp_gro_want(bond, err);
	if (!r)
		r = veth ? xdp_attach_veth(bond, slot, err) : xdp_attach_nic(bond, slot, err);
	crashpoint("xdp-attached");
	return r;
}

/*
 * Detaches it and restores what it needed. The device may be gone. Returns 0, or -errno if its link
 * goes on. libxdp's refusals are logged.
 */
static int xdp_release_slave(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	char pin[PIN_PATH_SIZE];
	int r;

	xdp_slave_pin(pin, bond, slot);
	r = slave->rx_hook == XBOND_RX_XDP ? pin_link_detach(pin) : 0;
	if (r && r != -ENOENT)
		return r;
	if (r && xdp_leave_dispatcher(bond, slave))
		/* It goes on by XDP, and is tried again when rx_hook is set or bondd starts. */
		return 0;
	xdp_nic_restore(bond, slot);
	slave->rx_hook = XBOND_RX_TC;
	xdp_gro_restore(bond);
	return 0;
}

/* Returns 1 or 0; -errno if it cannot be found out. */
static int xdp_is_attached(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	char pin[PIN_PATH_SIZE];

	xdp_slave_pin(pin, bond, slot);
	if (slave->rx_hook != XBOND_RX_XDP)
		return 0;
	return access(pin, F_OK) ? xdp_dispatcher_has((int)slave->ifindex)
				 : xdp_link_is_attached(pin);
}

/*
 * XDP loses checksums that the stack of a veth's peer has left to be filled in, and goes past TC
 * filters. So XDP is used there only if it was requested by name.
 */
static uint32_t xdp_wanted_hook(struct bond *bond, unsigned int slot)
{
	uint32_t wanted = bond_pin(bond)->rx_hook;

	return wanted == XBOND_RX_AUTO &&
			       (rx_place_has_others(bond, slot) || xdp_is_veth(bond, slot))
		       ? XBOND_RX_TC
		       : wanted;
}

/* The number of the device's native XDP program, whoever attached it; 0: none, or not known. */
static uint32_t xdp_program_on(struct bond *bond, const struct xbond_slave *slave)
{
	struct link_info link;

	return link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &link) ? 0 : link.xdp_id;
}

/* For a bond whose pins were removed by hand: the program would go on, and drop what it takes. */
static void xdp_remove_orphan(struct bond *bond, const struct xbond_slave *slave)
{
	if (!xdp_program_on(bond, slave) || xdp_dispatcher_has((int)slave->ifindex) <= 0)
		return;
	if (!xdp_leave_dispatcher(bond, slave))
		event_notice(bond_pin(bond)->name, slave->name,
			     "an XDP program that a bond has left on %s is removed", slave->name);
}

/*
 * Refusals that pass by themselves and do not come from the driver: tried again whenever bondd
 * starts.
 */
static bool xdp_is_lasting(int r)
{
	return r != -EBUSY && r != -EEXIST && r != -ENOLCK && r != -ETIMEDOUT && r != -EXDEV;
}

static int xdp_keep_attached(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int attached = xdp_is_attached(bond, slot), r;

	if (attached < 0) /* it cannot be found out, so nothing changes */
		return 0;
	if (attached)
		return xdp_is_veth(bond, slot) ? 0 : xdp_take_over(bond, slot, err);
	if (slave->before.flags & XBOND_SLAVE_XDP_REFUSED)
		return err_set(err, EALREADY, "it was refused before");
	r = xdp_attach_slave(bond, slot, err);
	if (r && xdp_is_lasting(r))
		slave->before.flags |= XBOND_SLAVE_XDP_REFUSED;
	return r;
}

bool xdp_is_settled(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool by_xdp = xdp_wanted_hook(bond, slot) != XBOND_RX_TC;

	if (by_xdp && slave->before.flags & XBOND_SLAVE_XDP_REFUSED)
		return true;
	return by_xdp == (slave->rx_hook == XBOND_RX_XDP && xdp_program_on(bond, slave));
}

void xdp_yield(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	xdp_release_slave(bond, slot);
	slave->before.flags |= XBOND_SLAVE_XDP_REFUSED;
}

bool xdp_is_gentle(struct bond *bond, unsigned int slot)
{
	return xdp_is_veth(bond, slot) || (xdp_wanted_hook(bond, slot) != XBOND_RX_TC &&
					   xdp_nic_check(bond, bond_slave(bond, slot), NULL));
}

bool xdp_ask_again(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool was_refused = slave->before.flags & XBOND_SLAVE_XDP_REFUSED;

	slave->before.flags &= ~(uint32_t)XBOND_SLAVE_XDP_REFUSED;
	return was_refused;
}

int xdp_settle_slave(struct bond *bond, unsigned int slot, struct err *ret_why)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	uint32_t wanted = xdp_wanted_hook(bond, slot);
	struct err err;
	int r;

	if (wanted == XBOND_RX_TC && slave->rx_hook == XBOND_RX_TC) {
		xdp_remove_orphan(bond, slave);
		return 0;
	}
	if (wanted == XBOND_RX_TC) {
		xdp_release_slave(bond, slot);
		return 0;
	}
	r = xdp_keep_attached(bond, slot, &err);
	if (!r) {
		/* xdp_check_slave() looks: libxdp may not have said whether it is there. */
		*xdp_of(bond, slot) = (struct xdp_seen){ 0 };
		return 0;
	}
	if (r != -EALREADY)
		xdp_release_slave(bond, slot);
	/* `auto` is silent where the driver decides. */
	if (r != -EALREADY && (wanted == XBOND_RX_XDP || !xdp_is_lasting(r)))
		event_warning(bond_pin(bond)->name, slave->name,
			      "%s receives through TC, not XDP: %s", slave->name, err.text);
	return err_set(ret_why, -r, "%s", err.text);
}

/*
 * Attaching it again could go on for ever against somebody who removes it, and who may first have
 * to remove its own pins. TC receives meanwhile. Every change of programs through the dispatcher
 * changes the dispatcher's number, so libxdp need not be asked meanwhile.
 */
static void xdp_check_slave(struct bond *bond, unsigned int slot, uint32_t news)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	struct xdp_seen *seen = xdp_of(bond, slot);
	uint64_t now_ns = clock_now_ns();
	struct link_info link;
	int attached;

	if (slave->rx_hook != XBOND_RX_XDP ||
	    link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &link) ||
	    (seen->id && seen->id == link.xdp_id))
		return;
	attached = link.xdp_id ? xdp_is_attached(bond, slot) : 0;
	if (attached < 0)
		return;
	seen->id = attached ? link.xdp_id : 0;
	if (attached || !seen->gone_ns)
		seen->gone_ns = attached ? 0 : now_ns;
	if (attached || now_ns - seen->gone_ns < TIDY_NS)
		return;
	attach_check_count(bond, slot);
	event_warning(pin->name, slave->name,
		      "%s receives through TC now: its XDP program was removed; 'bondctl set %s "
		      "rx_hook %s' attaches it again",
		      slave->name, pin->name, pin->rx_hook == XBOND_RX_AUTO ? "auto" : "xdp");
	xdp_release_slave(bond, slot);
}

int xdp_settle_tx(struct bond *bond, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	char path[PIN_PATH_SIZE];
	struct err why;
	int r;

	pin_path(path, bond->dataplane.pins.dir, XBOND_PIN_LINK_XDP_TX);
	if (!pin->xdp_tx) {
		r = pin_link_detach(path);
		return r && r != -ENOENT ? err_set(err, -r, "xdp_tx: cannot detach from %s: %s",
						   pin->port_name, strerror(-r))
					 : 0;
	}
	if (xdp_link_is_attached(path))
		return 0;
	pin_link_detach(path); /* somebody may have detached it and left the link */
	r = xdp_link_attach(path, bond->dataplane.pins.dir, xdp_role_tx(bond->dataplane.pins.dir),
			    (int)pin->port_ifindex, pin->port_ifindex, &why);
	return r ? err_set(err, -r, "xdp_tx: cannot attach to %s: %s", pin->port_name, why.text)
		 : 0;
}

static void xdp_check_tx(struct bond *bond, uint32_t news)
{
	const struct xbond_bond *pin = bond_pin(bond);
	char path[PIN_PATH_SIZE];
	struct err err;

	pin_path(path, bond->dataplane.pins.dir, XBOND_PIN_LINK_XDP_TX);
	if (!pin->xdp_tx || access(path, F_OK) || xdp_link_is_attached(path) ||
	    xdp_settle_tx(bond, &err))
		return;
	attach_check_count(bond, XBOND_MAX_SLAVES);
	event_attached(pin->name, NULL,
		       "somebody has removed the XDP program from %s; it is put back",
		       pin->port_name);
}

static int xdp_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	(void)err; /* it receives by TC then */
	crashpoint("enslave-attached");
	xdp_settle_slave(bond, slot, NULL);
	return 0;
}

/* Away, only what a dispatcher of libxdp has there can be taken off: a link is detached here. */
static int xdp_restore(struct bond *bond, unsigned int slot, const struct place *place,
		       struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	char pin[PIN_PATH_SIZE];
	int r = 0;

	if (!place->away) {
		r = xdp_release_slave(bond, slot);
		if (r || slave->rx_hook == XBOND_RX_XDP)
			return err_set(err, r ? -r : EBUSY, "%s", strerror(r ? -r : EBUSY));
	} else {
		xdp_slave_pin(pin, bond, slot);
		if (slave->rx_hook == XBOND_RX_XDP && access(pin, F_OK) &&
		    xdp_unpin_dispatched(bond, slave))
			r = link_clear_xdp(place->nl, place->ifindex, err);
	}
	if (r || !(slave->before.flags & XBOND_SLAVE_HAD_VLAN_STRIP))
		return r;
	return part_restore_feature(place, FEATURE_VLAN_STRIP, err);
}

/* Any device may have the slave's name now. */
static void xdp_forget(struct bond *bond, unsigned int slot)
{
	bond_slave(bond, slot)->before.flags &=
		~(uint32_t)(XBOND_SLAVE_HAD_VLAN_STRIP | XBOND_SLAVE_HAD_LRO);
	xdp_release_slave(bond, slot);
}

static bool xdp_hear(struct bond *bond, unsigned int slot, enum part_news news,
		     const struct link_info *link, bool gone)
{
	return news != NEWS_SLAVE || link->xdp_id != xdp_of(bond, slot)->id;
}

struct part xdp_part = {
	.bond_size = sizeof(struct xdp_gro),
	.member_size = sizeof(struct xdp_seen),
	.hears = NEWS_SLAVE | NEWS_TIME,
	.hear = xdp_hear,
	.settle = xdp_check_slave,
	.restores = XBOND_RESTORED_XDP,
	.enslave = xdp_enslave,
	.restore = xdp_restore,
	.forget = xdp_forget,
};

struct part xdp_tx_part = { .hears = NEWS_TIME, .settle_bond = xdp_check_tx };
