/* SPDX-License-Identifier: MIT */
/* Puts rows in the order of time that come nearly in that order, with bounded
 * memory: it keeps the latest ones, and hands out the earliest half whenever
 * there are too many. A row that comes later than that is handed out with the
 * next half. Must not know the rows. Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_SORTED_ROWS_H
#define NCS_RECORD_EXPORT_SORTED_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Rows that are handed out; row i is the one at `keys[i].place`. */
struct ncs_row_key {
	uint64_t time_ns;
	uint32_t place;
};

struct ncs_sorted_rows {
	size_t row_bytes; /* a row begins with its time, a uint64_t in ns */
	size_t rows_max;
	/* Takes rows in order. Returns 0 or -errno. */
	int (*take)(void *context, const struct ncs_sorted_rows *rows,
		    size_t count);
	void *context;
	/* Private: */
	unsigned char *rows;
	size_t count, capacity;
	struct ncs_row_key *keys;
	size_t key_capacity;
	unsigned char *kept;
	size_t kept_capacity;
};

/* Returns row i of those that are handed out. */
static inline const void *ncs_sorted_row(const struct ncs_sorted_rows *rows,
					 size_t i)
{
	return rows->rows + rows->keys[i].place * rows->row_bytes;
}

/* Adds a row, which is copied. Returns 0, -ENOMEM, or what take() returned. */
int ncs_sorted_rows_add(struct ncs_sorted_rows *rows, const void *row);

/* Hands out all rows. Returns likewise. */
int ncs_sorted_rows_flush(struct ncs_sorted_rows *rows);

/* Frees the memory; rows that are left are lost. */
void ncs_sorted_rows_release(struct ncs_sorted_rows *rows);

#endif
