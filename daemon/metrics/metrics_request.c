/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RFC 9110: 12.5.1 (Accept), 12.4.2 (q), 7.2 (Host). */
#include "daemon/metrics/metrics.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPENMETRICS_TYPE "application/openmetrics-text"
#define CLASSIC_TYPE "text/plain"
#define HOST_SIZE 256

/* A part of a header, without blanks around it. */
struct metrics_word {
	const char *at;
	size_t length;
};

static bool metrics_word_is(struct metrics_word word, const char *text)
{
	return word.length == strlen(text) && !strncasecmp(word.at, text, word.length);
}

/* The part in front of the separator; moves behind it. Quotes are not heeded. */
static struct metrics_word metrics_word_take(struct metrics_word *rest, char separator)
{
	const char *end = memchr(rest->at, separator, rest->length);
	size_t length = end ? (size_t)(end - rest->at) : rest->length;
	struct metrics_word word = { rest->at, length };

	rest->at += length + (end ? 1 : 0);
	rest->length -= length + (end ? 1 : 0);
	while (word.length && strchr(" \t", *word.at)) {
		word.at++;
		word.length--;
	}
	while (word.length && strchr(" \t", word.at[word.length - 1]))
		word.length--;
	return word;
}

static double metrics_word_quality(struct metrics_word word)
{
	char text[8], *end;
	double quality;

	snprintf(text, sizeof(text), "%.*s", (int)word.length, word.at);
	quality = strtod(text, &end);
	return end == text || !(quality >= 0 && quality <= 1) ? 0 : quality;
}

/* One of the types that are accepted. */
struct metrics_accepted {
	struct metrics_word type;
	double quality;
	bool known_version;
};

static struct metrics_accepted metrics_request_accepted(struct metrics_word item)
{
	struct metrics_accepted accepted = { metrics_word_take(&item, ';'), 1, true };

	while (item.length) {
		struct metrics_word value = metrics_word_take(&item, ';');
		struct metrics_word key = metrics_word_take(&value, '=');

		if (metrics_word_is(key, "q"))
			accepted.quality = metrics_word_quality(value);
		else if (metrics_word_is(key, "version"))
			accepted.known_version = metrics_word_is(value, "1.0.0");
	}
	return accepted;
}

enum metrics_format metrics_request_format(const char *accept)
{
	struct metrics_word rest = { accept, accept ? strlen(accept) : 0 };
	double openmetrics = 0, classic = 0;

	while (rest.length) {
		struct metrics_accepted accepted =
			metrics_request_accepted(metrics_word_take(&rest, ','));

		if (metrics_word_is(accepted.type, OPENMETRICS_TYPE) && accepted.known_version &&
		    accepted.quality > openmetrics)
			openmetrics = accepted.quality;
		if (metrics_word_is(accepted.type, CLASSIC_TYPE) && accepted.quality > classic)
			classic = accepted.quality;
	}
	return openmetrics > 0 && openmetrics >= classic ? METRICS_OPENMETRICS : METRICS_CLASSIC;
}

/* What follows a host: nothing, or a port. */
static bool metrics_request_is_port(const char *text)
{
	return !*text || (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1) &&
			  strlen(text + 1) <= 5);
}

/* Without the port, and without the brackets of an IPv6 address. False: it is no host. */
static bool metrics_request_host_name(const char *host, char ret_name[HOST_SIZE])
{
	bool brackets = *host == '[';
	const char *end = strchr(host, brackets ? ']' : ':');
	size_t length;

	host += brackets;
	length = end ? (size_t)(end - host) : strlen(host);
	if ((brackets && !end) || length >= HOST_SIZE ||
	    !metrics_request_is_port(host + length + brackets))
		return false;
	memcpy(ret_name, host, length);
	ret_name[length] = '\0';
	return true;
}

static bool metrics_request_is_address(const char *name)
{
	struct in6_addr address;

	return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

bool metrics_request_is_for_us(const char *host, const char *hostname)
{
	size_t label = strcspn(hostname, ".");
	char name[HOST_SIZE];

	if (!host)
		return true;
	if (!metrics_request_host_name(host, name))
		return false;
	if (metrics_request_is_address(name) || !strcasecmp(name, "localhost"))
		return true;
	return label && strcspn(name, ".") == label && !strncasecmp(name, hostname, label);
}
