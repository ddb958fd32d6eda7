/* SPDX-License-Identifier: MIT */
/* Slices and their arguments; see export_trace_internal.h. */
#include "record/export/export_trace_internal.h"

#include "analysis/base/detail.h"
#include "record/format/cuda_streams.h"

/* --- Arguments ----------------------------------------------------------- */

static void add_argument(struct ncs_trace_arguments *arguments, uint32_t name,
			 enum ncs_trace_value kind, uint64_t value)
{
	arguments->list[arguments->count++] =
		(struct ncs_trace_argument){ name, kind, value };
}

static uint32_t detail_word(struct ncs_trace_export *export, uint64_t bits)
{
	struct ncs_detail detail;
	char text[256];

	if (!ncs_detail_unpack(bits, &detail))
		return 0;
	ncs_detail_text(&detail, text, sizeof(text));
	return ncs_trace_word(export->writer, text);
}

static uint32_t path_word(const struct ncs_trace_rank *rank, uint64_t range)
{
	const char *path = ncs_export_rank_path(rank->facts, range);

	return path ? ncs_trace_word(rank->export->writer, path) : 0;
}

static uint32_t stream_word(struct ncs_trace_export *export, uint64_t handle)
{
	char text[NCS_CUDA_STREAM_TEXT_BYTES];

	ncs_cuda_stream_text(handle, text);
	return ncs_trace_word(export->writer, text);
}

void ncs_trace_export_add(struct ncs_trace_arguments *arguments, uint32_t name,
			  uint32_t word)
{
	if (word != 0)
		add_argument(arguments, name, NCS_TRACE_WORD, word);
}

static void add_field(const struct ncs_trace_rank *rank,
		      struct ncs_trace_arguments *arguments,
		      const struct ncs_field_value *field)
{
	struct ncs_trace_export *export = rank->export;
	uint32_t name = export->fields[field->field];

	switch (field->kind) {
	case NCS_FIELD_NOTHING:
	case NCS_FIELD_PROXY_STATE:
		break;
	case NCS_FIELD_NUMBER:
		/* Most records stand only for themselves; this is not worth an
		 * argument. */
		if (field->field != NCS_FIELD_STANDS_FOR || field->value != 1)
			add_argument(arguments, name, NCS_TRACE_NUMBER,
				     field->value);
		break;
	case NCS_FIELD_IS:
		if (field->value)
			add_argument(arguments, name, NCS_TRACE_FLAG, 1);
		break;
	case NCS_FIELD_RANGE_PATH:
		ncs_trace_export_add(arguments, name,
				     path_word(rank, field->value));
		break;
	case NCS_FIELD_DETAIL:
		ncs_trace_export_add(arguments, name,
				     detail_word(export, field->value));
		break;
	case NCS_FIELD_HANDLE:
		ncs_trace_export_add(arguments, name,
				     stream_word(export, field->value));
		break;
	}
}

/* Whether a field is left out of the arguments: the track shows it, or it is
 * the number of an operation that the sequence number identifies. */
static bool is_redundant(const struct ncs_record *record, enum ncs_field field,
			 const struct ncs_known_operation *known)
{
	return (field == NCS_FIELD_PEER &&
		ncs_event_has_direction(record->event)) ||
	       (field == NCS_FIELD_OPERATION && known &&
		known->number != NCS_NO_SEQUENCE_NUMBER);
}

static void add_fields(const struct ncs_trace_rank *rank,
		       const struct ncs_record *record, uint64_t stream,
		       const struct ncs_known_operation *known,
		       struct ncs_trace_arguments *arguments)
{
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count =
		ncs_record_fields(record, stream, &rank->facts->clock, fields);

	arguments->count = 0;
	for (unsigned i = 0; i < count; i++)
		if (ncs_field_is_traced(fields[i].field) &&
		    !is_redundant(record, fields[i].field, known))
			add_field(rank, arguments, &fields[i]);
	if (known && known->number != NCS_NO_SEQUENCE_NUMBER)
		add_argument(arguments,
			     rank->export->fields[NCS_FIELD_SEQUENCE_NUMBER],
			     NCS_TRACE_NUMBER, known->number);
}

struct ncs_trace_event
ncs_trace_export_event(const struct ncs_trace_rank *rank,
		       const struct ncs_record *record, uint64_t stream,
		       const struct ncs_known_operation *known,
		       struct ncs_trace_arguments *arguments)
{
	const struct ncs_trace_export *export = rank->export;
	bool has_function = ncs_event_has_function(record->event) &&
			    record->function < NCS_FUNCTION_COUNT;
	uint32_t category = record->event <= NCS_EVENT_MARK ?
				    export->events[record->event] :
				    0;

	add_fields(rank, record, stream, known, arguments);
	return (struct ncs_trace_event){
		.name = has_function ? export->functions[record->function] :
				       category,
		.category = category,
		.arguments = arguments->list,
		.argument_count = arguments->count,
	};
}

/* --- Slices -------------------------------------------------------------- */

uint32_t ncs_trace_export_slice(struct ncs_trace_export *export,
				struct ncs_slice_tracks *tracks,
				const struct ncs_export_span *span,
				const struct ncs_trace_event *event)
{
	uint32_t track = ncs_slice_tracks_take(tracks, export->writer,
					       span->start_ns, span->end_ns);

	ncs_trace_slice(export->writer, track, span->start_ns, span->end_ns,
			event);
	return track;
}

void ncs_trace_export_inner(struct ncs_trace_export *export, uint32_t track,
			    uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	const struct ncs_trace_event event = { .name = name,
					       .category = export->part };

	if (end_ns > start_ns)
		ncs_trace_slice(export->writer, track, start_ns, end_ns,
				&event);
}

void ncs_trace_export_plain(const struct ncs_trace_rank *rank,
			    struct ncs_slice_tracks *tracks,
			    const struct ncs_record *record, uint64_t stream,
			    const struct ncs_known_operation *known)
{
	struct ncs_export_span span = ncs_export_rank_span(rank->facts, record);
	struct ncs_trace_arguments arguments;
	struct ncs_trace_event event =
		ncs_trace_export_event(rank, record, stream, known, &arguments);

	if (span.is_by_gpu) {
		add_argument(&arguments,
			     rank->export->fields[NCS_FIELD_GPU_ERROR_NS],
			     NCS_TRACE_NUMBER, span.gpu_error_ns);
		event.argument_count = arguments.count;
	}
	ncs_trace_export_slice(rank->export, tracks, &span, &event);
}
