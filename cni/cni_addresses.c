/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "cni/cni.h"

#define ADDRESS_TEXT_SIZE 64

/* ret_bytes has room for 16 of them. Returns the family, or 0. */
static int cni_addresses_host(const char *text, unsigned char *ret_bytes)
{
	if (!text)
		return 0;
	if (inet_pton(AF_INET, text, ret_bytes) == 1)
		return AF_INET;
	return inet_pton(AF_INET6, text, ret_bytes) == 1 ? AF_INET6 : 0;
}

/* 192.0.2.1/24. Returns the family, or 0. */
static int cni_addresses_network(const char *text, unsigned char *ret_bytes,
				 unsigned char *ret_prefix)
{
	char host[ADDRESS_TEXT_SIZE], *end;
	const char *slash = text ? strchr(text, '/') : NULL;
	unsigned long prefix;
	int family;

	if (!slash || (size_t)(slash - text) >= sizeof(host) || slash[1] < '0' || slash[1] > '9')
		return 0;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	prefix = strtoul(slash + 1, &end, 10);
	family = cni_addresses_host(host, ret_bytes);
	if (*end || prefix > (family == AF_INET ? 32 : 128))
		return 0;
	*ret_prefix = (unsigned char)prefix;
	return family;
}

static int cni_addresses_take(struct cni_addresses *addresses, const json_t *ip, struct err *err)
{
	const char *text = json_string_value(json_object_get(ip, "address"));
	struct address *address = &addresses->addresses[addresses->address_count];

	if (addresses->address_count == CNI_MAX_ADDRESSES)
		return err_set(err, CNI_BAD_JSON, "ips: at most %d are possible",
			       CNI_MAX_ADDRESSES);
	*address = (struct address){ 0 };
	address->family = cni_addresses_network(text, address->bytes, &address->prefix_length);
	if (!address->family)
		return err_set(err, CNI_BAD_JSON, "ips: no address: %.64s", text ? text : "(none)");
	/* Nobody else has it, because a plugin has given it; so packets need not wait. */
	address->flags = address->family == AF_INET6 ? IFA_F_NODAD : 0;
	addresses->address_count++;
	return 0;
}

/* The gateway of the first address of that family. */
static bool cni_addresses_gateway(const json_t *result, int family, unsigned char *ret_bytes)
{
	json_t *ip;
	size_t i;

	json_array_foreach (json_object_get(result, "ips"), i, ip)
		if (cni_addresses_host(json_string_value(json_object_get(ip, "gateway")),
				       ret_bytes) == family)
			return true;
	return false;
}

static uint32_t cni_addresses_number(const json_t *route, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(route, key));

	return number < 0 || number > UINT32_MAX ? 0 : (uint32_t)number;
}

static int cni_addresses_take_route(struct cni_addresses *addresses, const json_t *result,
				    const json_t *object, struct err *err)
{
	const char *to = json_string_value(json_object_get(object, "dst"));
	const char *by = json_string_value(json_object_get(object, "gw"));
	struct route_change *route = &addresses->routes[addresses->route_count];

	if (addresses->route_count == CNI_MAX_ROUTES)
		return err_set(err, CNI_BAD_JSON, "routes: at most %d are possible",
			       CNI_MAX_ROUTES);
	*route = (struct route_change){
		.priority = cni_addresses_number(object, "priority"),
		.table = cni_addresses_number(object, "table"),
		.mtu = cni_addresses_number(object, "mtu"),
		.advmss = cni_addresses_number(object, "advmss"),
	};
	route->family = cni_addresses_network(to, route->to, &route->prefix_length);
	if (!route->family)
		return err_set(err, CNI_BAD_JSON, "routes: no network: %.64s", to ? to : "(none)");
	if (by && cni_addresses_host(by, route->gateway) != route->family)
		return err_set(err, CNI_BAD_JSON, "routes: %.64s cannot be the gateway to %.64s",
			       by, to);
	route->has_gateway = by || cni_addresses_gateway(result, route->family, route->gateway);
	addresses->route_count++;
	return 0;
}

static bool cni_addresses_is_of(const json_t *ip, int interface)
{
	const json_t *number = json_object_get(ip, "interface");

	return interface < 0 ||
	       (json_is_integer(number) && json_integer_value(number) == interface);
}

int cni_addresses_read(struct cni_addresses *ret_addresses, const json_t *result, int interface,
		       struct err *err)
{
	json_t *each;
	size_t i;
	int r;

	ret_addresses->address_count = ret_addresses->route_count = 0;
	json_array_foreach (json_object_get(result, "ips"), i, each) {
		r = cni_addresses_is_of(each, interface)
			    ? cni_addresses_take(ret_addresses, each, err)
			    : 0;
		if (r)
			return r;
	}
	json_array_foreach (json_object_get(result, "routes"), i, each) {
		r = cni_addresses_take_route(ret_addresses, result, each, err);
		if (r)
			return r;
	}
	return 0;
}

static void cni_addresses_text(const struct address *address, char ret_text[ADDRESS_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->family, address->bytes, host, sizeof(host));
	snprintf(ret_text, ADDRESS_TEXT_SIZE, "%s/%u", host, address->prefix_length);
}

int cni_addresses_apply(struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err)
{
	char text[ADDRESS_TEXT_SIZE];
	struct err why;
	int r;

	for (size_t i = 0; i < addresses->address_count; i++) {
		r = address_add(nl, ifindex, &addresses->addresses[i]);
		cni_addresses_text(&addresses->addresses[i], text);
		if (r)
			return err_set(err, CNI_KERNEL, "the address %s cannot be added: %s", text,
				       strerror(-r));
	}
	for (size_t i = 0; i < addresses->route_count; i++) {
		addresses->routes[i].ifindex = ifindex;
		r = route_add(nl, &addresses->routes[i], &why);
		if (r && r != -EEXIST)
			return err_set(err, CNI_KERNEL, "routes, number %zu: %s", i + 1, why.text);
	}
	return 0;
}

struct cni_addresses_search {
	int ifindex;
	const struct address *wanted;
	bool found;
};

static void cni_addresses_compare(const struct address *address, void *arg)
{
	struct cni_addresses_search *search = arg;

	if (address->ifindex == search->ifindex && address->family == search->wanted->family &&
	    address->prefix_length == search->wanted->prefix_length &&
	    !memcmp(address->bytes, search->wanted->bytes, sizeof(address->bytes)))
		search->found = true;
}

int cni_addresses_check(const struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err)
{
	char text[ADDRESS_TEXT_SIZE];

	for (size_t i = 0; i < addresses->address_count; i++) {
		struct cni_addresses_search search = { ifindex, &addresses->addresses[i], false };
		int r = address_visit(nl, cni_addresses_compare, &search);

		if (r)
			return err_set(err, CNI_KERNEL, "netlink: %s", strerror(-r));
		if (search.found)
			continue;
		cni_addresses_text(&addresses->addresses[i], text);
		return err_set(err, CNI_CHANGED, "the address %s is missing", text);
	}
	return 0;
}
