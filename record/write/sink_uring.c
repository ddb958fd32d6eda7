/* SPDX-License-Identifier: MIT */
/* Writes by io_uring, with several buffers pending. The buffers are registered,
 * so that the kernel does not look up their pages each time. */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "record/write/sink.h"

static void close_ring(struct ncs_sink *sink)
{
	struct io_uring *ring = sink->own;

	io_uring_queue_exit(ring);
	free(ring);
	sink->own = NULL;
}

static int open_ring(struct ncs_sink *sink)
{
	struct iovec buffers[NCS_SINK_BUFFERS];
	struct io_uring *ring = calloc(1, sizeof(*ring));
	int error;

	if (!ring)
		return -ENOMEM;
	error = io_uring_queue_init(NCS_SINK_BUFFERS, ring, 0);
	if (error) {
		free(ring);
		return error;
	}
	for (size_t i = 0; i < NCS_SINK_BUFFERS; i++) {
		buffers[i].iov_base = sink->buffers[i].bytes;
		buffers[i].iov_len = NCS_SINK_BUFFER_BYTES;
	}
	sink->own = ring;
	error = io_uring_register_buffers(ring, buffers, NCS_SINK_BUFFERS);
	if (error)
		close_ring(sink);
	return error;
}

static ssize_t start(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	struct io_uring *ring = sink->own;
	struct io_uring_sqe *entry = io_uring_get_sqe(ring);
	int submitted;

	/* There is one entry per buffer, and entries are submitted immediately,
	 * so one is always free. */
	if (!entry)
		return -EBUSY;
	io_uring_prep_write_fixed(entry, sink->file,
				  buffer->bytes + buffer->written,
				  (unsigned)(buffer->filled - buffer->written),
				  buffer->offset + buffer->written,
				  (int)(buffer - sink->buffers));
	io_uring_sqe_set_data(entry, buffer);
	do
		submitted = io_uring_submit(ring);
	while (submitted == -EINTR || submitted == -EAGAIN);
	return submitted < 0 ? submitted : NCS_SINK_LATER;
}

static ssize_t wait_for_one(struct ncs_sink *sink,
			    struct ncs_sink_buffer **buffer, bool wait)
{
	struct io_uring *ring = sink->own;
	struct io_uring_cqe *completion;
	ssize_t result;

	*buffer = NULL;
	do
		result = wait ? io_uring_wait_cqe(ring, &completion) :
				io_uring_peek_cqe(ring, &completion);
	while (result == -EINTR || (wait && result == -EAGAIN));
	if (result < 0)
		return result == -EAGAIN ? NCS_SINK_LATER : result;
	*buffer = io_uring_cqe_get_data(completion);
	result = completion->res;
	io_uring_cqe_seen(ring, completion);
	return result;
}

const struct ncs_sink_method ncs_sink_uring = {
	.name = "io_uring",
	.open = open_ring,
	.close = close_ring,
	.write = start,
	.wait = wait_for_one,
};
