/* SPDX-License-Identifier: MIT */
/* Makes the payload of the chunk "tables": the meaning of numbers in records
 * and the offsets of fields, as text, which explains a file without this
 * program. One item per line, words separated by blanks; ncclstat-record(5)
 * describes the lines. */
#include <stdio.h>
#include <stdlib.h>

#include "ncclstat/abi_values.h"
#include "ncclstat/names.h"
#include "ncclstat/record.h"
#include "record/write/recording_writer_internal.h"

#define FIELDS(X) \
	X(start) \
	X(position) \
	X(event) \
	X(flags) \
	X(channel) \
	X(function) \
	X(operation) \
	X(peer) \
	X(value) \
	X(number) \
	X(duration) \
	X(delta)

#define FLAGS(X) \
	X(SEND, "send") \
	X(GRAPH, "graph") \
	X(MISSING_STOP, "missing_stop") \
	X(AGAIN, "again")

static void write_fields(FILE *text)
{
#define X(name) \
	fprintf(text, "field %zu %zu " #name "\n", \
		offsetof(struct ncs_record, name), \
		sizeof(((struct ncs_record *)NULL)->name));
	FIELDS(X)
#undef X
#define X(ID, name) fprintf(text, "flag %d %s\n", (int)NCS_RECORD_##ID, name);
	FLAGS(X)
#undef X
}

static void write_names(FILE *text)
{
#define X(ID, name, ...) fprintf(text, "event %d %s\n", NCS_EVENT_##ID, name);
	NCS_EVENTS(X)
	NCS_OWN_EVENTS(X)
#undef X
#define X(ID, name, ...) \
	fprintf(text, "function %d %s\n", NCS_FUNCTION_##ID, name);
	NCS_FUNCTIONS(X)
#undef X
#define X(ID, name, number, bytes) \
	fprintf(text, "datatype %d %s %d\n", NCS_DATATYPE_##ID, name, bytes);
	NCS_DATATYPES(X)
#undef X
#define X(ID, name, ...) \
	fprintf(text, "algorithm %d %s\n", NCS_ALGORITHM_##ID, name);
	NCS_ALGORITHMS(X)
#undef X
#define X(ID, name, ...) \
	fprintf(text, "protocol %d %s\n", NCS_PROTOCOL_##ID, name);
	NCS_PROTOCOLS(X)
#undef X
#define X(ID, name, ...) \
	fprintf(text, "channel_state %d %s\n", NCS_CHANNEL_##ID, name);
	NCS_CHANNEL_STATES(X)
#undef X
#define X(ID, name, ...) \
	fprintf(text, "proxy_state %d %s\n", NCS_PROXY_##ID, name);
	NCS_PROXY_STATES(X)
#undef X
#define X(ID, name, ...) fprintf(text, "loss %d %s\n", NCS_LOSS_##ID, name);
	NCS_LOSSES(X)
#undef X
#define X(ID, name, ...) fprintf(text, "chunk %d %s\n", NCS_CHUNK_##ID, name);
	NCS_CHUNKS(X)
#undef X
}

char *ncs_recording_tables_text(size_t *bytes)
{
	char *memory = NULL;
	FILE *text = open_memstream(&memory, bytes);

	if (!text)
		return NULL;
	write_fields(text);
	write_names(text);
	if (fclose(text) == 0)
		return memory;
	free(memory);
	return NULL;
}
