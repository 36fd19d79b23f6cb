/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bonds and devices that there are now. Read from the pinned maps, or asked of bondd by those
 * who may not read these. What cannot be found out is left out: nobody waits, and nothing is said.
 */
#ifndef XBOND_CLI_COMPLETE_LIVE_H
#define XBOND_CLI_COMPLETE_LIVE_H

#include "cli/base/cli.h"
#include "cli/complete/offers.h"

struct live_bond {
	bool known;
	uint32_t mode;
	char port[XBOND_NAME_SIZE]; /* its port side; "" if only bondd could be asked */
	json_t *slaves;		    /* their names */
};

void live_bond_read(const struct cli *cli, const char *name, struct live_bond *ret_bond);
void live_bond_done(struct live_bond *bond);

void live_offer_bonds(const struct cli *cli, struct offers *offers);
/* Those that have a configuration file. */
void live_offer_configured(const struct cli *cli, struct offers *offers);
/* The bonds and team devices of the kernel. */
void live_offer_kernel_bonds(const struct cli *cli, struct offers *offers);
/* The slaves of a bond, NULL: of none. */
void live_offer_slaves(const struct cli *cli, const char *bond, struct offers *offers);
/* The devices that add-slave might take. */
void live_offer_devices(const struct cli *cli, struct offers *offers);

#endif
