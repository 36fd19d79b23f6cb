/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose configuration names a device, in files below a directory that stands for /. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/managers.h"
#include "common/paths.h"
#include "tests/unit/unit.h"

#define NETPLAN "/etc/netplan/50-x.yaml"
#define INTERFACES "/etc/network/interfaces"
#define NETWORK "/etc/systemd/network/20-x.network"
#define KEYFILE "/etc/NetworkManager/system-connections/x.nmconnection"

static char root[32];

static const struct {
	const char *path, *text, *manager;
} files[] = {
	{ NETPLAN, "network:\n  bonds:\n    bond0:\n      dhcp4: true\n", "netplan" },
	{ NETPLAN, "network: {bonds: {\"bond0\" : {dhcp4: true}}}\n", "netplan" },
	{ NETPLAN, "network:\n  bonds:\n    bond01: {}\n    mybond0: {}\n# bond0: {}\n", NULL },
	{ NETPLAN, "  vlans:\n    v1: {link: bond0}\n", NULL },
	{ "/run/netplan/50-x.yml", "bond0: {}\n", NULL },
	{ "/usr/lib/netplan/50-x.yaml", "bond0: {}\n", "netplan" },
	{ INTERFACES, "auto bond0\n iface\tbond0 inet dhcp\n", "ifupdown" },
	{ INTERFACES, "iface bond0.5 inet dhcp\n#iface bond0 inet dhcp\niface bond0\n",
	  "ifupdown" },
	{ INTERFACES, "iface bond0.5 inet dhcp\nifaces bond0 inet dhcp\nauto bond0\n", NULL },
	{ INTERFACES ".d/x", "iface bond0 inet6 auto\n", "ifupdown" },
	{ NETWORK, "[Match]\nName=bond0\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nName=eth* bond?\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nName=!bond0 *\n", NULL },
	{ NETWORK, "[Match]\nName=bond1\n#Name=bond0\n[Network]\nBond=bond0\n", NULL },
	{ NETWORK, "[Match]\nName = eth0\nName = bond0\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nName=!eth*\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nType=ether\n[Network]\nDHCP=yes\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nType=ether wlan\nName=bond0\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nType=ether\nName=eth*\n", NULL },
	{ NETWORK, "[Match]\nType=ether\nMACAddress=02:00:00:00:00:01\n", NULL },
	{ NETWORK, "[Match]\nType=ether\nKind=!*\n[Network]\nDHCP=yes\n", NULL },
	{ NETWORK, "[Match]\nKind=veth netkit\n[Network]\nDHCP=yes\n", NULL },
	{ NETWORK, "[Match]\nKind=veth netkit team\n[Network]\nDHCP=yes\n", "systemd-networkd" },
	{ NETWORK, "[Match]\nType=wlan\n", NULL },
	{ NETWORK, "[Match]\nName=bond0\n[Link]\nUnmanaged=yes\n", NULL },
	{ NETWORK, "[Match]\nName=bond0\n[Link]\nUnmanaged=no\n", "systemd-networkd" },
	{ NETWORK, "[Network]\nName=bond0\n", NULL },
	{ NETWORK ".d/x.conf", "[Match]\nName=bond0\n", NULL }, /* of a file that is not there */
	{ "/usr/lib/systemd/network/20-x.network", "[Match]\nName=*\n", "systemd-networkd" },
	{ "/usr/lib/systemd/network/20-x.network.example", "[Match]\nName=*\n", NULL },
	{ KEYFILE, "[connection]\ninterface-name=bond0\n", "NetworkManager" },
	{ KEYFILE, "[match]\ninterface-name=eth0;bond*;\n", "NetworkManager" },
	{ KEYFILE, "[connection]\nid=bond0\nmaster=bond0\ninterface-name=eth0\n", NULL },
	{ "/etc/sysconfig/network-scripts/ifcfg-bond0", "", "NetworkManager" },
	{ "/etc/sysconfig/network/ifcfg-bond0", "", "wicked" },
	{ "/etc/sysconfig/network/ifcfg-bond01", "", NULL },
};

static int make_root(void **state)
{
	strcpy(root, "/tmp/xbond-managers-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void put(const char *path, const char *text)
{
	char whole[256], *slash;
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	slash = strrchr(whole, '/');
	*slash = '\0';
	assert_int_equal(paths_make_dir(whole, 0755), 0);
	*slash = '/';
	file = fopen(whole, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void take_away(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	assert_int_equal(unlink(whole), 0);
}

TEST(test_files, make_root, remove_root)
{
	assert_null(managers_configured(root, "bond0"));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *manager;

		put(files[i].path, files[i].text);
		manager = managers_configured(root, "bond0");
		if (files[i].manager)
			assert_string_equal(manager ? manager : files[i].text, files[i].manager);
		else if (manager)
			fail_msg("%s for: %s", manager, files[i].text);
		take_away(files[i].path);
	}
}

TEST(test_drop_ins_of_networkd, make_root, remove_root)
{
	static const char drop_in[] = "/run/systemd/network/20-x.network.d/10-y.conf";

	put(NETWORK, "[Match]\nName=eth0\n");
	assert_null(managers_configured(root, "bond0"));
	put(drop_in, "[Match]\nName=bond0\n");
	assert_string_equal(managers_configured(root, "bond0"), "systemd-networkd");
	put(drop_in, "[Match]\nName=bond0\n[Link]\nUnmanaged=yes\n");
	assert_null(managers_configured(root, "bond0"));
	take_away(drop_in);
	take_away(NETWORK);
}
