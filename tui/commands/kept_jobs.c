/* SPDX-License-Identifier: MIT */
/* The jobs of an archive while they run; see watch_parts.h. */
#include "tui/commands/watch_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/model/model.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "tui/commands/commands.h"
#include "tui/commands/job_summary.h"
#include "tui/text/output.h"

#define SECOND_NS UINT64_C(1000000000)

/* The time of a job that is kept before it ends, or has a finding. */
#define KEPT_S 600

/* A file of the ring; the compressed recording of 8 busy ranks fills one in minutes. */
#define FILE_NS (60 * SECOND_NS)
#define FILE_BYTES (UINT64_C(16) << 20)

/* A level of Zstandard that takes three quarters of the time of level 1 for records: it
 * does not compress literals. */
#define PACK_LEVEL (-1)

/* Rings hold seconds; reading them less often takes less of the processor. */
#define PAUSE_NS UINT64_C(100000000)

/* Longest time between two states of a rank, from which hangs are told. */
#define STATES_NS SECOND_NS

/* A job has ended once it is not seen for so long: its last records are written then. */
#define GONE_NS (3 * SECOND_NS)

/* Time between two looks at the directory, and two starts of a recorder. */
#define KEEP_EVERY_NS (10 * SECOND_NS)
#define START_EVERY_NS SECOND_NS

/* Attempts to conclude a job; the next watch makes others. */
#define ATTEMPTS 3u

/* Longest time for it. */
#define CONCLUDE_S 600u

/* Longest time that the end of a watch waits for it. */
#define CLOSE_NS (5 * SECOND_NS)

/* A job is kept on that long after a finding is gone. */
#define FOUND_NS (60 * SECOND_NS)

/* Jobs of which only the begin is known, of an earlier watch. */
#define OPEN_MOST 256u

struct kept_job {
	struct ncs_job_summary summary;
	uint64_t seen_ns; /* monotonic */
	uint64_t kept_ns; /* the directory was looked at; 0: never */
	uint64_t found_ns; /* the latest finding; 0: none */
	/* Those of the latest look. */
	uint32_t processes, ranks;
	bool has_ended;
	pid_t concluder; /* 0: none */
	unsigned attempts; /* to conclude it */
	uint64_t failed_ns; /* the latest one failed */
};

struct ncs_kept_jobs {
	struct ncs_options options; /* of the recorder */
	struct ncs_archive archive;
	struct kept_job *jobs;
	size_t count, capacity;
	pid_t recorder; /* 0: none */
	uint64_t opened_ns, started_ns, trimmed_ns;
	time_t last_written; /* by an earlier watch; 0: never */
	struct ncs_archive_run run; /* of the latest recorder */
};

static void say(const struct ncs_kept_jobs *jobs, int error)
{
	if (error)
		ncs_complain("%s: %s", jobs->archive.path, strerror(-error));
}

/* --- Processes ----------------------------------------------------------- */

/* Becomes a process that ends with the watch, and that signals end, but not Ctrl-C. */
static pid_t start_process(void)
{
	pid_t parent = getpid(), child = fork();
	sigset_t none;

	if (child != 0)
		return child;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	return 0;
}

/* Records until a signal comes; again, less and less often, after an error. */
static _Noreturn void record(struct ncs_kept_jobs *jobs)
{
	struct timespec pause = { .tv_sec = 1 };
	struct stat stat;

	for (;; pause.tv_sec = pause.tv_sec < 60 ? 2 * pause.tv_sec : 60) {
		memcpy(jobs->options.recording.recording, jobs->run.recording,
		       sizeof(jobs->run.recording));
		jobs->options.recording.number = jobs->run.number;
		ncs_record_run(&(struct ncs_command_input){
			.options = &jobs->options });
		if (ncs_record_is_stopped())
			_exit(EXIT_SUCCESS);
		/* There is no room, or no directory. */
		if (lstat(jobs->run.path, &stat) == 0 && stat.st_size == 0)
			unlink(jobs->run.path);
		nanosleep(&pause, NULL);
		ncs_archive_begin_run(&jobs->archive, &jobs->run);
	}
}

/* Starts the recorder if there is none. The first one starts while the watch has no
 * threads, whose locks a child would have. */
static void start_recorder(struct ncs_kept_jobs *jobs, uint64_t now_ns)
{
	if (jobs->recorder != 0 || now_ns < jobs->started_ns + START_EVERY_NS)
		return;
	jobs->started_ns = now_ns;
	ncs_archive_begin_run(&jobs->archive, &jobs->run);
	jobs->recorder = start_process();
	if (jobs->recorder == 0)
		record(jobs);
	if (jobs->recorder < 0) {
		ncs_complain("the recorder: %s", strerror(errno));
		jobs->recorder = 0;
	}
}

static void reap(struct ncs_kept_jobs *jobs)
{
	int status;

	if (jobs->recorder > 0 &&
	    waitpid(jobs->recorder, &status, WNOHANG) == jobs->recorder)
		jobs->recorder = 0;
	for (size_t i = jobs->count; i-- > 0;) {
		struct kept_job *job = &jobs->jobs[i];

		status = -1;
		if (job->concluder <= 0 ||
		    waitpid(job->concluder, &status, WNOHANG) == 0)
			continue;
		if (status == 0 || job->attempts >= ATTEMPTS) {
			*job = jobs->jobs[--jobs->count];
			continue;
		}
		job->concluder = 0;
		job->failed_ns = ncs_clock_monotonic_ns();
	}
}

static bool concludes(const struct ncs_kept_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].concluder > 0)
			return true;
	return false;
}

/* --- Jobs ---------------------------------------------------------------- */

static struct kept_job *add_job(struct ncs_kept_jobs *jobs,
				const struct ncs_job_summary *summary)
{
	if (ncs_array_reserve(&jobs->jobs, &jobs->capacity, jobs->count + 1,
			      sizeof(*jobs->jobs)) != 0) {
		ncs_complain("a job that is not kept: %s", strerror(ENOMEM));
		return NULL;
	}
	jobs->jobs[jobs->count] = (struct kept_job){ .summary = *summary };
	return &jobs->jobs[jobs->count++];
}

/* Returns when a process began, since 1970. */
static time_t begun_of(const struct ncs_rank *rank)
{
	struct timespec real, boot;
	double since_s;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	since_s = (double)rank->process.start / (double)sysconf(_SC_CLK_TCK);
	return rank->process.start > 0 ?
		       real.tv_sec - boot.tv_sec + (time_t)since_s :
		       real.tv_sec;
}

/* Returns how often a job was queued again: it is then another one of its name. */
static unsigned restarts_of(const struct ncs_rank *rank)
{
	const char *count = ncs_labels_value(rank->labels, "requeued");

	return count ? (unsigned)strtoul(count, NULL, 10) : 0;
}

static bool is_named(const struct ncs_job_summary *summary,
		     const struct ncs_rank *rank)
{
	return strncmp(summary->name, ncs_job_name(rank->labels),
		       sizeof(summary->name) - 1) == 0 &&
	       summary->owner == rank->owner &&
	       summary->restarts == restarts_of(rank);
}

/* Returns whether the job of an earlier watch runs still: some process of its name that is
 * there began with it. */
static bool goes_on(const struct kept_job *job, const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    is_named(&job->summary, model->ranks[i]) &&
		    begun_of(model->ranks[i]) <=
			    job->summary.begun + NCS_ARCHIVE_BEGUN_WITHIN_S)
			return true;
	return false;
}

/* Returns the job of a rank. One that ended stays as it is: another of its name is
 * another one. */
static struct kept_job *find_job(struct ncs_kept_jobs *jobs,
				 const struct ncs_model *model,
				 const struct ncs_rank *rank)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct kept_job *job = &jobs->jobs[i];

		if (!job->has_ended && is_named(&job->summary, rank) &&
		    (job->seen_ns != 0 || goes_on(job, model)))
			return job;
	}
	return NULL;
}

static struct kept_job *begin_job(struct ncs_kept_jobs *jobs,
				  const struct ncs_rank *rank)
{
	struct ncs_job_summary summary = {
		.owner = rank->owner,
		.begun = begun_of(rank),
		.restarts = restarts_of(rank),
	};

	snprintf(summary.name, sizeof(summary.name), "%s",
		 ncs_job_name(rank->labels));
	ncs_archive_folder(summary.folder, sizeof(summary.folder), rank->labels,
			   rank->owner, summary.begun);
	return add_job(jobs, &summary);
}

static bool is_new_process(const struct ncs_model *model, size_t rank)
{
	for (size_t i = 0; i < rank; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    ncs_shares_process(model->ranks[i], model->ranks[rank]))
			return false;
	return true;
}

/* Notes the jobs whose processes are there. */
static void find_jobs(struct ncs_kept_jobs *jobs, const struct ncs_model *model,
		      uint64_t now_ns)
{
	for (size_t i = 0; i < jobs->count; i++)
		jobs->jobs[i].processes = jobs->jobs[i].ranks = 0;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		struct kept_job *job;

		if (!ncs_rank_is_live(rank))
			continue;
		job = find_job(jobs, model, rank);
		if (!job) {
			job = begin_job(jobs, rank);
			if (!job)
				return;
			say(jobs, ncs_job_summary_begin(&jobs->archive,
							&job->summary));
			/* The folder, which tells that the ring has the job. */
			say(jobs, ncs_archive_keep(&jobs->archive,
						   job->summary.folder,
						   time(NULL) + KEPT_S, false));
		}
		job->seen_ns = now_ns;
		job->ranks++;
		job->processes += is_new_process(model, i);
		if (job->ranks > job->summary.ranks)
			job->summary.ranks = job->ranks;
		if (job->processes > job->summary.processes)
			job->summary.processes = job->processes;
	}
}

static void find_findings(struct ncs_kept_jobs *jobs,
			  const struct ncs_diagnosis *diagnosis,
			  const struct ncs_model *model, uint64_t now_ns)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_rank *rank = finding->root.rank ?
						      finding->root.rank :
						      finding->peer.rank;
		struct kept_job *job =
			rank ? find_job(jobs, model, rank) : NULL;

		if (job)
			job->found_ns = now_ns;
	}
}

/* --- What is kept -------------------------------------------------------- */

static void keep(struct ncs_kept_jobs *jobs, struct kept_job *job,
		 uint64_t now_ns)
{
	time_t until = job->seen_ns != 0 ?
			       time(NULL) - (time_t)((now_ns - job->seen_ns) /
						     SECOND_NS) :
			       jobs->last_written;
	time_t since = until - KEPT_S;

	if (since < job->summary.begun - NCS_ARCHIVE_BEGUN_WITHIN_S)
		since = job->summary.begun - NCS_ARCHIVE_BEGUN_WITHIN_S;
	job->kept_ns = now_ns;
	say(jobs, ncs_archive_keep(&jobs->archive, job->summary.folder, since,
				   job->found_ns != 0));
}

/* Has the report and the line of a job made that has ended. */
static void conclude(struct ncs_kept_jobs *jobs, struct kept_job *job,
		     uint64_t now_ns)
{
	job->summary.ended = time(NULL) - (time_t)((now_ns - job->seen_ns) /
						   SECOND_NS);
	if (job->seen_ns == 0) {
		job->summary.ended = jobs->last_written;
		job->summary.end_is_unseen = true;
	}
	job->attempts++;
	job->concluder = start_process();
	if (job->concluder == 0) {
		alarm(CONCLUDE_S);
		int error = ncs_job_summary_end(&jobs->archive, &job->summary);

		say(jobs, error);
		_exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	if (job->concluder < 0)
		job->concluder = 0;
}

static bool is_running(void *context, const char *folder)
{
	const struct ncs_kept_jobs *jobs = context;

	for (size_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->jobs[i].summary.folder, folder) == 0)
			return true;
	return false;
}

static void say_removed(void *context, const struct ncs_archive_job *job)
{
	const struct ncs_kept_jobs *jobs = context;

	if (job->fate != NCS_ARCHIVE_KEPT)
		ncs_complain("%s/jobs/%s is removed: the archive is full",
			     jobs->archive.path, job->folder);
}

void ncs_kept_jobs_look(struct ncs_kept_jobs *jobs,
			const struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();

	reap(jobs);
	start_recorder(jobs, now_ns);
	find_jobs(jobs, model, now_ns);
	find_findings(jobs, diagnosis, model, now_ns);
	for (size_t i = 0; i < jobs->count; i++) {
		struct kept_job *job = &jobs->jobs[i];

		if (job->concluder != 0)
			continue;
		if (!job->has_ended &&
		    now_ns >= (job->seen_ns ? job->seen_ns : jobs->opened_ns) +
				      GONE_NS) {
			job->has_ended = true;
			keep(jobs, job, now_ns);
		}
		if (job->has_ended) {
			if (!concludes(jobs) &&
			    now_ns >= job->failed_ns + KEEP_EVERY_NS)
				conclude(jobs, job, now_ns);
		} else if (job->found_ns != 0 &&
			   now_ns < job->found_ns + FOUND_NS &&
			   now_ns >= job->kept_ns + KEEP_EVERY_NS) {
			keep(jobs, job, now_ns);
		}
	}
	if (now_ns < jobs->trimmed_ns + KEEP_EVERY_NS)
		return;
	jobs->trimmed_ns = now_ns;
	say(jobs,
	    ncs_archive_trim(&jobs->archive, is_running, say_removed, jobs));
}

/* --- Begin and end ------------------------------------------------------- */

/* Takes up the jobs of an earlier watch: those that run still are found by their names. */
static void take_up(struct ncs_kept_jobs *jobs)
{
	struct ncs_job_summary *open = calloc(OPEN_MOST, sizeof(*open));
	size_t count = open ? ncs_job_summary_open_ones(jobs->archive.path, open,
							OPEN_MOST) :
			      0;

	for (size_t i = 0; i < count; i++)
		add_job(jobs, &open[i]);
	free(open);
}

struct ncs_kept_jobs *ncs_kept_jobs_open(const struct ncs_options *options)
{
	struct ncs_kept_jobs *jobs = calloc(1, sizeof(*jobs));
	char why[256];

	if (!jobs) {
		ncs_complain("%s", strerror(ENOMEM));
		return NULL;
	}
	if (!ncs_archive_open(&jobs->archive, options->archive_path,
			      options->archive_bytes, why, sizeof(why))) {
		ncs_complain("%s: %s", options->archive_path, why);
		free(jobs);
		return NULL;
	}
	jobs->options = *options;
	jobs->options.recording.path = jobs->run.path;
	jobs->options.recording.is_packed = true;
	if (!ncs_options_is_given(options, NCS_OPTION_COMPRESS))
		jobs->options.recording.pack_level = PACK_LEVEL;
	jobs->options.recording.stays = true;
	jobs->options.recording.pause_ns = PAUSE_NS;
	jobs->options.recording.rotate_ns = FILE_NS;
	jobs->options.recording.rotate_bytes = FILE_BYTES;
	jobs->options.given |= NCS_OPTION_BIT(NCS_OPTION_INTERVAL);
	if (jobs->options.interval_ns > STATES_NS)
		jobs->options.interval_ns = STATES_NS;
	jobs->last_written = ncs_archive_last_written(&jobs->archive);
	/* Jobs that ended unseen are concluded a while after now. */
	jobs->opened_ns = jobs->trimmed_ns = ncs_clock_monotonic_ns();
	take_up(jobs);
	start_recorder(jobs, jobs->opened_ns);
	return jobs;
}

/* Ends a process, after a while, and waits for that. */
static void end_process(pid_t process, uint64_t until_ns)
{
	const struct timespec step = { .tv_nsec = 20000000 };
	pid_t ended = 0;

	while (ended == 0 && ncs_clock_monotonic_ns() < until_ns) {
		ended = waitpid(process, NULL, WNOHANG);
		if (ended == 0)
			nanosleep(&step, NULL);
	}
	if (ended != 0)
		return;
	kill(process, SIGTERM);
	while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
		;
}

void ncs_kept_jobs_close(struct ncs_kept_jobs *jobs)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();

	if (jobs->recorder > 0)
		end_process(jobs->recorder, 0);
	for (size_t i = 0; i < jobs->count; i++)
		if (!jobs->jobs[i].has_ended)
			keep(jobs, &jobs->jobs[i], now_ns);
	/* Those that are not concluded then are by the next watch. */
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].concluder > 0)
			end_process(jobs->jobs[i].concluder, now_ns + CLOSE_NS);
	ncs_archive_close(&jobs->archive);
	free(jobs->jobs);
	free(jobs);
}
