/* SPDX-License-Identifier: MIT */
/* Content negotiation: a scraper gets the format that it names. */
#include "test/unit/support/unit.h"
#include "tui/serve/accept.h"

static void assert_open(const char *accept)
{
	assert_int_equal(ncs_accept_format(accept), NCS_METRICS_OPENMETRICS);
}

static void assert_plain(const char *accept)
{
	assert_int_equal(ncs_accept_format(accept), NCS_METRICS_PROMETHEUS);
}

static void scrapers_that_name_openmetrics_get_it(void **state)
{
	(void)state;
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

static void all_others_get_the_older_format(void **state)
{
	(void)state;
	assert_plain(NULL);
	assert_plain("");
	assert_plain("*/*");
	assert_plain("text/plain;version=0.0.4");
	assert_plain("application/openmetrics-text;version=0.0.1");
	assert_plain("application/openmetrics-text;version=1.0.0;q=0");
	assert_plain("application/openmetrics-text;q=0.2,text/plain;q=0.9");
	assert_plain("application/openmetrics-textual");
}

static void nonsense_does_no_harm(void **state)
{
	(void)state;
	assert_plain(",,;;==,;=;,");
	assert_plain("application/openmetrics-text;q=");
	assert_plain("application/openmetrics-text;q=x;version=\"");
	assert_plain("application/openmetrics-text;version=\"1.0.0");
	assert_open("application/openmetrics-text;q=1.999999999999999999");
}

static void the_content_type_is_exact(void **state)
{
	(void)state;
	assert_string_equal(ncs_accept_content_type(NCS_METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0;"
			    " charset=utf-8");
	assert_string_equal(ncs_accept_content_type(NCS_METRICS_PROMETHEUS),
			    "text/plain; version=0.0.4; charset=utf-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrapers_that_name_openmetrics_get_it),
		cmocka_unit_test(all_others_get_the_older_format),
		cmocka_unit_test(nonsense_does_no_harm),
		cmocka_unit_test(the_content_type_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
