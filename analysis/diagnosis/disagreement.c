/* SPDX-License-Identifier: MIT */
/* The rules for calls that disagree. Must be certain: calls are compared only if they
 * were made, and their order only if no rank has moved between two updates, since
 * the parts of a moving rank's snapshot are of different times. */
#include "analysis/diagnosis/rules.h"

#include "analysis/base/collective_waits.h"
#include "analysis/model/unlike_calls.h"
#include "analysis/records/latest_records.h"

/* Each rank is compared with the first COMPARED_RANKS ranks, by its
 * COMPARED_OPERATIONS oldest operations. A fault shows in the oldest
 * operations; how many ranks agree with each side is counted afterwards. */
#define COMPARED_OPERATIONS 8u
#define COMPARED_RANKS 4u

static bool is_stalled(const struct ncs_diagnosis *diagnosis,
		       const struct ncs_rank *rank)
{
	return rank->now.liveness != NCS_FINISHED &&
	       ncs_wait_node_of(&diagnosis->graph, rank)->stalled;
}

/* Returns a function in which `rank` is ahead of `other`; NCS_FUNCTION_COUNT if
 * there is none. */
static unsigned ahead_in(const struct ncs_rank *rank,
			 const struct ncs_rank *other)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (rank->functions >> i & 1 &&
		    ncs_rank_next(rank, i) > ncs_rank_next(other, i))
			return i;
	return NCS_FUNCTION_COUNT;
}

/* Returns the operation of a collective call; NULL if it is in none that is known
 * to be of this call. */
static const struct ncs_operation_view *
operation_of_call(const struct ncs_rank *rank, struct ncs_call_id call)
{
	const struct ncs_operation_view *operation =
		call.sequence_number == NCS_NO_SEQUENCE_NUMBER ?
			NULL :
			ncs_operation_of_call(rank, call);

	return operation && operation->event == NCS_EVENT_COLL ? operation :
								 NULL;
}

/* Counts the ranks of a communicator that have made a call. */
static size_t count_called(const struct ncs_communicator *communicator,
			   struct ncs_call_id call)
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++)
		count += ncs_rank_next(communicator->ranks[i], call.function) >
			 call.sequence_number;
	return count;
}

struct call_disagreement {
	const struct ncs_rank *ranks[2];
	/* Call that only this rank of the two made. */
	struct ncs_call_id calls[2];
	size_t agree[2];             /* number of ranks that agree with it */
	uint64_t done_bytes[2];      /* of a finished call; 0 if not finished */
};

static void report_mismatch(struct ncs_diagnosis *diagnosis,
			    enum ncs_verdict verdict,
			    const struct call_disagreement *found, bool stalled)
{
	/* The rank that fewer others agree with is the root; if equally many
	 * agree with both, the second rank is. */
	unsigned root = found->agree[0] < found->agree[1] ? 0 : 1;
	const struct ncs_communicator *communicator =
		found->ranks[root]->communicator;
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, verdict, ncs_party_of(found->ranks[root]));

	finding->peer = ncs_party_of(found->ranks[!root]);
	finding->call = found->calls[root];
	finding->waiting = communicator->live + communicator->dead - 1;
	finding->duration_ns = ncs_age_ns(found->ranks[root],
					  found->ranks[root]->now.last_call_ns);
	for (unsigned i = 0; i < 2; i++) {
		unsigned which = i ? !root : root;
		const struct ncs_rank *rank = found->ranks[which];
		struct ncs_call_id call = found->calls[which];
		const struct ncs_operation_view *operation =
			operation_of_call(rank, call);
		struct ncs_evidence *evidence;

		if (operation && (i == 0 || operation->start_ns != 0)) {
			ncs_finding_add_operation(finding, rank, operation);
			if (i == 0)
				finding->duration_ns =
					ncs_age_ns(rank, operation->start_ns);
		}
		evidence = ncs_finding_add_fact(finding,
						found->done_bytes[which] > 0 ?
							NCS_EVIDENCE_DONE :
							NCS_EVIDENCE_CALLED,
						rank, 0);
		evidence->call = call;
		evidence->number = found->done_bytes[which];
	}
	ncs_finding_rate(finding, stalled,
			 found->agree[0] == found->agree[1] ?
				 NCS_CONFIDENCE_LIKELY :
				 NCS_CONFIDENCE_CERTAIN);
}

/* Finds two ranks each of which has made a call that the other has not:
 * whatever they call next, they have not made these calls in the same order. */
static bool check_numbers(struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator)
{
	for (unsigned f = 0; f < NCS_FUNCTION_COUNT; f++) {
		struct ncs_progress progress;

		ncs_communicator_progress(communicator, f, &progress);
		if (progress.known == 0 ||
		    !is_stalled(diagnosis, progress.fastest))
			continue;
		for (size_t i = 0; i < communicator->rank_count; i++) {
			const struct ncs_rank *first = progress.fastest;
			const struct ncs_rank *other = communicator->ranks[i];
			struct call_disagreement found = {
				.ranks = { first, other },
			};
			unsigned ahead = ahead_in(other, first);

			if (ahead == NCS_FUNCTION_COUNT ||
			    ncs_rank_next(first, f) <=
				    ncs_rank_next(other, f) ||
			    !is_stalled(diagnosis, other))
				continue;
			found.calls[0] =
				(struct ncs_call_id){ f,
						      ncs_rank_next(other, f) };
			found.calls[1] = (struct ncs_call_id){
				ahead, ncs_rank_next(first, ahead)
			};
			for (unsigned k = 0; k < 2; k++)
				found.agree[k] = count_called(communicator,
							      found.calls[k]);
			report_mismatch(diagnosis, NCS_VERDICT_ORDER_MISMATCH,
					&found, true);
			return true;
		}
	}
	return false;
}

static bool agree(const struct ncs_operation_view *a,
		  const struct ncs_operation_view *b)
{
	return a->count == b->count && a->datatype == b->datatype &&
	       (!ncs_has_root(a->function) || a->peer == b->peer);
}

static size_t count_agreeing(const struct ncs_communicator *communicator,
			     const struct ncs_operation_view *operation,
			     struct ncs_call_id call)
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_operation_view *other =
			operation_of_call(communicator->ranks[i], call);

		count += other && agree(operation, other);
	}
	return count;
}

/* Finds a call that two ranks have in progress with different arguments. */
static bool compare_operations(struct ncs_diagnosis *diagnosis,
			       const struct ncs_rank *a,
			       const struct ncs_rank *b)
{
	size_t count = a->now.operation_count;

	for (size_t i = 0; i < count && i < COMPARED_OPERATIONS; i++) {
		const struct ncs_operation_view *of_a = &a->now.operations[i];
		struct ncs_call_id call = ncs_call_of(of_a);
		const struct ncs_operation_view *of_b;
		struct call_disagreement found = { .ranks = { a, b },
						   .calls = { call, call } };

		if (of_a->event != NCS_EVENT_COLL ||
		    !ncs_has_one_size(of_a->function))
			continue;
		of_b = operation_of_call(b, call);
		if (!of_b || agree(of_a, of_b))
			continue;
		found.agree[0] = count_agreeing(a->communicator, of_a, call);
		found.agree[1] = count_agreeing(a->communicator, of_b, call);
		report_mismatch(diagnosis, NCS_VERDICT_SIZE_MISMATCH, &found,
				is_stalled(diagnosis, a) &&
					is_stalled(diagnosis, b));
		return true;
	}
	return false;
}

static const struct ncs_operation_view *
first_collective(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (rank->now.operations[i].event == NCS_EVENT_COLL)
			return &rank->now.operations[i];
	return NULL;
}

/* Returns the bytes of a call that a rank has finished, from its records; 0 if
 * it is not among them. */
static uint64_t finished_bytes(const struct ncs_rank *rank,
			       struct ncs_call_id call)
{
	const struct ncs_latest_list *list;

	if (!rank->latest || operation_of_call(rank, call) ||
	    ncs_rank_next(rank, call.function) <= call.sequence_number)
		return 0;
	list = &rank->latest->lists[NCS_LATEST_CALLS];
	for (size_t i = list->count; i-- > 0;) {
		const struct ncs_record *record = &list->records[i];

		if (record->event == NCS_EVENT_COLL &&
		    record->function == call.function &&
		    record->number == call.sequence_number)
			return record->value;
	}
	return 0;
}

/* Counts the ranks that have a call of this size in progress or finished. */
static size_t count_of_size(const struct ncs_communicator *communicator,
			    struct ncs_call_id call, uint64_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_operation_view *operation =
			operation_of_call(rank, call);

		count += (operation ? operation->bytes :
				      finished_bytes(rank, call)) == bytes;
	}
	return count;
}

/* A call of a size that no rank has finished with another size. */
struct agreed_call {
	struct ncs_call_id call;
	uint64_t bytes; /* 0: none is known */
};

/* Finds a rank that has finished a call in which another rank hangs: the rank
 * that finished had less data to move. Ranks mostly hang in the same call, which
 * is then looked for once. */
static bool compare_with_done(struct ncs_diagnosis *diagnosis,
			      const struct ncs_rank *rank,
			      struct agreed_call *agreed)
{
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_operation_view *oldest = first_collective(rank);
	struct ncs_call_id call;

	if (!oldest || !ncs_has_one_size(oldest->function) ||
	    oldest->bytes == 0 || !is_stalled(diagnosis, rank))
		return false;
	call = ncs_call_of(oldest);
	if (agreed->bytes == oldest->bytes &&
	    ncs_is_same_call(agreed->call, call))
		return false;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];
		uint64_t bytes = finished_bytes(other, call);
		struct call_disagreement found = {
			.ranks = { rank, other },
			.calls = { call, call },
			.done_bytes = { 0, bytes },
		};

		if (bytes == 0 || bytes == oldest->bytes)
			continue;
		found.agree[0] =
			count_of_size(communicator, call, oldest->bytes);
		found.agree[1] = count_of_size(communicator, call, bytes);
		report_mismatch(diagnosis, NCS_VERDICT_SIZE_MISMATCH, &found,
				true);
		return true;
	}
	*agreed = (struct agreed_call){ call, oldest->bytes };
	return false;
}

/* Finds two ranks that have the same two calls in progress, in opposite
 * order. */
static bool compare_orders(struct ncs_diagnosis *diagnosis,
			   const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_operation_view *of_a = first_collective(a);
	const struct ncs_operation_view *of_b = first_collective(b);
	struct call_disagreement found = { .ranks = { a, b } };

	if (!of_a || !of_b || !is_stalled(diagnosis, a) ||
	    !is_stalled(diagnosis, b))
		return false;
	found.calls[0] = ncs_call_of(of_a);
	found.calls[1] = ncs_call_of(of_b);
	if (operation_of_call(a, found.calls[0]) ==
		    operation_of_call(a, found.calls[1]) ||
	    !operation_of_call(a, found.calls[1]) ||
	    !operation_of_call(b, found.calls[0]))
		return false;
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < a->communicator->rank_count; i++) {
			const struct ncs_operation_view *first =
				first_collective(a->communicator->ranks[i]);

			found.agree[k] += first &&
					  ncs_is_same_call(ncs_call_of(first),
							   found.calls[k]);
		}
	report_mismatch(diagnosis, NCS_VERDICT_ORDER_MISMATCH, &found, true);
	return true;
}

static bool check_operations(struct ncs_diagnosis *diagnosis,
			     const struct ncs_communicator *communicator)
{
	const struct ncs_rank *references[COMPARED_RANKS];
	struct agreed_call agreed = { .bytes = 0 };
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (rank->now.liveness == NCS_FINISHED ||
		    rank->now.operation_count == 0 || rank->now.torn)
			continue;
		if (compare_with_done(diagnosis, rank, &agreed))
			return true;
		for (size_t k = 0; k < count; k++)
			if (compare_operations(diagnosis, references[k],
					       rank) ||
			    compare_orders(diagnosis, references[k], rank))
				return true;
		if (count < COMPARED_RANKS)
			references[count++] = rank;
	}
	return false;
}

/* Skips communicators without an id: ranks that have only a name in common may
 * belong to different jobs. */
bool ncs_find_disagreements(struct ncs_diagnosis *diagnosis,
			    const struct ncs_communicator *communicator)
{
	return (communicator->identity->known & NCS_KNOWN_COMM_ID) &&
	       communicator->live + communicator->dead >= 2 &&
	       (communicator->live > 0 || diagnosis->graph.is_over) &&
	       (check_operations(diagnosis, communicator) ||
		check_numbers(diagnosis, communicator));
}

/* --- Calls that have ended ------------------------------------------------- */

/* Nobody waits, but results are wrong. The latest such operation of a communicator is
 * told for as long as the communicator is seen, even if its ranks have ended: what
 * they computed stays wrong. */

/* Returns the rank that made a call; NULL if it is gone. */
static const struct ncs_rank *
rank_of(const struct ncs_communicator *communicator,
	const struct ncs_unlike_call *call)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->serial == call->owner)
			return communicator->ranks[i];
	return NULL;
}

/* Adds in what a call differed from the other one. */
static void add_ended(struct ncs_finding *finding, const struct ncs_rank *rank,
		      const struct ncs_unlike_call *call,
		      const struct ncs_unlike_call *other)
{
	struct ncs_evidence *evidence;

	if (call->bytes != other->bytes) {
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_DONE,
						rank, 0);
		evidence->call = finding->call;
		evidence->number = call->bytes;
	}
	if (call->root != other->root) {
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_ROOT,
						rank, 0);
		evidence->call = finding->call;
		evidence->number = (uint32_t)call->root;
	}
}

static void report_ended(struct ncs_diagnosis *diagnosis,
			 const struct ncs_unlike_calls *unlike,
			 const struct ncs_rank *root,
			 const struct ncs_rank *peer)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_SIZE_MISMATCH, ncs_party_of(root));
	uint64_t now_ns = diagnosis->model->now_ns;
	struct ncs_evidence *evidence;

	finding->peer = ncs_party_of(peer);
	finding->call =
		(struct ncs_call_id){ unlike->function, unlike->number };
	ncs_finding_rate(finding, false,
			 unlike->calls[0].agree == unlike->calls[1].agree ?
				 NCS_CONFIDENCE_LIKELY :
				 NCS_CONFIDENCE_CERTAIN);
	add_ended(finding, root, &unlike->calls[0], &unlike->calls[1]);
	add_ended(finding, peer, &unlike->calls[1], &unlike->calls[0]);
	evidence = ncs_finding_add_evidence(
		finding, NCS_EVIDENCE_ENDED,
		(struct ncs_party){ NULL, root->communicator, -1 });
	evidence->number = unlike->count;
	if (now_ns > unlike->end_ns)
		evidence->duration_ns = now_ns - unlike->end_ns;
}

void ncs_find_ended_mismatches(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		const struct ncs_unlike_calls *unlike =
			ncs_communicator_unlike_calls(communicator);
		const struct ncs_rank *root, *peer;

		/* Ranks that have only a name in common may belong to
		 * different jobs. */
		if (!unlike ||
		    !(communicator->identity->known & NCS_KNOWN_COMM_ID) ||
		    ncs_diagnosis_find(diagnosis, NCS_VERDICT_SIZE_MISMATCH,
				       communicator))
			continue;
		root = rank_of(communicator, &unlike->calls[0]);
		peer = rank_of(communicator, &unlike->calls[1]);
		if (root && peer)
			report_ended(diagnosis, unlike, root, peer);
	}
}
