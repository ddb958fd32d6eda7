/* SPDX-License-Identifier: MIT */
/* Writes looks in a thread of its own; see stream_output.h. */
#include "fleet/stream/stream_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Lines are written in whole, this many bytes at most at once: a pipe does not
 * mix them with those of other agents then. */
#define LINES_BYTES PIPE_BUF
/* A terminal takes lines one by one, with this pause: it may cut what is written
 * at once, and what has piled up is read without regard to lines. */
#define TERMINAL_PAUSE_NS 500000L
_Static_assert(NCS_LINE_PADDED <= LINES_BYTES, "a line is written at once");

struct ncs_stream_output {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int file;
	int event;
	size_t block; /* bytes of lines that are written at once */
	enum ncs_stream_output_form form;
	struct ncs_line_writer lines; /* the thread's */
	/* Under the mutex: */
	struct ncs_sink_memory waiting; /* empty if no look waits */
	struct ncs_sink_memory spare;   /* memory for another look */
	bool is_ending;
	int error;
	uint64_t bytes;
};

/* --- The thread ---------------------------------------------------------- */

static int write_all(struct ncs_stream_output *output, const char *bytes,
		     size_t size)
{
	struct pollfd ready = { .fd = output->file, .events = POLLOUT };

	while (size > 0) {
		ssize_t written = write(output->file, bytes, size);

		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		/* Another process has set the pipe to O_NONBLOCK. */
		if (written < 0 && errno == EAGAIN)
			poll(&ready, 1, -1);
		if (written <= 0)
			continue;
		bytes += written;
		size -= (size_t)written;
		pthread_mutex_lock(&output->mutex);
		output->bytes += (size_t)written;
		pthread_mutex_unlock(&output->mutex);
	}
	return 0;
}

/* Writes whole lines. */
static int write_block(struct ncs_stream_output *output, const char *lines,
		       size_t size)
{
	const struct timespec pause = { .tv_nsec = TERMINAL_PAUSE_NS };
	int error = write_all(output, lines, size);

	if (output->block == NCS_LINE_TERMINAL)
		nanosleep(&pause, NULL);
	return error;
}

static int write_lines(struct ncs_stream_output *output, const char *bytes,
		       size_t size)
{
	char text[LINES_BYTES];
	size_t used = 0, line_bytes;
	int error = 0;

	while (size > 0 && !error) {
		size_t taken = ncs_line_put(&output->lines, bytes, size,
					    text + used, &line_bytes);

		bytes += taken;
		size -= taken;
		used += line_bytes;
		if (size > 0 && used + NCS_LINE_PADDED <= output->block)
			continue;
		error = write_block(output, text, used);
		used = 0;
	}
	return error;
}

/* Writes whole lines, as many at a time as a pipe takes at once. */
static int write_text(struct ncs_stream_output *output, const char *text,
		      size_t size)
{
	int error = 0;

	while (size > 0 && !error) {
		size_t part = size < output->block ? size : output->block;
		const char *end = memrchr(text, '\n', part);

		if (end)
			part = (size_t)(end - text) + 1;
		error = write_block(output, text, part);
		text += part;
		size -= part;
	}
	return error;
}

static int write_look(struct ncs_stream_output *output, const char *bytes,
		      size_t size)
{
	switch (output->form) {
	case NCS_STREAM_OUTPUT_LINES:
		return write_lines(output, bytes, size);
	case NCS_STREAM_OUTPUT_TEXT:
		return write_text(output, bytes, size);
	case NCS_STREAM_OUTPUT_BYTES:
		break;
	}
	return write_all(output, bytes, size);
}

static void *run(void *context)
{
	struct ncs_stream_output *output = context;
	struct ncs_sink_memory look;
	const uint64_t one = 1;
	int error = 0;

	pthread_mutex_lock(&output->mutex);
	while (!error) {
		while (output->waiting.size == 0 && !output->is_ending)
			pthread_cond_wait(&output->changed, &output->mutex);
		if (output->waiting.size == 0)
			break;
		look = output->waiting;
		memset(&output->waiting, 0, sizeof(output->waiting));
		pthread_mutex_unlock(&output->mutex);
		error = write_look(output, look.bytes, look.size);
		pthread_mutex_lock(&output->mutex);
		free(output->spare.bytes);
		output->spare = look;
	}
	output->error = error;
	pthread_mutex_unlock(&output->mutex);
	/* The counter of an eventfd has room for this. */
	if (error && write(output->event, &one, sizeof(one)) < 0)
		abort();
	return NULL;
}

/* --- The agent's side ---------------------------------------------------- */

int ncs_stream_thread_start(pthread_t *thread, void *(*routine)(void *context),
			    void *context)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = -pthread_create(thread, NULL, routine, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void release(struct ncs_stream_output *output)
{
	if (output->event >= 0)
		close(output->event);
	pthread_cond_destroy(&output->changed);
	pthread_mutex_destroy(&output->mutex);
	free(output->waiting.bytes);
	free(output->spare.bytes);
	free(output);
}

int ncs_stream_output_open(struct ncs_stream_output **out, int file,
			   enum ncs_stream_output_form form,
			   const struct ncs_line_writer *lines)
{
	struct ncs_stream_output *output = calloc(1, sizeof(*output));
	int error;

	*out = NULL;
	if (!output)
		return -ENOMEM;
	output->file = file;
	output->form = form;
	output->block = isatty(file) ? NCS_LINE_TERMINAL : LINES_BYTES;
	if (lines)
		output->lines = *lines;
	pthread_mutex_init(&output->mutex, NULL);
	pthread_cond_init(&output->changed, NULL);
	signal(SIGPIPE, SIG_IGN);
	output->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = output->event < 0 ?
			-errno :
			ncs_stream_thread_start(&output->thread, run, output);
	if (error)
		release(output);
	else
		*out = output;
	return error;
}

bool ncs_stream_output_drop(struct ncs_stream_output *output)
{
	bool waited;

	pthread_mutex_lock(&output->mutex);
	waited = output->waiting.size > 0;
	if (waited) {
		free(output->spare.bytes);
		output->spare = output->waiting;
		memset(&output->waiting, 0, sizeof(output->waiting));
	}
	pthread_mutex_unlock(&output->mutex);
	return waited;
}

bool ncs_stream_output_waits(struct ncs_stream_output *output)
{
	bool waits;

	pthread_mutex_lock(&output->mutex);
	waits = output->waiting.size > 0;
	pthread_mutex_unlock(&output->mutex);
	return waits;
}

void ncs_stream_output_put(struct ncs_stream_output *output,
			   struct ncs_sink_memory *look)
{
	pthread_mutex_lock(&output->mutex);
	output->waiting = *look;
	*look = output->spare;
	look->size = 0;
	memset(&output->spare, 0, sizeof(output->spare));
	pthread_cond_signal(&output->changed);
	pthread_mutex_unlock(&output->mutex);
}

int ncs_stream_output_event(const struct ncs_stream_output *output)
{
	return output->event;
}

void ncs_stream_output_close(struct ncs_stream_output *output,
			     uint64_t wait_ns,
			     struct ncs_stream_output_totals *totals)
{
	struct timespec until;
	bool has_ended;

	pthread_mutex_lock(&output->mutex);
	output->is_ending = true;
	pthread_cond_signal(&output->changed);
	pthread_mutex_unlock(&output->mutex);
	clock_gettime(CLOCK_MONOTONIC, &until);
	wait_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(wait_ns / UINT64_C(1000000000));
	until.tv_nsec = (long)(wait_ns % UINT64_C(1000000000));
	has_ended = pthread_clockjoin_np(output->thread, NULL, CLOCK_MONOTONIC,
					 &until) == 0;
	pthread_mutex_lock(&output->mutex);
	totals->bytes = output->bytes;
	totals->error = output->error;
	pthread_mutex_unlock(&output->mutex);
	if (has_ended)
		release(output);
}
