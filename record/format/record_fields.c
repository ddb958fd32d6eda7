/* SPDX-License-Identifier: MIT */
/* Finds the fields in the words of a record; see record_fields.h and
 * ncclstat/record.h. */
#include "record/format/record_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/records/step_stats.h"
#include "shm/array.h"
#include "shm/clock.h"

enum where { LINES, BOTH };

static const struct {
	const char *name;
	enum where where;
} fields_of[NCS_FIELD_COUNT] = {
#define X(ID, name, where, type, help) [NCS_FIELD_##ID] = { name, where },
	NCS_FIELDS(X)
#undef X
};

const char *ncs_field_name(enum ncs_field field)
{
	return fields_of[field].name;
}

bool ncs_field_is_traced(enum ncs_field field)
{
	return fields_of[field].where == BOTH;
}

/* How to interpret a word. */
enum reading {
	NUMBER,
	POSITIVE, /* 0 if not known */
	TICKS,    /* ticks since the record's start; 0 if never reached */
	SEQUENCE, /* NCS_NO_SEQUENCE_NUMBER if there is none */
	RANGE,    /* number of a range; 0 if in none */
	/* Number of a range cut to eight bits; the largest value means that the
	 * number is not known. */
	CUT_RANGE,
	STATE,
	DETAIL,
	STREAM,      /* CUDA stream as in records */
	RANK_NUMBER, /* rank of 32 bits; negative if there is none */
};

enum word {
	VALUE,
	NUMBER_WORD,
	DELTA0,
	DELTA1,
	PEER,
	CHANNEL,
	OPERATION,
	/* Value from ncs_cuda_streams_take(), not a word of the record. */
	STREAM_WORD,
};

struct spec {
	enum ncs_field field;
	enum word word;
	enum reading reading;
};

#define SPECS_MAX 8

#define OPERATION_SPEC \
	{ \
		NCS_FIELD_OPERATION, OPERATION, POSITIVE \
	}
#define BYTES_SPEC \
	{ \
		NCS_FIELD_BYTES, VALUE, POSITIVE \
	}

#define STREAM_SPEC \
	{ \
		NCS_FIELD_STREAM, STREAM_WORD, STREAM \
	}

#define OPERATION_SPECS(number, peer) \
	OPERATION_SPEC, STREAM_SPEC, { number, NUMBER_WORD, SEQUENCE }, \
		BYTES_SPEC, { peer, PEER, RANK_NUMBER }, \
		{ NCS_FIELD_RANGE, CHANNEL, CUT_RANGE }, \
		{ NCS_FIELD_ENQUEUED_NS, DELTA0, TICKS }, \
	{ \
		NCS_FIELD_FIRST_CHILD_NS, DELTA1, TICKS \
	}

#define CALL_SPECS \
	STREAM_SPEC, BYTES_SPEC, { NCS_FIELD_ROOT, PEER, RANK_NUMBER }, \
	{ \
		NCS_FIELD_RANGE, NUMBER_WORD, RANGE \
	}

/* A row ends with an entry of zeros, which is unique: field 0, EVENT, is in no
 * row. */
static const struct spec specs[][SPECS_MAX] = {
	[NCS_EVENT_COLL] = { OPERATION_SPECS(NCS_FIELD_SEQUENCE_NUMBER,
					 NCS_FIELD_ROOT) },
	[NCS_EVENT_P2P] = { OPERATION_SPECS(NCS_FIELD_TRANSFER_NUMBER,
					NCS_FIELD_PEER) },
	[NCS_EVENT_PROXY_OP] = { OPERATION_SPEC,
				 BYTES_SPEC,
				 { NCS_FIELD_PEER, PEER, RANK_NUMBER },
				 { NCS_FIELD_STEPS, NUMBER_WORD, NUMBER },
				 { NCS_FIELD_IN_PROGRESS_NS, DELTA0, TICKS },
				 { NCS_FIELD_FIRST_STEP_NS, DELTA1, TICKS } },
	[NCS_EVENT_PROXY_STEP] = { OPERATION_SPEC,
				   BYTES_SPEC,
				   { NCS_FIELD_PEER, PEER, RANK_NUMBER },
				   { NCS_FIELD_STEP, NUMBER_WORD, NUMBER } },
	[NCS_EVENT_PROXY_CTRL] = { { NCS_FIELD_STATE, NUMBER_WORD, STATE },
				   { NCS_FIELD_APPENDED_OPERATIONS, VALUE,
				     POSITIVE } },
	[NCS_EVENT_KERNEL_CH] = { OPERATION_SPEC,
				  { NCS_FIELD_GPU_CLOCK_NS, VALUE, POSITIVE },
				  { NCS_FIELD_GPU_DURATION_NS, NUMBER_WORD,
				    POSITIVE } },
	[NCS_EVENT_KERNEL_PHASE] = { OPERATION_SPEC,
				     { NCS_FIELD_GPU_CLOCK_NS, VALUE,
				       POSITIVE },
				     { NCS_FIELD_GPU_DURATION_NS, NUMBER_WORD,
				       POSITIVE },
				     { NCS_FIELD_PHASE, DELTA0, NUMBER } },
	[NCS_EVENT_NET_PLUGIN] = { OPERATION_SPEC,
				   BYTES_SPEC,
				   { NCS_FIELD_PEER, PEER, RANK_NUMBER },
				   { NCS_FIELD_PLUGIN_ID, NUMBER_WORD,
				     NUMBER } },
	[NCS_EVENT_GROUP_API] = { { NCS_FIELD_DEPTH, NUMBER_WORD, NUMBER },
				  { NCS_FIELD_GROUP_START_NS, DELTA0, TICKS },
				  { NCS_FIELD_GROUP_END_NS, DELTA1, TICKS } },
	[NCS_EVENT_COLL_API] = { CALL_SPECS },
	[NCS_EVENT_P2P_API] = { CALL_SPECS },
	[NCS_EVENT_KERNEL_LAUNCH] = { STREAM_SPEC },
	[NCS_EVENT_CE_COLL] = { STREAM_SPEC,
				BYTES_SPEC,
				{ NCS_FIELD_SEQUENCE_NUMBER, NUMBER_WORD,
				  SEQUENCE } },
	[NCS_EVENT_CE_SYNC] = { { NCS_FIELD_RANKS, NUMBER_WORD, NUMBER } },
	[NCS_EVENT_CE_BATCH] = { BYTES_SPEC,
				 { NCS_FIELD_COPIES, NUMBER_WORD, NUMBER } },
	[NCS_EVENT_SETTINGS] = { { NCS_FIELD_COLLECTS, VALUE, DETAIL },
				 { NCS_FIELD_COLLECTED, NUMBER_WORD, DETAIL } },
	[NCS_EVENT_MARK] = { { NCS_FIELD_RANGE, VALUE, RANGE } },
};

static uint64_t read_word(const struct ncs_record *record, uint64_t stream,
			  enum word word)
{
	switch (word) {
	case VALUE:
		return record->value;
	case NUMBER_WORD:
		return record->number;
	case DELTA0:
		return record->delta[0];
	case DELTA1:
		return record->delta[1];
	case PEER:
		return (uint64_t)(int64_t)record->peer;
	case CHANNEL:
		return record->channel;
	case STREAM_WORD:
		return stream;
	case OPERATION:
		break;
	}
	return record->operation;
}

static enum ncs_field_kind kind_of(enum reading reading, uint64_t value)
{
	switch (reading) {
	case NUMBER:
		break;
	case POSITIVE:
	case TICKS:
		return value > 0 ? NCS_FIELD_NUMBER : NCS_FIELD_NOTHING;
	case SEQUENCE:
		return value != NCS_NO_SEQUENCE_NUMBER ? NCS_FIELD_NUMBER :
							 NCS_FIELD_NOTHING;
	case CUT_RANGE:
		if (value == NCS_RECORD_RANGE_MAX)
			return NCS_FIELD_NOTHING;
		/* fallthrough */
	case RANGE:
		return value > 0 ? NCS_FIELD_RANGE_PATH : NCS_FIELD_NOTHING;
	case STATE:
		return NCS_FIELD_PROXY_STATE;
	case DETAIL:
		return NCS_FIELD_DETAIL;
	case STREAM:
		return value > 0 ? NCS_FIELD_HANDLE : NCS_FIELD_NOTHING;
	case RANK_NUMBER:
		return (int64_t)value >= 0 ? NCS_FIELD_NUMBER :
					     NCS_FIELD_NOTHING;
	}
	return NCS_FIELD_NUMBER;
}

/* Returns the ns between two times in ticks. Converts both times and subtracts,
 * rather than converting the difference, so that durations agree with the
 * exported times. */
static uint64_t between_ns(const struct ncs_clock *clock, uint64_t from,
			   uint64_t until)
{
	return ncs_clock_ns(clock, until) - ncs_clock_ns(clock, from);
}

static struct ncs_field_value read_field(const struct ncs_record *record,
					 uint64_t stream,
					 const struct ncs_clock *clock,
					 const struct spec *spec)
{
	uint64_t value = read_word(record, stream, spec->word);
	struct ncs_field_value field = { spec->field,
					 kind_of(spec->reading, value), value };

	if (spec->reading == TICKS)
		field.value =
			between_ns(clock, record->start, record->start + value);
	if (spec->reading == STREAM)
		field.value = NCS_RECORD_STREAM_HANDLE(value);
	return field;
}

static struct ncs_field_value flag(enum ncs_field field, unsigned set)
{
	return (struct ncs_field_value){ field, NCS_FIELD_IS, set != 0 };
}

static bool is_operation(unsigned event)
{
	return event == NCS_EVENT_COLL || event == NCS_EVENT_P2P;
}

/* Whether sampling drops some of the records of this type, or of its
 * children's. */
static bool is_sampled(unsigned event)
{
	return is_operation(event) || event == NCS_EVENT_PROXY_OP ||
	       event == NCS_EVENT_PROXY_STEP || event == NCS_EVENT_KERNEL_CH ||
	       event == NCS_EVENT_KERNEL_PHASE || event == NCS_EVENT_NET_PLUGIN;
}

static unsigned put_sampling(const struct ncs_record *record,
			     struct ncs_field_value *fields)
{
	unsigned level = NCS_RECORD_LEVEL(record->flags), count = 0;
	bool slow = level == NCS_LEVEL_SLOW;

	if (is_operation(record->event))
		fields[count++] = flag(NCS_FIELD_LEFT_OUT,
				       record->flags & NCS_RECORD_LEFT_OUT);
	fields[count++] =
		(struct ncs_field_value){ NCS_FIELD_STANDS_FOR,
					  slow ? NCS_FIELD_NOTHING :
						 NCS_FIELD_NUMBER,
					  UINT64_C(1) << (slow ? 0 : level) };
	fields[count++] = flag(NCS_FIELD_SLOW, slow);
	return count;
}

static unsigned put_waits(const struct ncs_record *record,
			  const struct ncs_clock *clock,
			  struct ncs_field_value *fields)
{
	enum ncs_field first = record->flags & NCS_RECORD_SEND ?
				       NCS_FIELD_SEND_GPU_WAIT_NS :
				       NCS_FIELD_RECV_WAIT_NS;
	uint64_t ticks[NCS_STEP_TIMES], at = record->start;

	ncs_step_split(record, ticks);
	for (unsigned i = 0; i < NCS_STEP_TIMES - NCS_STEP_FIRST_WAIT; i++) {
		uint64_t end = at + ticks[NCS_STEP_FIRST_WAIT + i];

		fields[i] =
			(struct ncs_field_value){ first + i, NCS_FIELD_NUMBER,
						  between_ns(clock, at, end) };
		at = end;
	}
	return NCS_STEP_TIMES - NCS_STEP_FIRST_WAIT;
}

unsigned ncs_record_fields(const struct ncs_record *record, uint64_t stream,
			   const struct ncs_clock *clock,
			   struct ncs_field_value fields[NCS_FIELDS_MAX])
{
	unsigned event = record->event, count = 0;

	for (unsigned i = 0; event < sizeof(specs) / sizeof(*specs) &&
			     i < SPECS_MAX && specs[event][i].field != 0;
	     i++)
		fields[count++] =
			read_field(record, stream, clock, &specs[event][i]);
	if (event == NCS_EVENT_PROXY_STEP)
		count += put_waits(record, clock, &fields[count]);
	if (event == NCS_EVENT_COLL_API || event == NCS_EVENT_P2P_API)
		fields[count++] =
			flag(NCS_FIELD_GRAPH, record->flags & NCS_RECORD_GRAPH);
	if (is_operation(event)) {
		fields[count++] = flag(NCS_FIELD_ON_STREAM,
				       record->flags & NCS_RECORD_ON_STREAM);
		fields[count++] =
			flag(NCS_FIELD_AGAIN, record->flags & NCS_RECORD_AGAIN);
	} else {
		fields[count++] = flag(NCS_FIELD_MISSING_STOP,
				       record->flags & NCS_RECORD_MISSING_STOP);
	}
	if (is_sampled(event))
		count += put_sampling(record, &fields[count]);
	return count;
}

bool ncs_event_has_channel(unsigned event)
{
	return event == NCS_EVENT_PROXY_OP || event == NCS_EVENT_PROXY_STEP ||
	       event == NCS_EVENT_NET_PLUGIN || event == NCS_EVENT_KERNEL_CH ||
	       event == NCS_EVENT_KERNEL_PHASE;
}

bool ncs_event_has_direction(unsigned event)
{
	return event == NCS_EVENT_PROXY_OP || event == NCS_EVENT_PROXY_STEP;
}

bool ncs_event_has_function(unsigned event)
{
	return is_sampled(event) || event == NCS_EVENT_COLL_API ||
	       event == NCS_EVENT_P2P_API || event == NCS_EVENT_CE_COLL;
}

/* --- CUDA streams --------------------------------------------------------- */

struct ncs_cuda_stream_lane {
	/* Stream of the next operation, as in records; 0 if unknown. */
	uint64_t stream;
	uint32_t next; /* position of the next record */
};

void ncs_cuda_streams_release(struct ncs_cuda_streams *streams)
{
	free(streams->lanes);
	*streams = (struct ncs_cuda_streams){ 0 };
}

int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream)
{
	struct ncs_cuda_stream_lane *state;

	if (ncs_array_reserve_zeroed(&streams->lanes, &streams->capacity,
				     (size_t)lane + 1,
				     sizeof(*streams->lanes)) != 0)
		return -ENOMEM;
	state = &streams->lanes[lane];
	if (record->position != state->next)
		state->stream = 0;
	state->next = record->position + 1;
	switch (record->event) {
	case NCS_EVENT_STREAM:
		state->stream = record->value;
		*stream = 0;
		break;
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		*stream = state->stream;
		break;
	case NCS_EVENT_COLL_API:
	case NCS_EVENT_P2P_API:
	case NCS_EVENT_KERNEL_LAUNCH:
	case NCS_EVENT_CE_COLL:
		*stream = record->delta[0];
		break;
	default:
		*stream = 0;
		break;
	}
	return 0;
}

void ncs_cuda_stream_text(uint64_t handle,
			  char text[NCS_CUDA_STREAM_TEXT_BYTES])
{
	snprintf(text, NCS_CUDA_STREAM_TEXT_BYTES, "0x%" PRIx64, handle);
}
