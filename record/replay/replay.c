/* SPDX-License-Identifier: MIT */
/* Plays recordings; see replay.h. */
#include "record/replay/replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/records/parts.h"
#include "record/read/source_recording.h"
#include "shm/read/job.h"

/* Number of latest refreshes, which are one interval apart. */
#define DENSE_REFRESHES 12u

/* Ages in ns of the refreshes before those; averages over 10 and 100 s need
 * them, and the latest records refreshes that are as close as live ones. */
static const uint64_t sparse_ns[] = {
	100000000000, 75000000000, 50000000000, 25000000000, 10000000000,
	9000000000,   8000000000,  7000000000,  6000000000,  5000000000,
	4000000000,   3000000000,  2000000000,
};

#define SPARSE_REFRESHES (sizeof(sparse_ns) / sizeof(*sparse_ns))
#define REFRESHES_MAX (SPARSE_REFRESHES + DENSE_REFRESHES)

/* --- Opening ------------------------------------------------------------- */

/* Sets the error between any two hosts: the sum of the two largest errors. */
static void find_error(struct ncs_replay *replay)
{
	size_t count = ncs_recording_host_count(replay->recording);
	uint64_t most_ns = 0, next_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t error_ns =
			ncs_recording_host(replay->recording, i)->error_ns;

		if (error_ns > most_ns) {
			next_ns = most_ns;
			most_ns = error_ns;
		} else if (error_ns > next_ns) {
			next_ns = error_ns;
		}
	}
	replay->error_ns = most_ns > UINT64_MAX - next_ns ? UINT64_MAX :
							    most_ns + next_ns;
}

/* Whether an earlier host has the same name, as time namespaces of one machine
 * do. */
static bool is_named_before(const struct ncs_replay *replay, size_t host)
{
	const char *name = ncs_recording_host(replay->recording, host)->name;

	for (size_t i = 0; i < host; i++)
		if (strcmp(ncs_recording_host(replay->recording, i)->name,
			   name) == 0)
			return true;
	return false;
}

static void name_hosts(struct ncs_replay *replay)
{
	size_t count = ncs_recording_host_count(replay->recording);

	replay->hosts[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (!is_named_before(replay, i))
			ncs_append(
				replay->hosts, sizeof(replay->hosts), "%s%s",
				i > 0 ? "," : "",
				ncs_recording_host(replay->recording, i)->name);
}

static int resolve(const struct ncs_replay *replay,
		   const struct ncs_instant *instant, const char *option,
		   uint64_t *at_ns, char *why, size_t why_size)
{
	char reason[200];

	if (instant->kind == NCS_INSTANT_NONE ||
	    ncs_instant_resolve(instant, &replay->all, at_ns, reason,
				sizeof(reason)))
		return 0;
	snprintf(why, why_size, "--%s: %s", option, reason);
	return -ERANGE;
}

static int find_part(struct ncs_replay *replay,
		     const struct ncs_replay_part *part, char *why,
		     size_t why_size)
{
	int error;

	replay->from_ns = replay->all.from_ns;
	replay->until_ns = replay->all.until_ns;
	error = resolve(replay, &part->since, "since", &replay->from_ns, why,
			why_size);
	if (!error)
		error = resolve(replay, &part->until, "until",
				&replay->until_ns, why, why_size);
	if (!error && replay->from_ns > replay->until_ns) {
		snprintf(why, why_size, "--since is after --until");
		error = -ERANGE;
	}
	replay->records_from_ns =
		part->since.kind != NCS_INSTANT_NONE ? replay->from_ns : 0;
	replay->records_until_ns = part->until.kind != NCS_INSTANT_NONE ?
					   replay->until_ns :
					   UINT64_MAX;
	replay->at_ns = replay->from_ns;
	if (!error)
		error = resolve(replay, &part->at, "at", &replay->at_ns, why,
				why_size);
	if (!error && (replay->at_ns < replay->from_ns ||
		       replay->at_ns > replay->until_ns)) {
		snprintf(why, why_size, "--at is not between --since and --until");
		error = -ERANGE;
	}
	return error;
}

static int align(struct ncs_replay *replay, uint64_t from_ns, uint64_t until_ns,
		 char *why, size_t why_size)
{
	int error;

	ncs_recording_alignment_release(&replay->alignment);
	error = ncs_recording_align_hosts(replay->recording, from_ns, until_ns,
					  &replay->alignment);
	if (error)
		snprintf(why, why_size, "the hosts' clocks: %s",
			 strerror(-error));
	return error;
}

static void find_all(struct ncs_replay *replay)
{
	const struct ncs_recording_facts *facts =
		ncs_recording_facts(replay->recording);

	replay->all = (struct ncs_time_span){
		.from_ns = facts->from_ns,
		.until_ns = facts->until_ns,
		.realtime_offset_ns = ncs_recording_host(replay->recording, 0)
					      ->realtime_offset_ns,
	};
}

static int keep_jobs(struct ncs_replay *replay,
		     const struct ncs_replay_part *part, char *why,
		     size_t why_size)
{
	int error = ncs_recording_keep_jobs(
		replay->recording, part->job,
		part->job_owner ? *part->job_owner : NCS_NO_OWNER,
		part->job_begun_ns, part->job_next_ns);

	if (error == -ENOENT)
		snprintf(why, why_size,
			 "no process of job '%s' was recorded; --dump=json tells"
			 " which job each is of",
			 part->job);
	else if (error)
		snprintf(why, why_size, "%s", strerror(-error));
	return error;
}

int ncs_replay_open(struct ncs_replay *replay, const char *const *paths,
		    size_t count, const struct ncs_replay_part *part, char *why,
		    size_t why_size)
{
	bool is_part = part->since.kind != NCS_INSTANT_NONE ||
		       part->until.kind != NCS_INSTANT_NONE;
	int error;

	memset(replay, 0, sizeof(*replay));
	replay->speed = 1;
	error = ncs_recording_open(&replay->recording, paths, count, why,
				   why_size);
	if (!error && part->job)
		error = keep_jobs(replay, part, why, why_size);
	if (!error && part->keeps_ended)
		ncs_recording_keep_ended(replay->recording);
	if (!error)
		error = align(replay, 0, UINT64_MAX, why, why_size);
	if (error)
		return error;
	find_all(replay);
	error = find_part(replay, part, why, why_size);
	/* A part of a recording can be aligned more exactly than the whole. */
	if (!error && is_part)
		error = align(replay, replay->from_ns, replay->until_ns, why,
			      why_size);
	if (error)
		return error;
	find_error(replay);
	name_hosts(replay);
	replay->source =
		ncs_source_open_recording(replay->recording, part->pid);
	if (replay->source)
		return 0;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

void ncs_replay_close(struct ncs_replay *replay)
{
	if (replay->source)
		replay->source->close(replay->source);
	ncs_recording_alignment_release(&replay->alignment);
	ncs_recording_close(replay->recording);
	memset(replay, 0, sizeof(*replay));
}

uint64_t ncs_replay_realtime_ns(const struct ncs_replay *replay, uint64_t at_ns)
{
	return at_ns + (uint64_t)replay->all.realtime_offset_ns;
}

uint64_t ncs_replay_since_ns(const struct ncs_replay *replay)
{
	return replay->at_ns - replay->all.from_ns;
}

void ncs_replay_print_time(const struct ncs_replay *replay, uint64_t time_ns,
			   char *text, size_t size)
{
	uint64_t from_ns = replay->all.from_ns;

	ncs_instant_print(time_ns > from_ns ? time_ns - from_ns : 0, text, size);
}

/* --- Playing ------------------------------------------------------------- */

void ncs_replay_go(struct ncs_replay *replay, uint64_t at_ns, uint64_t now_ns)
{
	replay->at_ns = at_ns < replay->from_ns  ? replay->from_ns :
			at_ns > replay->until_ns ? replay->until_ns :
						   at_ns;
	replay->played_ns = now_ns;
}

void ncs_replay_advance(struct ncs_replay *replay, uint64_t now_ns)
{
	double passed_ns;

	if (!replay->playing || now_ns <= replay->played_ns)
		return;
	passed_ns = (double)(now_ns - replay->played_ns) * replay->speed;
	if (passed_ns >= (double)(replay->until_ns - replay->at_ns)) {
		replay->playing = false;
		ncs_replay_go(replay, replay->until_ns, now_ns);
	} else {
		ncs_replay_go(replay, replay->at_ns + (uint64_t)passed_ns,
			      now_ns);
	}
}

void ncs_replay_play(struct ncs_replay *replay, bool playing, uint64_t now_ns)
{
	ncs_replay_advance(replay, now_ns);
	replay->playing = playing;
	replay->played_ns = now_ns;
}

void ncs_replay_change_speed(struct ncs_replay *replay, bool faster,
			     uint64_t now_ns)
{
	double unit = pow(10, floor(log10(replay->speed) + 1e-9));
	int digit = (int)lround(replay->speed / unit);
	double speed = faster ? (digit == 1 ? 2 :
				 digit == 2 ? 5 :
					      10) *
					unit :
				(digit == 5 ? 2 :
				 digit == 2 ? 1 :
					      0.5) *
					unit;

	ncs_replay_advance(replay, now_ns);
	replay->played_ns = now_ns;
	if (speed > NCS_SPEED_MIN * 0.99 && speed < NCS_SPEED_MAX * 1.01)
		replay->speed = speed;
}

/* --- Models -------------------------------------------------------------- */

static int refresh(struct ncs_source *source, struct ncs_model *model,
		   struct ncs_diagnosis *diagnosis, uint64_t at_ns)
{
	int error = ncs_model_update(model, source, at_ns);

	if (!error && diagnosis)
		error = ncs_diagnose(diagnosis, model);
	return error;
}

/* Sets the times of the refreshes before a time, in ascending order. Returns
 * their number. */
static size_t find_refreshes(uint64_t from_ns, uint64_t at_ns,
			     uint64_t interval_ns,
			     uint64_t times_ns[REFRESHES_MAX])
{
	uint64_t room_ns = at_ns - from_ns;
	size_t count = 0;

	for (size_t i = 0; i < SPARSE_REFRESHES; i++)
		if (sparse_ns[i] <= room_ns &&
		    sparse_ns[i] > DENSE_REFRESHES * interval_ns)
			times_ns[count++] = at_ns - sparse_ns[i];
	for (uint64_t i = DENSE_REFRESHES; i > 0; i--)
		if (i * interval_ns <= room_ns)
			times_ns[count++] = at_ns - i * interval_ns;
	return count;
}

static bool wants_none(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

/* Refreshes before a time. Those of the latest 10 s have records: each refresh also
 * brings a reading of the GPU's clock, by which times of kernels are converted. Those
 * of the whole past would be too many. */
static int refresh_past(struct ncs_source *source, struct ncs_model *model,
			struct ncs_diagnosis *diagnosis, uint64_t from_ns,
			uint64_t at_ns, uint64_t interval_ns)
{
	bool (*wants)(const void *context, const char *id) =
		source->wants_records;
	uint64_t times_ns[REFRESHES_MAX];
	size_t count = find_refreshes(from_ns, at_ns, interval_ns, times_ns);
	int error = 0;

	for (size_t i = 0; i < count; i++)
		ncs_source_recording_expect(source, times_ns[i]);
	ncs_source_recording_expect(source, at_ns);
	for (size_t i = 0; i < count && !error; i++) {
		source->wants_records = at_ns - times_ns[i] > NCS_LOOK_BACK_NS ?
						wants_none :
						wants;
		error = refresh(source, model, diagnosis, times_ns[i]);
	}
	source->wants_records = wants;
	return error;
}

int ncs_replay_fill(struct ncs_source *source, struct ncs_model *model,
		    struct ncs_diagnosis *diagnosis, uint64_t from_ns,
		    uint64_t at_ns, uint64_t interval_ns)
{
	if (diagnosis) {
		ncs_diagnosis_release(diagnosis);
		ncs_diagnosis_init(diagnosis);
	}
	ncs_model_forget(model);
	ncs_source_recording_restart(source);
	return refresh_past(source, model, diagnosis, from_ns, at_ns,
			    interval_ns);
}
