/* SPDX-License-Identifier: MIT */
/* The tables of pairs; see handle_pairs.h. */
#include "plugin/chain/handle_pairs.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "plugin/state/handle.h"
#include "shm/atomics.h"

/* A place for a pair. Its tag:
 *   bits 8-58  number of the pair
 *   bits 0- 7  how many times the search for a place still skips it: 0 if the
 *              event has ended; BUSY while the pair is being written */
struct pair_place {
	uint64_t tag;
	struct ncs_pair pair;
};

#define BUSY 0xffu

static uint64_t number_of(uint64_t tag)
{
	return tag >> 8;
}

static unsigned passes_of(uint64_t tag)
{
	return (unsigned)(tag & 0xff);
}

/* Some events are never stopped (those of copy engines), so the place of an
 * open pair is not kept for ever: if many are open, the search skips it
 * `passes` times. Control events are always stopped, and may last as long as
 * their thread sleeps. The place of a captured call is skipped if the call was
 * looked up since the last time. */
#define FOR_EVER 0xfeu

static const struct {
	uint32_t count; /* a power of two */
	uint32_t passes;
} classes[NCS_PAIR_CLASS_COUNT] = {
	[NCS_PAIR_CALL] = { 1u << 16, 15 },
	[NCS_PAIR_CHILD] = { 1u << 16, 15 },
	[NCS_PAIR_STEP] = { 1u << 14, 15 },
	[NCS_PAIR_CTRL] = { 1u << 10, FOR_EVER },
	[NCS_PAIR_CAPTURED] = { 1u << 15, 1 },
	[NCS_PAIR_CONTEXT] = { 1u << 10, FOR_EVER },
};

/* Number of places to try. Odd, so that if all are open the search reaches all
 * of them. The first TRIES_WITHOUT_NEED tries leave open pairs alone. */
#define TRIES 61u
#define TRIES_WITHOUT_NEED 8u

#define NUMBER_BITS 51
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

static struct pair_place *places[NCS_PAIR_CLASS_COUNT];

/* The next pair's number, by class; on cache lines of their own, since
 * different threads write them at every start of an event. */
static struct {
	_Alignas(NCS_CACHE_LINE) uint64_t number;
} next[NCS_PAIR_CLASS_COUNT];

/* --- making --------------------------------------------------------------- */

static void begin_numbers(uint64_t cookie)
{
	for (unsigned i = 0; i < NCS_PAIR_CLASS_COUNT; i++)
		next[i].number = ((cookie << 11) + 1) & NUMBER_MASK;
}

int ncs_pairs_make(uint64_t cookie)
{
	size_t bytes = 0;
	char *memory;

	for (unsigned i = 0; i < NCS_PAIR_CLASS_COUNT; i++)
		bytes += classes[i].count * sizeof(struct pair_place);
	/* Populated now, so that no callback causes a page fault. */
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	for (unsigned i = 0; i < NCS_PAIR_CLASS_COUNT; i++) {
		places[i] = (struct pair_place *)memory;
		memory += classes[i].count * sizeof(struct pair_place);
	}
	begin_numbers(cookie);
	return 0;
}

void ncs_pairs_forget(uint64_t cookie)
{
	struct pair_place *contexts = places[NCS_PAIR_CONTEXT];

	if (!contexts)
		return;
	for (uint32_t i = 0; i < classes[NCS_PAIR_CONTEXT].count; i++)
		contexts[i].tag = 0;
	begin_numbers(cookie);
}

/* --- handles -------------------------------------------------------------- */

/* Makes a pair's handle. Its communicator is that of our own handle, so that a
 * handle which comes back too late can be counted there. */
static uint64_t encode(enum ncs_pair_class class, uint64_t number,
		       uint64_t ours)
{
	return (uint64_t)NCS_HANDLE_PAIR | (ours & 0x3f0) |
	       (uint64_t) class << 10 | number << 13;
}

static enum ncs_pair_class class_of(uint64_t handle)
{
	return (enum ncs_pair_class)(handle >> 10 & 7);
}

static struct pair_place *place_of(enum ncs_pair_class class, uint64_t number)
{
	return &places[class][number & (classes[class].count - 1)];
}

bool ncs_pairs_is_handle(uint64_t value)
{
	return (value & 0xf) == NCS_HANDLE_PAIR &&
	       class_of(value) < NCS_PAIR_CONTEXT;
}

bool ncs_pairs_is_context(uint64_t value)
{
	return (value & 0xf) == NCS_HANDLE_PAIR &&
	       class_of(value) == NCS_PAIR_CONTEXT;
}

/* --- putting and getting -------------------------------------------------- */

/* Claims a place if it is free, or if enough tries have failed. */
static bool claim(enum ncs_pair_class class, struct pair_place *place,
		  uint64_t number, unsigned tries)
{
	uint64_t tag = ncs_load_relaxed(&place->tag);
	bool pass = passes_of(tag) != 0 && tries < TRIES;

	if (passes_of(tag) == BUSY)
		return false;
	if (passes_of(tag) != 0 &&
	    (classes[class].passes == FOR_EVER || tries <= TRIES_WITHOUT_NEED))
		return false;
	/* ORDER: pairs with claim() (plugin/chain/handle_pairs.c): only one of
	 * two threads gets the place. */
	return ncs_cas_acquire_release(&place->tag, tag,
				       pass ? tag - 1 : number << 8 | BUSY) &&
	       !pass;
}

static void write_pair(struct pair_place *place, const struct ncs_pair *pair,
		       uint64_t number, uint32_t passes)
{
	/* ORDER: pairs with ncs_pairs_get() (plugin/chain/handle_pairs.c): a
	 * thread that sees a word of this pair also sees that the old pair
	 * is gone. */
	ncs_fence_release();
	ncs_payload_store(&place->pair.ours, pair->ours);
	ncs_payload_store(&place->pair.theirs, pair->theirs);
	ncs_payload_store(&place->pair.facts, pair->facts);
	/* ORDER: pairs with ncs_pairs_get() (plugin/chain/handle_pairs.c): all
	 * words are visible before the number. */
	ncs_store_release(&place->tag, number << 8 | passes);
}

uint64_t ncs_pairs_put(enum ncs_pair_class class, const struct ncs_pair *pair)
{
	unsigned tries = class == NCS_PAIR_CONTEXT ? classes[class].count :
						     TRIES;

	for (unsigned i = 1; i <= tries; i++) {
		uint64_t number = ncs_add_relaxed(&next[class].number, 1) &
				  NUMBER_MASK;
		struct pair_place *place = place_of(class, number);

		if (!claim(class, place, number, i))
			continue;
		write_pair(place, pair, number, classes[class].passes);
		return encode(class, number, pair->ours);
	}
	return 0;
}

bool ncs_pairs_get(uint64_t handle, struct ncs_pair *pair)
{
	enum ncs_pair_class class = class_of(handle);
	uint64_t tag, number = handle >> 13;
	struct pair_place *place;

	/* A place that was never used has number 0. */
	if (class >= NCS_PAIR_CLASS_COUNT || number == 0)
		return false;
	place = place_of(class, number);
	/* ORDER: pairs with write_pair() (plugin/chain/handle_pairs.c). */
	tag = ncs_load_acquire(&place->tag);
	if (number_of(tag) != number || passes_of(tag) == BUSY)
		return false;
	pair->ours = ncs_payload_load(&place->pair.ours);
	pair->theirs = ncs_payload_load(&place->pair.theirs);
	pair->facts = ncs_payload_load(&place->pair.facts);
	/* ORDER: pairs with write_pair() (plugin/chain/handle_pairs.c): the
	 * number is read again after all words. */
	ncs_fence_acquire();
	if (number_of(ncs_load_relaxed(&place->tag)) != number)
		return false;
	if (class == NCS_PAIR_CAPTURED && passes_of(tag) == 0)
		/* ORDER: pairs with claim() (plugin/chain/handle_pairs.c): a
		 * place that is being claimed stays claimed. */
		ncs_cas_acquire_release(&place->tag, tag, tag + 1);
	return true;
}

bool ncs_pairs_close(uint64_t handle)
{
	enum ncs_pair_class class = class_of(handle);
	uint64_t tag, number = handle >> 13;
	struct pair_place *place;

	if (class >= NCS_PAIR_CLASS_COUNT || class == NCS_PAIR_CAPTURED)
		return false;
	place = place_of(class, number);
	tag = ncs_load_relaxed(&place->tag);
	if (number_of(tag) != number || passes_of(tag) == BUSY ||
	    passes_of(tag) == 0)
		return false;
	/* ORDER: pairs with claim() (plugin/chain/handle_pairs.c): if claim()
	 * skips the place at the same time, the pair stays open, and its place
	 * is skipped again. */
	return ncs_cas_acquire_release(&place->tag, tag, number << 8);
}
