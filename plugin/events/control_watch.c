/* SPDX-License-Identifier: MIT */
/* Handling requests; see control_watch.h.
 *
 * ncs_control_update() runs in callbacks: no lock, no allocation, no system
 * call, no output; its loop over the communicators is bounded. The other
 * functions run at init, exit and fork. */
#include "plugin/events/control_watch.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/mask/release_events.h"
#include "plugin/state/lane.h"
#include "plugin/mask/mask.h"
#include "plugin/state/launches.h"
#include "plugin/state/registry.h"
#include "plugin/events/sampling.h"
#include "shm/clock.h"
#include "shm/control.h"
#include "shm/seqlock.h"

/* Only the thread that has set `busy` changes it. */
static struct {
	uint64_t busy; /* 1 while a thread uses this */
	struct ncs_writer writer;
	bool timing_allowed;           /* NCCL reports launches */
	struct ncs_detail environment; /* the environment's settings */
	struct ncs_detail base;        /* of the last valid request */
	struct ncs_detail in_force;
	struct ncs_settings settings; /* as published */
} control;

/* --- Applying a detail -------------------------------------------------- */

/* Publishes that launches are timed or not, where nothing was launched yet, so
 * that the watch thread does not. */
static void publish_timing(enum ncs_stream_status status)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++) {
		struct ncs_comm *comm = &ncs_registry.comms[i];
		struct ncs_launches *launches = ncs_launches_of(comm);

		if (launches && ncs_comm_is_live(comm) &&
		    ncs_load_relaxed(&launches->stage) == NCS_LAUNCHES_IDLE)
			ncs_store_relaxed(&comm->header->launches.status,
					  status);
	}
}

static void set_timing(uint8_t timing)
{
	ncs_launch_time(timing);
	publish_timing(timing == NCS_TIMING_DETAIL_OFF ? NCS_STREAM_OFF :
							 NCS_STREAM_WAITING);
}

/* Applies the parts of a complete detail that differ from the current one. */
static void enforce(const struct ncs_detail *detail)
{
	if (detail->groups != control.in_force.groups)
		ncs_mask_set_events(NCS_MASK_OURS,
				    ncs_groups_events(detail->groups));
	if (detail->sample != control.in_force.sample)
		ncs_sampling_set_level(detail->sample - 1u);
	if (detail->timing != control.in_force.timing)
		set_timing(detail->timing);
	control.in_force = *detail;
}

/* --- Publishing --------------------------------------------------------- */

static void publish_in(struct ncs_comm *comm)
{
	uint64_t *words = (uint64_t *)&comm->header->settings;
	const uint64_t *published = (const uint64_t *)&control.settings;

	ncs_seqlock_begin(&words[0]);
	for (size_t i = 1; i < sizeof(control.settings) / sizeof(*words); i++)
		ncs_payload_store(&words[i], published[i]);
	ncs_seqlock_end(&words[0]);
}

static void publish(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (ncs_comm_is_live(&ncs_registry.comms[i]))
			publish_in(&ncs_registry.comms[i]);
}

/* Publishes a record of a change, in the ring of the thread that made it. */
static void leave_record(struct ncs_lane_state *lane, uint64_t before,
			 uint64_t now)
{
	const struct ncs_record record = {
		.start = now,
		.event = NCS_EVENT_SETTINGS,
		.function = NCS_FUNCTION_OTHER,
		.peer = -1,
		.value = control.settings.in_force,
		.number = before,
		.delta = { control.settings.asked,
			   control.settings.lease_until_ns },
	};

	ncs_lane_publish(lane, &record);
}

/* --- Reading a request -------------------------------------------------- */

/* The parts of a request other than its base. */
struct asked {
	struct ncs_detail lease;
	uint64_t lease_until_ns; /* CLOCK_MONOTONIC; 0 if there is no lease */
	uint64_t lease_holder;
	enum ncs_refusal refused;
};

/* Unpacks a request and keeps its base. Ends a lease that is over in the
 * control object, so that its holder notices. Returns the word that has been
 * handled; a newer word is left to the next group of calls. */
static uint64_t take_apart(uint64_t word, struct asked *asked)
{
	struct ncs_control *object = control.writer.control;
	struct ncs_control_request request;
	uint64_t until_ns;

	memset(asked, 0, sizeof(*asked));
	if (!ncs_request_unpack(word, &request)) {
		asked->refused = NCS_REFUSAL_MALFORMED;
		return word;
	}
	control.base = request.base;
	if (!request.leased)
		return word;
	until_ns = ncs_load_relaxed(&object->lease_until_ns);
	/* `now` in ns is not used: after some hours the plugin's multiplier is
	 * too coarse to compare its time with another process's. */
	if (ncs_lease_is_over(until_ns, ncs_clock_monotonic_ns())) {
		if (control.settings.lease_until_ns == 0)
			asked->refused = NCS_REFUSAL_LEASE;
		return ncs_control_end_lease(object, word);
	}
	asked->lease = request.lease;
	asked->lease_until_ns = until_ns;
	asked->lease_holder = ncs_load_relaxed(&object->lease_holder);
	return word;
}

static void update(struct ncs_lane_state *lane, uint64_t word, uint64_t now)
{
	struct ncs_settings before = control.settings,
			    *published = &control.settings;
	struct ncs_detail wanted;
	struct asked asked;

	word = take_apart(word, &asked);
	wanted = ncs_detail_over(&asked.lease, &control.base);
	wanted = ncs_detail_over(&wanted, &control.environment);
	if (wanted.kernel != control.environment.kernel) {
		asked.refused = NCS_REFUSAL_KERNEL;
		wanted.kernel = control.environment.kernel;
	}
	if (wanted.timing > NCS_TIMING_DETAIL_OFF && !control.timing_allowed) {
		asked.refused = NCS_REFUSAL_TIMING;
		wanted.timing = NCS_TIMING_DETAIL_OFF;
	}
	enforce(&wanted);
	published->in_force = ncs_detail_pack(&wanted);
	published->asked = word;
	published->refused = asked.refused;
	published->lease_until_ns = asked.lease_until_ns;
	published->lease_holder = asked.lease_holder;
	if (published->in_force != before.in_force) {
		published->changes++;
		published->changed = now;
	}
	if (memcmp(published, &before, sizeof(before)) != 0)
		publish();
	if (published->asked != before.asked ||
	    published->in_force != before.in_force)
		leave_record(lane, before.in_force, now);
	ncs_store_relaxed(&ncs_registry.control.dealt_with,
			  asked.lease_until_ns != 0 ? ~word : word);
}

void ncs_control_update(struct ncs_lane_state *lane, uint64_t now)
{
	uint64_t word;

	/* ORDER: pairs with ncs_control_update()
	 * (plugin/events/control_watch.c): the next thread sees everything that
	 * this one has stored. */
	if (ncs_exchange_acquire_release(&control.busy, 1) != 0)
		return;
	/* ORDER: pairs with put() (shm/control.c): the end of the lease belongs
	 * to this request or a later one. */
	word = ncs_load_acquire(ncs_registry.control.request);
	if (word != ncs_load_relaxed(&ncs_registry.control.dealt_with))
		update(lane, word, now);
	/* ORDER: pairs with ncs_control_update()
	 * (plugin/events/control_watch.c), and with ncs_control_join()
	 * (plugin/events/control_watch.c). */
	ncs_store_release(&control.busy, 0);
}

/* --- Init, exit, fork --------------------------------------------------- */

int ncs_control_open(const struct ncs_environment *config,
		     const struct ncs_process *process, unsigned api_version)
{
	int error = -EEXIST;

	ncs_registry.control.request = &ncs_registry.control.dealt_with;
	control.timing_allowed = api_version >= NCS_LAUNCH_API;
	control.environment = (struct ncs_detail){
		.has_groups = 1,
		.groups = NCS_GROUPS_ALL,
		.kernel =
			config->kernel_timing == NCS_KERNEL_TIMING_ALWAYS &&
					ncs_release_allows_kernel(api_version) ?
				NCS_KERNEL_DETAIL_ALWAYS :
				NCS_KERNEL_DETAIL_OFF,
		.sample = (uint8_t)(1 + config->sample_level),
		.timing = control.timing_allowed ? config->timing :
						   NCS_TIMING_DETAIL_OFF,
	};
	control.in_force = control.environment;
	control.settings.in_force = ncs_detail_pack(&control.in_force);
	for (unsigned i = 0; error == -EEXIST && i < NCS_NAME_TRIES; i++)
		error = ncs_writer_create_control(&control.writer,
						  config->directory, process,
						  ncs_writer_number(0));
	if (!error)
		ncs_registry.control.request = &control.writer.control->request;
	return error;
}

void ncs_control_join(struct ncs_comm *comm)
{
	/* ORDER: pairs with ncs_control_update()
	 * (plugin/events/control_watch.c): the settings published here are the
	 * last ones, and only one thread at a time publishes. */
	while (ncs_exchange_acquire_release(&control.busy, 1) != 0)
		sched_yield();
	publish_in(comm);
	/* ORDER: pairs with ncs_control_update()
	 * (plugin/events/control_watch.c). */
	ncs_store_release(&control.busy, 0);
}

void ncs_control_unlink(void)
{
	ncs_writer_unlink(&control.writer);
}

void ncs_control_forget(void)
{
	if (control.writer.control)
		munmap(control.writer.control, NCS_CONTROL_BYTES);
	memset(&control, 0, sizeof(control));
	ncs_registry.control = (struct ncs_control_watch){ 0 };
}
