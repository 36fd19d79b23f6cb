/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_set.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "common/mode.h"
#include "options/names.h"
#include "rules/link_state.h"

static const uint8_t no_address[16];

const char *option_address_values(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? "IPV6[,IPV6]...|none" : "IPV4[,IPV4]...|none";
}

static int option_address_family(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? AF_INET6 : AF_INET;
}

size_t option_address_size(const struct option_spec *option)
{
	return option->type == OPTION_IPV6_LIST ? 16 : 4;
}

unsigned int option_address_count(const struct option_value *value)
{
	unsigned int count = 0;

	while (count < XBOND_MAX_TARGETS && memcmp(value->address[count], no_address, 16))
		count++;
	return count;
}

const char *option_address_at(const struct option_spec *option, const struct option_value *value,
			      unsigned int i, char ret_text[OPTION_ADDRESS_SIZE])
{
	inet_ntop(option_address_family(option), value->address[i], ret_text, OPTION_ADDRESS_SIZE);
	return ret_text;
}

const char *option_address_why_not(int family, const uint8_t address[16])
{
	struct in6_addr in6;

	memcpy(&in6, address, sizeof(in6));
	if (!memcmp(address, no_address, 16))
		return "the address of no host";
	if (family == AF_INET6)
		return IN6_IS_ADDR_MULTICAST(&in6)  ? "a multicast address"
		       : IN6_IS_ADDR_LOOPBACK(&in6) ? "a loopback address"
						    : NULL;
	if (address[0] == 127)
		return "a loopback address";
	if (address[0] == 0)
		return "the address of no host";
	if (address[0] == 255 && address[1] == 255 && address[2] == 255 && address[3] == 255)
		return "the broadcast address";
	return address[0] >> 4 == 0xe ? "a multicast address" : NULL;
}

static int option_address_add_one(const struct option_spec *option, const char *text,
				  struct option_value *value, struct err *err)
{
	unsigned int count = option_address_count(value);
	uint8_t address[16] = { 0 };
	const char *why;

	if (inet_pton(option_address_family(option), text, address) != 1)
		return err_set(err, EINVAL, "%s: '%s' is not allowed; allowed: %s", option->name,
			       text, option_address_values(option));
	why = option_address_why_not(option_address_family(option), address);
	if (why)
		return err_set(err, EINVAL, "%s: %s is %s, from which nobody answers; allowed: %s",
			       option->name, text, why, option_address_values(option));
	for (unsigned int i = 0; i < count; i++)
		if (!memcmp(value->address[i], address, sizeof(address)))
			return err_set(err, EINVAL, "%s: %s is given twice; allowed: %s",
				       option->name, text, option_address_values(option));
	if (count == XBOND_MAX_TARGETS)
		return err_set(err, EINVAL, "%s: %s is one too many; allowed: %s, at most %d",
			       option->name, text, option_address_values(option),
			       XBOND_MAX_TARGETS);
	memcpy(value->address[count], address, sizeof(address));
	return 0;
}

int option_address_add(const struct option_spec *option, const char *text,
		       struct option_value *value, struct err *err)
{
	int r = 0;

	if (!strcmp(text, "none"))
		return 0;
	for (const char *at = text, *next; !r; at = next + 1) {
		char one[OPTION_ADDRESS_SIZE];

		next = at + strcspn(at, ",");
		snprintf(one, sizeof(one), "%.*s", (int)(next - at), at);
		r = option_address_add_one(option, one, value, err);
		if (!*next)
			break;
	}
	return r;
}

void option_address_format(const struct option_spec *option, const struct option_value *value,
			   char *ret_text, size_t size)
{
	unsigned int count = option_address_count(value);
	char one[OPTION_ADDRESS_SIZE];
	size_t used = 0;

	if (!count)
		snprintf(ret_text, size, "none");
	for (unsigned int i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(ret_text + used, size - used, "%s%s", i ? "," : "",
					 option_address_at(option, value, i, one));
}

const struct option_spec *option_set_other_name(const struct option_spec *option)
{
	if (option->is_alias)
		return option_at(option->id - 1);
	return option->id + 1 < OPT_COUNT && option_at(option->id + 1)->is_alias
		       ? option_at(option->id + 1)
		       : NULL;
}

static int option_set_check_other_name(const struct option_set *set,
				       const struct option_spec *option, struct err *err)
{
	const struct option_spec *other = option_set_other_name(option);

	if (!other || !set->given[other->id] ||
	    set->value[other->id].number == set->value[option->id].number)
		return 0;
	return err_set(err, EINVAL,
		       "%s: is another name for %s, which is given with another value; give one "
		       "of them",
		       option->name, other->name);
}

int option_set_add(struct option_set *set, enum option_scope scope, const char *name,
		   const char *text, struct err *err)
{
	const struct option_spec *option = option_find(scope, name);
	int r;

	if (!option)
		return err_set(err, EINVAL, "unknown %s option: %s ('bondctl --help' lists them)",
			       scope == OPTION_BOND ? "bond" : "slave", name);
	if (set->given[option->id])
		return err_set(err, EINVAL, "%s: given twice", name);
	set->given[option->id] = true;
	r = option_parse(option, text, &set->value[option->id], err);
	return r ? r : option_set_check_other_name(set, option, err);
}

int option_set_add_line(struct option_set *set, enum option_scope scope, const char *name,
			const char *text, struct err *err)
{
	const struct option_spec *option = option_find(scope, name);

	if (!option || !option_is_list(option) || !set->given[option->id])
		return option_set_add(set, scope, name, text, err);
	return option_address_add(option, text, &set->value[option->id], err);
}

int option_set_from_json(struct option_set *set, enum option_scope scope, const json_t *object,
			 struct err *err)
{
	char device[XBOND_NAME_SIZE];
	const char *name, *text;
	json_t *value;
	int r;

	*set = (struct option_set){ 0 };
	if (object && !json_is_object(object))
		return err_set(err, EINVAL, "bad request: options is not an object");
	json_object_foreach ((json_t *)object, name, value) {
		if (!json_is_string(value))
			return err_set(err, EINVAL, "bad request: the value of %s is not text",
				       name);
		text = json_string_value(value);
		/* What is longer than a name is no name. */
		r = option_set_add(set, scope, name, name_from_json(value, device) ? device : text,
				   err);
		if (!r && option_find(scope, name)->in_file)
			r = err_set(err, EINVAL, "%s: belongs in the bond's file", name);
		if (r)
			return r;
	}
	return 0;
}

json_t *option_set_to_json(const struct option_set *set, json_t *(*json_of)(const char *text))
{
	char text[OPTION_TEXT_SIZE];
	json_t *options = json_object();

	for (int id = 0; id < OPT_COUNT; id++) {
		if (!set->given[id])
			continue;
		option_format(option_at(id), &set->value[id], text, sizeof(text));
		json_object_set_new(options, option_at(id)->name, json_of(text));
	}
	return options;
}

uint32_t option_set_mode(const struct option_set *set, uint32_t otherwise)
{
	return set->given[OPT_MODE] ? set->value[OPT_MODE].number : otherwise;
}

int option_set_check_mode(const struct option_set *set, uint32_t mode, struct err *err)
{
	int r = 0;

	mode = option_set_mode(set, mode);
	for (int id = 0; id < OPT_COUNT && !r; id++)
		if (set->given[id])
			r = option_check_mode(option_at(id), mode, err);
	return r;
}

int option_set_check_device(const struct option_set *set, const struct xbond_bond *bond,
			    struct err *err)
{
	if ((bond->device_kind != XBOND_DEVICE_TEAM && bond->device != XBOND_DEVICE_TEAM) ||
	    bond->team_sends || !set->given[OPT_PATH] ||
	    set->value[OPT_PATH].number == XBOND_PATH_DIRECT)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "path: a team that is made for mac_policy filter or fail_over_mac, by an "
		       "older bondd, or by a kernel without team_mode_loadbalance can only send "
		       "directly; leave path out, or add 'device veth'");
}

/* A netkit has no XDP. device_kind: of a bond that exists. */
static int option_together_netkit(const struct xbond_bond *bond, struct err *err)
{
	bool asks_for_xdp = bond->rx_hook != XBOND_RX_TC || bond->xdp_tx;

	if (!asks_for_xdp ||
	    (bond->device_kind != XBOND_DEVICE_NETKIT && bond->device != XBOND_DEVICE_NETKIT))
		return 0;
	return err_set(err, EOPNOTSUPP, "%s: netkit has no XDP; add 'device veth'",
		       bond->xdp_tx ? "xdp_tx" : "rx_hook");
}

/* The option that a team cannot have, with a line in err; NULL: none. */
static const char *option_not_with_team(const struct xbond_bond *bond, struct err *err)
{
	if (bond->rx_hook != XBOND_RX_TC || bond->xdp_tx) {
		const char *name = bond->xdp_tx ? "xdp_tx" : "rx_hook";

		err_set(err, EOPNOTSUPP, "%s: a team has no XDP; add 'device veth'", name);
		return name;
	}
	if (!mode_has(bond->mode, MODE_OWN_MACS))
		return NULL;
	err_set(err, EOPNOTSUPP,
		"mode: %s gives the slaves addresses of their own, and a team gives them its own; "
		"add 'device veth'",
		mode_name(bond->mode));
	return "mode";
}

/* The same for a team that sends. */
static const char *option_not_with_team_macs(const struct xbond_bond *bond, struct err *err)
{
	const char *name = bond->mac_policy == XBOND_MAC_FILTER ? "mac_policy" : "fail_over_mac";

	if (bond->mac_policy != XBOND_MAC_FILTER && bond->fail_over_mac == XBOND_FAIL_OVER_MAC_NONE)
		return NULL;
	err_set(err, EOPNOTSUPP,
		"%s: the bond's team gives the slaves its own address; add 'device veth'", name);
	return name;
}

const char *option_against_team(const struct xbond_bond *bond)
{
	const char *name = option_not_with_team(bond, NULL);

	return name ? name : option_not_with_team_macs(bond, NULL);
}

bool option_device_is(uint32_t wanted, uint32_t kind)
{
	return wanted == kind || wanted == XBOND_DEVICE_AUTO ||
	       (wanted == XBOND_DEVICE_PAIR && kind != XBOND_DEVICE_TEAM);
}

bool option_device_converts(const struct option_value *device, uint32_t kind)
{
	return device && (!option_device_is(device->number, kind) || getenv("XBOND_TEST_CONVERT"));
}

static int option_together_team(const struct xbond_bond *bond, struct err *err)
{
	bool is_team = bond->device_kind == XBOND_DEVICE_TEAM || bond->device == XBOND_DEVICE_TEAM;

	return is_team && option_not_with_team(bond, err) ? -EOPNOTSUPP : 0;
}

static int option_together_team_macs(const struct xbond_bond *bond, struct err *err)
{
	return bond->team_sends && option_not_with_team_macs(bond, err) ? -EOPNOTSUPP : 0;
}

static int option_together_bfd(const struct xbond_bond *bond, struct err *err)
{
	const struct xbond_address *local = &bond->bfd_local, *remote = &bond->bfd_remote;

	if (local->family && local->family == remote->family &&
	    !memcmp(local->bytes, remote->bytes, sizeof(local->bytes)))
		return err_set(err, EINVAL,
			       "bfd_remote: both ends have the same address; give the far end's");
	if (!bond->bfd_interval_ms)
		return 0;
	if (!local->family || !remote->family)
		return err_set(
			err, EINVAL,
			"bfd_interval: BFD needs the addresses of both ends; set %s, too, or "
			"first",
			local->family
				? "bfd_remote"
				: (remote->family ? "bfd_local" : "bfd_local and bfd_remote"));
	if (local->family != remote->family)
		return err_set(err, EINVAL,
			       "bfd_remote: one end has an IPv4 address and the other an IPv6 "
			       "address; give both the same kind");
	return 0;
}

static int option_together_silence(const struct xbond_bond *bond, struct err *err)
{
	if (!bond->rx_silence_ms || bond->rx_silence_ms >= SILENCE_MIN_MS)
		return 0;
	return err_set(err, EINVAL,
		       "rx_silence: %u ms is too short, because counters are read every %u ms at "
		       "most; allowed: 0 (off), or %u and more",
		       bond->rx_silence_ms, SILENCE_SHORTEST_MS, SILENCE_MIN_MS);
}

static int option_together_macs(const struct xbond_bond *bond, struct err *err)
{
	if (bond->mac_policy != XBOND_MAC_FILTER)
		return 0;
	if (mode_has(bond->mode, MODE_OWN_MACS))
		return err_set(err, EOPNOTSUPP,
			       "mode: %s changes the MAC addresses of slaves, and mac_policy "
			       "filter keeps them; use one of them",
			       mode_name(bond->mode));
	if (bond->fail_over_mac != XBOND_FAIL_OVER_MAC_FOLLOW)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "fail_over_mac: follow changes the MAC addresses of slaves, and mac_policy "
		       "filter keeps them; use one of them");
}

/* Their answers would come to the active slave, and teach the targets other addresses. */
static int option_together_probes(const struct xbond_bond *bond, struct err *err)
{
	if (!bond->arp_interval_ms || !mode_has(bond->mode, MODE_OWN_MACS))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "arp_interval: mode %s has no probes, because its slaves have different "
		       "addresses; set arp_interval 0",
		       mode_name(bond->mode));
}

static const struct option_together option_together_table[] = {
	{ option_together_netkit, { OPT_DEVICE, OPT_RX_HOOK, OPT_XDP_TX }, 3 },
	{ option_together_team, { OPT_DEVICE, OPT_MODE, OPT_RX_HOOK, OPT_XDP_TX }, 4 },
	{ option_together_team_macs, { OPT_DEVICE, OPT_MAC_POLICY, OPT_FAIL_OVER_MAC }, 3 },
	{ option_together_bfd, { OPT_BFD_INTERVAL, OPT_BFD_LOCAL, OPT_BFD_REMOTE }, 3 },
	{ option_together_silence, { OPT_RX_SILENCE }, 1 },
	{ option_together_macs, { OPT_MODE, OPT_FAIL_OVER_MAC, OPT_MAC_POLICY }, 3 },
	{ option_together_probes, { OPT_ARP_INTERVAL, OPT_MODE }, 2 },
};

const struct option_together *option_together_at(unsigned int i)
{
	return i < sizeof(option_together_table) / sizeof(option_together_table[0])
		       ? &option_together_table[i]
		       : NULL;
}

int option_together_check(const struct xbond_bond *bond, struct err *err)
{
	const struct option_together *together;
	int r = 0;

	for (unsigned int i = 0; (together = option_together_at(i)) && !r; i++)
		r = together->check(bond, err);
	return r;
}
