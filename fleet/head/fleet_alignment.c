/* SPDX-License-Identifier: MIT */
/* Aligns hosts by their records as they come; see fleet_alignment.h. */
#include "fleet/head/fleet_alignment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/clocks/traffic.h"
#include "ncclstat/abi_clock.h"
#include "shm/array.h"

#define SECOND_NS UINT64_C(1000000000)

/* A generation may take the place of the one before after this time, and does
 * so after the longer one even if its errors are larger. */
#define GENERATION_NS (60 * SECOND_NS)
#define GENERATION_LONG_NS (300 * SECOND_NS)

/* Solutions are for this time before the one before, and after the present. */
#define BEFORE_NS (5 * SECOND_NS)
#define AFTER_NS (1 * SECOND_NS)

/* Collectives that are kept until all their ranks have reported, which takes until
 * the next look of each: of all hosts together, and at most. */
#define KEPT ((size_t)1 << 20)
#define KEPT_MAX ((size_t)1 << 14)

/* Steps that wait until their other end is told; and those taken between two
 * solutions, above which fewer operations are chosen, and below which more. */
#define STEPS_KEPT ((size_t)1 << 16)
#define STEPS_MANY 32768u
#define STEPS_FEW 8192u

/* Children of a rank that wait for their operation. */
#define CHILDREN 4096u

struct generation {
	unsigned place; /* of the two, in struct ncs_fleet_reported */
	uint64_t number;
	uint64_t begun_ns;
	size_t hosts;
	struct ncs_traffic traffic;
	/* Its latest solution. */
	size_t reference;
	struct ncs_aligned *aligned; /* by host */
	size_t aligned_count; /* hosts that are aligned to the reference */
	uint64_t error_ns;    /* sum of their errors */
};

struct ncs_fleet_alignment {
	struct generation *used, *next; /* NULL: there is none */
	uint64_t numbers;
	/* Steps are taken of operations with a number that this divides: of the
	 * same ones on all hosts. */
	uint64_t stride;
	uint64_t steps; /* taken since the latest solution */
	/* Sequence numbers came again at a rank: facts from those that others
	 * told for the first time may be wrong. */
	bool is_spoiled;
	bool *has_records;   /* by host */
	size_t host_count;   /* for which the younger generation has room */
	size_t with_records; /* number of hosts that have */
	uint64_t now_ns;     /* of the latest solution */
	uint64_t from_ns;    /* and since when it holds */
};

/* --- Generations --------------------------------------------------------- */

static void end_generation(struct generation *generation)
{
	if (!generation)
		return;
	ncs_traffic_release(&generation->traffic);
	free(generation->aligned);
	free(generation);
}

static struct generation *new_generation(struct ncs_fleet_alignment *self,
					 unsigned place)
{
	struct generation *generation = calloc(1, sizeof(*generation));
	size_t hosts = self->host_count, kept = KEPT / hosts;

	if (!generation)
		return NULL;
	generation->place = place;
	generation->number = ++self->numbers;
	generation->begun_ns = self->now_ns;
	generation->hosts = hosts;
	generation->aligned = calloc(hosts, sizeof(*generation->aligned));
	if (ncs_traffic_init(&generation->traffic, hosts,
			     kept < KEPT_MAX ? kept : KEPT_MAX,
			     STEPS_KEPT) == 0 &&
	    generation->aligned)
		return generation;
	end_generation(generation);
	return NULL;
}

/* Begins the younger generation anew, or the first one. */
static int begin_generation(struct ncs_fleet_alignment *self)
{
	struct generation **generation = self->used ? &self->next : &self->used;

	end_generation(*generation);
	*generation = new_generation(self, self->used ? !self->used->place : 0);
	return *generation ? 0 : -ENOMEM;
}

/* Sees to it that the younger generation has room for a host. */
static int make_room(struct ncs_fleet_alignment *self, size_t host)
{
	if (host < self->host_count)
		return self->used ? 0 : begin_generation(self);
	if (ncs_array_reserve_zeroed(&self->has_records, &self->host_count,
				     host + 1, sizeof(*self->has_records)) != 0)
		return -ENOMEM;
	return begin_generation(self);
}

struct ncs_fleet_alignment *ncs_fleet_alignment_new(void)
{
	struct ncs_fleet_alignment *self = calloc(1, sizeof(*self));

	if (self)
		self->stride = 1;
	return self;
}

void ncs_fleet_alignment_forget(struct ncs_fleet_alignment *self)
{
	end_generation(self->used);
	end_generation(self->next);
	free(self->has_records);
	self->used = self->next = NULL;
	self->has_records = NULL;
	self->host_count = self->with_records = 0;
	self->is_spoiled = false;
}

void ncs_fleet_alignment_free(struct ncs_fleet_alignment *self)
{
	if (self)
		ncs_fleet_alignment_forget(self);
	free(self);
}

/* --- Facts --------------------------------------------------------------- */

void ncs_fleet_reported_release(struct ncs_fleet_reported *rank)
{
	ncs_rank_operations_free(rank->operations);
	*rank = (struct ncs_fleet_reported){ 0 };
}

/* Announces to a generation what is known of a rank now, whose records are being
 * taken. */
static int expect(struct generation *generation,
		  struct ncs_fleet_reported *reported,
		  const struct ncs_traffic_facts *facts,
		  struct ncs_traffic_rank *rank)
{
	unsigned place = generation->place;
	bool is_new = reported->generations[place] != generation->number;
	size_t owner = is_new ? generation->traffic.owner_count :
				reported->owners[place];
	int error = ncs_traffic_expect(&generation->traffic, owner, facts);

	if (error)
		return error;
	reported->generations[place] = generation->number;
	reported->owners[place] = owner;
	rank->traffics[rank->count] = &generation->traffic;
	rank->owners[rank->count++] = owner;
	return 0;
}

static bool is_wanted(void *context, const struct ncs_child *step)
{
	struct ncs_fleet_alignment *self = context;

	/* Replays of one number cannot be told apart where some were missed. */
	if (!step->operation || step->operation->repeat > 0 ||
	    step->operation->number % self->stride != 0)
		return false;
	self->steps++;
	return true;
}

static int begin_rank(struct ncs_fleet_reported *rank)
{
	if (rank->operations)
		return 0;
	rank->operations = ncs_rank_operations_new(CHILDREN);
	if (!rank->operations)
		return -ENOMEM;
	/* Records from before the agent's begin are missing. */
	ncs_rank_operations_lose(rank->operations);
	return 0;
}

int ncs_fleet_alignment_take(struct ncs_fleet_alignment *self, size_t host,
			     struct ncs_fleet_reported *reported,
			     const struct ncs_snapshot *snapshot,
			     const struct ncs_clock *clock,
			     const struct ncs_record *records, size_t count)
{
	struct ncs_traffic_facts facts = { .host = host, .clock = *clock };
	struct ncs_traffic_rank rank = { .is_wanted = is_wanted,
					 .context = self };
	const struct ncs_known_operation *known;
	int error;

	if (count == 0)
		return 0;
	error = make_room(self, host);
	if (!error)
		error = begin_rank(reported);
	if (error)
		return error;
	rank.operations = reported->operations;
	self->with_records += !self->has_records[host];
	self->has_records[host] = true;
	ncs_traffic_learn(&facts, snapshot);
	if (host < self->used->hosts)
		error = expect(self->used, reported, &facts, &rank);
	if (!error && self->next)
		error = expect(self->next, reported, &facts, &rank);
	for (size_t i = 0; i < count && !error; i++) {
		error = ncs_traffic_take(&rank, &records[i], &known);
		if (known && known->repeat > 0 && !reported->has_repeats)
			reported->has_repeats = self->is_spoiled = true;
	}
	return error;
}

static int read_into(const struct generation *generation, size_t host,
		     uint64_t before_ns,
		     const struct ncs_clock_reading *reading)
{
	if (!generation || host >= generation->hosts)
		return 0;
	return ncs_alignment_add_realtime(
		generation->traffic.alignment, host, before_ns,
		reading->realtime_ns,
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
	error = read_into(self->used, host, before_ns, reading);
	return error ? error : read_into(self->next, host, before_ns, reading);
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
		    aligned[i].realtime_steps + aligned[generation->reference]
							.realtime_steps >
			    0)
			aligned[i].by = NCS_ALIGNED_BY_NOTHING;
}

static int solve_by(struct generation *generation, size_t reference,
		    uint64_t from_ns, uint64_t now_ns)
{
	struct ncs_alignment_quality quality;
	int error = ncs_alignment_solve(generation->traffic.alignment,
					reference, from_ns, now_ns + AFTER_NS,
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
		    (most == SIZE_MAX ||
		     generation->aligned[i].facts >
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
	int error = ncs_traffic_note(&generation->traffic);

	if (!error)
		error = solve_by(generation, before, from_ns, now_ns);
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
	const struct generation *used = self->used, *next = self->next;
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
	int error;

	if (!self->next) {
		if (self->now_ns - self->used->begun_ns < GENERATION_NS)
			return 0;
		error = begin_generation(self);
		if (!error)
			self->next->reference = self->used->reference;
		return error;
	}
	error = solve(self->next, self->from_ns, self->now_ns);
	if (error || !is_ready(self))
		return error;
	end_generation(self->used);
	self->used = self->next;
	self->next = NULL;
	return 0;
}

static void set_stride(struct ncs_fleet_alignment *self)
{
	if (self->steps > STEPS_MANY && self->stride < 1024)
		self->stride *= 2;
	else if (self->steps < STEPS_FEW && self->stride > 1)
		self->stride /= 2;
	self->steps = 0;
}

int ncs_fleet_alignment_solve(struct ncs_fleet_alignment *self, uint64_t now_ns,
			      struct ncs_fleet_aligned *aligned)
{
	int error;

	*aligned = (struct ncs_fleet_aligned){ 0 };
	if (self->is_spoiled)
		ncs_fleet_alignment_forget(self);
	if (self->now_ns == 0 || self->now_ns > now_ns)
		self->now_ns = now_ns;
	self->from_ns = self->now_ns > BEFORE_NS ? self->now_ns - BEFORE_NS : 0;
	self->now_ns = now_ns;
	set_stride(self);
	if (!self->used || self->with_records < 2)
		return 0;
	if (self->used->begun_ns == 0)
		self->used->begun_ns = now_ns;
	error = solve(self->used, self->from_ns, now_ns);
	if (!error)
		error = solve_next(self);
	if (error)
		return error;
	aligned->reference = self->used->reference;
	aligned->hosts = self->used->aligned;
	aligned->count = self->used->hosts;
	aligned->from_ns = self->from_ns;
	aligned->until_ns = now_ns + AFTER_NS;
	return 0;
}
