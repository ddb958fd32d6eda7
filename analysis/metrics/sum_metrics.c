/* SPDX-License-Identifier: MIT */
/* Metrics that are sums: by class over the ranks of the node, by peer over the
 * channels of a rank. */
#include "analysis/metrics/metric_fill.h"

#include <inttypes.h>

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "ncclstat/size_class.h"

/* --- Classes -------------------------------------------------------------- */

enum class_value { CLASS_OPERATIONS, CLASS_SECONDS, CLASS_BUS_BYTES };

/* Finds a value of a class; returns false if it is not known. */
static bool class_value(const struct ncs_rank *rank,
			const struct ncs_class_view *view,
			enum class_value which, uint64_t *value)
{
	const struct ncs_class_times *times = ncs_times_of_class(view);
	const struct ncs_identity *identity = &rank->now.identity;
	double factor;

	if (which == CLASS_OPERATIONS) {
		*value = times ? times->timed : view->operations;
		return true;
	}
	if (!times)
		return false;
	*value = times->time_ns;
	if (which == CLASS_SECONDS)
		return true;
	factor = ncs_bus_factor(view->function,
				identity->known & NCS_KNOWN_NRANKS ?
					identity->nranks :
					0);
	*value = (uint64_t)((double)times->bytes * (factor > 0 ? factor : 0));
	return factor >= 0 && ncs_class_bytes_known(rank, view);
}

static void class_size(const struct ncs_class_view *view, char *text,
		       size_t size)
{
	if (ncs_class_is_other(view))
		snprintf(text, size, "other");
	else if (view->size_class == NCS_SIZE_CLASS_UNKNOWN)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "%" PRIu64,
			 ncs_size_class_low(view->size_class));
}

static void count_class(const struct ncs_metric_input *input,
			const struct ncs_metric_rank *entry,
			const struct ncs_class_view *view, bool by_rank,
			uint64_t value)
{
	bool other = ncs_class_is_other(view);
	bool algorithm = view->algorithm != NCS_ALGORITHM_UNKNOWN && !other;
	bool protocol = view->protocol != NCS_PROTOCOL_UNKNOWN && !other;
	const char *labels[10] = { NCS_NODE_LABELS(entry) };
	size_t used = 4;
	char size[24];

	class_size(view, size, sizeof(size));
	if (by_rank)
		labels[used++] = entry->number;
	labels[used++] = ncs_function_name(view->function);
	labels[used++] = size;
	labels[used++] = algorithm ? ncs_algorithm_name(view->algorithm) : "";
	labels[used++] = protocol ? ncs_protocol_name(view->protocol) : "";
	labels[used++] = ncs_timing_name(ncs_class_timing(view));
	ncs_metric_count(input->writer, labels, entry->rank->serial, &value);
}

static void count_classes(const struct ncs_metric_input *input,
			  enum class_value which, bool by_rank)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		for (size_t i = 0; i < entry->rank->now.class_count; i++) {
			const struct ncs_class_view *view =
				&entry->rank->now.classes[i];
			uint64_t value;

			if (view->operations > 0 &&
			    class_value(entry->rank, view, which, &value))
				count_class(input, entry, view, by_rank, value);
		}
}

/* Defines a metric that sums up a value of classes, of the node or by rank. */
#define FILL_CLASSES(ID, value, by_rank) \
	NCS_METRIC_FILL(ID) \
	{ \
		count_classes(input, value, by_rank); \
	}

FILL_CLASSES(CLASS_OPERATIONS, CLASS_OPERATIONS, false)
FILL_CLASSES(CLASS_SECONDS, CLASS_SECONDS, false)
FILL_CLASSES(CLASS_BUS_BYTES, CLASS_BUS_BYTES, false)
FILL_CLASSES(RANK_CLASS_OPERATIONS, CLASS_OPERATIONS, true)
FILL_CLASSES(RANK_CLASS_SECONDS, CLASS_SECONDS, true)

/* --- Peers ---------------------------------------------------------------- */

/* Calls `count` with the name and the sum of each peer of each rank. */
static void for_peers(const struct ncs_metric_input *input,
		      void (*count)(const struct ncs_metric_input *input,
				    const struct ncs_metric_rank *entry,
				    const char *peer,
				    const struct ncs_peer_sum *sum))
{
	NCS_FOR_METRIC_RANKS (entry, input) {
		struct ncs_peer_sum sums[NCS_METRIC_PEERS_MAX + 1];
		const struct ncs_peers_of_rank *named = ncs_peers_sum(
			&input->metrics->peers, entry->rank, sums);

		if (!named)
			input->writer->no_memory = true;
		for (size_t i = 0; named && i <= NCS_METRIC_PEERS_MAX; i++) {
			char peer[24] = "other";

			if (!sums[i].is_used)
				continue;
			if (i < NCS_METRIC_PEERS_MAX)
				snprintf(peer, sizeof(peer), "%" PRId32,
					 named->peers[i]);
			count(input, entry, peer, &sums[i]);
		}
	}
}

static void count_bytes(const struct ncs_metric_input *input,
			const struct ncs_metric_rank *entry, const char *peer,
			const struct ncs_peer_sum *sum)
{
	if (sum->sends && sum->bytes_known)
		ncs_metric_count(input->writer,
				 (const char *const[]){ NCS_RANK_LABELS(entry),
							peer },
				 entry->rank->serial, &sum->sent_bytes);
}

NCS_METRIC_FILL(PEER_SENT_BYTES)
{
	for_peers(input, count_bytes);
}

static void count_waits(const struct ncs_metric_input *input,
			const struct ncs_metric_rank *entry, const char *peer,
			const struct ncs_peer_sum *sum)
{
	static const enum ncs_channel_state states[] = {
		NCS_CHANNEL_SEND_WAIT,
		NCS_CHANNEL_SEND_PEER_WAIT,
		NCS_CHANNEL_RECV_WAIT,
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		enum ncs_channel_state state = states[i];
		bool sends = state != NCS_CHANNEL_RECV_WAIT;

		if (!(sends ? sum->sends : sum->receives) ||
		    (state == NCS_CHANNEL_SEND_PEER_WAIT &&
		     !ncs_rank_peer_wait_known(entry->rank)))
			continue;
		ncs_metric_count(
			input->writer,
			(const char *const[]){ NCS_RANK_LABELS(entry), peer,
					       ncs_channel_state_name(state) },
			entry->rank->serial, &sum->time_ns[state]);
	}
}

NCS_METRIC_FILL(PEER_WAIT_SECONDS)
{
	for_peers(input, count_waits);
}
