/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CHECK: is everything as ADD has left it? STATUS: would ADD work? */
#include <net/if.h>
#include <string.h>

#include "cni/cni_addresses.h"
#include "cni/cni_bondd.h"
#include "cni/cni_ipam.h"
#include "cni/cni_links.h"
#include "cni/cni_pod.h"
#include "cni/cni_result.h"
#include "common/mac.h"

static bool cni_check_has_slave(const json_t *view, const char *name)
{
	json_t *slave;
	size_t i;

	json_array_foreach (json_object_get(view, "slaves"), i, slave) {
		const char *found = json_string_value(json_object_get(slave, "name"));

		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

static int cni_check_slaves(const struct cni_record *record, const struct cni_call *call,
			    struct err *err)
{
	const json_t *links = json_object_get(call->config.json, "links");
	json_t *view, *link;
	size_t i;
	int r = cni_bondd_show(record, call, &view, err);

	if (r)
		return r;
	json_array_foreach (links, i, link) {
		const char *name = json_string_value(json_object_get(link, "name"));

		if (name && !cni_check_has_slave(view, cni_links_host_name(record, name)) && !r)
			r = err_set(err, CNI_CHANGED, "%s is no longer a slave of the bond", name);
	}
	json_decref(view);
	return r;
}

static int cni_check_mac(const struct cni_call *call, int number, const struct link_info *link,
			 struct err *err)
{
	const json_t *interfaces = json_object_get(call->config.previous, "interfaces");
	const json_t *interface = json_array_get(interfaces, (size_t)number);
	const char *wanted = json_string_value(json_object_get(interface, "mac"));
	uint8_t mac[XBOND_MAC_SIZE];

	if (!wanted || (!mac_parse(wanted, mac) && !memcmp(mac, link->mac, sizeof(mac))))
		return 0;
	return err_set(err, CNI_CHANGED, "%s no longer has the address %.32s", link->name, wanted);
}

static int cni_check_device(const struct cni_call *call, struct cni_pod *pod, struct err *err)
{
	static struct cni_addresses addresses; /* large */
	int number = cni_result_find(call, call->config.previous), r;
	struct link_info link;

	if (number < 0)
		return err_set(err, CNI_BAD_CONFIG, "prevResult: there is no interface %s",
			       cni_device(call));
	if (link_get_by_name(&pod->nl, cni_device(call), &link))
		return err_set(err, CNI_CHANGED, "there is no longer a device %s in %s",
			       cni_device(call), call->netns);
	if (!(link.flags & IFF_UP))
		return err_set(err, CNI_CHANGED, "%s is down", link.name);
	r = cni_check_mac(call, number, &link, err);
	if (!r)
		r = cni_addresses_read(&addresses, call->config.previous, number, err);
	return r ? r : cni_addresses_check(&addresses, &pod->nl, link.ifindex, err);
}

int cni_check(const struct cni_call *call, struct err *err)
{
	struct cni_record record;
	struct cni_pod pod;
	int r;

	if (!call->config.previous)
		return err_set(err, CNI_BAD_CONFIG, "prevResult: CHECK needs it");
	r = cni_record_load(&record, call, err);
	if (r)
		return r;
	r = cni_pod_open(&pod, call->netns, err);
	if (!r)
		r = cni_check_device(call, &pod, err);
	cni_pod_done(&pod);
	if (!r)
		r = cni_check_slaves(&record, call, err);
	cni_record_done(&record);
	return r ? r : cni_ipam_call(call, "CHECK", NULL, err);
}

int cni_status(const struct cni_call *call, struct err *err)
{
	int r = cni_bondd_ping(call, err);

	return r ? r : cni_ipam_call(call, "STATUS", NULL, err);
}
