/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's bonding driver would say of a bond, for its file in /proc and its files in
 * /sys. From the JSON objects of view/.
 */
#ifndef XBOND_CLI_SHOW_KERNEL_WORDS_H
#define XBOND_CLI_SHOW_KERNEL_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define KERNEL_NO_MAC "00:00:00:00:00:00"

bool kernel_is_mode(const json_t *bond, uint32_t mode);
/* Does its mode have one of these traits (enum mode_trait)? */
bool kernel_has(const json_t *bond, uint32_t traits);
/* "up", "down", "going down" while downdelay runs, "going back" while updelay runs */
const char *kernel_link(const json_t *slave);
/* Whether the slave transmits; in modes without a choice every slave does, even without a link. */
bool kernel_is_active(const json_t *bond, const json_t *slave);
/* NULL if the option names no slave. */
const char *kernel_primary(const json_t *bond);
/* The octets of Actor_Oper_Port_State and Partner_Oper_Port_State. */
unsigned int kernel_actor_state(const json_t *lacp);
unsigned int kernel_partner_state(const json_t *lacp);

/* What the kernel assumes of a partner that it has not heard. */
#define KERNEL_NO_PARTNER_PRIO 65535
#define KERNEL_NO_PARTNER_KEY 1
#define KERNEL_NO_PARTNER_PORT 1
#define KERNEL_NO_PARTNER_PORT_PRIO 255
#define KERNEL_NO_PARTNER_STATE 1

#endif
