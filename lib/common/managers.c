/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/managers.h"

#include <ctype.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_SIZE 256

bool managers_are_here(void)
{
	struct stat mine, first;

	return stat("/proc/self/ns/net", &mine) || stat("/proc/1/ns/net", &first) ||
	       mine.st_ino == first.st_ino;
}

/* The first KEY=VALUE of the file, as "" if there is none. */
static const char *managers_read(const char *path, const char *key, char ret_value[LINE_SIZE])
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(key);
	char line[LINE_SIZE];

	ret_value[0] = '\0';
	while (file && !ret_value[0] && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, key, length) && line[length] == '=')
			strcpy(ret_value, line + length + 1);
	}
	if (file)
		fclose(file);
	return ret_value;
}

static bool managers_is_of_networkd(int ifindex)
{
	static const char *const managed[] = { "configuring", "configured", "failed" };
	char path[64], state[LINE_SIZE];

	snprintf(path, sizeof(path), "/run/systemd/netif/links/%d", ifindex);
	managers_read(path, "ADMIN_STATE", state);
	for (size_t i = 0; i < sizeof(managed) / sizeof(managed[0]); i++)
		if (!strcmp(state, managed[i]))
			return true;
	return false;
}

static bool managers_is_of_network_manager(int ifindex)
{
	char path[64], managed[LINE_SIZE], connection[LINE_SIZE];

	snprintf(path, sizeof(path), "/run/NetworkManager/devices/%d", ifindex);
	managers_read(path, "managed", managed);
	managers_read(path, "connection-uuid", connection);
	return !strcmp(managed, "true") || (connection[0] && strcmp(managed, "false"));
}

/* A line for each interface that is up: eth0=eth0. */
static bool managers_is_of_ifupdown(const char *name)
{
	char value[LINE_SIZE];

	return *managers_read("/run/network/ifstate", name, value);
}

const char *managers_find(int ifindex, const char *name, bool *ret_is_sure)
{
	*ret_is_sure = true;
	if (managers_is_of_network_manager(ifindex))
		return "NetworkManager";
	if (managers_is_of_networkd(ifindex))
		return "systemd-networkd";
	*ret_is_sure = false;
	return managers_is_of_ifupdown(name) ? "ifupdown" : NULL;
}

/* The first pattern that the name fits decides; a "!" before it means all but these. */
static bool managers_fits(const char *patterns, const char *separators, const char *name)
{
	char copy[LINE_SIZE], *rest = copy, *pattern;

	snprintf(copy, sizeof(copy), "%s", patterns);
	while ((pattern = strsep(&rest, separators))) {
		bool is_not = *pattern == '!';

		if (*pattern && !fnmatch(pattern + is_not, name, 0))
			return !is_not;
	}
	return false;
}

/* interfaces(5): iface NAME FAMILY METHOD */
static bool managers_in_interfaces(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(line, "iface", 5) != 0 || !isspace((unsigned char)line[5]))
		return false;
	line += 5 + strspn(line + 5, " \t");
	return !strncmp(line, name, length) && isspace((unsigned char)line[length]);
}

/* systemd.network(5): Name=PATTERN... */
static bool managers_in_network(const char *line, const char *name)
{
	return !strncmp(line, "Name=", 5) && managers_fits(line + 5, " \t\r\n", name);
}

/* nm-settings-keyfile(5): interface-name=NAME, or a list of patterns in [match] */
static bool managers_in_keyfile(const char *line, const char *name)
{
	return !strncmp(line, "interface-name=", 15) && managers_fits(line + 15, "; \t\r\n", name);
}

/* netplan(5): the name is a key, perhaps in quotes. */
static bool managers_in_yaml(const char *line, const char *name)
{
	const char *at = line, *comment = strchr(line, '#');
	size_t length = strlen(name);

	while ((at = strstr(at, name)) && (!comment || at < comment)) {
		const char *end = at + length;
		bool begins = at == line || strchr(" \t\"'{,", at[-1]);

		end += *end == '"' || *end == '\'';
		end += strspn(end, " \t");
		if (begins && *end == ':')
			return true;
		at += length;
	}
	return false;
}

/* names: NULL if the file is there for the device: ifcfg-NAME */
static const struct {
	const char *manager, *files;
	bool (*names)(const char *line, const char *name);
} managers_files[] = {
	{ "netplan", "/etc/netplan/*.yaml", managers_in_yaml },
	{ "netplan", "/run/netplan/*.yaml", managers_in_yaml },
	{ "netplan", "/usr/lib/netplan/*.yaml", managers_in_yaml },
	{ "ifupdown", "/etc/network/interfaces", managers_in_interfaces },
	{ "ifupdown", "/etc/network/interfaces.d/*", managers_in_interfaces },
	{ "systemd-networkd", "/etc/systemd/network/*.network", managers_in_network },
	{ "systemd-networkd", "/run/systemd/network/*.network", managers_in_network },
	{ "systemd-networkd", "/usr/lib/systemd/network/*.network", managers_in_network },
	{ "NetworkManager", "/etc/NetworkManager/system-connections/*", managers_in_keyfile },
	{ "NetworkManager", "/run/NetworkManager/system-connections/*", managers_in_keyfile },
	{ "NetworkManager", "/usr/lib/NetworkManager/system-connections/*", managers_in_keyfile },
	{ "NetworkManager", "/etc/sysconfig/network-scripts/ifcfg-", NULL },
	{ "wicked", "/etc/sysconfig/network/ifcfg-", NULL },
};

static bool managers_is_named_in(const char *path, const char *name,
				 bool (*names)(const char *line, const char *name))
{
	FILE *file = fopen(path, "re");
	char line[LINE_SIZE];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = names(line + strspn(line, " \t"), name);
	if (file)
		fclose(file);
	return found;
}

const char *managers_configured(const char *root, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(managers_files) / sizeof(managers_files[0]) && !found; i++) {
		bool is_file_of_device = !managers_files[i].names;
		char pattern[PATH_MAX];
		glob_t paths;

		snprintf(pattern, sizeof(pattern), "%s%s%s", root, managers_files[i].files,
			 is_file_of_device ? name : "");
		if (glob(pattern, GLOB_NOSORT, NULL, &paths))
			continue;
		for (size_t k = 0; k < paths.gl_pathc && !found; k++)
			if (is_file_of_device ||
			    managers_is_named_in(paths.gl_pathv[k], name, managers_files[i].names))
				found = managers_files[i].manager;
		globfree(&paths);
	}
	return found;
}
