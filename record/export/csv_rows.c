/* SPDX-License-Identifier: MIT */
/* Keeps, sorts and writes rows of CSV; see csv_rows.h. Must not know what the
 * columns mean, apart from their order. RFC 4180. */
#include "record/export/csv_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/export/export_columns.h"
#include "shm/array.h"

/* --- Writing -------------------------------------------------------------- */

static void write_cell(FILE *file, const char *cell)
{
	if (!strpbrk(cell, ",\"\r\n")) {
		fputs(cell, file);
		return;
	}
	putc('"', file);
	for (; *cell; cell++) {
		if (*cell == '"')
			putc('"', file);
		putc(*cell, file);
	}
	putc('"', file);
}

void ncs_csv_write_row(FILE *file, uint64_t columns, const char *cells,
		       size_t count)
{
	bool is_first = true;

	for (unsigned i = 0; i < count; i++) {
		if (!ncs_export_has_column(columns, i))
			continue;
		if (!is_first)
			putc(',', file);
		is_first = false;
		write_cell(file, cells + i * NCS_CSV_CELL_BYTES);
	}
	fputs("\r\n", file);
}

/* --- Keeping -------------------------------------------------------------- */

int ncs_csv_rows_add(struct ncs_csv_rows *rows, const char *cells, size_t count)
{
	size_t bytes = 0;
	char *row;

	if (ncs_array_reserve(&rows->rows, &rows->capacity, rows->count + 1,
			      sizeof(*rows->rows)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		bytes += strlen(cells + i * NCS_CSV_CELL_BYTES) + 1;
	row = malloc(bytes);
	if (!row)
		return -ENOMEM;
	rows->rows[rows->count++] = row;
	for (size_t i = 0; i < count; i++)
		row = stpcpy(row, cells + i * NCS_CSV_CELL_BYTES) + 1;
	return 0;
}

void ncs_csv_rows_release(struct ncs_csv_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i]);
	free(rows->rows);
	*rows = (struct ncs_csv_rows){ .rows = NULL };
}

/* --- Sorting -------------------------------------------------------------- */

struct sorted {
	const char *row;
	size_t place; /* as it came */
};

static const char *cell_of(const char *row, unsigned column)
{
	while (column-- > 0)
		row += strlen(row) + 1;
	return row;
}

/* Compares two cells that are known. */
static int compare_known(const char *a, const char *b,
			 const struct ncs_export_order *order)
{
	enum ncs_export_first first = ncs_export_first(order->column);
	double x, y;
	int result;

	if (first == NCS_EXPORT_FIRST_TEXT) {
		result = strcmp(a, b);
	} else {
		x = strtod(a, NULL);
		y = strtod(b, NULL);
		result = (x > y) - (x < y);
		if (first == NCS_EXPORT_FIRST_LARGEST)
			result = -result;
	}
	return order->is_reversed ? -result : result;
}

static int compare(const void *left, const void *right, void *context)
{
	const struct ncs_export_request *request = context;
	const struct sorted *a = left, *b = right;

	for (size_t i = 0; i < request->order_count; i++) {
		const struct ncs_export_order *order = &request->order[i];
		const char *x = cell_of(a->row, order->column);
		const char *y = cell_of(b->row, order->column);
		int result = !*x - !*y;

		if (result == 0 && *x)
			result = compare_known(x, y, order);
		if (result != 0)
			return result;
	}
	return (a->place > b->place) - (a->place < b->place);
}

int ncs_csv_rows_write(const struct ncs_csv_rows *rows,
		       const struct ncs_export_request *request, size_t count)
{
	struct sorted *sorted = calloc(rows->count + 1, sizeof(*sorted));
	char *cells = calloc(count, NCS_CSV_CELL_BYTES);

	if (!sorted || !cells) {
		free(sorted);
		free(cells);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rows->count; i++)
		sorted[i] = (struct sorted){ rows->rows[i], i };
	qsort_r(sorted, rows->count, sizeof(*sorted), compare,
		(void *)(uintptr_t)request);
	for (size_t i = 0; i < rows->count; i++) {
		for (unsigned k = 0; k < count; k++)
			strcpy(cells + k * NCS_CSV_CELL_BYTES,
			       cell_of(sorted[i].row, k));
		ncs_csv_write_row(request->file, request->columns, cells,
				  count);
	}
	free(sorted);
	free(cells);
	return 0;
}
