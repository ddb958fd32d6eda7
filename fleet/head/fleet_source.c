/* SPDX-License-Identifier: MIT */
/* The ranks of all nodes as a source; see fleet.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/head/fleet_internal.h"
#include "ncclstat/reader.h"
#include "shm/array.h"

static void forget_sample(struct ncs_fleet *self)
{
	if (self->has_snapshot)
		ncs_snapshot_release(&self->snapshot);
	self->has_snapshot = false;
}

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct ncs_fleet *self = (struct ncs_fleet *)source;
	int error = 0;

	forget_sample(self);
	self->now_ns = now_ns;
	self->node = self->place = 0;
	pthread_mutex_lock(&self->mutex);
	if (ncs_array_reserve(&self->shown, &self->shown_capacity,
			      self->count + 1, sizeof(*self->shown)) != 0)
		error = -ENOMEM;
	if (!error)
		error = ncs_fleet_clocks_align(self, now_ns);
	self->shown_count = error ? 0 : self->count;
	for (size_t i = 0; i < self->shown_count; i++) {
		ncs_fleet_node_judge(self->nodes[i], now_ns);
		self->shown[i] = self->nodes[i]->facts;
	}
	pthread_mutex_unlock(&self->mutex);
	if (error)
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	return error;
}

static size_t list_nodes(struct ncs_source *source,
			 const struct ncs_node **nodes)
{
	struct ncs_fleet *self = (struct ncs_fleet *)source;

	*nodes = self->shown;
	return self->shown_count;
}

/* --- Samples ------------------------------------------------------------- */

/* Makes the id of a segment of the current node. */
static void make_id(const struct ncs_fleet *self, const char *path,
		    char id[sizeof(self->id)])
{
	snprintf(id, sizeof(self->id), "%s:%s", self->shown[self->node].name,
		 path);
}

static void name_sample(struct ncs_fleet *self, const char *path,
			struct ncs_sample *sample)
{
	memset(sample, 0, sizeof(*sample));
	make_id(self, path, self->id);
	sample->id = self->id;
	sample->node = self->node;
	sample->peaks = &self->peaks;
	sample->reach = self->shown[self->node].reach;
	sample->is_past = ncs_node_sight(self->shown[self->node].state) <
			  NCS_SIGHT_PART;
}

static bool wants_records(const struct ncs_fleet *self)
{
	return !self->source.wants_records ||
	       self->source.wants_records(self->source.wants_context, self->id);
}

static void take_records(struct ncs_fleet *self,
			 const struct ncs_fleet_node *node,
			 struct ncs_stream_rank *rank,
			 struct ncs_sample *sample)
{
	size_t count = ncs_stream_move_records(rank, self->records,
					       &sample->records_lost);

	sample->without_records = !node->stream->facts.has_records ||
				  !wants_records(self);
	if (sample->without_records) {
		sample->records_lost = 0;
		return;
	}
	sample->records = self->records;
	sample->record_count = count;
}

/* Takes what is known of a rank's process. */
static void take_process(struct ncs_fleet *self,
			 const struct ncs_clock_move *move,
			 const struct ncs_stream_rank *rank,
			 struct ncs_sample *sample)
{
	const char *labels = ncs_reader_labels(rank->reader);

	/* The reader may be closed when the next bytes come. */
	memcpy(self->labels, labels, ncs_labels_bytes(labels));
	sample->labels = self->labels;
	sample->owner = rank->owner;
	free(self->stack);
	self->stack = rank->stack ? strdup(rank->stack) : NULL;
	sample->stack = self->stack;
	sample->stack_ns = ncs_clock_moved_ns(move, rank->stack_ns);
}

/* Takes a rank whose state was handed over in a pass before. The model has its
 * snapshot, or asks for it. */
static void take_old(struct ncs_fleet *self, const struct ncs_fleet_node *node,
		     const struct ncs_stream_rank *rank,
		     struct ncs_sample *sample)
{
	take_process(self, &self->clocks[node->clock].move, rank, sample);
	self->header = rank->header;
	sample->header = &self->header;
	sample->is_old = true;
	sample->without_records = true;
	sample->is_past = sample->is_past || rank->is_behind;
}

/* Describes a state that is not old, but for its snapshot. */
static void describe_state(struct ncs_fleet *self,
			   const struct ncs_fleet_clock *clock,
			   const struct ncs_stream_rank *rank,
			   struct ncs_sample *sample)
{
	take_process(self, &clock->move, rank, sample);
	sample->header = &self->header;
	sample->clock_is_aligned = clock->is_aligned;
	sample->clock_error_ns = clock->is_aligned ? clock->error_ns : 0;
	sample->clock_is_by_realtime = clock->is_by_realtime;
	sample->is_past = sample->is_past || rank->is_behind;
}

/* Takes a rank whose state says what that of the pass before did. Returns false
 * if it says something else. */
static bool take_same(struct ncs_fleet *self, const struct ncs_fleet_node *node,
		      struct ncs_stream_rank *rank, struct ncs_sample *sample)
{
	const struct ncs_fleet_clock *clock = &self->clocks[node->clock];
	struct ncs_state_times times;

	if (node->stream->facts.has_records ||
	    !ncs_stream_is_same(rank, &clock->move, &times, &self->header))
		return false;
	/* The readings before may have missed what was filled in late. */
	if (!rank->is_read_whole) {
		ncs_stream_read_anew(rank);
		return false;
	}
	describe_state(self, clock, rank, sample);
	sample->is_same = sample->without_records = true;
	sample->taken_ns = times.taken_ns;
	sample->alive_ns = times.alive_ns;
	rank->shown_ns = rank->taken_ns;
	return true;
}

static void take_sample(struct ncs_fleet *self, struct ncs_fleet_node *node,
			size_t number, struct ncs_sample *sample)
{
	const struct ncs_fleet_clock *clock = &self->clocks[node->clock];
	struct ncs_stream_rank *rank = &node->stream->ranks[number];
	int error = ncs_stream_snapshot(rank, &clock->move, &self->image,
					&self->snapshot, &self->header);

	if (error) {
		rank->said = 0;
		sample->attach = error == -EBADMSG ? NCS_ATTACH_CORRUPT :
						     NCS_ATTACH_FAILED;
		sample->why = error == -EBADMSG ?
				      "its state in the stream is corrupt" :
				      strerror(-error);
		return;
	}
	self->has_snapshot = true;
	sample->snapshot = &self->snapshot;
	describe_state(self, clock, rank, sample);
	sample->is_old = rank->shown_ns == rank->taken_ns;
	sample->is_same = false;
	rank->shown_ns = rank->taken_ns;
	/* The model takes no records of an old state. */
	sample->without_records = sample->is_old;
	if (sample->is_old)
		return;
	/* Without memory the clock is not aligned by these records. */
	ncs_fleet_clock_tell(self, node, number, &self->snapshot);
	/* Records would be compared with others by a clock that is about to be
	 * moved. */
	if (!ncs_fleet_clock_is_due(self, node->clock))
		take_records(self, node, rank, sample);
}

static bool has_sample(const struct ncs_fleet_node *node,
		       const struct ncs_stream_rank *rank)
{
	return rank->is_named && rank->is_there && rank->has_state &&
	       node->clock != SIZE_MAX && node->facts.state != NCS_NODE_GONE;
}

/* Takes a rank of the current node. Returns false if it is not to be shown. */
static bool take_rank(struct ncs_fleet *self, struct ncs_fleet_node *node,
		      size_t number, struct ncs_sample *sample)
{
	struct ncs_stream_rank *rank = &node->stream->ranks[number];

	if (!has_sample(node, rank))
		return false;
	name_sample(self, rank->path, sample);
	if (rank->shown_ns == rank->taken_ns && rank->reader)
		take_old(self, node, rank, sample);
	else if (!take_same(self, node, rank, sample))
		take_sample(self, node, number, sample);
	return sample->attach != NCS_ATTACHED ||
	       ncs_choice_has(&self->choice, sample->header, sample->labels);
}

/* Takes a segment that cannot be read. Those of other users are shown if the
 * node has no rank. */
static bool take_unreadable(struct ncs_fleet *self,
			    const struct ncs_fleet_node *node, size_t number,
			    struct ncs_sample *sample)
{
	const struct ncs_stream_unreadable *unreadable =
		&node->stream->unreadable[number];

	if (self->choice.pid != 0 || self->choice.job ||
	    self->shown[self->node].state == NCS_NODE_GONE ||
	    (unreadable->attach == NCS_ATTACH_DENIED &&
	     self->shown[self->node].ranks > 0))
		return false;
	name_sample(self, unreadable->path, sample);
	snprintf(self->why, sizeof(self->why), "%s", unreadable->why);
	sample->attach = unreadable->attach;
	sample->why = self->why;
	return true;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct ncs_fleet *self = (struct ncs_fleet *)source;
	bool found = false;

	pthread_mutex_lock(&self->mutex);
	while (!found && self->node < self->shown_count) {
		struct ncs_fleet_node *node = self->nodes[self->node];
		size_t ranks = node->stream->rank_count;
		size_t place = self->place++;

		forget_sample(self);
		/* They may change when the next bytes come. */
		if (place == 0)
			self->peaks = node->stream->facts.peaks;
		if (place < ranks)
			found = take_rank(self, node, place, sample);
		else if (place - ranks < node->stream->unreadable_count)
			found = take_unreadable(self, node, place - ranks,
						sample);
		else {
			self->node++;
			self->place = 0;
		}
	}
	pthread_mutex_unlock(&self->mutex);
	return found;
}

static bool complete(struct ncs_source *source, struct ncs_sample *sample)
{
	struct ncs_fleet *self = (struct ncs_fleet *)source;
	const struct ncs_stream_rank *rank;
	struct ncs_fleet_node *node;
	char id[sizeof(self->id)];

	pthread_mutex_lock(&self->mutex);
	node = self->nodes[self->node];
	rank = &node->stream->ranks[self->place - 1];
	/* Bytes may have come since: of another agent, which may give the
	 * number to another segment, or to none. */
	if (has_sample(node, rank)) {
		make_id(self, rank->path, id);
		if (strcmp(id, sample->id) == 0)
			take_sample(self, node, self->place - 1, sample);
	}
	pthread_mutex_unlock(&self->mutex);
	return sample->snapshot;
}

static void close_source(struct ncs_source *source)
{
	(void)source;
}

void ncs_fleet_source_init(struct ncs_fleet *fleet)
{
	fleet->source.shows_part = fleet->choice.pid != 0;
	fleet->source.begin = begin;
	fleet->source.next = next;
	fleet->source.complete = complete;
	fleet->source.nodes = list_nodes;
	fleet->source.close = close_source;
}

void ncs_fleet_source_release(struct ncs_fleet *fleet)
{
	forget_sample(fleet);
	ncs_state_image_release(&fleet->image);
	free(fleet->stack);
	free(fleet->shown);
}

struct ncs_source *ncs_fleet_source(struct ncs_fleet *fleet)
{
	return &fleet->source;
}
