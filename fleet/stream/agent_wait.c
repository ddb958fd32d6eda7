/* SPDX-License-Identifier: MIT */
/* Waits for an agent's files; see agent_wait.h. */
#include "fleet/stream/agent_wait.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/clock.h"

/* An end of the input this soon after the start does not count. */
#define INPUT_GRACE_NS UINT64_C(1000000000)

/* The most bytes of orders that are taken in a second. The rest waits: whoever
 * floods the input must not keep the agent busy. */
#define INPUT_BYTES_MAX 16384u
#define INPUT_EVERY_NS UINT64_C(1000000000)

/* How long the last look may take to be written: if the program was told to end,
 * and if there was to be a number of looks. */
#define LAST_NS UINT64_C(200000000)
#define LAST_COUNTED_NS UINT64_C(60000000000)

enum { INPUT, OUTPUT, WRITTEN, STOP, MORE, FILES };

/* Returns the events of the input to wait for; -1 if its end means nothing. */
static int input_events(const struct ncs_agent_settings *settings)
{
	int read = settings->heartbeat_ns != 0 ? POLLIN : 0;
	struct stat status;

	if (fstat(settings->input, &status) != 0)
		return -1;
	if (S_ISSOCK(status.st_mode))
		return POLLRDHUP | read;
	return S_ISFIFO(status.st_mode) ? read : -1;
}

void ncs_agent_wait_begin(struct ncs_agent_wait *wait,
			  const struct ncs_agent_settings *settings,
			  int written, int more)
{
	int events = input_events(settings);
	struct pollfd *files = wait->files;

	memset(wait, 0, sizeof(*wait));
	wait->settings = settings;
	wait->begun_ns = wait->beat_ns = ncs_clock_monotonic_ns();
	wait->orders.packs = settings->is_packed;
	files[INPUT].fd = events < 0 ? -1 : settings->input;
	wait->input_events = (short)(events < 0 ? 0 : events);
	files[OUTPUT].fd = settings->output;
	files[WRITTEN].fd = written;
	files[WRITTEN].events = POLLIN;
	files[STOP].fd = settings->stop;
	files[STOP].events = POLLIN;
	files[MORE].fd = more;
	files[MORE].events = POLLIN;
}

/* Returns how long to wait in ms. */
static int timeout_of(const struct ncs_agent_wait *wait, uint64_t until_ns,
		      uint64_t now_ns)
{
	uint64_t heartbeat_ns = wait->settings->heartbeat_ns, left_ns;

	if (heartbeat_ns != 0 && wait->beat_ns + heartbeat_ns < until_ns)
		until_ns = wait->beat_ns + heartbeat_ns;
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	return (int)(left_ns / 1000000 + (left_ns % 1000000 != 0));
}

/* Has the input read, up to the bytes of a second. */
static void watch_input(struct ncs_agent_wait *wait, uint64_t now_ns)
{
	if (now_ns - wait->taken_ns >= INPUT_EVERY_NS) {
		wait->taken_ns = now_ns;
		wait->taken_bytes = 0;
	}
	wait->files[INPUT].events = wait->input_events;
	if (wait->taken_bytes >= INPUT_BYTES_MAX)
		wait->files[INPUT].events &= (short)~POLLIN;
}

/* Takes what the input has. Returns whether to go on. */
static bool take_input(struct ncs_agent_wait *wait, uint64_t now_ns)
{
	struct pollfd *input = &wait->files[INPUT];
	char bytes[256];
	ssize_t size = 0;

	if (input->revents & POLLIN)
		size = read(input->fd, bytes, sizeof(bytes));
	if (size > 0) {
		ncs_orders_take(&wait->orders, bytes, (size_t)size);
		wait->taken_bytes += (size_t)size;
		wait->beat_ns = now_ns;
		return true;
	}
	if (now_ns - wait->begun_ns < INPUT_GRACE_NS) {
		input->fd = -1;
		return true;
	}
	wait->end = NCS_AGENT_INPUT_ENDED;
	return false;
}

bool ncs_agent_wait(struct ncs_agent_wait *wait, uint64_t until_ns)
{
	uint64_t heartbeat_ns = wait->settings->heartbeat_ns;
	const struct pollfd *files = wait->files;
	uint64_t asked_ns = ncs_clock_monotonic_ns(), now_ns;
	int ready;

	watch_input(wait, asked_ns);
	ready = poll(wait->files, FILES, timeout_of(wait, until_ns, asked_ns));
	now_ns = ncs_clock_monotonic_ns();
	if (ready > 0 && files[STOP].revents)
		wait->end = NCS_AGENT_STOPPED;
	else if (ready > 0 && (files[WRITTEN].revents || files[OUTPUT].revents))
		wait->end = NCS_AGENT_OUTPUT_CLOSED;
	else if (ready > 0 && files[INPUT].revents)
		return take_input(wait, now_ns);
	/* A beat may have come since, if this process was held up. */
	else if (heartbeat_ns != 0 && asked_ns - wait->beat_ns >= heartbeat_ns)
		wait->end = NCS_AGENT_INPUT_SILENT;
	else
		return true;
	return false;
}

void ncs_agent_finish(struct ncs_stream_output *output, int error,
		      struct ncs_agent_result *result)
{
	bool counted = !error && result->end == NCS_AGENT_COUNTED;
	struct ncs_stream_output_totals totals = { 0 };

	if (output)
		ncs_stream_output_close(output,
					counted ? LAST_COUNTED_NS : LAST_NS,
					&totals);
	result->bytes = totals.bytes;
	if (!error)
		error = totals.error;
	if (error == -EPIPE || error == -ECONNRESET) {
		result->end = NCS_AGENT_OUTPUT_CLOSED;
	} else if (error) {
		result->end = NCS_AGENT_FAILED;
		result->error = error;
	}
}
