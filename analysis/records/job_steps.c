/* SPDX-License-Identifier: MIT */
/* Finding the operations that begin steps; see job_steps.h.
 *
 * Operations are of one kind if they have the same communicator, function, size
 * and range. A kind is regular once it has recurred several times after the
 * same number of other operations. Fewer intervals suffice if these operations
 * are the same each time, in any order. Of the regular kinds, those that occur
 * least often occur once in a step. The first of them begins each step, from
 * the place where it became regular. A phase is a sequence of steps that begin
 * at one kind. It ends when another kind is regular and its own kind no longer
 * occurs. */
#include "analysis/records/job_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "shm/hash.h"

#define NO_STEP UINT32_MAX

#define KINDS_MAX 65536u
#define PHASES_MAX 65536u

/* The least number of operations in a step. */
#define OPERATIONS_LEAST 2u

/* Points for an interval that is as long as the one before, and for one that
 * also has the same operations in it; and the points that make a kind
 * regular. */
#define SAME_LENGTH 1u
#define SAME_CONTENTS 3u
#define REGULAR 3u

/* From this number of intervals on, most must be as long as the first one. */
#define INTERVALS_JUDGED 8u

struct job_kind {
	uint64_t hash;     /* 0: none */
	uint64_t latest;   /* place of its latest operation among all */
	uint64_t sum;      /* of all hashes before that place */
	uint64_t interval; /* operations since the one before; 0: none */
	uint64_t contents; /* sum of the hashes in that interval */
	uint64_t first;    /* place where intervals of this length began */
	uint64_t regular;  /* points */
};

/* A place from which on steps begin at one kind. */
struct job_phase {
	uint64_t first;  /* place */
	uint64_t anchor; /* hash; 0: there are no steps */
};

struct ncs_job_steps {
	uint64_t place; /* number of counted operations up to now */
	uint64_t sum;   /* sum of the hashes of these */
	struct job_kind *kinds;
	size_t kind_count, kind_capacity; /* hashed; a power of two */
	struct job_phase *phases;
	size_t phase_count, phase_capacity;
	/* The current phase. */
	uint64_t anchor; /* hash; 0: none */
	uint64_t interval;
	uint64_t latest;          /* place of the anchor's latest operation */
	uint64_t intervals, same; /* intervals, and those of equal length */
	/* The second pass. */
	bool passes_again;
	uint64_t end; /* place after which there are no more steps */
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
	uint64_t hash =
		ncs_hash_add(ncs_hash(joined->comm_id), joined->function);

	hash = ncs_hash_add(hash, part->bytes);
	hash = ncs_hash_add(hash, part->range);
	hash = ncs_hash_add(hash, (uint64_t)part->rank);
	return hash ? hash : 1;
}

static struct job_kind *find(const struct ncs_job_steps *steps, uint64_t hash)
{
	for (size_t i = hash;; i++) {
		struct job_kind *kind =
			&steps->kinds[i & (steps->kind_capacity - 1)];

		if (kind->hash == hash || kind->hash == 0)
			return kind;
	}
}

static int grow(struct ncs_job_steps *steps)
{
	struct job_kind *before = steps->kinds;
	size_t count = steps->kind_capacity;

	if (2 * steps->kind_count < count)
		return 0;
	if (count >= 2 * KINDS_MAX) {
		/* Forget all kinds: those that occur in each step are soon
		 * known again. */
		memset(before, 0, count * sizeof(*before));
		steps->kind_count = 0;
		return 0;
	}
	steps->kind_capacity = count ? 2 * count : 64;
	steps->kinds = calloc(steps->kind_capacity, sizeof(*before));
	if (!steps->kinds) {
		steps->kinds = before;
		steps->kind_capacity = count;
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
	if (steps->phase_count == PHASES_MAX)
		return 0;
	if (ncs_array_reserve(&steps->phases, &steps->phase_capacity,
			      steps->phase_count + 1,
			      sizeof(*steps->phases)) != 0)
		return -ENOMEM;
	steps->phases[steps->phase_count++] =
		(struct job_phase){ first, anchor };
	return 0;
}

/* Begins a phase at a kind. Phases that began less than a step before are part
 * of its first step. */
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

/* Returns true if so many other operations have followed the latest anchor that
 * they cannot all be part of its step. */
static bool is_overdue(const struct ncs_job_steps *steps)
{
	return steps->anchor != 0 &&
	       steps->place - steps->latest > 2 * steps->interval;
}

/* Ends the current phase. Its last step is assumed to be as long as the
 * others. */
static int end_phase(struct ncs_job_steps *steps)
{
	return add_phase(steps, steps->latest + steps->interval, 0);
}

/* Notes an operation of the current phase's kind. Returns 0 or -ENOMEM. */
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
		/* The kind was regular by chance. */
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

/* Returns true if steps begin at this regular kind rather than at the
 * anchor. */
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

static void pass_again(struct ncs_job_steps *steps)
{
	steps->passes_again = true;
	steps->end = is_overdue(steps) ? steps->latest + steps->interval :
					 UINT64_MAX;
	steps->place = 0;
	steps->anchor = 0;
}

uint32_t ncs_job_steps_next(struct ncs_job_steps *steps,
			    const struct ncs_joined *joined, bool is_counted)
{
	if (!steps->passes_again)
		pass_again(steps);
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
