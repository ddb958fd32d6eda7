/* SPDX-License-Identifier: MIT */
/* The header Host: a page that lets its own name resolve to a loopback address
 * gets no answer. */
#include "test/unit/support/unit.h"
#include "tui/serve/http_headers.h"

TEST(this_machine_is_served_by_its_loopback_names)
{
	static const char *const hosts[] = {
		"localhost",	  "localhost:9498", "LocalHost",
		"127.0.0.1",	  "127.0.0.1:9498", "127.1.2.3:1",
		"[::1]",	  "[::1]:9498",	    "[0:0:0:0:0:0:0:1]:9498",
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
