/* SPDX-License-Identifier: MIT */
/* Exports a recording as a trace of either format: turns records into slices.
 * Records come from files and are not trusted: they may hold any value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/views/timeline.h"
#include "record/export/export_trace_internal.h"
#include "record/export/exporter.h"
#include "shm/clock.h"

/* --- Opening and closing ------------------------------------------------- */

static void take_words(struct ncs_trace_export *export)
{
	static const char *const sources[NCS_TIME_SOURCES] = {
		[NCS_TIME_BY_STREAM] = "stream",
		[NCS_TIME_BY_KERNEL] = "kernel",
		[NCS_TIME_BY_PROXY] = "proxy",
		[NCS_TIME_BY_REPORT] = "report",
	};
	struct ncs_trace_writer *writer = export->writer;

	for (unsigned i = 0; i < NCS_FIELD_COUNT; i++)
		export->fields[i] = ncs_trace_word(writer, ncs_field_name(i));
	for (unsigned i = 0; i <= NCS_EVENT_MARK; i++)
		export->events[i] = ncs_trace_word(writer, ncs_event_name(i));
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		export->functions[i] =
			ncs_trace_word(writer, ncs_function_name(i));
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		export->channel_states[i] =
			ncs_trace_word(writer, ncs_channel_state_name(i));
	for (unsigned i = 0; i < NCS_PROXY_STATE_COUNT; i++)
		export->proxy_states[i] =
			ncs_trace_word(writer, ncs_proxy_state_name(i));
	for (unsigned i = NCS_TIME_BY_STREAM; i < NCS_TIME_SOURCES; i++)
		export->sources[i] = ncs_trace_word(writer, sources[i]);
	for (unsigned i = 0; i < NCS_DOUBT_COUNT; i++)
		export->doubts[i] = ncs_trace_word(writer, ncs_doubt_name(i));
	export->trust = ncs_trace_word(writer, "trust");
	export->begin_source = ncs_trace_word(writer, "begin_source");
	export->end_source = ncs_trace_word(writer, "end_source");
	export->wait = ncs_trace_word(writer, "wait");
	export->part = ncs_trace_word(writer, "part");
	export->launch = ncs_trace_word(writer, "launch");
	export->queued =
		ncs_trace_word(writer, ncs_activity_label(NCS_ACTIVITY_QUEUED));
	export->running = ncs_trace_word(
		writer, ncs_activity_label(NCS_ACTIVITY_RUNNING));
}

static int begin(struct ncs_exporter *exporter)
{
	struct ncs_trace_export *export = calloc(1, sizeof(*export));
	bool is_chrome = exporter->request->format == NCS_EXPORT_CHROME;

	exporter->own = export;
	if (!export)
		return -ENOMEM;
	export->writer = ncs_trace_open(
		is_chrome ? NCS_TRACE_CHROME : NCS_TRACE_PERFETTO,
		exporter->request->file, &exporter->base);
	if (export->writer)
		export->ranks = calloc(exporter->rank_count + 1,
				       sizeof(*export->ranks));
	if (!export->ranks)
		return -ENOMEM;
	export->operations = &exporter->operations;
	take_words(export);
	for (size_t i = 0; i < exporter->rank_count; i++) {
		struct ncs_trace_rank *rank = &export->ranks[i];

		rank->export = export;
		rank->facts = &exporter->ranks[i];
		rank->operations = ncs_rank_operations_new(0);
		if (!rank->operations)
			return -ENOMEM;
		export->rank_count = i + 1;
	}
	return 0;
}

static int end(struct ncs_exporter *exporter)
{
	const struct ncs_export_request *request = exporter->request;
	struct ncs_trace_export *export = exporter->own;
	int error = 0, write_error;
	bool has_begun;

	if (!export)
		return 0;
	has_begun = export->ranks && export->rank_count == exporter->rank_count;
	for (size_t i = 0; i < export->rank_count && !error; i++)
		error = ncs_trace_export_rest(&export->ranks[i]);
	if (has_begun && !error && request->add)
		error = request->add(request->context, export->writer);
	for (size_t i = 0; i < export->rank_count; i++)
		ncs_trace_rank_release(&export->ranks[i]);
	write_error = ncs_trace_close(export->writer);
	free(export->ranks);
	free(export);
	return error ? error : write_error;
}

/* --- Records ------------------------------------------------------------- */

static void put_proxy(struct ncs_trace_rank *rank,
		      const struct ncs_record *record)
{
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	unsigned state = record->number < NCS_PROXY_STATE_COUNT ?
				 (unsigned)record->number :
				 NCS_PROXY_UNKNOWN;
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;

	event = ncs_trace_export_event(rank, record, 0, NULL, &arguments);
	event.name = rank->export->proxy_states[state];
	ncs_trace_export_slice(rank->export, &rank->proxy, &span, &event);
}

static void put_instant(const struct ncs_trace_rank *rank,
			const struct ncs_record *record)
{
	struct ncs_trace_writer *writer = rank->export->writer;
	const char *path =
		record->event == NCS_EVENT_MARK ?
			ncs_export_rank_path(rank->facts, record->value) :
			NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event;

	event = ncs_trace_export_event(rank, record, 0, NULL, &arguments);
	/* The last name in the range's path is the mark's own name. */
	if (path)
		event.name = ncs_trace_word(writer, slash ? slash + 1 : path);
	ncs_trace_instant(writer, rank->marks,
			  ncs_clock_ns(&rank->facts->clock, record->start),
			  &event);
}

static int put_call(struct ncs_trace_rank *rank, unsigned lane, uint64_t stream,
		    const struct ncs_record *record)
{
	struct ncs_slice_tracks *calls = ncs_trace_export_calls(rank, lane);

	if (!calls)
		return -ENOMEM;
	ncs_trace_export_plain(rank, calls, record, stream, NULL);
	return 0;
}

static int take_record(struct ncs_exporter *exporter, size_t index,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	struct ncs_trace_rank *rank =
		ncs_trace_export_rank(exporter->own, index);

	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		return ncs_trace_export_operation(rank, stream, record);
	case NCS_EVENT_PROXY_OP:
	case NCS_EVENT_PROXY_STEP:
	case NCS_EVENT_NET_PLUGIN:
	case NCS_EVENT_KERNEL_CH:
	case NCS_EVENT_KERNEL_PHASE:
		return ncs_trace_export_child(rank, record);
	case NCS_EVENT_PROXY_CTRL:
		put_proxy(rank, record);
		return 0;
	case NCS_EVENT_SETTINGS:
	case NCS_EVENT_MARK:
		put_instant(rank, record);
		return 0;
	case NCS_EVENT_GROUP:
	case NCS_EVENT_GROUP_API:
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
	case NCS_EVENT_CE_SYNC:
	case NCS_EVENT_CE_BATCH:
		return put_call(rank, lane, stream, record);
	default:
		/* An event type of a later version. */
		ncs_trace_export_plain(rank, &rank->other, record, stream,
				       NULL);
		return 0;
	}
}

static int take_state(struct ncs_exporter *exporter, size_t index,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	struct ncs_trace_export *export = exporter->own;

	(void)is_last;
	/* States lack the rank until the communicator is ready. */
	if (snapshot->identity.known & NCS_KNOWN_RANK)
		ncs_export_counters_take(
			&ncs_trace_export_rank(export, index)->counters,
			export->writer, snapshot);
	return 0;
}

static int lose(struct ncs_exporter *exporter, size_t index)
{
	struct ncs_trace_export *export = exporter->own;

	ncs_rank_operations_lose(export->ranks[index].operations);
	return 0;
}

const struct ncs_exporter_functions ncs_exporter_trace = {
	.joins_operations = true,
	.begin = begin,
	.state = take_state,
	.record = take_record,
	.lose = lose,
	.end = end,
};
