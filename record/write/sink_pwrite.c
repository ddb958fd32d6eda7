/* SPDX-License-Identifier: MIT */
/* Writes by pwrite(2), one buffer after another, where io_uring is not
 * available. */
#include <errno.h>
#include <unistd.h>

#include "record/write/sink_internal.h"

static ssize_t write_at(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	ssize_t result = pwrite(sink->file, buffer->bytes + buffer->written,
				buffer->filled - buffer->written,
				(off_t)(buffer->offset + buffer->written));

	return result < 0 ? -errno : result;
}

const struct ncs_sink_method ncs_sink_pwrite = {
	.name = "pwrite",
	.write = write_at,
};
