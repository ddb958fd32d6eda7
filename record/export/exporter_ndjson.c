/* SPDX-License-Identifier: MIT */
/* Exports lines of JSON: one self-contained object per record. Unknown values
 * are null. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "analysis/base/value_names.h"
#include "analysis/base/utf8.h"
#include "record/export/exporter.h"
#include "record/format/json_text.h"
#include "shm/clock.h"

static_assert(NCS_FIELD_COUNT < 64, "a set of columns has a bit for each");

static const char *column_name(unsigned column)
{
	return column < NCS_FIELD_COUNT ? ncs_field_name(column) : NULL;
}

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

	if (!ncs_exporter_has_column(object->columns, field))
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

/* Writes one of ncclstat's own words, which need no cleaning; null if it is
 * NULL. */
static void put_word(struct object *object, enum ncs_field field, const char *word)
{
	if (!put_key(object, field))
		return;
	if (word)
		ncs_json_text(object->file, word);
	else
		ncs_json_raw(object->file, "null");
}

/* Writes a string likewise. */
static void put_text(struct object *object, enum ncs_field field, const char *raw)
{
	char text[4096];

	if (raw)
		ncs_utf8_clean(text, sizeof(text), raw, false);
	put_word(object, field, raw ? text : NULL);
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
		put_word(object, NCS_FIELD_RANK, NULL);
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

static void put_field(struct object *object, const struct ncs_export_rank *rank,
		      const struct ncs_field_value *field)
{
	char room[NCS_EXPORT_TEXT_BYTES];

	if (field->kind == NCS_FIELD_NUMBER)
		put_number(object, field->field, field->value);
	else if (field->kind != NCS_FIELD_IS)
		put_text(object, field->field,
			 ncs_export_rank_text(rank, field, room));
	else if (put_key(object, field->field))
		ncs_json_flag(object->file, field->value != 0);
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
	struct ncs_export_span span;
	enum ncs_field_kind kind;
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
		span = ncs_export_rank_span(rank, record);
		kind = span.is_by_gpu ? NCS_FIELD_NUMBER : NCS_FIELD_NOTHING;
		put_field(&object, rank,
			  &(struct ncs_field_value){ NCS_FIELD_GPU_START_NS,
						     kind, span.start_ns });
		put_field(&object, rank,
			  &(struct ncs_field_value){ NCS_FIELD_GPU_ERROR_NS,
						     kind, span.gpu_error_ns });
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
	.column = column_name,
	.begin = begin,
	.record = take_record,
	.end = end,
};
