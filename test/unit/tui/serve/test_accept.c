/* SPDX-License-Identifier: MIT */
/* Content negotiation: a scraper gets the format that it names. */
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
	assert_open(" Application/OpenMetrics-Text ; Version=\"1.0.0\" ; q=1.000");
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
