/* SPDX-License-Identifier: MIT */
/* Comparing the calls of operations that have ended; see unlike_calls.h. */
#include "analysis/model/unlike_calls.h"

#include "analysis/base/collective_waits.h"
#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"

/* Number of latest numbers that are kept: the bits of `seen`. */
#define KEPT 64u

void ncs_numbers_note(struct ncs_seen_numbers *seen, struct ncs_part *part,
		      uint64_t lost)
{
	uint64_t next = part->number + 1, age;

	part->flags &= (uint8_t)~NCS_PART_ONCE;
	/* Numbers that begin again are those of another communicator. */
	if (seen->lost != lost || seen->next >= next + KEPT)
		*seen = (struct ncs_seen_numbers){ .lost = lost };
	if (seen->next < next) {
		seen->seen = next - seen->next < KEPT ?
				     seen->seen << (next - seen->next) :
				     0;
		seen->next = next;
	}
	age = seen->next - next;
	if (!(seen->seen >> age & 1) &&
	    (part->number == 0 ||
	     (age + 1 < KEPT && seen->seen >> (age + 1) & 1)))
		part->flags |= NCS_PART_ONCE;
	seen->seen |= UINT64_C(1) << age;
}

static bool agree(const struct ncs_joined *joined, const struct ncs_part *a,
		  const struct ncs_part *b)
{
	return a->bytes == b->bytes &&
	       (!ncs_has_root(joined->function) || a->peer == b->peer);
}

/* Returns whether the GPUs of two ranks were in the operation at one time. */
static bool met(const struct ncs_joined *joined, const struct ncs_part *a,
		const struct ncs_part *b)
{
	uint64_t error_ns = ncs_parts_error_ns(a, joined->arrival, b,
					       joined->arrival);

	return ncs_joined_arrival_ns(joined, a) + error_ns <
		       ncs_part_first_end_ns(b) &&
	       ncs_joined_arrival_ns(joined, b) + error_ns <
		       ncs_part_first_end_ns(a);
}

/* Returns a call, and counts the ranks that made it so. */
static struct ncs_unlike_call call_of(const struct ncs_joined *joined,
				      const struct ncs_part *part)
{
	struct ncs_unlike_call call = {
		.owner = part->owner,
		.bytes = part->bytes,
		.root = ncs_has_root(joined->function) ? part->peer : -1,
	};

	for (size_t i = 0; i < joined->count; i++)
		call.agree += agree(joined, part, &joined->parts[i]);
	return call;
}

/* Returns a part that surely is of one operation with the first such part, but
 * disagrees with it, and sets *first to that; NULL if there is none. */
static const struct ncs_part *find_unlike(const struct ncs_joined *joined,
					  const struct ncs_part **first)
{
	*first = NULL;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];

		if (!(part->flags & NCS_PART_ONCE))
			continue;
		if (!*first)
			*first = part;
		else if (!agree(joined, *first, part) &&
			 met(joined, *first, part))
			return part;
	}
	return NULL;
}

void ncs_unlike_calls_note(struct ncs_unlike_calls *unlike,
			   const struct ncs_joined *joined)
{
	const struct ncs_part *first, *other;
	struct ncs_unlike_call calls[2];
	bool swap;

	if (!ncs_has_one_size(joined->function) ||
	    joined->arrival == NCS_MOMENT_OPERATION)
		return;
	other = find_unlike(joined, &first);
	if (!other)
		return;
	calls[0] = call_of(joined, other);
	calls[1] = call_of(joined, first);
	swap = calls[1].agree < calls[0].agree;
	*unlike = (struct ncs_unlike_calls){
		.count = unlike->count + 1,
		.number = joined->number,
		.end_ns = first->at_ns[NCS_MOMENT_LAST_END],
		.function = joined->function,
		.calls = { calls[swap], calls[!swap] },
	};
	if (other->at_ns[NCS_MOMENT_LAST_END] > unlike->end_ns)
		unlike->end_ns = other->at_ns[NCS_MOMENT_LAST_END];
}

const struct ncs_unlike_calls *
ncs_communicator_unlike_calls(const struct ncs_communicator *communicator)
{
	return communicator->skew && communicator->skew->unlike.count > 0 ?
		       &communicator->skew->unlike :
		       NULL;
}
