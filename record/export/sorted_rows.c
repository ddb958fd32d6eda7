/* SPDX-License-Identifier: MIT */
/* Sorts rows by time; see sorted_rows.h. */
#include "record/export/sorted_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

static uint64_t time_of(const struct ncs_sorted_rows *rows, size_t place)
{
	uint64_t time_ns;

	memcpy(&time_ns, rows->rows + place * rows->row_bytes, sizeof(time_ns));
	return time_ns;
}

/* Sorts keys by one digit of their times; equal ones keep their order. */
static void sort_by_digit(const struct ncs_row_key *from,
			  struct ncs_row_key *to, size_t count, uint64_t least,
			  unsigned shift)
{
	uint32_t places[DIGITS] = { 0 }, place = 0;

	for (size_t i = 0; i < count; i++)
		places[(from[i].time_ns - least) >> shift & (DIGITS - 1)]++;
	for (unsigned i = 0; i < DIGITS; i++) {
		uint32_t number = places[i];

		places[i] = place;
		place += number;
	}
	for (size_t i = 0; i < count; i++)
		to[places[(from[i].time_ns - least) >> shift &
			  (DIGITS - 1)]++] = from[i];
}

/* Sets the keys of all rows, in order. Returns 0 or -ENOMEM. A library's sort
 * takes four times as long, which shows where there are millions of rows. */
static int sort(struct ncs_sorted_rows *rows)
{
	uint64_t least = UINT64_MAX, greatest = 0;

	if (ncs_array_reserve(&rows->keys, &rows->key_capacity, rows->count,
			      sizeof(*rows->keys)) != 0 ||
	    ncs_array_reserve(&rows->spare_keys, &rows->spare_capacity,
			      rows->count, sizeof(*rows->spare_keys)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t time_ns = time_of(rows, i);

		rows->keys[i] = (struct ncs_row_key){ time_ns, (uint32_t)i };
		least = time_ns < least ? time_ns : least;
		greatest = time_ns > greatest ? time_ns : greatest;
	}
	for (unsigned shift = 0;
	     shift < 64 && rows->count > 0 && (greatest - least) >> shift > 0;
	     shift += DIGIT_BITS) {
		struct ncs_row_key *sorted = rows->spare_keys;
		size_t capacity = rows->spare_capacity;

		sort_by_digit(rows->keys, sorted, rows->count, least, shift);
		rows->spare_keys = rows->keys;
		rows->spare_capacity = rows->key_capacity;
		rows->keys = sorted;
		rows->key_capacity = capacity;
	}
	return 0;
}

/* Keeps the rows from number `first` on. Returns 0 or -ENOMEM. */
static int keep(struct ncs_sorted_rows *rows, size_t first)
{
	size_t bytes = rows->row_bytes, count = rows->count - first;

	if (ncs_array_reserve(&rows->kept, &rows->kept_capacity, count,
			      bytes) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(rows->kept + i * bytes, ncs_sorted_row(rows, first + i),
		       bytes);
	memcpy(rows->rows, rows->kept, count * bytes);
	rows->count = count;
	return 0;
}

int ncs_sorted_rows_add(struct ncs_sorted_rows *rows, const void *row)
{
	if (rows->count >= rows->rows_max) {
		int error = sort(rows);

		if (!error)
			error = rows->take(rows->context, rows,
					   rows->count / 2);
		if (!error)
			error = keep(rows, rows->count / 2);
		if (error)
			return error;
	}
	if (ncs_array_reserve(&rows->rows, &rows->capacity, rows->count + 1,
			      rows->row_bytes) != 0)
		return -ENOMEM;
	memcpy(rows->rows + rows->count++ * rows->row_bytes, row,
	       rows->row_bytes);
	return 0;
}

int ncs_sorted_rows_flush(struct ncs_sorted_rows *rows)
{
	int error = sort(rows);

	if (!error && rows->count > 0)
		error = rows->take(rows->context, rows, rows->count);
	rows->count = 0;
	return error;
}

void ncs_sorted_rows_release(struct ncs_sorted_rows *rows)
{
	free(rows->rows);
	free(rows->keys);
	free(rows->spare_keys);
	free(rows->kept);
}
