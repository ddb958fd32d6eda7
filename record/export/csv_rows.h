/* SPDX-License-Identifier: MIT */
/* The rows of a table of CSV, kept until all are there and then written in the
 * order of some columns. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_CSV_ROWS_H
#define NCS_RECORD_EXPORT_CSV_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "record/export/export.h"

#define NCS_CSV_CELL_BYTES 160u

/* Writes a row, separated by commas and quoted; `columns` are those to write, as
 * in struct ncs_export_request. Cells are NCS_CSV_CELL_BYTES apart; one that is
 * empty is unknown. */
void ncs_csv_write_row(FILE *file, uint64_t columns, const char *cells,
		       size_t count);

/* One of zeros has no rows. */
struct ncs_csv_rows {
	char **rows; /* the cells of each, one behind the other */
	size_t count, capacity;
};

/* Adds a row, which is copied. Returns 0 or -ENOMEM. */
int ncs_csv_rows_add(struct ncs_csv_rows *rows, const char *cells,
		     size_t count);

/* Writes all rows in the order of the request; rows that are equal in it stay in
 * the order in which they came. `count` is the number of cells of each. Returns 0
 * or -ENOMEM. */
int ncs_csv_rows_write(const struct ncs_csv_rows *rows,
		       const struct ncs_export_request *request, size_t count);

/* Frees all rows. */
void ncs_csv_rows_release(struct ncs_csv_rows *rows);

#endif
