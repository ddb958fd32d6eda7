/* SPDX-License-Identifier: MIT */
/* Hashes of 64-bit words. Every bit of the result depends on every bit of the
 * arguments; results are the same in all processes and on all machines. Pure.
 *
 * The values must never change: by them, ranks choose the same operations for
 * sampling, even with different releases of the plugin.
 */
#ifndef NCS_SHM_HASH_H
#define NCS_SHM_HASH_H

#include <stdint.h>

/* The finaliser of splitmix64, a bijection. */
static inline uint64_t ncs_hash(uint64_t word)
{
	word += UINT64_C(0x9e3779b97f4a7c15);
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* Adds a word to a hash. Keys of several words are hashed by adding these in
 * order. */
static inline uint64_t ncs_hash_add(uint64_t hash, uint64_t word)
{
	return ncs_hash(hash ^ word);
}

#endif
