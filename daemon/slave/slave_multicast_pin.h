/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pinned map of a bond's multicast groups: for each group, the slots whose lists have it
 * because of bondd. No program reads it. Bonds of an older bondd have none.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_PIN_H
#define XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_PIN_H

#include <stdint.h>

#include "bpf/abi.h"

/* Returns a descriptor or -errno; -ENOENT: there is none, -EBADMSG: it is something else. */
int slave_multicast_pin_open(const char *dir);
/* Makes a new map, which has no pin yet. Returns a descriptor or -errno. */
int slave_multicast_pin_make(void);
/* Returns 0 or -errno. */
int slave_multicast_pin_publish(int fd, const char *dir);

/*
 * Records the slots of a group; no slots: forgets the group. Returns 0 or -errno; -E2BIG: the map
 * is full.
 */
int slave_multicast_pin_write(int fd, const uint8_t mac[XBOND_MAC_SIZE], uint64_t slots);

typedef void (*slave_multicast_pin_visit)(const uint8_t *mac, uint64_t slots, void *arg);
void slave_multicast_pin_read(int fd, slave_multicast_pin_visit visit, void *arg);

#endif
