/* SPDX-License-Identifier: MIT */
/* The agent's loop; see agent.h. Reads segments through
 * record/write/recorder_segments.h and leaves writing to stream_output.c. */
#include "record/stream/agent.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/stream/look_pack.h"
#include "record/launch/orders.h"
#include "record/stream/stream_output.h"
#include "record/write/clock_reading.h"
#include "record/write/recorder_segments.h"
#include "shm/clock.h"

/* An end of the input this soon after the start does not count. */
#define INPUT_GRACE_NS UINT64_C(1000000000)

/* How long the agent waits for its last look to be written: if it was told to
 * end, and if there was to be a number of looks. */
#define LAST_NS UINT64_C(200000000)
#define LAST_COUNTED_NS UINT64_C(60000000000)

/* How often rings are read, if records are wanted, in ms. */
#define DRAIN_EVERY_MS 10

/* A look has room for another segment up to this size, and for more records up
 * to that one. */
#define STATES_BYTES_MAX (NCS_LOOK_BYTES_MAX / 2)
#define RECORDS_BYTES_MAX (NCS_LOOK_BYTES_MAX / 4)

/* Number of segments that a look names because they cannot be read. */
#define UNREADABLE_MAX 16u

struct agent {
	const struct ncs_agent_settings *settings;
	struct ncs_recorder_settings recorder;
	struct ncs_recorder_segments followed;
	struct ncs_recording_writer *writer;
	struct ncs_sink_memory memory; /* the look in the making */
	uint64_t look_offset;          /* of the writer at its beginning */
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_sink_memory packed;
	struct ncs_orders orders;
	struct ncs_stream_output *output;
	struct ncs_agent_result *result;
	uint64_t begun_ns;
	uint64_t next_ns; /* when the next look is due */
	uint64_t key_ns;  /* when the latest key look was taken */
	uint64_t beat_ns; /* when the input was read last, or the beginning */
};

/* --- A look -------------------------------------------------------------- */

static uint64_t look_bytes(const struct agent *agent)
{
	return ncs_recording_writer_bytes(agent->writer) - agent->look_offset;
}

static bool has_room(void *context)
{
	return look_bytes(context) < STATES_BYTES_MAX;
}

/* Begins to pack looks, if the reader has asked for it. Returns 0 or
 * -ENOMEM. */
static int pack_if_asked(struct agent *agent)
{
	if (agent->packer || !agent->orders.packs)
		return 0;
	agent->packer = ncs_look_packer_new(NULL);
	if (!agent->packer)
		return -ENOMEM;
	ncs_recording_writer_unpack(agent->writer);
	return 0;
}

/* Makes the look one that can be read by itself, if it is time, one was
 * dropped, or looks are packed from now on. */
static int renew_if_due(struct agent *agent, uint64_t now_ns,
			struct ncs_look *look)
{
	bool dropped = ncs_stream_output_drop(agent->output);
	bool was_packed = agent->packer;
	int error = pack_if_asked(agent);

	agent->result->dropped += dropped;
	if (error)
		return error;
	if (!dropped && agent->key_ns != 0 && was_packed == !!agent->packer &&
	    now_ns - agent->key_ns < NCS_AGENT_KEY_EVERY_NS)
		return 0;
	/* The first look begins with the file's head anyway. */
	look->flags |= NCS_LOOK_KEY;
	if (agent->key_ns == 0) {
		agent->key_ns = now_ns;
		return 0;
	}
	agent->key_ns = now_ns;
	return ncs_recording_writer_renew(agent->writer);
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
	if (!error)
		error = write_unreadable(agent, &look);
	look.ranks = agent->followed.states;
	look.left_out = agent->followed.left_out;
	if (!error)
		error = ncs_recording_writer_look(agent->writer, &look);
	if (error)
		return error;
	agent->look_offset = ncs_recording_writer_bytes(agent->writer);
	agent->result->looks++;
	return put_look(agent);
}

/* Reads the rings between looks, so that less is overwritten. */
static int drain(struct agent *agent)
{
	uint64_t fullest;

	if (!agent->settings->with_records ||
	    look_bytes(agent) >= RECORDS_BYTES_MAX)
		return 0;
	return ncs_recorder_segments_drain(&agent->followed, &fullest);
}

/* --- The loop ------------------------------------------------------------ */

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

enum { INPUT, OUTPUT, WRITER, STOP, FILES };

static void open_files(const struct agent *agent, struct pollfd files[FILES])
{
	int events = input_events(agent->settings);

	files[INPUT].fd = events < 0 ? -1 : agent->settings->input;
	files[INPUT].events = (short)(events < 0 ? 0 : events);
	files[OUTPUT].fd = agent->settings->output;
	files[WRITER].fd = ncs_stream_output_event(agent->output);
	files[WRITER].events = POLLIN;
	files[STOP].fd = agent->settings->stop;
	files[STOP].events = POLLIN;
}

/* Returns how long to wait in ms. */
static int timeout_of(const struct agent *agent, uint64_t now_ns)
{
	uint64_t heartbeat_ns = agent->settings->heartbeat_ns;
	uint64_t until_ns = agent->next_ns, left_ns;

	if (heartbeat_ns != 0 && agent->beat_ns + heartbeat_ns < until_ns)
		until_ns = agent->beat_ns + heartbeat_ns;
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	if (agent->settings->with_records &&
	    left_ns > DRAIN_EVERY_MS * UINT64_C(1000000))
		return DRAIN_EVERY_MS;
	return (int)(left_ns / 1000000 + (left_ns % 1000000 != 0));
}

/* Takes what the input has. Returns whether the agent is to go on. */
static bool take_input(struct agent *agent, struct pollfd *input,
		       uint64_t now_ns)
{
	char bytes[256];
	ssize_t size = 0;

	if (input->revents & POLLIN)
		size = read(input->fd, bytes, sizeof(bytes));
	if (size > 0) {
		ncs_orders_take(&agent->orders, bytes, (size_t)size);
		agent->beat_ns = now_ns;
		return true;
	}
	if (now_ns - agent->begun_ns < INPUT_GRACE_NS) {
		input->fd = -1;
		return true;
	}
	agent->result->end = NCS_AGENT_INPUT_ENDED;
	return false;
}

/* Waits for the next look, or until there is something to read. Returns false
 * if the agent is to end. */
static bool wait_for_next(struct agent *agent, struct pollfd files[FILES])
{
	uint64_t heartbeat_ns = agent->settings->heartbeat_ns;
	int ready = poll(files, FILES,
			 timeout_of(agent, ncs_clock_monotonic_ns()));
	uint64_t now_ns = ncs_clock_monotonic_ns();

	if (ready > 0 && files[STOP].revents)
		agent->result->end = NCS_AGENT_STOPPED;
	else if (ready > 0 && (files[WRITER].revents || files[OUTPUT].revents))
		agent->result->end = NCS_AGENT_OUTPUT_CLOSED;
	else if (ready > 0 && files[INPUT].revents)
		return take_input(agent, &files[INPUT], now_ns);
	else if (heartbeat_ns != 0 && now_ns - agent->beat_ns >= heartbeat_ns)
		agent->result->end = NCS_AGENT_INPUT_SILENT;
	else
		return true;
	return false;
}

static bool is_counted(const struct agent *agent)
{
	return agent->settings->count != 0 &&
	       agent->result->looks >= agent->settings->count;
}

static int loop(struct agent *agent)
{
	struct pollfd files[FILES] = { 0 };
	int error;

	open_files(agent, files);
	agent->begun_ns = agent->next_ns = ncs_clock_monotonic_ns();
	agent->beat_ns = agent->begun_ns;
	do {
		uint64_t now_ns = ncs_clock_monotonic_ns();

		error = now_ns >= agent->next_ns ? take_look(agent, now_ns) :
						   drain(agent);
		if (error)
			return error;
		/* Looks that could not be taken in time are left out. */
		while (agent->next_ns <= now_ns)
			agent->next_ns += agent->settings->interval_ns;
		if (is_counted(agent)) {
			agent->result->end = NCS_AGENT_COUNTED;
			return 0;
		}
	} while (wait_for_next(agent, files));
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
	agent->orders.packs = settings->is_packed;
	error = ncs_recording_writer_open_memory(&agent->writer,
						 &agent->memory, &stream);
	if (error)
		return error;
	agent->recorder = (struct ncs_recorder_settings){
		.directory = settings->directory,
		.choice = settings->choice,
		.is_stream = true,
		.with_records = settings->with_records,
	};
	ncs_recorder_segments_init(&agent->followed, &agent->recorder,
				   agent->writer);
	agent->followed.has_room = has_room;
	agent->followed.context = agent;
	ncs_line_node_name(name, sizeof(name));
	ncs_line_writer_init(&lines, name, (uint32_t)stream.head.recording[0]);
	return ncs_stream_output_open(&agent->output, settings->output,
				      settings->has_lines ? &lines : NULL);
}

void ncs_agent_run(const struct ncs_agent_settings *settings,
		   struct ncs_agent_result *result)
{
	struct agent agent = { .settings = settings, .result = result };
	struct ncs_stream_output_totals totals = { 0 };
	int error;

	memset(result, 0, sizeof(*result));
	error = begin(&agent);
	if (!error)
		error = loop(&agent);
	if (agent.output) {
		bool counted = !error && result->end == NCS_AGENT_COUNTED;

		ncs_stream_output_close(agent.output,
					counted ? LAST_COUNTED_NS : LAST_NS,
					&totals);
	}
	result->bytes = totals.bytes;
	if (!error)
		error = totals.error;
	if (error == -EPIPE || error == -ECONNRESET) {
		result->end = NCS_AGENT_OUTPUT_CLOSED;
	} else if (error) {
		result->end = NCS_AGENT_FAILED;
		result->error = error;
	}
	ncs_recorder_segments_release(&agent.followed);
	if (agent.writer)
		ncs_recording_writer_close(agent.writer, NULL);
	ncs_look_packer_free(agent.packer);
	free(agent.packed.bytes);
	free(agent.memory.bytes);
}
