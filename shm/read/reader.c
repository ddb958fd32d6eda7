/* SPDX-License-Identifier: MIT */
/* The reader's end: attach, validate, copy. Implements ncclstat/reader.h but
 * for discovery. What is mapped is hostile: geometry is validated once into a
 * private copy of the header, and only that copy is used for addressing. */
#include "ncclstat/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/read/attach.h"
#include "shm/read/class_reader.h"
#include "shm/clock.h"
#include "shm/control.h"
#include "shm/read/discover.h"
#include "shm/read/guard.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"

/* So many looks at the operations are made at the slots that may hold one, and
 * then one at all. */
#define WHOLE_LOOK_EVERY 16

/* --- Attaching -------------------------------------------------------- */

/* The header changes while it is copied: identity, proxy, life. */
static void copy_header(struct ncs_header *copy,
			const struct ncs_header *mapped)
{
	uint64_t words[sizeof(*copy) / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = ncs_load_relaxed((const uint64_t *)mapped + i);
	memcpy(copy, words, sizeof(words));
	copy->host[sizeof(copy->host) - 1] = '\0';
	copy->boot_id[sizeof(copy->boot_id) - 1] = '\0';
	copy->identity.comm_name[sizeof(copy->identity.comm_name) - 1] = '\0';
	copy->identity.gpu[sizeof(copy->identity.gpu) - 1] = '\0';
}

/* Reads the version first and the header after it; checks both. */
static enum ncs_attach check_header(struct ncs_reader *reader, char *why,
				    size_t why_size)
{
	const struct ncs_header *mapped =
		(const struct ncs_header *)reader->mapping;
	uint64_t magic = ncs_load_relaxed(&mapped->magic);
	const char *wrong;
	uint32_t version;

	if (magic != 0 && magic != NCS_MAGIC) {
		ncs_attach_explain(why, why_size,
				   "it does not begin with ncclstat's magic");
		return NCS_ATTACH_CORRUPT;
	}
	/* ORDER: pairs with ncs_writer_publish() (shm/write/writer.c): the header
	 * is complete once its version is there. */
	version = ncs_load_acquire32(&mapped->version);
	if (version == 0) {
		ncs_attach_explain(why, why_size, "it is not ready yet");
		return NCS_ATTACH_NOT_READY;
	}
	if (version >> 16 != NCS_ABI_MAJOR) {
		if (why)
			snprintf(why, why_size,
				 "it was made by a plugin with format %u.%u,"
				 " this program reads %u.%u",
				 version >> 16, version & 0xffff,
				 NCS_ABI_MAJOR, NCS_ABI_MINOR);
		return NCS_ATTACH_OTHER_VERSION;
	}
	copy_header(&reader->header, mapped);
	wrong = ncs_segment_check(&reader->header, reader->mapped_bytes);
	if (wrong) {
		ncs_attach_explain(why, why_size, wrong);
		return NCS_ATTACH_CORRUPT;
	}
	return NCS_ATTACHED;
}

enum ncs_attach ncs_reader_attach(struct ncs_reader *reader, char *why,
				  size_t why_size)
{
	enum ncs_attach result = check_header(reader, why, why_size);

	if (result != NCS_ATTACHED)
		return result;
	reader->cursors =
		calloc(reader->header.lanes.count, sizeof(*reader->cursors));
	reader->held = calloc((reader->header.operations.count + 63) / 64,
			      sizeof(*reader->held));
	if (!reader->cursors || !reader->held)
		return ncs_attach_failure(ENOMEM, why, why_size);
	return NCS_ATTACHED;
}

static enum ncs_attach map_file(struct ncs_reader *reader, int file, char *why,
				size_t why_size)
{
	struct stat status;
	void *mapping;

	if (fstat(file, &status) != 0)
		return ncs_attach_failure(errno, why, why_size);
	if (!S_ISREG(status.st_mode)) {
		ncs_attach_explain(why, why_size, "it is not a regular file");
		return NCS_ATTACH_CORRUPT;
	}
	if (geteuid() != 0 && status.st_uid != geteuid()) {
		ncs_attach_explain(why, why_size, "it belongs to another user");
		return NCS_ATTACH_DENIED;
	}
	if (status.st_size == 0) {
		ncs_attach_explain(why, why_size, "it is not ready yet");
		return NCS_ATTACH_NOT_READY;
	}
	if ((uint64_t)status.st_size < sizeof(struct ncs_header)) {
		ncs_attach_explain(why, why_size, "it is too short");
		return NCS_ATTACH_CORRUPT;
	}
	mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED,
		       file, 0);
	if (mapping == MAP_FAILED)
		return ncs_attach_failure(errno, why, why_size);
	reader->mapping = mapping;
	reader->mapped_bytes = (size_t)status.st_size;
	reader->device = status.st_dev;
	reader->inode = status.st_ino;
	ncs_guard_add(reader->mapping, reader->mapped_bytes);
	return NCS_ATTACHED;
}

enum ncs_attach ncs_reader_open(const char *path, struct ncs_reader **out,
				char *why, size_t why_size)
{
	struct ncs_reader *reader = calloc(1, sizeof(*reader));
	enum ncs_attach result;
	int file;

	*out = NULL;
	if (!reader)
		return ncs_attach_failure(ENOMEM, why, why_size);
	snprintf(reader->path, sizeof(reader->path), "%s", path);
	file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file < 0) {
		result = ncs_attach_failure(errno, why, why_size);
		goto fail;
	}
	result = map_file(reader, file, why, why_size);
	close(file);
	if (result == NCS_ATTACHED)
		result = ncs_reader_attach(reader, why, why_size);
	if (result != NCS_ATTACHED)
		goto fail;
	ncs_clock_refine(&reader->header.clock);
	*out = reader;
	return NCS_ATTACHED;
fail:
	ncs_reader_close(reader);
	return result;
}

void ncs_reader_close(struct ncs_reader *reader)
{
	if (!reader)
		return;
	if (reader->mapping && !reader->is_image) {
		ncs_guard_remove(reader->mapping);
		munmap((void *)(uintptr_t)reader->mapping,
		       reader->mapped_bytes);
	}
	free(reader->cursors);
	free(reader->held);
	free(reader);
}

void ncs_reader_rest(struct ncs_reader *reader)
{
	if (!reader->is_image)
		madvise((void *)(uintptr_t)reader->mapping,
			reader->mapped_bytes, MADV_DONTNEED);
}

const char *ncs_reader_path(const struct ncs_reader *reader)
{
	return reader->path;
}

const struct ncs_header *ncs_reader_header(const struct ncs_reader *reader)
{
	return &reader->header;
}

bool ncs_reader_is_valid(const struct ncs_reader *reader)
{
	struct stat status;

	if (reader->is_image)
		return true;
	return lstat(reader->path, &status) == 0 &&
	       status.st_dev == reader->device &&
	       status.st_ino == reader->inode &&
	       (uint64_t)status.st_size >= reader->mapped_bytes;
}

/* Nobody writes to an image: what is torn in it stays so. */
static bool read_block(const struct ncs_reader *reader, void *copy,
		       const void *block, size_t bytes)
{
	size_t words = bytes / sizeof(uint64_t);

	return reader->is_image ? ncs_seqlock_try(copy, block, words) :
				  ncs_seqlock_read(copy, block, words);
}

static struct ncs_image_fate fate_of(const struct ncs_reader *reader,
				     uint64_t now_ns)
{
	return reader->is_image ? reader->fate : ncs_image_fate(reader, now_ns);
}

/* --- A copy of everything ----------------------------------------------- */

int ncs_snapshot_init(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;

	memset(snapshot, 0, sizeof(*snapshot));
	/* What is beyond the counts is nobody's: no need to touch it. */
	snapshot->channels = malloc(header->channels.count *
				    sizeof(*snapshot->channels));
	snapshot->operations = malloc(header->operations.count *
				      sizeof(*snapshot->operations));
	snapshot->lanes = calloc(header->lanes.count,
				 sizeof(*snapshot->lanes));
	if (ncs_segment_tells_ranges(header)) {
		snapshot->ranges = malloc((header->ranges.count + 1) *
					  sizeof(*snapshot->ranges));
		snapshot->range_buckets =
			malloc((header->range_histograms.count + 1) *
			       NCS_RANGE_BUCKETS * sizeof(uint64_t));
	}
	if (!snapshot->channels || !snapshot->operations || !snapshot->lanes ||
	    (ncs_segment_tells_ranges(header) &&
	     (!snapshot->ranges || !snapshot->range_buckets)) ||
	    ncs_classes_init(snapshot, header) != 0) {
		ncs_snapshot_release(snapshot);
		return -ENOMEM;
	}
	return 0;
}

void ncs_snapshot_release(struct ncs_snapshot *snapshot)
{
	ncs_classes_release(snapshot);
	free(snapshot->channels);
	free(snapshot->operations);
	free(snapshot->ranges);
	free(snapshot->range_buckets);
	free(snapshot->lanes);
	memset(snapshot, 0, sizeof(*snapshot));
}

/* Time since `since` that is not charged yet, ns. A finished or dead rank's
 * clock stands still. */
static uint64_t running_ns(const struct ncs_snapshot *snapshot,
			   uint64_t since_ns)
{
	uint64_t end_ns = snapshot->taken_ns;

	if (snapshot->liveness == NCS_FINISHED && snapshot->finished_ns != 0)
		end_ns = snapshot->finished_ns;
	else if (snapshot->liveness == NCS_FINISHED ||
		 snapshot->liveness == NCS_DEAD)
		end_ns = snapshot->last_call_ns;
	return since_ns != 0 && end_ns > since_ns ? end_ns - since_ns : 0;
}

static void take_proxy(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader)
{
	const struct ncs_clock *clock = &reader->header.clock;
	struct ncs_proxy_view *view = &snapshot->proxy;
	struct ncs_proxy copy;

	if (!read_block(reader, &copy, &ncs_reader_mapped_header(reader)->proxy,
			sizeof(copy)))
		snapshot->torn = true;
	view->state = copy.state < NCS_PROXY_STATE_COUNT ?
			      (enum ncs_proxy_state)copy.state :
			      NCS_PROXY_UNKNOWN;
	view->since_ns = ncs_clock_ns(clock, copy.since);
	view->appended_operations = copy.appended_operations;
	for (size_t i = 0; i < NCS_PROXY_STATE_COUNT; i++)
		view->time_ns[i] = ncs_clock_duration_ns(clock, copy.time[i]);
	for (size_t i = 0; i < NCS_TRANSITION_COUNT; i++)
		view->count[i] = copy.count[i];
	view->time_ns[view->state] += running_ns(snapshot, view->since_ns);
}

static void take_sampling(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	const struct ncs_sampling *sampling =
		&ncs_reader_mapped_header(reader)->sampling;
	uint64_t level = ncs_load_relaxed(&sampling->level);

	snapshot->sampling = (struct ncs_sampling_view){
		.level = level < NCS_LEVEL_MAX ? (unsigned)level :
						 NCS_LEVEL_MAX,
		.slow_ns = ncs_load_relaxed(&sampling->slow_ns),
		.kept = ncs_load_relaxed(&sampling->kept),
		.left_out = ncs_load_relaxed(&sampling->left_out),
		.slow = ncs_load_relaxed(&sampling->slow),
	};
}

static void take_kernel(struct ncs_snapshot *snapshot,
			const struct ncs_reader *reader)
{
	const struct ncs_kernel *kernel =
		&ncs_reader_mapped_header(reader)->kernel;
	struct ncs_kernel_view *view = &snapshot->kernel;
	uint64_t status = ncs_load_relaxed(&kernel->status);
	uint64_t mode = ncs_load_relaxed(&kernel->mode);

	view->status = status < NCS_KERNEL_STATUS_COUNT ?
			       (enum ncs_kernel_status)status :
			       NCS_KERNEL_UNKNOWN;
	view->mode = mode < NCS_KERNEL_TIMING_COUNT ?
			     (enum ncs_kernel_timing)mode :
			     NCS_KERNEL_TIMING_OFF;
	view->period = ncs_load_relaxed(&kernel->period);
	view->timed_calls = ncs_load_relaxed(&kernel->timed_calls);
	view->captured_on = ncs_load_relaxed(&kernel->captured_on);
	view->captured_off = ncs_load_relaxed(&kernel->captured_off);
}

static struct ncs_gpu_time gpu_time(const struct ncs_gpu_time *time)
{
	return (struct ncs_gpu_time){
		.compute_kernels = ncs_load_relaxed(&time->compute_kernels),
		.compute_ns = ncs_load_relaxed(&time->compute_ns),
		.compute_busy_ns = ncs_load_relaxed(&time->compute_busy_ns),
		.communication_kernels =
			ncs_load_relaxed(&time->communication_kernels),
		.communication_ns = ncs_load_relaxed(&time->communication_ns),
		.hidden_ns = ncs_load_relaxed(&time->hidden_ns),
	};
}

static void take_cupti(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader)
{
	const struct ncs_cupti *cupti =
		&ncs_reader_mapped_header(reader)->cupti;
	struct ncs_cupti_view *view = &snapshot->cupti;
	uint64_t status;

	memset(view, 0, sizeof(*view));
	if (!ncs_segment_tells_cupti(&reader->header))
		return;
	status = ncs_load_relaxed(&cupti->status);
	view->known = status < NCS_CUPTI_STATUS_COUNT;
	if (!view->known)
		return;
	view->status = (enum ncs_cupti_status)status;
	view->total = gpu_time(&cupti->total);
	view->unplaced = ncs_load_relaxed(&cupti->unplaced);
	view->lost = ncs_load_relaxed(&cupti->lost);
}

static void take_gpu_clock(struct ncs_snapshot *snapshot,
			   const struct ncs_reader *reader)
{
	struct ncs_gpu_clock_view *view = &snapshot->gpu_clock;
	struct ncs_gpu_clock copy;
	uint64_t width;

	if (!read_block(reader, &copy,
			&ncs_reader_mapped_header(reader)->gpu_clock,
			sizeof(copy)))
		snapshot->torn = true;
	width = copy.high_ns - copy.low_ns;
	view->known = copy.ticks != 0 && width <= INT64_MAX;
	view->told_ns = ncs_clock_ns(&reader->header.clock, copy.ticks);
	view->error_ns = (width + 1) / 2;
	/* Both clocks may begin at any moment: a difference modulo 2^64. */
	view->offset_ns = (int64_t)(copy.low_ns + width / 2 - view->told_ns);
	view->quantum_ns = copy.quantum_ns;
}

static void take_settings(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	struct ncs_settings_view *view = &snapshot->settings;
	struct ncs_settings copy;

	memset(view, 0, sizeof(*view));
	if (!read_block(reader, &copy,
			&ncs_reader_mapped_header(reader)->settings,
			sizeof(copy)))
		snapshot->torn = true;
	if (!ncs_detail_unpack(copy.in_force, &view->in_force) ||
	    !view->in_force.has_groups || view->in_force.sample == 0 ||
	    view->in_force.kernel == NCS_KERNEL_DETAIL_DEFAULT) {
		memset(view, 0, sizeof(*view));
		return;
	}
	view->known = true;
	view->asked = copy.asked;
	view->refused = copy.refused < NCS_REFUSAL_COUNT ?
				(enum ncs_refusal)copy.refused :
				NCS_REFUSAL_MALFORMED;
	view->changes = copy.changes;
	view->changed_ns = ncs_clock_ns(&reader->header.clock, copy.changed);
	view->lease_until_ns = copy.lease_until_ns;
	view->lease_pid = (uint32_t)(copy.lease_holder >> 32);
}

static void take_channel(struct ncs_snapshot *snapshot,
			 const struct ncs_clock *clock,
			 const struct ncs_channel *copy)
{
	struct ncs_channel_view *view =
		&snapshot->channels[snapshot->channel_count++];

	view->channel = NCS_CHANNEL_KEY_CHANNEL(copy->key);
	view->send = NCS_CHANNEL_KEY_SEND(copy->key);
	view->peer = NCS_CHANNEL_KEY_PEER(copy->key);
	view->state = copy->state < NCS_CHANNEL_STATE_COUNT ?
			      (enum ncs_channel_state)copy->state :
			      NCS_CHANNEL_IDLE;
	view->since_ns = ncs_clock_ns(clock, copy->since);
	view->function = copy->function < NCS_FUNCTION_COUNT ?
				 (unsigned)copy->function :
				 NCS_FUNCTION_OTHER;
	view->operation = copy->operation;
	view->step = copy->step;
	view->nsteps = copy->nsteps;
	view->operations_started = copy->operations_started;
	view->operations_done = copy->operations_done;
	view->steps_started = copy->steps_started;
	view->steps_done = copy->steps_done;
	view->bytes = copy->bytes;
	view->size_unknown = copy->size_unknown;
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		view->time_ns[i] = ncs_clock_duration_ns(clock, copy->time[i]);
	view->time_ns[view->state] += running_ns(snapshot, view->since_ns);
}

static int compare_channels(const void *left, const void *right)
{
	const struct ncs_channel_view *a = left, *b = right;

	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	if (a->send != b->send)
		return a->send ? -1 : 1;
	return (a->peer > b->peer) - (a->peer < b->peer);
}

static void take_channels(struct ncs_snapshot *snapshot,
			  const struct ncs_reader *reader)
{
	const struct ncs_table *table = &reader->header.channels;
	size_t count = ncs_reader_channels(reader);
	struct ncs_channel copy;

	snapshot->channel_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_channel *channel =
			ncs_reader_entry(reader, table, i);

		if (ncs_load_relaxed(&channel->key) == 0)
			continue;
		if (!read_block(reader, &copy, channel, sizeof(copy)))
			snapshot->torn = true;
		if (copy.key != 0)
			take_channel(snapshot, &reader->header.clock, &copy);
	}
	qsort(snapshot->channels, snapshot->channel_count,
	      sizeof(*snapshot->channels), compare_channels);
}

/* Copies a slot whose number is its lock; false if empty or just changing. */
static bool read_operation(struct ncs_operation *copy,
			   const struct ncs_operation *slot)
{
	uint64_t words[sizeof(*copy) / sizeof(uint64_t)];
	const uint64_t *block = (const uint64_t *)slot;

	/* ORDER: pairs with ncs_operation_publish() (plugin/events/operation.c). */
	words[0] = ncs_load_acquire(&block[0]);
	if (words[0] == 0)
		return false;
	for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = ncs_payload_load(&block[i]);
	/* ORDER: pairs with ncs_operation_publish() (plugin/events/operation.c): the
	 * number is looked at after all words. */
	ncs_fence_acquire();
	memcpy(copy, words, sizeof(words));
	return ncs_load_relaxed(&block[0]) == words[0];
}

static int compare_operations(const void *left, const void *right)
{
	const struct ncs_operation_view *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* NCCL tells the end of an operation through its proxy operations and kernel
 * channels only. One that was enqueued and has none is in flight as long as it
 * may still get one: not where its function never has any, and not once a
 * later operation of the communicator has finished. */
static bool is_in_flight(const struct ncs_snapshot *snapshot,
			 const struct ncs_operation *copy,
			 uint64_t latest_done)
{
	if (snapshot->liveness == NCS_FINISHED)
		return false;
	if (copy->children_started != 0 || copy->enqueued == 0)
		return true;
	return copy->function < NCS_FUNCTION_COUNT &&
	       snapshot->functions[copy->function].with_children != 0 &&
	       copy->number > latest_done;
}

static bool is_endless(const struct ncs_snapshot *snapshot,
		       const struct ncs_operation *copy)
{
	return copy->children_started == 0 && copy->enqueued != 0 &&
	       copy->function < NCS_FUNCTION_COUNT &&
	       snapshot->functions[copy->function].with_children == 0;
}

static void fill_operation(struct ncs_operation_view *view,
			   const struct ncs_clock *clock,
			   const struct ncs_operation *copy)
{
	view->number = copy->number;
	view->start_ns = ncs_clock_ns(clock, copy->start);
	view->sequence_number = copy->sequence_number;
	view->bytes = copy->bytes;
	view->count = copy->count;
	view->event = copy->event;
	view->function = copy->function < NCS_FUNCTION_COUNT ?
				 copy->function :
				 NCS_FUNCTION_OTHER;
	view->datatype = copy->datatype;
	view->algorithm = copy->algorithm;
	view->protocol = copy->protocol;
	view->nchannels = copy->nchannels;
	view->peer = copy->peer;
	view->user_tag = copy->user_tag;
	view->range = copy->range;
	view->enqueued_ns = ncs_clock_ns(clock, copy->enqueued);
	view->children_started = copy->children_started;
	view->children_done = copy->children_done;
	view->first_child_ns = ncs_clock_ns(clock, copy->first_child);
	view->last_child_done_ns = ncs_clock_ns(clock, copy->last_child_done);
}

/* Marks the slots that may hold an operation: those that held one before, and
 * recent ones, from the look before that on: one that has been given out may
 * be filled in later. Should that take longer still, the next look at all
 * slots finds it. */
void ncs_reader_mark_operations(struct ncs_reader *reader)
{
	size_t count = reader->header.operations.count;
	const struct ncs_filled *filled =
		&ncs_reader_mapped_header(reader)->filled;
	uint64_t revived = ncs_load_relaxed(&filled->revived);
	uint64_t given = ncs_load_relaxed(&filled->operations);
	uint64_t from = reader->given[1] - NCS_FILLED_RECENT;
	bool whole = reader->looks++ % WHOLE_LOOK_EVERY == 0 ||
		     given - from >= count || revived != reader->revived ||
		     !ncs_reader_tells_filled(reader);

	if (whole)
		memset(reader->held, 0xff,
		       (count + 63) / 64 * sizeof(*reader->held));
	for (uint64_t n = from; !whole && n != given; n++)
		reader->held[n % count / 64] |= UINT64_C(1) << (n % count % 64);
	reader->given[1] = reader->given[0];
	reader->given[0] = given;
	reader->revived = revived;
}

bool ncs_reader_copy_operation(struct ncs_reader *reader, size_t index,
			       struct ncs_operation *copy)
{
	if (read_operation(copy,
			   ncs_reader_entry(reader, &reader->header.operations,
					    index)))
		return true;
	reader->held[index / 64] &= ~(UINT64_C(1) << (index % 64));
	return false;
}

static void take_operation(struct ncs_snapshot *snapshot,
			   struct ncs_reader *reader, size_t index,
			   uint64_t latest_done)
{
	struct ncs_operation copy;

	if (!ncs_reader_copy_operation(reader, index, &copy))
		return;
	if (is_in_flight(snapshot, &copy, latest_done))
		fill_operation(
			&snapshot->operations[snapshot->operation_count++],
			&reader->header.clock, &copy);
	else if (is_endless(snapshot, &copy))
		fill_operation(
			&snapshot->operations[reader->header.operations.count -
					      ++snapshot->endless_count],
			&reader->header.clock, &copy);
}

static void take_operations(struct ncs_snapshot *snapshot,
			    struct ncs_reader *reader)
{
	size_t count = reader->header.operations.count;
	uint64_t latest_done = ncs_load_relaxed(
		&ncs_reader_mapped_header(reader)->latest_done);

	snapshot->operation_count = 0;
	snapshot->endless_count = 0;
	ncs_reader_mark_operations(reader);
	for (size_t i = 0; i < count; i++) {
		uint64_t held = reader->held[i / 64] >> (i % 64);

		if (held == 0)
			i |= 63; /* none of this word's that are left */
		else if (held & 1)
			take_operation(snapshot, reader, i, latest_done);
	}
	qsort(snapshot->operations, snapshot->operation_count,
	      sizeof(*snapshot->operations), compare_operations);
	snapshot->endless =
		&snapshot->operations[count - snapshot->endless_count];
}

static void add_function(struct ncs_function_view *view,
			 const struct ncs_function *copy)
{
	uint64_t last = copy->last_sequence_number;

	view->calls += copy->calls;
	view->operations += copy->operations;
	view->operations_done += copy->operations_done;
	view->with_children += copy->with_children;
	view->bytes += copy->bytes;
	view->size_unknown += copy->size_unknown;
	if (last != 0 &&
	    (view->last_sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	     view->last_sequence_number < last - 1))
		view->last_sequence_number = last - 1;
	for (size_t i = 0; i < NCS_TIMING_COUNT; i++) {
		view->timed[i] += copy->timed[i];
		view->time_ns[i] += copy->time_ns[i];
		view->timed_bytes[i] += copy->timed_bytes[i];
	}
}

static void clear_sums(struct ncs_snapshot *snapshot)
{
	memset(snapshot->events, 0, sizeof(snapshot->events));
	memset(snapshot->losses, 0, sizeof(snapshot->losses));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		struct ncs_function_view *view = &snapshot->functions[i];
		uint64_t *kernel = view->histogram[NCS_TIMING_KERNEL];
		uint64_t *proxy = view->histogram[NCS_TIMING_PROXY];

		memset(view, 0, sizeof(*view));
		view->last_sequence_number = NCS_NO_SEQUENCE_NUMBER;
		view->histogram[NCS_TIMING_KERNEL] = kernel;
		view->histogram[NCS_TIMING_PROXY] = proxy;
	}
}

static void take_lane(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader, size_t index)
{
	const struct ncs_header *header = &reader->header;
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &header->lanes, index);
	const struct ncs_ring *ring =
		ncs_reader_entry(reader, &header->rings, index);
	struct ncs_lane_view *view = &snapshot->lanes[index];
	struct ncs_function copy;

	memset(view, 0, sizeof(*view));
	if (!ncs_reader_uses_lane(reader, index))
		return;
	view->last_call_ns = ncs_clock_ns(&header->clock,
					  ncs_load_relaxed(&lane->last_call));
	view->published = ncs_load_relaxed(&ring->head);
	if (view->published >= header->ring_records)
		snapshot->losses[NCS_LOSS_OVERWRITTEN] +=
			view->published - header->ring_records + 1;
	for (size_t i = 0; i < NCS_EVENT_COUNT; i++) {
		snapshot->events[i] += ncs_load_relaxed(&lane->events[i]);
		view->open_since_ns[i] = ncs_clock_ns(
			&header->clock,
			ncs_load_relaxed(&lane->open_since[i]));
	}
	for (size_t i = 0; i < NCS_LOSS_COUNT; i++)
		snapshot->losses[i] += ncs_load_relaxed(&lane->losses[i]);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (!read_block(reader, &copy, &lane->functions[i],
				sizeof(copy)))
			snapshot->torn = true;
		add_function(&snapshot->functions[i], &copy);
	}
	if (view->last_call_ns > snapshot->last_call_ns)
		snapshot->last_call_ns = view->last_call_ns;
}

static uint64_t load_ns(const struct ncs_reader *reader, const uint64_t *ticks)
{
	return ncs_clock_duration_ns(&reader->header.clock,
				     ncs_load_relaxed(ticks));
}

static void take_range(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader, uint32_t number,
		       const struct ncs_range *range, uint64_t key)
{
	struct ncs_range_view *view = &snapshot->ranges[snapshot->range_count];
	uint64_t name[NCS_RANGE_NAME_BYTES / 8];

	memset(view, 0, sizeof(*view));
	view->number = number;
	view->parent = NCS_RANGE_KEY_PARENT(key);
	/* It was there before, so that trees have no loops. */
	if (view->parent >= number)
		return;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		name[i] = ncs_load_relaxed((const uint64_t *)range->name + i);
	memcpy(view->name, name, sizeof(name));
	view->name[sizeof(view->name) - 1] = '\0';
	view->calls = ncs_load_relaxed(&range->calls);
	view->operations = ncs_load_relaxed(&range->operations);
	view->bytes = ncs_load_relaxed(&range->bytes);
	view->size_unknown = ncs_load_relaxed(&range->size_unknown);
	view->with_children = ncs_load_relaxed(&range->with_children);
	view->with_children_bytes =
		ncs_load_relaxed(&range->with_children_bytes);
	view->busy = NCS_RANGE_BUSY(ncs_load_relaxed(&range->busy));
	view->busy_ns = load_ns(reader, &range->busy_time);
	if (view->busy != 0)
		view->busy_ns += running_ns(
			snapshot,
			ncs_clock_ns(&reader->header.clock,
				     ncs_load_relaxed(&range->busy_since)));
	for (size_t i = 0; i < NCS_TIMING_COUNT; i++) {
		view->timed[i] = ncs_load_relaxed(&range->timed[i]);
		view->time_ns[i] = ncs_load_relaxed(&range->time_ns[i]);
		view->timed_bytes[i] = ncs_load_relaxed(&range->timed_bytes[i]);
	}
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		view->channel_time_ns[i] = load_ns(reader, &range->time[i]);
	view->gpu = gpu_time(&range->gpu);
	snapshot->range_count++;
}

size_t ncs_range_place(const struct ncs_snapshot *snapshot, uint64_t number)
{
	size_t low = 0, high = snapshot->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshot->ranges[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < snapshot->range_count &&
			       snapshot->ranges[low].number == number ?
		       low :
		       snapshot->range_count;
}

static void take_range_histogram(struct ncs_snapshot *snapshot,
				 const struct ncs_range_histogram *histogram)
{
	/* ORDER: pairs with claim_histogram() (plugin/events/range_stats.c): the key
	 * is there before any count. */
	uint64_t key = ncs_load_acquire(&histogram->key);
	uint64_t timing = key & 0xff, *buckets;
	size_t place = snapshot->range_histogram_count;
	size_t range;

	if (key == 0 || timing >= NCS_TIMING_COUNT)
		return;
	range = ncs_range_place(snapshot, key << 1 >> 9);
	if (range == snapshot->range_count)
		return;
	buckets = &snapshot->range_buckets[place * NCS_RANGE_BUCKETS];
	for (size_t i = 0; i < NCS_RANGE_BUCKETS; i++)
		buckets[i] = ncs_load_relaxed(&histogram->buckets[i]);
	snapshot->ranges[range].histogram[timing] = (uint32_t)(place + 1);
	snapshot->range_histogram_count++;
}

static void take_ranges(struct ncs_snapshot *snapshot,
			const struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;
	const struct ncs_table *table = &header->range_histograms;
	uint64_t filled;

	snapshot->range_count = snapshot->range_histogram_count = 0;
	if (!ncs_segment_tells_ranges(header))
		return;
	filled = ncs_load_relaxed(
		&ncs_reader_mapped_header(reader)->ranges_filled);
	if (filled > header->ranges.count)
		filled = header->ranges.count;
	for (uint32_t i = 0; i < filled; i++) {
		const struct ncs_range *range =
			ncs_reader_entry(reader, &header->ranges, i);
		/* ORDER: pairs with ncs_range_publish() (plugin/events/range_stats.c):
		 * the name is there before the key. */
		uint64_t key = ncs_load_acquire(&range->key);

		if (key != 0)
			take_range(snapshot, reader, i + 1, range, key);
	}
	for (size_t i = 0; snapshot->range_count > 0 && i < table->count; i++)
		take_range_histogram(snapshot,
				     ncs_reader_entry(reader, table, i));
}

void ncs_snapshot_take(struct ncs_snapshot *snapshot,
		       struct ncs_reader *reader, uint64_t now_ns)
{
	const struct ncs_header *header = ncs_reader_mapped_header(reader);
	struct ncs_image_fate fate = fate_of(reader, now_ns);

	snapshot->taken_ns = now_ns;
	snapshot->torn = false;
	snapshot->last_call_ns = 0;
	if (!read_block(reader, &snapshot->identity, &header->identity,
			sizeof(snapshot->identity)))
		snapshot->torn = true;
	snapshot->identity
		.comm_name[sizeof(snapshot->identity.comm_name) - 1] = '\0';
	snapshot->identity.gpu[sizeof(snapshot->identity.gpu) - 1] = '\0';
	clear_sums(snapshot);
	snapshot->lane_count = reader->header.lanes.count;
	for (size_t i = 0; i < snapshot->lane_count; i++)
		take_lane(snapshot, reader, i);
	take_channels(snapshot, reader);
	/* A step's states note no call, but the channel says when. */
	for (size_t i = 0; i < snapshot->channel_count; i++)
		if (snapshot->channels[i].since_ns > snapshot->last_call_ns)
			snapshot->last_call_ns = snapshot->channels[i].since_ns;
	snapshot->finished_ns = ncs_clock_ns(
		&reader->header.clock, ncs_load_relaxed(&header->finished));
	snapshot->process_gone = fate.gone;
	snapshot->process_stopped = fate.stopped;
	/* One that has never called has been silent since it was made. */
	snapshot->liveness = ncs_liveness_of(
		ncs_load_relaxed(&header->life), snapshot->process_gone,
		snapshot->last_call_ns != 0 ?
			snapshot->last_call_ns :
			ncs_clock_ns(&reader->header.clock,
				     reader->header.created),
		now_ns);
	take_proxy(snapshot, reader);
	take_kernel(snapshot, reader);
	take_cupti(snapshot, reader);
	take_gpu_clock(snapshot, reader);
	take_sampling(snapshot, reader);
	take_settings(snapshot, reader);
	take_operations(snapshot, reader);
	ncs_classes_take(snapshot, reader->mapping, &reader->header);
	take_ranges(snapshot, reader);
}

/* --- Records ------------------------------------------------------------ */

size_t ncs_reader_records(struct ncs_reader *reader, size_t lane,
			  struct ncs_record *records, size_t size,
			  uint64_t *lost)
{
	const struct ncs_header *header = &reader->header;
	const struct ncs_ring *ring;
	struct ncs_ring_cursor *cursor;
	uint64_t lost_before, available;
	size_t good;

	if (lane >= header->lanes.count || size == 0 || reader->is_image)
		return 0;
	if (!ncs_reader_uses_lane(reader, lane))
		return 0;
	ring = ncs_reader_entry(reader, &header->rings, lane);
	cursor = &reader->cursors[lane];
	lost_before = cursor->lost;
	available = ncs_ring_available(ring, header->ring_records, cursor);
	if (available < size)
		size = (size_t)available;
	good = ncs_ring_copy(ring, (const struct ncs_record *)(ring + 1),
			     header->ring_records, cursor, records, size);
	if (good < size)
		memmove(records, records + (size - good),
			good * sizeof(*records));
	*lost += cursor->lost - lost_before;
	return good;
}

uint64_t ncs_reader_position(const struct ncs_reader *reader, size_t lane)
{
	return reader->cursors[lane].next;
}

uint64_t ncs_reader_waiting(const struct ncs_reader *reader, size_t lane)
{
	const struct ncs_ring *ring;
	uint64_t head;

	if (!ncs_reader_uses_lane(reader, lane))
		return 0;
	ring = ncs_reader_entry(reader, &reader->header.rings, lane);
	head = ncs_load_relaxed(&ring->head);
	return head > reader->cursors[lane].next ?
		       head - reader->cursors[lane].next :
		       0;
}

void ncs_reader_skip_overwritten(struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;
	uint64_t most = header->ring_records - header->ring_records / 8;

	for (size_t i = 0; i < header->lanes.count; i++) {
		uint64_t waiting = ncs_reader_waiting(reader, i);

		if (waiting > most)
			reader->cursors[i].next += waiting - most;
	}
}
