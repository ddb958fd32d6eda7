/* Finding the operation that begins a step; see job_steps.h.
 *
 * Operations are alike if they are of one communicator, function, size and
 * range. Of those that come again regularly the ones that come most rarely are
 * once in a step; the first of these begins it. An interval between two of them
 * counts as regular if it is that of most. */
#include "analysis/job_steps.h"

#include <errno.h>
#include <stdlib.h>

#define NO_STEP UINT32_MAX

#define KINDS_MAX 65536u

/* A step is at least so many operations, and there are at least so many. */
#define OPERATIONS_LEAST 2u
#define STEPS_LEAST 3u

/* So many of a hundred intervals are the same. */
#define REGULAR_PERCENT 90u

struct kind {
	uint64_t hash;          /* 0: none */
	uint64_t first, latest; /* places among the operations */
	uint64_t count;
	uint64_t interval; /* by majority vote */
	uint64_t votes;
	uint64_t same; /* intervals that were as the one before */
};

struct ncs_job_steps {
	uint64_t place; /* operations so far that count */
	struct kind *kinds;
	size_t kind_count, capacity;
	bool is_decided;
	uint64_t anchor; /* hash; 0: there are no steps */
	uint32_t step;
};

struct ncs_job_steps *ncs_job_steps_new(void)
{
	struct ncs_job_steps *steps = calloc(1, sizeof(*steps));

	if (steps)
		steps->step = NO_STEP;
	return steps;
}

void ncs_job_steps_free(struct ncs_job_steps *steps)
{
	if (steps)
		free(steps->kinds);
	free(steps);
}

static uint64_t hash_of(const struct ncs_joined *joined)
{
	const struct ncs_member *part = &joined->parts[0];
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

static struct kind *find(const struct ncs_job_steps *steps, uint64_t hash)
{
	for (size_t i = hash;; i++) {
		struct kind *kind = &steps->kinds[i & (steps->capacity - 1)];

		if (kind->hash == hash || kind->hash == 0)
			return kind;
	}
}

static int grow(struct ncs_job_steps *steps)
{
	struct kind *before = steps->kinds;
	size_t count = steps->capacity;

	if (2 * steps->kind_count < count)
		return 0;
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

int ncs_job_steps_learn(struct ncs_job_steps *steps,
			const struct ncs_joined *joined, bool is_counted)
{
	uint64_t hash = hash_of(joined), place, interval;
	struct kind *kind;

	if (!is_counted || joined->function == NCS_FUNCTION_SEND_RECV ||
	    steps->kind_count >= KINDS_MAX)
		return 0;
	if (grow(steps) != 0)
		return -ENOMEM;
	place = steps->place++;
	kind = find(steps, hash);
	if (kind->hash == 0) {
		*kind = (struct kind){ .hash = hash, .first = place };
		steps->kind_count++;
	} else {
		interval = place - kind->latest;
		if (kind->votes == 0)
			kind->interval = interval;
		if (interval == kind->interval) {
			kind->votes++;
			kind->same++;
		} else {
			kind->votes--;
		}
	}
	kind->latest = place;
	kind->count++;
	return 0;
}

static bool is_regular(const struct kind *kind)
{
	return kind->count >= STEPS_LEAST &&
	       kind->interval >= OPERATIONS_LEAST &&
	       100 * kind->same >= REGULAR_PERCENT * (kind->count - 1);
}

static void decide(struct ncs_job_steps *steps)
{
	const struct kind *best = NULL;

	for (size_t i = 0; i < steps->capacity; i++) {
		const struct kind *kind = &steps->kinds[i];

		if (kind->hash == 0 || !is_regular(kind))
			continue;
		if (!best || kind->interval > best->interval ||
		    (kind->interval == best->interval &&
		     kind->first < best->first))
			best = kind;
	}
	steps->is_decided = true;
	steps->anchor = best ? best->hash : 0;
}

uint32_t ncs_job_steps_next(struct ncs_job_steps *steps,
			    const struct ncs_joined *joined, bool is_counted)
{
	if (!steps->is_decided)
		decide(steps);
	if (!is_counted || steps->anchor == 0)
		return NO_STEP;
	if (hash_of(joined) == steps->anchor)
		steps->step = steps->step == NO_STEP ? 0 : steps->step + 1;
	return steps->step;
}
