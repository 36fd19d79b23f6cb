/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pin of a bond: its path, what is pinned there, and what a pinned link tells about itself.
 * Does not know which pins a bond has (bpf/abi.h) or what is in its maps (common/pins.h).
 */
#ifndef XBOND_COMMON_PIN_H
#define XBOND_COMMON_PIN_H

#include <limits.h>
#include <stdint.h>

#define PIN_PATH_SIZE (PATH_MAX + 32)

/* dir: of the bond's pins. Returns ret_path. */
const char *pin_path(char ret_path[PIN_PATH_SIZE], const char *dir, const char *name);
/* A descriptor of what is pinned there, or -errno. */
int pin_open(const char *dir, const char *name);

/* A TCX, netkit or XDP link. */
struct pin_link {
	uint32_t program; /* the kernel's number of it */
	uint32_t ifindex; /* 0: somebody has detached the link */
};

/*
 * Detaches the link that is pinned there, and removes the pin. -ENOENT: there is none. After
 * another -errno the pin stays, because the link may go on.
 */
int pin_link_detach(const char *path);
/* Returns 0 or -errno. */
int pin_link_read(int link_fd, struct pin_link *ret_link);

#endif
