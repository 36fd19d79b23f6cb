/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of a bond in interfaces(5), as lines bond-NAME and as commands, with the tolerance of
 * ifenslave and of the kernel's driver behind it. Knows nothing of how stanzas belong together.
 */
#ifndef XBOND_CLI_IMPORT_IFUPDOWN_OPTION_H
#define XBOND_CLI_IMPORT_IFUPDOWN_OPTION_H

#include "cli/import/ifupdown_stanza.h"
#include "cli/import/import_keys.h"

/* Those of bond-NAME that the kernel's driver does not have. */
extern const struct import_key ifupdown_keys[];

/* Words up to one that begins with '#'. */
void ifupdown_slaves(struct import *import, struct import_bond *bond, const char *value,
		     const struct import_line *line);
/* name: without "bond-", as the driver spells it. */
void ifupdown_bond_option(struct import *import, struct import_bond *bond, const char *name,
			  const struct ifupdown_option *option);
/*
 * Does what a command says, to all bonds that it names and that are known. bond: of the stanza, or
 * NULL.
 */
void ifupdown_bond_command(struct import *import, struct import_bond *bond,
			   const struct ifupdown_stanza *stanza,
			   const struct ifupdown_option *option);
/*
 * Parameters of the module, which are for all bonds that do not set them. To be called after all
 * ifupdown_bond_command(). has_own_mode: for each bond, whether it set its mode before these calls.
 */
void ifupdown_module_option(struct import *import, const struct ifupdown_stanza *stanza,
			    const struct ifupdown_option *option, const bool *has_own_mode);
/* Whether ifupdown_bond_command() has something to do, or to say. */
bool ifupdown_is_bond_command(struct import *import, const struct ifupdown_stanza *stanza,
			      const struct ifupdown_option *option);

#endif
