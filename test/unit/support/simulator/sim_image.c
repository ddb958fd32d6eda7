/* SPDX-License-Identifier: MIT */
/* Segments in recordings; see sim_image.h. */
#include "test/unit/support/simulator/sim_image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ncclstat/abi.h"
#include "ncclstat/names.h"
#include "ncclstat/version.h"
#include "shm/read/job.h"
#include "shm/segment.h"

#define CHANNELS 64u
#define OPERATIONS 8u
#define CLASSES 8u

/* --- Headers -------------------------------------------------------------- */

/* A boot_id of a host. */
#define BOOT_ID "00000000-0000-4000-8000-%012x"

void sim_image_head(struct ncs_file_head *head, const struct sim_place *place)
{
	*head = (struct ncs_file_head){
		.recording = { 0x51a1 + place->number, place->seed },
		.begun_monotonic_ns = place->monotonic_ns,
		.begun_realtime_ns = place->realtime_ns,
		.interval_ns = place->interval_ns,
		.time_namespace = 1,
		.pid_namespace = 1,
	};
	snprintf(head->boot_id, sizeof(head->boot_id), BOOT_ID,
		 place->number + 1);
	snprintf(head->host, sizeof(head->host), "%s", place->host);
}

int sim_image_add(struct sim_image *image, struct ncs_recording_writer *writer,
		  const struct sim_place *place, uint32_t pid, unsigned number,
		  const struct ncs_identity *identity)
{
	static const struct ncs_segment_size size = {
		.lanes = SIM_LANES,
		.channels = CHANNELS,
		.operations = OPERATIONS,
		.classes = NCS_FUNCTION_MAX + CLASSES,
		.histograms = CLASSES,
		.ring_records = 2,
		.ranges = 2,
		.range_histograms = 2,
	};
	struct ncs_header *header = &image->header;
	char path[64];

	*image = (struct sim_image){
		.writer = writer,
		.header = {
			.magic = NCS_MAGIC,
			.version = NCS_ABI_VERSION,
			.byte_order = NCS_BYTE_ORDER,
			.header_bytes = sizeof(*header),
			.record_bytes = sizeof(struct ncs_record),
			.plugin_version = NCS_VERSION_MAJOR << 16 |
					  NCS_VERSION_MINOR << 8 |
					  NCS_VERSION_PATCH,
			.pid = pid,
			.api_version = 5,
			.process_start = 100 + number,
			.pid_namespace = 1,
			.time_namespace = 1,
			.clock = { .kind = NCS_CLOCK_MONOTONIC,
				   .base_ticks = place->ticks,
				   .base_monotonic_ns = place->monotonic_ns,
				   .base_realtime_ns = place->realtime_ns,
				   .multiplier = UINT64_C(1) << 32 },
			.created = place->ticks + 1,
			.life = NCS_LIFE_LIVE,
			.identity = *identity,
		},
	};
	snprintf(header->boot_id, sizeof(header->boot_id), BOOT_ID,
		 place->number + 1);
	snprintf(header->host, sizeof(header->host), "%s", place->host);
	snprintf(path, sizeof(path), "/dev/shm/ncclstat.%u.%u.%llx", pid,
		 100 + number, (unsigned long long)identity->comm_id);
	ncs_segment_lay_out(header, &size);
	return ncs_recording_writer_add_rank(writer, header, NCS_NO_OWNER, path,
					     &image->number);
}

/* --- States --------------------------------------------------------------- */

static void *at(struct ncs_header *header, const struct ncs_table *table,
		size_t index)
{
	return (char *)header + table->offset + index * table->stride;
}

/* Writes the counters of all threads as those of one. */
static void write_lanes(struct ncs_header *header,
			const struct ncs_snapshot *snapshot)
{
	struct ncs_lane *lane = at(header, &header->lanes, SIM_LANE_PROXY);

	((struct ncs_lane *)at(header, &header->lanes, SIM_LANE_CALLS))->owner =
		1;
	lane->owner = 2;
	lane->last_call = snapshot->last_call_ns;
	header->latest_done = 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &snapshot->functions[i];

		lane->functions[i] = (struct ncs_function){
			.calls = view->calls,
			.operations = view->operations,
			.operations_done = view->operations_done,
			.with_children = view->with_children,
			.bytes = view->bytes,
			.last_sequence_number = view->last_sequence_number + 1,
		};
		memcpy(lane->functions[i].timed, view->timed,
		       sizeof(lane->functions[i].timed));
		memcpy(lane->functions[i].time_ns, view->time_ns,
		       sizeof(lane->functions[i].time_ns));
		memcpy(lane->functions[i].timed_bytes, view->timed_bytes,
		       sizeof(lane->functions[i].timed_bytes));
		header->latest_done += view->operations;
	}
	lane->events[NCS_EVENT_COLL] = header->latest_done;
	header->latest_done -= snapshot->operation_count;
}

static void write_channels(struct ncs_header *header,
			   const struct ncs_snapshot *snapshot)
{
	header->filled.channels = snapshot->channel_count;
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *view = &snapshot->channels[i];
		struct ncs_channel *channel = at(header, &header->channels, i);
		uint64_t running_ns =
			snapshot->taken_ns > view->since_ns ?
				snapshot->taken_ns - view->since_ns :
				0;

		*channel = (struct ncs_channel){
			.key = NCS_CHANNEL_KEY(view->channel, view->send,
					       view->peer),
			.state = view->state,
			.since = view->since_ns,
			.function = view->function,
			.operation = view->operation,
			.step = view->step,
			.nsteps = view->nsteps,
			.operations_started =
				view->operations_done + (view->operation != 0),
			.operations_done = view->operations_done,
			.steps_started = view->steps_started,
			.steps_done = view->steps_done,
			.bytes = view->bytes,
		};
		memcpy(channel->time, view->time_ns, sizeof(view->time_ns));
		/* Readers add the time in the state that goes on. */
		channel->time[view->state] -=
			channel->time[view->state] < running_ns ?
				channel->time[view->state] :
				running_ns;
	}
}

static void write_operations(struct ncs_header *header,
			     const struct ncs_snapshot *snapshot)
{
	memset(at(header, &header->operations, 0), 0,
	       (size_t)OPERATIONS * header->operations.stride);
	for (size_t i = 0; i < snapshot->operation_count; i++) {
		const struct ncs_operation_view *view =
			&snapshot->operations[i];

		header->filled.operations = view->number;
		*(struct ncs_operation *)at(header, &header->operations,
					    (view->number - 1) % OPERATIONS) =
			(struct ncs_operation){
				.number = view->number,
				.start = view->start_ns,
				.sequence_number = view->sequence_number,
				.bytes = view->bytes,
				.count = view->count,
				.event = (uint8_t)view->event,
				.function = (uint8_t)view->function,
				.datatype = NCS_DATATYPE_FLOAT32,
				.algorithm = NCS_ALGORITHM_RING,
				.protocol = NCS_PROTOCOL_SIMPLE,
				.nchannels =
					(uint8_t)snapshot->channel_count / 2,
				.peer = view->peer,
				.enqueued = view->enqueued_ns,
				.children_started = view->children_started,
				.first_child = view->enqueued_ns,
			};
	}
}

/* Writes the times of a class that have a histogram. */
static void write_times(struct ncs_histogram *histogram, size_t class,
			unsigned timing, const struct ncs_class_times *times,
			const uint64_t *buckets)
{
	*histogram = (struct ncs_histogram){
		.key = NCS_HISTOGRAM_KEY(class, timing),
		.time_ns = times->time_ns,
		.bytes = times->bytes,
		.longest_ns = times->longest_ns,
	};
	for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++) {
		if (buckets[i] == 0)
			continue;
		histogram->buckets[i] = buckets[i];
		if (histogram->first == 0)
			histogram->first = i + 1;
		histogram->end = i + 1;
	}
}

/* Returns the number of histograms. */
static size_t write_classes(struct ncs_header *header,
			    const struct ncs_snapshot *snapshot)
{
	size_t histograms = 0;

	for (size_t i = 0; i < snapshot->class_count && i < CLASSES; i++) {
		const struct ncs_class_view *view = &snapshot->classes[i];

		*(struct ncs_class *)at(header, &header->classes,
					NCS_FUNCTION_MAX +
						i) = (struct ncs_class){
			.key = NCS_CLASS_KEY(view->function, view->size_class,
					     view->algorithm, view->protocol),
			.operations = view->operations,
		};
		for (unsigned k = 0; k < NCS_TIMING_COUNT; k++)
			if (view->times[k].timed > 0 && histograms < CLASSES)
				write_times(at(header, &header->histograms,
					       histograms++),
					    NCS_FUNCTION_MAX + i, k,
					    &view->times[k],
					    &snapshot->class_buckets
						     [view->times[k].place]);
	}
	return histograms;
}

int sim_image_state(struct sim_image *image,
		    const struct ncs_snapshot *snapshot, uint64_t taken_ns)
{
	struct ncs_recording_piece piece = { image->writer, image->number };
	struct ncs_header *header =
		ncs_recording_writer_image(image->writer, image->number);
	const struct ncs_gpu_clock_view *gpu = &snapshot->gpu_clock;
	uint64_t gpu_ns = gpu->told_ns + (uint64_t)gpu->offset_ns;
	size_t histograms;

	if (!header)
		return -ENOMEM;
	*header = image->header;
	header->alive = snapshot->taken_ns;
	header->proxy.state = snapshot->proxy.state;
	header->proxy.since = snapshot->proxy.since_ns;
	if (gpu->known)
		header->gpu_clock = (struct ncs_gpu_clock){
			.ticks = gpu->told_ns,
			.low_ns = gpu_ns - gpu->error_ns,
			.high_ns = gpu_ns + gpu->error_ns,
			.quantum_ns = gpu->quantum_ns,
			.samples = 1,
		};
	write_lanes(header, snapshot);
	write_channels(header, snapshot);
	write_operations(header, snapshot);
	histograms = write_classes(header, snapshot);
	for (unsigned i = 0; i < SIM_LANES; i++)
		((struct ncs_ring *)at(header, &header->rings, i))->head =
			image->records[i];
	ncs_recording_writer_piece(
		&piece, 0,
		(size_t)((char *)at(header, &header->histograms, histograms) -
			 (char *)header));
	return ncs_recording_writer_state(image->writer, image->number,
					  taken_ns, 0, false);
}
