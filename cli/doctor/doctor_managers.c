/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/doctor/doctor_managers.h"

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
