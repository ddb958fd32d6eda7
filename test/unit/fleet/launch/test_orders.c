/* SPDX-License-Identifier: MIT */
/* Tests of the orders of a head (fleet/launch/orders.h): any bytes may come,
 * in any pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fleet/launch/orders.h"

#define S UINT64_C(1000000000)
#define NOW_NS (1000 * S)

static struct ncs_orders take(const char *text, size_t piece)
{
	struct ncs_orders orders = { 0 };
	size_t left = strlen(text);

	for (; left > 0; text += piece, left -= piece) {
		if (piece > left)
			piece = left;
		ncs_orders_take(&orders, text, piece, NOW_NS);
	}
	return orders;
}

static void test_an_order_may_come_in_pieces(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 9; piece++)
		assert_true(take("\n\npack\n", piece).packs);
}

static void test_each_order_is_of_one_thing(void **state)
{
	(void)state;
	assert_false(take("pack\n", 2).digests);
	assert_false(take("digest\n", 2).packs);
	assert_true(take("\npack\ndigest\n", 5).packs);
	assert_true(take("\npack\ndigest\n", 5).digests);
}

static void test_what_is_no_order_is_left_out(void **state)
{
	char line[300];

	(void)state;
	assert_false(take("", 1).packs);
	assert_false(take("pack", 3).packs);
	assert_false(take("packs\nunpack\n pack\n1\n", 7).packs);
	memset(line, 'x', sizeof(line));
	memcpy(line + sizeof(line) - 6, "pack\n", 6);
	assert_false(take(line, 50).packs);
	memcpy(line + sizeof(line) - 7, "\npack\n", 7);
	assert_true(take(line, 50).packs);
}

static void test_a_state_is_wanted_of_one_rank_of_one_stream(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 40; piece++) {
		struct ncs_orders orders =
			take("\nstate 00000000000000ab 7\n", piece);

		assert_int_equal(orders.state_count, 1);
		assert_int_equal(orders.ignored, 0);
		assert_true(ncs_orders_want_state(&orders, 0xab, 7, NOW_NS));
		assert_false(ncs_orders_want_state(&orders, 0xab, 8, NOW_NS));
		assert_false(ncs_orders_want_state(&orders, 0xac, 7, NOW_NS));
	}
}

static void test_what_is_printed_is_read(void **state)
{
	const uint64_t recordings[] = { 0, 0xab, UINT64_MAX };
	const uint32_t ranks[] = { 0, 7, 16383 };
	char line[NCS_ORDER_BYTES];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++) {
			struct ncs_orders orders;
			size_t length = ncs_order_state_print(
				line, recordings[i], ranks[k]);

			assert_int_equal(length, strlen(line));
			orders = take(line, 100);
			assert_true(ncs_orders_want_state(
				&orders, recordings[i], ranks[k], NOW_NS));
		}
}

static void test_an_order_of_a_state_ends_unless_it_comes_again(void **state)
{
	static const char line[] = "state 00000000000000ab 7\n";
	struct ncs_orders orders = take(line, 100);

	(void)state;
	assert_true(ncs_orders_want_state(&orders, 0xab, 7,
					  NOW_NS + NCS_ORDER_STATE_NS - 1));
	assert_false(ncs_orders_want_state(&orders, 0xab, 7,
					   NOW_NS + NCS_ORDER_STATE_NS));
	ncs_orders_take(&orders, line, sizeof(line) - 1, NOW_NS + S);
	assert_int_equal(orders.state_count, 1);
	assert_true(ncs_orders_want_state(&orders, 0xab, 7,
					  NOW_NS + NCS_ORDER_STATE_NS));
	ncs_orders_expire(&orders, NOW_NS + NCS_ORDER_STATE_NS);
	assert_int_equal(orders.state_count, 1);
	ncs_orders_expire(&orders, NOW_NS + S + NCS_ORDER_STATE_NS);
	assert_int_equal(orders.state_count, 0);
}

static void test_too_many_states_push_out_the_oldest(void **state)
{
	struct ncs_orders orders = { 0 };
	char line[NCS_ORDER_BYTES];

	(void)state;
	for (uint32_t i = 0; i < 3 * NCS_ORDER_STATES_MAX; i++)
		ncs_orders_take(&orders, line,
				ncs_order_state_print(line, 0xab, i),
				NOW_NS + i);
	assert_int_equal(orders.state_count, NCS_ORDER_STATES_MAX);
	for (uint32_t i = 0; i < 3 * NCS_ORDER_STATES_MAX; i++)
		assert_int_equal(ncs_orders_want_state(&orders, 0xab, i,
						       NOW_NS + S),
				 i >= 2 * NCS_ORDER_STATES_MAX);
}

static void test_what_is_no_order_of_a_state_is_counted(void **state)
{
	static const char *const lines[] = {
		"state\n",
		"state \n",
		"state 00000000000000ab\n",
		"state 00000000000000ab \n",
		"state 00000000000000ab x\n",
		"state 00000000000000ab -1\n",
		"state 00000000000000ab 7 8\n",
		"state 00000000000000ab 7\r\n",
		"state 00000000000000ab 9999999999\n",
		"state 0000000000000ab 7\n",
		"state 000000000000000ab 7\n",
		"state 00000000000000AB 7\n",
		"state  00000000000000ab 7\n",
		" state 00000000000000ab 7\n",
		"states\n",
		"another thing that a later release knows\n",
		"\001\377\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ncs_orders orders = take(lines[i], 100);

		assert_int_equal(orders.state_count, 0);
		assert_int_equal(orders.ignored, 1);
	}
	assert_int_equal(take("\n\n\npack\n\n", 100).ignored, 0);
}

static void test_any_bytes_leave_bounded_orders(void **state)
{
	static const char alphabet[] = "state 0123456789abcdef\n\n pack\0x";
	struct ncs_orders orders = { 0 };
	uint32_t seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char byte;

		seed = seed * 1664525u + 1013904223u;
		byte = alphabet[(seed >> 16) % sizeof(alphabet)];
		ncs_orders_take(&orders, &byte, 1, NOW_NS);
		assert_true(orders.used <= sizeof(orders.line));
		assert_true(orders.state_count <= NCS_ORDER_STATES_MAX);
	}
	assert_true(orders.ignored > 0);
	ncs_orders_take(&orders, "\nstate 00000000000000ab 7\n", 27, NOW_NS);
	assert_true(ncs_orders_want_state(&orders, 0xab, 7, NOW_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_order_may_come_in_pieces),
		cmocka_unit_test(test_each_order_is_of_one_thing),
		cmocka_unit_test(test_what_is_no_order_is_left_out),
		cmocka_unit_test(
			test_a_state_is_wanted_of_one_rank_of_one_stream),
		cmocka_unit_test(test_what_is_printed_is_read),
		cmocka_unit_test(
			test_an_order_of_a_state_ends_unless_it_comes_again),
		cmocka_unit_test(test_too_many_states_push_out_the_oldest),
		cmocka_unit_test(test_what_is_no_order_of_a_state_is_counted),
		cmocka_unit_test(test_any_bytes_leave_bounded_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
