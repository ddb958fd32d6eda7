/* SPDX-License-Identifier: MIT */
/* Atomic access to words of shared memory, with the order in the name.
 *
 * The only place that names memory_order_*: the ABI's blocks are plain integers
 * (other languages and C++ read them), cast to _Atomic here at each access.
 * Words of 8 and 4 bytes only, which are lock-free and address-free on the
 * machines we build for, so that they work across processes and on a read-only
 * mapping. It has no policy: callers say which operations pair, in ORDER
 * comments that test/check_order.sh checks.
 */
#ifndef NCS_SHM_ATOMICS_H
#define NCS_SHM_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "ncclstat's shared memory is defined for x86-64 and aarch64"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ncclstat's shared memory is little-endian"
#endif

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
	       "lock-free words");
_Static_assert(sizeof(_Atomic uint64_t) == 8 && _Alignof(_Atomic uint64_t) == 8,
	       "an atomic word looks like a plain one");

#define NCS_CACHE_LINE 64

/* Readers have const mappings, but C11 as published requires a non-const
 * operand even for atomic loads. */
#define NCS_ATOMIC64(word) ((_Atomic uint64_t *)(uintptr_t)(word))
#define NCS_ATOMIC32(word) ((_Atomic uint32_t *)(uintptr_t)(word))

/* Loads a word, relaxed. */
static inline uint64_t ncs_load_relaxed(const uint64_t *word)
{
	return atomic_load_explicit(NCS_ATOMIC64(word), memory_order_relaxed);
}

/* Loads a word, with acquire. */
static inline uint64_t ncs_load_acquire(const uint64_t *word)
{
	return atomic_load_explicit(NCS_ATOMIC64(word), memory_order_acquire);
}

/* Loads a word of 32 bits, with acquire. */
static inline uint32_t ncs_load_acquire32(const uint32_t *word)
{
	return atomic_load_explicit(NCS_ATOMIC32(word), memory_order_acquire);
}

/* Loads a word of 32 bits, relaxed. */
static inline uint32_t ncs_load_relaxed32(const uint32_t *word)
{
	return atomic_load_explicit(NCS_ATOMIC32(word), memory_order_relaxed);
}

/* Stores a word, relaxed. */
static inline void ncs_store_relaxed(uint64_t *word, uint64_t value)
{
	atomic_store_explicit(NCS_ATOMIC64(word), value, memory_order_relaxed);
}

/* Stores a word of 32 bits, relaxed. */
static inline void ncs_store_relaxed32(uint32_t *word, uint32_t value)
{
	atomic_store_explicit(NCS_ATOMIC32(word), value, memory_order_relaxed);
}

/* Stores a word, with release. */
static inline void ncs_store_release(uint64_t *word, uint64_t value)
{
	atomic_store_explicit(NCS_ATOMIC64(word), value, memory_order_release);
}

/* Stores a word of 32 bits, with release. */
static inline void ncs_store_release32(uint32_t *word, uint32_t value)
{
	atomic_store_explicit(NCS_ATOMIC32(word), value, memory_order_release);
}

/* Copies `bytes` bytes, a multiple of 8, of words that are valid each by
 * itself. `copy` need not be aligned. */
static inline void ncs_load_words(void *copy, const void *words, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
		uint64_t word =
			ncs_load_relaxed((const uint64_t *)words + i / 8);

		memcpy((char *)copy + i, &word, sizeof(word));
	}
}

/* Adds, and returns the previous value. */
static inline uint64_t ncs_add_relaxed(uint64_t *word, uint64_t addend)
{
	return atomic_fetch_add_explicit(NCS_ATOMIC64(word), addend,
					 memory_order_relaxed);
}

/* Adds, and returns the previous value. */
static inline uint64_t ncs_add_acquire_release(uint64_t *word, uint64_t addend)
{
	return atomic_fetch_add_explicit(NCS_ATOMIC64(word), addend,
					 memory_order_acq_rel);
}

/* Stores `value`, and returns the previous value. */
static inline uint64_t ncs_exchange_acquire_release(uint64_t *word,
						    uint64_t value)
{
	return atomic_exchange_explicit(NCS_ATOMIC64(word), value,
					memory_order_acq_rel);
}

/* Replaces `expected` by `value`. Returns false, and stores nothing, if the
 * word has another value. */
static inline bool ncs_cas_acquire_release(uint64_t *word, uint64_t expected,
					   uint64_t value)
{
	return atomic_compare_exchange_strong_explicit(
		NCS_ATOMIC64(word), &expected, value, memory_order_acq_rel,
		memory_order_relaxed);
}

/* Does what ncs_cas_acquire_release() does, relaxed. */
static inline bool ncs_cas_relaxed(uint64_t *word, uint64_t expected,
				   uint64_t value)
{
	return atomic_compare_exchange_strong_explicit(
		NCS_ATOMIC64(word), &expected, value, memory_order_relaxed,
		memory_order_relaxed);
}

/* Does what ncs_cas_relaxed() does, for a word of 32 bits. */
static inline bool ncs_cas_relaxed32(uint32_t *word, uint32_t expected,
				     uint32_t value)
{
	return atomic_compare_exchange_strong_explicit(
		NCS_ATOMIC32(word), &expected, value, memory_order_relaxed,
		memory_order_relaxed);
}

/* ThreadSanitizer does not support fences. Its build (NCS_TSAN) leaves them out
 * and orders each payload word instead: the same algorithm, slower on Arm only
 * (test/model/ring_model.py checks both forms). */
#ifdef NCS_TSAN
#define NCS_PAYLOAD_STORE memory_order_release
#define NCS_PAYLOAD_LOAD memory_order_acquire
static inline void ncs_fence_release(void)
{
}
static inline void ncs_fence_acquire(void)
{
}
#else
#define NCS_PAYLOAD_STORE memory_order_relaxed
#define NCS_PAYLOAD_LOAD memory_order_relaxed
static inline void ncs_fence_release(void)
{
	atomic_thread_fence(memory_order_release);
}
static inline void ncs_fence_acquire(void)
{
	atomic_thread_fence(memory_order_acquire);
}
#endif

/* Stores a payload word: one that a sequence, position or number protects.
 * Fences order payload words, so their own accesses are relaxed. */
static inline void ncs_payload_store(uint64_t *word, uint64_t value)
{
	atomic_store_explicit(NCS_ATOMIC64(word), value, NCS_PAYLOAD_STORE);
}

/* Loads a payload word. */
static inline uint64_t ncs_payload_load(const uint64_t *word)
{
	return atomic_load_explicit(NCS_ATOMIC64(word), NCS_PAYLOAD_LOAD);
}

#endif
