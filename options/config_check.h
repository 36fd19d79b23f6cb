/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong with a configuration although each line of it is right: options that its mode
 * refuses, options that exclude each other, slaves that contradict each other. Called by
 * config_file.c when all files have been read.
 */
#ifndef XBOND_OPTIONS_CONFIG_CHECK_H
#define XBOND_OPTIONS_CONFIG_CHECK_H

#include "options/config_model.h"

/* Also takes a hash_seed of `random` out, because that is the default. */
void config_check(struct config_file *file, struct config_mistakes *mistakes);

#endif
