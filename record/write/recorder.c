/* SPDX-License-Identifier: MIT */
/* The recorder's loop: does each task when it is due, and decides when to end;
 * see recorder.h. Does not read segments itself: recorder_segments.c does. */
#include "record/write/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/write/recorder_segments.h"
#include "shm/clock.h"
#include "shm/process.h"

/* A scan opens files: there is one in so many of the longest pauses at most. */
#define SCAN_EVERY_NS UINT64_C(50000000)
#define SCAN_PAUSES 3u
#define CLOCK_EVERY_NS UINT64_C(1000000000)
#define FLUSH_EVERY_NS UINT64_C(1000000000)

/* How long the last reading of all segments may take. */
#define LAST_NS UINT64_C(2000000000)

/* Limits of the pause between two readings of the rings, in ns. */
#define PAUSE_MAX_NS UINT64_C(10000000)
#define PAUSE_MIN_NS UINT64_C(50000)

/* Shares of a ring, in 1/1024. The recorder pauses until PAUSE_SHARE of one is new. It then
 * reads each ring of which READ_SHARE is, so that they fill up at one time. With each state
 * of a rank, or before each flush if states are far apart, it reads all rings. */
#define PAUSE_SHARE 256u
#define READ_SHARE (PAUSE_SHARE / 2)

struct recorder_run {
	const struct ncs_recorder_settings *settings;
	struct ncs_recorder_result *result;
	struct ncs_recording_writer *writer;
	struct ncs_recorder_segments followed;
	uint64_t begun_ns;
	uint64_t file_begun_ns;
	uint64_t file_number;
	uint64_t scanned_ns;
	uint64_t states_ns;
	uint64_t clock_ns;
	uint64_t flushed_ns;
	uint64_t drained_ns;
};

static void report(const struct recorder_run *recorder, const char *text)
{
	if (recorder->settings->report)
		recorder->settings->report(recorder->settings->context, text);
}

/* --- Files --------------------------------------------------------------- */

/* Prints the path of a file by its number. */
static void path_of(const struct recorder_run *recorder, uint64_t number,
		    char *path, size_t size)
{
	if (number == 0)
		snprintf(path, size, "%s", recorder->settings->path);
	else
		snprintf(path, size, "%s.%" PRIu64, recorder->settings->path,
			 number);
}

static void fail(struct recorder_run *recorder, const char *path,
		 const char *why)
{
	recorder->result->end = NCS_RECORDER_FAILED;
	snprintf(recorder->result->why, sizeof(recorder->result->why), "%s: %s",
		 strcmp(path, "-") == 0 ? "standard output" : path, why);
}

static void fail_writing(struct recorder_run *recorder, int error)
{
	char path[4096];

	if (recorder->result->end == NCS_RECORDER_FAILED)
		return;
	path_of(recorder, recorder->file_number, path, sizeof(path));
	fail(recorder, path, strerror(-error));
}

/* Stores the method by which the file is written, and reports why if a better
 * method was not available. */
static void note_method(struct recorder_run *recorder)
{
	const struct ncs_sink *sink =
		ncs_recording_writer_sink(recorder->writer);

	snprintf(recorder->result->method, sizeof(recorder->result->method),
		 "%s", sink->method_text);
	if (sink->fallback[0] && recorder->file_number == 0)
		report(recorder, sink->fallback);
}

static bool begin(struct recorder_run *recorder)
{
	const struct ncs_recorder_settings *settings = recorder->settings;
	struct ncs_recording_settings file = {
		.means = settings->means,
		.is_packed = settings->is_packed,
		.pack_level = settings->pack_level,
	};
	char why[256];

	ncs_recording_head_here(&file.head);
	file.head.interval_ns = settings->interval_ns;
	if (settings->number > 0) {
		memcpy(file.head.recording, settings->recording,
		       sizeof(file.head.recording));
		file.head.number = settings->number;
	}
	if (ncs_recording_writer_open(&recorder->writer, settings->path, &file,
				      why, sizeof(why)) != 0) {
		fail(recorder, settings->path, why);
		return false;
	}
	recorder->file_begun_ns = file.head.begun_monotonic_ns;
	note_method(recorder);
	/* The file may have taken long to open. */
	recorder->begun_ns = ncs_clock_monotonic_ns();
	return true;
}

static void remove_oldest(const struct recorder_run *recorder)
{
	uint64_t keep = recorder->settings->keep;
	char path[4096];

	if (keep == 0 || recorder->file_number < keep)
		return;
	path_of(recorder, recorder->file_number - keep, path, sizeof(path));
	if (unlink(path) != 0 && errno != ENOENT) {
		char text[4200];

		snprintf(text, sizeof(text), "%s: %s", path, strerror(errno));
		report(recorder, text);
	}
}

static bool is_idle(const struct recorder_run *recorder)
{
	return recorder->settings->stays &&
	       (!ncs_recorder_segments_any(&recorder->followed) ||
		ncs_recorder_segments_are_gone(&recorder->followed));
}

static bool rotate_if_due(struct recorder_run *recorder, uint64_t now_ns)
{
	const struct ncs_recorder_settings *settings = recorder->settings;
	struct ncs_file_head head;
	char path[4096], why[256];

	if ((settings->rotate_bytes == 0 ||
	     ncs_recording_writer_bytes(recorder->writer) <
		     settings->rotate_bytes) &&
	    (settings->rotate_ns == 0 || is_idle(recorder) ||
	     now_ns - recorder->file_begun_ns < settings->rotate_ns))
		return true;
	recorder->file_number++;
	path_of(recorder, recorder->file_number, path, sizeof(path));
	ncs_recording_head_here(&head);
	if (ncs_recording_writer_rotate(
		    recorder->writer, path, head.begun_monotonic_ns,
		    head.begun_realtime_ns, why, sizeof(why)) != 0) {
		fail(recorder, path, why);
		return false;
	}
	recorder->file_begun_ns = head.begun_monotonic_ns;
	/* Every file has states and clock readings from its beginning on. */
	recorder->states_ns = recorder->clock_ns = 0;
	/* An empty file is none. */
	recorder->flushed_ns = 0;
	ncs_recorder_segments_forget_stacks(&recorder->followed);
	remove_oldest(recorder);
	return true;
}

/* --- Periodic tasks ------------------------------------------------------ */

static int record_clock(struct recorder_run *recorder)
{
	struct ncs_clock_reading reading;

	ncs_clock_reading_take(&reading);
	return ncs_recording_writer_clock(recorder->writer, &reading);
}

static bool is_due(uint64_t *last_ns, uint64_t every_ns, uint64_t now_ns)
{
	if (*last_ns != 0 && now_ns - *last_ns < every_ns)
		return false;
	*last_ns = now_ns;
	return true;
}

/* Returns the time between two flushes. Pipes are flushed often: the reader
 * wants new data soon, and flushing a pipe costs no padding. */
static uint64_t flush_every_ns(const struct recorder_run *recorder)
{
	return strcmp(recorder->settings->path, "-") == 0 ?
		       recorder->settings->interval_ns :
		       FLUSH_EVERY_NS;
}

static uint64_t scan_every_ns(const struct ncs_recorder_settings *settings)
{
	uint64_t pauses_ns = SCAN_PAUSES * settings->pause_ns;

	return pauses_ns > SCAN_EVERY_NS ? pauses_ns : SCAN_EVERY_NS;
}

/* Does every task that is due, and records the rings. Sets *fullest as
 * ncs_recorder_segments_drain() does. Returns 0 or -errno. */
static int do_what_is_due(struct recorder_run *recorder, uint64_t now_ns,
			  uint64_t *fullest)
{
	const struct ncs_recorder_settings *settings = recorder->settings;
	uint64_t flush_ns = flush_every_ns(recorder);
	bool flushes = is_due(&recorder->flushed_ns, flush_ns, now_ns);
	bool drains = flushes && settings->interval_ns > flush_ns;
	int error = ncs_recorder_segments_drain(
		&recorder->followed, drains ? 0 : READ_SHARE, fullest);

	if (!error &&
	    is_due(&recorder->scanned_ns, scan_every_ns(settings), now_ns))
		error = ncs_recorder_segments_scan(&recorder->followed);
	if (!error && is_due(&recorder->clock_ns, CLOCK_EVERY_NS, now_ns))
		error = record_clock(recorder);
	if (!error &&
	    is_due(&recorder->states_ns, settings->interval_ns, now_ns))
		error = ncs_recorder_segments_states(&recorder->followed,
						     now_ns);
	if (!error && flushes)
		error = ncs_recording_writer_flush(recorder->writer);
	return error;
}

/* Returns how long to pause: until a quarter of the fullest ring is new, if the
 * rings fill as fast as since the last reading. `fullest` is the new share of
 * the fullest ring, in 1/1024. */
static uint64_t pause_ns(const struct ncs_recorder_settings *settings,
			 uint64_t since_ns, uint64_t fullest)
{
	uint64_t most = settings->pause_ns ? settings->pause_ns : PAUSE_MAX_NS;
	uint64_t pause = fullest > 0 ? since_ns * PAUSE_SHARE / fullest : most;

	if (pause > most)
		return most;
	return pause >= PAUSE_MIN_NS ? pause : 0;
}

static void pause_for(uint64_t time_ns)
{
	struct timespec time = { .tv_nsec = (long)time_ns };

	if (time_ns > 0)
		nanosleep(&time, NULL);
}

/* --- The loop ------------------------------------------------------------ */

static bool is_over(struct recorder_run *recorder, uint64_t now_ns)
{
	const struct ncs_recorder_settings *settings = recorder->settings;

	if (settings->stop && *settings->stop)
		recorder->result->end = NCS_RECORDER_STOPPED;
	else if (settings->duration_ns != 0 &&
		 now_ns - recorder->begun_ns >= settings->duration_ns)
		recorder->result->end = NCS_RECORDER_DURATION;
	else if (!settings->stays &&
		 ncs_recorder_segments_are_gone(&recorder->followed))
		recorder->result->end = NCS_RECORDER_GONE;
	else if (settings->choice.pid != 0 &&
		 !ncs_recorder_segments_any(&recorder->followed) &&
		 ncs_process_start(settings->choice.pid) == 0)
		recorder->result->end = NCS_RECORDER_NO_PROCESS;
	else
		return false;
	return true;
}

static void loop(struct recorder_run *recorder)
{
	const struct ncs_recorder_settings *settings = recorder->settings;
	uint64_t fullest, now_ns;
	int error;

	for (;;) {
		now_ns = ncs_clock_monotonic_ns();
		error = do_what_is_due(recorder, now_ns, &fullest);
		if (error) {
			fail_writing(recorder, error);
			return;
		}
		if (is_over(recorder, ncs_clock_monotonic_ns()) ||
		    !rotate_if_due(recorder, now_ns))
			return;
		pause_for(pause_ns(settings, now_ns - recorder->drained_ns, fullest));
		recorder->drained_ns = now_ns;
	}
}

/* Records the last states, then the records that these states count. */
static void finish(struct recorder_run *recorder)
{
	struct ncs_recorder_segments *followed = &recorder->followed;
	uint64_t now_ns = ncs_clock_monotonic_ns(), fullest;
	int error;

	followed->stop = NULL;
	followed->until_ns = now_ns + LAST_NS;
	error = ncs_recorder_segments_states(followed, now_ns);
	if (!error)
		error = ncs_recorder_segments_drain(followed, 0, &fullest);
	if (!error && ncs_recorder_segments_is_over(followed))
		report(recorder, "the segments hold too many records: some of the"
				 " last ones are not recorded");
	if (!error)
		error = record_clock(recorder);
	if (error)
		fail_writing(recorder, error);
}

void ncs_recorder_run(const struct ncs_recorder_settings *settings,
		      struct ncs_recorder_result *result)
{
	struct recorder_run recorder = { .settings = settings,
					 .result = result };
	int error;

	memset(result, 0, sizeof(*result));
	if (!begin(&recorder))
		return;
	ncs_recorder_segments_init(&recorder.followed, settings,
				   recorder.writer);
	if (settings->duration_ns != 0)
		recorder.followed.until_ns =
			recorder.begun_ns + settings->duration_ns;
	loop(&recorder);
	if (result->end != NCS_RECORDER_FAILED)
		finish(&recorder);
	result->unreadable =
		ncs_recorder_segments_unreadable(&recorder.followed);
	result->missed = ncs_recorder_segments_missed(&recorder.followed);
	ncs_recorder_segments_release(&recorder.followed);
	error = ncs_recording_writer_close(recorder.writer, &result->totals);
	if (error)
		fail_writing(&recorder, error);
}
