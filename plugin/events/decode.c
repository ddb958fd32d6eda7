/* SPDX-License-Identifier: MIT */
/* Decoding descriptors; see decode.h. */
#include "plugin/events/decode.h"

#include <stddef.h>

#include "plugin/nccl/nccl_names.h"
#include "plugin/nccl/nccl_abi.h"

static void decode_coll_v1(const struct nccl_coll_v1 *coll,
			   struct ncs_operation_facts *facts)
{
	facts->sequence_number = coll->seq_number;
	facts->count = coll->count;
	facts->function = ncs_function_from_number(coll->func);
	facts->datatype = ncs_datatype_from_number(coll->datatype);
	facts->algorithm = ncs_algorithm_from_number(coll->algorithm);
	facts->protocol = ncs_protocol_from_number(coll->protocol);
	facts->nchannels = coll->max_channels;
	facts->peer = coll->root;
}

/* Decodes the fields that have the same names in versions 2 to 7, though not
 * the same offsets. */
#define DECODE_COLL(coll, channels_field) \
	do { \
		facts->sequence_number = (coll)->seq_number; \
		facts->count = (coll)->count; \
		facts->function = ncs_name_number(NCS_NAME_FUNCTION, names, \
						  (coll)->func); \
		facts->datatype = ncs_name_number(NCS_NAME_DATATYPE, names, \
						  (coll)->datatype); \
		facts->algorithm = ncs_name_number(NCS_NAME_ALGORITHM, names, \
						   (coll)->algorithm); \
		facts->protocol = ncs_name_number(NCS_NAME_PROTOCOL, names, \
						  (coll)->protocol); \
		facts->nchannels = (coll)->channels_field; \
		facts->peer = (coll)->root; \
	} while (0)

#define DECODE_COMM(body) \
	do { \
		comm->id = (body)->comm_hash; \
		comm->name = (body)->comm_name; \
	} while (0)

__attribute__((noinline)) static void
decode_early_coll(unsigned api_version, const void *body,
		  struct ncs_known_names *names,
		  struct ncs_operation_facts *facts,
		  struct ncs_decoded_comm *comm)
{
	const struct nccl_coll_v1 *v1 = body;
	const struct nccl_coll_v2 *v2 = body;
	const struct nccl_coll_v3 *v3 = body;

	switch (api_version) {
	case 1:
		decode_coll_v1(v1, facts);
		DECODE_COMM(v1);
		break;
	case 2:
		DECODE_COLL(v2, max_channels);
		DECODE_COMM(v2);
		break;
	default:
		DECODE_COLL(v3, max_channels);
		DECODE_COMM(v3);
		break;
	}
}

void ncs_decode_coll(unsigned api_version, const void *body,
		     struct ncs_known_names *names,
		     struct ncs_operation_facts *facts,
		     struct ncs_decoded_comm *comm)
{
	const struct nccl_coll_v4 *v4 = body;

	if (__builtin_expect(api_version < 4, 0)) {
		decode_early_coll(api_version, body, names, facts, comm);
		return;
	}
	DECODE_COLL(v4, channels);
	if (api_version >= 7)
		facts->user_tag = v4->user_tag;
}

#define DECODE_P2P(p2p) \
	do { \
		facts->count = (p2p)->count; \
		facts->function = ncs_name_number(NCS_NAME_FUNCTION, names, \
						  (p2p)->func); \
		facts->datatype = ncs_name_number(NCS_NAME_DATATYPE, names, \
						  (p2p)->datatype); \
		facts->peer = (p2p)->peer; \
	} while (0)

void ncs_decode_p2p(unsigned api_version, const void *body,
		    struct ncs_known_names *names,
		    struct ncs_operation_facts *facts,
		    struct ncs_decoded_comm *comm)
{
	const struct nccl_p2p_v1 *v1 = body;
	const struct nccl_p2p_v2 *v2 = body;
	const struct nccl_p2p_v4 *v4 = body;

	facts->sequence_number = NCS_NO_SEQUENCE_NUMBER;
	switch (api_version) {
	case 1:
		facts->count = v1->count;
		facts->function = ncs_function_from_number(v1->func);
		facts->datatype = ncs_datatype_from_number(v1->datatype);
		facts->peer = v1->peer;
		DECODE_COMM(v1);
		break;
	case 2:
	case 3:
		DECODE_P2P(v2);
		DECODE_COMM(v2);
		break;
	/* nChannels is not read: NCCL's wrapper for version 4 does not set
	 * it. */
	default:
		DECODE_P2P(v4);
		break;
	}
	if (api_version >= 7)
		facts->user_tag = v4->user_tag;
}

void ncs_decode_api_call(enum ncs_event event, const void *body,
			 struct ncs_known_names *names,
			 struct ncs_decoded_call *call)
{
	const struct nccl_coll_api *coll = body;
	const struct nccl_p2p_api *p2p = body;

	if (event == NCS_EVENT_COLL_API) {
		call->count = coll->count;
		call->stream = NCS_RECORD_STREAM(coll->stream);
		call->root = coll->root;
		call->function =
			ncs_name_number(NCS_NAME_FUNCTION, names, coll->func);
		call->datatype = ncs_name_number(NCS_NAME_DATATYPE, names,
						 coll->datatype);
		call->graph = coll->graph_captured != 0;
	} else {
		call->count = p2p->count;
		call->stream = NCS_RECORD_STREAM(p2p->stream);
		call->root = -1;
		call->function =
			ncs_name_number(NCS_NAME_FUNCTION, names, p2p->func);
		call->datatype = ncs_name_number(NCS_NAME_DATATYPE, names,
						 p2p->datatype);
		call->graph = p2p->graph_captured != 0;
	}
}

void ncs_decode_kernel(unsigned api_version, const void *body, uint8_t *channel,
		       uint64_t *gpu_start_ns)
{
	const struct nccl_kernel_ch_v3 *v3 = body;
	const struct nccl_kernel_ch *v4 = body;

	*channel = v3->channel;
	*gpu_start_ns = api_version >= 4 ? v4->gpu_timer_ns : 0;
}

void ncs_decode_phase(const void *body, uint8_t *channel, uint64_t *phase,
		      uint64_t *gpu_start_ns)
{
	const struct nccl_kernel_phase *facts = body;

	*channel = facts->channel;
	*phase = facts->phase;
	*gpu_start_ns = facts->gpu_timer_ns;
}

void ncs_decode_net(const void *body, uint64_t *plugin_id, uint64_t *bytes)
{
	const struct nccl_net_plugin *net = body;
	const struct nccl_net_ib_descr_v1 *ib = net->data;
	const struct nccl_net_socket_descr_v1 *socket = net->data;

	*plugin_id = (uint64_t)net->id;
	*bytes = 0;
	if (!net->data)
		return;
	if (net->id == NCCL_NET_PLUGIN_IB_V1)
		*bytes = ib->queue_pair.length_bytes;
	else if (net->id == NCCL_NET_PLUGIN_SOCKET_V1)
		*bytes = socket->socket.length_bytes;
}

void *ncs_decode_ce_coll(const void *body, struct ncs_operation_facts *facts)
{
	const struct nccl_ce_coll *coll = body;

	*facts = (struct ncs_operation_facts){
		.count = coll->count,
		.event = NCS_EVENT_COLL,
		.function = ncs_name_number(NCS_NAME_FUNCTION, NULL, coll->func),
		.datatype = ncs_name_number(NCS_NAME_DATATYPE, NULL,
					    coll->datatype),
		.peer = coll->root,
		.stream = NCS_RECORD_STREAM(coll->stream),
	};
	return coll->stream;
}

void ncs_decode_span(int32_t nranks, enum ncs_event event, const void *body,
		     struct ncs_record *record)
{
	const struct nccl_ce_coll *coll = body;
	const struct nccl_ce_sync *sync = body;
	const struct nccl_ce_batch *batch = body;
	struct ncs_operation_facts facts;

	switch ((int)event) {
	case NCS_EVENT_CE_COLL:
		ncs_decode_ce_coll(body, &facts);
		record->delta[0] = facts.stream;
		record->function = facts.function;
		record->number = coll->seq_number;
		record->peer = facts.peer;
		ncs_message_bytes(nranks, facts.function, facts.datatype,
				  facts.count, &record->value);
		break;
	case NCS_EVENT_CE_SYNC:
		record->number = (uint64_t)(unsigned)sync->nranks;
		break;
	case NCS_EVENT_CE_BATCH:
		record->number = (uint64_t)(unsigned)batch->ops;
		record->value = batch->total_bytes;
		break;
	default:
		break;
	}
}
