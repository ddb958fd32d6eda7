/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol; see thrift.h. */
#include "record/export/thrift.h"

#include <assert.h>
#include <string.h>

#include "shm/array.h"

static void put(struct ncs_thrift *thrift, const void *bytes, size_t count)
{
	if (thrift->has_failed || count == 0)
		return;
	if (ncs_array_reserve(&thrift->bytes, &thrift->capacity,
			      thrift->count + count, 1) != 0) {
		thrift->has_failed = true;
		return;
	}
	memcpy(thrift->bytes + thrift->count, bytes, count);
	thrift->count += count;
}

static void put_byte(struct ncs_thrift *thrift, unsigned byte)
{
	const uint8_t one = (uint8_t)byte;

	put(thrift, &one, 1);
}

/* Writes seven bits a byte, the lowest first. */
static void put_varint(struct ncs_thrift *thrift, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(thrift, (unsigned)(value & 0x7f) | 0x80);
	put_byte(thrift, (unsigned)value);
}

/* Small numbers of either sign become small ones. */
static void put_zigzag(struct ncs_thrift *thrift, int64_t value)
{
	put_varint(thrift, (uint64_t)value << 1 ^ (value < 0 ? ~UINT64_C(0) : 0));
}

static void put_header(struct ncs_thrift *thrift, int field, unsigned type)
{
	int *last = &thrift->last[thrift->depth - 1];
	int step = field - *last;

	assert(step > 0);
	if (step <= 15) {
		put_byte(thrift, (unsigned)step << 4 | type);
	} else {
		put_byte(thrift, type);
		put_zigzag(thrift, field);
	}
	*last = field;
}

void ncs_thrift_begin(struct ncs_thrift *thrift)
{
	assert(thrift->depth < NCS_THRIFT_DEPTH);
	thrift->last[thrift->depth++] = 0;
}

void ncs_thrift_end(struct ncs_thrift *thrift)
{
	put_byte(thrift, 0);
	thrift->depth--;
}

void ncs_thrift_int(struct ncs_thrift *thrift, int field,
		    enum ncs_thrift_type type, int64_t value)
{
	put_header(thrift, field, type);
	put_zigzag(thrift, value);
}

void ncs_thrift_flag(struct ncs_thrift *thrift, int field, bool value)
{
	put_header(thrift, field, value ? NCS_THRIFT_TRUE : NCS_THRIFT_FALSE);
}

void ncs_thrift_bytes(struct ncs_thrift *thrift, int field, const void *bytes,
		      size_t count)
{
	put_header(thrift, field, NCS_THRIFT_BINARY);
	put_varint(thrift, count);
	put(thrift, bytes, count);
}

void ncs_thrift_text(struct ncs_thrift *thrift, int field, const char *text)
{
	ncs_thrift_bytes(thrift, field, text, strlen(text));
}

void ncs_thrift_struct(struct ncs_thrift *thrift, int field)
{
	put_header(thrift, field, NCS_THRIFT_STRUCT);
	ncs_thrift_begin(thrift);
}

void ncs_thrift_list(struct ncs_thrift *thrift, int field,
		     enum ncs_thrift_type type, size_t count)
{
	put_header(thrift, field, NCS_THRIFT_LIST);
	if (count < 15) {
		put_byte(thrift, (unsigned)count << 4 | type);
	} else {
		put_byte(thrift, 0xf0 | type);
		put_varint(thrift, count);
	}
}

void ncs_thrift_int_element(struct ncs_thrift *thrift, int64_t value)
{
	put_zigzag(thrift, value);
}

void ncs_thrift_text_element(struct ncs_thrift *thrift, const char *text)
{
	put_varint(thrift, strlen(text));
	put(thrift, text, strlen(text));
}
