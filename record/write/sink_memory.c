/* SPDX-License-Identifier: MIT */
/* Appends the bytes of a sink to memory, for an agent that sends them or drops
 * them as a whole. */
#include <errno.h>
#include <string.h>

#include "record/write/sink_internal.h"
#include "shm/array.h"

static ssize_t append(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	struct ncs_sink_memory *memory = sink->own;
	size_t bytes = buffer->filled - buffer->written;

	if (ncs_array_reserve(&memory->bytes, &memory->capacity,
			      memory->size + bytes, 1) != 0)
		return -ENOMEM;
	memcpy(memory->bytes + memory->size, buffer->bytes + buffer->written,
	       bytes);
	memory->size += bytes;
	return (ssize_t)bytes;
}

/* Appends to memory; `own` is a struct ncs_sink_memory. */
static const struct ncs_sink_method to_memory = {
	.name = "memory",
	.write = append,
};

int ncs_sink_open_memory(struct ncs_sink **sink, struct ncs_sink_memory *memory)
{
	int error = ncs_sink_open_method(sink, -1, false, 1, &to_memory);

	if (!error)
		(*sink)->own = memory;
	return error;
}
