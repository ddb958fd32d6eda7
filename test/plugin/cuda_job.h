/* SPDX-License-Identifier: MIT */
/* A process that launches kernels on a fake GPU (next/fake_cuda.h), with a
 * communicator whose launches are followed. For scenarios (scenario.h). */
#ifndef NCS_TEST_PLUGIN_CUDA_JOB_H
#define NCS_TEST_PLUGIN_CUDA_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/abi_header.h"
#include "shm/atomics.h"
#include "test/plugin/next/fake_cuda.h"
#include "test/plugin/scenario.h"

#define CUDA_JOB_API 7

/* The job of a scenario: one communicator on one stream. */
struct cuda_job {
	struct guest guest;
	/* Its segment, mapped for as long as the process lives. */
	const struct ncs_header *header;
	void *gpu; /* the fake driver's context */
	void *stream;
};

extern struct fake_cuda *cuda;
extern struct cuda_job job;

/* --- Begin and end ----------------------------------------------------- */

/* Loads a fake driver by the name of its file, and makes a context for the
 * calling thread. */
void cuda_job_load(const char *driver);

/* Loads a fake driver, sets NCCLSTAT_TIMING, opens the plugin with this version
 * of the API, initialises the communicator and makes the stream. */
void cuda_job_open(const char *driver, const char *timing, int api);

/* Plays launches with an operation each, which end at once, until one was
 * followed with times if `timed` is set, else without. At the end all have
 * ended. */
void cuda_job_settle(bool timed);

/* Opens a job with cuda.so and CUDA_JOB_API, and settles. */
void cuda_job_come(const char *timing);

/* Finalizes the job's communicator, and another one. */
void cuda_job_finalize(void);
void cuda_job_finalize_in(void *context);

/* Initialises another communicator in place of the finalized one. */
void cuda_job_come_next(void);

/* Returns true if the plugin's thread is there. */
bool cuda_job_is_watched(void);

/* Wait until the plugin's thread is gone; cuda_job_expect_nothing_left() also
 * checks that it has destroyed all that the plugin made. */
void cuda_job_expect_thread_gone(void);
void cuda_job_expect_nothing_left(void);

/* Finalizes the communicator, closes the plugin, and checks that nothing is
 * left; cuda_job_close_finalized() does so if the communicator is finalized
 * already, cuda_job_close_after_error() allows for events that the plugin has
 * left alone since they may be anything's by now. */
void cuda_job_close(void);
void cuda_job_close_finalized(void);
void cuda_job_close_after_error(void);

/* --- Launches ---------------------------------------------------------- */

/* Play a launch of a kernel, and an operation of GUEST_COLL_ELEMENTS elements
 * with this sequence number as NCCL reports it afterwards, which is returned;
 * cuda_job_call() plays both. The functions that end in _in take the
 * communicator and its stream, the others those of the job. */
void cuda_job_launch_in(void *context, void *stream, uint64_t duration_ns);
void *cuda_job_operation_in(void *context, uint64_t number);
void cuda_job_call_in(void *context, void *stream, uint64_t duration_ns);
void cuda_job_launch(uint64_t duration_ns);
void *cuda_job_operation(uint64_t number);
void cuda_job_call(uint64_t duration_ns);

/* Waits for so long that the next launch is followed even if it is not timed, as
 * long as there are events for it. */
void cuda_job_let_spacing_pass(void);

/* Waits until the launches that were followed have ended, so that the next ones
 * can have their events. */
void cuda_job_let_events_return(void);

/* Waits until the plugin's thread has asked for events again several times. */
void cuda_job_let_look(void);

/* --- The segment ------------------------------------------------------- */

/* Maps a segment for as long as the process lives. `place` is its index in the
 * order of creation. */
const struct ncs_header *cuda_job_map(size_t place);

/* Waits until the watch thread has made a communicator for a part of the job's
 * operations, the last one of the job, and maps its segment, as above. */
const struct ncs_header *cuda_job_map_companion(size_t place);

/* One of the words of struct ncs_launch_progress. */
#define PROGRESS(header, word) ncs_load_relaxed(&(header)->launches.word)
#define JOB_PROGRESS(word) PROGRESS(job.header, word)

/* Return numbers of a segment: the times from the stream of COLL_FUNCTION and
 * how many of its operations are done, both summed over all lanes; the number
 * of operations in flight; and the one with this number, NULL if it is not in
 * flight. */
struct ncs_stream_times cuda_job_times(const struct ncs_header *header);
uint64_t cuda_job_done(const struct ncs_header *header);
size_t cuda_job_in_flight(const struct ncs_header *header);
const struct ncs_operation *cuda_job_find(const struct ncs_header *header,
					  uint64_t number);

/* Wait until a segment's launches have come so far, until all of the job's have
 * ended, and until the job's status is this one. */
void cuda_job_expect_progress(const struct ncs_header *header, uint64_t begun,
			      uint64_t ended, const char *what);
void cuda_job_expect_all_ended(const char *what);
void cuda_job_expect_status(enum ncs_stream_status status, const char *what);

/* Reads up to the next record of a collective operation, which must exist. */
struct ncs_record cuda_job_next_operation(void);

/* --- Waiting ----------------------------------------------------------- */

/* Waits a moment. Returns false once `since` is too long ago; *since is 0 at
 * first. */
bool cuda_job_wait(uint64_t *since);

/* Waits until a condition holds; fails the scenario if it never does. */
#define WAIT_UNTIL(condition, ...) \
	do { \
		uint64_t since_ = 0; \
		while (!(condition)) \
			if (!cuda_job_wait(&since_)) \
				scenario_fail(__FILE__, __LINE__, #condition, \
					      __VA_ARGS__); \
	} while (0)

#endif
