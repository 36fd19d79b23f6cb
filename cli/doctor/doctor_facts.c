/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gathers the facts. Judges nothing, changes nothing, and asks bondd only whether it answers. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/doctor_gather.h"
#include "common/clock.h"
#include "common/err.h"

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
static enum doctor_answer facts_starts_at_boot(const struct paths *paths)
{
	if (access("/run/systemd/system", F_OK) ||
	    !facts_is_any(paths->config_dir, "*" PATHS_CONFIG_SUFFIX))
		return DOCTOR_UNKNOWN;
	return facts_answer(facts_is_any("/etc/systemd/system", "*.wants/bondd.service") ||
			    facts_is_any("/etc/systemd/system", "*.requires/bondd.service"));
}

static void facts_gather_host(const struct paths *paths, struct doctor_host *host)
{
	int jit = gather_number("/proc/sys/net/core/bpf_jit_enable");

	*host = (struct doctor_host){ .paths = *paths, .now_ns = clock_now_ns() };
	host->kernel = facts_kernel();
	host->has_bpffs = pins_on_bpffs(paths->bpf_dir);
	host->has_btf = facts_answer(!access("/sys/kernel/btf/vmlinux", F_OK));
	host->has_jit = jit < 0 ? DOCTOR_UNKNOWN : facts_answer(jit);
	host->bondd_answers = client_present(paths->run_dir);
	host->loop_is_known = !loop_read(paths->run_dir, &host->loop);
	host->starts_at_boot = facts_starts_at_boot(paths);
}

static void facts_add_address(const struct address *address, void *arg)
{
	struct doctor_facts *facts = arg;
	struct address *grown = memory_need(
		reallocarray(facts->address, facts->address_count + 1, sizeof(*facts->address)));

	facts->address = grown;
	grown[facts->address_count++] = *address;
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
	r = pins_names(&names, paths->bpf_dir, err);
	if (r)
		return r;
	if (only && !facts_has_name(names, only))
		r = err_set(err, ENOENT, "no such bond: %s ('bondctl list' lists the bonds)", only);
	else
		r = facts_gather_bonds(ret_facts, names, err);
	pins_names_free(names);
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
	free(facts->address);
	link_list_free(&facts->links);
}
