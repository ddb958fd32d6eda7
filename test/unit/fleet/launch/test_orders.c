/* SPDX-License-Identifier: MIT */
/* Tests of the orders of a head (fleet/launch/lines.h): any bytes may come,
 * in any pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fleet/launch/lines.h"

static struct ncs_orders take(const char *text, size_t piece)
{
	struct ncs_orders orders = { 0 };
	size_t left = strlen(text);

	for (; left > 0; text += piece, left -= piece) {
		if (piece > left)
			piece = left;
		ncs_orders_take(&orders, text, piece);
	}
	return orders;
}

static void test_an_order_may_come_in_pieces(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 9; piece++)
		assert_true(take("\n\npack\n", piece).packs);
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

static void test_any_bytes_leave_bounded_orders(void **state)
{
	static const char alphabet[] = "pack\n\n pack\0x";
	struct ncs_orders orders = { 0 };
	uint32_t seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char byte;

		seed = seed * 1664525u + 1013904223u;
		byte = alphabet[(seed >> 16) % sizeof(alphabet)];
		ncs_orders_take(&orders, &byte, 1);
		assert_true(orders.used <= sizeof(orders.line));
	}
	orders.packs = false;
	ncs_orders_take(&orders, "\npack\n", 6);
	assert_true(orders.packs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_order_may_come_in_pieces),
		cmocka_unit_test(test_what_is_no_order_is_left_out),
		cmocka_unit_test(test_any_bytes_leave_bounded_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
