/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the CNI plugin is handed: a network configuration, and the answer of an ipam plugin. Any
 * input is taken for both.
 */
#include "cni/cni.h"
#include "options/options.h"
#include "tests/fuzz/input.h"

static void cni_check_config(const struct cni_config *config)
{
	json_t *value;
	const char *name;

	input_check(config->link_count >= 1, "ADD has a link");
	for (size_t i = 0; i < config->link_count; i++)
		input_check(cni_is_device_name(config->links[i].name), "a link has a name");
	json_object_foreach (config->options, name, value) {
		input_check(option_find(OPTION_BOND, name) != NULL, "an option is in the table");
		input_check(json_is_string(value), "bondd gets text");
	}
	input_check(!config->ipam || !strchr(config->ipam, '/'), "ipam is no path");
}

static void cni_read_config(const char *text, size_t size, const char *command)
{
	struct cni_config config;
	struct err err = { "" };
	int r = cni_config_read(&config, text, size, command, &err);

	input_check(r <= 0, "0 or -CNI_*");
	input_check(!r || *err.text, "an error has a text");
	if (!r && !strcmp(command, "ADD"))
		cni_check_config(&config);
	cni_config_done(&config);
}

static void cni_read_addresses(const char *text, size_t size)
{
	static struct cni_addresses addresses;
	json_t *result = json_loadb(text, size, 0, NULL);
	struct err err = { "" };

	if (!cni_addresses_read(&addresses, result, -1, &err))
		for (size_t i = 0; i < addresses.address_count; i++)
			input_check(addresses.addresses[i].prefix_length <= 128, "a prefix");
	json_decref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	cni_read_config(text, size, "ADD");
	cni_read_config(text, size, "DEL");
	cni_read_addresses(text, size);
	return 0;
}
