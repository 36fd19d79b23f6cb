/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ADD, DEL and GC; CHECK and STATUS. The runtime does not run two of them at once for one
 * container.
 */
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "cni/cni.h"
#include "common/mac.h"

/* ADD, DEL and GC. */

/*
 * Deletes the bond, gives the links back and removes the record. What is not there any more is no
 * error, so it can be repeated.
 */
static int cni_attach_undo(const struct cni_record *record, const struct cni_call *call,
			   struct cni_pod *pod, struct err *err)
{
	int r = cni_bondd_delete(record, call, err);

	if (!r)
		r = cni_links_return(record, pod, err);
	if (!r)
		cni_record_remove(record, call);
	return r;
}

/* The number of a namespace that ended may belong to another one; its path, too. */
static bool cni_attach_is_same(const struct cni_pod *pod, const struct cni_record *record)
{
	return pod->inode == (uint64_t)json_integer_value(json_object_get(record->json, "inode"));
}

/* The same; finds the pod by the record. */
static int cni_attach_undo_recorded(const struct cni_call *call, const struct cni_record *record,
				    struct err *err)
{
	struct cni_pod pod;
	int r = 0;

	if (cni_pod_open(&pod, cni_record_text(record, "netns"), err) && !pod.host.sock)
		r = -CNI_KERNEL;
	if (pod.fd >= 0 && !cni_attach_is_same(&pod, record)) {
		close(pod.fd);
		pod.fd = -1;
	}
	if (!r)
		r = cni_attach_undo(record, call, &pod, err);
	cni_pod_done(&pod);
	return r;
}

static int cni_attach_move(const struct cni_record *record, const struct cni_call *call,
			   struct cni_pod *pod, struct err *err)
{
	struct link_info link;
	struct err why = { "it has gone" };

	if (link_get_by_name(&pod->host, record->bond, &link) ||
	    cni_pod_put(pod, link.ifindex, cni_device(call), &why))
		return err_set(err, CNI_KERNEL, "the bond cannot be moved into %s as %s: %s",
			       call->netns, cni_device(call), why.text);
	return 0;
}

/* In the pod: up, with an alias that says what the host calls it. */
static int cni_attach_raise(const struct cni_record *record, const struct cni_call *call,
			    struct cni_pod *pod, struct link_info *ret_link, struct err *err)
{
	char alias[64];
	int r;

	if (link_get_by_name(&pod->nl, cni_device(call), ret_link))
		return err_set(err, CNI_KERNEL, "%s has gone from %s", cni_device(call),
			       call->netns);
	snprintf(alias, sizeof(alias), "xbond: %s on the host", record->bond);
	link_set_alias(&pod->nl, ret_link->ifindex, alias, NULL);
	r = link_set_flags(&pod->nl, ret_link->ifindex, IFF_UP, IFF_UP, err);
	cni_bondd_refresh(record, call);
	return r ? -CNI_KERNEL : 0;
}

static int cni_attach_configure(const struct cni_call *call, struct cni_pod *pod,
				const struct link_info *link, const json_t *given, struct err *err)
{
	static struct cni_addresses addresses; /* large */
	int r = cni_addresses_read(&addresses, given, -1, err);

	for (size_t i = 0; i < addresses.address_count && !r; i++)
		if (addresses.addresses[i].family == AF_INET6)
			cni_pod_allow_ipv6(pod, cni_device(call));
	return r ? r : cni_addresses_apply(&addresses, &pod->nl, link->ifindex, err);
}

static int cni_attach_make(const struct cni_record *record, const struct cni_call *call,
			   struct cni_pod *pod, json_t **ret_result, struct err *err)
{
	struct link_info link;
	json_t *given = NULL;
	int r = cni_links_fetch(record, pod, err);

	if (!r)
		r = cni_bondd_create(record, call, &pod->host, err);
	if (!r)
		r = cni_attach_move(record, call, pod, err);
	if (!r)
		r = cni_attach_raise(record, call, pod, &link, err);
	if (r)
		return r;
	r = cni_ipam_call(call, "ADD", &given, err);
	if (!r)
		r = cni_attach_configure(call, pod, &link, given, err);
	if (!r)
		*ret_result = cni_result_make(call, &link, given);
	else
		cni_ipam_call(call, "DEL", NULL, NULL);
	json_decref(given);
	return r;
}

/* What can be known before anything is changed. */
static int cni_attach_prepare(struct cni_record *record, const struct cni_call *call,
			      struct cni_pod *pod, struct err *err)
{
	struct link_info link;
	int r;

	json_object_set_new(record->json, "inode", json_integer((json_int_t)pod->inode));
	if (!link_get_by_name(&pod->nl, cni_device(call), &link))
		return err_set(err, CNI_BAD_CONFIG, "there is a device %s in the container already",
			       cni_device(call));
	r = call->config.links_in_container ? cni_links_survey(record, call, pod, err) : 0;
	return r ? r : cni_record_store(record, call, err);
}

static int cni_attach_do(struct cni_record *record, const struct cni_call *call,
			 struct cni_pod *pod, json_t **ret_result, struct err *err)
{
	int r = cni_attach_prepare(record, call, pod, err);

	if (r)
		return r;
	r = cni_attach_make(record, call, pod, ret_result, err);
	if (r)
		cni_attach_undo(record, call, pod, NULL); /* the record stays if that fails */
	return r;
}

int cni_add(const struct cni_call *call, json_t **ret_result, struct err *err)
{
	struct cni_record record;
	struct cni_pod pod;
	int r;

	cni_record_init(&record, call);
	r = cni_pod_open(&pod, call->netns, err);
	if (!r)
		r = cni_attach_do(&record, call, &pod, ret_result, err);
	cni_pod_done(&pod);
	cni_record_done(&record);
	return r;
}

int cni_del(const struct cni_call *call, struct err *err)
{
	struct cni_record record;
	struct err why;
	int r = cni_record_load(&record, call, &why), ipam;

	if (!r) {
		r = cni_attach_undo_recorded(call, &record, &why);
		cni_record_done(&record);
	} else if (r == -CNI_UNKNOWN_CONTAINER) {
		r = 0;
	}
	if (r)
		*err = why;
	ipam = cni_ipam_call(call, "DEL", NULL, r ? &why : err);
	return r ? r : ipam;
}

/* What the runtime says is in use, for GC; NULL if it does not say. It is valid-attachments in the
 * specification; runtimes may give the other name, which a draft had. */
static const json_t *cni_attach_in_use(const struct cni_call *call)
{
	const json_t *valid = json_object_get(call->config.json, "cni.dev/valid-attachments");

	return valid ? valid : json_object_get(call->config.json, "cni.dev/attachments");
}

static bool cni_attach_is_valid(const struct cni_call *call, const struct cni_record *record)
{
	const json_t *valid = cni_attach_in_use(call);
	json_t *each;
	size_t i;

	json_array_foreach (valid, i, each) {
		const char *container = json_string_value(json_object_get(each, "containerID"));
		const char *ifname = json_string_value(json_object_get(each, "ifname"));

		if (container && ifname &&
		    !strcmp(container, cni_record_text(record, "containerID")) &&
		    !strcmp(ifname, cni_record_text(record, "ifname")))
			return true;
	}
	return false;
}

static int cni_attach_collect(const struct cni_call *call, const struct cni_record *record,
			      struct err *err)
{
	if (cni_attach_is_valid(call, record))
		return 0;
	return cni_attach_undo_recorded(call, record, err);
}

int cni_gc(const struct cni_call *call, struct err *err)
{
	struct err why;
	int r, ipam;

	/* Without the list, everything would count as garbage. */
	if (!json_is_array(cni_attach_in_use(call)))
		return err_set(err, CNI_BAD_CONFIG,
			       "cni.dev/valid-attachments: GC needs the list of what is in use");
	r = cni_record_visit(call, cni_attach_collect, err);
	ipam = cni_ipam_call(call, "GC", NULL, r ? &why : err);
	return r ? r : ipam;
}

/* CHECK: is everything as ADD has left it? STATUS: would ADD work? */

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
