/* SPDX-License-Identifier: MIT */
/* Waits of hosts; see host_waits.h. */
#include "analysis/base/host_waits.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/selection.h"
#include "shm/hash.h"

/* Something is known from so many calls on. */
#define CALLS 6

/* Hosts are known to wait if calls follow ends that vary by VARIES_NS, and not to wait
 * if calls do not follow ends that vary by SURELY_VARIES_NS. If ends vary by less, that
 * may be errors of their times, which calls never follow. */
#define VARIES_NS 20000.0
#define SURELY_VARIES_NS 100000.0

/* A slope is known within so many standard errors. */
#define ERRORS 2.5

/* A host is ahead of its GPU if it calls while that is busy for this share of the
 * time. */
#define AHEAD 0.1

/* Number of calls while its GPU is busy that are kept of each rank. */
#define SAMPLES 64u

/* Times have sizes, each so many times as long as the one before. */
#define SIZE 1.2
#define SIZES 192

/* Sums for a line through points. */
struct points {
	double count, x, y, xx, xy, yy;
};

/* A call while the GPU is idle: the time since the call before, and until the last
 * end. */
struct idle_call {
	double call_ns, last_ns;
};

/* A call while the GPU is busy. */
struct busy_call {
	int size; /* of the time since the call before */
	/* Since the first end, the last one and the call. */
	double last_ns, call_ns;
};

struct rank_waits {
	double busy_ns, idle_ns; /* between calls, in all */
	double idle_squares;     /* sum of squares of the latter */
	uint64_t idle_count, busy_count;
	struct idle_call idle[SAMPLES];
	struct busy_call busy[SAMPLES];
	/* 1 + what the host waits for at busy calls, by size; 0: to be found. */
	uint8_t wait_of[SIZES];
};

struct ncs_host_waits {
	uint32_t rank_count;
	/* The most that hosts work, by size; negative: to be found. */
	double most_ns[SIZES];
	struct rank_waits ranks[];
};

struct ncs_host_waits *ncs_host_waits_new(uint32_t rank_count)
{
	struct ncs_host_waits *waits =
		calloc(1, sizeof(*waits) + rank_count * sizeof(*waits->ranks));

	if (!waits)
		return NULL;
	waits->rank_count = rank_count;
	for (unsigned i = 0; i < SIZES; i++)
		waits->most_ns[i] = -1;
	return waits;
}

void ncs_host_waits_free(struct ncs_host_waits *waits)
{
	free(waits);
}

static void add_point(struct points *points, double x, double y)
{
	points->count++;
	points->x += x;
	points->y += y;
	points->xx += x * x;
	points->xy += x * y;
	points->yy += y * y;
}

static int size_of(double ns)
{
	int size = ns > 1 ? (int)(log(ns) / log(SIZE)) : 0;

	return size < SIZES ? size : SIZES - 1;
}

/* Returns the place for a call after `count` others, if it is below SAMPLES: each is
 * as likely to be kept as any other. */
static uint64_t place_of(uint64_t count)
{
	return count < SAMPLES ? count : ncs_hash(count) % (count + 1);
}

static void note_idle(struct rank_waits *self,
		      const struct ncs_waited_call *call)
{
	uint64_t place = place_of(self->idle_count++);

	self->idle_ns += call->call_ns;
	self->idle_squares += call->call_ns * call->call_ns;
	if (place < SAMPLES)
		self->idle[place] =
			(struct idle_call){ call->call_ns, call->last_ns };
}

static void note_busy(struct rank_waits *self,
		      const struct ncs_waited_call *call)
{
	uint64_t place = place_of(self->busy_count++);

	self->busy_ns += call->call_ns;
	if (place < SAMPLES)
		self->busy[place] = (struct busy_call){
			.size = size_of(call->call_ns),
			.last_ns = call->last_ns - call->first_ns,
			.call_ns = call->call_ns - call->first_ns,
		};
}

void ncs_host_waits_note(struct ncs_host_waits *waits, uint32_t rank,
			 const struct ncs_waited_call *call)
{
	if (!(call->call_ns > 0))
		return;
	if (call->is_idle)
		note_idle(&waits->ranks[rank], call);
	else
		note_busy(&waits->ranks[rank], call);
}

/* Returns the next of the calls of a rank while its GPU was busy, from *next on, that
 * came a time of this size after the one before, or of one that differs by `within`;
 * NULL if there is none. */
static const struct busy_call *alike(const struct rank_waits *self, int size,
				     int within, size_t *next)
{
	while (*next < SAMPLES && *next < self->busy_count) {
		const struct busy_call *call = &self->busy[(*next)++];

		if (abs(call->size - size) <= within)
			return call;
	}
	return NULL;
}

/* Returns whether y grows as x does, or not with x, if x varies by enough. */
static enum ncs_host_wait follows(const struct points *points)
{
	double n = points->count, xx, xy, yy, slope, error;

	if (n < CALLS)
		return NCS_HOST_WAIT_UNKNOWN;
	xx = points->xx - points->x * points->x / n;
	xy = points->xy - points->x * points->y / n;
	yy = points->yy - points->y * points->y / n;
	if (xx < n * VARIES_NS * VARIES_NS)
		return NCS_HOST_WAIT_UNKNOWN;
	slope = xy / xx;
	error = ERRORS * sqrt(fmax(yy - slope * xy, 0) / (n - 2) / xx);
	if (fabs(slope - 1) + error < 0.5)
		return NCS_HOST_WAIT_LAST;
	return fabs(slope) + error < 0.5 &&
			       xx >= n * SURELY_VARIES_NS * SURELY_VARIES_NS ?
		       NCS_HOST_WAIT_NONE :
		       NCS_HOST_WAIT_UNKNOWN;
}

static int compare_calls(const void *left, const void *right)
{
	const struct busy_call *a = left, *b = right;

	return (a->last_ns > b->last_ns) - (a->last_ns < b->last_ns);
}

/* Returns whether a rank's host waits for the last end where its GPU is busy. Calls
 * of two kinds, each always alike, would look like calls that follow the last end: so
 * must those of the lower half, and those of the upper one. */
static bool waits_when_busy(const struct rank_waits *self, int size)
{
	const struct busy_call *call;
	struct busy_call calls[SAMPLES];
	struct points lower = { 0 }, upper = { 0 };
	size_t count = 0, next = 0;

	while ((call = alike(self, size, 0, &next)))
		calls[count++] = *call;
	qsort(calls, count, sizeof(*calls), compare_calls);
	for (size_t i = 0; i < count; i++)
		add_point(i < count / 2 ? &lower : &upper, calls[i].last_ns,
			  calls[i].call_ns);
	return follows(&lower) == NCS_HOST_WAIT_LAST &&
	       follows(&upper) == NCS_HOST_WAIT_LAST;
}

/* Returns whether a rank's host waits for the last end where its GPU is idle. Calls
 * that are not about as long after the one before as most of all are of another
 * kind. */
static enum ncs_host_wait waits_when_idle(const struct rank_waits *self)
{
	double usual_ns = self->idle_squares / self->idle_ns;
	struct points points = { 0 };

	for (size_t i = 0; i < SAMPLES && i < self->idle_count; i++)
		if (self->idle[i].call_ns >= usual_ns / 2 &&
		    self->idle[i].call_ns <= usual_ns * 2)
			add_point(&points, self->idle[i].last_ns,
				  self->idle[i].call_ns);
	return follows(&points);
}

enum ncs_host_wait ncs_host_waits_of(struct ncs_host_waits *waits,
				     uint32_t rank,
				     const struct ncs_waited_call *call)
{
	struct rank_waits *self = &waits->ranks[rank];
	int size = size_of(call->call_ns);

	if (call->is_idle)
		return waits_when_idle(self);
	if (self->wait_of[size] == 0)
		self->wait_of[size] = waits_when_busy(self, size) ?
					      1 + NCS_HOST_WAIT_LAST :
					      1 + NCS_HOST_WAIT_UNKNOWN;
	return (enum ncs_host_wait)(self->wait_of[size] - 1);
}

bool ncs_host_waits_is_ahead(const struct ncs_host_waits *waits, uint32_t rank)
{
	const struct rank_waits *self = &waits->ranks[rank];

	return self->busy_ns > AHEAD * (self->busy_ns + self->idle_ns);
}

/* Returns the most that a host worked before such calls: nine times of ten, it was no
 * more. INFINITY if there are too few. */
static double most_of_ns(const struct rank_waits *self, int size)
{
	const struct busy_call *call;
	double most_ns[SAMPLES];
	size_t count = 0, next = 0;

	while ((call = alike(self, size, 1, &next)))
		most_ns[count++] = call->call_ns;
	if (count < CALLS)
		return INFINITY;
	return ncs_select(most_ns, count, count - 1 - count / 10);
}

double ncs_host_waits_most_ns(struct ncs_host_waits *waits, double call_ns)
{
	int size = size_of(call_ns);
	double least_ns = INFINITY;

	if (waits->most_ns[size] >= 0)
		return waits->most_ns[size];
	for (uint32_t i = 0; i < waits->rank_count; i++)
		least_ns = fmin(least_ns, most_of_ns(&waits->ranks[i], size));
	waits->most_ns[size] = least_ns;
	return least_ns;
}
