/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the environment and stdin, runs one command, and prints its result or its error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni/cni.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"

#define PLUGIN_MAX_INPUT (1024 * 1024)
#define PLUGIN_VERSION "1.1.0" /* of the spec, for an error before its version is known */

enum plugin_need { PLUGIN_CONTAINER = 1, PLUGIN_IFNAME = 2, PLUGIN_NETNS = 4 };

struct plugin_command {
	const char *name;
	unsigned int needs;
	int (*run)(const struct cni_call *call, struct err *err);
};

static const struct plugin_command plugin_commands[] = {
	{ "DEL", PLUGIN_CONTAINER | PLUGIN_IFNAME, cni_del },
	{ "CHECK", PLUGIN_CONTAINER | PLUGIN_IFNAME | PLUGIN_NETNS, cni_check },
	{ "GC", 0, cni_gc },
	{ "STATUS", 0, cni_status },
};

static int plugin_need(const char *name, const char *value, bool is_sound, struct err *err)
{
	if (!value)
		return err_set(err, CNI_BAD_ENVIRONMENT, "%s is missing in the environment", name);
	if (!is_sound)
		return err_set(err, CNI_BAD_ENVIRONMENT, "%s is not valid: %.64s", name, value);
	return 0;
}

static int plugin_check(const struct cni_call *call, unsigned int needs, struct err *err)
{
	int r = 0;

	if (needs & PLUGIN_CONTAINER)
		r = plugin_need("CNI_CONTAINERID", call->container,
				call->container && cni_is_identifier(call->container), err);
	if (!r && (needs & PLUGIN_IFNAME))
		r = plugin_need("CNI_IFNAME", call->ifname,
				call->ifname && cni_is_device_name(call->ifname), err);
	if (!r && (needs & PLUGIN_NETNS))
		r = plugin_need("CNI_NETNS", call->netns, true, err);
	return r;
}

static int plugin_run(const struct cni_call *call, json_t **ret_result, struct err *err)
{
	int r;

	if (!strcmp(call->command, "ADD")) {
		r = plugin_check(call, PLUGIN_CONTAINER | PLUGIN_IFNAME | PLUGIN_NETNS, err);
		return r ? r : cni_add(call, ret_result, err);
	}
	for (size_t i = 0; i < sizeof(plugin_commands) / sizeof(*plugin_commands); i++) {
		const struct plugin_command *command = &plugin_commands[i];

		if (strcmp(call->command, command->name))
			continue;
		r = plugin_check(call, command->needs, err);
		return r ? r : command->run(call, err);
	}
	return err_set(err, CNI_BAD_ENVIRONMENT, "CNI_COMMAND is not known: %.32s", call->command);
}

static json_t *plugin_versions(void)
{
	json_t *versions = json_array();

	for (const char *const *version = cni_versions; *version; version++)
		json_array_append_new(versions, json_string(*version));
	return json_pack("{s:s, s:o}", "cniVersion", PLUGIN_VERSION, "supportedVersions", versions);
}

static void plugin_read_environment(struct cni_call *ret_call)
{
	*ret_call = (struct cni_call){
		.command = paths_from_env("CNI_COMMAND", NULL),
		.container = paths_from_env("CNI_CONTAINERID", NULL),
		.netns = paths_from_env("CNI_NETNS", NULL),
		.ifname = paths_from_env("CNI_IFNAME", NULL),
		.path = paths_from_env("CNI_PATH", NULL),
	};
	paths_init(&ret_call->paths);
}

static int plugin_with_input(struct cni_call *call, json_t **ret_result, struct err *err)
{
	char *text = memory_need(malloc(PLUGIN_MAX_INPUT));
	size_t length = fread(text, 1, PLUGIN_MAX_INPUT, stdin);
	int r;

	if (length == PLUGIN_MAX_INPUT)
		r = err_set(err, CNI_IO, "the network configuration is longer than %d bytes",
			    PLUGIN_MAX_INPUT - 1);
	else
		r = cni_config_read(&call->config, text, length, call->command, err);
	free(text);
	if (r)
		return r;
	if (call->config.run_dir)
		call->paths.run_dir = call->config.run_dir;
	return plugin_run(call, ret_result, err);
}

/* JSON takes UTF-8 only. What was cut, or came from the environment, may be something else. */
static void plugin_clean(char *text)
{
	json_t *string = json_string(text);

	for (; !string && *text; text++)
		if (*text & 0x80)
			*text = '?';
	json_decref(string);
}

static int plugin_answer(json_t *result, int r, const struct cni_call *call, struct err *err)
{
	if (r)
		plugin_clean(err->text);
	if (r)
		result = json_pack("{s:s, s:i, s:s}", "cniVersion",
				   call->config.version ? call->config.version : PLUGIN_VERSION,
				   "code", -r, "msg", err->text);
	if (result)
		json_dumpf(result, stdout, JSON_INDENT(4));
	if (result)
		putchar('\n');
	json_decref(result);
	return r || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	json_t *result = NULL;
	struct cni_call call;
	struct err err;
	int r = 0, status;

	memory_init();
	paths_keep_standard();
	plugin_read_environment(&call);
	if (!call.command) {
		fprintf(stderr,
			"xbond %s: a CNI plugin (versions 0.3.0 to 1.1.0), which a container "
			"runtime starts; see docs/operators/fleets.md\n",
			xbond_version);
		r = err_set(&err, CNI_BAD_ENVIRONMENT, "CNI_COMMAND is missing in the environment");
	} else if (!strcmp(call.command, "VERSION")) {
		result = plugin_versions();
	} else {
		r = plugin_with_input(&call, &result, &err);
	}
	status = plugin_answer(result, r, &call, &err);
	cni_config_done(&call.config);
	return status;
}
