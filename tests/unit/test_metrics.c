/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics: the text, what headers ask for, and the addresses that are taken. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/metrics/metrics.h"
#include "tests/unit/unit.h"

static const struct view_metric counter = { METRICS_COUNTER, "a_bytes", "Words.", .unit = "bytes" };
static const struct view_metric info = { METRICS_INFO, "a", "Words.", .unit = NULL };
static const struct view_metric gauge = { METRICS_GAUGE, "g", "Words.", .unit = NULL };
static const struct view_metric times = { METRICS_HISTOGRAM, "t_seconds", "Words.",
					  .unit = "seconds" };

static void assert_written(struct metrics_text *text, const char *wanted)
{
	char *written = strndup(text->bytes ? text->bytes : "", text->length);

	assert_string_equal(written, wanted);
	free(written);
	free(text->bytes);
}

TEST(test_openmetrics)
{
	struct metrics_text text = { .format = METRICS_OPENMETRICS };

	metrics_text_begin(&text, &counter);
	metrics_text_sample(&text, &counter, "x=\"1\"", NULL, 5);
	metrics_text_begin(&text, &info);
	metrics_text_sample(&text, &info, NULL, "y=\"2\"", 1);
	metrics_text_finish(&text);
	assert_written(&text, "# HELP a_bytes Words.\n# TYPE a_bytes counter\n"
			      "# UNIT a_bytes bytes\na_bytes_total{x=\"1\"} 5\n"
			      "# HELP a Words.\n# TYPE a info\na_info{y=\"2\"} 1\n# EOF\n");
}

/* Its comments name the samples, and it has no units, no info and no end. */
TEST(test_classic)
{
	struct metrics_text text = { .format = METRICS_CLASSIC };

	metrics_text_begin(&text, &counter);
	metrics_text_sample(&text, &counter, "x=\"1\"", "y=\"2\"", 5);
	metrics_text_begin(&text, &info);
	metrics_text_sample(&text, &info, "", "", 1);
	metrics_text_finish(&text);
	assert_written(&text, "# HELP a_bytes_total Words.\n# TYPE a_bytes_total counter\n"
			      "a_bytes_total{x=\"1\",y=\"2\"} 5\n"
			      "# HELP a_info Words.\n# TYPE a_info gauge\na_info 1\n");
}

TEST(test_numbers)
{
	struct metrics_text text = { .format = METRICS_CLASSIC };

	metrics_text_sample(&text, &gauge, NULL, NULL, 0);
	metrics_text_sample(&text, &gauge, NULL, NULL, 0.25);
	metrics_text_sample(&text, &gauge, NULL, NULL, 9007199254740991.0);
	metrics_text_sample(&text, &gauge, NULL, NULL, 18446744073709551615.0);
	metrics_text_sample(&text, &gauge, NULL, NULL, 9007199254740994.0);
	metrics_text_sample(&text, &gauge, NULL, NULL, NAN);
	assert_written(&text, "g 0\ng 0.25\ng 9007199254740991\ng 18446744073709551616\n"
			      "g 9007199254740994\n");
}

/* Each bucket has all that took less. */
TEST(test_histogram)
{
	struct metrics_text text = { .format = METRICS_OPENMETRICS };
	struct metrics_histogram histogram = { .sum_s = 1.5, .known = true };
	char *at;

	histogram.bucket[0] = 1;
	histogram.bucket[20] = 2;
	histogram.bucket[METRICS_BUCKETS - 1] = 4;
	metrics_text_histogram(&text, &times, "x=\"1\"", &histogram);
	at = strndup(text.bytes, text.length);
	assert_ptr_equal(strstr(at, "t_seconds_bucket{x=\"1\",le=\"1e-06\"} 1\n"), at);
	assert_non_null(strstr(at, "_bucket{x=\"1\",le=\"0.524288\"} 1\n"));
	assert_non_null(strstr(at, "_bucket{x=\"1\",le=\"1.048576\"} 3\n"));
	assert_non_null(strstr(at, "_bucket{x=\"1\",le=\"67.108864\"} 3\n"));
	assert_non_null(strstr(at, "_bucket{x=\"1\",le=\"+Inf\"} 7\n"
				   "t_seconds_count{x=\"1\"} 7\nt_seconds_sum{x=\"1\"} 1.5\n"));
	free(at);
	free(text.bytes);
}

TEST(test_unknown_histogram)
{
	struct metrics_text text = { .format = METRICS_CLASSIC };
	struct metrics_histogram unknown = { .known = false };

	metrics_text_histogram(&text, &times, NULL, &unknown);
	assert_written(&text, "");
}

TEST(test_escape)
{
	char text[METRICS_ESCAPED(8)], small[6];

	assert_string_equal(metrics_text_escape(text, sizeof(text), "eth0"), "eth0");
	assert_string_equal(metrics_text_escape(text, sizeof(text), "a\"\\\n{}"), "a\\\"\\\\\\n{}");
	assert_string_equal(metrics_text_escape(text, sizeof(text), "\"\"\"\"\"\"\"\""),
			    "\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"");
	metrics_text_escape(small, sizeof(small), "\"\"\"\"");
	assert_string_equal(small, "\\\"\\\"");
}

TEST(test_format)
{
	static const struct {
		const char *accept;
		enum metrics_format format;
	} rows[] = {
		{ NULL, METRICS_CLASSIC },
		{ "", METRICS_CLASSIC },
		{ "*/*", METRICS_CLASSIC },
		{ "text/html,application/xhtml+xml,*/*;q=0.8", METRICS_CLASSIC },
		{ "application/openmetrics-text", METRICS_OPENMETRICS },
		{ "application/openmetrics-text; version=1.0.0; charset=utf-8",
		  METRICS_OPENMETRICS },
		{ "application/openmetrics-text; version=0.0.1", METRICS_CLASSIC },
		/* Prometheus 2.42, and the first that asked for OpenMetrics */
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  METRICS_OPENMETRICS },
		{ "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,"
		  "*/*;q=0.1",
		  METRICS_CLASSIC },
		{ "text/plain, application/openmetrics-text;q=0.5", METRICS_CLASSIC },
		{ "text/plain, application/openmetrics-text", METRICS_OPENMETRICS },
		{ "application/openmetrics-text;q=0", METRICS_CLASSIC },
		{ "application/openmetrics-text;q=nan", METRICS_CLASSIC },
		{ "application/openmetrics-text;q=7", METRICS_CLASSIC },
		{ " APPLICATION/OpenMetrics-Text ;Q=0.9 , text/plain;q=0.8", METRICS_OPENMETRICS },
		{ ",;,=;q=,,;;;", METRICS_CLASSIC },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (metrics_request_format(rows[i].accept) != rows[i].format)
			fail_msg("%s", rows[i].accept ? rows[i].accept : "no header");
}

TEST(test_host)
{
	static const char *const ours[] = { "127.0.0.1", "10.0.0.1:9977",    "[::1]:9977",
					    "[fe80::1]", "localhost",	     "LOCALHOST:80",
					    "router1",	 "Router1.lan:9977", NULL };
	static const char *const others[] = { "evil.example",
					      "router1evil.example",
					      "router",
					      "127.0.0.1.evil.example",
					      "",
					      ":9977",
					      "[::1",
					      "[]",
					      "[::1]evil.example",
					      "127.0.0.1:evil.example",
					      "evil.localhost",
					      ".example" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!metrics_request_is_for_us(ours[i], "router1.example.com"))
			fail_msg("%s", ours[i] ? ours[i] : "no header");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (metrics_request_is_for_us(others[i], "router1.example.com"))
			fail_msg("%s", others[i]);
	assert_false(metrics_request_is_for_us("evil.example", ""));
	assert_false(metrics_request_is_for_us(".example", ".local"));
}

TEST(test_long_host)
{
	char name[1000];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_false(metrics_request_is_for_us(name, name));
}

TEST(test_addresses)
{
	struct metrics_address address;
	struct err err;

	assert_int_equal(metrics_listen_parse("127.0.0.1:9977", &address, &err), 0);
	assert_int_equal(address.socket.in.sin_family, AF_INET);
	assert_int_equal(ntohs(address.socket.in.sin_port), 9977);
	assert_int_equal(metrics_listen_parse("[::1]:65535", &address, &err), 0);
	assert_int_equal(address.socket.in6.sin6_family, AF_INET6);
	assert_int_equal(metrics_listen_parse("unix:/run/x", &address, &err), 0);
	assert_string_equal(address.socket.un.sun_path, "/run/x");
	assert_true(metrics_listen_is_unix(&address));
}

TEST(test_wrong_addresses)
{
	static const char *const wrong[] = {
		"",
		":",
		"9977",
		":9977",
		"127.0.0.1",
		"127.0.0.1:",
		"a:b",
		"localhost:80",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"1.2.3.4:+80",
		"[::1]",
		"[::1]:",
		"::1:9977",
		"[::1:9977",
		"[]:9977",
		"[1.2.3.4]:80",
		"1.2.3.4:080000",
		"1.2.3.4: 80",
		"unix:",
		"unix:run",
		"http://127.0.0.1:9977",
	};
	struct metrics_address address;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (metrics_listen_parse(wrong[i], &address, &err) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
		assert_ptr_equal(strstr(err.text, "--metrics"), err.text);
		assert_null(strchr(err.text, '\n'));
	}
}

TEST(test_long_path)
{
	struct metrics_address address;
	char text[5 + 109] = "unix:";
	struct err err;

	memset(text + 5, '/', 108);
	assert_int_equal(metrics_listen_parse(text, &address, &err), -EINVAL);
	assert_non_null(strstr(err.text, "at most 107"));
	text[5 + 107] = '\0';
	assert_int_equal(metrics_listen_parse(text, &address, &err), 0);
}
