/* SPDX-License-Identifier: MIT */
/* Links against their past; see slow_links.h. Must not guess: where a time is not
 * known at both ends of a link, the operation does not count for it. Must not
 * count what two operations of a job took longer at once twice, nor what those of
 * another job did.
 */
#include "analysis/model/slow_links.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/base/percentile.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/model/waits.h"
#include "analysis/records/joined.h"
#include "analysis/records/parts.h"
#include "ncclstat/size_class.h"
#include "shm/array.h"
#include "shm/hash.h"

/* A slow operation counts as one of now for so long. */
#define CURRENT_NS NCS_COST_WINDOW_NS

/* More links and kinds of a communicator are not looked at. */
#define KINDS_MAX 65536u

/* Excesses of a communicator that are kept. */
#define EXCESSES 1024u

/* One operation on a link. */
struct sample {
	uint64_t begin_ns, end_ns; /* of its moving part */
	uint64_t error_ns;
	double message_ns; /* mean; 0 if not known */
	double moving_ns;
	double receiving_ns; /* until the end at the receiver */
	double in_row;       /* steps of a channel */
	double bytes;
};

/* The usual times of a kind of operations. */
struct usual {
	enum ncs_link_past past;
	uint64_t first_ns; /* when the first record of them began; 0: none */
	double message_ns; /* 0 if not known */
	double moving_ns, bytes;
};

/* A link, and one kind of operations on it; or these operations whether or not
 * links were measured, of which `from` and `to` are -1 unless they are transfers:
 * records of steps are overwritten long before those of operations. */
struct ncs_link_kind {
	struct ncs_hash_link link;
	int32_t from, to;
	uint8_t function, size_class;
	bool is_whole;
	/* The median of the receiver's times and their mean size, by its counters
	 * when the kind was new; 0 if they do not tell. */
	double life_ns, life_bytes;
	/* These times do not begin before its GPU has come to the operation. */
	bool life_is_exact;
	/* Usual operations, in rotation, and their medians. */
	float message_ns[NCS_USUAL], moving_ns[NCS_USUAL], bytes[NCS_USUAL];
	uint64_t count, first_ns; /* when the first one began */
	double usual_message_ns, usual_moving_ns, usual_bytes;
	/* The slow operations in a row. */
	uint64_t run, since_ns, until_ns;
	double run_message_ns, run_moving_ns; /* sums */
	struct usual run_usual; /* that the latest one was compared with */
};

void ncs_links_release(struct ncs_link_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		free(kinds->kinds[i]);
	free(kinds->kinds);
	free(kinds->excesses);
	ncs_hash_table_release(&kinds->by_key);
	*kinds = (struct ncs_link_kinds){ 0 };
}

/* --- Excesses ------------------------------------------------------------- */

struct ncs_excess {
	uint64_t begin_ns, end_ns;
};

/* Adds an operation that ended at `end_ns` after `more_ns` more than usual. Returns 0
 * or -ENOMEM. */
static int add_excess(struct ncs_link_kinds *kinds, double more_ns,
		      uint64_t end_ns)
{
	if (!kinds->excesses)
		kinds->excesses = calloc(EXCESSES, sizeof(*kinds->excesses));
	if (!kinds->excesses)
		return -ENOMEM;
	kinds->excesses[kinds->excess_count++ % EXCESSES] =
		(struct ncs_excess){ end_ns - (uint64_t)more_ns, end_ns };
	return 0;
}

static int compare_gpus(const void *left, const void *right)
{
	return ncs_compare_gpus(*(struct ncs_rank *const *)left,
				*(struct ncs_rank *const *)right);
}

static size_t place_of(const struct ncs_model *model,
		       const struct ncs_rank *rank)
{
	return (size_t)(rank->communicator - model->communicators);
}

/* Sets job[i], for each communicator i of a model, to a number that is the same for
 * all of one job: that of one of its communicators. They are of one job, whatever labels
 * say, if they have processes in common, or each has some in common with another one of
 * it; ranks on one machine alone are not. Returns 0 or -ENOMEM. */
static int connect_communicators(const struct ncs_model *model, size_t *job)
{
	size_t count = 0;
	struct ncs_rank **ranks =
		malloc((model->rank_count + 1) * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < model->communicator_count; i++)
		job[i] = i;
	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->communicator)
			ranks[count++] = model->ranks[i];
	qsort(ranks, count, sizeof(*ranks), compare_gpus);
	for (size_t i = 1; i < count; i++)
		if (ncs_shares_process(ranks[i - 1], ranks[i]))
			job[ncs_job_of_one(job, place_of(model, ranks[i]))] =
				ncs_job_of_one(job,
					       place_of(model, ranks[i - 1]));
	for (size_t i = 0; i < model->communicator_count; i++)
		job[i] = ncs_job_of_one(job, i);
	free(ranks);
	return 0;
}

int ncs_links_find_jobs(struct ncs_model *model)
{
	bool is_wanted = false;
	size_t *job;
	int error;

	for (size_t i = 0; model->skews && i < model->skews->count; i++)
		is_wanted |= model->skews->states[i]->links.excess_count > 0;
	if (!is_wanted)
		return 0;
	job = malloc((model->communicator_count + 1) * sizeof(*job));
	error = job ? connect_communicators(model, job) : -ENOMEM;
	for (size_t i = 0; !error && i < model->communicator_count; i++) {
		struct ncs_skew_state *state = model->communicators[i].skew;

		if (state)
			state->links.job = job[i];
	}
	free(job);
	return error;
}

static int compare_excesses(const void *left, const void *right)
{
	const struct ncs_excess *a = left, *b = right;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* The excesses of all communicators of a job since a time. */
struct job_excesses {
	struct ncs_excess *all;
	size_t count, capacity;
	uint64_t since_ns; /* earlier ones are not kept of all */
};

/* Adds those of a communicator. Returns 0 or -ENOMEM. */
static int add_excesses(struct job_excesses *job,
			const struct ncs_link_kinds *kinds, uint64_t since_ns)
{
	size_t kept = kinds->excess_count < EXCESSES ?
			      (size_t)kinds->excess_count :
			      EXCESSES;
	uint64_t first_ns = UINT64_MAX;

	if (ncs_array_reserve(&job->all, &job->capacity, job->count + kept,
			      sizeof(*job->all)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++) {
		if (kinds->excesses[i].end_ns <= since_ns)
			continue;
		job->all[job->count++] = kinds->excesses[i];
		if (kinds->excesses[i].begin_ns < first_ns)
			first_ns = kinds->excesses[i].begin_ns;
	}
	if (kept < kinds->excess_count && first_ns < UINT64_MAX &&
	    first_ns > job->since_ns)
		job->since_ns = first_ns;
	return 0;
}

/* Returns the share of the time since they are kept that is in any of them. */
static double share_of(struct job_excesses *job)
{
	uint64_t covered_ns = job->since_ns, sum_ns = 0;

	if (job->count > 1)
		qsort(job->all, job->count, sizeof(*job->all),
		      compare_excesses);
	for (size_t i = 0; i < job->count; i++) {
		uint64_t begin_ns = job->all[i].begin_ns > covered_ns ?
					    job->all[i].begin_ns :
					    covered_ns;

		sum_ns += ncs_time_since(begin_ns, job->all[i].end_ns);
		if (job->all[i].end_ns > covered_ns)
			covered_ns = job->all[i].end_ns;
	}
	return covered_ns > job->since_ns ?
		       (double)sum_ns / (double)(covered_ns - job->since_ns) :
		       0;
}

/* Returns the share of the time since `since_ns` that is in any excess of the
 * communicators of a job; 0 if there is no memory. */
static double excess_share(const struct ncs_model *model, size_t number,
			   uint64_t since_ns)
{
	struct job_excesses job = { .since_ns = since_ns };
	double share = 0;
	int error = 0;

	for (size_t i = 0; i < model->skews->count && !error; i++) {
		const struct ncs_link_kinds *kinds =
			&model->skews->states[i]->links;

		if (kinds->job == number)
			error = add_excesses(&job, kinds, since_ns);
	}
	if (!error)
		share = share_of(&job);
	free(job.all);
	return share;
}

/* --- Taking note ---------------------------------------------------------- */

static uint64_t hash_of(const struct ncs_link_kind *key)
{
	uint64_t ends = (uint64_t)(uint32_t)key->from << 32 | (uint32_t)key->to;

	return ncs_hash_add(ncs_hash(ends), key->is_whole * UINT64_C(65536) +
						    key->function *
							    UINT64_C(256) +
						    key->size_class);
}

static struct ncs_link_kind *find_kind(const struct ncs_link_kinds *kinds,
				       const struct ncs_link_kind *key)
{
	struct ncs_link_kind *kind =
		ncs_hash_table_first(&kinds->by_key, hash_of(key));

	for (; kind; kind = ncs_hash_table_next(kind))
		if (kind->from == key->from && kind->to == key->to &&
		    kind->function == key->function &&
		    kind->size_class == key->size_class &&
		    kind->is_whole == key->is_whole)
			return kind;
	return NULL;
}

/* Sets *kind to that of a key; NULL if there are too many. Returns 0 or
 * -ENOMEM. */
static int kind_of(struct ncs_link_kinds *kinds,
		   const struct ncs_link_kind *key, struct ncs_link_kind **kind)
{
	*kind = find_kind(kinds, key);
	if (*kind || kinds->count == KINDS_MAX)
		return 0;
	if (ncs_array_reserve(&kinds->kinds, &kinds->capacity,
			      kinds->count + 1, sizeof(*kinds->kinds)) != 0)
		return -ENOMEM;
	*kind = malloc(sizeof(**kind));
	if (!*kind)
		return -ENOMEM;
	**kind = *key;
	if (ncs_hash_table_insert(&kinds->by_key, &(*kind)->link,
				  hash_of(key)) != 0) {
		free(*kind);
		return -ENOMEM;
	}
	kinds->kinds[kinds->count++] = *kind;
	return 0;
}

static double median(const float *values, size_t count)
{
	double copy[NCS_USUAL];

	for (size_t i = 0; i < count; i++)
		copy[i] = (double)values[i];
	return ncs_select(copy, count, count / 2);
}

static void add_usual(struct ncs_link_kind *kind, const struct sample *sample)
{
	size_t place = kind->count++ % NCS_USUAL, count;

	if (kind->count == 1)
		kind->first_ns = sample->begin_ns;
	kind->message_ns[place] = (float)sample->message_ns;
	kind->moving_ns[place] = (float)sample->moving_ns;
	kind->bytes[place] = (float)sample->bytes;
	if (kind->count % NCS_FEW != 0)
		return;
	count = kind->count < NCS_USUAL ? (size_t)kind->count : NCS_USUAL;
	kind->usual_message_ns = median(kind->message_ns, count);
	kind->usual_moving_ns = median(kind->moving_ns, count);
	kind->usual_bytes = median(kind->bytes, count);
}

/* Returns what is usual of a kind: what was measured on the link; else how long
 * these operations moved data; else how long they took the receiver since the
 * job's start. */
static struct usual usual_of(const struct ncs_link_kind *kind,
			     const struct ncs_link_kind *whole)
{
	if (kind->count >= NCS_FEW)
		return (struct usual){ NCS_PAST_LINK, kind->first_ns,
				       kind->usual_message_ns,
				       kind->usual_moving_ns,
				       kind->usual_bytes };
	if (whole && whole->count >= NCS_FEW)
		return (struct usual){ NCS_PAST_OPERATIONS, whole->first_ns, 0,
				       whole->usual_moving_ns,
				       whole->usual_bytes };
	if (kind->life_ns > 0)
		return (struct usual){ NCS_PAST_COUNTERS, 0, 0, kind->life_ns,
				       kind->life_bytes };
	return (struct usual){ NCS_PAST_NONE };
}

/* Returns how long an operation took, as the times that are usual. */
static double time_like(const struct usual *usual, const struct sample *sample)
{
	return usual->past == NCS_PAST_COUNTERS ? sample->receiving_ns :
						  sample->moving_ns;
}

/* Returns whether a time is so much longer than the usual one that an operation is slow:
 * its size may be larger, within its class. */
static bool is_longer(const struct usual *usual, const struct sample *sample,
		      double time_ns, double usual_ns)
{
	double larger = usual->bytes > 0 ? sample->bytes / usual->bytes : 1;

	return time_ns > NCS_SLOWER_LINK * fmax(larger, 1) * usual_ns;
}

/* Returns whether an operation was slow because of the link. Where it is not
 * known how long its messages were on the way before, they were so for no longer
 * than the operations took. */
static bool is_slow(const struct usual *usual, const struct sample *sample)
{
	double time_ns = time_like(usual, sample);
	double messages_ns = sample->message_ns * sample->in_row;
	double usual_ns = usual->message_ns > 0 ?
				  usual->message_ns * sample->in_row :
				  usual->moving_ns;
	double more_ns = messages_ns - usual_ns;

	return usual->past != NCS_PAST_NONE &&
	       is_longer(usual, sample, time_ns, usual->moving_ns) &&
	       is_longer(usual, sample, messages_ns, usual_ns) &&
	       more_ns > 2 * (double)sample->error_ns * sample->in_row &&
	       more_ns > NCS_MOST / 100. * (time_ns - usual->moving_ns);
}

/* Adds an operation to the slow ones in a row, or ends them. Returns by how much
 * it took longer than usual; 0 if it was not slow. */
static double add_sample(struct ncs_link_kinds *kinds,
			 struct ncs_link_kind *kind,
			 const struct ncs_link_kind *whole,
			 const struct sample *sample)
{
	const struct usual usual = usual_of(kind, whole);

	kinds->are_compared |=
		(kind->life_ns > 0 && kind->life_is_exact) ||
		(usual.first_ns > 0 &&
		 usual.first_ns + NCS_COST_WINDOW_NS <= sample->begin_ns);
	if (!is_slow(&usual, sample)) {
		kind->run = 0;
		add_usual(kind, sample);
		return 0;
	}
	if (kind->run++ == 0) {
		kind->since_ns = sample->begin_ns;
		kind->run_message_ns = kind->run_moving_ns = 0;
	}
	kind->until_ns = sample->end_ns;
	kind->run_message_ns += sample->message_ns;
	kind->run_moving_ns += time_like(&usual, sample);
	kind->run_usual = usual;
	return time_like(&usual, sample) - usual.moving_ns;
}

/* Ends the slow operations of a link in a row by one for which the time of its messages
 * is not known, but which did not take long. */
static void end_run(struct ncs_link_kind *kind, const struct sample *sample)
{
	if (!is_longer(&kind->run_usual, sample, sample->moving_ns,
		       kind->run_usual.moving_ns))
		kind->run = 0;
}

/* Returns the part of a rank; NULL if there is none. */
static const struct ncs_part *part_of(const struct ncs_joined *joined,
				      int32_t rank)
{
	if (rank >= 0 && (size_t)rank < joined->count &&
	    joined->parts[rank].rank == rank)
		return &joined->parts[rank];
	for (size_t i = 0; i < joined->count; i++)
		if (joined->parts[i].rank == rank)
			return &joined->parts[i];
	return NULL;
}

/* Measures a link of a part. Returns false if its times are not known. */
static bool measure(const struct ncs_joined *joined,
		    const struct ncs_part *part,
		    const struct ncs_part_link *link, struct sample *sample)
{
	const struct ncs_part *peer = part_of(joined, link->peer);
	const struct ncs_part_link *other =
		peer && peer != part ?
			ncs_part_link_of(peer, part->rank, false) :
			NULL;

	if (!other)
		return false;
	sample->message_ns = ncs_link_message_ns(link, other);
	sample->in_row = (double)link->steps / link->channels;
	sample->error_ns =
		part->clock != peer->clock ?
			(uint64_t)part->clock_error_ns + peer->clock_error_ns :
			0;
	sample->receiving_ns = (double)ncs_time_since(
		sample->begin_ns, joined->end == NCS_MOMENT_STREAM_END ?
					  peer->at_ns[NCS_MOMENT_STREAM_END] :
					  peer->slowest.end_ns);
	return sample->message_ns > 0;
}

/* Finds from when to when an operation moved data, by its steps where its end is
 * not known from streams: with trees, kernels end before the data has come. */
static bool find_moving(const struct ncs_joined *joined, struct sample *sample)
{
	struct ncs_moving_part moving;
	uint64_t end_ns = 0;

	if (joined->end == NCS_MOMENT_STREAM_END) {
		if (!ncs_joined_moving(joined, &moving))
			return false;
		sample->begin_ns = moving.begin_ns;
		end_ns = moving.end_ns;
	} else {
		if (joined->arrival == NCS_MOMENT_OPERATION ||
		    (ncs_joined_is_transfer(joined) &&
		     joined->wait_rule != NCS_WAIT_FOR_ALL))
			return false;
		sample->begin_ns = joined->not_before_ns;
		for (size_t i = 0; i < joined->count; i++)
			if (joined->parts[i].slowest.end_ns > end_ns)
				end_ns = joined->parts[i].slowest.end_ns;
	}
	sample->end_ns = end_ns;
	sample->moving_ns =
		(double)ncs_time_since(sample->begin_ns, sample->end_ns);
	return sample->begin_ns > 0 && sample->moving_ns > 0;
}

/* Notes how long such operations have taken the receiver of a link. Times that
 * begin with the first proxy operation may be much too long: the host may be far
 * ahead of the GPU. Sends and receives are left out: they may have been with
 * others. */
static void learn_life(struct ncs_link_kind *kind,
		       const struct ncs_joined *joined,
		       struct ncs_rank *const *ranks)
{
	const struct ncs_part *part = part_of(joined, kind->to);
	const struct ncs_moving_class class = {
		.size_class = kind->size_class,
		.algorithm = part->algorithm,
		.protocol = part->protocol,
	};

	if (ncs_joined_is_transfer(joined))
		return;
	kind->life_is_exact = joined->end == NCS_MOMENT_STREAM_END;
	kind->life_ns = (double)ncs_rank_class_time_ns(
		ranks[part - joined->parts], joined->function, &class,
		kind->life_is_exact ? NCS_TIMING_STREAM : NCS_TIMING_PROXY,
		NCS_USUAL, &kind->life_bytes);
}

/* Sets *whole to the kind of an operation, whatever its links are. Returns 0 or
 * -ENOMEM. */
static int whole_of(struct ncs_link_kinds *kinds,
		    const struct ncs_joined *joined,
		    struct ncs_link_kind **whole)
{
	const struct ncs_part *part = &joined->parts[0];
	bool is_transfer = ncs_joined_is_transfer(joined);
	bool sends = part->function == NCS_FUNCTION_SEND;
	const struct ncs_link_kind key = {
		.from = !is_transfer ? -1 : sends ? part->rank : part->peer,
		.to = !is_transfer ? -1 : sends ? part->peer : part->rank,
		.function = joined->function,
		.size_class = (uint8_t)ncs_size_class(part->bytes),
		.is_whole = true,
	};

	return kind_of(kinds, &key, whole);
}

/* Adds the links on which a part sends. Sets *most_ns to by how much the
 * operation took longer, if that is more. Returns 0 or -ENOMEM. */
static int note_part(struct ncs_link_kinds *kinds,
		     const struct ncs_link_kind *whole,
		     const struct ncs_joined *joined,
		     const struct ncs_part *part,
		     struct ncs_rank *const *ranks, struct sample *sample,
		     double *most_ns)
{
	sample->bytes = (double)part->bytes;
	for (uint32_t k = 0; k < part->link_count; k++) {
		struct ncs_link_kind *kind, key = {
			.from = part->rank,
			.to = part->links[k].peer,
			.function = joined->function,
			.size_class = (uint8_t)ncs_size_class(part->bytes),
		};
		double more_ns;

		if (!part->links[k].send)
			continue;
		kind = find_kind(kinds, &key);
		if (!measure(joined, part, &part->links[k], sample)) {
			if (kind)
				end_run(kind, sample);
			continue;
		}
		if (!kind)
			learn_life(&key, joined, ranks);
		if (!kind && kind_of(kinds, &key, &kind) != 0)
			return -ENOMEM;
		more_ns = kind ? add_sample(kinds, kind, whole, sample) : 0;
		if (more_ns > *most_ns)
			*most_ns = more_ns;
	}
	return 0;
}

int ncs_links_note(struct ncs_link_kinds *kinds,
		   const struct ncs_joined *joined,
		   struct ncs_rank *const *ranks)
{
	struct sample sample = { 0 };
	struct ncs_link_kind *whole;
	double most_ns = 0;

	if (!find_moving(joined, &sample))
		return 0;
	if (whole_of(kinds, joined, &whole) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < joined->count; i++)
		if (note_part(kinds, whole, joined, &joined->parts[i], ranks,
			      &sample, &most_ns) != 0)
			return -ENOMEM;
	if (most_ns > 0)
		return add_excess(kinds, most_ns, sample.end_ns);
	if (whole)
		add_usual(whole, &sample);
	return 0;
}

/* --- Links that are slow now ---------------------------------------------- */

static bool is_slow_now(const struct ncs_link_kind *kind, uint64_t now_ns)
{
	return !kind->is_whole && kind->run >= NCS_IN_A_ROW &&
	       kind->until_ns >= kind->since_ns + NCS_LONG_WAIT_NS / 2 &&
	       kind->until_ns + CURRENT_NS > now_ns;
}

/* Returns how long a slow link's messages are on the way. */
static double message_ns(const struct ncs_link_kind *kind)
{
	return kind->run_message_ns / (double)kind->run;
}

bool ncs_communicator_slow_link(const struct ncs_model *model,
				const struct ncs_communicator *communicator,
				struct ncs_slow_link *found)
{
	const struct ncs_skew_state *state = communicator->skew;
	const struct ncs_link_kind *worst = NULL;
	const uint64_t job_end_ns = ncs_job_end_ns(model);

	for (size_t i = 0; state && i < state->links.count; i++) {
		const struct ncs_link_kind *kind = state->links.kinds[i];

		if (is_slow_now(kind,
				job_end_ns ? job_end_ns : model->now_ns) &&
		    (!worst || message_ns(kind) > message_ns(worst)))
			worst = kind;
	}
	if (!worst)
		return false;
	*found = (struct ncs_slow_link){
		.from = worst->from,
		.to = worst->to,
		.function = worst->function,
		.operations = worst->run,
		.since_ns = worst->since_ns,
		.message_ns = message_ns(worst),
		.past = worst->run_usual.past,
		.usual_message_ns = worst->run_usual.message_ns,
		.moving_ns = worst->run_moving_ns / (double)worst->run,
		.usual_moving_ns = worst->run_usual.moving_ns,
		.share = excess_share(model, state->links.job, worst->since_ns),
	};
	return true;
}

bool ncs_communicator_links_compared(
	const struct ncs_communicator *communicator)
{
	const struct ncs_skew_state *state = communicator->skew;

	return state && state->links.are_compared;
}
