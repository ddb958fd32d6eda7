/* SPDX-License-Identifier: MIT */
/* Making and ending communicators; see lifecycle.h.
 *
 * Nothing here runs in an event callback. All of it is under one lock, since
 * NCCL may init several communicators at once. No failure reaches NCCL: the
 * worst outcome is a communicator that is not published, and a line in the
 * log. */
#include "plugin/life/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ncclstat/version.h"
#include "plugin/events/control_watch.h"
#include "plugin/life/cupti.h"
#include "plugin/life/launch_watch.h"
#include "plugin/mask/release_events.h"
#include "plugin/state/comm_memory.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "plugin/mask/mask.h"
#include "plugin/nccl/nccl_names.h"
#include "plugin/nccl/nccl_facts.h"
#include "plugin/state/range_stack.h"
#include "plugin/events/sampling.h"
#include "shm/write/survey.h"

/* The context of a communicator that is not published: callbacks ignore it. */
#define DISABLED_CONTEXT ((void *)(uintptr_t)1)

/* Sizes of segments, from large to small. In a process with many communicators
 * the later ones get smaller segments. */
static const struct ncs_segment_size profiles[] = {
	{ NCS_LANE_MAX, 512, 1024, NCS_FUNCTION_MAX + 64, 64, 1024, 0, 0 },
	{ NCS_LANE_MAX, 256, 512, NCS_FUNCTION_MAX + 64, 24, 512, 0, 0 },
	{ NCS_LANE_MAX, 128, 256, NCS_FUNCTION_MAX + 32, 12, 128, 0, 0 },
	{ NCS_LANE_MAX, 64, 128, NCS_FUNCTION_MAX + 16, 8, 64, 0, 0 },
};

/* The number of histograms of ranges: one for this many ranges, and some
 * more. */
#define RANGES_PER_HISTOGRAM 8u
#define RANGE_HISTOGRAMS_LEAST 8u

#define PROFILE_COUNT (sizeof(profiles) / sizeof(profiles[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	bool started;
	bool fork_handled;
	void (*forget_above)(void);
	bool reported;     /* a communicator that cannot be published */
	bool control_made; /* the control object was made, or failed */
	struct ncs_environment config;
	char config_problem[256];
	struct ncs_process self;
	uint64_t used_bytes;
	uint64_t next_cookie;
	unsigned next_serial;
	uint64_t finished;
} process;

void ncs_process_log(const struct ncs_init *init, enum nccl_log_level level,
		     const char *format, ...)
{
	char text[1536];
	va_list list;

	if (!init->logger)
		return;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	init->logger(level, NCCL_SUBSYSTEM_INIT, "ncclstat", 0, "ncclstat: %s",
		     text);
}

/* --- fork and exit -------------------------------------------------------- */

/* The child must never write to its parent's segments, so it unmaps them all.
 * Only the forking thread exists in the child. */
static void after_fork_in_child(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];

		/* Entries are used in their order. Those after the last one
		 * are not touched: they take no memory. */
		if (!comm->header && !comm->private_memory)
			break;
		if (comm->header)
			munmap(comm->header, comm->writer.mapped_bytes);
		ncs_comm_unmap(comm, &profiles[comm->profile]);
		memset(comm, 0, sizeof(*comm));
	}
	ncs_writer_forget_unfinished();
	ncs_lane_forget_threads();
	ncs_range_forget_threads();
	ncs_control_forget();
	ncs_cupti_forget();
	ncs_launch_watch_forget();
	if (process.forget_above)
		process.forget_above();
	process.started = false;
	process.control_made = false;
	process.used_bytes = 0;
	pthread_mutex_init(&lock, NULL);
}

void ncs_process_on_fork(void (*forget)(void))
{
	pthread_mutex_lock(&lock);
	process.forget_above = forget;
	pthread_mutex_unlock(&lock);
}

/* Removes the names of all segments at an orderly exit. A process that is
 * killed leaves its segments as they were. */
__attribute__((destructor)) static void at_exit(void)
{
	if (!process.started || ncs_registry.pid != (uint32_t)getpid())
		return;
	ncs_launch_watch_stop();
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		ncs_writer_unlink(&ncs_registry.comms[i].writer);
	ncs_control_unlink();
}

static void start_process(void)
{
	process.started = true;
	process.config_problem[0] = '\0';
	ncs_environment_read(&process.config, process.config_problem,
			     sizeof(process.config_problem));
	ncs_process_describe(&process.self);
	ncs_registry.pid = process.self.pid;
	ncs_clock_calibrate(&ncs_registry.clock, ncs_clock_choose());
	ncs_registry.slow_ticks = ncs_clock_duration_ticks(
		&ncs_registry.clock, process.config.sample_slow_ns);
	ncs_sampling_set_level(process.config.sample_level);
	ncs_range_set_limit(process.config.ranges);
	ncs_mask_reset(process.config.kernel_timing);
	ncs_launch_watch_reset(&process.config, &ncs_registry.clock);
	/* Contexts start at a number that no other process is likely to use, so
	 * that another process's context or handle is not mistaken for ours. */
	process.next_cookie = (ncs_registry.clock.base_monotonic_ns ^
			       (uint64_t)process.self.pid << 20) &
			      UINT64_C(0xffffffffff);
	if (!process.fork_handled &&
	    pthread_atfork(NULL, NULL, after_fork_in_child) == 0)
		process.fork_handled = true;
	if (!process.config.disabled) {
		struct ncs_survey survey;

		ncs_survey_take(&survey, process.config.directory,
				&process.self, true);
	}
}

/* --- making a communicator ---------------------------------------------- */

/* Returns the size of a profile with the number of ranges that the environment
 * asks for. */
static struct ncs_segment_size size_of(uint32_t profile)
{
	struct ncs_segment_size size = profiles[profile];

	size.ranges = process.config.ranges;
	if (size.ranges != 0)
		size.range_histograms = size.ranges / RANGES_PER_HISTOGRAM +
					RANGE_HISTOGRAMS_LEAST;
	return size;
}

static uint64_t segment_bytes(uint32_t profile)
{
	struct ncs_segment_size size = size_of(profile);
	struct ncs_header layout = { 0 };

	ncs_segment_lay_out(&layout, &size);
	return layout.segment_bytes;
}

/* Chooses the largest profile that takes at most an eighth of the rest of the
 * budget, else the smallest one if it fits at all. Returns PROFILE_COUNT if
 * none fits. */
static uint32_t choose_profile(void)
{
	uint64_t left = process.config.shm_bytes > process.used_bytes ?
				process.config.shm_bytes - process.used_bytes :
				0;

	for (uint32_t i = 0; i < PROFILE_COUNT; i++) {
		uint64_t bytes = segment_bytes(i);

		if (bytes <= left / 8 ||
		    (i == PROFILE_COUNT - 1 && bytes <= left))
			return i;
	}
	return PROFILE_COUNT;
}

static struct ncs_comm *unused_comm(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (!ncs_registry.comms[i].header)
			return &ncs_registry.comms[i];
	return NULL;
}

/* Returns the communicator that was finalized first; NULL if there is none. */
static struct ncs_comm *oldest_finished_comm(void)
{
	struct ncs_comm *oldest = NULL;

	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];

		if (comm->header && ncs_load_relaxed(&comm->live) == 0 &&
		    (!oldest || comm->finished_order < oldest->finished_order))
			oldest = comm;
	}
	return oldest;
}

/* Creates the segment of an entry, mapped in place of its former one if it had
 * one. */
static int create_segment(struct ncs_comm *comm, uint32_t profile)
{
	void *place = comm->header;
	struct ncs_segment_size size = size_of(profile);
	struct ncs_writer writer = { 0 };
	int error;

	do
		error = ncs_writer_create(&writer, process.config.directory,
					  &process.self, process.next_serial++,
					  &size, place);
	while (error == -EEXIST && process.next_serial < 100000);
	if (error)
		return error;
	ncs_writer_unlink(&comm->writer);
	comm->writer = writer;
	comm->header = writer.header;
	comm->profile = profile;
	if (!place)
		process.used_bytes += writer.mapped_bytes;
	return 0;
}

/* Returns an entry with a mapped segment and empty tables; NULL and *error if
 * there is none. */
static struct ncs_comm *make_comm(int *error)
{
	uint32_t profile = choose_profile();
	struct ncs_comm *comm = unused_comm();
	struct ncs_segment_size size;
	bool used_before;

	if (profile == PROFILE_COUNT || !comm) {
		comm = oldest_finished_comm();
		if (!comm) {
			*error = -ENOSPC;
			return NULL;
		}
		profile = comm->profile;
	}
	used_before = comm->header != NULL;
	if (!used_before) {
		comm->profile = profile; /* used by a fork meanwhile */
		*error = ncs_comm_map(comm, &profiles[profile]);
		if (*error)
			return NULL;
	}
	*error = create_segment(comm, profile);
	if (*error && !used_before)
		ncs_comm_unmap(comm, &profiles[profile]);
	if (*error)
		return NULL;
	size = size_of(profile);
	ncs_comm_bind(comm, &size);
	if (used_before)
		ncs_comm_free_slots(comm);
	ncs_comm_reset(comm);
	return comm;
}

static void identify(struct ncs_identity *identity, const struct ncs_init *init)
{
	uint64_t known = 0;

	identity->rank = identity->nranks = identity->nnodes = -1;
	if (init->has_comm_id) {
		identity->comm_id = init->comm_id;
		known |= NCS_KNOWN_COMM_ID;
	}
	if (init->comm_name) {
		strncpy(identity->comm_name, init->comm_name,
			sizeof(identity->comm_name) - 1);
		known |= NCS_KNOWN_COMM_NAME;
	}
	if (init->rank >= 0) {
		identity->rank = init->rank;
		known |= NCS_KNOWN_RANK;
	}
	if (init->nranks > 0) {
		identity->nranks = init->nranks;
		known |= NCS_KNOWN_NRANKS;
	}
	if (init->nnodes > 0) {
		identity->nnodes = init->nnodes;
		known |= NCS_KNOWN_NNODES;
	}
	identity->nccl_version = ncs_nccl_version(init->caller);
	if (identity->nccl_version > 0)
		known |= NCS_KNOWN_NCCL_VERSION;
	if (ncs_gpu_name(identity->gpu, sizeof(identity->gpu)))
		known |= NCS_KNOWN_GPU;
	identity->known = known;
}

/* Fills in the communicator's facts and makes it live for callbacks. */
static void admit_callbacks(struct ncs_comm *comm, const struct ncs_init *init)
{
	struct ncs_header *header = comm->header;

	comm->index = (uint32_t)(comm - ncs_registry.comms);
	comm->api_version = init->api_version;
	comm->nranks = init->nranks;
	header->plugin_version = NCS_VERSION_NUMBER;
	header->api_version = init->api_version;
	header->clock = ncs_registry.clock;
	header->created = ncs_now();
	ncs_store_relaxed(&comm->lanes[0].published->owner, UINT64_MAX);
	identify(&header->identity, init);
	ncs_sampling_init(comm, header->identity.comm_id, header->identity.rank,
			  process.config.sample_slow_ns);
	/* ORDER: pairs with ncs_comm_of_handle() (plugin/state/registry.h): a
	 * callback that guesses the context finds lanes to count in. */
	ncs_store_release(&comm->context,
			  ++process.next_cookie << 8 | comm->index << 1 | 1);
	/* ORDER: pairs with ncs_comm_is_live() (plugin/state/registry.h): a
	 * callback that finds it live finds it complete. */
	ncs_store_release(&comm->live, (uint64_t)(uintptr_t)comm->steps);
}

/* Starts CUPTI, or logs why it cannot be used; nothing else changes then. */
static void join_cupti(struct ncs_comm *comm, const struct ncs_init *init)
{
	char why[512];

	if (ncs_cupti_join(comm, process.config.cupti, why, sizeof(why)))
		return;
	ncs_process_log(init, NCCL_LOG_WARN,
			"NCCLSTAT_CUPTI=%.64s records no kernels: %s",
			process.config.cupti, why);
}

/* Creates the control object, once a process, before the first communicator is
 * live. */
static void open_control(const struct ncs_init *init)
{
	const struct ncs_control_start start = {
		.directory = process.config.directory,
		.process = &process.self,
		.api_version = init->api_version,
		.kernel_always = process.config.kernel_timing ==
				 NCS_KERNEL_TIMING_ALWAYS,
	};
	int error;

	if (process.control_made)
		return;
	process.control_made = true;
	error = ncs_control_open(&start);
	if (!error)
		return;
	ncs_process_log(
		init, NCCL_LOG_WARN,
		"cannot make a control object in %s: %s; what is collected"
		" cannot be changed while the job runs",
		process.config.directory, strerror(-error));
}

static void report_failure(const struct ncs_init *init, int error)
{
	const char *reason = strerror(-error), *advice = "";

	if (process.reported)
		return;
	process.reported = true;
	if (error == -ENOSPC) {
		advice = " (see NCCLSTAT_SHM_BYTES, or free some)";
	} else if (error == -EMEDIUMTYPE) {
		reason = "it is not on a tmpfs";
		advice = " (set NCCLSTAT_DIR to a directory that is, e.g."
			 " /dev/shm)";
	}
	ncs_process_log(init, NCCL_LOG_WARN,
			"cannot publish in %s: %s%s; the job goes on unseen",
			process.config.directory, reason, advice);
}

void ncs_process_init_comm(const struct ncs_init *init, void **context)
{
	struct ncs_comm *comm;
	int error;

	*context = DISABLED_CONTEXT;
	pthread_mutex_lock(&lock);
	ncs_names_forget();
	if (!process.started)
		start_process();
	if (process.config_problem[0]) {
		ncs_process_log(init, NCCL_LOG_WARN, "%s",
				process.config_problem);
		process.config_problem[0] = '\0';
	}
	if (process.config.disabled)
		goto out;
	comm = make_comm(&error);
	if (!comm) {
		report_failure(init, error);
		goto out;
	}
	open_control(init);
	admit_callbacks(comm, init);
	join_cupti(comm, init);
	*context = (void *)(uintptr_t)comm->context;
	ncs_process_log(init, NCCL_LOG_INFO, "publishing rank %d in %s",
			init->rank, comm->writer.path);
	if (process.config.kernel_timing == NCS_KERNEL_TIMING_ALWAYS &&
	    !ncs_release_allows_kernel(init->api_version))
		ncs_process_log(init, NCCL_LOG_WARN,
				"NCCLSTAT_KERNEL_TIMING=always is ignored: it"
				" can end a job before NCCL 2.28.3");
out:
	pthread_mutex_unlock(&lock);
}

void ncs_process_publish_comm(const struct ncs_init *init, void *context)
{
	struct ncs_comm *comm = ncs_comm_of_context(context);

	if (process.config.disabled)
		return;
	pthread_mutex_lock(&lock);
	if (comm) {
		ncs_launch_watch_add(comm);
		ncs_mask_add_comm(comm, init->mask);
		ncs_control_join(comm);
		ncs_writer_publish(&comm->writer);
	} else {
		ncs_mask_add_comm(NULL, init->mask);
	}
	pthread_mutex_unlock(&lock);
}

static bool is_last(const struct ncs_comm *comm)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (&ncs_registry.comms[i] != comm &&
		    ncs_comm_is_live(&ncs_registry.comms[i]))
			return false;
	return true;
}

void ncs_process_finalize_comm(void *context)
{
	struct ncs_comm *comm;

	/* Not under the lock: CUPTI waits for threads that are not ours. */
	comm = ncs_comm_of_context(context);
	if (comm && is_last(comm))
		ncs_cupti_flush();
	pthread_mutex_lock(&lock);
	comm = ncs_comm_of_context(context);
	if (comm && ncs_load_relaxed(&comm->live)) {
		ncs_store_relaxed(&comm->live, 0);
		comm->finished_order = ++process.finished;
		ncs_store_relaxed(&comm->header->finished, ncs_now());
		ncs_store_relaxed(&comm->header->life, NCS_LIFE_FINISHED);
		ncs_launch_watch_remove(comm);
	}
	pthread_mutex_unlock(&lock);
}

const struct ncs_environment *ncs_process_environment(void)
{
	return &process.config;
}
