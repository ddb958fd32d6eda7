/* SPDX-License-Identifier: MIT */
/* Lookups of names; see nccl_names.h. Called by callbacks. */
#include "plugin/nccl/nccl_names.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "shm/atomics.h"

#define NAME_BYTES 18

struct name {
	char text[NAME_BYTES];
	uint8_t size;  /* in bytes, with the terminating 0 */
	int8_t number; /* in API 1; -1 if it has none there */
};

#define X(ID, name, ...) \
	static_assert(sizeof(name) <= NAME_BYTES, "there is room for " #ID);
NCS_FUNCTIONS(X)
NCS_DATATYPES(X)
NCS_ALGORITHMS(X)
NCS_PROTOCOLS(X)
#undef X

static const struct name functions[] = {
#define X(ID, name, size, numerator, denominator) { name, sizeof(name), -1 },
	NCS_FUNCTIONS(X)
#undef X
};

static const struct name datatypes[] = {
#define X(ID, name, number, bytes) { name, sizeof(name), number },
	NCS_DATATYPES(X)
#undef X
};

static const struct name algorithms[] = {
#define X(ID, name, number) { name, sizeof(name), number },
	NCS_ALGORITHMS(X)
#undef X
};

static const struct name protocols[] = {
#define X(ID, name, number) { name, sizeof(name), number },
	NCS_PROTOCOLS(X)
#undef X
};

#define X(ID, name, number, bytes) \
	static_assert((bytes) < 16 && (int)NCS_DATATYPE_##ID < 16, \
		      "ncs_datatype_bytes() has four bits for " #ID);
NCS_DATATYPES(X)
#undef X

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Strings that were looked up since the last init, by address. NCCL passes
 * literals, so nearly every lookup is a hit. After a hit the string can be read
 * up to the length of the cached name, and its bytes are compared with that
 * name. */
#define CACHE_SIZE 64u

static uint64_t cache[CACHE_SIZE]; /* address << 8 | index + 1 */

void ncs_names_forget(void)
{
	for (unsigned i = 0; i < CACHE_SIZE; i++)
		ncs_store_relaxed(&cache[i], 0);
}

/* Compares `size` bytes by their first and last `width` bytes; the size must be
 * at least `width` and at most twice that. */
static inline bool same_ends(const char *a, const char *b, unsigned size,
			     unsigned width)
{
	uint64_t first[2] = { 0 }, last[2] = { 0 };

	memcpy(&first[0], a, width);
	memcpy(&first[1], b, width);
	memcpy(&last[0], a + size - width, width);
	memcpy(&last[1], b + size - width, width);
	return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
}

static inline bool same_bytes(const char *a, const char *b, unsigned size)
{
	if (size >= 8 && size <= 16)
		return same_ends(a, b, size, 8);
	if (size >= 4 && size < 8)
		return same_ends(a, b, size, 4);
	return memcmp(a, b, size) == 0;
}

__attribute__((noinline)) static uint8_t look_up(const struct name *names,
						 size_t count, const char *text,
						 uint8_t otherwise,
						 uint64_t *slot)
{
	for (size_t i = 0; i < count; i++) {
		if (strncmp(text, names[i].text, names[i].size) != 0)
			continue;
		ncs_store_relaxed(slot,
				  (uint64_t)(uintptr_t)text << 8 | (i + 1));
		return (uint8_t)i;
	}
	return otherwise;
}

static inline uint8_t find_name(const struct name *names, size_t count,
				const char *text, uint8_t otherwise)
{
	uint64_t address = (uint64_t)(uintptr_t)text << 8;
	uint64_t *slot = &cache[(address >> 8 ^ address >> 14) % CACHE_SIZE];
	uint64_t cached = ncs_load_relaxed(slot);
	size_t index = (cached & 0xff) - 1;

	if (!text)
		return otherwise;
	if (cached - address == index + 1 && index < count &&
	    same_bytes(text, names[index].text, names[index].size))
		return (uint8_t)index;
	return look_up(names, count, text, otherwise, slot);
}

static uint8_t find_number(const struct name *names, size_t count,
			   unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].number >= 0 && (unsigned)names[i].number == number)
			return (uint8_t)i;
	return 0;
}

/* Returns `width` bytes: 2, 4 or 8. */
static inline uint64_t name_bytes(const char *text, unsigned width)
{
	uint64_t word = 0;

	if (width == 8)
		memcpy(&word, text, 8);
	else if (width == 4)
		memcpy(&word, text, 4);
	else
		memcpy(&word, text, 2);
	return word;
}

/* Keeps a name that was found, unless it has more bytes than are compared. */
static void keep(struct ncs_known_name *known, const char *text,
		 const struct name *name, uint8_t number)
{
	unsigned width = name->size >= 8 ? 8 : name->size >= 4 ? 4 : 2;

	if (name->size < width || name->size > 2 * width)
		return;
	*known = (struct ncs_known_name){
		.text = text,
		.first = name_bytes(name->text, width),
		.last = name_bytes(name->text + name->size - width, width),
		.size = name->size,
		.width = (uint8_t)width,
		.number = number,
	};
}

/* The names of a kind. */
struct name_table {
	const struct name *names;
	size_t count;
	uint8_t otherwise;
};

static struct name_table names_of(enum ncs_name_kind kind)
{
	switch (kind) {
	case NCS_NAME_FUNCTION:
		return (struct name_table){ functions, COUNT(functions),
				       NCS_FUNCTION_OTHER };
	case NCS_NAME_DATATYPE:
		return (struct name_table){ datatypes, COUNT(datatypes),
				       NCS_DATATYPE_UNKNOWN };
	case NCS_NAME_ALGORITHM:
		return (struct name_table){ algorithms, COUNT(algorithms),
				       NCS_ALGORITHM_UNKNOWN };
	default:
		return (struct name_table){ protocols, COUNT(protocols),
				       NCS_PROTOCOL_UNKNOWN };
	}
}

__attribute__((noinline)) static uint8_t find(enum ncs_name_kind kind,
					      struct ncs_known_names *known,
					      const char *text)
{
	struct name_table of = names_of(kind);
	uint8_t number = find_name(of.names, of.count, text, of.otherwise);

	if (known && number != of.otherwise)
		keep(&known->of[kind], text, &of.names[number], number);
	return number;
}

uint8_t ncs_name_number(enum ncs_name_kind kind, struct ncs_known_names *known,
			const char *text)
{
	const struct ncs_known_name *name = known ? &known->of[kind] : NULL;

	/* The bytes are compared, though NCCL passes literals. */
	if (name && text && text == name->text &&
	    name_bytes(text, name->width) == name->first &&
	    name_bytes(text + name->size - name->width, name->width) ==
		    name->last)
		return name->number;
	return find(kind, known, text);
}

uint8_t ncs_function_from_number(unsigned number)
{
	/* The numbers of ncclFunc_t in NCCL 2.23, the only release that passes
	 * numbers. */
	static const uint8_t by_number[] = {
		NCS_FUNCTION_BROADCAST,  NCS_FUNCTION_REDUCE,
		NCS_FUNCTION_ALL_GATHER, NCS_FUNCTION_REDUCE_SCATTER,
		NCS_FUNCTION_ALL_REDUCE, NCS_FUNCTION_SEND_RECV,
		NCS_FUNCTION_SEND,       NCS_FUNCTION_RECV,
	};

	return number < COUNT(by_number) ? by_number[number] :
					   (uint8_t)NCS_FUNCTION_OTHER;
}

uint8_t ncs_datatype_from_number(unsigned number)
{
	return find_number(datatypes, COUNT(datatypes), number);
}

uint8_t ncs_algorithm_from_number(unsigned number)
{
	return find_number(algorithms, COUNT(algorithms), number);
}

uint8_t ncs_protocol_from_number(unsigned number)
{
	return find_number(protocols, COUNT(protocols), number);
}
