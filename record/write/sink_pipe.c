/* SPDX-License-Identifier: MIT */
/* Writes to pipes and other files without offsets by write(2), one buffer after
 * another. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "record/write/sink_internal.h"

static ssize_t write_next(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	struct pollfd ready = { .fd = sink->file, .events = POLLOUT };
	ssize_t result = write(sink->file, buffer->bytes + buffer->written,
			       buffer->filled - buffer->written);

	if (result >= 0)
		return result;
	/* Another process has set the pipe to O_NONBLOCK. */
	if (errno == EAGAIN)
		poll(&ready, 1, -1);
	return -errno;
}

const struct ncs_sink_method ncs_sink_pipe = {
	.name = "write",
	.write = write_next,
};
