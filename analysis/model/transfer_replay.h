/* SPDX-License-Identifier: MIT */
/* Plays logged operations again, with less work of one process: when each of
 * them would have been there. Private to analysis/model. Pure. Times are ns.
 *
 * A process is a line of work that stops in receives and collectives until the
 * other ranks are there. It goes on while it sends, if it is ever seen to. Each
 * of its arrivals is so long after what it did before, whatever becomes of
 * that; and what ends with the last arrival does so however early that is.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_REPLAY_H
#define NCS_ANALYSIS_MODEL_TRANSFER_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/transfer_log.h"

#define NCS_LINE_NONE UINT32_MAX
#define NCS_LINE_EVENTS 32u

/* Something that a process has done, and when. */
struct ncs_transfer_event {
	uint64_t at_ns;  /* as it was */
	double moved_ns; /* as it is played */
	uint64_t error_ns; /* it may have been so much later */
	uint64_t owner;
	uint32_t operation;
	uint8_t kind;  /* enum ncs_work_kind */
	bool is_begin; /* of a send, not an end */
};

/* A process with sends and receives. */
struct ncs_transfer_line {
	struct ncs_rank *rank; /* one that has transfers */
	/* It goes on while it sends; while it receives or in collectives. */
	bool sends_overlap, others_overlap;
	/* Numbers of its sends, of transfers that follow the opposite one with
	 * the same rank, and of those that may be of one launch with it. */
	uint64_t sends, turns, exchanges;
	uint64_t operations;
	bool is_known; /* how much longer than others it works */
	/* State of one pass. */
	struct ncs_transfer_event events[NCS_LINE_EVENTS]; /* in rotation */
	uint64_t event_count;
	struct ncs_transfer_event send; /* the latest send that ended … */
	uint64_t send_until_ns;         /* … at this time at the latest */
	/* The work before the latest send of each kind that was not queued. */
	double send_work_ns[NCS_WORK_SEND_FAR + 1];
	double ahead_ns;  /* by how much it is earlier than it was */
	uint64_t work_ns; /* the sum of its work … */
	uint64_t host_ns; /* … and of its time before launches in that */
	uint64_t error_ns; /* by so much its work may be less */
	uint64_t work_until_ns;
};

/* A part while it is played. */
struct ncs_played {
	uint32_t line;  /* or NCS_LINE_NONE: of a process without transfers */
	uint8_t before; /* kind of what it did before */
	/* It had work of its own in between: as long as this. */
	bool has_work;
	/* It may be of one launch with the send before it. */
	bool is_at_once;
	uint64_t pause_ns;         /* besides a pause of all stages */
	uint64_t work_ns;
	uint64_t new_ns;           /* of that, not before another part, too */
	uint64_t cut_ns;           /* of that, taken away */
	double more_ns;            /* added to it; 0 at first */
	double arrival_ns, end_ns; /* as played */
};

struct ncs_transfer_moment;

struct ncs_transfer_replay {
	const struct ncs_logged *parts;
	size_t count;
	struct ncs_played *played; /* of each part */
	struct ncs_transfer_line *lines;
	size_t line_count;
	struct ncs_transfer_moment *moments; /* in order */
};

/* Returns how much of the latest work before a part was before its launch: then
 * its GPU had nothing to do. */
uint64_t ncs_launched_after(const struct ncs_logged *part, uint64_t work_ns);

/* Orders the moments of `parts`, and finds which lines overlap and what work
 * they have. `played` has the lines of the parts already. Returns 0 or -ENOMEM;
 * `moments` is to be freed. */
int ncs_replay_prepare(struct ncs_transfer_replay *replay);

/* Plays all operations without what is cut of the work. Returns when the last
 * of them ends. */
double ncs_replay_run(struct ncs_transfer_replay *replay);

#endif
