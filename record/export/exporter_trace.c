/* SPDX-License-Identifier: MIT */
/* Exports traces: connects export_trace.h to a writer of either format. */
#include <errno.h>
#include <stdlib.h>

#include "record/export/exporter.h"
#include "record/export/operation_facts.h"

struct trace_exporter {
	struct ncs_trace_writer *writer;
	struct ncs_trace_export *trace;
	struct ncs_operation_table operations;
};

static int begin(struct ncs_exporter *exporter)
{
	struct trace_exporter *own = calloc(1, sizeof(*own));
	bool is_chrome = exporter->request->format == NCS_EXPORT_CHROME;

	exporter->own = own;
	if (!own)
		return -ENOMEM;
	own->writer = ncs_trace_open(is_chrome ? NCS_TRACE_CHROME :
						 NCS_TRACE_PERFETTO,
				     exporter->request->file, &exporter->base);
	if (own->writer)
		own->trace = ncs_trace_export_open(own->writer, exporter->ranks,
						   exporter->rank_count);
	return own->trace ? 0 : -ENOMEM;
}

static int take_state(struct ncs_exporter *exporter, size_t rank,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	struct trace_exporter *own = exporter->own;

	(void)is_last;
	ncs_trace_export_state(own->trace, rank, snapshot);
	return 0;
}

static int begin_records(struct ncs_exporter *exporter)
{
	struct trace_exporter *own = exporter->own;

	ncs_trace_export_joined(own->trace, &own->operations);
	return ncs_operation_table_join(&own->operations, exporter->recording,
					exporter->request->from_ns,
					exporter->request->until_ns);
}

static int take_record(struct ncs_exporter *exporter, size_t rank,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	struct trace_exporter *own = exporter->own;

	return ncs_trace_export_record(own->trace, rank, lane, stream, record);
}

static int lose(struct ncs_exporter *exporter, size_t rank)
{
	struct trace_exporter *own = exporter->own;

	return ncs_trace_export_lose(own->trace, rank);
}

static int end(struct ncs_exporter *exporter)
{
	const struct ncs_export_request *request = exporter->request;
	struct trace_exporter *own = exporter->own;
	int error = 0, write_error;

	if (!own)
		return 0;
	if (own->trace)
		error = ncs_trace_export_finish(own->trace);
	if (own->trace && !error && request->add)
		error = request->add(request->context, own->writer, own->trace);
	ncs_trace_export_close(own->trace);
	ncs_operation_table_release(&own->operations);
	write_error = ncs_trace_close(own->writer);
	free(own);
	return error ? error : write_error;
}

const struct ncs_exporter_functions ncs_exporter_trace = {
	.has_operations_once = true,
	.begin = begin,
	.state = take_state,
	.begin_records = begin_records,
	.record = take_record,
	.lose = lose,
	.end = end,
};
