/* SPDX-License-Identifier: MIT */
/* Streams of very many simulated nodes; see sim_stream.h. */
#include "test/unit/support/simulator/sim_stream.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "fleet/stream/key_times.h"
#include "fleet/stream/look_pack.h"
#include "test/unit/support/simulator/sim_image.h"
#include "test/unit/support/simulator/sim_states.h"

#define US UINT64_C(1000)

#define COMM_ID UINT64_C(0x51a1a7edc0ffee)

/* The level at which agents compress by default. */
#define PACK_LEVEL 3

/* Blocks of ranks that are simulated: the one with the rank that is missing, the next
 * one, one that stands for all others, and the one before. */
#define BLOCKS 4u

struct stream_node {
	struct sim_place place;
	struct ncs_recording_writer *writer;
	struct ncs_sink_memory memory;
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_sink_memory packed;
	struct sim_image *images; /* of each process: large and smaller one */
	uint64_t looks;
	struct ncs_key_times keys;
};

struct sim_stream {
	struct sim_stream_options options;
	struct sim_source *source;
	unsigned block;            /* ranks of each */
	unsigned comms;            /* of each process */
	struct ncs_packer *packer; /* of all nodes; NULL: looks are not packed */
	struct stream_node *nodes;
};

/* --- The job -------------------------------------------------------------- */

static unsigned all_blocks(const struct sim_stream *self)
{
	return self->options.nodes * self->options.ranks / self->block;
}

/* Returns the simulated rank that stands for one of the job's. */
static unsigned stand_in(const struct sim_stream *self, unsigned rank)
{
	unsigned blocks = all_blocks(self),
		 missing = self->options.missing_rank;
	unsigned first = missing == UINT_MAX ? 0 : missing / self->block;
	unsigned after = (rank / self->block + blocks - first) % blocks;

	if (blocks > BLOCKS && after >= 2)
		after = after == blocks - 1 ? BLOCKS - 1 : 2;
	return after * self->block + rank % self->block;
}

static void simulate(struct sim_stream *self)
{
	const struct sim_stream_options *options = &self->options;
	unsigned blocks = all_blocks(self) < BLOCKS ? all_blocks(self) : BLOCKS;
	struct sim_options job = sim_plain(SIM_LOOP, (unsigned)options->seed);

	job.has_states = true;
	job.steps = 0;
	job.ranks = job.ranks_per_host = blocks * self->block;
	job.channels = options->channels;
	job.bytes = options->bytes;
	job.neighbours = options->group;
	job.jitter = 0.02;
	job.gap_ns = 0.75 * (double)options->period_ns;
	job.alpha_ns = 0;
	job.beta_ns = 0.25 * (double)options->period_ns /
		      (double)(options->bytes + 1) / self->comms;
	job.victim = 0;
	if (options->missing_rank != UINT_MAX) {
		job.fault = SIM_MISSING;
		job.victim = stand_in(self, options->missing_rank);
		job.from_ns = (double)options->missing_ns;
	}
	self->source = sim_source_new(&job);
	self->source->past = SIM_PAST_COUNTERS;
}

/* --- Looks ---------------------------------------------------------------- */

/* Returns the rank of a process in a communicator, and sets *ranks to the number of
 * its ranks. */
static unsigned rank_in(const struct sim_stream *self, unsigned process,
			unsigned comm, unsigned *ranks)
{
	const struct sim_stream_options *options = &self->options;

	*ranks = comm ? options->group : options->nodes * options->ranks;
	return process % *ranks;
}

static int write_state(struct sim_stream *self, struct sim_image *image,
		       unsigned process, unsigned kind, uint64_t taken_ns)
{
	struct sim_source *source = self->source;
	unsigned ranks, rank = rank_in(self, process, kind, &ranks);
	unsigned shown = stand_in(self, process);

	sim_source_show(source, kind ? 1 + shown / ranks : 0,
			kind ? shown % ranks : shown);
	for (size_t i = 0; i < source->snapshot.channel_count; i++) {
		struct ncs_channel_view *view = &source->snapshot.channels[i];

		view->peer =
			(int)((rank + (view->send ? 1 : ranks - 1)) % ranks);
	}
	return sim_image_state(image, &source->snapshot, taken_ns);
}

/* Writes the clocks and the states of a node. */
static int write_node(struct sim_stream *self, unsigned number,
		      const struct ncs_look *look)
{
	struct stream_node *node = &self->nodes[number];
	int error = ncs_recording_writer_clock(
		node->writer, &(struct ncs_clock_reading){
				      .before_ns = look->taken_ns,
				      .realtime_ns = look->realtime_ns,
				      .after_ns = look->taken_ns,
				      .maximum_error_ns = 2000 * US,
				      .estimated_error_ns = 500 * US,
				      .synchronized = 1,
			      });

	for (unsigned i = 0; i < look->ranks && !error; i++)
		error = write_state(self, &node->images[i],
				    number * self->options.ranks +
					    i / self->comms,
				    i % self->comms, look->taken_ns);
	return error;
}

int sim_stream_look(struct sim_stream *self, unsigned number, uint64_t at_ns,
		    const void **bytes, size_t *size)
{
	struct ncs_source *source = &self->source->source;
	struct stream_node *node = &self->nodes[number];
	const struct ncs_sink_memory *memory = &node->memory;
	struct ncs_look look = {
		.number = node->looks,
		.taken_ns = node->place.monotonic_ns + at_ns,
		.realtime_ns = node->place.realtime_ns + at_ns,
		.interval_ns = self->options.interval_ns,
		.ranks = self->options.ranks * self->comms,
	};
	int error = source->begin(source, at_ns, NULL, 0);

	/* Like an agent. */
	if (ncs_key_times_are_due(&node->keys, look.taken_ns)) {
		look.flags = NCS_LOOK_KEY;
		node->keys.latest_ns = look.taken_ns;
	}
	/* The first look has the bytes that the writer flushed when it began. */
	if (node->looks > 0)
		node->memory.size = 0;
	if (!error && node->looks > 0 && (look.flags & NCS_LOOK_KEY))
		error = ncs_recording_writer_renew(node->writer);
	if (!error)
		error = write_node(self, number, &look);
	if (!error)
		error = ncs_recording_writer_look(node->writer, &look);
	node->looks++;
	if (!error && node->packer) {
		error = ncs_look_packer_pack(node->packer, node->memory.bytes,
					     node->memory.size, &node->packed);
		memory = &node->packed;
	}
	*bytes = memory->bytes;
	*size = memory->size;
	return error;
}

/* --- Beginning ------------------------------------------------------------ */

static int add_process(struct sim_stream *self, struct stream_node *node,
		       unsigned process)
{
	unsigned local = process % self->options.ranks;
	int error = 0;

	for (unsigned kind = 0; kind < self->comms && !error; kind++) {
		unsigned ranks, rank = rank_in(self, process, kind, &ranks);
		struct ncs_identity identity = {
			.known = SIM_IMAGE_KNOWN,
			.comm_id = COMM_ID + (kind ? process - rank + 1 : 0),
			.rank = (int)rank,
			.nranks = (int)ranks,
			.nnodes = (int)self->options.nodes,
		};

		snprintf(identity.comm_name, sizeof(identity.comm_name), "%s",
			 kind ? "group" : "world");
		snprintf(identity.gpu, sizeof(identity.gpu), "0000:%02x:00.0",
			 16 + local);
		error = sim_image_add(&node->images[local * self->comms + kind],
				      node->writer, &node->place, 4000 + local,
				      process, &identity);
	}
	return error;
}

static int begin_node(struct sim_stream *self, unsigned number)
{
	const struct sim_stream_options *options = &self->options;
	struct stream_node *node = &self->nodes[number];
	struct ncs_recording_settings settings = {
		.is_packed = !self->packer,
		.pack_level = PACK_LEVEL,
		.key_every_ns = UINT64_MAX,
		.is_stream = true,
	};
	double ahead = sim_random(&self->source->job, 7, number, 0);
	int error;

	node->keys.phase =
		(uint64_t)(1e18 * sim_random(&self->source->job, 7, number, 1));
	node->place = (struct sim_place){
		.number = number,
		.seed = options->seed,
		.monotonic_ns = options->begun_ns +
				(uint64_t)(ahead * (double)options->skew_ns),
		.realtime_ns = options->realtime_ns,
		.interval_ns = options->interval_ns,
	};
	snprintf(node->place.host, sizeof(node->place.host), "node%04u",
		 number);
	sim_image_head(&settings.head, &node->place);
	node->images = sim_alloc((size_t)options->ranks * self->comms,
				 sizeof(*node->images));
	if (self->packer)
		node->packer = ncs_look_packer_new(self->packer);
	if (self->packer && !node->packer)
		return -ENOMEM;
	error = ncs_recording_writer_open_memory(&node->writer, &node->memory,
						 &settings);
	for (unsigned i = 0; i < options->ranks && !error; i++)
		error = add_process(self, node, number * options->ranks + i);
	return error;
}

struct sim_stream *sim_stream_new(const struct sim_stream_options *options)
{
	struct sim_stream *self = sim_alloc(1, sizeof(*self));
	int error = 0;

	self->options = *options;
	self->comms = options->group > 0 ? 2 : 1;
	self->block = options->group > options->ranks ? options->group :
							options->ranks;
	self->packer = options->is_packed ? ncs_packer_create(PACK_LEVEL) :
					    NULL;
	self->nodes = sim_alloc(options->nodes, sizeof(*self->nodes));
	simulate(self);
	for (unsigned i = 0; i < options->nodes && !error; i++)
		error = begin_node(self, i);
	if (!error)
		return self;
	sim_stream_free(self);
	return NULL;
}

void sim_stream_free(struct sim_stream *self)
{
	for (unsigned i = 0; i < self->options.nodes; i++) {
		struct stream_node *node = &self->nodes[i];

		if (node->writer)
			ncs_recording_writer_close(node->writer, NULL);
		ncs_look_packer_free(node->packer);
		free(node->packed.bytes);
		free(node->memory.bytes);
		free(node->images);
	}
	sim_source_free(self->source);
	ncs_packer_free(self->packer);
	free(self->nodes);
	free(self);
}

const char *sim_stream_name(const struct sim_stream *self, unsigned node)
{
	return self->nodes[node].place.host;
}
