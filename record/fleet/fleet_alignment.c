/* SPDX-License-Identifier: MIT */
/* Aligns hosts by their records as they come; see fleet_alignment.h. */
#include "record/fleet/fleet_alignment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clocks/barriers.h"
#include "analysis/records/operation_record.h"

#define SECOND_NS UINT64_C(1000000000)

/* A generation may take the place of the one before after this time, and does
 * so after the longer one even if its errors are larger. */
#define GENERATION_NS (60 * SECOND_NS)
#define GENERATION_LONG_NS (300 * SECOND_NS)

/* Solutions are for this time before the one before, and after the present. */
#define BEFORE_NS (5 * SECOND_NS)
#define AFTER_NS (1 * SECOND_NS)

/* Hosts that a generation has room for at first. */
#define HOSTS 8

/* Collectives that are kept until all their ranks have told, which takes until
 * the next look of each: of all hosts together, and at most. */
#define KEPT ((size_t)1 << 20)
#define KEPT_MAX ((size_t)1 << 14)

struct generation {
	uint64_t number; /* from 1; 0: there is none */
	unsigned place;  /* of the two, in struct ncs_fleet_told */
	uint64_t begun_ns;
	size_t hosts;
	size_t owners;
	struct ncs_alignment *alignment;
	struct ncs_barriers *barriers;
	/* Its latest solution. */
	size_t reference;
	struct ncs_aligned *aligned; /* by host */
	size_t aligned_count; /* hosts that are aligned to the reference */
	uint64_t error_ns;    /* sum of their errors */
};

struct ncs_fleet_alignment {
	struct generation used, next;
	uint64_t numbers;
	bool *has_records; /* by host, as many as the larger generation has */
	size_t host_count;
	size_t with_records; /* number of hosts that have */
	uint64_t now_ns;     /* of the latest solution */
	uint64_t from_ns;    /* and since when it holds */
};

/* --- Generations --------------------------------------------------------- */

static void end_generation(struct generation *generation)
{
	ncs_barriers_free(generation->barriers);
	ncs_alignment_free(generation->alignment);
	free(generation->aligned);
	*generation = (struct generation){ 0 };
}

static int begin_generation(struct ncs_fleet_alignment *self,
			    struct generation *generation, size_t hosts)
{
	size_t kept = KEPT / hosts;
	unsigned place = generation == &self->used ? 0 : !self->used.place;

	end_generation(generation);
	generation->hosts = hosts;
	generation->place = place;
	generation->begun_ns = self->now_ns;
	generation->alignment = ncs_alignment_new(hosts);
	generation->aligned = calloc(hosts, sizeof(*generation->aligned));
	if (generation->alignment)
		generation->barriers =
			ncs_barriers_new(generation->alignment, hosts,
					 kept < KEPT_MAX ? kept : KEPT_MAX);
	if (!generation->barriers || !generation->aligned) {
		end_generation(generation);
		return -ENOMEM;
	}
	generation->number = ++self->numbers;
	return 0;
}

/* Sees to it that the younger generation has room for a host. Without any, the
 * first one is begun. */
static int make_room(struct ncs_fleet_alignment *self, size_t host)
{
	struct generation *generation =
		self->used.number == 0 ? &self->used : &self->next;
	size_t hosts = self->host_count ? self->host_count : HOSTS;
	bool *larger;

	if (host < self->host_count)
		return 0;
	while (hosts <= host)
		hosts *= 2;
	larger = realloc(self->has_records, hosts * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	memset(larger + self->host_count, 0,
	       (hosts - self->host_count) * sizeof(*larger));
	self->has_records = larger;
	self->host_count = hosts;
	return begin_generation(self, generation, hosts);
}

struct ncs_fleet_alignment *ncs_fleet_alignment_new(void)
{
	return calloc(1, sizeof(struct ncs_fleet_alignment));
}

void ncs_fleet_alignment_forget(struct ncs_fleet_alignment *self)
{
	end_generation(&self->used);
	end_generation(&self->next);
	free(self->has_records);
	self->has_records = NULL;
	self->host_count = self->with_records = 0;
}

void ncs_fleet_alignment_free(struct ncs_fleet_alignment *self)
{
	if (self)
		ncs_fleet_alignment_forget(self);
	free(self);
}

/* --- Facts --------------------------------------------------------------- */

void ncs_fleet_told_release(struct ncs_fleet_told *rank)
{
	ncs_rank_operations_free(rank->operations);
	*rank = (struct ncs_fleet_told){ 0 };
}

/* Announces what is known of a rank now. */
static int expect(struct generation *generation, struct ncs_fleet_told *rank,
		  const struct ncs_barrier_rank *facts, size_t *owner)
{
	unsigned place = generation->place;

	if (rank->generations[place] != generation->number) {
		rank->generations[place] = generation->number;
		rank->owners[place] = generation->owners++;
	}
	*owner = rank->owners[place];
	return ncs_barriers_expect(generation->barriers, *owner, facts);
}

static int ignore_child(void *context, const struct ncs_child *child)
{
	(void)context;
	(void)child;
	return 0;
}

static int take_all(struct ncs_fleet_alignment *self,
		    struct ncs_fleet_told *rank,
		    const struct ncs_barrier_rank *facts,
		    const struct ncs_record *records, size_t count)
{
	const struct ncs_child_visitor visitor = { ignore_child, NULL };
	struct generation *generations[] = { &self->used, &self->next };
	size_t owners[2] = { 0 };
	int error = 0;

	for (unsigned k = 0; k < 2 && !error; k++)
		if (generations[k]->number != 0 &&
		    facts->host < generations[k]->hosts)
			error = expect(generations[k], rank, facts, &owners[k]);
	for (size_t i = 0; i < count && !error; i++) {
		const struct ncs_known_operation *known;

		if (!ncs_record_is_operation(&records[i]))
			continue;
		error = ncs_rank_operations_take(rank->operations, &records[i],
						 &visitor, &known);
		for (unsigned k = 0; k < 2 && !error; k++)
			if (generations[k]->number != 0 &&
			    facts->host < generations[k]->hosts)
				error = ncs_barriers_take(
					generations[k]->barriers, owners[k],
					&records[i], known);
	}
	return error;
}

int ncs_fleet_alignment_take(struct ncs_fleet_alignment *self, size_t host,
			     struct ncs_fleet_told *rank,
			     const struct ncs_snapshot *snapshot,
			     const struct ncs_clock *clock,
			     const struct ncs_record *records, size_t count,
			     uint64_t lost)
{
	struct ncs_barrier_rank facts = { .host = host, .clock = *clock };
	int error;

	if (count == 0)
		return 0;
	error = make_room(self, host);
	if (error)
		return error;
	if (!rank->operations) {
		/* Children are not taken. */
		rank->operations = ncs_rank_operations_new(1);
		if (!rank->operations)
			return -ENOMEM;
	}
	if (lost > 0)
		ncs_rank_operations_lose(rank->operations);
	self->with_records += !self->has_records[host];
	self->has_records[host] = true;
	ncs_barrier_rank_learn(&facts, snapshot);
	return take_all(self, rank, &facts, records, count);
}

static int read_into(struct generation *generation, size_t host,
		     uint64_t before_ns, const struct ncs_clock_reading *reading)
{
	if (generation->number == 0 || host >= generation->hosts)
		return 0;
	return ncs_alignment_add_realtime(
		generation->alignment, host, before_ns, reading->realtime_ns,
		before_ns + (reading->after_ns - reading->before_ns),
		reading->synchronized ? reading->maximum_error_ns : UINT64_MAX);
}

int ncs_fleet_alignment_read(struct ncs_fleet_alignment *self, size_t host,
			     int64_t base_ns,
			     const struct ncs_clock_reading *reading)
{
	uint64_t before_ns = reading->before_ns + (uint64_t)base_ns;
	int error;

	if (reading->after_ns < reading->before_ns ||
	    host >= self->host_count || (host > 0 && !self->has_records[host]))
		return 0;
	error = read_into(&self->used, host, before_ns, reading);
	return error ? error :
		       read_into(&self->next, host, before_ns, reading);
}

/* --- Solutions ----------------------------------------------------------- */

static bool is_aligned(const struct generation *generation, size_t host)
{
	return host < generation->hosts &&
	       generation->aligned[host].by != NCS_ALIGNED_BY_NOTHING;
}

/* CLOCK_REALTIME tells nothing of a host where it was set. */
static void distrust_set_clocks(struct generation *generation)
{
	struct ncs_aligned *aligned = generation->aligned;

	for (size_t i = 0; i < generation->hosts; i++)
		if (aligned[i].by == NCS_ALIGNED_BY_REALTIME &&
		    aligned[i].realtime_steps +
				    aligned[generation->reference]
					    .realtime_steps >
			    0)
			aligned[i].by = NCS_ALIGNED_BY_NOTHING;
}

static int solve_by(struct generation *generation, size_t reference,
		    uint64_t from_ns, uint64_t now_ns)
{
	struct ncs_alignment_quality quality;
	int error = ncs_alignment_solve(generation->alignment, reference,
					from_ns, now_ns + AFTER_NS,
					generation->aligned, &quality);

	generation->reference = reference;
	generation->aligned_count = 0;
	generation->error_ns = 0;
	if (error)
		return error;
	distrust_set_clocks(generation);
	for (size_t i = 0; i < generation->hosts; i++) {
		if (!is_aligned(generation, i) || i == reference)
			continue;
		generation->aligned_count++;
		generation->error_ns += generation->aligned[i].error_ns / 2;
	}
	return 0;
}

/* Returns the host that has most facts and is not aligned; SIZE_MAX if all are
 * that have any. */
static size_t left_out(const struct generation *generation)
{
	size_t most = SIZE_MAX;

	for (size_t i = 0; i < generation->hosts; i++)
		if (!is_aligned(generation, i) &&
		    generation->aligned[i].facts > 0 &&
		    (most == SIZE_MAX || generation->aligned[i].facts >
						 generation->aligned[most].facts))
			most = i;
	return most;
}

/* Solves with the reference that most hosts can be aligned to. It changes only
 * if more can, or if this machine's clock can be it. */
static int solve(struct generation *generation, uint64_t from_ns,
		 uint64_t now_ns)
{
	size_t before = generation->reference, other, count;
	int error = solve_by(generation, before, from_ns, now_ns);

	if (!error && before != 0 && is_aligned(generation, 0))
		error = solve_by(generation, before = 0, from_ns, now_ns);
	other = left_out(generation);
	if (error || other == SIZE_MAX)
		return error;
	count = generation->aligned_count;
	error = solve_by(generation, other, from_ns, now_ns);
	if (!error && generation->aligned_count <= count)
		error = solve_by(generation, before, from_ns, now_ns);
	return error;
}

/* Returns whether the younger generation knows as much as the older one. */
static bool is_ready(const struct ncs_fleet_alignment *self)
{
	const struct generation *used = &self->used, *next = &self->next;
	uint64_t age_ns = self->now_ns - next->begun_ns;

	for (size_t i = 0; i < used->hosts; i++)
		if (is_aligned(used, i) && !is_aligned(next, i))
			return false;
	if (next->aligned_count > used->aligned_count)
		return true;
	return age_ns >= GENERATION_LONG_NS ||
	       (age_ns >= GENERATION_NS && next->error_ns <= used->error_ns);
}

static int solve_next(struct ncs_fleet_alignment *self)
{
	int error = 0;

	if (self->next.number == 0) {
		if (self->now_ns - self->used.begun_ns >= GENERATION_NS)
			error = begin_generation(self, &self->next,
						 self->host_count);
		if (self->next.number != 0)
			self->next.reference = self->used.reference;
		return error;
	}
	error = solve(&self->next, self->from_ns, self->now_ns);
	if (error || !is_ready(self))
		return error;
	end_generation(&self->used);
	self->used = self->next;
	self->next = (struct generation){ 0 };
	return 0;
}

int ncs_fleet_alignment_solve(struct ncs_fleet_alignment *self, uint64_t now_ns,
			      struct ncs_fleet_aligned *aligned)
{
	int error;

	*aligned = (struct ncs_fleet_aligned){ 0 };
	if (self->now_ns == 0 || self->now_ns > now_ns)
		self->now_ns = now_ns;
	self->from_ns = self->now_ns > BEFORE_NS ? self->now_ns - BEFORE_NS : 0;
	self->now_ns = now_ns;
	if (self->used.number == 0 || self->with_records < 2)
		return 0;
	if (self->used.begun_ns == 0)
		self->used.begun_ns = now_ns;
	error = solve(&self->used, self->from_ns, now_ns);
	if (!error)
		error = solve_next(self);
	if (error)
		return error;
	aligned->reference = self->used.reference;
	aligned->hosts = self->used.aligned;
	aligned->count = self->used.hosts;
	aligned->from_ns = self->from_ns;
	aligned->until_ns = now_ns + AFTER_NS;
	return 0;
}
