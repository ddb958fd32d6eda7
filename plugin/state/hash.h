/* A hash of one word: every bit of the result depends on every bit of it, the
 * same in every process and on every machine. A bijection: the finaliser of
 * splitmix64. Pure. */
#ifndef NCS_PLUGIN_STATE_HASH_H
#define NCS_PLUGIN_STATE_HASH_H

#include <stdint.h>

static inline uint64_t ncs_hash(uint64_t word)
{
	word += UINT64_C(0x9e3779b97f4a7c15);
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

#endif
