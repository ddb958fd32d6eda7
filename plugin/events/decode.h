/* SPDX-License-Identifier: MIT */
/* From NCCL's descriptors to our terms, for all versions of the API.
 *
 * Pure but for the strings that descriptors point to. `body` is the
 * descriptor's union (24 bytes into it), laid out as the version says.
 */
#ifndef NCS_PLUGIN_EVENTS_DECODE_H
#define NCS_PLUGIN_EVENTS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/decoded.h"

void ncs_decode_coll(unsigned api_version, const void *body,
		     struct ncs_operation_facts *facts,
		     struct ncs_decoded_comm *comm);
void ncs_decode_p2p(unsigned api_version, const void *body,
		    struct ncs_operation_facts *facts,
		    struct ncs_decoded_comm *comm);
void ncs_decode_api_call(enum ncs_event event, const void *body,
			 struct ncs_decoded_call *call);
void ncs_decode_kernel(unsigned api_version, const void *body, uint8_t *channel,
		       uint64_t *gpu_start_ns);
void ncs_decode_phase(const void *body, uint8_t *channel, uint64_t *phase,
		      uint64_t *gpu_start_ns);
void ncs_decode_net(const void *body, uint64_t *plugin_id, uint64_t *bytes);

/* GroupApi, KernelLaunch, CeColl, CeSync, CeBatch; nothing for the others. */
void ncs_decode_span(const struct ncs_comm *comm, enum ncs_event event,
		     const void *body, struct ncs_record *record);

#endif
