/* SPDX-License-Identifier: MIT */
/* Tests of the orders of a head (record/launch/orders.h): any bytes may come,
 * in any pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "record/launch/orders.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_order_may_come_in_pieces),
		cmocka_unit_test(test_each_order_is_of_one_thing),
		cmocka_unit_test(test_what_is_no_order_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
