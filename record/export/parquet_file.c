/* SPDX-License-Identifier: MIT */
/* Row groups, pages and the footer of a Parquet file; see parquet_file.h. The
 * values of a column are encoded in parquet_column.c. */
#include "record/export/parquet_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "ncclstat/version.h"
#include "record/export/parquet_column.h"
#include "record/export/thrift.h"
#include "shm/array.h"

#define ZSTD_LEVEL 1
#define BUFFER_BYTES (1u << 18)

static const char magic[4] = { 'P', 'A', 'R', '1' };

/* Numbers of the format, by the names that its definition gives them
 * (parquet.thrift of Apache Parquet). */
enum {
	PAGE_DATA = 0,
	PAGE_DICTIONARY = 2,
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_RLE_DICTIONARY = 8,
	CODEC_ZSTD = 6,
	REPETITION_OPTIONAL = 1,
	CONVERTED_UTF8 = 0,
	FORMAT_VERSION = 1,
};

/* Where a column of a row group is in the file, and a summary of its values. */
struct column_chunk {
	uint64_t dictionary_at; /* 0: it has none */
	uint64_t data_at;
	uint64_t bytes;      /* with the headers of pages */
	uint64_t full_bytes; /* before compression */
	struct ncs_parquet_summary summary;
};

struct ncs_parquet_file {
	FILE *file;
	const struct ncs_parquet_column *columns;
	unsigned column_count;
	unsigned sorted_by;
	uint64_t at; /* bytes written so far */
	uint64_t rows;
	size_t group_count, group_capacity;
	uint64_t *group_rows; /* by row group */
	size_t chunk_capacity;
	struct column_chunk *chunks; /* by row group and column */
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_capacity;
};

/* --- Bytes --------------------------------------------------------------- */

static int error_of(const struct ncs_parquet_file *file)
{
	return ferror(file->file) ? (errno ? -errno : -EIO) : 0;
}

static int put(struct ncs_parquet_file *file, const void *bytes, size_t count)
{
	errno = 0;
	if (count > 0 && fwrite(bytes, 1, count, file->file) != count)
		return errno ? -errno : -EIO;
	file->at += count;
	return 0;
}

/* Writes a Thrift struct and frees it. */
static int put_thrift(struct ncs_parquet_file *file, struct ncs_thrift *thrift)
{
	int error = thrift->has_failed ?
			    -ENOMEM :
			    put(file, thrift->bytes, thrift->count);

	free(thrift->bytes);
	return error;
}

/* --- Pages --------------------------------------------------------------- */

struct page {
	int kind;
	int encoding;
	size_t values; /* nulls included */
	const struct ncs_parquet_bytes *bytes;
};

static int put_page_header(struct ncs_parquet_file *file,
			   const struct page *page, size_t packed)
{
	struct ncs_thrift thrift = { 0 };
	bool is_data = page->kind == PAGE_DATA;

	ncs_thrift_begin(&thrift);
	ncs_thrift_int(&thrift, 1, NCS_THRIFT_I32, page->kind);
	ncs_thrift_int(&thrift, 2, NCS_THRIFT_I32, (int64_t)page->bytes->count);
	ncs_thrift_int(&thrift, 3, NCS_THRIFT_I32, (int64_t)packed);
	ncs_thrift_struct(&thrift, is_data ? 5 : 7);
	ncs_thrift_int(&thrift, 1, NCS_THRIFT_I32, (int64_t)page->values);
	ncs_thrift_int(&thrift, 2, NCS_THRIFT_I32, page->encoding);
	if (is_data) {
		ncs_thrift_int(&thrift, 3, NCS_THRIFT_I32, ENCODING_RLE);
		ncs_thrift_int(&thrift, 4, NCS_THRIFT_I32, ENCODING_RLE);
	}
	ncs_thrift_end(&thrift);
	ncs_thrift_end(&thrift);
	return put_thrift(file, &thrift);
}

static int put_page(struct ncs_parquet_file *file, const struct page *page,
		    struct column_chunk *chunk)
{
	uint64_t begun = file->at;
	size_t packed, room = ZSTD_compressBound(page->bytes->count);
	int error;

	if (ncs_array_reserve(&file->packed, &file->packed_capacity, room,
			      1) != 0)
		return -ENOMEM;
	packed = ZSTD_compressCCtx(file->zstd, file->packed, room,
				   page->bytes->bytes, page->bytes->count,
				   ZSTD_LEVEL);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	error = put_page_header(file, page, packed);
	chunk->full_bytes += file->at - begun + page->bytes->count;
	if (!error)
		error = put(file, file->packed, packed);
	chunk->bytes += file->at - begun;
	return error;
}

static int put_column(struct ncs_parquet_file *file,
		      const struct ncs_parquet_encoded *encoded,
		      struct column_chunk *chunk)
{
	const struct page dictionary = { PAGE_DICTIONARY, ENCODING_PLAIN,
					 encoded->dictionary_count,
					 &encoded->dictionary };
	const struct page data = { PAGE_DATA,
				   encoded->has_dictionary ?
					   ENCODING_RLE_DICTIONARY :
					   ENCODING_PLAIN,
				   encoded->rows, &encoded->data };
	int error = 0;

	*chunk = (struct column_chunk){ .summary = encoded->summary };
	if (encoded->has_dictionary) {
		chunk->dictionary_at = file->at;
		error = put_page(file, &dictionary, chunk);
	}
	chunk->data_at = file->at;
	return error ? error : put_page(file, &data, chunk);
}

int ncs_parquet_write(struct ncs_parquet_file *file, size_t rows,
		      ncs_parquet_cell *cell, const void *context)
{
	size_t chunks = file->group_count * file->column_count;
	struct ncs_parquet_encoded encoded = { 0 };
	int error = 0;

	if (ncs_array_reserve(&file->group_rows, &file->group_capacity,
			      file->group_count + 1, sizeof(uint64_t)) != 0 ||
	    ncs_array_reserve(&file->chunks, &file->chunk_capacity,
			      chunks + file->column_count,
			      sizeof(*file->chunks)) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < file->column_count && !error; i++) {
		error = ncs_parquet_encode(&encoded, file->columns[i].type, i,
					   rows, cell, context);
		if (!error)
			error = put_column(file, &encoded,
					   &file->chunks[chunks + i]);
	}
	ncs_parquet_encoded_release(&encoded);
	if (error)
		return error;
	file->group_rows[file->group_count++] = rows;
	file->rows += rows;
	return 0;
}

/* --- The footer ---------------------------------------------------------- */

static const struct {
	int number;    /* Type in the format */
	bool has_order; /* its least and greatest values are given */
} types[] = {
	[NCS_PARQUET_INT64] = { 2, true },  [NCS_PARQUET_INT32] = { 1, true },
	[NCS_PARQUET_UTC_NS] = { 2, true },
	[NCS_PARQUET_DOUBLE] = { 5, false }, [NCS_PARQUET_FLAG] = { 0, false },
	[NCS_PARQUET_TEXT] = { 6, false },
};

/* Puts the logical type of a timestamp: in UTC, in ns. */
static void put_timestamp(struct ncs_thrift *thrift)
{
	ncs_thrift_struct(thrift, 10); /* LogicalType */
	ncs_thrift_struct(thrift, 8);  /* TIMESTAMP */
	ncs_thrift_flag(thrift, 1, true);
	ncs_thrift_struct(thrift, 2); /* TimeUnit */
	ncs_thrift_struct(thrift, 3); /* NANOS */
	for (unsigned i = 0; i < 4; i++)
		ncs_thrift_end(thrift);
}

static void put_schema(struct ncs_thrift *thrift,
		       const struct ncs_parquet_file *file)
{
	ncs_thrift_list(thrift, 2, NCS_THRIFT_STRUCT, file->column_count + 1);
	ncs_thrift_begin(thrift);
	ncs_thrift_text(thrift, 4, "ncclstat");
	ncs_thrift_int(thrift, 5, NCS_THRIFT_I32, file->column_count);
	ncs_thrift_end(thrift);
	for (unsigned i = 0; i < file->column_count; i++) {
		const struct ncs_parquet_column *column = &file->columns[i];

		ncs_thrift_begin(thrift);
		ncs_thrift_int(thrift, 1, NCS_THRIFT_I32,
			       types[column->type].number);
		ncs_thrift_int(thrift, 3, NCS_THRIFT_I32, REPETITION_OPTIONAL);
		ncs_thrift_text(thrift, 4, column->name);
		if (column->type == NCS_PARQUET_TEXT)
			ncs_thrift_int(thrift, 6, NCS_THRIFT_I32,
				       CONVERTED_UTF8);
		if (column->type == NCS_PARQUET_UTC_NS)
			put_timestamp(thrift);
		ncs_thrift_end(thrift);
	}
}

static void put_statistics(struct ncs_thrift *thrift,
			   const struct ncs_parquet_column *column,
			   const struct ncs_parquet_summary *summary)
{
	size_t bytes = column->type == NCS_PARQUET_INT32 ? 4 : 8;

	ncs_thrift_struct(thrift, 12);
	ncs_thrift_int(thrift, 3, NCS_THRIFT_I64, (int64_t)summary->nulls);
	if (types[column->type].has_order && summary->has_values) {
		ncs_thrift_bytes(thrift, 5, &summary->greatest, bytes);
		ncs_thrift_bytes(thrift, 6, &summary->least, bytes);
	}
	ncs_thrift_end(thrift);
}

static void put_chunk(struct ncs_thrift *thrift,
		      const struct ncs_parquet_column *column,
		      const struct column_chunk *chunk, uint64_t rows)
{
	bool has_dictionary = chunk->dictionary_at != 0;

	ncs_thrift_begin(thrift);
	ncs_thrift_int(thrift, 2, NCS_THRIFT_I64,
		       (int64_t)(has_dictionary ? chunk->dictionary_at :
						  chunk->data_at));
	ncs_thrift_struct(thrift, 3);
	ncs_thrift_int(thrift, 1, NCS_THRIFT_I32, types[column->type].number);
	ncs_thrift_list(thrift, 2, NCS_THRIFT_I32, has_dictionary ? 3 : 2);
	ncs_thrift_int_element(thrift, ENCODING_PLAIN);
	ncs_thrift_int_element(thrift, ENCODING_RLE);
	if (has_dictionary)
		ncs_thrift_int_element(thrift, ENCODING_RLE_DICTIONARY);
	ncs_thrift_list(thrift, 3, NCS_THRIFT_BINARY, 1);
	ncs_thrift_text_element(thrift, column->name);
	ncs_thrift_int(thrift, 4, NCS_THRIFT_I32, CODEC_ZSTD);
	ncs_thrift_int(thrift, 5, NCS_THRIFT_I64, (int64_t)rows);
	ncs_thrift_int(thrift, 6, NCS_THRIFT_I64, (int64_t)chunk->full_bytes);
	ncs_thrift_int(thrift, 7, NCS_THRIFT_I64, (int64_t)chunk->bytes);
	ncs_thrift_int(thrift, 9, NCS_THRIFT_I64, (int64_t)chunk->data_at);
	if (has_dictionary)
		ncs_thrift_int(thrift, 11, NCS_THRIFT_I64,
			       (int64_t)chunk->dictionary_at);
	put_statistics(thrift, column, &chunk->summary);
	ncs_thrift_end(thrift);
	ncs_thrift_end(thrift);
}

static void put_group(struct ncs_thrift *thrift,
		      const struct ncs_parquet_file *file, size_t group)
{
	const struct column_chunk *chunks =
		&file->chunks[group * file->column_count];
	uint64_t rows = file->group_rows[group], full_bytes = 0;

	ncs_thrift_begin(thrift);
	ncs_thrift_list(thrift, 1, NCS_THRIFT_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		put_chunk(thrift, &file->columns[i], &chunks[i], rows);
		full_bytes += chunks[i].full_bytes;
	}
	ncs_thrift_int(thrift, 2, NCS_THRIFT_I64, (int64_t)full_bytes);
	ncs_thrift_int(thrift, 3, NCS_THRIFT_I64, (int64_t)rows);
	ncs_thrift_list(thrift, 4, NCS_THRIFT_STRUCT, 1);
	ncs_thrift_begin(thrift);
	ncs_thrift_int(thrift, 1, NCS_THRIFT_I32, file->sorted_by);
	ncs_thrift_flag(thrift, 2, false); /* descending */
	ncs_thrift_flag(thrift, 3, false); /* nulls first */
	ncs_thrift_end(thrift);
	ncs_thrift_end(thrift);
}

static void put_notes(struct ncs_thrift *thrift,
		      const struct ncs_parquet_file *file)
{
	ncs_thrift_list(thrift, 5, NCS_THRIFT_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		ncs_thrift_begin(thrift);
		ncs_thrift_text(thrift, 1, file->columns[i].name);
		ncs_thrift_text(thrift, 2, file->columns[i].note);
		ncs_thrift_end(thrift);
	}
}

/* Says that least and greatest values are by each type's own order. */
static void put_orders(struct ncs_thrift *thrift,
		       const struct ncs_parquet_file *file)
{
	ncs_thrift_list(thrift, 7, NCS_THRIFT_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		ncs_thrift_begin(thrift);
		ncs_thrift_struct(thrift, 1);
		ncs_thrift_end(thrift);
		ncs_thrift_end(thrift);
	}
}

static int put_footer(struct ncs_parquet_file *file)
{
	struct ncs_thrift thrift = { 0 };
	uint64_t begun = file->at;
	uint32_t bytes;
	int error;

	ncs_thrift_begin(&thrift);
	ncs_thrift_int(&thrift, 1, NCS_THRIFT_I32, FORMAT_VERSION);
	put_schema(&thrift, file);
	ncs_thrift_int(&thrift, 3, NCS_THRIFT_I64, (int64_t)file->rows);
	ncs_thrift_list(&thrift, 4, NCS_THRIFT_STRUCT, file->group_count);
	for (size_t i = 0; i < file->group_count; i++)
		put_group(&thrift, file, i);
	put_notes(&thrift, file);
	ncs_thrift_text(&thrift, 6, "ncclstat version " NCS_VERSION_TEXT);
	put_orders(&thrift, file);
	ncs_thrift_end(&thrift);
	error = put_thrift(file, &thrift);
	bytes = (uint32_t)(file->at - begun);
	if (!error)
		error = put(file, &bytes, sizeof(bytes));
	return error ? error : put(file, magic, sizeof(magic));
}

/* --- Opening and closing ------------------------------------------------- */

static void release(struct ncs_parquet_file *file)
{
	ZSTD_freeCCtx(file->zstd);
	free(file->group_rows);
	free(file->chunks);
	free(file->packed);
	free(file);
}

int ncs_parquet_open(struct ncs_parquet_file **opened, const char *path,
		     const struct ncs_parquet_column *columns,
		     unsigned column_count, unsigned sorted_by)
{
	struct ncs_parquet_file *file = calloc(1, sizeof(*file));
	int error = -ENOMEM;

	if (!file)
		return -ENOMEM;
	file->columns = columns;
	file->column_count = column_count;
	file->sorted_by = sorted_by;
	file->zstd = ZSTD_createCCtx();
	if (file->zstd) {
		file->file = fopen(path, "we");
		error = file->file ? 0 : -errno;
	}
	if (error) {
		release(file);
		return error;
	}
	setvbuf(file->file, NULL, _IOFBF, BUFFER_BYTES);
	*opened = file;
	return put(file, magic, sizeof(magic));
}

int ncs_parquet_close(struct ncs_parquet_file *file, bool is_whole)
{
	int error = 0;

	if (!file)
		return 0;
	if (is_whole)
		error = put_footer(file);
	if (!error)
		error = error_of(file);
	if (fclose(file->file) != 0 && !error)
		error = -errno;
	release(file);
	return error;
}
