/* SPDX-License-Identifier: MIT */
/* Plays operations again; see transfer_replay.h. Must not know whose work is
 * cut, nor why. */
#include "analysis/model/transfer_replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An arrival or an end, in the order in which they are played. */
struct ncs_transfer_moment {
	uint64_t order_ns;
	uint32_t part;
	bool is_end;
};

static int compare_moments(const void *left, const void *right)
{
	const struct ncs_transfer_moment *a = left, *b = right;

	if (a->order_ns != b->order_ns)
		return a->order_ns < b->order_ns ? -1 : 1;
	if (a->is_end != b->is_end)
		return a->is_end - b->is_end;
	return (a->part > b->part) - (a->part < b->part);
}

/* Returns the first part of the operation that a part is of. */
static size_t first_of(const struct ncs_transfer_replay *replay, size_t part)
{
	return part - replay->parts[part].place;
}

/* Returns whether part `k` holds up part `part` of its operation. */
static bool holds_up(const struct ncs_transfer_replay *replay, size_t part,
		     size_t k)
{
	return k == part ||
	       (replay->parts[part].waits && replay->parts[k].is_awaited);
}

/* Returns when all had arrived that a part waits for. */
static uint64_t ready_ns(const struct ncs_transfer_replay *replay, size_t part)
{
	size_t first = first_of(replay, part);
	uint64_t latest_ns = 0;

	for (size_t k = first; k < first + replay->parts[first].count; k++)
		if (holds_up(replay, part, k) &&
		    replay->parts[k].arrival_ns > latest_ns)
			latest_ns = replay->parts[k].arrival_ns;
	return latest_ns;
}

/* The clock of one may be a little ahead of the other's: what is done until
 * NCS_LAUNCH_NS after an arrival may have come before it. Of a send and a receive
 * at once, the send was called first. */
static int order_moments(struct ncs_transfer_replay *replay)
{
	struct ncs_transfer_moment *moments =
		malloc((2 * replay->count + 1) * sizeof(*moments));

	replay->moments = moments;
	if (!moments)
		return -ENOMEM;
	for (size_t i = 0; i < replay->count; i++) {
		const struct ncs_logged *part = &replay->parts[i];
		uint64_t end_ns = part->end_ns;
		uint64_t least_ns = ready_ns(replay, i) + NCS_LAUNCH_NS;

		if (end_ns < least_ns)
			end_ns = least_ns;
		moments[2 * i] = (struct ncs_transfer_moment){
			part->arrival_ns + (ncs_is_work_send(part->kind) ?
						    NCS_LAUNCH_NS / 2 :
						    NCS_LAUNCH_NS),
			(uint32_t)i, false
		};
		moments[2 * i + 1] = (struct ncs_transfer_moment){ end_ns,
								   (uint32_t)i,
								   true };
	}
	qsort(moments, 2 * replay->count, sizeof(*moments), compare_moments);
	return 0;
}

static bool is_near(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns + NCS_LAUNCH_NS > b_ns && b_ns + NCS_LAUNCH_NS > a_ns;
}

/* Returns whether a send begins as another one ends: it was queued. */
static bool is_behind(const struct ncs_logged *part,
		      const struct ncs_logged *before)
{
	return before && part->arrival_ns + NCS_LAUNCH_NS > before->end_ns &&
	       part->arrival_ns < before->latest_end_ns + NCS_LAUNCH_NS;
}

/* Returns whether a receive may be of one launch with a send to the same rank. */
static bool is_exchange(const struct ncs_logged *send,
			const struct ncs_logged *receive)
{
	return send && send->owner == receive->owner &&
	       ncs_are_opposite(send->kind, receive->kind) &&
	       is_near(send->arrival_ns, receive->arrival_ns);
}

/* Finds which processes go on in operations that are not over: the next one of
 * the process arrives before, and not in one launch with it. Of what is launched
 * at once, one may end long before the kernel does. Counts exchanges, too. */
static int find_overlaps(struct ncs_transfer_replay *replay)
{
	const struct ncs_logged **latest[2];
	int error = 0;

	for (unsigned i = 0; i < 2; i++) {
		latest[i] = calloc(replay->line_count + 1, sizeof(*latest[i]));
		if (!latest[i])
			error = -ENOMEM;
	}
	for (size_t i = 0; !error && i < 2 * replay->count; i++) {
		const struct ncs_transfer_moment *moment = &replay->moments[i];
		const struct ncs_logged *part = &replay->parts[moment->part];
		uint32_t line = replay->played[moment->part].line;
		bool is_send = ncs_is_work_send(part->kind);

		if (moment->is_end || line == NCS_LINE_NONE)
			continue;
		replay->lines[line].exchanges +=
			!is_send && is_exchange(latest[0][line], part);
		for (unsigned k = 0; k < 2; k++) {
			const struct ncs_logged *before = latest[k][line];

			if (!before ||
			    part->arrival_ns + NCS_LAUNCH_NS >=
				    before->end_ns ||
			    is_near(part->arrival_ns, before->arrival_ns))
				continue;
			if (k == 0 && !is_send)
				replay->lines[line].sends_overlap = true;
			if (k == 1 &&
			    !(is_send && is_behind(part, latest[0][line])))
				replay->lines[line].others_overlap = true;
		}
		latest[!is_send][line] = part;
	}
	free(latest[0]);
	free(latest[1]);
	return error;
}

uint64_t ncs_launched_after(const struct ncs_logged *part, uint64_t work_ns)
{
	uint64_t host_ns =
		ncs_time_since(part->arrival_ns - work_ns, part->launched_ns);

	return host_ns < work_ns ? host_ns : work_ns;
}

/* --- A pass --------------------------------------------------------------- */

static void begin_pass(struct ncs_transfer_replay *replay)
{
	for (size_t i = 0; i < replay->line_count; i++) {
		replay->lines[i].event_count = 0;
		replay->lines[i].ahead_ns = 0;
		replay->lines[i].work_ns = replay->lines[i].host_ns = 0;
		replay->lines[i].error_ns = 0;
		replay->lines[i].work_until_ns = 0;
		replay->lines[i].send = (struct ncs_transfer_event){ 0 };
		replay->lines[i].send_until_ns = 0;
	}
}

static void add_event(struct ncs_transfer_line *line,
		      struct ncs_transfer_event event)
{
	line->events[line->event_count++ % NCS_LINE_EVENTS] = event;
	line->ahead_ns = (double)event.at_ns - event.moved_ns;
}

/* Finds what a process had done latest at a time; of what it did then at once,
 * the one that is played last. Returns false if that is not known. */
static bool find_before(const struct ncs_transfer_line *line, uint64_t until_ns,
			struct ncs_transfer_event *found)
{
	size_t count = line->event_count < NCS_LINE_EVENTS ?
			       (size_t)line->event_count :
			       NCS_LINE_EVENTS;
	bool is_found = false;

	for (size_t i = 0; i < count; i++)
		if (line->events[i].at_ns <= until_ns + NCS_LAUNCH_NS &&
		    (!is_found || line->events[i].at_ns > found->at_ns)) {
			*found = line->events[i];
			is_found = true;
		}
	for (size_t i = 0; i < count && is_found; i++)
		if (line->events[i].at_ns <= found->at_ns &&
		    line->events[i].at_ns + NCS_LAUNCH_NS > found->at_ns) {
			if (line->events[i].moved_ns > found->moved_ns)
				found->moved_ns = line->events[i].moved_ns;
			/* The receive stands for a send at the same time. */
			if (line->events[i].kind > found->kind)
				found->kind = line->events[i].kind;
		}
	return is_found;
}

static struct ncs_transfer_event event_of(const struct ncs_logged *part,
					  uint64_t at_ns, double moved_ns)
{
	return (struct ncs_transfer_event){ .at_ns = at_ns,
					    .moved_ns = moved_ns,
					    .owner = part->owner,
					    .operation = part->operation,
					    .kind = part->kind };
}

/* Returns when a send that is queued behind another one could have been sent as
 * played: after what its process had called before it, and the usual work. */
static double computed_ns(const struct ncs_transfer_line *line,
			  const struct ncs_logged *part)
{
	const struct ncs_transfer_event *found = NULL;

	for (size_t i = 0; i < NCS_LINE_EVENTS && i < line->event_count; i++) {
		const struct ncs_transfer_event *event = &line->events[i];

		if (event->owner == part->owner &&
		    !ncs_is_work_send(event->kind) &&
		    (int32_t)(part->operation - event->operation) > 0 &&
		    (!found ||
		     (int32_t)(event->operation - found->operation) > 0))
			found = event;
	}
	return found ? found->moved_ns + line->send_work_ns[part->kind] : 0;
}

static void play_arrival(struct ncs_transfer_replay *replay, size_t i)
{
	const struct ncs_logged *part = &replay->parts[i];
	struct ncs_played *played = &replay->played[i];
	double arrival_ns = (double)part->arrival_ns;
	struct ncs_transfer_event before = { 0 }, work = { 0 }, begun;
	struct ncs_transfer_line *line;
	bool is_beside, is_queued, is_found;

	played->arrival_ns = arrival_ns;
	played->has_work = false;
	if (played->line == NCS_LINE_NONE)
		return;
	line = &replay->lines[played->line];
	is_beside = line->sends_overlap && ncs_is_work_send(part->kind);
	/* Behind another send on its stream: when it could have been sent is
	 * not seen. */
	is_queued = is_beside &&
		    part->arrival_ns < line->send_until_ns + NCS_LAUNCH_NS;
	is_found = find_before(line, part->arrival_ns, &work);
	if (is_queued) {
		before = line->send;
		before.moved_ns =
			fmax(before.moved_ns, computed_ns(line, part));
	} else if (is_found) {
		before = work;
	} else {
		played->arrival_ns -= line->ahead_ns;
		return;
	}
	played->has_work = !is_queued;
	played->before = before.kind;
	played->is_at_once = before.is_begin &&
			     is_near(before.at_ns, part->arrival_ns);
	played->work_ns = ncs_time_since(before.at_ns + played->pause_ns,
					 part->arrival_ns);
	played->new_ns = ncs_time_since((before.at_ns > line->work_until_ns ?
						 before.at_ns :
						 line->work_until_ns) +
						played->pause_ns,
					part->arrival_ns);
	line->work_ns += played->new_ns;
	line->error_ns += before.error_ns < played->new_ns ? before.error_ns :
							     played->new_ns;
	line->host_ns += ncs_launched_after(part, played->new_ns);
	if (part->arrival_ns > line->work_until_ns)
		line->work_until_ns = part->arrival_ns;
	played->arrival_ns = before.moved_ns +
			     (arrival_ns - (double)before.at_ns) -
			     (double)played->cut_ns + played->more_ns;
	/* The next operation may be tied to this, if not to its end. */
	if (ncs_is_work_send(part->kind) && !is_queued) {
		line->send_work_ns[part->kind] =
			(double)played->work_ns - (double)played->cut_ns +
			played->more_ns;
		begun = event_of(part, part->arrival_ns, played->arrival_ns);
		begun.is_begin = true;
		add_event(line, begun);
	}
}

/* Returns for how long a part went on once all were there. Of a transfer, the
 * part that took less tells how long its data took. */
static double moving_ns(const struct ncs_transfer_replay *replay, size_t i)
{
	size_t first = first_of(replay, i);
	double least_ns =
		(double)replay->parts[i].end_ns - (double)ready_ns(replay, i);

	if (ncs_is_work_transfer(replay->parts[i].kind) &&
	    replay->parts[i].waits)
		for (size_t k = first; k < first + replay->parts[i].count;
		     k++) {
			double ns = (double)replay->parts[k].end_ns -
				    (double)ready_ns(replay, k);

			if (replay->parts[k].waits && ns < least_ns)
				least_ns = ns;
		}
	return least_ns > 0 ? least_ns : 0;
}

static void play_end(struct ncs_transfer_replay *replay, size_t i)
{
	const struct ncs_logged *part = &replay->parts[i];
	struct ncs_played *played = &replay->played[i];
	size_t first = first_of(replay, i);
	double ready = played->arrival_ns;
	struct ncs_transfer_event event;
	struct ncs_transfer_line *line;

	for (size_t k = first; k < first + part->count; k++)
		if (holds_up(replay, i, k) &&
		    replay->played[k].arrival_ns > ready)
			ready = replay->played[k].arrival_ns;
	played->end_ns = ready + moving_ns(replay, i);
	if (played->line == NCS_LINE_NONE)
		return;
	line = &replay->lines[played->line];
	event = event_of(part, part->end_ns, played->end_ns);
	event.error_ns = ncs_time_since(part->end_ns, part->latest_end_ns);
	if (!line->sends_overlap || !ncs_is_work_send(part->kind))
		add_event(line, event);
	else if (event.at_ns > line->send.at_ns) {
		line->send = event;
		line->send_until_ns = part->latest_end_ns;
	}
}

double ncs_replay_run(struct ncs_transfer_replay *replay)
{
	double last_ns = 0;

	begin_pass(replay);
	for (size_t i = 0; i < 2 * replay->count; i++) {
		size_t part = replay->moments[i].part;

		if (replay->moments[i].is_end)
			play_end(replay, part);
		else
			play_arrival(replay, part);
	}
	for (size_t i = 0; i < replay->count; i++)
		if (replay->played[i].line != NCS_LINE_NONE &&
		    replay->played[i].end_ns > last_ns)
			last_ns = replay->played[i].end_ns;
	return last_ns;
}

int ncs_replay_prepare(struct ncs_transfer_replay *replay)
{
	int error = order_moments(replay);

	return error ? error : find_overlaps(replay);
}
