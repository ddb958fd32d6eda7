/* SPDX-License-Identifier: MIT */
/* The buffers of a sink, its error handling, and the methods of writing but for
 * sink_uring.c; see sink.h. */
#include "record/write/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/format/file_format.h"
#include "shm/array.h"

/* --- Methods ------------------------------------------------------------- */

static ssize_t write_at(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	ssize_t result = pwrite(sink->file, buffer->bytes + buffer->written,
				buffer->filled - buffer->written,
				(off_t)(buffer->offset + buffer->written));

	return result < 0 ? -errno : result;
}

static const struct ncs_sink_method by_pwrite = {
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

/* One buffer after another. */
static const struct ncs_sink_method to_pipe = {
	.name = "write",
	.write = write_next,
};

int ncs_sink_memory_append(struct ncs_sink_memory *memory, const void *bytes,
			   size_t size)
{
	/* None may come from nowhere. */
	if (size == 0)
		return 0;
	if (ncs_array_reserve(&memory->bytes, &memory->capacity,
			      memory->size + size, 1) != 0)
		return -ENOMEM;
	memcpy(memory->bytes + memory->size, bytes, size);
	memory->size += size;
	return 0;
}

static ssize_t append(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	size_t bytes = buffer->filled - buffer->written;

	return ncs_sink_memory_append(
		       sink->own, buffer->bytes + buffer->written, bytes) == 0 ?
		       (ssize_t)bytes :
		       -ENOMEM;
}

/* Appends to memory; `own` is a struct ncs_sink_memory. */
static const struct ncs_sink_method to_memory = {
	.name = "memory",
	.write = append,
};

/* --- Writing ------------------------------------------------------------- */

static void fail(struct ncs_sink *sink, const struct ncs_sink_buffer *buffer,
		 int error)
{
	if (sink->error == 0)
		sink->error = error;
	if (buffer->offset + buffer->written < sink->failed_offset)
		sink->failed_offset = buffer->offset + buffer->written;
}

static void describe(struct ncs_sink *sink)
{
	bool lacks_direct = (sink->means & NCS_SINK_DIRECT) && !sink->direct;

	snprintf(sink->method_text, sizeof(sink->method_text), "%s%s",
		 sink->method->name, sink->direct ? ", O_DIRECT" : "");
	if (sink->uring_error)
		snprintf(sink->fallback, sizeof(sink->fallback),
			 "io_uring cannot be had (%s): writing with pwrite",
			 strerror(-sink->uring_error));
	else if (lacks_direct)
		snprintf(sink->fallback, sizeof(sink->fallback),
			 "O_DIRECT cannot be had on this file system: writing"
			 " with %s through the page cache",
			 sink->method->name);
}

/* Stops using O_DIRECT, which some file systems refuse only at the first write.
 * Returns true if writes now go through the page cache. */
static bool give_up_direct(struct ncs_sink *sink)
{
	int flags = fcntl(sink->file, F_GETFL);

	if (!sink->direct || flags < 0 ||
	    fcntl(sink->file, F_SETFL, flags & ~O_DIRECT) != 0)
		return false;
	sink->direct = false;
	describe(sink);
	return true;
}

/* Whether a write should be repeated. A write of 0 bytes is not repeated, as
 * that might never end. */
static bool was_only_delayed(struct ncs_sink *sink, ssize_t result)
{
	return result == -EINTR || result == -EAGAIN ||
	       (result == -EINVAL && give_up_direct(sink));
}

/* Takes the result of writing a buffer, and continues until the buffer is
 * written, pending, or has failed. Continues even if another buffer has failed:
 * everything before a failed buffer must be complete. */
static void go_on(struct ncs_sink *sink, struct ncs_sink_buffer *buffer,
		  ssize_t result)
{
	bool failed = false;

	while (result != NCS_SINK_LATER) {
		if (result > 0)
			buffer->written += (size_t)result;
		else if (!was_only_delayed(sink, result))
			failed = true;
		if (failed)
			fail(sink, buffer, result < 0 ? (int)result : -EIO);
		if (failed || buffer->written >= buffer->filled) {
			buffer->busy = false;
			sink->busy_count--;
			return;
		}
		result = sink->method->write(sink, buffer);
	}
}

static void start(struct ncs_sink *sink, struct ncs_sink_buffer *buffer)
{
	buffer->busy = true;
	sink->busy_count++;
	go_on(sink, buffer, sink->method->write(sink, buffer));
}

/* Takes the result of one pending buffer, and waits for a result if `wait` is
 * true. Returns false if there is no result yet. */
static bool take_one(struct ncs_sink *sink, bool wait)
{
	struct ncs_sink_buffer *buffer;
	ssize_t result = sink->method->wait(sink, &buffer, wait);

	if (buffer) {
		go_on(sink, buffer, result);
		return true;
	}
	if (result == NCS_SINK_LATER)
		return false;
	/* The method itself failed: no pending buffer will ever finish. */
	for (size_t i = 0; i < NCS_SINK_BUFFERS; i++)
		if (sink->buffers[i].busy)
			fail(sink, &sink->buffers[i], (int)result);
	sink->busy_count = 0;
	return false;
}

/* Takes all results that are available, so that errors are noticed early. */
static void take_all_done(struct ncs_sink *sink)
{
	while (sink->busy_count > 0 && take_one(sink, false))
		;
}

/* --- Buffers ------------------------------------------------------------- */

static struct ncs_sink_buffer *free_buffer(struct ncs_sink *sink)
{
	for (;;) {
		if (sink->error != 0)
			return NULL;
		for (size_t i = 0; i < NCS_SINK_BUFFERS; i++)
			if (!sink->buffers[i].busy)
				return &sink->buffers[i];
		take_one(sink, true);
	}
}

void *ncs_sink_room(struct ncs_sink *sink, size_t *bytes)
{
	struct ncs_sink_buffer *buffer = sink->current;

	if (!buffer) {
		buffer = free_buffer(sink);
		if (!buffer)
			return NULL;
		buffer->filled = buffer->written = 0;
		buffer->offset = sink->offset;
		sink->current = buffer;
	}
	*bytes = NCS_SINK_BUFFER_BYTES - buffer->filled;
	return buffer->bytes + buffer->filled;
}

void ncs_sink_put(struct ncs_sink *sink, size_t bytes)
{
	sink->current->filled += bytes;
	if (sink->current->filled == NCS_SINK_BUFFER_BYTES)
		ncs_sink_flush(sink);
}

int ncs_sink_flush(struct ncs_sink *sink)
{
	struct ncs_sink_buffer *buffer = sink->current;

	take_all_done(sink);
	if (!buffer || buffer->filled == 0)
		return sink->error;
	sink->current = NULL;
	sink->offset += buffer->filled;
	start(sink, buffer);
	return sink->error;
}

uint64_t ncs_sink_offset(const struct ncs_sink *sink)
{
	return sink->offset + (sink->current ? sink->current->filled : 0);
}

/* --- Opening, closing ---------------------------------------------------- */

static int get_buffers(struct ncs_sink *sink)
{
	size_t bytes = (size_t)NCS_SINK_BUFFERS * NCS_SINK_BUFFER_BYTES;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	sink->memory = memory;
	for (size_t i = 0; i < NCS_SINK_BUFFERS; i++)
		sink->buffers[i].bytes =
			sink->memory + i * NCS_SINK_BUFFER_BYTES;
	return 0;
}

static void release(struct ncs_sink *sink)
{
	if (sink->method && sink->method->close)
		sink->method->close(sink);
	if (sink->memory)
		munmap(sink->memory,
		       (size_t)NCS_SINK_BUFFERS * NCS_SINK_BUFFER_BYTES);
	free(sink);
}

int ncs_sink_open_method(struct ncs_sink **out, int file, bool direct,
			 size_t block_bytes,
			 const struct ncs_sink_method *method)
{
	struct ncs_sink *sink = calloc(1, sizeof(*sink));
	int error = -ENOMEM;

	*out = NULL;
	if (!sink)
		return error;
	sink->file = file;
	sink->direct = direct;
	sink->block_bytes = block_bytes;
	sink->failed_offset = UINT64_MAX;
	error = get_buffers(sink);
	if (!error && method->open)
		error = method->open(sink);
	if (error) {
		release(sink);
		return error;
	}
	sink->method = method;
	*out = sink;
	return 0;
}

static int open_regular(struct ncs_sink **sink, int file, unsigned means)
{
	int flags = fcntl(file, F_GETFL);
	bool direct = (means & NCS_SINK_DIRECT) && flags >= 0 &&
		      fcntl(file, F_SETFL, flags | O_DIRECT) == 0;
	int uring_error = 0, error = -ENOSYS;

	if (ftruncate(file, 0) != 0)
		return -errno;
	/* Through the page cache, io_uring has no benefit: it only makes kernel
	 * threads copy, which wait for each other. */
	if ((means & NCS_SINK_URING) && (direct || !(means & NCS_SINK_DIRECT)))
		error = uring_error = ncs_sink_open_method(
			sink, file, direct, NCS_BLOCK_BYTES, &ncs_sink_uring);
	if (error)
		error = ncs_sink_open_method(sink, file, direct,
					     NCS_BLOCK_BYTES, &by_pwrite);
	if (error)
		return error;
	(*sink)->means = means;
	(*sink)->uring_error = uring_error;
	describe(*sink);
	return 0;
}

static int open_pipe(struct ncs_sink **sink, int file)
{
	int error = ncs_sink_open_method(sink, file, false, 1, &to_pipe);

	if (!error)
		describe(*sink);
	return error;
}

int ncs_sink_open(struct ncs_sink **sink, const char *path, unsigned means,
		  char *why, size_t why_size)
{
	bool is_output = strcmp(path, "-") == 0;
	struct stat status;
	int file, error;

	*sink = NULL;
	/* Like segments, recordings may be read only by their owner. */
	file = is_output ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) :
			   open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || fstat(file, &status) != 0) {
		error = -errno;
	} else if (isatty(file)) {
		error = -ENOTSUP;
	} else if (!is_output && S_ISREG(status.st_mode)) {
		error = open_regular(sink, file, means);
	} else {
		error = open_pipe(sink, file);
	}
	if (!error)
		return 0;
	if (file >= 0)
		close(file);
	snprintf(why, why_size, "%s",
		 error == -ENOTSUP ? "a recording is nothing for a terminal" :
				     strerror(-error));
	return error;
}

int ncs_sink_open_memory(struct ncs_sink **sink, struct ncs_sink_memory *memory)
{
	int error = ncs_sink_open_method(sink, -1, false, 1, &to_memory);

	if (!error)
		(*sink)->own = memory;
	return error;
}

/* Writes the last buffer, rounded up to whole blocks; ncs_sink_close() cuts the
 * file to its length. */
static void write_rest(struct ncs_sink *sink)
{
	struct ncs_sink_buffer *buffer = sink->current;
	size_t block = sink->block_bytes, whole;

	if (buffer && buffer->filled > 0 && sink->error == 0) {
		whole = (buffer->filled + block - 1) / block * block;
		memset(buffer->bytes + buffer->filled, 0,
		       whole - buffer->filled);
		buffer->filled = whole;
		sink->current = NULL;
		start(sink, buffer);
	}
	while (sink->busy_count > 0)
		take_one(sink, true);
}

int ncs_sink_close(struct ncs_sink *sink)
{
	uint64_t end;
	int error;

	if (!sink)
		return 0;
	end = ncs_sink_offset(sink);
	write_rest(sink);
	if (end > sink->failed_offset)
		end = sink->failed_offset;
	if (sink->block_bytes > 1 && ftruncate(sink->file, (off_t)end) != 0 &&
	    sink->error == 0)
		sink->error = -errno;
	/* On network file systems write errors may show only now. */
	if (sink->file >= 0 && close(sink->file) != 0 && sink->error == 0)
		sink->error = -errno;
	error = sink->error;
	release(sink);
	return error;
}
