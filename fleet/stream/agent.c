/* SPDX-License-Identifier: MIT */
/* The agent's loop; see agent.h. Reads segments through
 * record/write/recorder_segments.h and leaves writing to stream_output.c. */
#include "fleet/stream/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/agent_wait.h"
#include "fleet/stream/key_times.h"
#include "fleet/stream/look_pack.h"
#include "fleet/stream/stream_output.h"
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

struct agent {
	const struct ncs_agent_settings *settings;
	struct ncs_recorder_settings recorder;
	struct ncs_recorder_segments followed;
	struct ncs_recording_writer *writer;
	struct ncs_sink_memory memory; /* the look in the making */
	uint64_t look_offset;          /* of the writer at its beginning */
	uint64_t look_unpacked;        /* likewise */
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_sink_memory packed;
	struct ncs_agent_wait wait;
	struct ncs_stream_output *output;
	struct ncs_agent_result *result;
	uint64_t next_ns; /* when the next look is due */
	struct ncs_key_times keys;
	uint64_t key_ranks; /* number of segments until then */
};

/* --- A look -------------------------------------------------------------- */

/* Whether the look is smaller than a share of the largest one. */
static bool is_within(const struct agent *agent, uint64_t share)
{
	return ncs_recording_writer_bytes(agent->writer) - agent->look_offset <
		       NCS_LOOK_BYTES_MAX / share &&
	       ncs_recording_writer_unpacked_bytes(agent->writer) -
			       agent->look_unpacked <
		       NCS_LOOK_UNPACKED_MAX / share;
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
	agent->look_offset = ncs_recording_writer_bytes(agent->writer);
	agent->look_unpacked =
		ncs_recording_writer_unpacked_bytes(agent->writer);
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
