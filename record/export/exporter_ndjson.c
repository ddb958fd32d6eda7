/* SPDX-License-Identifier: MIT */
/* Exports lines of JSON: one self-contained object per record. Unknown values
 * are null. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/base/utf8.h"
#include "record/export/exporter.h"
#include "record/format/record_fields.h"
#include "record/format/json_text.h"
#include "record/format/cuda_streams.h"
#include "shm/clock.h"
#include "shm/control.h"

/* For each rank, the members that all of its records share, as JSON; NULL until
 * needed. */
struct ndjson_export {
	char **rank_texts;
};

static int begin(struct ncs_exporter *exporter)
{
	struct ndjson_export *own = calloc(1, sizeof(*own));

	exporter->own = own;
	if (own)
		own->rank_texts = calloc(exporter->rank_count + 1,
					 sizeof(*own->rank_texts));
	return own && own->rank_texts ? 0 : -ENOMEM;
}

static void put_key(FILE *file, enum ncs_field field)
{
	putc_unlocked(field == 0 ? '{' : ',', file);
	ncs_json_text(file, ncs_field_name(field));
	putc_unlocked(':', file);
}

static void put_number(FILE *file, enum ncs_field field, uint64_t value)
{
	put_key(file, field);
	ncs_json_number(file, value);
}

/* Writes one of ncclstat's own words, which need no cleaning. */
static void put_word(FILE *file, enum ncs_field field, const char *word)
{
	put_key(file, field);
	ncs_json_text(file, word);
}

/* Writes a string; null if it is NULL. */
static void put_text(FILE *file, enum ncs_field field, const char *raw)
{
	char text[4096];

	put_key(file, field);
	if (!raw) {
		ncs_json_raw(file, "null");
		return;
	}
	ncs_utf8_clean(text, sizeof(text), raw, false);
	ncs_json_text(file, text);
}

static void put_rank(FILE *file, const struct ncs_export_rank *rank)
{
	const struct ncs_identity *identity = &rank->identity;
	char id[17];

	put_text(file, NCS_FIELD_HOST, rank->host);
	put_number(file, NCS_FIELD_PID, rank->pid);
	put_text(file, NCS_FIELD_COMMUNICATOR,
		 identity->known & NCS_KNOWN_COMM_NAME ? identity->comm_name :
							 NULL);
	snprintf(id, sizeof(id), "%016" PRIx64, identity->comm_id);
	put_text(file, NCS_FIELD_COMMUNICATOR_ID,
		 identity->known & NCS_KNOWN_COMM_ID ? id : NULL);
	put_key(file, NCS_FIELD_RANK);
	if (identity->known & NCS_KNOWN_RANK)
		ncs_json_whole(file, identity->rank);
	else
		ncs_json_raw(file, "null");
}

/* Returns NULL if there is no memory. */
static const char *rank_text_of(struct ndjson_export *own,
				const struct ncs_export_rank *rank,
				size_t index)
{
	size_t size;
	FILE *file;

	if (own->rank_texts[index])
		return own->rank_texts[index];
	file = open_memstream(&own->rank_texts[index], &size);
	if (!file)
		return NULL;
	put_rank(file, rank);
	return fclose(file) == 0 ? own->rank_texts[index] : NULL;
}

static void put_where(FILE *file, const struct ncs_record *record)
{
	if (ncs_event_has_function(record->event))
		put_word(file, NCS_FIELD_FUNCTION,
			 ncs_function_name(record->function));
	if (ncs_event_has_channel(record->event))
		put_number(file, NCS_FIELD_CHANNEL, record->channel);
	if (ncs_event_has_direction(record->event))
		put_word(file, NCS_FIELD_DIRECTION,
			 record->flags & NCS_RECORD_SEND ? "send" : "recv");
}

static void put_detail(FILE *file, enum ncs_field field, uint64_t bits)
{
	struct ncs_detail detail;
	char text[256];
	bool known = ncs_detail_unpack(bits, &detail);

	if (known)
		ncs_detail_text(&detail, text, sizeof(text));
	put_text(file, field, known ? text : NULL);
}

static void put_handle(FILE *file, enum ncs_field field, uint64_t handle)
{
	char text[NCS_CUDA_STREAM_TEXT_BYTES];

	ncs_cuda_stream_text(handle, text);
	put_word(file, field, text);
}

static void put_field(FILE *file, const struct ncs_export_rank *rank,
		      const struct ncs_field_value *field)
{
	switch (field->kind) {
	case NCS_FIELD_NOTHING:
		put_key(file, field->field);
		ncs_json_raw(file, "null");
		break;
	case NCS_FIELD_NUMBER:
		put_number(file, field->field, field->value);
		break;
	case NCS_FIELD_IS:
		put_key(file, field->field);
		ncs_json_flag(file, field->value != 0);
		break;
	case NCS_FIELD_PROXY_STATE:
		put_word(file, field->field,
			 ncs_proxy_state_name((unsigned)field->value));
		break;
	case NCS_FIELD_RANGE_PATH:
		put_text(file, field->field,
			 ncs_export_rank_path(rank, field->value));
		break;
	case NCS_FIELD_DETAIL:
		put_detail(file, field->field, field->value);
		break;
	case NCS_FIELD_HANDLE:
		put_handle(file, field->field, field->value);
		break;
	}
}

static void put_kernel(FILE *file, const struct ncs_export_span *span)
{
	put_key(file, NCS_FIELD_GPU_START_NS);
	if (span->is_by_gpu)
		ncs_json_number(file, span->start_ns);
	else
		ncs_json_raw(file, "null");
	put_key(file, NCS_FIELD_GPU_ERROR_NS);
	if (span->is_by_gpu)
		ncs_json_number(file, span->gpu_error_ns);
	else
		ncs_json_raw(file, "null");
}

static int take_record(struct ncs_exporter *exporter, size_t index,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	const struct ncs_export_rank *rank = &exporter->ranks[index];
	const char *rank_text = rank_text_of(exporter->own, rank, index);
	FILE *file = exporter->request->file;
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count =
		ncs_record_fields(record, stream, &rank->clock, fields);
	uint64_t start_ns = ncs_clock_ns(&rank->clock, record->start);
	uint64_t end_ns =
		ncs_clock_ns(&rank->clock, record->start + record->duration);

	/* Rounding must not make a record end before it begins. */
	if (end_ns < start_ns)
		end_ns = start_ns;
	if (!rank_text)
		return -ENOMEM;
	put_word(file, NCS_FIELD_EVENT, ncs_event_name(record->event));
	ncs_json_raw(file, rank_text);
	put_number(file, NCS_FIELD_LANE, lane);
	put_number(file, NCS_FIELD_START_NS, start_ns);
	put_number(file, NCS_FIELD_DURATION_NS, end_ns - start_ns);
	put_where(file, record);
	for (unsigned i = 0; i < count; i++)
		put_field(file, rank, &fields[i]);
	if (record->event == NCS_EVENT_KERNEL_CH ||
	    record->event == NCS_EVENT_KERNEL_PHASE) {
		struct ncs_export_span span =
			ncs_export_rank_span(rank, record);

		put_kernel(file, &span);
	}
	ncs_json_raw(file, "}\n");
	return 0;
}

static int end(struct ncs_exporter *exporter)
{
	struct ndjson_export *own = exporter->own;

	for (size_t i = 0; own && own->rank_texts && i < exporter->rank_count;
	     i++)
		free(own->rank_texts[i]);
	if (own)
		free(own->rank_texts);
	free(own);
	return ncs_exporter_flush(exporter);
}

const struct ncs_exporter_functions ncs_exporter_ndjson = {
	.begin = begin,
	.record = take_record,
	.end = end,
};
