/* SPDX-License-Identifier: MIT */
/* The fields of a record by name, for exports, and its CUDA stream. Records are not
 * trusted: they may hold any value. */
#ifndef NCS_RECORD_FORMAT_RECORD_FIELDS_H
#define NCS_RECORD_FORMAT_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/fields.def"

struct ncs_clock;  /* ncclstat/abi_clock.h */
struct ncs_record; /* ncclstat/record.h */

enum ncs_field {
#define X(ID, name, where, type, help) NCS_FIELD_##ID,
	NCS_FIELDS(X)
#undef X
		NCS_FIELD_COUNT
};

/* Returns the field's name in exports. */
const char *ncs_field_name(enum ncs_field field);
/* Whether the field is an argument of a trace's slices. */
bool ncs_field_is_traced(enum ncs_field field);

enum ncs_field_kind {
	NCS_FIELD_NOTHING, /* the value is not known */
	NCS_FIELD_NUMBER,
	NCS_FIELD_IS, /* a flag, 0 or 1 */
	NCS_FIELD_PROXY_STATE,
	NCS_FIELD_RANGE_PATH, /* number of a range, to be shown by its path */
	/* The activation mask and sampling, packed as in a settings record. */
	NCS_FIELD_DETAIL,
	NCS_FIELD_HANDLE,     /* handle of a CUDA stream */
};

struct ncs_field_value {
	enum ncs_field field;
	enum ncs_field_kind kind;
	uint64_t value;
};

#define NCS_FIELDS_MAX 20u

/* Sets the fields that a record of this type has besides event, rank, place and
 * times. Durations are in ns. `stream` is the record's, as
 * ncs_cuda_streams_take() set it. Returns the number of fields. */
unsigned ncs_record_fields(const struct ncs_record *record, uint64_t stream,
			   const struct ncs_clock *clock,
			   struct ncs_field_value fields[NCS_FIELDS_MAX]);

/* Whether records of this type belong to a channel; to a direction of a
 * channel; to a function of NCCL. */
bool ncs_event_has_channel(unsigned event);
bool ncs_event_has_direction(unsigned event);
bool ncs_event_has_function(unsigned event);

/* --- CUDA streams --------------------------------------------------------- */

/* The CUDA stream of each record: the record names it, or a record before it in the
 * same ring does (ncclstat/record.h). */

/* The streams of one rank's lanes. A struct of zeros is empty. */
struct ncs_cuda_streams {
	struct ncs_cuda_stream_lane *lanes; /* by lane */
	size_t capacity;
};

/* Frees the memory of the lanes. */
void ncs_cuda_streams_release(struct ncs_cuda_streams *streams);

/* Takes the next record of a lane. All records must be taken, in their order.
 * Sets *stream to the stream of the record's event, as it is in records; 0 if
 * the event has no stream, or its stream is not known. After missing records
 * the stream is not known until a record names it again. Returns 0 or
 * -ENOMEM. */
int ncs_cuda_streams_take(struct ncs_cuda_streams *streams, unsigned lane,
			  const struct ncs_record *record, uint64_t *stream);

#define NCS_CUDA_STREAM_TEXT_BYTES 19u

/* Prints a stream's handle as debuggers show it, e.g. "0x7f0012345678". */
void ncs_cuda_stream_text(uint64_t handle,
			  char text[NCS_CUDA_STREAM_TEXT_BYTES]);

#endif
