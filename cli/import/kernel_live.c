/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver tells over netlink of bonds that exist, and sysfs has no file for. */
#include "cli/import/import_files.h"
#include "cli/import/kernel_bond.h"
#include "network/bonding.h"

struct kernel_live {
	struct import *import;
	const struct import_file *file; /* for remarks */
	struct nl nl;
};

static void kernel_live_take(const struct kernel_live *live, struct import_bond *bond,
			     struct import_slave *slave, const struct option_set *now)
{
	const struct import_options *known = slave ? &slave->options : &bond->options;
	char text[OPTION_TEXT_SIZE];

	for (int id = 0; id < OPT_COUNT; id++) {
		struct import_line line = { live->file, 0, NULL };

		if (!now->given[id] || kernel_is_in_sysfs(id) || import_find_option(known, id))
			continue;
		option_format(option_at(id), &now->value[id], text, sizeof(text));
		line.what = import_text(live->import, "%s: %s %s", slave ? slave->name : bond->name,
					option_at(id)->name, text);
		import_option(live->import, bond, slave, id, text, false, &line);
	}
}

static void kernel_live_slaves(struct kernel_live *live, struct import_bond *bond)
{
	struct bonding_slave now;
	struct link_info link;

	for (size_t i = 0; i < bond->slave_count; i++)
		if (!link_get_by_name(&live->nl, bond->slaves[i]->name, &link) &&
		    !bonding_read_slave(&live->nl, link.ifindex, &now))
			kernel_live_take(live, bond, bond->slaves[i], &now.options);
}

void kernel_ask_driver(struct import *import)
{
	struct kernel_live live = { .import = import };
	struct option_set now;
	struct link_info link;

	if (nl_init(&live.nl))
		return;
	live.file = import_file_of(import, "netlink", "", 0);
	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (link_get_by_name(&live.nl, bond->name, &link) ||
		    bonding_read(&live.nl, link.ifindex, &now, NULL))
			continue;
		kernel_live_take(&live, bond, NULL, &now);
		kernel_live_slaves(&live, bond);
	}
	nl_done(&live.nl);
}
