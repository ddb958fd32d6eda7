/* SPDX-License-Identifier: MIT */
/* Names of functions, data types, algorithms and protocols: from NCCL's strings
 * (numbers, in API 1) to the numbers of include/ncclstat/names.h.
 *
 * Called by callbacks on any thread: no lock, no allocation. The only state is
 * a cache of the strings' addresses, and what a thread knows of its latest
 * call's. An unknown or NULL name yields OTHER or UNKNOWN, which are 0.
 */
#ifndef NCS_PLUGIN_NCCL_NCCL_NAMES_H
#define NCS_PLUGIN_NCCL_NCCL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/names.h"

enum ncs_name_kind {
	NCS_NAME_FUNCTION,
	NCS_NAME_DATATYPE,
	NCS_NAME_ALGORITHM,
	NCS_NAME_PROTOCOL,
	NCS_NAME_KINDS
};

/* A string of NCCL's whose number is known. The first and the last `width` bytes
 * of its name cover all of it. */
struct ncs_known_name {
	const char *text; /* NCCL's; NULL if there is none */
	uint64_t first, last;
	uint8_t size; /* in bytes, with the terminating 0 */
	uint8_t width;
	uint8_t number;
};

/* The strings of a thread's latest call: two cache lines, where the cache and the
 * tables of names take up to eight. Only one thread may use them. */
struct ncs_known_names {
	struct ncs_known_name of[NCS_NAME_KINDS];
};

/* Returns our number for NCCL's string. `known` may be NULL; else it is quick for
 * the thread's latest string of this kind, and becomes that. */
uint8_t ncs_name_number(enum ncs_name_kind kind, struct ncs_known_names *known,
			const char *text);

/* Return our number for NCCL's own number in API 1. */
uint8_t ncs_function_from_number(unsigned number);
uint8_t ncs_datatype_from_number(unsigned number);
uint8_t ncs_algorithm_from_number(unsigned number);
uint8_t ncs_protocol_from_number(unsigned number);

/* Empties the cache. Call it before each communicator is initialised: NCCL may
 * have been unloaded and loaded again since, which leaves other strings, or
 * none, at the cached addresses. */
void ncs_names_forget(void);

/* Returns the number of bytes of one element; 1 for an unknown data type. Four
 * bits of a word are a data type's, so that no table is read. */
static inline unsigned ncs_datatype_bytes(uint8_t datatype)
{
#define X(ID, name, number, bytes) \
	| (uint64_t)(bytes) << 4 * (unsigned)NCS_DATATYPE_##ID
	const uint64_t bytes = 0 NCS_DATATYPES(X);
#undef X

	return datatype < NCS_DATATYPE_COUNT ? bytes >> 4 * datatype & 15 : 1;
}

/* Returns nonzero if the message size, as nccl-tests counts it, is count times
 * element size times number of ranks. */
static inline int ncs_function_size_has_ranks(uint8_t function)
{
	enum { ONE, RANKS };
#define X(ID, name, size, numerator, denominator) \
	| (unsigned)(size) << (unsigned)NCS_FUNCTION_##ID
	const unsigned has_ranks = 0 NCS_FUNCTIONS(X);
#undef X

	return function < NCS_FUNCTION_COUNT && has_ranks >> function & 1;
}

#endif
