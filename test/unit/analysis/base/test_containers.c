/* SPDX-License-Identifier: MIT */
/* Tests of the containers: growing arrays, hash tables and heaps. */
#include <stdlib.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/heap.h"
#include "shm/array.h"
#include "shm/hash.h"
#include "test/unit/support/unit.h"

/* --- Arrays --------------------------------------------------------------- */

TEST(array_keeps_its_items_as_it_grows)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(ncs_array_reserve(&items, &capacity, i + 1,
						   sizeof(*items)),
				 0);
		assert_true(capacity > i);
		items[i] = i * i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(items[i], i * i);
	free(items);
}

TEST(array_that_cannot_grow_is_unchanged)
{
	uint32_t *items = NULL, *before;
	size_t capacity = 0;

	assert_int_equal(
		ncs_array_reserve(&items, &capacity, 5, sizeof(*items)), 0);
	before = items;
	assert_int_equal(ncs_array_reserve(&items, &capacity, SIZE_MAX / 2,
					   sizeof(*items)),
			 -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 8);
	free(items);
}

TEST(zeroed_array_has_zeros_where_it_grew)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	for (size_t count = 1; count < 1000; count *= 3) {
		size_t before = capacity;

		assert_int_equal(ncs_array_reserve_zeroed(&items, &capacity,
							  count,
							  sizeof(*items)),
				 0);
		for (size_t i = before; i < capacity; i++) {
			assert_int_equal(items[i], 0);
			items[i] = 1;
		}
		for (size_t i = 0; i < before; i++)
			assert_int_equal(items[i], 1);
	}
	free(items);
}

/* --- Hash tables ---------------------------------------------------------- */

struct item {
	struct ncs_hash_link link;
	uint64_t key;
};

#define ITEM_COUNT 5000

/* Returns one of few hashes, so that many items share one. */
static uint64_t poor_hash(uint64_t key)
{
	return ncs_hash(key % 997);
}

static struct item *find(const struct ncs_hash_table *table, uint64_t key)
{
	struct item *item = ncs_hash_table_first(table, poor_hash(key));

	while (item && item->key != key)
		item = ncs_hash_table_next(item);
	return item;
}

TEST(hash_table_finds_what_is_in_it_and_nothing_else)
{
	struct item *items = calloc(ITEM_COUNT, sizeof(*items));
	struct ncs_hash_table table = { 0 };

	assert_null(find(&table, 1));
	for (uint64_t i = 0; i < ITEM_COUNT; i++) {
		items[i].key = i;
		assert_int_equal(ncs_hash_table_insert(&table, &items[i].link,
						       poor_hash(i)),
				 0);
	}
	for (uint64_t i = 0; i < ITEM_COUNT; i += 2)
		ncs_hash_table_remove(&table, &items[i].link);
	assert_int_equal(table.count, ITEM_COUNT / 2);
	for (uint64_t i = 0; i < ITEM_COUNT; i++)
		assert_ptr_equal(find(&table, i), i % 2 ? &items[i] : NULL);
	ncs_hash_table_release(&table);
	assert_null(find(&table, 1));
	free(items);
}

TEST(hash_table_finds_the_latest_item_first)
{
	struct item items[200] = { { .key = 0 } }, *item;
	struct ncs_hash_table table = { 0 };
	int left = 200;

	for (int i = 0; i < 200; i++)
		assert_int_equal(
			ncs_hash_table_insert(&table, &items[i].link, 7), 0);
	item = ncs_hash_table_first(&table, 7);
	for (; item; item = ncs_hash_table_next(item))
		assert_ptr_equal(item, &items[--left]);
	assert_int_equal(left, 0);
	ncs_hash_table_release(&table);
}

/* --- Heaps ---------------------------------------------------------------- */

static bool is_smaller(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b;
}

TEST(heap_gives_its_items_in_order)
{
	uint64_t values[1000], last = 0;
	struct ncs_heap heap = { 0 };

	assert_null(ncs_heap_pop(&heap, is_smaller));
	for (size_t i = 0; i < 1000; i++) {
		values[i] = ncs_hash(i) % 500;
		assert_int_equal(ncs_heap_push(&heap, &values[i], is_smaller),
				 0);
	}
	for (size_t i = 0; i < 1000; i++) {
		const uint64_t *value = ncs_heap_pop(&heap, is_smaller);

		assert_non_null(value);
		assert_true(*value >= last);
		last = *value;
	}
	assert_null(ncs_heap_pop(&heap, is_smaller));
	ncs_heap_release(&heap);
}
