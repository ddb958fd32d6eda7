/* SPDX-License-Identifier: MIT */
/* Pages of columns, row groups, and the footer of a Parquet file, which is in
 * Thrift's compact protocol like the headers of pages; see parquet_file.h.
 * Integers are little-endian, as on all machines that we build for. */
#include "record/export/parquet_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analysis/base/hash_table.h"
#include "analysis/base/utf8.h"
#include "ncclstat/version.h"
#include "shm/array.h"
#include "shm/hash.h"

#define ZSTD_LEVEL 1
#define BUFFER_BYTES (1u << 18)

/* Longer texts are cut. */
#define TEXT_BYTES 4096u

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

/* --- Bytes --------------------------------------------------------------- */

/* Bytes in memory; begin with zeros. */
struct bytes {
	uint8_t *bytes;
	size_t count, capacity;
	bool has_failed; /* no memory: they are not whole */
};

static void put(struct bytes *to, const void *bytes, size_t count)
{
	if (count == 0)
		return;
	if (ncs_array_reserve(&to->bytes, &to->capacity, to->count + count,
			      1) != 0) {
		to->has_failed = true;
		return;
	}
	memcpy(to->bytes + to->count, bytes, count);
	to->count += count;
}

static void put_byte(struct bytes *to, unsigned byte)
{
	const uint8_t one = (uint8_t)byte;

	put(to, &one, 1);
}

static void put_u32(struct bytes *to, uint32_t value)
{
	put(to, &value, sizeof(value));
}

/* Writes seven bits a byte, the lowest first. */
static void put_varint(struct bytes *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(to, (unsigned)(value & 0x7f) | 0x80);
	put_byte(to, (unsigned)value);
}

/* --- Thrift -------------------------------------------------------------- */

/* Types, as they stand in the headers of fields and lists. */
enum thrift_type {
	TYPE_TRUE = 1,
	TYPE_FALSE = 2,
	TYPE_I32 = 5,
	TYPE_I64 = 6,
	TYPE_BINARY = 8,
	TYPE_LIST = 9,
	TYPE_STRUCT = 12,
};

#define THRIFT_DEPTH 8u

/* Structs of numbered fields, which come by ascending numbers. Begins with
 * zeros. */
struct thrift {
	struct bytes out;
	/* Number of the latest field of each struct that is open. */
	int last[THRIFT_DEPTH];
	unsigned depth;
};

/* Small numbers of either sign become small ones. */
static void put_zigzag(struct thrift *thrift, int64_t value)
{
	put_varint(&thrift->out,
		   (uint64_t)value << 1 ^ (value < 0 ? ~UINT64_C(0) : 0));
}

static void put_header(struct thrift *thrift, int field, unsigned type)
{
	int *last = &thrift->last[thrift->depth - 1];
	int step = field - *last;

	assert(step > 0);
	if (step <= 15) {
		put_byte(&thrift->out, (unsigned)step << 4 | type);
	} else {
		put_byte(&thrift->out, type);
		put_zigzag(thrift, field);
	}
	*last = field;
}

/* Begins a struct that is no field: an element of a list, or the outermost. */
static void begin_struct(struct thrift *thrift)
{
	assert(thrift->depth < THRIFT_DEPTH);
	thrift->last[thrift->depth++] = 0;
}

/* Ends the latest struct that was begun. */
static void end_struct(struct thrift *thrift)
{
	put_byte(&thrift->out, 0);
	thrift->depth--;
}

static void begin_field(struct thrift *thrift, int field)
{
	put_header(thrift, field, TYPE_STRUCT);
	begin_struct(thrift);
}

static void put_i32(struct thrift *thrift, int field, int32_t value)
{
	put_header(thrift, field, TYPE_I32);
	put_zigzag(thrift, value);
}

static void put_i64(struct thrift *thrift, int field, uint64_t value)
{
	put_header(thrift, field, TYPE_I64);
	put_zigzag(thrift, (int64_t)value);
}

static void put_flag(struct thrift *thrift, int field, bool value)
{
	put_header(thrift, field, value ? TYPE_TRUE : TYPE_FALSE);
}

static void put_binary(struct thrift *thrift, const void *bytes, size_t count)
{
	put_varint(&thrift->out, count);
	put(&thrift->out, bytes, count);
}

static void put_bytes(struct thrift *thrift, int field, const void *bytes,
		      size_t count)
{
	put_header(thrift, field, TYPE_BINARY);
	put_binary(thrift, bytes, count);
}

static void put_text(struct thrift *thrift, int field, const char *text)
{
	put_bytes(thrift, field, text, strlen(text));
}

/* Begins a list, whose elements follow. */
static void begin_list(struct thrift *thrift, int field, enum thrift_type type,
		       size_t count)
{
	put_header(thrift, field, TYPE_LIST);
	if (count < 15) {
		put_byte(&thrift->out, (unsigned)count << 4 | type);
	} else {
		put_byte(&thrift->out, 0xf0 | type);
		put_varint(&thrift->out, count);
	}
}

/* --- Values of a column --------------------------------------------------- */

/* Packs values of `bits` bits each, in groups of eight. */
static void pack(struct bytes *to, const uint32_t *values, size_t count,
		 unsigned bits)
{
	uint64_t held = 0;
	unsigned held_bits = 0;

	for (size_t i = 0; i < (count + 7) / 8 * 8; i++) {
		held |= (uint64_t)(i < count ? values[i] : 0) << held_bits;
		held_bits += bits;
		for (; held_bits >= 8; held_bits -= 8, held >>= 8)
			put_byte(to, (uint8_t)held);
	}
}

/* Writes values as one run: of one that is repeated, or of packed ones. */
static void put_run(struct bytes *to, const uint32_t *values, size_t count,
		    unsigned bits)
{
	size_t equal = 1;

	if (count == 0)
		return;
	while (equal < count && values[equal] == values[0])
		equal++;
	if (equal == count) {
		put_varint(to, (uint64_t)count << 1);
		put(to, &values[0], (bits + 7) / 8);
	} else {
		put_varint(to, (uint64_t)((count + 7) / 8) << 1 | 1);
		pack(to, values, count, bits);
	}
}

struct summary {
	uint64_t nulls;
	bool has_values;
	/* For types with an order. */
	int64_t least, greatest;
};

/* Where a text is in the dictionary, by its address: equal texts have few. */
struct text_place {
	struct ncs_hash_link link;
	uint32_t place;
};

/* A column that is encoded; begins with zeros. Its memory is used again by the
 * next one. */
struct encoded {
	size_t rows;
	struct bytes data; /* a data page: levels, then values */
	bool has_dictionary;
	struct bytes dictionary; /* a dictionary page */
	size_t dictionary_count;
	struct summary summary;
	union ncs_parquet_value *values; /* those that are known */
	size_t count, capacity;
	/* By row whether its value is known; later by value, to be packed. */
	uint32_t *numbers;
	size_t number_capacity;
	const char **texts; /* of the dictionary; the caller's */
	size_t text_capacity;
	struct ncs_hash_table places; /* of struct text_place */
};

static const struct {
	int number;     /* Type in the format */
	bool has_order; /* its least and greatest values are given */
	size_t size;    /* of a value; 0: it is not stored as it is */
} types[] = {
	[NCS_PARQUET_INT64] = { 2, true, 8 },
	[NCS_PARQUET_INT32] = { 1, true, 4 },
	[NCS_PARQUET_UTC_NS] = { 2, true, 8 },
	[NCS_PARQUET_DOUBLE] = { 5, false, 8 },
	[NCS_PARQUET_FLAG] = { 0, false, 0 },
	[NCS_PARQUET_TEXT] = { 6, false, 0 },
};

static int collect(struct encoded *encoded, unsigned column,
		   ncs_parquet_cell *cell, const void *context)
{
	size_t rows = encoded->rows;

	if (ncs_array_reserve(&encoded->values, &encoded->capacity, rows,
			      sizeof(*encoded->values)) != 0 ||
	    ncs_array_reserve(&encoded->numbers, &encoded->number_capacity,
			      rows, sizeof(*encoded->numbers)) != 0)
		return -ENOMEM;
	encoded->count = 0;
	for (size_t i = 0; i < rows; i++) {
		encoded->numbers[i] = cell(context, i, column,
					   &encoded->values[encoded->count]);
		encoded->count += encoded->numbers[i];
	}
	encoded->summary = (struct summary){ .nulls = rows - encoded->count };
	return 0;
}

/* Writes the definition levels: whether each row has a value. */
static void put_levels(struct encoded *encoded)
{
	struct bytes *data = &encoded->data;
	size_t begun = data->count + sizeof(uint32_t);
	uint32_t length;

	put_u32(data, 0);
	put_run(data, encoded->numbers, encoded->rows, 1);
	length = (uint32_t)(data->count - begun);
	if (!data->has_failed)
		memcpy(data->bytes + begun - sizeof(length), &length,
		       sizeof(length));
}

static void note_value(struct summary *summary, int64_t value)
{
	if (!summary->has_values || value < summary->least)
		summary->least = value;
	if (!summary->has_values || value > summary->greatest)
		summary->greatest = value;
	summary->has_values = true;
}

static void put_numbers(struct encoded *encoded, enum ncs_parquet_type type)
{
	size_t size = types[type].size;

	for (size_t i = 0; i < encoded->count; i++) {
		const union ncs_parquet_value *value = &encoded->values[i];

		put(&encoded->data, value, size);
		if (types[type].has_order)
			note_value(&encoded->summary,
				   size == 4 ? (int32_t)value->number :
					       (int64_t)value->number);
	}
}

/* Flags are bits, the first value's the lowest. */
static void put_flags(struct encoded *encoded)
{
	for (size_t i = 0; i < encoded->count; i++)
		encoded->numbers[i] = encoded->values[i].number != 0;
	pack(&encoded->data, encoded->numbers, encoded->count, 1);
}

/* Adds a text to the dictionary. */
static int add_text(struct encoded *encoded, const char *raw)
{
	char text[TEXT_BYTES];

	if (ncs_array_reserve(&encoded->texts, &encoded->text_capacity,
			      encoded->dictionary_count + 1,
			      sizeof(*encoded->texts)) != 0)
		return -ENOMEM;
	encoded->texts[encoded->dictionary_count++] = raw;
	ncs_utf8_clean(text, sizeof(text), raw, false);
	put_u32(&encoded->dictionary, (uint32_t)strlen(text));
	put(&encoded->dictionary, text, strlen(text));
	return 0;
}

/* Sets *place to a text's place in the dictionary. */
static int find_place(struct encoded *encoded, const char *text,
		      uint32_t *place)
{
	uint64_t hash = ncs_hash((uintptr_t)text);
	struct text_place *known = ncs_hash_table_first(&encoded->places, hash);

	*place = 0;
	if (known) {
		*place = known->place;
		return 0;
	}
	while (*place < encoded->dictionary_count &&
	       strcmp(encoded->texts[*place], text) != 0)
		++*place;
	known = ncs_hash_table_add(&encoded->places, sizeof(*known), hash);
	if (!known)
		return -ENOMEM;
	known->place = *place;
	return *place < encoded->dictionary_count ? 0 : add_text(encoded, text);
}

static int put_texts(struct encoded *encoded)
{
	unsigned bits = 1;
	int error = 0;

	for (size_t i = 0; i < encoded->count && !error; i++)
		error = find_place(encoded, encoded->values[i].text,
				   &encoded->numbers[i]);
	ncs_hash_table_sweep(&encoded->places, NULL, 0);
	while (encoded->dictionary_count > (size_t)1 << bits)
		bits++;
	put_byte(&encoded->data, bits);
	put_run(&encoded->data, encoded->numbers, encoded->count, bits);
	return error;
}

/* Encodes a column. Returns 0 or -ENOMEM. */
static int encode(struct encoded *encoded, enum ncs_parquet_type type,
		  unsigned column, size_t rows, ncs_parquet_cell *cell,
		  const void *context)
{
	int error;

	encoded->rows = rows;
	encoded->has_dictionary = type == NCS_PARQUET_TEXT;
	encoded->data.count = encoded->dictionary.count = 0;
	encoded->dictionary_count = 0;
	error = collect(encoded, column, cell, context);
	if (error)
		return error;
	put_levels(encoded);
	if (type == NCS_PARQUET_TEXT)
		error = put_texts(encoded);
	else if (type == NCS_PARQUET_FLAG)
		put_flags(encoded);
	else
		put_numbers(encoded, type);
	if (encoded->data.has_failed || encoded->dictionary.has_failed)
		error = -ENOMEM;
	return error;
}

static void release_encoded(struct encoded *encoded)
{
	free(encoded->data.bytes);
	free(encoded->dictionary.bytes);
	free(encoded->values);
	free(encoded->numbers);
	free(encoded->texts);
	ncs_hash_table_release(&encoded->places);
}

/* --- Pages --------------------------------------------------------------- */

/* Where a column of a row group is in the file, and a summary of its values. */
struct column_chunk {
	uint64_t dictionary_at; /* 0: it has none */
	uint64_t data_at;
	uint64_t bytes;      /* with the headers of pages */
	uint64_t full_bytes; /* before compression */
	struct summary summary;
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

static int error_of(const struct ncs_parquet_file *file)
{
	return ferror(file->file) ? (errno ? -errno : -EIO) : 0;
}

static int write_bytes(struct ncs_parquet_file *file, const void *bytes,
		       size_t count)
{
	errno = 0;
	if (count > 0 && fwrite(bytes, 1, count, file->file) != count)
		return errno ? -errno : -EIO;
	file->at += count;
	return 0;
}

/* Writes a Thrift struct and frees it. */
static int write_thrift(struct ncs_parquet_file *file, struct thrift *thrift)
{
	int error =
		thrift->out.has_failed ?
			-ENOMEM :
			write_bytes(file, thrift->out.bytes, thrift->out.count);

	free(thrift->out.bytes);
	return error;
}

struct page {
	int kind;
	int encoding;
	size_t values; /* nulls included */
	const struct bytes *bytes;
};

static int put_page_header(struct ncs_parquet_file *file,
			   const struct page *page, size_t packed)
{
	struct thrift thrift = { 0 };
	bool is_data = page->kind == PAGE_DATA;

	begin_struct(&thrift);
	put_i32(&thrift, 1, page->kind);
	put_i32(&thrift, 2, (int32_t)page->bytes->count);
	put_i32(&thrift, 3, (int32_t)packed);
	begin_field(&thrift, is_data ? 5 : 7);
	put_i32(&thrift, 1, (int32_t)page->values);
	put_i32(&thrift, 2, page->encoding);
	if (is_data) {
		put_i32(&thrift, 3, ENCODING_RLE);
		put_i32(&thrift, 4, ENCODING_RLE);
	}
	end_struct(&thrift);
	end_struct(&thrift);
	return write_thrift(file, &thrift);
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
		error = write_bytes(file, file->packed, packed);
	chunk->bytes += file->at - begun;
	return error;
}

static int put_column(struct ncs_parquet_file *file,
		      const struct encoded *encoded, struct column_chunk *chunk)
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
	struct encoded encoded = { 0 };
	int error = 0;

	if (ncs_array_reserve(&file->group_rows, &file->group_capacity,
			      file->group_count + 1, sizeof(uint64_t)) != 0 ||
	    ncs_array_reserve(&file->chunks, &file->chunk_capacity,
			      chunks + file->column_count,
			      sizeof(*file->chunks)) != 0)
		return -ENOMEM;
	for (unsigned i = 0; i < file->column_count && !error; i++) {
		error = encode(&encoded, file->columns[i].type, i, rows, cell,
			       context);
		if (!error)
			error = put_column(file, &encoded,
					   &file->chunks[chunks + i]);
	}
	release_encoded(&encoded);
	if (error)
		return error;
	file->group_rows[file->group_count++] = rows;
	file->rows += rows;
	return 0;
}

/* --- The footer ---------------------------------------------------------- */

/* Puts the logical type of a timestamp: in UTC, in ns. */
static void put_timestamp(struct thrift *thrift)
{
	begin_field(thrift, 10); /* LogicalType */
	begin_field(thrift, 8);  /* TIMESTAMP */
	put_flag(thrift, 1, true);
	begin_field(thrift, 2); /* TimeUnit */
	begin_field(thrift, 3); /* NANOS */
	for (unsigned i = 0; i < 4; i++)
		end_struct(thrift);
}

static void put_schema(struct thrift *thrift,
		       const struct ncs_parquet_file *file)
{
	begin_list(thrift, 2, TYPE_STRUCT, file->column_count + 1);
	begin_struct(thrift);
	put_text(thrift, 4, "ncclstat");
	put_i32(thrift, 5, file->column_count);
	end_struct(thrift);
	for (unsigned i = 0; i < file->column_count; i++) {
		const struct ncs_parquet_column *column = &file->columns[i];

		begin_struct(thrift);
		put_i32(thrift, 1, types[column->type].number);
		put_i32(thrift, 3, REPETITION_OPTIONAL);
		put_text(thrift, 4, column->name);
		if (column->type == NCS_PARQUET_TEXT)
			put_i32(thrift, 6, CONVERTED_UTF8);
		if (column->type == NCS_PARQUET_UTC_NS)
			put_timestamp(thrift);
		end_struct(thrift);
	}
}

static void put_statistics(struct thrift *thrift,
			   const struct ncs_parquet_column *column,
			   const struct summary *summary)
{
	size_t bytes = types[column->type].size;

	begin_field(thrift, 12);
	put_i64(thrift, 3, summary->nulls);
	if (types[column->type].has_order && summary->has_values) {
		put_bytes(thrift, 5, &summary->greatest, bytes);
		put_bytes(thrift, 6, &summary->least, bytes);
	}
	end_struct(thrift);
}

static void put_chunk(struct thrift *thrift,
		      const struct ncs_parquet_column *column,
		      const struct column_chunk *chunk, uint64_t rows)
{
	bool has_dictionary = chunk->dictionary_at != 0;

	begin_struct(thrift);
	put_i64(thrift, 2,
		has_dictionary ? chunk->dictionary_at : chunk->data_at);
	begin_field(thrift, 3);
	put_i32(thrift, 1, types[column->type].number);
	begin_list(thrift, 2, TYPE_I32, has_dictionary ? 3 : 2);
	put_zigzag(thrift, ENCODING_PLAIN);
	put_zigzag(thrift, ENCODING_RLE);
	if (has_dictionary)
		put_zigzag(thrift, ENCODING_RLE_DICTIONARY);
	begin_list(thrift, 3, TYPE_BINARY, 1);
	put_binary(thrift, column->name, strlen(column->name));
	put_i32(thrift, 4, CODEC_ZSTD);
	put_i64(thrift, 5, rows);
	put_i64(thrift, 6, chunk->full_bytes);
	put_i64(thrift, 7, chunk->bytes);
	put_i64(thrift, 9, chunk->data_at);
	if (has_dictionary)
		put_i64(thrift, 11, chunk->dictionary_at);
	put_statistics(thrift, column, &chunk->summary);
	end_struct(thrift);
	end_struct(thrift);
}

static void put_group(struct thrift *thrift,
		      const struct ncs_parquet_file *file, size_t group)
{
	const struct column_chunk *chunks =
		&file->chunks[group * file->column_count];
	uint64_t rows = file->group_rows[group], full_bytes = 0;

	begin_struct(thrift);
	begin_list(thrift, 1, TYPE_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		put_chunk(thrift, &file->columns[i], &chunks[i], rows);
		full_bytes += chunks[i].full_bytes;
	}
	put_i64(thrift, 2, full_bytes);
	put_i64(thrift, 3, rows);
	begin_list(thrift, 4, TYPE_STRUCT, 1);
	begin_struct(thrift);
	put_i32(thrift, 1, file->sorted_by);
	put_flag(thrift, 2, false); /* descending */
	put_flag(thrift, 3, false); /* nulls first */
	end_struct(thrift);
	end_struct(thrift);
}

static void put_notes(struct thrift *thrift,
		      const struct ncs_parquet_file *file)
{
	begin_list(thrift, 5, TYPE_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		begin_struct(thrift);
		put_text(thrift, 1, file->columns[i].name);
		put_text(thrift, 2, file->columns[i].note);
		end_struct(thrift);
	}
}

/* Says that least and greatest values are by each type's own order. */
static void put_orders(struct thrift *thrift,
		       const struct ncs_parquet_file *file)
{
	begin_list(thrift, 7, TYPE_STRUCT, file->column_count);
	for (unsigned i = 0; i < file->column_count; i++) {
		begin_struct(thrift);
		begin_field(thrift, 1);
		end_struct(thrift);
		end_struct(thrift);
	}
}

static int put_footer(struct ncs_parquet_file *file)
{
	struct thrift thrift = { 0 };
	uint64_t begun = file->at;
	uint32_t bytes;
	int error;

	begin_struct(&thrift);
	put_i32(&thrift, 1, FORMAT_VERSION);
	put_schema(&thrift, file);
	put_i64(&thrift, 3, file->rows);
	begin_list(&thrift, 4, TYPE_STRUCT, file->group_count);
	for (size_t i = 0; i < file->group_count; i++)
		put_group(&thrift, file, i);
	put_notes(&thrift, file);
	put_text(&thrift, 6, "ncclstat version " NCS_VERSION_TEXT);
	put_orders(&thrift, file);
	end_struct(&thrift);
	error = write_thrift(file, &thrift);
	bytes = (uint32_t)(file->at - begun);
	if (!error)
		error = write_bytes(file, &bytes, sizeof(bytes));
	return error ? error : write_bytes(file, magic, sizeof(magic));
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
	return write_bytes(file, magic, sizeof(magic));
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
