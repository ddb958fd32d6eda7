/* SPDX-License-Identifier: MIT */
/* The tables of calls; see noted_calls.h. */
#include "plugin/state/noted_calls.h"

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"
#include "shm/hash.h"
#include "shm/atomics.h"

/* A noted call. Two threads may store their calls here at the same time and
 * leave one word of each; the hashes in `key` make such a pair match no
 * call. */
struct call_place {
	/* range | CAPTURED_BIT | handle's hash, xor stream's hash; 0 if
	 * free */
	uint64_t key;
	uint64_t stream;
};

/* Slot s in its n-th use is noted at place s * PLACES_APART + n, so that
 * neither the calls of one group, which take several slots, nor single calls,
 * which reuse one slot, replace each other soon. */
#define PLACES 2048u
#define PLACES_APART (PLACES / NCS_SPAN_MAX)
#define CAPTURED 16384u
#define CAPTURED_PROBE 8u

#define CAPTURED_BIT (NCS_CALL_RANGE_MAX + 1)
#define CALL_BITS (NCS_CALL_RANGE_MAX | CAPTURED_BIT)

static struct call_place calls[NCS_COMM_MAX][NCS_LANE_MAX][PLACES];
static struct call_place captured_calls[CAPTURED];

static struct call_place *place_of(uint64_t value)
{
	struct ncs_handle handle = ncs_handle_decode(value);
	uint64_t number = handle.slot * PLACES_APART + handle.tag / 2;

	return &calls[handle.comm % NCS_COMM_MAX][handle.lane % NCS_LANE_MAX]
		     [number % PLACES];
}

static void note(struct call_place *place, uint64_t handle,
		 const struct ncs_noted_call *call)
{
	uint64_t key = (ncs_hash(handle) & ~CALL_BITS) | call->range |
		       (call->captured ? CAPTURED_BIT : 0);

	ncs_store_relaxed(&place->stream, call->stream);
	ncs_store_relaxed(&place->key, key ^ ncs_hash(call->stream));
}

static bool is_noted(const struct call_place *place, uint64_t handle,
		     struct ncs_noted_call *call)
{
	uint64_t stream = ncs_load_relaxed(&place->stream);
	uint64_t key = ncs_load_relaxed(&place->key) ^ ncs_hash(stream);

	if ((key ^ ncs_hash(handle)) & ~CALL_BITS)
		return false;
	call->range = (uint32_t)(key & NCS_CALL_RANGE_MAX);
	call->stream = stream;
	call->captured = (key & CAPTURED_BIT) != 0;
	return true;
}

/* Returns the i-th place where a captured call may be noted. */
static struct call_place *captured_place(uint64_t handle, unsigned i)
{
	return &captured_calls[(ncs_hash(handle) + i) % CAPTURED];
}

static void note_captured(uint64_t handle, const struct ncs_noted_call *call)
{
	struct call_place *place = captured_place(handle, 0);

	for (unsigned i = 0; i < CAPTURED_PROBE; i++) {
		struct call_place *next = captured_place(handle, i);

		if (ncs_load_relaxed(&next->key) == 0) {
			place = next;
			break;
		}
	}
	note(place, handle, call);
}

void ncs_call_note(uint64_t handle, const struct ncs_noted_call *call)
{
	if (!ncs_handle_is(handle, NCS_HANDLE_SPAN))
		return;
	note(place_of(handle), handle, call);
	if (call->captured)
		note_captured(handle, call);
}

bool ncs_call_find(uint64_t handle, struct ncs_noted_call *call)
{
	*call = (struct ncs_noted_call){ 0 };
	if (!ncs_handle_is(handle, NCS_HANDLE_SPAN))
		return false;
	if (is_noted(place_of(handle), handle, call))
		return true;
	for (unsigned i = 0; i < CAPTURED_PROBE; i++)
		if (is_noted(captured_place(handle, i), handle, call))
			return true;
	return false;
}
