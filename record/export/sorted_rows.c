/* SPDX-License-Identifier: MIT */
/* Sorts rows by time; see sorted_rows.h. */
#include "record/export/sorted_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

static uint64_t time_of(const struct ncs_sorted_rows *rows, size_t place)
{
	uint64_t time_ns;

	memcpy(&time_ns, rows->rows + place * rows->row_bytes, sizeof(time_ns));
	return time_ns;
}

/* Compares two keys by time; equal ones keep the order of their rows. */
static int compare(const void *left, const void *right)
{
	const struct ncs_row_key *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Sets the keys of all rows, in order. Returns 0 or -ENOMEM. */
static int sort(struct ncs_sorted_rows *rows)
{
	if (ncs_array_reserve(&rows->keys, &rows->key_capacity, rows->count,
			      sizeof(*rows->keys)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++)
		rows->keys[i] =
			(struct ncs_row_key){ time_of(rows, i), (uint32_t)i };
	if (rows->count > 0)
		qsort(rows->keys, rows->count, sizeof(*rows->keys), compare);
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
	free(rows->kept);
}
