/* SPDX-License-Identifier: MIT */
/* Size classes of messages: one for each power of two of bytes, as nccl-tests
 * counts them.
 *
 * Part of the shared-memory ABI: the plugin counts operations by size class,
 * and readers name a class by its least size. All functions are pure.
 */
#ifndef NCCLSTAT_SIZE_CLASS_H
#define NCCLSTAT_SIZE_CLASS_H

#include <stdint.h>

#define NCS_SIZE_CLASS_UNKNOWN 0u /* size unknown */
#define NCS_SIZE_CLASS_EMPTY 1u   /* no bytes */
#define NCS_SIZE_CLASS_COUNT 66u

/* Returns the class of a size. */
static inline unsigned ncs_size_class(uint64_t bytes)
{
	return bytes == 0 ? NCS_SIZE_CLASS_EMPTY :
			    65u - (unsigned)__builtin_clzll(bytes);
}

/* Returns the least size of a class, in bytes; 0 if the size is unknown.
 * `size_class` is below NCS_SIZE_CLASS_COUNT. */
static inline uint64_t ncs_size_class_low(unsigned size_class)
{
	return size_class <= NCS_SIZE_CLASS_EMPTY ?
		       0 :
		       UINT64_C(1) << (size_class - 2);
}

#endif
