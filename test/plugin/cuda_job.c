/* SPDX-License-Identifier: MIT */
/* Launches on a fake GPU; see cuda_job.h. */
#include "test/plugin/cuda_job.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ncclstat/abi.h"
#include "shm/clock.h"

#define PATIENCE_NS UINT64_C(40000000000)

/* More than the time between launches that are followed without times. */
#define SPACING_NS 2000000L

struct fake_cuda *cuda;
struct cuda_job job;

/* --- Begin and end ----------------------------------------------------- */

void cuda_job_load(const char *driver)
{
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/%s", NCS_NEXT, driver);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(library, "%s", dlerror());
	cuda = dlsym(library, "fake_cuda");
	CHECK(cuda, "it is another library");
	job.gpu = cuda->primary_use(0);
	cuda->context_use(job.gpu);
}

void cuda_job_open(const char *driver, const char *timing, int api)
{
	cuda_job_load(driver);
	setenv("NCCLSTAT_TIMING", timing, 1);
	guest_open(&job.guest, api);
	job.header = cuda_job_map(0);
	job.stream = cuda->stream_create();
}

void cuda_job_settle(bool timed)
{
	uint64_t since = 0;

	/* The operation of a launch that was not followed ends with a later
	 * launch, so the latest one must have been. */
	do {
		CHECK(cuda_job_wait(&since), "no launch is followed");
		cuda_job_call(0);
		cuda_job_let_events_return();
	} while (JOB_PROGRESS(followed) != JOB_PROGRESS(launched) ||
		 (timed && JOB_PROGRESS(timed) == 0));
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0,
		   "operations do not end");
}

void cuda_job_come(const char *timing)
{
	cuda_job_open("cuda.so", timing, CUDA_JOB_API);
	cuda_job_settle(strcmp(timing, "all") == 0);
}

void cuda_job_finalize_in(void *context)
{
	CHECK(host_finalize(job.guest.host, context) == NCCL_SUCCESS,
	      "finalize never fails");
}

void cuda_job_finalize(void)
{
	cuda_job_finalize_in(job.guest.context);
}

void cuda_job_come_next(void)
{
	size_t place = count_objects();

	view_close(&job.guest.view);
	job.guest.context = init_comm(job.guest.host, "next", 0);
	/* It may replace the segment of the one before. */
	place = count_objects() > place ? place : place - 1;
	view_open(&job.guest.view, place);
	job.header = cuda_job_map(place);
}

bool cuda_job_is_watched(void)
{
	return find_thread("ncclstat-watch") != 0;
}

void cuda_job_expect_thread_gone(void)
{
	WAIT_UNTIL(!cuda_job_is_watched(), "the thread does not end");
	CHECK_EQUAL(cuda->counts().bad_handles, 0, "handles after their end");
}

void cuda_job_expect_nothing_left(void)
{
	/* A thread that has just been started has no name yet. */
	WAIT_UNTIL(cuda->counts().retained == 0, "contexts retained");
	cuda_job_expect_thread_gone();
	CHECK_EQUAL(cuda->counts().events, 0, "events left");
	CHECK_EQUAL(cuda->counts().streams, 0, "streams left");
}

void cuda_job_close(void)
{
	guest_close(&job.guest);
	cuda_job_expect_nothing_left();
}

void cuda_job_close_finalized(void)
{
	view_close(&job.guest.view);
	host_close(job.guest.host);
	cuda_job_expect_nothing_left();
}

void cuda_job_close_after_error(void)
{
	guest_close(&job.guest);
	cuda_job_expect_thread_gone();
}

/* --- Launches ---------------------------------------------------------- */

void cuda_job_launch_in(void *context, void *stream, uint64_t duration_ns)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.stream = stream,
	};
	void *handle = start_in(&job.guest, context, &event);

	cuda->launch(stream, duration_ns);
	stop(&job.guest, handle);
}

void *cuda_job_operation_in(void *context, uint64_t number)
{
	struct host_event event = coll_event_of(NULL);
	void *operation;

	event.seq_number = number;
	operation = start_in(&job.guest, context, &event);
	stop(&job.guest, operation);
	return operation;
}

void cuda_job_call_in(void *context, void *stream, uint64_t duration_ns)
{
	cuda_job_launch_in(context, stream, duration_ns);
	cuda_job_operation_in(context, 0);
}

void cuda_job_launch(uint64_t duration_ns)
{
	cuda_job_launch_in(job.guest.context, job.stream, duration_ns);
}

void *cuda_job_operation(uint64_t number)
{
	return cuda_job_operation_in(job.guest.context, number);
}

void cuda_job_call(uint64_t duration_ns)
{
	cuda_job_call_in(job.guest.context, job.stream, duration_ns);
}

void cuda_job_let_spacing_pass(void)
{
	const struct timespec pause = { .tv_nsec = SPACING_NS };

	nanosleep(&pause, NULL);
}

void cuda_job_let_events_return(void)
{
	WAIT_UNTIL(JOB_PROGRESS(ended) == JOB_PROGRESS(followed),
		   "a launch does not end");
}

void cuda_job_let_look(void)
{
	uint64_t asked = cuda->counts().calls[FAKE_CUDA_EVENT_QUERY];

	WAIT_UNTIL(cuda->counts().calls[FAKE_CUDA_EVENT_QUERY] >= asked + 8,
		   "nothing looks at pending events");
}

/* --- The segment ------------------------------------------------------- */

const struct ncs_header *cuda_job_map(size_t place)
{
	struct ncs_paths paths;
	struct stat status;
	void *segment;
	int file;

	CHECK(ncs_discover(scenario_directory, &paths) == 0, "no segments");
	CHECK(place < paths.count, "there are only %zu segments", paths.count);
	file = open(paths.path[place], O_RDONLY);
	CHECK(file >= 0 && fstat(file, &status) == 0, "no segment");
	segment = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED,
		       file, 0);
	CHECK(segment != MAP_FAILED, "mmap");
	close(file);
	ncs_paths_release(&paths);
	return segment;
}

/* Returns true once the last segment is there as a whole. */
static bool has_companion(size_t place)
{
	struct ncs_paths paths;
	uint32_t words[3] = { 0 };
	FILE *file;

	CHECK(ncs_discover(scenario_directory, &paths) == 0, "no segments");
	file = paths.count == place + 1 ? fopen(paths.path[place], "rb") : NULL;
	if (file) {
		CHECK(fread(words, sizeof(words), 1, file) <= 1, "read");
		fclose(file);
	}
	ncs_paths_release(&paths);
	/* The version comes last. */
	return words[2] != 0;
}

const struct ncs_header *cuda_job_map_companion(size_t place)
{
	WAIT_UNTIL(has_companion(place), "no segment %zu", place);
	return cuda_job_map(place);
}

static const void *entry_of(const struct ncs_header *header,
			    const struct ncs_table *table, uint32_t index)
{
	return (const char *)header + table->offset +
	       (size_t)index * table->stride;
}

struct ncs_stream_times cuda_job_times(const struct ncs_header *header)
{
	struct ncs_stream_times sum = { 0 };

	for (uint32_t i = 0; i < header->lanes.count; i++) {
		const struct ncs_lane *lane =
			entry_of(header, &header->lanes, i);
		const struct ncs_stream_times *times =
			&lane->stream_times[COLL_FUNCTION];

		sum.timed += ncs_load_relaxed(&times->timed);
		sum.time_ns += ncs_load_relaxed(&times->time_ns);
		sum.timed_bytes += ncs_load_relaxed(&times->timed_bytes);
	}
	return sum;
}

uint64_t cuda_job_done(const struct ncs_header *header)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < header->lanes.count; i++) {
		const struct ncs_lane *lane =
			entry_of(header, &header->lanes, i);

		done += ncs_load_relaxed(
			&lane->functions[COLL_FUNCTION].operations_done);
	}
	return done;
}

size_t cuda_job_in_flight(const struct ncs_header *header)
{
	size_t count = 0;

	for (uint32_t i = 0; i < header->operations.count; i++) {
		const struct ncs_operation *operation =
			entry_of(header, &header->operations, i);

		count += ncs_load_relaxed(&operation->number) != 0;
	}
	return count;
}

const struct ncs_operation *cuda_job_find(const struct ncs_header *header,
					  uint64_t number)
{
	for (uint32_t i = 0; i < header->operations.count; i++) {
		const struct ncs_operation *operation =
			entry_of(header, &header->operations, i);

		if (ncs_load_relaxed(&operation->number) == number)
			return operation;
	}
	return NULL;
}

void cuda_job_expect_progress(const struct ncs_header *header, uint64_t begun,
			      uint64_t ended, const char *what)
{
	WAIT_UNTIL(PROGRESS(header, begun) == begun &&
			   PROGRESS(header, ended) == ended,
		   "%s: begun is %llu, not %llu; ended is %llu, not %llu", what,
		   (unsigned long long)PROGRESS(header, begun),
		   (unsigned long long)begun,
		   (unsigned long long)PROGRESS(header, ended),
		   (unsigned long long)ended);
}

void cuda_job_expect_all_ended(const char *what)
{
	uint64_t launched = JOB_PROGRESS(launched);

	cuda_job_expect_progress(job.header, launched, launched, what);
}

void cuda_job_expect_status(enum ncs_stream_status status, const char *what)
{
	WAIT_UNTIL(JOB_PROGRESS(status) == status, "%s: status is %llu, not %d",
		   what, (unsigned long long)JOB_PROGRESS(status), status);
}

struct ncs_record cuda_job_next_operation(void)
{
	struct ncs_record record;

	do
		CHECK(next_record(&job.guest, &record), "no record");
	while (record.event != NCS_EVENT_COLL);
	return record;
}

/* --- Waiting ----------------------------------------------------------- */

bool cuda_job_wait(uint64_t *since)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	uint64_t now = ncs_clock_monotonic_ns();

	if (*since == 0)
		*since = now;
	nanosleep(&pause, NULL);
	return now - *since < PATIENCE_NS;
}
