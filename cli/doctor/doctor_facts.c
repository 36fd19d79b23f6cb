/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers the facts about the machine, and about bonds and their devices. Judges nothing, changes
 * nothing, and asks bondd only whether it answers.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/managers.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/pins.h"
#include "network/driver.h"
#include "network/ip.h"
#include "network/packet.h"
#include "view/view_bond.h"

/* One bond and its devices. */

/* The number in a file; -1 if there is none. */
static int gather_number(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = -1;

	if (file && fscanf(file, "%d", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

/* Returns 0 or -errno; then nothing has to be ended. */
static int gather_init(struct gatherer *gatherer)
{
	int r = nl_init(&gatherer->nl);

	if (r)
		return r;
	r = ethtool_init(&gatherer->ethtool);
	if (r)
		nl_done(&gatherer->nl);
	gatherer->captured_count = capture_list(gatherer->captured, GATHER_CAPTURES_MAX);
	gatherer->managers_are_here = managers_are_here();
	return r;
}

static void gather_done(struct gatherer *gatherer)
{
	ethtool_done(&gatherer->ethtool);
	nl_done(&gatherer->nl);
}

static void gather_offloads(const struct gatherer *gatherer, struct doctor_device *device)
{
	static const struct {
		enum doctor_offload offload;
		const char *name;
	} names[] = {
		{ DOCTOR_TSO, "tx-tcp-segmentation" },
		{ DOCTOR_CHECKSUM, "tx-checksum-ip-generic" },
		{ DOCTOR_CHECKSUM, "tx-checksum-ipv4" },
		{ DOCTOR_SCATTER, "tx-scatter-gather" },
		{ DOCTOR_GRO, FEATURE_GRO },
		{ DOCTOR_LRO, FEATURE_LRO },
		{ DOCTOR_NO_VLANS, "vlan-challenged" },
	};
	struct feature any;

	device->offloads_are_known =
		!feature_get(&gatherer->ethtool, device->link->name, FEATURE_GRO, &any);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (feature_is_on(&gatherer->ethtool, device->link->name, names[i].name))
			device->offloads |= 1u << names[i].offload;
}

static void gather_device(struct gatherer *gatherer, struct doctor_device *device)
{
	if (!device->link)
		return;
	gather_offloads(gatherer, device);
	device->xdp_is_known = !xdp_features_get(device->link->ifindex, &device->xdp);
	device->stats_are_known =
		!link_stats_get(&gatherer->nl, device->link->ifindex, &device->stats);
	for (size_t i = 0; i < gatherer->captured_count; i++)
		device->is_captured |= gatherer->captured[i] == device->link->ifindex;
}

/* Is the program that this link attaches another one than the pinned one? */
static bool gather_is_other_program(const struct doctor_bond *bond, const char *link_pin,
				    const char *program_pin)
{
	int link_fd = pin_open(bond->pins.dir, link_pin),
	    program_fd = pin_open(bond->pins.dir, program_pin);
	uint32_t id = program_fd >= 0 ? pin_program_id(program_fd) : 0;
	struct pin_link link;
	bool is_other = id && link_fd >= 0 && !pin_link_read(link_fd, &link) && link.ifindex &&
			link.program != id;

	if (link_fd >= 0)
		close(link_fd);
	if (program_fd >= 0)
		close(program_fd);
	return is_other;
}

/* "" if it is no text. Takes the reference. */
static void gather_text(json_t *json, char *ret_text, size_t size)
{
	const char *text = json_string_value(json);

	snprintf(ret_text, size, "%s", text ? text : "");
	json_decref(json);
}

static void gather_why(struct doctor_bond *bond, struct doctor_slave *slave)
{
	gather_text(view_why(&bond->pins, doctor_is_lacp(bond) ? &bond->lacp : NULL, slave->slot),
		    slave->why, sizeof(slave->why));
}

static const struct link_info *gather_slave_link(const struct doctor_facts *facts,
						 const struct xbond_slave *pin)
{
	const struct link_info *link = link_list_find(&facts->links, (int)pin->ifindex);

	return link && !strcmp(link->name, pin->name) ? link : NULL;
}

static void gather_slave(struct gatherer *gatherer, const struct doctor_facts *facts,
			 struct doctor_bond *bond, unsigned int slot)
{
	struct doctor_slave *slave = &bond->slave[bond->slave_count++];
	char link_pin[32];

	slave->slot = slot;
	slave->pin = &bond->pins.slaves[slot];
	slave->device.link = gather_slave_link(facts, slave->pin);
	if (!doctor_is_asked(facts, bond))
		return;
	slave->attached = attached_slave(&bond->pins, slot);
	snprintf(link_pin, sizeof(link_pin), XBOND_PIN_LINK_RX "%u", slot);
	slave->is_other_program = gather_is_other_program(bond, link_pin, XBOND_PIN_PROG_RX);
	pins_counters(&bond->pins, slot, &slave->counters);
	gather_why(bond, slave);
	gather_device(gatherer, &slave->device);
	if (slave->device.link)
		slave->queues = ethtool_rx_queues(&gatherer->ethtool, slave->pin->name);
	if (gatherer->managers_are_here && slave->device.link)
		slave->manager = managers_find((int)slave->pin->ifindex, slave->pin->name,
					       &slave->manager_is_sure);
}

static void gather_target(struct gatherer *gatherer, struct doctor_bond *bond, int family,
			  const void *address)
{
	struct doctor_target *target = &bond->target[bond->target_count++];
	struct route route;

	inet_ntop(family, address, target->text, sizeof(target->text));
	target->error = route_get(&gatherer->nl, family, address, 0, &route);
	target->ifindex = target->error ? 0 : route.ifindex;
}

static void gather_targets(struct gatherer *gatherer, struct doctor_bond *bond)
{
	static const uint8_t none[16];

	for (int i = 0; i < XBOND_MAX_TARGETS && bond->pins.bond->arp_ip_target[i]; i++)
		gather_target(gatherer, bond, AF_INET, &bond->pins.bond->arp_ip_target[i]);
	for (int i = 0; i < XBOND_MAX_TARGETS &&
			memcmp(bond->pins.bond->ns_ip6_target[i], none, sizeof(none)) != 0;
	     i++)
		gather_target(gatherer, bond, AF_INET6, bond->pins.bond->ns_ip6_target[i]);
}

static void gather_config(const struct doctor_facts *facts, struct doctor_bond *bond)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s" PATHS_CONFIG_SUFFIX, facts->host.paths.config_dir,
		 bond->name);
	bond->config_is = DOCTOR_CONFIG_READ;
	if (access(path, F_OK))
		bond->config_is = DOCTOR_CONFIG_NONE;
	else if (config_file_read_or_err(&bond->config, path, &bond->config_error))
		bond->config_is = DOCTOR_CONFIG_BAD;
	cli_name_slaves(&bond->pins, &bond->config);
}

static int gather_ipv4_switch(const char *device, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/%s", device, name);
	return gather_number(path);
}

/* Of rp_filter, the higher one of the device's and that of all devices is in force. */
static void gather_switches(struct doctor_bond *bond)
{
	int all = gather_ipv4_switch("all", "rp_filter");

	bond->rp_filter = gather_ipv4_switch(bond->name, "rp_filter");
	if (bond->rp_filter >= 0 && all > bond->rp_filter)
		bond->rp_filter = all;
	bond->forwarding = gather_ipv4_switch(bond->name, "forwarding");
}

/* Has a table of the kernel a line with this word at this place, from 1 on? */
static bool gather_is_listed(const char *path, int place, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *left = line, *field = NULL;

		for (int i = 0; i < place; i++)
			field = strtok_r(i ? NULL : line, " \t\n", &left);
		found = field && !strcmp(field, word);
	}
	if (file)
		fclose(file);
	return found;
}

static void gather_port_side(const struct doctor_facts *facts, struct doctor_bond *bond)
{
	uint32_t ifindex = bond->pins.bond->port_ifindex;
	const struct link_info *port = link_list_find(&facts->links, (int)ifindex);
	char number[16];

	if (!port || ifindex == bond->pins.bond->ifindex)
		return;
	snprintf(number, sizeof(number), "%u", ifindex);
	bond->port_has_route = gather_is_listed("/proc/net/route", 1, port->name) ||
			       gather_is_listed("/proc/net/ipv6_route", 10, port->name);
	bond->port_has_socket = gather_is_listed("/proc/net/packet", 5, number);
}

static void gather_pair(struct gatherer *gatherer, struct doctor_bond *bond)
{
	bool is_sure;

	bond->attached = attached_pair(&bond->pins);
	bond->is_other_program =
		gather_is_other_program(bond, XBOND_PIN_LINK_PORT, XBOND_PIN_PROG_PORT) ||
		gather_is_other_program(bond, XBOND_PIN_LINK_EGRESS, XBOND_PIN_PROG_EGRESS);
	bond->is_of_older_build = !bond->pins.attached || !bond->pins.monitors || !bond->pins.bfd ||
				  !bond->pins.probes || !bond->pins.quality ||
				  !bond->pins.failover || !bond->pins.wake;
	gather_text(view_policy(&bond->pins), bond->policy, sizeof(bond->policy));
	gather_text(view_policy_problem(&bond->pins), bond->policy_problem,
		    sizeof(bond->policy_problem));
	gather_device(gatherer, &bond->device);
	bond->rp_filter = bond->forwarding = -1;
	if (!bond->device.link)
		return;
	if (gatherer->managers_are_here)
		bond->manager = managers_find(bond->device.link->ifindex, bond->name, &is_sure);
	gather_targets(gatherer, bond);
	gather_switches(bond);
}

void gather_bond(struct gatherer *gatherer, const struct doctor_facts *facts,
		 struct doctor_bond *bond)
{
	const struct xbond_bond *pin = bond->pins.bond;

	if (doctor_is_lacp(bond))
		view_lacp_read(&bond->pins, &bond->lacp);
	if (pin->netnsid < 0)
		bond->device.link = link_list_find(&facts->links, (int)pin->ifindex);
	if (bond->device.link && strcmp(bond->device.link->name, bond->name) != 0)
		bond->device.link = NULL;
	if (doctor_is_asked(facts, bond)) {
		gather_pair(gatherer, bond);
		gather_port_side(facts, bond);
		gather_config(facts, bond);
	}
	pins_for_each_member (&bond->pins, slot)
		gather_slave(gatherer, facts, bond, slot);
}

/* The machine, and all bonds. */

static unsigned int facts_kernel(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (!uname(&name))
		sscanf(name.release, "%u.%u", &major, &minor);
	return DOCTOR_KERNEL(major, minor);
}

static enum doctor_answer facts_answer(bool yes)
{
	return yes ? DOCTOR_YES : DOCTOR_NO;
}

static bool facts_is_any(const char *directory, const char *pattern)
{
	char path[PATH_MAX];
	glob_t found;
	bool any;

	snprintf(path, sizeof(path), "%s/%s", directory, pattern);
	any = !glob(path, GLOB_NOSORT, NULL, &found);
	globfree(&found);
	return any;
}

/* Unknown as well if there is nothing to make at boot. */
static enum doctor_answer facts_starts_at_boot(char *const *configured)
{
	if (access("/run/systemd/system", F_OK) || !configured || !*configured)
		return DOCTOR_UNKNOWN;
	return facts_answer(facts_is_any("/etc/systemd/system", "*.wants/bondd.service") ||
			    facts_is_any("/etc/systemd/system", "*.requires/bondd.service"));
}

/* In one of these files. */
static bool facts_is_listed(const char *files, int place, const char *word)
{
	bool found = false;
	glob_t all;

	if (paths_glob(files, &all))
		return false;
	for (size_t i = 0; !found && i < all.gl_pathc; i++)
		found = gather_is_listed(all.gl_pathv[i], place, word);
	globfree(&all);
	return found;
}

/* modprobe.d names it, by blacklist or install: the module of team has no options. */
static bool facts_is_unwanted(const char *module)
{
	return facts_is_listed("/{etc,run,usr/local/lib,usr/lib,lib}/modprobe.d/*.conf", 2, module);
}

/* Loaded, built in, or loaded when it is asked for. */
static bool facts_has_team(void)
{
	struct utsname name;
	char path[PATH_MAX / 2];

	if (!access("/sys/module/team_mode_loadbalance", F_OK))
		return true;
	if (uname(&name))
		return false;
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.builtin", name.release);
	if (gather_is_listed(path, 1, "kernel/drivers/net/team/team_mode_loadbalance.ko"))
		return true;
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/drivers/net/team", name.release);
	return facts_is_any(path, "team_mode_loadbalance.ko*") && !facts_is_unwanted("team") &&
	       !facts_is_unwanted("team_mode_loadbalance") &&
	       !facts_is_unwanted("team-mode-loadbalance");
}

static void facts_gather_host(const struct paths *paths, struct doctor_host *host)
{
	int jit = gather_number("/proc/sys/net/core/bpf_jit_enable");
	struct statvfs room;

	*host = (struct doctor_host){ .paths = *paths, .now_ns = clock_now_ns() };
	host->kernel = facts_kernel();
	host->has_bpffs = pins_on_bpffs(paths->bpf_dir);
	host->has_btf = facts_answer(!access("/sys/kernel/btf/vmlinux", F_OK));
	host->has_jit = jit < 0 ? DOCTOR_UNKNOWN : facts_answer(jit);
	host->bondd_answers = client_present(paths->run_dir);
	host->bondd_is_silent = host->bondd_answers && client_is_silent(paths->run_dir);
	host->run_dir_is_full = !statvfs(paths->run_dir, &room) && room.f_blocks && !room.f_bavail;
	host->has_ptp4l = facts_is_listed("/proc/[0-9]*/comm", 1, "ptp4l");
	host->has_team = facts_has_team();
	host->loop_is_known = !loop_read(paths->run_dir, &host->loop);
}

static void facts_add_address(const struct address *address, void *arg)
{
	struct doctor_facts *facts = arg;

	memory_more(facts->address, facts->address_count);
	facts->address[facts->address_count++] = *address;
}

static int facts_gather_bond(struct doctor_facts *facts, const char *name,
			     struct gatherer *gatherer, struct err *err)
{
	struct doctor_bond *bond = &facts->bond[facts->bond_count];
	int r;

	snprintf(bond->name, sizeof(bond->name), "%s", name);
	r = pins_open(&bond->pins, facts->host.paths.bpf_dir, name, &bond->why_not);
	if (r == -ENOENT && !facts->only)
		return 0; /* it was deleted in between */
	if (r == -ENOENT || r == -EPERM || r == -EACCES)
		return err_set(err, -r, "%s", bond->why_not.text);
	facts->bond_count++;
	bond->is_open = !r;
	if (bond->is_open)
		gather_bond(gatherer, facts, bond);
	return 0;
}

/* Without all devices, a device that is there would be taken for one that has gone. */
static int facts_gather_network(struct doctor_facts *facts, struct nl *nl, struct err *err)
{
	int r = link_list_read(nl, &facts->links);

	if (r)
		return err_set(err, -r, "cannot read the list of devices: %s; try again",
			       strerror(-r));
	r = address_visit(nl, facts_add_address, facts);
	if (r)
		return err_set(err, -r, "cannot read the list of addresses: %s; try again",
			       strerror(-r));
	return 0;
}

static bool facts_has_name(char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static int facts_gather_bonds(struct doctor_facts *facts, char **names, struct err *err)
{
	struct gatherer gatherer;
	size_t count = 0;
	int r;

	while (names[count])
		count++;
	facts->bond = memory_need(calloc(count + 1, sizeof(*facts->bond)));
	r = gather_init(&gatherer);
	if (r)
		return err_set(err, -r, "cannot ask the kernel for its devices: %s", strerror(-r));
	r = facts_gather_network(facts, &gatherer.nl, err);
	for (size_t i = 0; i < count && !r; i++)
		r = facts_gather_bond(facts, names[i], &gatherer, err);
	gather_done(&gatherer);
	return r;
}

int doctor_gather(const struct paths *paths, const char *only, struct doctor_facts *ret_facts,
		  struct err *err)
{
	char **names = NULL;
	int r;

	*ret_facts = (struct doctor_facts){ .only = only };
	facts_gather_host(paths, &ret_facts->host);
	xdp_sockets_read(&ret_facts->sockets);
	config_dir_bonds(paths->config_dir, &ret_facts->configured, err);
	ret_facts->host.starts_at_boot = facts_starts_at_boot(ret_facts->configured);
	r = pins_names(&names, paths->bpf_dir, err);
	if (r)
		return r;
	if (only && !facts_has_name(names, only))
		r = err_set(err, ENOENT, "no such bond: %s ('bondctl list' lists the bonds)", only);
	else
		r = facts_gather_bonds(ret_facts, names, err);
	memory_free_texts(names);
	return r;
}

void doctor_facts_free(struct doctor_facts *facts)
{
	for (size_t i = 0; i < facts->bond_count; i++) {
		if (facts->bond[i].is_open)
			pins_close(&facts->bond[i].pins);
		if (facts->bond[i].config_is == DOCTOR_CONFIG_READ)
			config_file_free(&facts->bond[i].config);
	}
	free(facts->bond);
	memory_free_texts(facts->configured);
	free(facts->address);
	xdp_sockets_free(&facts->sockets);
	link_list_free(&facts->links);
}
