/* SPDX-License-Identifier: MIT */
/* Counters of one rank at moments of the past, so that rates and shares can be
 * taken over more than the latest interval.
 *
 * Kept are the moment of the look before the latest, that of a mark, and for each
 * window that has a length NCS_HISTORY_DEPTH moments that are at least a
 * quarter of it apart: thinned out with age, one of them is then always as old
 * as the window or a little older (by a quarter, or by an interval if that is
 * longer). Of these moments the counters and the time are exact, whatever the
 * interval and however long there was none. What a rank has counted since its
 * birth is known without a moment, for it began with zeros.
 *
 * Memory: 2 + 2 x NCS_HISTORY_DEPTH moments of 48 bytes a channel and direction,
 * 8 bytes for each bucket of times that has any, and 1 KiB a rank: about 30 MiB
 * for 512 ranks of 32 channels both ways. Pure: no I/O, no clock. A history of
 * zeros is empty.
 */
#ifndef NCS_ANALYSIS_MODEL_HISTORY_H
#define NCS_ANALYSIS_MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/histogram.h"
#include "ncclstat/reader.h"

#define NCS_HISTORY_DEPTH 5
/* Of a histogram so many buckets together are kept as one, which is then about
 * 12 % wide. */
#define NCS_HISTORY_BUCKET 4
#define NCS_HISTORY_BUCKETS (NCS_HISTOGRAM_BUCKETS / NCS_HISTORY_BUCKET)
/* Idle, and what one direction may wait for. */
#define NCS_CHANNEL_TIMES 4

/* Over which time rates and shares are taken. */
enum ncs_window {
	NCS_WINDOW_NOW, /* the latest interval */
	NCS_WINDOW_10_S,
	NCS_WINDOW_100_S,
	NCS_WINDOW_START, /* the rank's */
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

/* What was known of a function's timed operations at some moment. */
struct ncs_timed {
	uint64_t time_ns;
	uint64_t bytes;
	uint64_t size_unknown;
};

struct ncs_function_counters {
	uint64_t operations;
	uint64_t last_sequence_number;
	struct ncs_timed timed[NCS_TIMING_COUNT];
};

/* All that rates and shares are made from, at one moment. */
struct ncs_counters {
	uint64_t taken_ns; /* 0: there is no such moment */
	uint64_t proxy_time_ns[NCS_PROXY_STATE_COUNT];
	uint64_t proxy_count[NCS_TRANSITION_COUNT];
	struct ncs_function_counters functions[NCS_FUNCTION_COUNT];
	struct ncs_channel_counters *channels; /* in the snapshot's order */
	size_t channel_count;
	struct ncs_class_counters *classes;
	size_t class_count;
	/* Histograms of all functions: counts that are not 0, each with its
	 * place above it, in the order of places; see history.c. */
	uint64_t *times;
	size_t time_count;
	size_t time_capacity;
};

/* The latest moments, at least so far apart; next is the oldest. */
struct ncs_moments {
	struct ncs_counters at[NCS_HISTORY_DEPTH];
	size_t next;
};

struct ncs_history {
	struct ncs_counters birth;  /* zeros */
	struct ncs_counters latest; /* without histograms */
	struct ncs_counters mark;
	struct ncs_moments of_10_s;
	struct ncs_moments of_100_s;
};

/* Forgets everything and begins with a rank that was born then; 0: it is not
 * known when. */
void ncs_history_begin(struct ncs_history *history, uint64_t born_ns);
void ncs_history_release(struct ncs_history *history);

/* Takes in what was known at a look, in the order of time. What is to be looked
 * at is later than all of these. 0 or -ENOMEM: that moment is then missing. */
int ncs_history_take(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot);

/* From here on counts NCS_WINDOW_MARK. 0 or -ENOMEM: there is then no mark. */
int ncs_history_mark(struct ncs_history *history,
		     const struct ncs_snapshot *snapshot);

/* Where a window that ends now begins: the latest moment that is as old as the
 * window; where none is, the rank's birth if that is about as old, else the
 * oldest moment there is. NULL: there is none. */
const struct ncs_counters *ncs_history_base(const struct ncs_history *history,
					    enum ncs_window window,
					    uint64_t now_ns);

/* A channel at that moment, which may have had its place at `place` or before
 * it; NULL: it was not there. */
const struct ncs_channel_counters *
ncs_counters_channel(const struct ncs_counters *counters,
		     const struct ncs_channel_view *channel, size_t place);

/* A class's operations at that moment; 0: it was not there. */
uint64_t ncs_counters_class(const struct ncs_counters *counters,
			    const struct ncs_class_view *view);

/* Adds up a histogram in wider buckets, less what it counted at that moment. */
void ncs_counters_times(const struct ncs_counters *base, unsigned function,
			unsigned timing, const uint64_t *histogram,
			uint64_t counts[NCS_HISTORY_BUCKETS]);

/* What is kept of a channel. */
void ncs_channel_count(struct ncs_channel_counters *to,
		       const struct ncs_channel_view *from);

/* The place in time_ns[] of a state that this direction may be in. */
size_t ncs_channel_time(enum ncs_channel_state state);

/* The length of a window; 0: it has none. */
uint64_t ncs_window_ns(enum ncs_window window);

/* "now", "10s", "100s", "start", "z". */
const char *ncs_window_name(enum ncs_window window);

#endif
