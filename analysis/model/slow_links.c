/* SPDX-License-Identifier: MIT */
/* Links against their past; see slow_links.h. Must not guess: where a time is not
 * known at both ends of a link, the operation does not count for it.
 */
#include "analysis/model/slow_links.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/selection.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/records/joined.h"
#include "analysis/records/part_links.h"
#include "ncclstat/size_class.h"
#include "shm/array.h"
#include "shm/hash.h"

/* Number of usual operations that are kept, and that tell what is usual; their
 * medians are taken anew after so many. */
#define USUAL 32u
#define USUAL_LEAST 8u
#define ANEW 8u

/* Times are slow if they are so many times as long as usual. */
#define SLOWER 3.0

/* An operation is slow because of a link if by so much of what it took longer its
 * messages were longer on the way. */
#define EXPLAINED 0.5

/* A slow operation counts as one of now for so long. */
#define CURRENT_NS NCS_COST_WINDOW_NS

/* More links and kinds of a communicator are not looked at. */
#define KINDS_MAX 65536u

/* One operation on a link. */
struct sample {
	uint64_t begin_ns, end_ns; /* of its moving part */
	uint64_t error_ns;
	double message_ns; /* mean */
	double moving_ns;
	double sending_ns; /* mean time of a step at the sender */
	double in_row;     /* steps of a channel */
	double bytes;
};

/* A link, and one kind of operations on it. */
struct ncs_link_kind {
	struct ncs_hash_link link;
	int32_t from, to;
	uint8_t function, size_class;
	/* Usual operations, in rotation, and their medians. */
	float message_ns[USUAL], moving_ns[USUAL], bytes[USUAL];
	uint64_t count;
	double usual_message_ns, usual_moving_ns, usual_bytes;
	/* The slow operations in a row. */
	uint64_t run, since_ns, until_ns;
	double run_message_ns, run_moving_ns, run_sending_ns; /* sums */
};

void ncs_links_release(struct ncs_link_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		free(kinds->kinds[i]);
	free(kinds->kinds);
	ncs_hash_table_release(&kinds->by_key);
	*kinds = (struct ncs_link_kinds){ 0 };
}

/* --- Taking note ---------------------------------------------------------- */

static uint64_t hash_of(const struct ncs_link_kind *key)
{
	uint64_t ends = (uint64_t)(uint32_t)key->from << 32 | (uint32_t)key->to;

	return ncs_hash_add(ncs_hash(ends), key->function * UINT64_C(256) +
						    key->size_class);
}

static struct ncs_link_kind *find_kind(const struct ncs_link_kinds *kinds,
				       const struct ncs_link_kind *key)
{
	for (struct ncs_hash_link *link =
		     ncs_hash_table_first(&kinds->by_key, hash_of(key));
	     link; link = ncs_hash_table_next(link)) {
		struct ncs_link_kind *kind =
			NCS_HASH_ITEM(link, struct ncs_link_kind, link);

		if (kind->from == key->from && kind->to == key->to &&
		    kind->function == key->function &&
		    kind->size_class == key->size_class)
			return kind;
	}
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
	double copy[USUAL];

	for (size_t i = 0; i < count; i++)
		copy[i] = (double)values[i];
	return ncs_select(copy, count, count / 2);
}

static void add_usual(struct ncs_link_kind *kind, const struct sample *sample)
{
	size_t place = kind->count++ % USUAL, count;

	kind->message_ns[place] = (float)sample->message_ns;
	kind->moving_ns[place] = (float)sample->moving_ns;
	kind->bytes[place] = (float)sample->bytes;
	if (kind->count % ANEW != 0)
		return;
	count = kind->count < USUAL ? (size_t)kind->count : USUAL;
	kind->usual_message_ns = median(kind->message_ns, count);
	kind->usual_moving_ns = median(kind->moving_ns, count);
	kind->usual_bytes = median(kind->bytes, count);
}

/* Returns whether an operation was slow because of the link. */
static bool is_slow(const struct ncs_link_kind *kind,
		    const struct sample *sample)
{
	double more = sample->message_ns - kind->usual_message_ns;
	double scale = sample->bytes > kind->usual_bytes &&
				       kind->usual_bytes > 0 ?
			       sample->bytes / kind->usual_bytes :
			       1;

	return kind->count >= USUAL_LEAST && kind->usual_message_ns > 0 &&
	       sample->moving_ns > SLOWER * scale * kind->usual_moving_ns &&
	       sample->message_ns > SLOWER * scale * kind->usual_message_ns &&
	       more > 2 * (double)sample->error_ns &&
	       more * sample->in_row >
		       EXPLAINED * (sample->moving_ns - kind->usual_moving_ns);
}

/* Adds an operation to the slow ones in a row, or ends them. Returns whether it
 * was slow. */
static bool add_sample(struct ncs_link_kind *kind, const struct sample *sample)
{
	if (!is_slow(kind, sample)) {
		kind->run = 0;
		add_usual(kind, sample);
		return false;
	}
	if (kind->run++ == 0) {
		kind->since_ns = sample->begin_ns;
		kind->run_message_ns = kind->run_moving_ns =
			kind->run_sending_ns = 0;
	}
	kind->until_ns = sample->end_ns;
	kind->run_message_ns += sample->message_ns;
	kind->run_moving_ns += sample->moving_ns;
	kind->run_sending_ns += sample->sending_ns;
	return true;
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
	sample->sending_ns = (double)link->wait_ns;
	sample->in_row = (double)link->steps / link->channels;
	sample->error_ns =
		part->clock != peer->clock ?
			(uint64_t)part->clock_error_ns + peer->clock_error_ns :
			0;
	sample->bytes = (double)part->bytes;
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
		    (joined->function == NCS_FUNCTION_SEND_RECV &&
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

int ncs_links_note(struct ncs_link_kinds *kinds, struct ncs_excesses *excesses,
		   const struct ncs_joined *joined)
{
	struct sample sample;
	double most_ns = 0;

	if (!find_moving(joined, &sample))
		return 0;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];

		for (uint32_t k = 0; k < part->link_count; k++) {
			struct ncs_link_kind *kind, key = {
				.from = part->rank,
				.to = part->links[k].peer,
				.function = joined->function,
				.size_class =
					(uint8_t)ncs_size_class(part->bytes),
			};

			if (!part->links[k].send ||
			    !measure(joined, part, &part->links[k], &sample))
				continue;
			if (kind_of(kinds, &key, &kind) != 0)
				return -ENOMEM;
			if (kind && add_sample(kind, &sample) &&
			    sample.moving_ns - kind->usual_moving_ns > most_ns)
				most_ns = sample.moving_ns -
					  kind->usual_moving_ns;
		}
	}
	if (most_ns > 0)
		excesses->latest[excesses->count++ % NCS_EXCESSES] =
			(struct ncs_excess){ sample.end_ns - (uint64_t)most_ns,
					     sample.end_ns };
	return 0;
}

/* --- Links that are slow now ---------------------------------------------- */

static bool is_slow_now(const struct ncs_link_kind *kind, uint64_t now_ns)
{
	return kind->run >= NCS_SLOW_OPERATIONS &&
	       kind->until_ns >= kind->since_ns + NCS_SLOW_NS &&
	       kind->until_ns + CURRENT_NS > now_ns;
}

static int compare_excesses(const void *left, const void *right)
{
	const struct ncs_excess *a = left, *b = right;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Returns the share of the time since `since_ns` that is in any excess. */
static double share_of(const struct ncs_excesses *excesses, uint64_t since_ns)
{
	struct ncs_excess *sorted = malloc(sizeof(excesses->latest));
	size_t kept = excesses->count < NCS_EXCESSES ? (size_t)excesses->count :
						       NCS_EXCESSES;
	uint64_t covered_ns = since_ns, sum_ns = 0;
	size_t count = 0;

	if (!sorted)
		return 0;
	for (size_t i = 0; i < kept; i++)
		if (excesses->latest[i].end_ns > since_ns)
			sorted[count++] = excesses->latest[i];
	qsort(sorted, count, sizeof(*sorted), compare_excesses);
	if (kept < excesses->count && count > 0 &&
	    sorted[0].begin_ns > since_ns)
		since_ns = covered_ns = sorted[0].begin_ns;
	for (size_t i = 0; i < count; i++) {
		uint64_t begin_ns = sorted[i].begin_ns > covered_ns ?
					    sorted[i].begin_ns :
					    covered_ns;

		sum_ns += ncs_time_since(begin_ns, sorted[i].end_ns);
		if (sorted[i].end_ns > covered_ns)
			covered_ns = sorted[i].end_ns;
	}
	free(sorted);
	return covered_ns > since_ns ?
		       (double)sum_ns / (double)(covered_ns - since_ns) :
		       0;
}

/* Returns how long a slow link's messages are, at both of its ends: where those
 * of several are late to come, it is the one at which they are late to go. */
static double weight_of(const struct ncs_link_kind *kind)
{
	return (kind->run_message_ns + kind->run_sending_ns) /
	       (double)kind->run;
}

bool ncs_communicator_slow_link(const struct ncs_model *model,
				const struct ncs_communicator *communicator,
				struct ncs_slow_link *found)
{
	const struct ncs_skew_state *state = communicator->skew;
	const struct ncs_link_kind *worst = NULL;

	for (size_t i = 0; state && i < state->links.count; i++) {
		const struct ncs_link_kind *kind = state->links.kinds[i];

		if (is_slow_now(kind, model->now_ns) &&
		    (!worst || weight_of(kind) > weight_of(worst)))
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
		.message_ns = worst->run_message_ns / (double)worst->run,
		.usual_message_ns = worst->usual_message_ns,
		.moving_ns = worst->run_moving_ns / (double)worst->run,
		.usual_moving_ns = worst->usual_moving_ns,
		.share = share_of(&model->skews->excesses, worst->since_ns),
	};
	return true;
}
