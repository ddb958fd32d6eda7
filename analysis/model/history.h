/* SPDX-License-Identifier: MIT */
/* Counters of one rank at times of the past, so that rates and shares can be
 * taken over more than the latest interval.
 *
 * A history keeps the counters of the update before the latest, those of a
 * mark, and, for each window of a fixed length, NCS_HISTORY_DEPTH sets of
 * counters that are at least a quarter of the window apart. One of these sets
 * is then always as old as the window, or a little older: by a quarter of the
 * window, or by an interval if that is longer. All counters are exact and have
 * their own time, however long the intervals are. At a rank's birth all
 * counters are zero, so the window since the start needs no set.
 *
 * Memory: 2 + 2 x NCS_HISTORY_DEPTH sets of 48 bytes a channel and direction, 8
 * bytes for each bucket of times that is not empty, and 0.4 KiB: about 22
 * MiB for 512 ranks of 32 channels both ways. Pure: no I/O, no clock. A history
 * of zeros is empty.
 */
#ifndef NCS_ANALYSIS_MODEL_HISTORY_H
#define NCS_ANALYSIS_MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/histogram.h"
#include "ncclstat/snapshot.h"

/* Sets of counters that are kept for a window. */
#define NCS_HISTORY_DEPTH 5
/* Buckets of a histogram that are kept as one, which is then about 12 %
 * wide. */
#define NCS_HISTORY_BUCKET 4
#define NCS_HISTORY_BUCKETS (NCS_HISTOGRAM_BUCKETS / NCS_HISTORY_BUCKET)
/* Windows of a fixed length, from NCS_WINDOW_10_S on. */
#define NCS_WINDOWS_FIXED 2
/* Times of a channel: idle, and the three waits of its direction. */
#define NCS_CHANNEL_TIMES 4

/* The window over which rates and shares are taken. */
enum ncs_window {
	NCS_WINDOW_NOW, /* the latest interval */
	NCS_WINDOW_10_S,
	NCS_WINDOW_100_S,
	NCS_WINDOW_START, /* since the rank's start */
	NCS_WINDOW_MARK,  /* since ncs_history_mark() */
	NCS_WINDOW_COUNT
};

struct ncs_channel_counters {
	uint8_t channel;
	bool send;
	bool bytes_known;
	int32_t peer;
	uint64_t bytes;
	uint64_t time_ns[NCS_CHANNEL_TIMES]; /* by ncs_channel_time() */
};

struct ncs_class_counters {
	uint64_t key; /* as in the segment */
	uint64_t operations;
};

struct ncs_function_counters {
	uint64_t operations;
	uint64_t last_sequence_number;
};

/* All counters that rates and shares are made from, at one time. */
struct ncs_counters {
	uint64_t taken_ns; /* time of the counters; 0 if the set is empty */
	uint64_t lost;     /* as ncs_snapshot_lost() has it */
	uint64_t proxy_time_ns[NCS_PROXY_STATE_COUNT];
	uint64_t proxy_count[NCS_TRANSITION_COUNT];
	struct ncs_function_counters functions[NCS_FUNCTION_COUNT];
	struct ncs_channel_counters *channels; /* in the snapshot's order */
	size_t channel_count, channel_capacity;
	struct ncs_class_counters *classes;
	size_t class_count, class_capacity;
	/* Histograms of all functions: counts other than 0, each with its place
	 * in the upper bits, by place; see history.c. */
	uint64_t *times;
	size_t time_count;
	size_t time_capacity;
};

/* The latest sets of counters, in rotation. */
struct ncs_past_counters {
	struct ncs_counters at[NCS_HISTORY_DEPTH];
	size_t next; /* place for the next set, where the oldest is */
};

struct ncs_history {
	uint64_t greatest_ns; /* time of any counters that were added */
	struct ncs_counters birth;  /* zeros */
	struct ncs_counters latest; /* without histograms */
	struct ncs_counters mark;
	struct ncs_past_counters past[NCS_WINDOWS_FIXED];
};

/* Returns the number of records and updates that are missing, except records
 * that were overwritten. */
uint64_t ncs_snapshot_lost(const struct ncs_snapshot *snapshot);

/* Forgets all counters and begins with a rank that was born at `born_ns`; 0 if
 * that is not known. */
void ncs_history_begin(struct ncs_history *history, uint64_t born_ns);

/* Releases all memory; the history is then empty. */
void ncs_history_release(struct ncs_history *history);

/* Adds the counters of a snapshot. Snapshots must come in the order of time.
 * Add a snapshot only once a later one has come: rates are computed for the
 * later one. Since unchanged_since_ns, which is not 0, all snapshots that were added
 * counted the same but for times. Returns 0, or -ENOMEM if the counters of this
 * one are missing. */
int ncs_history_take(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot,
		     uint64_t unchanged_since_ns);

/* Begins NCS_WINDOW_MARK at this snapshot. Returns 0, or -ENOMEM if there is no
 * mark now. */
int ncs_history_mark(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot);

/* Returns the counters with which a window begins that ends at `now_ns`: the
 * latest that are as old as the window; if none are, those of the rank's birth
 * if that is about as old, else the oldest. Returns NULL if there are none. */
const struct ncs_counters *ncs_history_base(const struct ncs_history *history,
					    enum ncs_window window,
					    uint64_t now_ns);

/* Returns the counters of a channel, whose place was `place` or less at that
 * time; NULL if there was no such channel. */
const struct ncs_channel_counters *
ncs_counters_channel(const struct ncs_counters *counters,
		     const struct ncs_channel_view *channel, size_t place);

/* Returns the operations of a class at that time; 0 if there was no such
 * class. */
uint64_t ncs_counters_class(const struct ncs_counters *counters,
			    const struct ncs_class_view *view);

/* Fills in a function's histogram in wider buckets, minus its counts at the
 * time of `base`. */
void ncs_counters_times(const struct ncs_counters *base, unsigned function,
			unsigned timing, const uint64_t *histogram,
			uint64_t counts[NCS_HISTORY_BUCKETS]);

/* Copies the counters of a channel. */
void ncs_channel_count(struct ncs_channel_counters *to,
		       const struct ncs_channel_view *from);

/* Returns the place in time_ns[] of a state; states of both directions share
 * places. */
size_t ncs_channel_time(enum ncs_channel_state state);

/* Returns the length of a window in ns, or 0 if it has no fixed length. */
uint64_t ncs_window_ns(enum ncs_window window);

/* Returns the name of a window: "now", "10s", "100s", "start" or "z". */
const char *ncs_window_name(enum ncs_window window);

#endif
