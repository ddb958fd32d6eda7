/* SPDX-License-Identifier: MIT */
/* Metrics of single ranks. A value that is not known gives no series. */
#include "analysis/metrics/metric_fill.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"

/* --- Identity ------------------------------------------------------------ */

/* Writes a PCI bus ID as DCGM does: 00000000:8D:00.0. */
static void pci_bus_id(const struct ncs_identity *identity, char *text,
		       size_t size)
{
	const char *gpu = identity->gpu;
	size_t domain = strcspn(gpu, ":");
	size_t zeros = domain < 8 ? 8 - domain : 0;

	text[0] = '\0';
	if (!(identity->known & NCS_KNOWN_GPU) || !gpu[domain])
		return;
	snprintf(text, size, "%.*s%s", (int)zeros, "00000000", gpu);
	for (; *text; text++)
		*text = (char)toupper((unsigned char)*text);
}

static void number_if(bool known, int64_t number, char *text, size_t size)
{
	text[0] = '\0';
	if (known)
		snprintf(text, size, "%" PRId64, number);
}

NCS_METRIC_FILL(RANK_INFO)
{
	NCS_FOR_METRIC_RANKS (entry, input) {
		const struct ncs_rank *rank = entry->rank;
		const struct ncs_identity *identity = &rank->now.identity;
		uint64_t known = identity->known;
		char nranks[24], nnodes[24], pid[24], gpu[48], nccl[32] = "";
		char api[24], uuid[NCS_GPU_UUID_BYTES];

		number_if(known & NCS_KNOWN_NRANKS, identity->nranks, nranks,
			  sizeof(nranks));
		number_if(known & NCS_KNOWN_NNODES, identity->nnodes, nnodes,
			  sizeof(nnodes));
		number_if(true, rank->process.pid, pid, sizeof(pid));
		number_if(true, rank->api_version, api, sizeof(api));
		pci_bus_id(identity, gpu, sizeof(gpu));
		ncs_gpu_uuid_write(rank->peaks.uuid, uuid);
		if (known & NCS_KNOWN_NCCL_VERSION)
			ncs_nccl_version_text(identity->nccl_version, nccl,
					      sizeof(nccl));
		ncs_metric_put(
			input->writer,
			(const char *const[]){
				NCS_RANK_LABELS(entry), nranks, nnodes, pid,
				gpu, uuid, nccl, api,
				ncs_kernel_status_name(rank->now.kernel.status),
				ncs_stream_status_name(
					ncs_launches_told(&rank->now.launches)),
				ncs_metric_job_label(rank, "job_step"),
				ncs_metric_job_label(rank, "job_rank"),
				ncs_metric_job_label(rank, "pod"),
				ncs_metric_job_label(rank, "namespace"),
			},
			1);
	}
}

/* Adds a gauge of a rank. */
static void put(const struct ncs_metric_input *input,
		const struct ncs_metric_rank *entry, uint64_t value)
{
	ncs_metric_put(input->writer,
		       (const char *const[]){ NCS_RANK_LABELS(entry) }, value);
}

NCS_METRIC_FILL(RANK_ALIVE)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		put(input, entry, entry->is_live);
}

NCS_METRIC_FILL(RANK_LAST_CALL_TIMESTAMP_SECONDS)
{
	uint64_t now_ns = input->model->now_ns;

	NCS_FOR_METRIC_RANKS (entry, input) {
		uint64_t call_ns = entry->rank->now.last_call_ns;
		uint64_t time_ns;

		if (call_ns == 0 || call_ns > now_ns ||
		    now_ns - call_ns > input->look->realtime_ns)
			continue;
		time_ns = input->look->realtime_ns - (now_ns - call_ns);
		/* The two clocks are read one after the other. */
		put(input, entry, time_ns - time_ns % UINT64_C(1000000));
	}
}

/* --- Waits ---------------------------------------------------------------- */

/* Whether it is known which of the rank's operations have ended. */
static bool are_ends_known(const struct ncs_snapshot *now)
{
	bool used = false;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (ncs_function_ends_known(&now->functions[i]))
			return true;
		used |= ncs_function_is_used(&now->functions[i]);
	}
	return !used || now->operation_count > 0;
}

NCS_METRIC_FILL(OLDEST_OPERATION_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input) {
		const struct ncs_snapshot *now = &entry->rank->now;

		if (!entry->is_live || !are_ends_known(now))
			continue;
		put(input, entry,
		    now->operation_count > 0 ?
			    ncs_age_ns(entry->rank,
				       now->operations[0].start_ns) :
			    0);
	}
}

NCS_METRIC_FILL(OLDEST_WAIT_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input) {
		struct ncs_oldest oldest = ncs_rank_oldest(entry->rank);
		const struct ncs_snapshot *now = &entry->rank->now;

		if (entry->is_live &&
		    (oldest.rank || now->channel_count > 0 ||
		     now->launches.followed > 0))
			put(input, entry, oldest.duration_ns);
	}
}

/* --- Functions ------------------------------------------------------------ */

/* For each function that a rank uses: `function` and its number, `id`. */
#define FOR_FUNCTIONS(entry, function, id) \
	for (unsigned id = 0; id < NCS_FUNCTION_COUNT; id++) \
		for (const struct ncs_function_view *function = \
			     &entry->rank->now.functions[id]; \
		     function && ncs_function_is_used(function); \
		     function = NULL)

#define FUNCTION_LABELS(entry, id) \
	((const char *const[]){ NCS_RANK_LABELS(entry), ncs_function_name(id) })

NCS_METRIC_FILL(SEQUENCE_NUMBER)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		FOR_FUNCTIONS (entry, function, id)
			if (function->last_sequence_number !=
			    NCS_NO_SEQUENCE_NUMBER)
				ncs_metric_put(input->writer,
					       FUNCTION_LABELS(entry, id),
					       function->last_sequence_number);
}

static void count(const struct ncs_metric_input *input,
		  const struct ncs_metric_rank *entry,
		  const char *const *labels, uint64_t value)
{
	ncs_metric_count(input->writer, labels, entry->rank->serial, &value);
}

/* Defines a metric that counts a member of each function that has `known`. */
#define FILL_COUNT(ID, member, known) \
	NCS_METRIC_FILL(ID) \
	{ \
		NCS_FOR_METRIC_RANKS (entry, input) \
			FOR_FUNCTIONS (entry, function, id) \
				if (known) \
					count(input, entry, \
					      FUNCTION_LABELS(entry, id), \
					      function->member); \
	}

FILL_COUNT(OPERATIONS, operations, true)
FILL_COUNT(OPERATIONS_DONE, operations_done, ncs_function_ends_known(function))
FILL_COUNT(MESSAGE_BYTES, bytes, ncs_function_bytes_known(function))
FILL_COUNT(CALLS, calls, ncs_rank_calls_known(entry->rank))

#define TIMED_LABELS(entry, id, timing) \
	((const char *const[]){ NCS_RANK_LABELS(entry), ncs_function_name(id), \
				ncs_timing_name(timing) })

NCS_METRIC_FILL(OPERATION_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		FOR_FUNCTIONS (entry, function, id) {
			unsigned timing = ncs_function_timing(function);

			if (timing >= NCS_TIMING_COUNT)
				continue;
			ncs_metric_count(
				input->writer, TIMED_LABELS(entry, id, timing),
				entry->rank->serial,
				(uint64_t[]){ function->time_ns[timing],
					      function->timed[timing] });
		}
}

/* Adds up the buckets of a histogram between the edges of the metric's. Each
 * edge is one of ours: nothing is divided. */
static void add_buckets(const uint64_t *histogram, uint64_t *values)
{
	unsigned bucket = 0;

	for (unsigned k = 0; k <= NCS_METRIC_EDGES; k++) {
		unsigned end = k < NCS_METRIC_EDGES ?
				       ncs_histogram_bucket(
					       NCS_METRIC_EDGE_NS(k)) :
				       NCS_HISTOGRAM_BUCKETS;

		values[k] = 0;
		while (bucket < end)
			values[k] += histogram[bucket++];
	}
}

NCS_METRIC_FILL(OPERATION_DURATION_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		FOR_FUNCTIONS (entry, function, id) {
			const uint64_t *histogram =
				ncs_function_histogram(function);
			unsigned timing = ncs_function_timing(function);
			uint64_t values[1 + NCS_METRIC_EDGES + 1];

			if (!histogram)
				continue;
			values[0] = function->time_ns[timing];
			add_buckets(histogram, values + 1);
			ncs_metric_count(input->writer,
					 TIMED_LABELS(entry, id, timing),
					 entry->rank->serial, values);
		}
}

/* --- Proxy thread and channels -------------------------------------------- */

static void count_state(const struct ncs_metric_input *input,
			const struct ncs_metric_rank *entry, const char *state,
			uint64_t value)
{
	count(input, entry,
	      (const char *const[]){ NCS_RANK_LABELS(entry), state }, value);
}

NCS_METRIC_FILL(PROXY_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		for (unsigned i = NCS_PROXY_UNKNOWN + 1;
		     i < NCS_PROXY_STATE_COUNT; i++)
			if (ncs_rank_proxy_known(entry->rank))
				count_state(input, entry,
					    ncs_proxy_state_name(i),
					    entry->rank->now.proxy.time_ns[i]);
}

NCS_METRIC_FILL(PROXY_TRANSITIONS)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		for (unsigned i = 0; i < NCS_TRANSITION_COUNT; i++)
			if (ncs_rank_proxy_known(entry->rank))
				count_state(input, entry,
					    ncs_proxy_transition_name(i),
					    entry->rank->now.proxy.count[i]);
}

/* Adds up the time of a rank's channels in a state. Returns false if it is not
 * known of one. */
static bool channel_time(const struct ncs_rank *rank, unsigned state,
			 uint64_t *time_ns)
{
	*time_ns = 0;
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		if (state == NCS_CHANNEL_SEND_PEER_WAIT &&
		    !ncs_channel_peer_wait_known(rank, channel))
			return false;
		*time_ns += channel->time_ns[state];
	}
	return rank->now.channel_count > 0;
}

NCS_METRIC_FILL(CHANNEL_SECONDS)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		for (unsigned i = NCS_CHANNEL_IDLE + 1;
		     i < NCS_CHANNEL_STATE_COUNT; i++) {
			uint64_t time_ns;

			if (channel_time(entry->rank, i, &time_ns))
				count_state(input, entry,
					    ncs_channel_state_name(i), time_ns);
		}
}

/* --- Ranges and kernels --------------------------------------------------- */

static void count_ranges(const struct ncs_metric_input *input, bool busy)
{
	NCS_FOR_METRIC_RANKS (entry, input)
		for (size_t i = 0; i < entry->rank->now.range_count; i++) {
			const struct ncs_range_sum *sum =
				&entry->rank->ranges[i];
			char path[512] = "";

			if (busy && sum->with_children == 0)
				continue;
			ncs_range_append_path(&entry->rank->now,
					      sum->range->number, path,
					      sizeof(path));
			count_state(input, entry, path,
				    busy ? sum->range->busy_ns :
					   sum->operations);
		}
}

NCS_METRIC_FILL(RANGE_OPERATIONS)
{
	count_ranges(input, false);
}

NCS_METRIC_FILL(RANGE_BUSY_SECONDS)
{
	count_ranges(input, true);
}

static bool has_kernels(const struct ncs_cupti_view *cupti)
{
	return cupti->total.compute_kernels > 0 ||
	       cupti->total.communication_kernels > 0 ||
	       cupti->outside_kernels > 0;
}

/* Defines a metric that counts a time of the kernels of each rank that has some,
 * and of which `known` holds. */
#define FILL_KERNELS(ID, member, known) \
	NCS_METRIC_FILL(ID) \
	{ \
		NCS_FOR_METRIC_RANKS (entry, input) { \
			const struct ncs_cupti_view *cupti = \
				&entry->rank->now.cupti; \
\
			if (has_kernels(cupti) && (known)) \
				count(input, entry, \
				      (const char *const[]){ \
					      NCS_RANK_LABELS(entry) }, \
				      cupti->member); \
		} \
	}

FILL_KERNELS(GPU_COMPUTE_SECONDS, total.compute_busy_ns, true)
FILL_KERNELS(GPU_COMMUNICATION_SECONDS, total.communication_ns, true)
FILL_KERNELS(GPU_HIDDEN_SECONDS, total.hidden_ns, true)
FILL_KERNELS(GPU_OUTSIDE_SECONDS, outside_busy_ns, cupti->busy_ns > 0)
FILL_KERNELS(GPU_BUSY_SECONDS, busy_ns, cupti->busy_ns > 0)

/* --- Lateness ------------------------------------------------------------- */

/* Defines a metric that is a share of the time, for each rank of which that is
 * known. */
#define FILL_SHARES(ID, member) \
	NCS_METRIC_FILL(ID) \
	{ \
		NCS_FOR_METRIC_RANKS (entry, input) { \
			const struct ncs_lateness_view *view = \
				ncs_rank_lateness(entry->rank); \
\
			if (view && view->cost.unknown == NCS_COST_KNOWN) \
				put(input, entry, \
				    (uint64_t)(fmax(view->cost.member, 0) * \
					       1e9)); \
		} \
	}

FILL_SHARES(LATE_RATIO, share)
FILL_SHARES(LATE_RATIO_LEAST, least)
FILL_SHARES(LATE_RATIO_MOST, most)
