/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of a pod: from the IPAM plugin, on the bond, and in the result. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cni/cni.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"

/* From the IPAM plugin. */

#define IPAM_MAX_REPLY (1024 * 1024)
#define IPAM_MAX_CODE 999

/* Looks through the directories of CNI_PATH, as the runtime does. */
static int cni_ipam_find(const struct cni_call *call, char *ret_path, size_t size, struct err *err)
{
	const char *dir = call->path ? call->path : "";

	while (*dir) {
		size_t length = strcspn(dir, ":");
		int written =
			snprintf(ret_path, size, "%.*s/%s", (int)length, dir, call->config.ipam);

		if (length && written > 0 && (size_t)written < size && !access(ret_path, X_OK))
			return 0;
		dir += length + (dir[length] == ':');
	}
	return err_set(err, CNI_IPAM, "there is no plugin %s in CNI_PATH %s", call->config.ipam,
		       call->path ? call->path : "(not given)");
}

/* The configuration as a file, so that nobody waits for the plugin to read it. */
static int cni_ipam_input(const struct cni_call *call)
{
	int fd = memfd_create("config", MFD_CLOEXEC);

	if (fd >= 0 &&
	    (json_dumpfd(call->config.json, fd, JSON_COMPACT) || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void cni_ipam_exec(const struct cni_call *call, const char *path, const char *command,
			  int input, int output)
{
	setenv("CNI_COMMAND", command, 1);
	if (call->ifname)
		setenv("CNI_IFNAME", cni_device(call), 1);
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execl(path, path, (char *)NULL);
	_exit(127);
}

/* Reads to the end, and keeps what has room. */
static json_t *cni_ipam_read(int fd)
{
	char *text = memory_need(malloc(IPAM_MAX_REPLY));
	size_t used = 0;
	json_t *reply;
	ssize_t got;

	while (used < IPAM_MAX_REPLY && (got = read(fd, text + used, IPAM_MAX_REPLY - used)) > 0)
		used += (size_t)got;
	reply = text ? json_loadb(text, used, 0, NULL) : NULL;
	free(text);
	return reply;
}

/* Its error becomes ours, with its code. */
static int cni_ipam_judge(const struct cni_call *call, const char *command, int status,
			  const json_t *reply, struct err *err)
{
	const char *text = json_string_value(json_object_get(reply, "msg"));
	const char *details = json_string_value(json_object_get(reply, "details"));
	json_int_t code = json_integer_value(json_object_get(reply, "code"));

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (code < 1 || code > IPAM_MAX_CODE)
		code = CNI_IPAM;
	return err_set(err, (int)code, "%s of the ipam plugin %s failed: %s%s%s", command,
		       call->config.ipam, text ? text : "it gave no reason",
		       details && *details ? ": " : "", details ? details : "");
}

static int cni_ipam_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Takes both ends of the pipe, and input. Returns the plugin's exit status, as waitpid() does. */
static int cni_ipam_run(const struct cni_call *call, const char *path, const char *command,
			int input, const int pipe_fd[2], json_t **ret_reply)
{
	pid_t pid = fork();

	if (!pid)
		cni_ipam_exec(call, path, command, input, pipe_fd[1]);
	close(input);
	close(pipe_fd[1]);
	*ret_reply = pid > 0 ? cni_ipam_read(pipe_fd[0]) : NULL;
	close(pipe_fd[0]);
	return pid > 0 ? cni_ipam_wait(pid) : -1;
}

int cni_ipam_call(const struct cni_call *call, const char *command, json_t **ret_reply,
		  struct err *err)
{
	json_t *reply = NULL;
	char path[4096];
	int pipe_fd[2], input, status, r;

	if (ret_reply)
		*ret_reply = NULL;
	if (!call->config.ipam)
		return 0;
	r = cni_ipam_find(call, path, sizeof(path), err);
	if (r)
		return r;
	input = cni_ipam_input(call);
	if (input < 0)
		return err_set(err, CNI_IO, "the configuration of %s: %s", path, strerror(errno));
	if (pipe2(pipe_fd, O_CLOEXEC)) {
		close(input);
		return err_set(err, CNI_IO, "a pipe to %s: %s", path, strerror(errno));
	}
	status = cni_ipam_run(call, path, command, input, pipe_fd, &reply);
	r = cni_ipam_judge(call, command, status, reply, err);
	if (ret_reply && !r && !json_is_object(reply))
		r = err_set(err, CNI_IPAM, "%s of the ipam plugin %s gave no result", command,
			    call->config.ipam);
	if (ret_reply && !r)
		*ret_reply = reply;
	else
		json_decref(reply);
	return r;
}

/* On the device. */

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

/* In the result. */

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
