/* SPDX-License-Identifier: MIT */
/* Writes a Parquet file: one flat table of optional columns, compressed with
 * Zstandard. Numbers are PLAIN, texts have a dictionary in each row group. A
 * column has one data page in each row group.
 *
 * Why not a library: Debian 12 has none (Arrow's is 30 MB of C++ and not
 * packaged), and what is needed of the format is a few hundred lines.
 *
 * Must not know what the tables mean. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_PARQUET_FILE_H
#define NCS_RECORD_EXPORT_PARQUET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a column's values are passed, and Parquet's type for it. */
enum ncs_parquet_type {
	NCS_PARQUET_INT64, /* as uint64_t: the bits of an int64_t */
	NCS_PARQUET_UTC_NS, /* likewise; a timestamp, ns since 1970 */
	NCS_PARQUET_INT32, /* as uint64_t; the lower half counts */
	NCS_PARQUET_DOUBLE,
	NCS_PARQUET_FLAG,
	NCS_PARQUET_TEXT, /* any bytes; what is no clean UTF-8 becomes '?' */
};

struct ncs_parquet_column {
	const char *name;
	enum ncs_parquet_type type;
	/* Goes into the file's metadata under the column's name. */
	const char *note;
};

union ncs_parquet_value {
	uint64_t number; /* INT64, UTC_NS, INT32, FLAG */
	double real;
	const char *text; /* must live until the row group is written */
};

/* Sets *value to a cell of a row group. Returns false if it is unknown, which
 * becomes null. */
typedef bool ncs_parquet_cell(const void *context, size_t row, unsigned column,
			      union ncs_parquet_value *value);

/* A row group has this many rows at most. */
#define NCS_PARQUET_ROWS_MAX ((size_t)1 << 20)

struct ncs_parquet_file;

/* Creates a file, or truncates it. The columns are borrowed. `sorted_by` is the
 * column by which the rows of each row group ascend; it is never unknown.
 * Returns 0 or -errno. */
int ncs_parquet_open(struct ncs_parquet_file **file, const char *path,
		     const struct ncs_parquet_column *columns,
		     unsigned column_count, unsigned sorted_by);

/* Writes a row group of 1 to NCS_PARQUET_ROWS_MAX rows. Returns 0 or -errno;
 * after an error the file is incomplete. */
int ncs_parquet_write(struct ncs_parquet_file *file, size_t rows,
		      ncs_parquet_cell *cell, const void *context);

/* Writes the footer, closes the file and frees `file`, which may be NULL. With
 * `is_whole` false it writes no footer. Returns 0 or -errno. */
int ncs_parquet_close(struct ncs_parquet_file *file, bool is_whole);

#endif
