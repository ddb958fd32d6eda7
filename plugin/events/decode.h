/* SPDX-License-Identifier: MIT */
/* Decoding NCCL's descriptors, for all versions of the API.
 *
 * `body` is the descriptor's union (24 bytes into the descriptor), laid out as
 * in `api_version`. No state; the functions read the descriptor and the strings
 * and data that it points to. Called by callbacks on any thread.
 */
#ifndef NCS_PLUGIN_EVENTS_DECODE_H
#define NCS_PLUGIN_EVENTS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/nccl_abi.h"
#include "plugin/state/decoded.h"

/* Returns the version of the API that introduced an event type. Four bits of a
 * word are a type's: a table would be a cache line more. */
static inline unsigned ncs_event_api(enum ncs_event event)
{
#define X(ID, name, bit, api, help) | (uint64_t)(api) << 4 * NCS_EVENT_##ID
	const uint64_t versions = 0 NCS_EVENTS(X);
#undef X

	return versions >> 4 * (unsigned)event & 15;
}

static_assert(NCS_EVENT_COUNT <= 16, "each event type has its four bits");

/* Decode a Coll and a P2p event. `comm` is set for API 1-3 only. `names` are
 * those of the thread's latest call, or NULL. */
void ncs_decode_coll(unsigned api_version, const void *body,
		     struct ncs_known_names *names,
		     struct ncs_operation_facts *facts,
		     struct ncs_decoded_comm *comm);
void ncs_decode_p2p(unsigned api_version, const void *body,
		    struct ncs_known_names *names,
		    struct ncs_operation_facts *facts,
		    struct ncs_decoded_comm *comm);

/* Decodes a CollApi or P2pApi event; `names` as above. */
void ncs_decode_api_call(enum ncs_event event, const void *body,
			 struct ncs_known_names *names,
			 struct ncs_decoded_call *call);

/* Decode a KernelCh and a KernelPhase event. Times are by the GPU's clock in
 * ns, 0 if unknown. */
void ncs_decode_kernel(unsigned api_version, const void *body, uint8_t *channel,
		       uint64_t *gpu_start_ns);
void ncs_decode_phase(const void *body, uint8_t *channel, uint64_t *phase,
		      uint64_t *gpu_start_ns);

/* Decodes a NetPlugin event. Reads only data of network plugins that it knows;
 * *bytes is 0 for others. */
void ncs_decode_net(const void *body, uint64_t *plugin_id, uint64_t *bytes);

/* Decodes a GroupApi event into its record. */
static inline void ncs_decode_group_api(const void *body,
					struct ncs_record *record)
{
	const struct nccl_group_api *group = body;

	record->number = (uint64_t)(unsigned)group->depth;
	record->flags = group->graph_captured ? NCS_RECORD_GRAPH : 0;
}

/* Decodes a CeColl event, but for its number and range. Returns its CUDA stream. */
void *ncs_decode_ce_coll(const void *body, struct ncs_operation_facts *facts);

/* Decodes a CeColl, CeSync or CeBatch event of a communicator with so many ranks into its
 * record; does nothing for other events. */
void ncs_decode_span(int32_t nranks, enum ncs_event event, const void *body,
		     struct ncs_record *record);

/* Returns the CUDA stream of a KernelLaunch. */
static inline void *ncs_decode_launch_stream(const void *body)
{
	const struct nccl_kernel_launch *launch = body;

	return launch->stream;
}

#endif
