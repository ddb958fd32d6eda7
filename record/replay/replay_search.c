/* SPDX-License-Identifier: MIT */
/* Finds the episodes of a recording; see replay_search.h. */
#include "record/replay/replay_search.h"

#include <errno.h>
#include <string.h>

#include "record/read/source_recording.h"

/* Shortest time between two steps of the search, and the largest number of
 * steps. */
#define STEP_LEAST_NS UINT64_C(1000000000)
#define STEPS_MAX 20000u

int ncs_replay_search_begin(struct ncs_replay_search *search,
			    const struct ncs_replay *replay, uint32_t pid,
			    ncs_describe_finding *describe)
{
	uint64_t length_ns = replay->until_ns - replay->from_ns;

	memset(search, 0, sizeof(*search));
	search->recording = replay->recording;
	search->interval_ns =
		ncs_recording_facts(replay->recording)->interval_ns;
	search->source = ncs_source_open_recording(replay->recording, pid);
	if (!search->source)
		return -ENOMEM;
	ncs_model_init(&search->model);
	ncs_diagnosis_init(&search->diagnosis);
	/* The latest records show calls that some ranks have already left. */
	search->model.keeps_latest = true;
	search->from_ns = search->next_ns = replay->from_ns;
	search->before_ns = search->latest_ns = replay->from_ns;
	search->until_ns = replay->until_ns;
	search->found.describe = describe;
	search->step_ns = length_ns / STEPS_MAX;
	if (search->step_ns < STEP_LEAST_NS)
		search->step_ns = STEP_LEAST_NS;
	return 0;
}

void ncs_replay_search_end(struct ncs_replay_search *search)
{
	if (!search->source)
		return;
	search->source->close(search->source);
	search->source = NULL;
	ncs_diagnosis_release(&search->diagnosis);
	ncs_model_release(&search->model);
}

/* Returns the end of a late look before the next step: one in which a rank has its first
 * state after a step in which it had none. Returns 0 if there is no late look. */
static uint64_t late_look(const struct ncs_replay_search *search,
			  uint64_t next_ns)
{
	size_t count = ncs_recording_rank_count(search->recording);
	uint64_t first_ns = next_ns, last_ns;

	for (size_t i = 0; i < count; i++) {
		uint64_t taken_ns = ncs_recording_next_state_of(
			search->recording, i, search->before_ns);

		if (taken_ns > search->latest_ns && taken_ns < first_ns)
			first_ns = taken_ns;
	}
	if (first_ns == next_ns)
		return 0;
	last_ns = first_ns;
	for (size_t i = 0; i < count; i++) {
		uint64_t taken_ns = ncs_recording_next_state_of(
			search->recording, i, search->latest_ns);

		if (taken_ns > last_ns && taken_ns < next_ns &&
		    taken_ns - first_ns < search->interval_ns)
			last_ns = taken_ns;
	}
	return last_ns;
}

/* Returns the time of the step after one. A look that comes late, as of a recorder that
 * was held up, has a step of its own: by the next one, what it saw may be over. */
static uint64_t next_step(struct ncs_replay_search *search, uint64_t moment_ns)
{
	uint64_t latest_ns = search->latest_ns, look_ns = 0;
	uint64_t next_ns = search->until_ns - latest_ns > search->step_ns ?
				   latest_ns + search->step_ns :
				   search->until_ns;

	if (moment_ns == latest_ns && search->before_ns != latest_ns)
		look_ns = late_look(search, next_ns);
	if (look_ns != 0)
		return look_ns;
	search->before_ns = latest_ns;
	search->latest_ns = next_ns;
	return next_ns;
}

int ncs_replay_search_step(struct ncs_replay_search *search)
{
	uint64_t moment_ns = search->next_ns;
	int error;

	if (search->done)
		return 0;
	error = ncs_model_update(&search->model, search->source, moment_ns);
	if (!error)
		error = ncs_diagnose(&search->diagnosis, &search->model);
	if (error) {
		search->done = true;
		return error;
	}
	ncs_episodes_add(&search->found, &search->diagnosis, moment_ns);
	search->done = moment_ns == search->until_ns;
	search->next_ns = next_step(search, moment_ns);
	return 0;
}

const struct ncs_episode *
ncs_replay_search_next(const struct ncs_replay_search *search,
		       uint64_t moment_ns, bool forward)
{
	const struct ncs_episode *before = NULL;

	for (size_t i = 0; i < search->found.count; i++) {
		const struct ncs_episode *found = &search->found.all[i];

		if (forward && found->seen_ns > moment_ns)
			return found;
		if (!forward && found->seen_ns < moment_ns)
			before = found;
	}
	return before;
}
