/* SPDX-License-Identifier: MIT */
/* Sorting of rows that come nearly in the order of time. */
#include <errno.h>

#include "record/export/sorted_rows.h"
#include "test/unit/support/unit.h"

struct row {
	uint64_t time_ns;
	uint64_t number; /* in the order in which rows were added */
};

#define ROWS_MAX 8u

/* The rows that were handed out. */
struct taken {
	struct row rows[64];
	size_t count;
	size_t groups[16]; /* rows at the end of each */
	size_t group_count;
	int error; /* to be returned */
};

static int take(void *context, const struct ncs_sorted_rows *rows, size_t count)
{
	struct taken *taken = context;

	for (size_t i = 0; i < count; i++)
		taken->rows[taken->count++] =
			*(const struct row *)ncs_sorted_row(rows, i);
	taken->groups[taken->group_count++] = taken->count;
	return taken->error;
}

static struct ncs_sorted_rows rows_for(struct taken *taken)
{
	return (struct ncs_sorted_rows){
		.row_bytes = sizeof(struct row),
		.rows_max = ROWS_MAX,
		.take = take,
		.context = taken,
	};
}

static void add_all(struct ncs_sorted_rows *rows, const uint64_t *times,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row row = { times[i], i };

		assert_int_equal(ncs_sorted_rows_add(rows, &row), 0);
	}
	assert_int_equal(ncs_sorted_rows_flush(rows), 0);
	ncs_sorted_rows_release(rows);
}

TEST(rows_that_are_a_little_late_come_in_order)
{
	static const uint64_t times[] = { 3,  1,  2, UINT64_C(5000000000000),
					  UINT64_C(4000000000000),
					  7,  6,  5, 9,  8,  10,
					  UINT64_C(6000000000000) };
	struct taken taken = { 0 };
	struct ncs_sorted_rows rows = rows_for(&taken);

	add_all(&rows, times, sizeof(times) / sizeof(times[0]));
	assert_int_equal(taken.count, sizeof(times) / sizeof(times[0]));
	for (size_t i = 1; i < taken.count; i++)
		assert_true(taken.rows[i - 1].time_ns < taken.rows[i].time_ns);
	assert_int_equal(taken.groups[0], ROWS_MAX / 2);
}

TEST(rows_of_one_time_keep_their_order)
{
	static const uint64_t times[] = { 5, 5, 5, 4, 5, 5, 4, 5, 5, 5 };
	struct taken taken = { 0 };
	struct ncs_sorted_rows rows = rows_for(&taken);

	add_all(&rows, times, 10);
	assert_int_equal(taken.count, 10);
	for (size_t i = 1; i < taken.count; i++)
		if (taken.rows[i - 1].time_ns == taken.rows[i].time_ns)
			assert_true(taken.rows[i - 1].number <
				    taken.rows[i].number);
}

TEST(a_row_that_is_too_late_comes_first_in_the_next_group)
{
	static const uint64_t times[] = { 11, 12, 13, 14, 15,
					  16, 17, 18, 19, 1 };
	struct taken taken = { 0 };
	struct ncs_sorted_rows rows = rows_for(&taken);

	add_all(&rows, times, 10);
	assert_int_equal(taken.count, 10);
	assert_int_equal(taken.group_count, 2);
	assert_int_equal(taken.rows[taken.groups[0]].time_ns, 1);
	for (size_t i = taken.groups[0] + 1; i < taken.count; i++)
		assert_true(taken.rows[i - 1].time_ns < taken.rows[i].time_ns);
}

TEST(no_rows_are_not_handed_out)
{
	struct taken taken = { 0 };
	struct ncs_sorted_rows rows = rows_for(&taken);

	add_all(&rows, NULL, 0);
	assert_int_equal(taken.group_count, 0);
}

TEST(an_error_of_the_taker_is_returned)
{
	struct taken taken = { .error = -ENOSPC };
	struct ncs_sorted_rows rows = rows_for(&taken);
	struct row row = { 0, 0 };

	for (; row.time_ns < ROWS_MAX; row.time_ns++)
		assert_int_equal(ncs_sorted_rows_add(&rows, &row), 0);
	assert_int_equal(ncs_sorted_rows_add(&rows, &row), -ENOSPC);
	assert_int_equal(ncs_sorted_rows_flush(&rows), -ENOSPC);
	ncs_sorted_rows_release(&rows);
}
