/* SPDX-License-Identifier: MIT */
/* Making and ending communicators; see lifecycle.h.
 *
 * Nothing here runs in an event callback. All of it is under one lock, since
 * NCCL may init several communicators at once. No failure reaches NCCL: the
 * worst outcome is a communicator that is not published, and a line in the
 * log. */
#include "plugin/life/lifecycle.h"

#include <dlfcn.h>
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
#include "plugin/life/heartbeat.h"
#include "plugin/life/loaded_code.h"
#include "plugin/life/launch_watch.h"
#include "plugin/life/profile.h"
#include "plugin/life/replays.h"
#include "plugin/mask/release_events.h"
#include "plugin/state/comm_memory.h"
#include "plugin/state/transfers.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "plugin/mask/mask.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/nccl/nccl_names.h"
#include "plugin/state/range_stack.h"
#include "plugin/events/sampling.h"
#include "shm/hash.h"
#include "shm/write/survey.h"

/* The context of a communicator that is not published: callbacks ignore it. */
#define DISABLED_CONTEXT ((void *)(uintptr_t)1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	bool started;
	bool fork_handled;
	void (*forget_above)(void);
	bool reported;     /* a communicator that cannot be published */
	uint64_t unpublished; /* such that no segment tells of yet */
	bool control_made; /* the control object was made, or failed */
	struct ncs_environment config;
	char config_problem[256];
	int share_error; /* of the latest segment for a group; 0 or -errno */
	struct ncs_labels labels; /* of the job */
	struct ncs_process self;
	struct ncs_survey survey; /* the latest one */
	uint32_t ranks;           /* of the node; the most that were told */
	uint32_t comms;           /* number of segments that are mapped */
	uint64_t used_bytes;      /* by these */
	uint64_t next_cookie;
	uint32_t next_serial;
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

/* Looks at the objects of the directory, and removes abandoned ones if asked
 * to. */
static void survey(bool reap)
{
	ncs_survey_take(&process.survey, process.config.directory,
			&process.self, reap);
}

/* --- fork and exit -------------------------------------------------------- */

/* Returns the number of entries that were ever used, which are the first ones.
 * The others are not to be touched: they take no memory, and a process that is
 * about to end would take it for nothing. */
static unsigned used_comms(void)
{
	unsigned used = 0;

	while (used < NCS_COMM_MAX && (ncs_registry.comms[used].header ||
				       ncs_registry.comms[used].private_memory))
		used++;
	return used;
}

/* The child must never write to its parent's segments, so it unmaps them all.
 * Only the forking thread exists in the child. */
static void after_fork_in_child(void)
{
	unsigned used = used_comms();

	for (unsigned i = 0; i < used; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];

		if (comm->header)
			munmap(comm->header, comm->writer.mapped_bytes);
		ncs_comm_unmap(comm);
		memset(comm, 0, sizeof(*comm));
	}
	ncs_writer_forget_unfinished();
	ncs_lane_forget_threads();
	ncs_range_forget_threads();
	ncs_control_forget();
	ncs_cupti_forget();
	ncs_launch_watch_forget();
	ncs_heartbeat_forget();
	ncs_loaded_code_forget();
	if (process.forget_above)
		process.forget_above();
	process.started = false;
	process.control_made = false;
	process.used_bytes = 0;
	process.comms = 0;
	process.ranks = 0;
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
	unsigned used;

	if (!process.started || ncs_registry.pid != (uint32_t)getpid())
		return;
	ncs_launch_watch_stop();
	used = used_comms();
	for (unsigned i = 0; i < used; i++)
		ncs_writer_unlink(&ncs_registry.comms[i].writer);
	ncs_control_unlink();
}

static void make_replayed(const struct ncs_comm *of);
static void make_copies(struct ncs_comm *of);

static void start_process(void)
{
	process.started = true;
	process.config_problem[0] = '\0';
	ncs_environment_read(&process.config, process.config_problem,
			     sizeof(process.config_problem));
	ncs_environment_labels(&process.labels);
	ncs_process_describe(&process.self);
	ncs_cuda_driver_find();
	ncs_registry.pid = process.self.pid;
	ncs_clock_calibrate(&ncs_registry.clock, ncs_clock_choose());
	ncs_registry.slow_ticks =
		ncs_ticks_of_ns(process.config.sample_slow_ns);
	ncs_sampling_set_level(process.config.sample_level);
	ncs_range_set_limit(process.config.ranges);
	ncs_mask_reset(process.config.kernel_timing);
	ncs_launch_watch_reset(&process.config, make_copies);
	ncs_replays_reset(make_replayed);
	/* Contexts start at a number that no other process is likely to use, so
	 * that another process's context or handle is not mistaken for ours. */
	process.next_cookie = (ncs_registry.clock.base_monotonic_ns ^
			       (uint64_t)process.self.pid << 20) &
			      UINT64_C(0xffffffffff);
	if (!process.fork_handled &&
	    pthread_atfork(ncs_loaded_code_before_fork,
			   ncs_loaded_code_after_fork,
			   after_fork_in_child) == 0)
		process.fork_handled = true;
	if (!process.config.disabled)
		survey(true);
}

/* --- making a communicator ---------------------------------------------- */

/* Chooses the size of a new segment by the latest survey. The user's limit, if
 * there is one, replaces the node's. */
static uint32_t choose_profile(void)
{
	const struct ncs_room room = {
		.process_bytes = process.config.shm_bytes,
		.used_bytes = process.used_bytes,
		.comms = process.comms,
		.node_counts = !process.config.shm_bytes_set,
		.node_known = process.survey.complete,
		.node_bytes = process.survey.limit_bytes,
		.held_bytes = process.survey.held_bytes,
		.ranks = process.ranks,
	};

	return ncs_profile_choose(&room, process.config.ranges);
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
static int create_segment(struct ncs_comm *comm)
{
	void *place = comm->header;
	struct ncs_writer writer = { 0 };
	int error = -EEXIST;

	for (unsigned i = 0; error == -EEXIST && i < NCS_NAME_TRIES; i++)
		error = ncs_writer_create(
			&writer, process.config.directory, &process.self,
			ncs_writer_number(process.next_serial), &comm->size,
			place);
	if (error)
		return error;
	if (process.config.group != NCS_GROUP_NONE)
		process.share_error =
			ncs_writer_share(&writer, process.config.group);
	process.next_serial++;
	ncs_writer_unlink(&comm->writer);
	comm->writer = writer;
	comm->header = writer.header;
	if (!place) {
		process.used_bytes += writer.mapped_bytes;
		process.comms++;
	}
	return 0;
}

/* Gives an entry that has none private memory and a segment. */
static int equip(struct ncs_comm *comm, uint32_t profile)
{
	int error;

	comm->size = ncs_profile_size(profile, process.config.ranges);
	error = ncs_comm_map(comm);
	if (error)
		return error;
	error = create_segment(comm);
	if (error)
		ncs_comm_unmap(comm);
	return error;
}

/* Takes back what equip() gave. */
static void strip(struct ncs_comm *comm)
{
	struct ncs_header *header = comm->header;

	ncs_writer_unlink(&comm->writer);
	comm->header = NULL;
	munmap(header, comm->writer.mapped_bytes);
	process.used_bytes -= comm->writer.mapped_bytes;
	process.comms--;
	/* Serial numbers without a segment are taken for segments that nobody saw. */
	process.next_serial--;
	ncs_comm_unmap(comm);
}

/* Does what equip() does, with a smaller segment than chosen where the file
 * system has less room than the survey saw, or where processes that looked at
 * the same time take more than the node's limit together. */
static int equip_within_limits(struct ncs_comm *comm, uint32_t profile)
{
	int error = equip(comm, profile);

	if (error == -ENOSPC) {
		survey(true);
		error = equip(comm, profile);
	}
	while (error == -ENOSPC && profile < NCS_PROFILE_SMALLEST)
		error = equip(comm, ++profile);
	if (error || process.config.shm_bytes_set ||
	    profile == NCS_PROFILE_SMALLEST)
		return error;
	survey(false);
	if (process.survey.held_bytes <= process.survey.limit_bytes)
		return 0;
	strip(comm);
	return equip(comm, NCS_PROFILE_SMALLEST);
}

/* Returns an entry with a mapped segment and empty tables; NULL and *error if
 * there is none. */
static struct ncs_comm *make_comm(const struct ncs_init *init, int *error)
{
	struct ncs_comm *comm = unused_comm();
	uint32_t profile, ranks;
	bool used_before;

	if (process.comms > 0 && !process.config.shm_bytes_set)
		survey(false);
	ranks = ncs_profile_ranks(init->nranks, init->nnodes,
				  process.survey.processes);
	if (ranks > process.ranks)
		process.ranks = ranks;
	profile = choose_profile();
	if (profile == NCS_PROFILE_COUNT) {
		survey(true);
		profile = choose_profile();
	}
	if (profile == NCS_PROFILE_COUNT || !comm)
		comm = oldest_finished_comm();
	if (!comm) {
		*error = -ENOSPC;
		return NULL;
	}
	used_before = comm->header != NULL;
	if (used_before)
		ncs_launch_watch_detach(comm);
	/* A new segment of the same size takes the place of a finished one. */
	*error = used_before ? create_segment(comm) :
			       equip_within_limits(comm, profile);
	if (*error)
		return NULL;
	ncs_comm_bind(comm);
	if (used_before)
		ncs_comm_free_slots(comm);
	ncs_comm_reset(comm);
	return comm;
}

/* Asks the library that contains an address for ncclGetVersion()'s number; 0 if that is
 * unknown. */
static int32_t ask_for_version(const void *caller)
{
	int (*get_version)(int *version);
	int version = 0;
	Dl_info found;
	void *library;

	if (!caller || !dladdr(caller, &found) || !found.dli_fname)
		return 0;
	library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	*(void **)&get_version = dlsym(library, "ncclGetVersion");
	if (get_version && get_version(&version) != 0)
		version = 0;
	dlclose(library);
	return version;
}

/* Returns the number of the NCCL that calls. The dynamic linker, which may be held up
 * while another library is being loaded, is asked once for each new caller. */
static int32_t nccl_version(const void *caller)
{
	static const void *latest_caller;
	static int32_t latest_version;

	if (caller != latest_caller)
		latest_version = ask_for_version(caller);
	latest_caller = caller;
	return latest_version;
}

static void identify(struct ncs_identity *identity, const struct ncs_init *init,
		     const char *gpu)
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
	identity->nccl_version = nccl_version(init->caller);
	if (identity->nccl_version > 0)
		known |= NCS_KNOWN_NCCL_VERSION;
	if (gpu[0] != '\0') {
		memcpy(identity->gpu, gpu, sizeof(identity->gpu));
		known |= NCS_KNOWN_GPU;
	}
	identity->known = known;
}

/* Fills in the communicator's facts and makes it live for callbacks. */
static void admit_callbacks(struct ncs_comm *comm, const struct ncs_init *init,
			    const char *gpu)
{
	struct ncs_header *header = comm->header;

	comm->index = (uint32_t)(comm - ncs_registry.comms);
	comm->is_companion = false;
	ncs_store_relaxed(&comm->copies, 0);
	ncs_store_relaxed(&comm->copies_wanted, NCS_COPIES_NONE);
	memset(comm->copied, 0, sizeof(comm->copied));
	ncs_store_relaxed(&comm->captures_missed, 0);
	comm->api_version = init->api_version;
	comm->nranks = init->nranks;
	ncs_transfers_reset(comm, init->nranks);
	header->plugin_version = NCS_VERSION_NUMBER;
	header->api_version = init->api_version;
	header->clock = ncs_registry.clock;
	header->created = ncs_now();
	ncs_store_relaxed(&comm->lanes[0].published->owner, UINT64_MAX);
	memcpy((char *)header + NCS_SEGMENT_LABELS_OFFSET, &process.labels,
	       sizeof(process.labels));
	identify(&header->identity, init, gpu);
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

/* Starts CUPTI, or logs why it cannot be used, and tells in all segments. Not
 * under the lock: CUPTI may take long. */
static void start_cupti(const struct ncs_init *init)
{
	char why[512];
	unsigned used;

	if (!ncs_cupti_start(process.config.cupti, why, sizeof(why)))
		ncs_process_log(init, NCCL_LOG_WARN,
				"NCCLSTAT_CUPTI=%.64s records no kernels: %s",
				process.config.cupti, why);
	pthread_mutex_lock(&lock);
	used = used_comms();
	for (unsigned i = 0; i < used; i++)
		if (ncs_registry.comms[i].header)
			ncs_cupti_publish(&ncs_registry.comms[i]);
	pthread_mutex_unlock(&lock);
}

/* Creates the control object, once a process, before the first communicator is
 * live. */
static void open_control(const struct ncs_init *init)
{
	int error;

	if (process.control_made)
		return;
	process.control_made = true;
	error = ncs_control_open(&process.config, &process.self,
				 init->api_version);
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

/* Counts the communicators that have no segment in one that has, so that
 * viewers know what they miss. */
static void tell_unpublished(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX && process.unpublished > 0; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];
		struct ncs_lane_state *lane = &comm->lanes[0];

		if (!comm->header || !ncs_comm_is_live(comm))
			continue;
		ncs_lane_add(lane,
			     &lane->published->losses[NCS_LOSS_UNPUBLISHED],
			     process.unpublished);
		process.unpublished = 0;
	}
}

/* Says once that no group gets the segments. */
static void tell_share_error(const struct ncs_init *init)
{
	if (!process.share_error)
		return;
	ncs_process_log(init, NCCL_LOG_WARN,
			"NCCLSTAT_GROUP: group %u gets no segments (%s); only"
			" their owner and root read them",
			(unsigned)process.config.group,
			strerror(-process.share_error));
	process.config.group = NCS_GROUP_NONE;
	process.share_error = 0;
}

void ncs_process_init_comm(const struct ncs_init *init, void **context)
{
	char gpu[sizeof(((struct ncs_identity *)0)->gpu)] = "";
	bool starts_cupti = false;
	struct ncs_comm *comm;
	uint64_t code;
	int error;

	*context = DISABLED_CONTEXT;
	pthread_mutex_lock(&lock);
	if (!process.started)
		start_process();
	pthread_mutex_unlock(&lock);
	/* Not under the lock: the driver, and the loader, may take long. */
	ncs_cuda_device_name(gpu, sizeof(gpu));
	code = ncs_loaded_code();
	pthread_mutex_lock(&lock);
	ncs_names_forget();
	if (process.config_problem[0]) {
		ncs_process_log(init, NCCL_LOG_WARN, "%s",
				process.config_problem);
		process.config_problem[0] = '\0';
	}
	if (process.config.disabled)
		goto out;
	comm = make_comm(init, &error);
	if (!comm) {
		report_failure(init, error);
		process.unpublished++;
		tell_unpublished();
		goto out;
	}
	open_control(init);
	admit_callbacks(comm, init, gpu);
	ncs_store_relaxed(&comm->header->outside_code, code);
	tell_unpublished();
	starts_cupti = ncs_cupti_join(comm, process.config.cupti);
	*context = (void *)(uintptr_t)comm->context;
	tell_share_error(init);
	ncs_process_log(init, NCCL_LOG_INFO, "publishing rank %d in %s",
			init->rank, comm->writer.path);
	if (process.config.kernel_timing == NCS_KERNEL_TIMING_ALWAYS &&
	    !ncs_release_allows_kernel(init->api_version))
		ncs_process_log(init, NCCL_LOG_WARN,
				"NCCLSTAT_KERNEL_TIMING=always is ignored: it"
				" can end a job before NCCL 2.28.3");
out:
	pthread_mutex_unlock(&lock);
	if (starts_cupti)
		start_cupti(init);
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
		ncs_heartbeat_add(comm);
		ncs_writer_publish(&comm->writer);
	} else {
		ncs_mask_add_comm(NULL, init->mask);
	}
	pthread_mutex_unlock(&lock);
}

/* The comm_ids of a communicator's replays and of its copies: the same on all its
 * ranks, and no other communicator's. */
#define REPLAYS_ID UINT64_C(0x7265706c617973)
#define COPIES_ID UINT64_C(0x636f70696573)

/* Gives a companion the other communicator's identity, and its name with this
 * suffix. */
static void identify_companion(struct ncs_comm *comm, const struct ncs_comm *of,
			       const char *suffix)
{
	struct ncs_identity *identity = &comm->header->identity;
	char *name = identity->comm_name;
	size_t room = sizeof(identity->comm_name) - strlen(suffix) - 1;

	identity->nccl_version = of->header->identity.nccl_version;
	identity->known = of->header->identity.known | NCS_KNOWN_COMM_NAME;
	if (!(of->header->identity.known & NCS_KNOWN_COMM_NAME))
		snprintf(name, sizeof(identity->comm_name), "%llx",
			 (unsigned long long)of->header->identity.comm_id);
	if (strlen(name) > room)
		name[room] = '\0';
	strcat(name, suffix);
}

/* Makes a communicator for a part of another one's operations. NULL if none can be
 * made. The lock is held. */
static struct ncs_comm *make_companion(const struct ncs_comm *of, uint64_t id,
				       const char *suffix)
{
	const struct ncs_identity *identity = &of->header->identity;
	const bool has_id = identity->known & NCS_KNOWN_COMM_ID;
	const struct ncs_init init = {
		.api_version = of->api_version,
		.comm_id = ncs_hash(identity->comm_id ^ id),
		.has_comm_id = has_id,
		.comm_name = identity->comm_name,
		.nnodes = identity->nnodes,
		.nranks = identity->nranks,
		.rank = identity->rank,
	};
	struct ncs_comm *comm;
	int error;

	comm = make_comm(&init, &error);
	if (!comm)
		return NULL;
	admit_callbacks(comm, &init, identity->gpu);
	identify_companion(comm, of, suffix);
	comm->is_companion = true;
	ncs_heartbeat_add(comm);
	return comm;
}

/* Makes the communicator for another one's replays; see replays.h. */
static void make_replayed(const struct ncs_comm *of)
{
	struct ncs_comm *comm;

	pthread_mutex_lock(&lock);
	if (ncs_comm_is_live(of)) {
		comm = make_companion(of, REPLAYS_ID, " graphs");
		if (comm) {
			comm->header->graphs.are_replays = 1;
			comm->header->graphs.of = of->header->identity.comm_id;
			ncs_store_relaxed(&comm->header->launches.status,
					  NCS_STREAM_ALL);
			ncs_writer_publish(&comm->writer);
		}
		ncs_replays_add(of, comm);
	}
	pthread_mutex_unlock(&lock);
}

/* Makes the communicator for another one's collectives by copy engines; see
 * plugin/events/copies.h. */
static void make_copies(struct ncs_comm *of)
{
	struct ncs_comm *comm;

	pthread_mutex_lock(&lock);
	/* Also of one that is finalized: the watch thread would ask for ever. */
	ncs_store_relaxed(&of->copies_wanted, NCS_COPIES_NONE);
	if (ncs_comm_is_live(of) && ncs_load_relaxed(&of->copies) == 0) {
		comm = make_companion(of, COPIES_ID, " copies");
		if (comm) {
			ncs_store_relaxed(
				&comm->captures_missed,
				ncs_load_relaxed(&of->captures_missed));
			ncs_launch_watch_add(comm);
			ncs_writer_publish(&comm->writer);
		} else {
			ncs_store_relaxed(&of->copies_wanted,
					  NCS_COPIES_REFUSED);
		}
		/* ORDER: pairs with copies_of() (plugin/events/copies.c): it is
		 * complete. */
		ncs_store_release(&of->copies, (uint64_t)(uintptr_t)comm);
	}
	pthread_mutex_unlock(&lock);
}

/* Returns true if all other communicators are finalized. The lock is held. */
static bool is_last(const struct ncs_comm *comm)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (&ncs_registry.comms[i] != comm &&
		    !ncs_registry.comms[i].is_companion &&
		    ncs_comm_is_live(&ncs_registry.comms[i]))
			return false;
	return true;
}

/* Ends a communicator, which is live, for callbacks and readers. The lock is
 * held. */
static void end_comm(struct ncs_comm *comm)
{
	ncs_store_relaxed(&comm->live, 0);
	comm->finished_order = ++process.finished;
	ncs_store_relaxed(&comm->header->finished, ncs_now());
	ncs_store_relaxed(&comm->header->life, NCS_LIFE_FINISHED);
	ncs_heartbeat_remove(comm);
}

/* Ends a communicator with its replays, and gives up its launches. The lock is
 * held. */
static void end_with_replays(struct ncs_comm *comm)
{
	struct ncs_comm *replayed = ncs_replays_remove(comm);

	end_comm(comm);
	if (replayed)
		end_comm(replayed);
	ncs_launch_watch_remove(comm);
}

void ncs_process_finalize_comm(void *context)
{
	struct ncs_comm *comm, *copies = NULL;
	bool last;

	pthread_mutex_lock(&lock);
	comm = ncs_comm_of_context(context);
	last = comm && is_last(comm);
	pthread_mutex_unlock(&lock);
	/* Not under the lock: CUPTI waits for threads that are not ours. */
	if (last)
		ncs_cupti_flush();
	pthread_mutex_lock(&lock);
	comm = ncs_comm_of_context(context);
	if (comm && ncs_load_relaxed(&comm->live)) {
		copies = (struct ncs_comm *)(uintptr_t)ncs_load_relaxed(
			&comm->copies);
		end_with_replays(comm);
		if (copies)
			end_with_replays(copies);
	}
	pthread_mutex_unlock(&lock);
	if (comm)
		ncs_launch_watch_await(comm);
	if (copies)
		ncs_launch_watch_await(copies);
}

const struct ncs_environment *ncs_process_environment(void)
{
	return &process.config;
}
