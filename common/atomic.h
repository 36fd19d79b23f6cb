/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores into maps that BPF programs read at the same time. */
#ifndef XBOND_COMMON_ATOMIC_H
#define XBOND_COMMON_ATOMIC_H

/* What was stored before is seen by whoever sees this. */
#define store_release(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

#endif
