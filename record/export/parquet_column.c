/* SPDX-License-Identifier: MIT */
/* Levels, plain values and dictionaries; see parquet_column.h. Integers are
 * little-endian, as on all machines that we build for. */
#include "record/export/parquet_column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Longer texts are cut. */
#define TEXT_BYTES 4096u

static int make_room(struct ncs_parquet_bytes *bytes, size_t more)
{
	return ncs_array_reserve(&bytes->bytes, &bytes->capacity,
				 bytes->count + more, 1);
}

/* Appends bytes for which there is room. */
static void append(struct ncs_parquet_bytes *bytes, const void *from,
		   size_t count)
{
	memcpy(bytes->bytes + bytes->count, from, count);
	bytes->count += count;
}

static void append_u32(struct ncs_parquet_bytes *bytes, uint32_t value)
{
	append(bytes, &value, sizeof(value));
}

/* --- Runs and packed bits ------------------------------------------------ */

static void append_varint(struct ncs_parquet_bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes->bytes[bytes->count++] = (uint8_t)(value | 0x80);
	bytes->bytes[bytes->count++] = (uint8_t)value;
}

/* Bytes that packed values take at most, with the header of their run. */
static size_t packed_bytes(size_t count, unsigned bits)
{
	return 10 + (count + 7) / 8 * bits;
}

/* Appends one run of a value that is repeated. */
static void append_run(struct ncs_parquet_bytes *bytes, size_t count,
		       uint32_t value, unsigned bits)
{
	append_varint(bytes, (uint64_t)count << 1);
	append(bytes, &value, (bits + 7) / 8);
}

/* Appends values of `bits` bits each, in groups of eight. */
static void append_packed(struct ncs_parquet_bytes *bytes,
			  const uint32_t *values, size_t count, unsigned bits)
{
	uint64_t held = 0;
	unsigned held_bits = 0;

	append_varint(bytes, (uint64_t)((count + 7) / 8) << 1 | 1);
	for (size_t i = 0; i < (count + 7) / 8 * 8; i++) {
		held |= (uint64_t)(i < count ? values[i] : 0) << held_bits;
		held_bits += bits;
		for (; held_bits >= 8; held_bits -= 8, held >>= 8)
			bytes->bytes[bytes->count++] = (uint8_t)held;
	}
}

/* Appends the definition levels: whether each value is known. */
static int append_levels(struct ncs_parquet_encoded *encoded)
{
	struct ncs_parquet_bytes *data = &encoded->data;
	size_t rows = encoded->rows, nulls = encoded->summary.nulls;
	size_t begun = data->count;
	uint32_t length;

	if (make_room(data, sizeof(length) + packed_bytes(rows, 1)) != 0)
		return -ENOMEM;
	data->count += sizeof(length);
	if (nulls == 0 || nulls == rows) {
		append_run(data, rows, nulls == 0, 1);
	} else {
		append_varint(data, (uint64_t)((rows + 7) / 8) << 1 | 1);
		for (size_t i = 0; i < rows; i += 8) {
			unsigned byte = 0;

			for (size_t k = i; k < i + 8 && k < rows; k++)
				byte |= (unsigned)encoded->is_known[k]
					<< (k - i);
			data->bytes[data->count++] = (uint8_t)byte;
		}
	}
	length = (uint32_t)(data->count - begun - sizeof(length));
	memcpy(data->bytes + begun, &length, sizeof(length));
	return 0;
}

/* --- Numbers ------------------------------------------------------------- */

static void note_value(struct ncs_parquet_summary *summary, int64_t value)
{
	if (!summary->has_values || value < summary->least)
		summary->least = value;
	if (!summary->has_values || value > summary->greatest)
		summary->greatest = value;
	summary->has_values = true;
}

/* Appends the values of a type of 4 or 8 bytes to `values`. */
static void collect_numbers(struct ncs_parquet_encoded *encoded,
			    enum ncs_parquet_type type, unsigned column,
			    ncs_parquet_cell *cell, const void *context,
			    struct ncs_parquet_bytes *values)
{
	bool is_narrow = type == NCS_PARQUET_INT32;
	size_t size = is_narrow ? 4 : 8;

	for (size_t i = 0; i < encoded->rows; i++) {
		union ncs_parquet_value value;

		encoded->is_known[i] = cell(context, i, column, &value);
		if (!encoded->is_known[i]) {
			encoded->summary.nulls++;
			continue;
		}
		append(values, &value, size);
		if (is_narrow)
			note_value(&encoded->summary, (int32_t)value.number);
		else if (type == NCS_PARQUET_INT64 ||
			 type == NCS_PARQUET_UTC_NS)
			note_value(&encoded->summary, (int64_t)value.number);
	}
}

/* Flags are bits, the first value's the lowest. */
static void collect_flags(struct ncs_parquet_encoded *encoded, unsigned column,
			  ncs_parquet_cell *cell, const void *context,
			  struct ncs_parquet_bytes *values)
{
	size_t count = 0;

	memset(values->bytes, 0, encoded->rows / 8 + 1);
	for (size_t i = 0; i < encoded->rows; i++) {
		union ncs_parquet_value value;

		encoded->is_known[i] = cell(context, i, column, &value);
		if (!encoded->is_known[i]) {
			encoded->summary.nulls++;
			continue;
		}
		values->bytes[count / 8] |=
			(uint8_t)((value.number != 0) << count % 8);
		count++;
	}
	values->count = (count + 7) / 8;
}

static int encode_plain(struct ncs_parquet_encoded *encoded,
			enum ncs_parquet_type type, unsigned column,
			ncs_parquet_cell *cell, const void *context)
{
	/* The values are known before the levels, which stand before them. */
	struct ncs_parquet_bytes *values = &encoded->values;
	int error;

	values->count = 0;
	if (make_room(values, encoded->rows * 8 + 8) != 0)
		return -ENOMEM;
	if (type == NCS_PARQUET_FLAG)
		collect_flags(encoded, column, cell, context, values);
	else
		collect_numbers(encoded, type, column, cell, context, values);
	error = append_levels(encoded);
	if (error || make_room(&encoded->data, values->count) != 0)
		return -ENOMEM;
	append(&encoded->data, values->bytes, values->count);
	return 0;
}

/* --- Texts --------------------------------------------------------------- */

/* A text is found by its address; equal texts have few addresses. */
struct ncs_parquet_slot {
	const char *text; /* NULL: the slot is free */
	uint32_t place;   /* in the dictionary */
};

/* Returns the slot that has a text's address, or would have it. */
static struct ncs_parquet_slot *slot_of(struct ncs_parquet_slot *slots,
					size_t count, const char *text)
{
	size_t i = ncs_hash((uintptr_t)text) & (count - 1);

	while (slots[i].text && slots[i].text != text)
		i = (i + 1) & (count - 1);
	return &slots[i];
}

static int grow_slots(struct ncs_parquet_encoded *encoded)
{
	size_t count = encoded->slot_count ? encoded->slot_count * 2 : 64;
	struct ncs_parquet_slot *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < encoded->slot_count; i++)
		if (encoded->slots[i].text)
			*slot_of(slots, count, encoded->slots[i].text) =
				encoded->slots[i];
	free(encoded->slots);
	encoded->slots = slots;
	encoded->slot_count = count;
	return 0;
}

static int append_text(struct ncs_parquet_bytes *bytes, const char *raw)
{
	char text[TEXT_BYTES];
	size_t length;

	ncs_utf8_clean(text, sizeof(text), raw, false);
	length = strlen(text);
	if (make_room(bytes, sizeof(uint32_t) + length) != 0)
		return -ENOMEM;
	append_u32(bytes, (uint32_t)length);
	append(bytes, text, length);
	return 0;
}

/* Sets *place to that of a text whose address is new. */
static int add_text(struct ncs_parquet_encoded *encoded, const char *text,
		    uint32_t *place)
{
	size_t count = encoded->dictionary_count;

	for (size_t i = 0; i < count; i++)
		if (strcmp(encoded->texts[i], text) == 0) {
			*place = (uint32_t)i;
			return 0;
		}
	if (ncs_array_reserve(&encoded->texts, &encoded->text_capacity,
			      count + 1, sizeof(*encoded->texts)) != 0 ||
	    append_text(&encoded->dictionary, text) != 0)
		return -ENOMEM;
	encoded->texts[encoded->dictionary_count++] = text;
	*place = (uint32_t)count;
	return 0;
}

/* Sets *place to a text's place in the dictionary. */
static int place_of(struct ncs_parquet_encoded *encoded, const char *text,
		    uint32_t *place)
{
	struct ncs_parquet_slot *slot;

	if (encoded->slots_used * 2 >= encoded->slot_count &&
	    grow_slots(encoded) != 0)
		return -ENOMEM;
	slot = slot_of(encoded->slots, encoded->slot_count, text);
	if (!slot->text) {
		if (add_text(encoded, text, &slot->place) != 0)
			return -ENOMEM;
		slot->text = text;
		encoded->slots_used++;
	}
	*place = slot->place;
	return 0;
}

static int collect_texts(struct ncs_parquet_encoded *encoded, unsigned column,
			 ncs_parquet_cell *cell, const void *context,
			 size_t *count)
{
	for (size_t i = 0; i < encoded->rows; i++) {
		union ncs_parquet_value value;

		encoded->is_known[i] = cell(context, i, column, &value);
		if (!encoded->is_known[i])
			encoded->summary.nulls++;
		else if (place_of(encoded, value.text,
				  &encoded->places[(*count)++]) != 0)
			return -ENOMEM;
	}
	return 0;
}

static unsigned bits_of(size_t greatest)
{
	unsigned bits = 1;

	while (greatest >> bits)
		bits++;
	return bits;
}

static int encode_texts(struct ncs_parquet_encoded *encoded, unsigned column,
			ncs_parquet_cell *cell, const void *context)
{
	size_t count = 0;
	unsigned bits;

	encoded->has_dictionary = true;
	encoded->dictionary.count = encoded->dictionary_count = 0;
	encoded->slots_used = 0;
	if (encoded->slots)
		memset(encoded->slots, 0,
		       encoded->slot_count * sizeof(*encoded->slots));
	if (ncs_array_reserve(&encoded->places, &encoded->place_capacity,
			      encoded->rows, sizeof(*encoded->places)) != 0 ||
	    collect_texts(encoded, column, cell, context, &count) != 0 ||
	    append_levels(encoded) != 0)
		return -ENOMEM;
	bits = bits_of(encoded->dictionary_count > 0 ?
			       encoded->dictionary_count - 1 :
			       0);
	if (make_room(&encoded->data, 1 + packed_bytes(count, bits)) != 0)
		return -ENOMEM;
	encoded->data.bytes[encoded->data.count++] = (uint8_t)bits;
	if (encoded->dictionary_count == 1)
		append_run(&encoded->data, count, 0, bits);
	else if (count > 0)
		append_packed(&encoded->data, encoded->places, count, bits);
	return 0;
}

/* --- Columns ------------------------------------------------------------- */

int ncs_parquet_encode(struct ncs_parquet_encoded *encoded,
		       enum ncs_parquet_type type, unsigned column, size_t rows,
		       ncs_parquet_cell *cell, const void *context)
{
	encoded->rows = rows;
	encoded->data.count = 0;
	encoded->has_dictionary = false;
	encoded->summary = (struct ncs_parquet_summary){ 0 };
	if (ncs_array_reserve(&encoded->is_known, &encoded->known_capacity,
			      rows, 1) != 0)
		return -ENOMEM;
	return type == NCS_PARQUET_TEXT ?
		       encode_texts(encoded, column, cell, context) :
		       encode_plain(encoded, type, column, cell, context);
}

void ncs_parquet_encoded_release(struct ncs_parquet_encoded *encoded)
{
	free(encoded->data.bytes);
	free(encoded->dictionary.bytes);
	free(encoded->values.bytes);
	free(encoded->is_known);
	free(encoded->places);
	free(encoded->texts);
	free(encoded->slots);
}
