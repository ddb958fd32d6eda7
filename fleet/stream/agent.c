/* SPDX-License-Identifier: MIT */
/* The agent's loop; see agent.h. Reads segments through
 * record/write/recorder_segments.h and leaves writing to stream_output.c. */
#include "fleet/stream/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/stream/key_times.h"
#include "fleet/stream/look_pack.h"
#include "ncclstat/reader.h"
#include "record/write/recorder_segments.h"
#include "shm/clock.h"

/* How often rings are read, if records are wanted. */
#define DRAIN_EVERY_NS UINT64_C(10000000)

/* A look has room for another segment up to this share of what it may have, and
 * for more records up to that one. */
#define STATES_SHARE 2
#define RECORDS_SHARE 4

/* Number of segments that a look names because they cannot be read. */
#define UNREADABLE_MAX 16u

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

/* --- Waiting ------------------------------------------------------------- */

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
		ncs_stream_output_close(
			output, counted ? LAST_COUNTED_NS : LAST_NS, &totals);
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

/* --- A look -------------------------------------------------------------- */

struct agent {
	const struct ncs_agent_settings *settings;
	struct ncs_recorder_settings recorder;
	struct ncs_recorder_segments followed;
	struct ncs_recording_writer *writer;
	struct ncs_sink_memory memory;  /* the look in the making */
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_sink_memory packed;
	struct ncs_agent_wait wait;
	struct ncs_stream_output *output;
	struct ncs_agent_result *result;
	uint64_t next_ns; /* when the next look is due */
	struct ncs_key_times keys;
	uint64_t key_ranks; /* number of segments until then */
};

/* Whether the look is smaller than a share of the largest one. */
static bool is_within(const struct agent *agent, uint64_t share)
{
	uint64_t unpacked, bytes = ncs_recording_writer_look_bytes(
				   agent->writer, &unpacked);

	return bytes < NCS_LOOK_BYTES_MAX / share &&
	       unpacked < NCS_LOOK_UNPACKED_MAX / share;
}

static bool has_room(void *context)
{
	return is_within(context, STATES_SHARE);
}

/* Begins to pack looks, if the reader has asked for it. Returns 0 or
 * -ENOMEM. */
static int pack_if_asked(struct agent *agent)
{
	if (agent->packer || !agent->wait.orders.packs)
		return 0;
	agent->packer = ncs_look_packer_new(NULL);
	if (!agent->packer)
		return -ENOMEM;
	ncs_recording_writer_unpack(agent->writer);
	return 0;
}

/* Whether segments have appeared since the latest look that can be read by
 * itself: whoever drops looks on the way drops their keys. */
static bool has_new_ranks(const struct agent *agent)
{
	return ncs_recording_writer_totals(agent->writer).ranks !=
	       agent->key_ranks;
}

/* Makes the look one that can be read by itself, if it is time, one was
 * dropped, looks are packed from now on, or segments have appeared. */
static int renew_if_due(struct agent *agent, uint64_t now_ns,
			struct ncs_look *look)
{
	bool dropped = ncs_stream_output_drop(agent->output);
	bool was_packed = agent->packer;
	int error = pack_if_asked(agent);

	agent->result->dropped += dropped;
	if (error)
		return error;
	if (!dropped && was_packed == !!agent->packer &&
	    !has_new_ranks(agent) &&
	    !ncs_key_times_are_due(&agent->keys, now_ns))
		return 0;
	/* The first look begins with the file's head anyway. */
	look->flags |= NCS_LOOK_KEY;
	return look->number == 0 ? 0 :
				   ncs_recording_writer_renew(agent->writer);
}

static bool is_unreadable(const struct ncs_recorder_segment *segment)
{
	return !segment->reader && segment->attach != NCS_ATTACH_ABSENT &&
	       segment->attach != NCS_ATTACH_NOT_READY;
}

static int write_unreadable(struct agent *agent, struct ncs_look *look)
{
	int error = 0;

	for (size_t i = 0; i < agent->followed.count && !error; i++) {
		const struct ncs_recorder_segment *segment =
			&agent->followed.segments[i];

		if (!is_unreadable(segment))
			continue;
		if (look->denied + look->unreadable < UNREADABLE_MAX)
			error = ncs_recording_writer_unreadable(
				agent->writer, segment->attach, segment->path,
				segment->why);
		if (segment->attach == NCS_ATTACH_DENIED)
			look->denied++;
		else
			look->unreadable++;
	}
	return error;
}

/* Hands the look over to be written. Returns 0 or -ENOMEM. */
static int put_look(struct agent *agent)
{
	int error;

	if (!agent->packer) {
		ncs_stream_output_put(agent->output, &agent->memory);
		return 0;
	}
	error = ncs_look_packer_pack(agent->packer, agent->memory.bytes,
				     agent->memory.size, &agent->packed);
	agent->memory.size = 0;
	if (!error)
		ncs_stream_output_put(agent->output, &agent->packed);
	return error;
}

static int take_look(struct agent *agent, uint64_t now_ns)
{
	struct ncs_look look = {
		.number = agent->result->looks,
		.interval_ns = agent->settings->interval_ns,
	};
	struct ncs_clock_reading reading;
	int error = renew_if_due(agent, now_ns, &look);

	ncs_clock_reading_take(&reading);
	look.taken_ns = reading.before_ns;
	look.realtime_ns = reading.realtime_ns;
	look.dropped = agent->result->dropped;
	if (!error)
		error = ncs_recording_writer_clock(agent->writer, &reading);
	if (!error)
		error = ncs_recorder_segments_scan(&agent->followed);
	if (!error)
		error = ncs_recorder_segments_states(&agent->followed, now_ns);
	look.ranks = agent->followed.states;
	look.left_out = agent->followed.left_out;
	if (look.flags & NCS_LOOK_KEY) {
		agent->keys.latest_ns = now_ns;
		agent->key_ranks =
			ncs_recording_writer_totals(agent->writer).ranks;
	}
	if (!error)
		error = write_unreadable(agent, &look);
	if (!error)
		error = ncs_recording_writer_look(agent->writer, &look);
	if (error)
		return error;
	agent->result->looks++;
	return put_look(agent);
}

/* Reads the rings between looks, so that less is overwritten. */
static int drain(struct agent *agent)
{
	uint64_t fullest;

	if (!agent->settings->with_records ||
	    !is_within(agent, RECORDS_SHARE))
		return 0;
	return ncs_recorder_segments_drain(&agent->followed, 0, &fullest);
}

/* --- The loop ------------------------------------------------------------ */

/* Returns when to look or to drain next. */
static uint64_t next_of(const struct agent *agent, uint64_t now_ns)
{
	uint64_t drain_ns = now_ns + DRAIN_EVERY_NS;

	return agent->settings->with_records && drain_ns < agent->next_ns ?
		       drain_ns :
		       agent->next_ns;
}

static bool is_counted(const struct agent *agent)
{
	return agent->settings->count != 0 &&
	       agent->result->looks >= agent->settings->count;
}

static int loop(struct agent *agent)
{
	uint64_t now_ns;
	int error;

	agent->next_ns = ncs_clock_monotonic_ns();
	ncs_agent_wait_begin(&agent->wait, agent->settings,
			     ncs_stream_output_event(agent->output), -1);
	do {
		now_ns = ncs_clock_monotonic_ns();
		error = now_ns >= agent->next_ns ? take_look(agent, now_ns) :
						   drain(agent);
		if (error)
			return error;
		/* Looks that could not be taken in time are left out; reading
		 * stacks takes seconds. */
		now_ns = ncs_clock_monotonic_ns();
		while (agent->next_ns <= now_ns)
			agent->next_ns += agent->settings->interval_ns;
		if (is_counted(agent)) {
			agent->result->end = NCS_AGENT_COUNTED;
			return 0;
		}
	} while (ncs_agent_wait(&agent->wait, next_of(agent, now_ns)));
	agent->result->end = agent->wait.end;
	return 0;
}

/* --- Beginning and ending ------------------------------------------------ */

static int begin(struct agent *agent)
{
	const struct ncs_agent_settings *settings = agent->settings;
	struct ncs_recording_settings stream = {
		.is_packed = true,
		.pack_level = settings->pack_level,
		/* The agent says when states are keys. */
		.key_every_ns = UINT64_MAX,
		.is_stream = true,
	};
	struct ncs_line_writer lines;
	char name[NCS_LINE_NODE_MAX + 1];
	int error;

	ncs_recording_head_here(&stream.head);
	stream.head.interval_ns = settings->interval_ns;
	error = ncs_recording_writer_open_memory(&agent->writer,
						 &agent->memory, &stream);
	if (error)
		return error;
	agent->recorder = (struct ncs_recorder_settings){
		.directory = settings->directory,
		.choice = settings->choice,
		.is_stream = true,
		.with_records = settings->with_records,
		.read_stacks = settings->read_stacks,
	};
	ncs_recorder_segments_init(&agent->followed, &agent->recorder,
				   agent->writer);
	agent->followed.has_room = has_room;
	agent->followed.context = agent;
	agent->keys.phase = stream.head.recording[0];
	ncs_line_node_name(name, sizeof(name));
	ncs_line_writer_init(&lines, name, (uint32_t)stream.head.recording[0],
			     ncs_line_even(settings->output));
	return ncs_stream_output_open(&agent->output, settings->output,
				      settings->has_lines ?
					      NCS_STREAM_OUTPUT_LINES :
					      NCS_STREAM_OUTPUT_BYTES,
				      &lines);
}

void ncs_agent_run(const struct ncs_agent_settings *settings,
		   struct ncs_agent_result *result)
{
	struct agent agent = { .settings = settings, .result = result };
	int error;

	memset(result, 0, sizeof(*result));
	error = begin(&agent);
	if (!error)
		error = loop(&agent);
	ncs_agent_finish(agent.output, error, result);
	ncs_recorder_segments_release(&agent.followed);
	if (agent.writer)
		ncs_recording_writer_close(agent.writer, NULL);
	ncs_look_packer_free(agent.packer);
	free(agent.packed.bytes);
	free(agent.memory.bytes);
}
