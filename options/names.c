/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks names as the kernel's dev_valid_name() does, and also for what the error lines need.
 * Called by bondctl before it sends anything, and by bondd for every request and file. Does not
 * know which names exist.
 */
#include "options/names.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "bpf/abi.h"

#define BYTES_MARK '\1' /* no name that may be given begins with it */

json_t *name_to_json(const char *text)
{
	char marked[2 * XBOND_NAME_SIZE + 2] = { BYTES_MARK };
	json_t *json = json_string(text);
	size_t length = 1;

	for (; !json && *text && length + 2 < sizeof(marked); text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x80) {
			marked[length++] = (char)(0xc0 | c >> 6);
			c = 0x80 | (c & 0x3f);
		}
		marked[length++] = (char)c;
	}
	return json ? json : json_string(marked);
}

static char name_next_byte(const char **at)
{
	unsigned char c = (unsigned char)*(*at)++;

	if (c < 0x80 || !**at)
		return (char)c;
	return (char)((c & 3) << 6 | ((unsigned char)*(*at)++ & 0x3f));
}

bool name_from_json(const json_t *json, char ret_name[XBOND_NAME_SIZE])
{
	const char *at = json_string_value(json);
	bool is_marked = at && *at == BYTES_MARK;
	size_t length = 0;

	if (!at)
		return false;
	for (at += is_marked; *at && length < XBOND_NAME_SIZE; length++)
		ret_name[length] = is_marked ? name_next_byte(&at) : *at++;
	if (length == XBOND_NAME_SIZE)
		return false;
	ret_name[length] = '\0';
	return true;
}

static int name_check_characters(const char *what, const char *name, struct err *err)
{
	for (const char *at = name; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (isspace(c) || iscntrl(c))
			return err_set(
				err, EINVAL,
				"%s name contains white space or a control character; remove it",
				what);
		if (c == '/' || c == ':' || c == '%') /* the kernel replaces %d by a number */
			return err_set(err, EINVAL,
				       "%s name '%s' contains '%c', which no device name may "
				       "contain; remove it",
				       what, name, c);
	}
	return 0;
}

int name_check(const char *what, const char *name, struct err *err)
{
	size_t length = strlen(name);

	if (length == 0)
		return err_set(err, EINVAL, "%s name is empty; give a name of 1 to %d characters",
			       what, XBOND_NAME_SIZE - 1);
	if (length >= XBOND_NAME_SIZE)
		return err_set(err, EINVAL, "%s name too long: %zu characters, at most %d", what,
			       length, XBOND_NAME_SIZE - 1);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return err_set(err, EINVAL,
			       "%s name '%s' is the name of a directory; choose another", what,
			       name);
	if (!strcmp(name, "all") || !strcmp(name, "default"))
		return err_set(err, EINVAL,
			       "%s name '%s' is what the kernel calls the settings of all devices "
			       "(net.ipv4.conf.%s); choose another",
			       what, name, name);
	return name_check_characters(what, name, err);
}
