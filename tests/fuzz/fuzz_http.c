/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers Accept and Host of a client of bondd --metrics, one behind the other with a line end
 * in between, to what reads them; and any text as an address of --metrics. libmicrohttpd reads the
 * rest.
 */
#include "daemon/metrics/metrics.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* As long as the text, so that the address sanitizer sees what is read behind it. */
	char *accept = strndup((const char *)data, size), *host = strchr(accept, '\n');
	enum metrics_format format;
	struct metrics_address address;
	struct err err = { "" };
	char *copy;

	if (host)
		*host++ = '\0';
	copy = strdup(accept);
	format = metrics_request_format(copy);
	input_check(format == METRICS_CLASSIC || (format == METRICS_OPENMETRICS && *copy != '\0'),
		    "who asks for nothing gets the classic format");
	free(copy);
	copy = strdup(host ? host : "");
	metrics_request_is_for_us(copy, "");
	if (metrics_request_is_for_us(copy, "box.example"))
		input_check(strlen(copy) < 300, "a host has a length");
	free(copy);
	input_check(!metrics_listen_parse(accept, &address, &err) || *err.text,
		    "an error has a text");
	free(accept);
	return 0;
}
