/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cni/cni_links.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>

static const char *cni_links_text(const json_t *link, const char *key)
{
	return json_string_value(json_object_get(link, key));
}

const char *cni_links_host_name(const struct cni_record *record, const char *name)
{
	json_t *link;
	size_t i;

	json_array_foreach (cni_record_links(record), i, link)
		if (!strcmp(cni_links_text(link, "name"), name))
			return cni_links_text(link, "host");
	return name;
}

int cni_links_survey(struct cni_record *record, const struct cni_call *call, struct cni_pod *pod,
		     struct err *err)
{
	for (size_t i = 0; i < call->config.link_count; i++) {
		const char *name = call->config.links[i].name;
		struct link_info link;

		if (link_get_by_name(&pod->nl, name, &link))
			return err_set(err, CNI_BAD_CONFIG,
				       "links: there is no device %s in the container", name);
		if (link.type != ARPHRD_ETHER)
			return err_set(err, CNI_BAD_CONFIG, "links: %s is not an Ethernet device",
				       name);
		json_array_append_new(cni_record_links(record),
				      json_pack("{s:s, s:o, s:b}", "name", name, "host",
						json_sprintf("%s-%zu", record->bond, i), "up",
						!!(link.flags & IFF_UP)));
	}
	return 0;
}

int cni_links_fetch(const struct cni_record *record, struct cni_pod *pod, struct err *err)
{
	json_t *entry;
	size_t i;

	json_array_foreach (cni_record_links(record), i, entry) {
		const char *name = cni_links_text(entry, "name");
		struct err why = { "it has gone" };
		struct link_info link;

		if (link_get_by_name(&pod->nl, name, &link) ||
		    cni_pod_fetch(pod, link.ifindex, cni_links_text(entry, "host"), &why))
			return err_set(err, CNI_KERNEL,
				       "%s cannot be moved out of the container: %s", name,
				       why.text);
	}
	return 0;
}

static int cni_links_give(const json_t *entry, struct cni_pod *pod, const struct link_info *link,
			  struct err *err)
{
	const char *name = cni_links_text(entry, "name");
	struct link_info back;
	struct err why;
	int r = cni_pod_put(pod, link->ifindex, name, &why);

	if (r)
		return err_set(err, CNI_KERNEL,
			       "%s cannot be given back to the container as %s: %s", link->name,
			       name, why.text);
	if (json_is_true(json_object_get(entry, "up")) && !link_get_by_name(&pod->nl, name, &back))
		link_set_flags(&pod->nl, back.ifindex, IFF_UP, IFF_UP, NULL);
	return 0;
}

static void cni_links_leave(const json_t *entry, struct cni_pod *pod, const struct link_info *link)
{
	if (*link->kind) {
		link_delete(&pod->host, link->ifindex, NULL);
		return;
	}
	link_set_flags(&pod->host, link->ifindex, 0, IFF_UP, NULL);
	link_set_name(&pod->host, link->ifindex, cni_links_text(entry, "name"), NULL);
}

int cni_links_return(const struct cni_record *record, struct cni_pod *pod, struct err *err)
{
	json_t *entry;
	int first = 0;
	size_t i;

	json_array_foreach (cni_record_links(record), i, entry) {
		struct link_info link;
		struct err why;
		int r = link_get_by_name(&pod->host, cni_links_text(entry, "host"), &link);

		if (r == -ENODEV)
			continue;
		if (r)
			r = err_set(&why, CNI_KERNEL, "the kernel does not say whether %s is there",
				    cni_links_text(entry, "host"));
		else if (pod->fd >= 0)
			r = cni_links_give(entry, pod, &link, &why);
		else
			cni_links_leave(entry, pod, &link);
		if (r && !first) {
			first = r;
			*err = why;
		}
	}
	return first;
}
