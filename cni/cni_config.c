/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin is told: its configuration on standard input. */
#include <ctype.h>
#include <string.h>

#include "cni/cni.h"
#include "common/mac.h"
#include "options/option_set.h"

#define CONFIG_MIN_MTU 68
#define CONFIG_MAX_MTU 65535
#define CONFIG_VALUE_SIZE 80 /* of a value in an error line */

const char *const cni_versions[] = { "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0", NULL };

/*
 * Keys that are no options of a bond: of the spec, of xbond, and two that Multus adds for devices
 * of a device plugin. Keys with a slash belong to whoever the part before it names.
 */
static const char *const cni_config_keys[] = {
	"cniVersion",	 "name",     "type",	    "args",	  "capabilities",
	"runtimeConfig", "dns",	     "ipam",	    "ifname",	  "linksInContainer",
	"links",	 "mtu",	     "mac",	    "prevResult", "runDir",
	"deviceID",	 "pciBusID", "cniVersions", "plugins",	  "disableCheck",
	"disableGC"
};

bool cni_is_identifier(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("_.-", *text))
			return false;
	return true;
}

bool cni_is_device_name(const char *name)
{
	size_t length = strlen(name);

	if (!length || length >= XBOND_NAME_SIZE || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if (!isgraph((unsigned char)*name) || *name == '/' || *name == ':')
			return false;
	return true;
}

bool cni_config_is_old(const struct cni_config *config)
{
	return config->version[0] == '0';
}

static int cni_config_unsupported(const char *key, const json_t *value, struct err *err)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	int r = err_set(
		err, CNI_UNSUPPORTED_FIELD,
		"unsupported field %.64s with value %.*s: neither a key of the plugin nor an "
		"option of a bond",
		key, CONFIG_VALUE_SIZE, text ? text : "?");

	free(text);
	return r;
}

static bool cni_config_is_key(const char *key)
{
	for (size_t i = 0; i < sizeof(cni_config_keys) / sizeof(*cni_config_keys); i++)
		if (!strcmp(key, cni_config_keys[i]))
			return true;
	return strchr(key, '/');
}

/* failOverMac becomes fail_over_mac. Returns false if it does not fit. */
static bool cni_config_snake(const char *key, char *ret_name, size_t size)
{
	size_t used = 0;

	for (; *key; key++) {
		if (used + 3 > size)
			return false;
		if (isupper((unsigned char)*key))
			ret_name[used++] = '_';
		ret_name[used++] = (char)tolower((unsigned char)*key);
	}
	ret_name[used] = '\0';
	return true;
}

static json_t *cni_config_list_text(const json_t *list)
{
	char text[OPTION_TEXT_SIZE] = "";
	size_t i, used = 0;
	json_t *value;

	json_array_foreach (list, i, value) {
		const char *word = json_string_value(value);

		if (!word || used + strlen(word) + 2 > sizeof(text))
			return NULL;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
					 word);
	}
	return json_string(text);
}

/* As a user would write it on the command line; NULL: it is nothing of the kind. */
static json_t *cni_config_text(const json_t *value)
{
	if (json_is_string(value))
		return json_string(json_string_value(value));
	if (json_is_integer(value))
		return json_sprintf("%lld", (long long)json_integer_value(value));
	if (json_is_boolean(value))
		return json_string(json_is_true(value) ? "on" : "off");
	return json_is_array(value) ? cni_config_list_text(value) : NULL;
}

static int cni_config_take_option(json_t *options, enum option_scope scope, const char *key,
				  const json_t *value, struct err *err)
{
	const struct option_spec *option;
	char name[64];
	json_t *text;

	option = cni_config_snake(key, name, sizeof(name)) ? option_find(scope, name) : NULL;
	if (!option)
		return cni_config_unsupported(key, value, err);
	if (json_object_get(options, name))
		return err_set(err, CNI_BAD_CONFIG, "%s is given twice", name);
	text = cni_config_text(value);
	if (!text)
		return err_set(err, CNI_BAD_CONFIG, "%.64s: a text or a number is needed", key);
	json_object_set_new(options, name, text);
	return 0;
}

static bool cni_config_is_team(const struct option_set *set)
{
	return set->given[OPT_DEVICE] && (set->value[OPT_DEVICE].number == XBOND_DEVICE_TEAM ||
					  set->value[OPT_DEVICE].number == XBOND_DEVICE_AUTO);
}

static int cni_config_check_options(enum option_scope scope, const json_t *options, struct err *err)
{
	struct option_set set = { 0 };
	int r = option_set_from_json(&set, scope, options, err);

	if (!r && scope == OPTION_BOND)
		r = option_set_check_mode(&set, XBOND_MODE_BALANCE_RR, err);
	if (!r && cni_config_is_team(&set))
		r = err_set(err, CNI_BAD_CONFIG,
			    "device: a team stays in its network namespace; use netkit, veth or "
			    "pair");
	return r ? -CNI_BAD_CONFIG : 0;
}

static int cni_config_take_options(struct cni_config *config, struct err *err)
{
	const char *key;
	json_t *value;
	int r;

	config->options = json_object();
	json_object_foreach (config->json, key, value) {
		if (cni_config_is_key(key))
			continue;
		r = cni_config_take_option(config->options, OPTION_BOND, key, value, err);
		if (r)
			return r;
	}
	if (!json_object_get(config->options, "device"))
		json_object_set_new(config->options, "device", json_string("pair"));
	return cni_config_check_options(OPTION_BOND, config->options, err);
}

static int cni_config_take_text(const struct cni_config *config, const char *key,
				const char **ret_text, struct err *err)
{
	const json_t *value = json_object_get(config->json, key);

	*ret_text = json_string_value(value);
	if (value && !*ret_text)
		return err_set(err, CNI_BAD_CONFIG, "%s: a text is needed", key);
	return 0;
}

static bool cni_config_has_link(const struct cni_config *config, const char *name)
{
	for (size_t i = 0; i < config->link_count; i++)
		if (!strcmp(config->links[i].name, name))
			return true;
	return false;
}

static int cni_config_take_link_options(struct cni_link *link, json_t *object, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		int r = strcmp(key, "name") ? cni_config_take_option(link->options, OPTION_SLAVE,
								     key, value, err)
					    : 0;

		if (r)
			return r;
	}
	return cni_config_check_options(OPTION_SLAVE, link->options, err);
}

static int cni_config_take_link(struct cni_config *config, json_t *object, struct err *err)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	struct cni_link *link = &config->links[config->link_count];

	if (!name || !cni_is_device_name(name))
		return err_set(err, CNI_BAD_CONFIG,
			       "links: each needs a name of a device, as {\"name\": \"net1\"}");
	if (cni_config_has_link(config, name))
		return err_set(err, CNI_BAD_CONFIG, "links: %s is given twice", name);
	*link = (struct cni_link){ .name = name, .options = json_object() };
	config->link_count++;
	return cni_config_take_link_options(link, object, err);
}

static int cni_config_take_links(struct cni_config *config, struct err *err)
{
	json_t *links = json_object_get(config->json, "links"), *link;
	size_t i;

	if (!json_array_size(links))
		return err_set(err, CNI_BAD_CONFIG,
			       "links: at least one is needed, as [{\"name\": \"net1\"}]");
	if (json_array_size(links) > XBOND_MAX_SLAVES)
		return err_set(err, CNI_BAD_CONFIG, "links: a bond has at most %d",
			       XBOND_MAX_SLAVES);
	json_array_foreach (links, i, link) {
		int r = cni_config_take_link(config, link, err);

		if (r)
			return r;
	}
	return 0;
}

static int cni_config_take_mtu(struct cni_config *config, struct err *err)
{
	const json_t *value = json_object_get(config->json, "mtu");
	json_int_t mtu = json_integer_value(value);

	if (!value || (json_is_integer(value) && !mtu))
		return 0;
	if (mtu < CONFIG_MIN_MTU || mtu > CONFIG_MAX_MTU)
		return err_set(err, CNI_BAD_CONFIG, "mtu: %d..%d is allowed", CONFIG_MIN_MTU,
			       CONFIG_MAX_MTU);
	config->mtu = (uint32_t)mtu;
	return 0;
}

/* The runtime's (of the capability "mac") wins over the network's. */
static int cni_config_take_mac(struct cni_config *config, struct err *err)
{
	const json_t *runtime = json_object_get(config->json, "runtimeConfig"), *value;

	value = json_object_get(runtime, "mac");
	if (!value)
		value = json_object_get(config->json, "mac");
	if (!value)
		return 0;
	if (!json_is_string(value) || mac_parse(json_string_value(value), config->mac) ||
	    mac_is_zero(config->mac) || (config->mac[0] & 1))
		return err_set(err, CNI_BAD_CONFIG,
			       "mac: a unicast address is needed, as 02:00:5e:10:00:00");
	config->has_mac = true;
	return 0;
}

static int cni_config_take_place(struct cni_config *config, struct err *err)
{
	const json_t *inside = json_object_get(config->json, "linksInContainer");
	int r = cni_config_take_text(config, "ifname", &config->ifname, err);

	if (r)
		return r;
	if (config->ifname && !cni_is_device_name(config->ifname)) {
		config->ifname = NULL;
		return err_set(err, CNI_BAD_CONFIG, "ifname: not a name of a device");
	}
	if (inside && !json_is_boolean(inside))
		return err_set(err, CNI_BAD_CONFIG, "linksInContainer: true or false is needed");
	config->links_in_container = json_is_true(inside);
	return 0;
}

/* What all commands but VERSION need. */
static int cni_config_take_common(struct cni_config *config, struct err *err)
{
	int r = cni_config_take_text(config, "name", &config->name, err);

	if (!r)
		r = cni_config_take_text(config, "runDir", &config->run_dir, err);
	if (r)
		return r;
	if (!config->name || !cni_is_identifier(config->name))
		return err_set(err, CNI_BAD_CONFIG,
			       "name: the network needs one, of letters, "
			       "digits, '_', '.' and '-'");
	return 0;
}

/* What is wrong in it counts as not given. */
static int cni_config_take_rest(struct cni_config *config, struct err *err)
{
	const json_t *previous = json_object_get(config->json, "prevResult");
	const json_t *ipam = json_object_get(config->json, "ipam");
	const char *type = json_string_value(json_object_get(ipam, "type"));

	config->previous = json_is_object(previous) ? previous : NULL;
	config->ipam = type && cni_is_identifier(type) ? type : NULL;
	if (previous && !config->previous)
		return err_set(err, CNI_BAD_CONFIG, "prevResult: an object is needed");
	if (ipam && !json_is_object(ipam))
		return err_set(err, CNI_BAD_CONFIG, "ipam: an object is needed");
	if (json_object_size(ipam) && !config->ipam)
		return err_set(err, CNI_BAD_CONFIG, "ipam: its type must be the name of a plugin");
	return 0;
}

/* DEL has to do what it can, because the runtime keeps the pod until it succeeds. */
static int cni_config_take_details(struct cni_config *config, bool is_del, struct err *err)
{
	int r = cni_config_take_rest(config, err);

	if (!r || is_del)
		r = cni_config_take_place(config, err);
	return is_del ? 0 : r;
}

static int cni_config_take_version(struct cni_config *config, struct err *err)
{
	int r = cni_config_take_text(config, "cniVersion", &config->version, err);

	if (r)
		return r;
	for (const char *const *known = cni_versions; config->version && *known; known++)
		if (!strcmp(config->version, *known))
			return 0;
	r = err_set(err, CNI_INCOMPATIBLE_VERSION,
		    "cniVersion %.32s is not supported; 0.3.0 to 1.1.0 are",
		    config->version ? config->version : "(none)");
	config->version = NULL;
	return r;
}

static int cni_config_take_all(struct cni_config *config, struct err *err)
{
	int r = cni_config_take_links(config, err);

	if (!r)
		r = cni_config_take_mtu(config, err);
	if (!r)
		r = cni_config_take_mac(config, err);
	return r ? r : cni_config_take_options(config, err);
}

int cni_config_read(struct cni_config *ret_config, const char *text, size_t length,
		    const char *command, struct err *err)
{
	struct cni_config *config = ret_config;
	json_error_t where;
	int r;

	*config = (struct cni_config){ .json = json_loadb(text, length, JSON_REJECT_DUPLICATES,
							  &where) };
	if (!config->json)
		return err_set(err, CNI_BAD_JSON, "the network configuration on stdin: line %d: %s",
			       where.line, where.text);
	if (!json_is_object(config->json))
		return err_set(err, CNI_BAD_JSON,
			       "the network configuration on stdin is not an object");
	r = cni_config_take_version(config, err);
	if (!r)
		r = cni_config_take_common(config, err);
	if (!r)
		r = cni_config_take_details(config, !strcmp(command, "DEL"), err);
	if (!r && !strcmp(command, "ADD"))
		r = cni_config_take_all(config, err);
	return r;
}

void cni_config_done(struct cni_config *config)
{
	for (size_t i = 0; i < config->link_count; i++)
		json_decref(config->links[i].options);
	json_decref(config->options);
	json_decref(config->json);
}
