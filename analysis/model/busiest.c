/* SPDX-License-Identifier: MIT */
/* Finds the busiest classes; see busiest.h. Called for each update. */
#include "analysis/model/busiest.h"

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "ncclstat/size_class.h"

/* Returns the first rank that lives; the first of all if none does. */
static const struct ncs_rank *
speaker_of(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_rank_is_live(communicator->ranks[i]))
			return communicator->ranks[i];
	return communicator->ranks[0];
}

/* Returns about how many bytes a class carried since a time. An operation of no
 * known size counts as one byte, so that something is found where no size is
 * known. */
static double bytes_since(const struct ncs_class_view *view,
			  const struct ncs_counters *base)
{
	uint64_t before = base ? ncs_counters_class(base, view) : 0;
	uint64_t low = view->size_class < NCS_SIZE_CLASS_COUNT ?
			       ncs_size_class_low(view->size_class) :
			       0;

	if (view->operations <= before)
		return 0;
	return (double)(view->operations - before) *
	       (double)(low > 0 ? low : 1);
}

static void find_class(const struct ncs_rank *rank,
		       const struct ncs_counters *base,
		       struct ncs_busiest *busiest)
{
	for (size_t i = 0; i < rank->now.class_count; i++) {
		const struct ncs_class_view *view = &rank->now.classes[i];
		double bytes = bytes_since(view, base);

		if (bytes <= busiest->bytes ||
		    view->function >= NCS_FUNCTION_COUNT)
			continue;
		busiest->bytes = bytes;
		busiest->function = view->function;
		busiest->which = (struct ncs_moving_class){
			.size_class = (uint8_t)view->size_class,
			.algorithm = (uint8_t)view->algorithm,
			.protocol = (uint8_t)view->protocol,
		};
	}
}

static void find(struct ncs_communicator *communicator)
{
	const struct ncs_rank *rank = speaker_of(communicator);
	struct ncs_busiest *busiest = &communicator->busiest;

	*busiest = (struct ncs_busiest){ .function = NCS_FUNCTION_COUNT,
					 .view = { .algbw = -1, .busbw = -1 } };
	find_class(rank,
		   ncs_history_base(&rank->history, NCS_WINDOW_100_S,
				    rank->now.taken_ns),
		   busiest);
	/* A job that stands still: what it did before. */
	if (busiest->bytes <= 0)
		find_class(rank, NULL, busiest);
	if (busiest->function < NCS_FUNCTION_COUNT)
		busiest->view = ncs_communicator_moving(
			communicator, busiest->function, &busiest->which);
}

void ncs_busiest_find(struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++)
		find(&model->communicators[i]);
}

const struct ncs_communicator *
ncs_busiest_communicator(const struct ncs_model *model)
{
	const struct ncs_communicator *best = NULL;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];

		if (communicator->busiest.function < NCS_FUNCTION_COUNT &&
		    (!best ||
		     communicator->busiest.bytes > best->busiest.bytes))
			best = communicator;
	}
	return best;
}

const struct ncs_recent *
ncs_busiest_recent(const struct ncs_communicator *communicator,
		   uint64_t *count)
{
	if (!communicator ||
	    communicator->busiest.function >= NCS_FUNCTION_COUNT)
		return NULL;
	return ncs_communicator_busbw_recent(
		communicator, communicator->busiest.function, count);
}
