/* SPDX-License-Identifier: MIT */
/* Writes one buffer after another: by pwrite(2) where io_uring is not available, by
 * write(2) to pipes and other files without offsets. */
#include <errno.h>
#include <poll.h>
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
