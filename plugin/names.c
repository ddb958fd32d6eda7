/* Lookups of names; see names.h. Called by callbacks. */
#include "plugin/names.h"

#include <stddef.h>

#include "shm/atomics.h"

struct name {
	const char *text;
	int number; /* in API 1; -1: none */
};

static const struct name functions[] = {
#define X(ID, name, size, numerator, denominator) { name, -1 },
	NCS_FUNCTIONS(X)
#undef X
};

static const struct name datatypes[] = {
#define X(ID, name, number, bytes) { name, number },
	NCS_DATATYPES(X)
#undef X
};

static const struct name algorithms[] = {
#define X(ID, name, number) { name, number },
	NCS_ALGORITHMS(X)
#undef X
};

static const struct name protocols[] = {
#define X(ID, name, number) { name, number },
	NCS_PROTOCOLS(X)
#undef X
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Strings that were looked up lately, by address. NCCL passes literals, so
 * nearly every lookup is a hit; the text is compared all the same, since the
 * address may be another string's after NCCL was unloaded and loaded again. */
#define CACHE_SIZE 64u

static uint64_t cache[CACHE_SIZE]; /* address << 8 | index + 1 */

static int same_text(const char *a, const char *b)
{
	while (*a == *b && *a)
		a++, b++;
	return *a == *b;
}

static uint8_t find_name(const struct name *names, size_t count,
			 const char *text, uint8_t otherwise)
{
	uint64_t address = (uint64_t)(uintptr_t)text;
	uint64_t *slot = &cache[(address ^ address >> 6) % CACHE_SIZE];
	uint64_t cached = ncs_load_relaxed(slot);
	size_t index = (cached & 0xff) - 1;

	if (!text)
		return otherwise;
	if (cached >> 8 == (address & UINT64_MAX >> 8) && index < count &&
	    same_text(names[index].text, text))
		return (uint8_t)index;
	for (size_t i = 0; i < count; i++) {
		if (!same_text(names[i].text, text))
			continue;
		ncs_store_relaxed(slot, address << 8 | (i + 1));
		return (uint8_t)i;
	}
	return otherwise;
}

static uint8_t find_number(const struct name *names, size_t count,
			   unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].number >= 0 && (unsigned)names[i].number == number)
			return (uint8_t)i;
	return 0;
}

uint8_t ncs_function_from_name(const char *name)
{
	return find_name(functions, COUNT(functions), name,
			 NCS_FUNCTION_OTHER);
}

uint8_t ncs_function_from_number(unsigned number)
{
	/* NCCL 2.23's ncclFunc_t, the only release that passes numbers. */
	static const uint8_t by_number[] = {
		NCS_FUNCTION_BROADCAST,	 NCS_FUNCTION_REDUCE,
		NCS_FUNCTION_ALL_GATHER, NCS_FUNCTION_REDUCE_SCATTER,
		NCS_FUNCTION_ALL_REDUCE, NCS_FUNCTION_SEND_RECV,
		NCS_FUNCTION_SEND,	 NCS_FUNCTION_RECV,
	};

	return number < COUNT(by_number) ? by_number[number] :
					   (uint8_t)NCS_FUNCTION_OTHER;
}

uint8_t ncs_datatype_from_name(const char *name)
{
	return find_name(datatypes, COUNT(datatypes), name,
			 NCS_DATATYPE_UNKNOWN);
}

uint8_t ncs_datatype_from_number(unsigned number)
{
	return find_number(datatypes, COUNT(datatypes), number);
}

uint8_t ncs_algorithm_from_name(const char *name)
{
	return find_name(algorithms, COUNT(algorithms), name,
			 NCS_ALGORITHM_UNKNOWN);
}

uint8_t ncs_algorithm_from_number(unsigned number)
{
	return find_number(algorithms, COUNT(algorithms), number);
}

uint8_t ncs_protocol_from_name(const char *name)
{
	return find_name(protocols, COUNT(protocols), name,
			 NCS_PROTOCOL_UNKNOWN);
}

uint8_t ncs_protocol_from_number(unsigned number)
{
	return find_number(protocols, COUNT(protocols), number);
}

unsigned ncs_datatype_bytes(uint8_t datatype)
{
	static const uint8_t bytes[] = {
#define X(ID, name, number, bytes) bytes,
		NCS_DATATYPES(X)
#undef X
	};

	return datatype < COUNT(bytes) ? bytes[datatype] : 1;
}

int ncs_function_size_has_ranks(uint8_t function)
{
	enum { ONE, RANKS };
	static const uint8_t size[] = {
#define X(ID, name, size, numerator, denominator) size,
		NCS_FUNCTIONS(X)
#undef X
	};

	return function < COUNT(size) && size[function] == RANKS;
}
