/* SPDX-License-Identifier: MIT */
/* Finding the operations that begin steps; see job_steps.h.
 *
 * Operations are alike if they are of one communicator, function, size and
 * range. One that comes again after the same number of others, which are the
 * same in any order, is regular; after somewhat more often if these are not the
 * same. Of regular ones those that come most rarely are once in a step, and the
 * first of these begins it, from where it became regular on: a phase. A phase
 * ends where another kind is regular and its own does not come any more. */
#include "analysis/records/job_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_STEP UINT32_MAX

#define KINDS_MAX 65536u
#define PHASES_MAX 65536u

/* A step is at least so many operations. */
#define OPERATIONS_LEAST 2u

/* An interval as long as the one before counts as one, with the same operations
 * in it as three; so much makes a kind regular. */
#define SAME_LENGTH 1u
#define SAME_CONTENTS 3u
#define REGULAR 3u

/* After so many intervals most of them must have been as long as the first. */
#define INTERVALS_JUDGED 8u

struct job_kind {
	uint64_t hash;     /* 0: none */
	uint64_t latest;   /* place among the operations */
	uint64_t sum;      /* of all hashes before that */
	uint64_t interval; /* 0: it has come once */
	uint64_t contents; /* sum of the hashes in it */
	uint64_t first;    /* place from which on intervals are as long */
	uint64_t regular;
};

/* From a place on steps begin at one kind. */
struct job_phase {
	uint64_t first;  /* place */
	uint64_t anchor; /* hash; 0: there are no steps */
};

struct ncs_job_steps {
	uint64_t place; /* operations so far that count */
	uint64_t sum;   /* of their hashes */
	struct job_kind *kinds;
	size_t kind_count, capacity;
	struct job_phase *phases;
	size_t phase_count, phase_capacity;
	/* Of the phase at hand. */
	uint64_t anchor; /* hash; 0: there is none */
	uint64_t interval;
	uint64_t latest; /* place where it came */
	uint64_t intervals, same;
	/* The second look. */
	bool looks_again;
	uint64_t end; /* place; behind it there are no more steps */
	size_t phase; /* the next one */
	bool is_in_step;
	uint32_t step;
};

struct ncs_job_steps *ncs_job_steps_new(void)
{
	struct ncs_job_steps *steps = calloc(1, sizeof(*steps));

	if (steps)
		steps->step = NO_STEP; /* the next one is 0 */
	return steps;
}

void ncs_job_steps_free(struct ncs_job_steps *steps)
{
	if (steps) {
		free(steps->kinds);
		free(steps->phases);
	}
	free(steps);
}

static uint64_t hash_of(const struct ncs_joined *joined)
{
	const struct ncs_part *part = &joined->parts[0];
	const uint64_t words[] = { joined->comm_id, joined->function,
				   part->bytes, part->range,
				   (uint64_t)part->rank };
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash ? hash : 1;
}

static struct job_kind *find(const struct ncs_job_steps *steps, uint64_t hash)
{
	for (size_t i = hash;; i++) {
		struct job_kind *kind =
			&steps->kinds[i & (steps->capacity - 1)];

		if (kind->hash == hash || kind->hash == 0)
			return kind;
	}
}

static int grow(struct ncs_job_steps *steps)
{
	struct job_kind *before = steps->kinds;
	size_t count = steps->capacity;

	if (2 * steps->kind_count < count)
		return 0;
	if (count >= 2 * KINDS_MAX) {
		/* Those that come in each step are soon known again. */
		memset(before, 0, count * sizeof(*before));
		steps->kind_count = 0;
		return 0;
	}
	steps->capacity = count ? 2 * count : 64;
	steps->kinds = calloc(steps->capacity, sizeof(*before));
	if (!steps->kinds) {
		steps->kinds = before;
		steps->capacity = count;
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		if (before[i].hash != 0)
			*find(steps, before[i].hash) = before[i];
	free(before);
	return 0;
}

/* --- Phases --------------------------------------------------------------- */

static int add_phase(struct ncs_job_steps *steps, uint64_t first,
		     uint64_t anchor)
{
	size_t capacity = steps->phase_capacity;
	struct job_phase *phases;

	if (steps->phase_count == PHASES_MAX)
		return 0;
	if (steps->phase_count == capacity) {
		capacity = capacity ? 2 * capacity : 16;
		phases = realloc(steps->phases, capacity * sizeof(*phases));
		if (!phases)
			return -ENOMEM;
		steps->phases = phases;
		steps->phase_capacity = capacity;
	}
	steps->phases[steps->phase_count++] =
		(struct job_phase){ first, anchor };
	return 0;
}

/* What was taken for phases within a step's length before is a part of it. */
static int begin_phase(struct ncs_job_steps *steps, const struct job_kind *kind)
{
	while (steps->phase_count > 0 &&
	       steps->phases[steps->phase_count - 1].first + kind->interval >=
		       kind->first)
		steps->phase_count--;
	steps->anchor = kind->hash;
	steps->interval = kind->interval;
	steps->latest = steps->place;
	steps->intervals = steps->same = 0;
	return add_phase(steps, kind->first, kind->hash);
}

/* Whether so much else came that it cannot be a part of the step. */
static bool is_overdue(const struct ncs_job_steps *steps)
{
	return steps->anchor != 0 &&
	       steps->place - steps->latest > 2 * steps->interval;
}

/* The last step was as long as the others; then there was something else. */
static int end_phase(struct ncs_job_steps *steps)
{
	return add_phase(steps, steps->latest + steps->interval, 0);
}

/* The phase's own kind has come. */
static int note_anchor(struct ncs_job_steps *steps)
{
	bool is_over = is_overdue(steps);
	int error = 0;

	steps->intervals++;
	steps->same += steps->place - steps->latest == steps->interval;
	if (is_over)
		error = end_phase(steps);
	steps->latest = steps->place;
	if (steps->intervals >= INTERVALS_JUDGED &&
	    2 * steps->same < steps->intervals) {
		/* It was regular by chance. */
		while (steps->phase_count > 0 &&
		       (steps->phases[steps->phase_count - 1].anchor == 0 ||
			steps->phases[steps->phase_count - 1].anchor ==
				steps->anchor))
			steps->phase_count--;
		steps->anchor = 0;
		return error;
	}
	if (is_over && !error)
		error = add_phase(steps, steps->place, steps->anchor);
	return error;
}

/* Whether steps begin at a kind that is regular rather than as they did. */
static bool is_better(const struct ncs_job_steps *steps,
		      const struct job_kind *kind)
{
	if (steps->anchor == 0)
		return true;
	if (kind->hash == steps->anchor)
		return kind->interval != steps->interval;
	if (steps->latest < kind->first)
		return is_overdue(steps);
	return kind->interval > steps->interval;
}

int ncs_job_steps_learn(struct ncs_job_steps *steps,
			const struct ncs_joined *joined, bool is_counted)
{
	uint64_t hash = hash_of(joined), interval, contents;
	struct job_kind *kind;
	int error = 0;

	if (!is_counted || joined->function == NCS_FUNCTION_SEND_RECV)
		return 0;
	if (grow(steps) != 0)
		return -ENOMEM;
	if (hash == steps->anchor)
		error = note_anchor(steps);
	kind = find(steps, hash);
	if (kind->hash == 0) {
		*kind = (struct job_kind){ .hash = hash };
		steps->kind_count++;
	} else {
		interval = steps->place - kind->latest;
		contents = steps->sum - kind->sum;
		if (interval != kind->interval) {
			kind->interval = interval;
			kind->first = kind->latest;
			kind->regular = 0;
		} else {
			kind->regular += contents == kind->contents ?
						 SAME_CONTENTS :
						 SAME_LENGTH;
		}
		kind->contents = contents;
		if (!error && kind->regular >= REGULAR &&
		    kind->interval >= OPERATIONS_LEAST &&
		    is_better(steps, kind))
			error = begin_phase(steps, kind);
	}
	kind->latest = steps->place++;
	kind->sum = steps->sum;
	steps->sum += hash;
	return error;
}

static void look_again(struct ncs_job_steps *steps)
{
	steps->looks_again = true;
	steps->end = is_overdue(steps) ? steps->latest + steps->interval :
					 UINT64_MAX;
	steps->place = 0;
	steps->anchor = 0;
}

uint32_t ncs_job_steps_next(struct ncs_job_steps *steps,
			    const struct ncs_joined *joined, bool is_counted)
{
	if (!steps->looks_again)
		look_again(steps);
	if (!is_counted)
		return NO_STEP;
	if (joined->function != NCS_FUNCTION_SEND_RECV) {
		if (steps->phase < steps->phase_count &&
		    steps->phases[steps->phase].first == steps->place) {
			steps->anchor = steps->phases[steps->phase++].anchor;
			steps->is_in_step &= steps->anchor != 0;
		}
		if (steps->place == steps->end) {
			steps->anchor = 0;
			steps->is_in_step = false;
		}
		if (hash_of(joined) == steps->anchor) {
			steps->step++;
			steps->is_in_step = true;
		}
		steps->place++;
	}
	return steps->is_in_step ? steps->step : NO_STEP;
}
