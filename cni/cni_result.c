/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_result.h"

#include <string.h>

#include "common/mac.h"

/* The array of that name; makes it if there is none. */
static json_t *cni_result_array(json_t *result, const char *key)
{
	json_t *array = json_object_get(result, key);

	if (!json_is_array(array)) {
		array = json_array();
		json_object_set_new(result, key, array);
	}
	return array;
}

static void cni_result_add_ips(const struct cni_call *call, json_t *result, const json_t *given,
			       size_t interface)
{
	json_t *ip;
	size_t i;

	json_array_foreach (json_object_get(given, "ips"), i, ip) {
		const char *address = json_string_value(json_object_get(ip, "address"));
		json_t *copy = json_copy(ip);

		json_object_set_new(copy, "interface", json_integer((json_int_t)interface));
		if (cni_config_is_old(&call->config))
			json_object_set_new(copy, "version",
					    json_string(strchr(address, ':') ? "6" : "4"));
		json_array_append_new(cni_result_array(result, "ips"), copy);
	}
}

json_t *cni_result_make(const struct cni_call *call, const struct link_info *bond,
			const json_t *given)
{
	json_t *result =
		call->config.previous ? json_deep_copy(call->config.previous) : json_object();
	json_t *interfaces = cni_result_array(result, "interfaces"), *dns;
	char mac[MAC_FORMAT_SIZE];

	json_object_set_new(result, "cniVersion", json_string(call->config.version));
	json_array_append_new(interfaces,
			      json_pack("{s:s, s:s, s:s}", "name", bond->name, "mac",
					mac_format(bond->mac, mac), "sandbox", call->netns));
	cni_result_add_ips(call, result, given, json_array_size(interfaces) - 1);
	if (json_object_get(given, "routes"))
		json_array_extend(cni_result_array(result, "routes"),
				  json_object_get(given, "routes"));
	dns = json_object_get(call->config.json, "dns");
	if (!json_object_size(dns))
		dns = json_object_get(given, "dns");
	if (json_object_size(dns))
		json_object_set(result, "dns", dns);
	return result;
}

int cni_result_find(const struct cni_call *call, const json_t *result)
{
	json_t *interface;
	size_t i;

	json_array_foreach (json_object_get(result, "interfaces"), i, interface) {
		const char *name = json_string_value(json_object_get(interface, "name"));
		const char *sandbox = json_string_value(json_object_get(interface, "sandbox"));

		if (name && sandbox && *sandbox && !strcmp(name, cni_device(call)))
			return (int)i;
	}
	return -1;
}
