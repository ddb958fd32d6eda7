/* SPDX-License-Identifier: MIT */
/* Simulated jobs as recordings; see sim_recording.h. A pass over the source every 50 ms
 * takes the records, as a recorder drains rings; some of them take the states. */
#include "test/unit/support/simulator/sim_recording.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/write/recording_writer.h"
#include "test/unit/support/simulator/sim_image.h"

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

#define DRAIN_EVERY_NS (50 * MS)
#define STATE_EVERY_NS (500 * MS)
/* One look of this many can be read by itself. */
#define KEY_EVERY 10u
#define PACK_LEVEL 3

/* A recording that is being written. */
struct writing {
	struct sim_recording *self;
	struct ncs_recording_writer *writers[SIM_HOSTS_MAX];
	struct sim_image *images; /* by the places of samples in a pass */
	uint64_t state_every_ns;
	/* Looks, in place of files. */
	struct ncs_sink_memory memory[SIM_HOSTS_MAX];
	uint64_t looks; /* at each host */
	sim_look *take; /* NULL: files */
	void *context;
};

/* --- Clocks --------------------------------------------------------------- */

uint64_t sim_recording_clock_ns(const struct sim_recording *self, unsigned host,
				uint64_t true_ns)
{
	const struct sim_job *job = &self->source->job;

	return sim_clock_ns(job, host * job->options.ranks_per_host,
			    (double)true_ns);
}

static uint64_t realtime_ns(const struct sim_recording *self, unsigned host,
			    uint64_t true_ns)
{
	const struct sim_options *options = &self->source->job.options;
	uint64_t now_ns = UINT64_C(1700000000) * S +
			  sim_recording_clock_ns(self, host, true_ns) -
			  sim_recording_clock_ns(self, host, 0);

	now_ns += (uint64_t)llround(0.9 * (double)options->realtime_error_ns *
				    sim_error(&self->source->job, 6, host));
	if (options->realtime_set_ns > true_ns && host == self->hosts - 1)
		now_ns -= 3 * S;
	return now_ns;
}

static int write_clock(struct writing *writing, unsigned host, uint64_t now_ns)
{
	const struct sim_recording *self = writing->self;
	uint64_t error_ns = self->source->job.options.realtime_error_ns;
	uint64_t own_ns = sim_recording_clock_ns(self, host, now_ns);

	return ncs_recording_writer_clock(
		writing->writers[host],
		&(struct ncs_clock_reading){
			.before_ns = own_ns,
			.realtime_ns = realtime_ns(self, host, now_ns) + 30,
			.after_ns = own_ns + 60,
			.maximum_error_ns = error_ns > 0 ? error_ns :
							   UINT64_MAX,
			.estimated_error_ns = error_ns > 0 ? error_ns / 4 :
							     UINT64_MAX,
			.synchronized = error_ns > 0,
		});
}

/* --- Passes --------------------------------------------------------------- */

/* Records what a rank has published: calls come first. */
static int write_records(struct writing *writing, struct sim_image *image,
			 const struct ncs_sample *sample)
{
	const struct ncs_record *all = sample->records;
	size_t from = 0;
	int error = 0;

	for (unsigned lane = SIM_LANE_CALLS; lane < SIM_LANES && !error;
	     lane++) {
		struct ncs_record *records =
			&writing->self->source->batch[from];
		size_t count = 0;

		while (from + count < sample->record_count &&
		       (sim_source_is_call(&all[from + count]) ==
			(lane == SIM_LANE_CALLS))) {
			records[count].position =
				(uint32_t)(image->records[lane] + count);
			count++;
		}
		if (count > 0)
			error = ncs_recording_writer_records(
				image->writer, image->number, lane, records,
				count, image->records[lane], 0,
				sample->snapshot->taken_ns);
		image->records[lane] += count;
		from += count;
	}
	writing->self->records += from;
	return error;
}

/* Drains all ranks, and takes their states. */
static int pass(struct writing *writing, uint64_t now_ns, bool with_states)
{
	struct ncs_source *source = &writing->self->source->source;
	struct sim_image *image = writing->images;
	struct ncs_sample sample;
	int error = source->begin(source, SIM_BEGIN_NS + now_ns, NULL, 0);

	while (!error && source->next(source, &sample)) {
		error = write_records(writing, image, &sample);
		if (!error && with_states)
			error = sim_image_state(image, sample.snapshot,
						sample.snapshot->taken_ns);
		image++;
	}
	return error;
}

/* Ends a look at a host, and begins the next one. */
static int end_look(struct writing *writing, unsigned host, uint64_t now_ns)
{
	struct sim_recording *self = writing->self;
	struct ncs_sink_memory *memory = &writing->memory[host];
	struct ncs_look look = {
		.number = writing->looks,
		.taken_ns = sim_recording_clock_ns(self, host, now_ns),
		.interval_ns = writing->state_every_ns,
		.ranks = self->source->job.options.ranks_per_host,
		.flags = writing->looks % KEY_EVERY == 0 ? NCS_LOOK_KEY : 0,
	};
	int error = ncs_recording_writer_look(writing->writers[host], &look);

	if (!error)
		error = writing->take(writing->context, host, now_ns,
				      memory->bytes, memory->size);
	memory->size = 0;
	if (!error && (writing->looks + 1) % KEY_EVERY == 0)
		error = ncs_recording_writer_renew(writing->writers[host]);
	return error;
}

static int drain(struct writing *writing, uint64_t now_ns, bool with_states)
{
	unsigned hosts = with_states ? writing->self->hosts : 0;
	int error = pass(writing, now_ns, with_states);

	for (unsigned i = 0; i < hosts && !error; i++)
		error = write_clock(writing, i, now_ns);
	for (unsigned i = 0; i < hosts && writing->take && !error; i++)
		error = end_look(writing, i, now_ns);
	writing->looks += with_states;
	writing->self->end_ns = now_ns;
	return error;
}

/* --- Files ---------------------------------------------------------------- */

static int open_host(struct writing *writing, const char *directory,
		     unsigned host, const struct sim_place *place, char *why,
		     unsigned why_size)
{
	struct ncs_recording_settings settings = { 0 };
	struct sim_recording *self = writing->self;
	char *path = self->path[host];

	sim_image_head(&settings.head, place);
	if (writing->take) {
		settings.is_packed = settings.is_stream = true;
		settings.pack_level = PACK_LEVEL;
		settings.key_every_ns = UINT64_MAX;
		return ncs_recording_writer_open_memory(&writing->writers[host],
							&writing->memory[host],
							&settings);
	}
	if (snprintf(path, sizeof(self->path[host]), "%s/%s.ncclstat",
		     directory, place->host) >= (int)sizeof(self->path[host]))
		return -ENAMETOOLONG;
	return ncs_recording_writer_open(&writing->writers[host], path,
					 &settings, why, why_size);
}

/* Adds all ranks of all communicators. */
static int add_ranks(struct writing *writing, const struct sim_place *places)
{
	const struct sim_job *job = &writing->self->source->job;
	struct sim_image *image = writing->images;
	int error = 0;

	for (unsigned i = 0; i < job->comm_count; i++)
		for (unsigned k = 0; k < job->comms[i].count && !error; k++) {
			unsigned rank = job->comms[i].members[k];
			unsigned host = sim_host(job, rank);
			struct ncs_identity identity = {
				.known = SIM_IMAGE_KNOWN,
				.comm_id = job->comms[i].id,
				.rank = (int)k,
				.nranks = (int)job->comms[i].count,
				.nnodes = (int)writing->self->hosts,
			};

			snprintf(identity.comm_name, sizeof(identity.comm_name),
				 "%s", i > 0 ? "group" : "world");
			error = sim_image_add(image++, writing->writers[host],
					      &places[host], 4000 + rank, rank,
					      &identity);
		}
	return error;
}

/* Opens the recordings of all hosts. */
static int open_all(struct writing *writing, const char *directory, char *why,
		    unsigned why_size)
{
	struct sim_place places[SIM_HOSTS_MAX];
	const struct sim_recording *self = writing->self;
	int error = 0;

	for (unsigned i = 0; i < self->hosts && !error; i++) {
		uint64_t begun_ns = sim_recording_clock_ns(self, i, 0);

		places[i] = (struct sim_place){
			.number = i,
			.seed = self->source->job.options.seed,
			.monotonic_ns = begun_ns,
			.realtime_ns = realtime_ns(self, i, 0),
			.ticks = begun_ns,
			.interval_ns = writing->state_every_ns,
		};
		snprintf(places[i].host, sizeof(places[i].host), "host%u", i);
		error = open_host(writing, directory, i, &places[i], why,
				  why_size);
	}
	return error ? error : add_ranks(writing, places);
}

/* Computes a job and writes it: until a time, or until its end. */
static int compute(struct writing *writing, const struct sim_options *options,
		   uint64_t until_ns, const char *directory, char *why,
		   unsigned why_size)
{
	struct sim_recording *self = writing->self;
	uint64_t now_ns = 0;
	int error;

	*self = (struct sim_recording){
		.hosts = options->ranks / options->ranks_per_host,
	};
	if (self->hosts > SIM_HOSTS_MAX || self->hosts == 0)
		return -EINVAL;
	self->source = sim_source_new(options);
	/* Segments have classes. */
	self->source->past = SIM_PAST_COUNTERS;
	writing->images = sim_alloc(SIM_COMMS * (size_t)options->ranks,
				    sizeof(*writing->images));
	error = open_all(writing, directory, why, why_size);
	if (!error)
		error = drain(writing, 0, true);
	if (!writing->take)
		until_ns = (uint64_t)self->source->end_ns;
	while (!error && now_ns + DRAIN_EVERY_NS <= until_ns) {
		now_ns += DRAIN_EVERY_NS;
		error = drain(writing, now_ns,
			      now_ns % writing->state_every_ns == 0);
	}
	if (!error && !writing->take)
		error = drain(writing, until_ns + 1 * MS, true);
	for (unsigned i = 0; i < self->hosts; i++) {
		int closing = writing->writers[i] ?
				      ncs_recording_writer_close(
					      writing->writers[i], NULL) :
				      0;

		error = error ? error : closing;
		free(writing->memory[i].bytes);
	}
	free(writing->images);
	return error;
}

int sim_recording_write(struct sim_recording *self,
			const struct sim_options *options,
			const char *directory, char *why, unsigned why_size)
{
	struct writing writing = {
		.self = self,
		.state_every_ns = STATE_EVERY_NS,
	};

	why[0] = '\0';
	return compute(&writing, options, 0, directory, why, why_size);
}

int sim_recording_stream(struct sim_recording *self,
			 const struct sim_options *options, uint64_t every_ns,
			 uint64_t until_ns, sim_look *take, void *context)
{
	struct writing writing = {
		.self = self,
		.state_every_ns = every_ns,
		.take = take,
		.context = context,
	};
	struct sim_options endless = *options;

	endless.steps = 0;
	return compute(&writing, &endless, until_ns, NULL, NULL, 0);
}

void sim_recording_release(struct sim_recording *self)
{
	if (self->source)
		sim_source_free(self->source);
	self->source = NULL;
}
