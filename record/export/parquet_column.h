/* SPDX-License-Identifier: MIT */
/* Encodes the values of one column of a Parquet row group. Only parquet_file.c
 * includes this header. Writes nothing. */
#ifndef NCS_RECORD_EXPORT_PARQUET_COLUMN_H
#define NCS_RECORD_EXPORT_PARQUET_COLUMN_H

#include "record/export/parquet_file.h"

struct ncs_parquet_bytes {
	uint8_t *bytes;
	size_t count, capacity;
};

struct ncs_parquet_summary {
	uint64_t nulls;
	bool has_values;
	/* For INT64 and INT32. */
	int64_t least, greatest;
};

struct ncs_parquet_slot;

/* A column; start with {0}. Its memory is used again by the next one. */
struct ncs_parquet_encoded {
	size_t rows;
	struct ncs_parquet_bytes data; /* a data page: levels, then values */
	bool has_dictionary;
	struct ncs_parquet_bytes dictionary; /* a dictionary page */
	size_t dictionary_count;
	struct ncs_parquet_summary summary;
	/* Private: */
	struct ncs_parquet_bytes values;
	uint8_t *is_known; /* by row */
	size_t known_capacity;
	uint32_t *places; /* in the dictionary, of the values that are known */
	size_t place_capacity;
	const char **texts; /* the caller's, by place */
	size_t text_capacity;
	struct ncs_parquet_slot *slots; /* hash table */
	size_t slot_count, slots_used;
};

/* Encodes a column. Returns 0 or -ENOMEM. */
int ncs_parquet_encode(struct ncs_parquet_encoded *encoded,
		       enum ncs_parquet_type type, unsigned column, size_t rows,
		       ncs_parquet_cell *cell, const void *context);
/* Frees the memory. */
void ncs_parquet_encoded_release(struct ncs_parquet_encoded *encoded);

#endif
