/* SPDX-License-Identifier: MIT */
/* Content negotiation: a scraper gets the format that it names. And the header Host: a
 * page that lets its own name resolve to a loopback address gets no answer. */
#include "test/unit/support/unit.h"
#include "tui/serve/http_headers.h"

static void assert_open(const char *accept)
{
	assert_int_equal(ncs_accept_format(accept), NCS_METRICS_OPENMETRICS);
}

static void assert_plain(const char *accept)
{
	assert_int_equal(ncs_accept_format(accept), NCS_METRICS_PROMETHEUS);
}

TEST(scrapers_that_name_openmetrics_get_it)
{
	/* Prometheus 2.42 and 3.0. */
	assert_open("application/openmetrics-text;version=1.0.0,"
		    "application/openmetrics-text;version=0.0.1;q=0.75,"
		    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
	assert_open("application/openmetrics-text;version=1.0.0;"
		    "escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,"
		    "*/*;q=0.3");
	assert_open("application/openmetrics-text");
	assert_open(
		" Application/OpenMetrics-Text ; Version=\"1.0.0\" ; q=1.000");
	assert_open("text/plain;q=0.3,application/openmetrics-text;q=0.3");
}

TEST(all_others_get_the_older_format)
{
	assert_plain(NULL);
	assert_plain("");
	assert_plain("*/*");
	assert_plain("text/plain;version=0.0.4");
	assert_plain("application/openmetrics-text;version=0.0.1");
	assert_plain("application/openmetrics-text;version=1.0.0;q=0");
	assert_plain("application/openmetrics-text;q=0.2,text/plain;q=0.9");
	assert_plain("application/openmetrics-textual");
}

TEST(nonsense_does_no_harm)
{
	assert_plain(",,;;==,;=;,");
	assert_plain("application/openmetrics-text;q=");
	assert_plain("application/openmetrics-text;q=x;version=\"");
	assert_plain("application/openmetrics-text;version=\"1.0.0");
	assert_open("application/openmetrics-text;q=1.999999999999999999");
}

TEST(the_content_type_is_exact)
{
	assert_string_equal(ncs_accept_content_type(NCS_METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0;"
			    " charset=utf-8");
	assert_string_equal(ncs_accept_content_type(NCS_METRICS_PROMETHEUS),
			    "text/plain; version=0.0.4; charset=utf-8");
}

/* --- Hosts ---------------------------------------------------------------- */

TEST(this_machine_is_served_by_its_loopback_names)
{
	static const char *const hosts[] = {
		"localhost",  "localhost:9498", "LocalHost",
		"127.0.0.1",  "127.0.0.1:9498", "127.1.2.3:1",
		"[::1]",      "[::1]:9498",     "[0:0:0:0:0:0:0:1]:9498",
		"localhost:",
	};

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_true(ncs_host_is_served(hosts[i], NULL));
}

TEST(other_hosts_are_not_served)
{
	static const char *const hosts[] = {
		"",
		":9498",
		"evil.example",
		"evil.example:9498",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"localhost@evil.example",
		"localhost:9498@evil.example",
		"localhost/",
		"127.0.0.1 ",
		"127.1",
		"2130706433",
		"0177.0.0.1",
		"0.0.0.0:9498",
		"10.0.0.1:9498",
		"::1",
		"[::1",
		"[::1]x",
		"[::1]:x",
		"[::]",
		"[fe80::1]:9498",
		"[localhost.]",
		"[]",
		"[127.0.0.1]",
		"1270000001270000001270000001270000001270000001270000001",
	};

	assert_false(ncs_host_is_served(NULL, NULL));
	assert_false(ncs_host_is_served(NULL, "node7"));
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_false(ncs_host_is_served(hosts[i], "node7,"));
}

TEST(names_that_are_given_are_served)
{
	static const char names[] =
		"node7,front.example:443,10.0.0.1,[fd00::7],,";

	assert_true(ncs_host_is_served("node7", names));
	assert_true(ncs_host_is_served("NODE7:9498", names));
	assert_true(ncs_host_is_served("front.example", names));
	assert_true(ncs_host_is_served("front.example:9498", names));
	assert_true(ncs_host_is_served("10.0.0.1:9498", names));
	assert_true(ncs_host_is_served("[fd00::7]:9498", names));
	assert_true(ncs_host_is_served("127.0.0.1", names));
	assert_false(ncs_host_is_served("node", names));
	assert_false(ncs_host_is_served("node77", names));
	assert_false(ncs_host_is_served("example", names));
	assert_false(ncs_host_is_served("node7,front.example", names));
	assert_false(ncs_host_is_served("", names));
}
