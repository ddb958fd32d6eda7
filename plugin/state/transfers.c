/* SPDX-License-Identifier: MIT */
/* The counts of connections; see transfers.h. */
#include "plugin/state/transfers.h"

#include <string.h>

#include "shm/hash.h"

/* Number of places that are searched for a connection. */
#define PROBE_MAX 32u

/* The least number of places. */
#define PLACES_LEAST 64u

static uint64_t key_of(int32_t peer, bool send, bool captured)
{
	return UINT64_C(1) << 63 | (uint64_t)(uint32_t)peer << 2 |
	       (uint64_t)captured << 1 | (uint64_t)send;
}

void ncs_transfers_reset(struct ncs_comm *comm, int32_t nranks)
{
	uint64_t places = PLACES_LEAST;

	/* Places that no communicator has used stay untouched. */
	memset(comm->transfers, 0,
	       comm->transfer_places * sizeof(*comm->transfers));
	while (places < NCS_TRANSFER_PLACES &&
	       (nranks <= 0 || places < 4 * (uint64_t)nranks))
		places *= 2;
	comm->transfer_places = places;
	comm->transfers_missed = 0;
}

uint64_t ncs_transfers_count(struct ncs_comm *comm, int32_t peer, bool send,
			     bool captured)
{
	uint64_t key = key_of(peer, send, captured);
	uint64_t mask = comm->transfer_places - 1;
	uint64_t hash = ncs_hash(key);

	for (unsigned i = 0; i < PROBE_MAX; i++) {
		struct ncs_transfer_place *place =
			&comm->transfers[(hash + i) & mask];
		uint64_t found = ncs_load_relaxed(&place->key);

		if (found == 0 && !ncs_cas_relaxed(&place->key, 0, key))
			found = ncs_load_relaxed(&place->key);
		if (found == 0 || found == key)
			return ncs_add_relaxed(&place->count, 1);
	}
	return NCS_NO_SEQUENCE_NUMBER;
}
