/* SPDX-License-Identifier: MIT */
/* Exports lines of JSON: one self-contained object per record. Unknown values
 * are null. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/base/utf8.h"
#include "record/export/export_columns.h"
#include "record/export/exporter.h"
#include "record/format/record_fields.h"
#include "record/format/json_text.h"
#include "record/format/cuda_streams.h"
#include "shm/clock.h"
#include "shm/control.h"

/* Makes room, for each rank, for the members that all of its records share, as
 * JSON; NULL until needed. */
static int begin(struct ncs_exporter *exporter)
{
	exporter->own = calloc(exporter->rank_count + 1, sizeof(char *));
	return exporter->own ? 0 : -ENOMEM;
}

/* An object that is being written. */
struct object {
	FILE *file;
	uint64_t columns; /* that were chosen */
	bool has_members;
};

/* Begins a member. Returns false if it was not chosen. */
static bool put_key(struct object *object, enum ncs_field field)
{
	FILE *file = object->file;

	if (!ncs_export_has_column(object->columns, field))
		return false;
	putc_unlocked(object->has_members ? ',' : '{', file);
	object->has_members = true;
	ncs_json_text(file, ncs_field_name(field));
	putc_unlocked(':', file);
	return true;
}

static void put_number(struct object *object, enum ncs_field field, uint64_t value)
{
	if (put_key(object, field))
		ncs_json_number(object->file, value);
}

static void put_null(struct object *object, enum ncs_field field)
{
	if (put_key(object, field))
		ncs_json_raw(object->file, "null");
}

/* Writes one of ncclstat's own words, which need no cleaning. */
static void put_word(struct object *object, enum ncs_field field, const char *word)
{
	if (put_key(object, field))
		ncs_json_text(object->file, word);
}

/* Writes a string; null if it is NULL. */
static void put_text(struct object *object, enum ncs_field field, const char *raw)
{
	char text[4096];

	if (!raw)
		put_null(object, field);
	if (!raw || !put_key(object, field))
		return;
	ncs_utf8_clean(text, sizeof(text), raw, false);
	ncs_json_text(object->file, text);
}

static void put_rank(struct object *object, const struct ncs_export_rank *rank)
{
	const struct ncs_identity *identity = &rank->identity;

	put_text(object, NCS_FIELD_HOST, rank->host);
	put_number(object, NCS_FIELD_PID, rank->pid);
	put_text(object, NCS_FIELD_COMMUNICATOR,
		 identity->known & NCS_KNOWN_COMM_NAME ? identity->comm_name :
							 NULL);
	put_text(object, NCS_FIELD_COMMUNICATOR_ID,
		 rank->communicator_id[0] ? rank->communicator_id : NULL);
	if (!(identity->known & NCS_KNOWN_RANK))
		put_null(object, NCS_FIELD_RANK);
	else if (put_key(object, NCS_FIELD_RANK))
		ncs_json_whole(object->file, identity->rank);
}

/* Returns a rank's members, each behind a comma; NULL if there is no memory. */
static const char *rank_text_of(const struct ncs_exporter *exporter,
				size_t index)
{
	char **text = (char **)exporter->own + index;
	struct object object = { .columns = exporter->request->columns,
				 .has_members = true };
	size_t size;

	if (*text)
		return *text;
	object.file = open_memstream(text, &size);
	if (!object.file)
		return NULL;
	put_rank(&object, &exporter->ranks[index]);
	return fclose(object.file) == 0 ? *text : NULL;
}

static void put_where(struct object *object, const struct ncs_record *record)
{
	if (ncs_event_has_function(record->event))
		put_word(object, NCS_FIELD_FUNCTION,
			 ncs_function_name(record->function));
	if (ncs_event_has_channel(record->event))
		put_number(object, NCS_FIELD_CHANNEL, record->channel);
	if (ncs_event_has_direction(record->event))
		put_word(object, NCS_FIELD_DIRECTION,
			 record->flags & NCS_RECORD_SEND ? "send" : "recv");
}

static void put_detail(struct object *object, enum ncs_field field, uint64_t bits)
{
	struct ncs_detail detail;
	char text[256];
	bool known = ncs_detail_unpack(bits, &detail);

	if (known)
		ncs_detail_text(&detail, text, sizeof(text));
	put_text(object, field, known ? text : NULL);
}

static void put_handle(struct object *object, enum ncs_field field, uint64_t handle)
{
	char text[NCS_CUDA_STREAM_TEXT_BYTES];

	ncs_cuda_stream_text(handle, text);
	put_word(object, field, text);
}

static void put_field(struct object *object, const struct ncs_export_rank *rank,
		      const struct ncs_field_value *field)
{
	switch (field->kind) {
	case NCS_FIELD_NOTHING:
		put_null(object, field->field);
		break;
	case NCS_FIELD_NUMBER:
		put_number(object, field->field, field->value);
		break;
	case NCS_FIELD_IS:
		if (put_key(object, field->field))
			ncs_json_flag(object->file, field->value != 0);
		break;
	case NCS_FIELD_PROXY_STATE:
		put_word(object, field->field,
			 ncs_proxy_state_name((unsigned)field->value));
		break;
	case NCS_FIELD_RANGE_PATH:
		put_text(object, field->field,
			 ncs_export_rank_path(rank, field->value));
		break;
	case NCS_FIELD_DETAIL:
		put_detail(object, field->field, field->value);
		break;
	case NCS_FIELD_HANDLE:
		put_handle(object, field->field, field->value);
		break;
	}
}

static void put_kernel(struct object *object, const struct ncs_export_span *span)
{
	if (span->is_by_gpu) {
		put_number(object, NCS_FIELD_GPU_START_NS, span->start_ns);
		put_number(object, NCS_FIELD_GPU_ERROR_NS, span->gpu_error_ns);
	} else {
		put_null(object, NCS_FIELD_GPU_START_NS);
		put_null(object, NCS_FIELD_GPU_ERROR_NS);
	}
}

static int take_record(struct ncs_exporter *exporter, size_t index,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	const struct ncs_export_rank *rank = &exporter->ranks[index];
	const char *rank_text = rank_text_of(exporter, index);
	struct object object = { .file = exporter->request->file,
				 .columns = exporter->request->columns };
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
	put_word(&object, NCS_FIELD_EVENT, ncs_event_name(record->event));
	if (rank_text[0]) {
		ncs_json_raw(object.file,
			     object.has_members ? rank_text : "{");
		if (!object.has_members)
			ncs_json_raw(object.file, rank_text + 1);
		object.has_members = true;
	}
	put_number(&object, NCS_FIELD_LANE, lane);
	put_number(&object, NCS_FIELD_START_NS, start_ns);
	put_number(&object, NCS_FIELD_DURATION_NS, end_ns - start_ns);
	put_where(&object, record);
	for (unsigned i = 0; i < count; i++)
		put_field(&object, rank, &fields[i]);
	if (record->event == NCS_EVENT_KERNEL_CH ||
	    record->event == NCS_EVENT_KERNEL_PHASE) {
		struct ncs_export_span span =
			ncs_export_rank_span(rank, record);

		put_kernel(&object, &span);
	}
	if (object.has_members)
		ncs_json_raw(object.file, "}\n");
	return 0;
}

static int end(struct ncs_exporter *exporter)
{
	char **texts = exporter->own;

	for (size_t i = 0; texts && i < exporter->rank_count; i++)
		free(texts[i]);
	free(texts);
	return ncs_exporter_flush(exporter);
}

const struct ncs_exporter_functions ncs_exporter_ndjson = {
	.begin = begin,
	.record = take_record,
	.end = end,
};
