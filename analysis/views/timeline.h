/* SPDX-License-Identifier: MIT */
/* The recent past as swim lanes: the activities of a rank's application,
 * operations, proxy thread and channels, as cells of a line.
 *
 * A rank has tracks. A track has stretches of time, in each of which it has one
 * activity: those of records (analysis/records/latest_records.h) and those of
 * the snapshot, which are still in progress. It shows each record as it is, and
 * concludes nothing of several. An axis maps time to cells. Pure. All times are
 * in ns of CLOCK_MONOTONIC.
 */
#ifndef NCS_ANALYSIS_VIEWS_TIMELINE_H
#define NCS_ANALYSIS_VIEWS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/records/latest_records.h"
#include "ncclstat/tables/activities.def"

/* The table's activities, then the states of channels and of proxy threads. */
enum ncs_activity {
#define X(ID, letter, layer, label, help) NCS_ACTIVITY_##ID,
	NCS_ACTIVITIES(X)
#undef X
		NCS_ACTIVITY_CHANNEL,
	NCS_ACTIVITY_PROXY = NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_STATE_COUNT,
	NCS_ACTIVITY_COUNT = NCS_ACTIVITY_PROXY + NCS_PROXY_STATE_COUNT
};

/* Layers of activities: a cell with several shows the one of the highest
 * layer. */
enum ncs_activity_layer {
	NCS_LAYER_NOTHING,
	NCS_LAYER_BEHIND,
	NCS_LAYER_BEFORE
};

struct ncs_activity_words {
	char letter;
	enum ncs_activity_layer layer;
	const char *label;
	const char *help;
};

/* From activities.def and the tables of states. */
extern const struct ncs_activity_words ncs_activities[NCS_ACTIVITY_COUNT];

/* --- Tracks -------------------------------------------------------------- */

enum ncs_track_kind {
	NCS_TRACK_CALLS,    /* the application's calls */
	NCS_TRACK_FUNCTION, /* operations of one function */
	NCS_TRACK_KERNELS,  /* launches on their streams, kernels' channels */
	NCS_TRACK_PROXY,    /* the proxy thread */
	NCS_TRACK_CHANNEL,  /* steps of one channel, direction and peer */
};

struct ncs_track {
	enum ncs_track_kind kind;
	unsigned function;                      /* only if TRACK_FUNCTION */
	const struct ncs_channel_view *channel; /* only if TRACK_CHANNEL */
};

/* Returns the number of places that a rank has for tracks; those of channels
 * are the last. */
size_t ncs_track_count(const struct ncs_rank *rank);

/* Gets the track in a place. Returns false if the rank has none there. */
bool ncs_track_at(const struct ncs_rank *rank, size_t place,
		  struct ncs_track *track);

/* Writes a track's name: "API", "AllReduce", "kernels", "proxy", "ch 3 send
 * 6". */
void ncs_track_name(const struct ncs_track *track, char *text, size_t size);

struct ncs_stretch {
	uint64_t start_ns;
	uint64_t end_ns;
	enum ncs_activity activity;
	bool open; /* it has not ended */
	/* Its source; both are NULL if it is a state of the snapshot. */
	const struct ncs_record *record;
	const struct ncs_operation_view *operation;
};

/* Calls `visit` for each stretch that overlaps the time from from_ns to
 * until_ns, in no particular order. */
typedef void ncs_stretch_visit(void *context,
			       const struct ncs_stretch *stretch);
void ncs_track_visit(const struct ncs_rank *rank, const struct ncs_track *track,
		     int64_t from_ns, int64_t until_ns,
		     ncs_stretch_visit *visit, void *context);

/* Finds the stretch that a cell of this time shows: of the highest layer, the
 * one that takes most of the time. Sets *count to the number of stretches in
 * it. Returns false if there is none. */
bool ncs_track_find(const struct ncs_rank *rank, const struct ncs_track *track,
		    int64_t from_ns, int64_t until_ns,
		    struct ncs_stretch *found, size_t *count);

/* Returns for how long a stretch overlaps a time, in ns; negative if it does
 * not. */
int64_t ncs_stretch_overlap_ns(const struct ncs_stretch *stretch,
			       int64_t from_ns, int64_t until_ns);

/* Gets the stretch that is in progress at the snapshot. Returns false if there
 * is none. */
bool ncs_track_now(const struct ncs_rank *rank, const struct ncs_track *track,
		   struct ncs_stretch *now);

/* Whether a track has no stretch, neither of a record nor of the snapshot. */
bool ncs_track_is_empty(const struct ncs_rank *rank,
			const struct ncs_track *track);

/* Returns the time from which all of a track is known, but for lost records. */
uint64_t ncs_track_known_from_ns(const struct ncs_rank *rank,
				 const struct ncs_track *track);

/* Whether a track may lack what was under way: not all launches are timed. */
bool ncs_track_has_gaps(const struct ncs_rank *rank,
			const struct ncs_track *track);

/* --- One collective in all ranks ----------------------------------------- */

struct ncs_collective {
	uint64_t comm_id;
	unsigned function;
	uint64_t sequence_number;
};

/* The part of one rank in a collective. */
struct ncs_presence {
	uint64_t start_ns;
	uint64_t end_ns; /* 0 if in progress */
	uint32_t operation;
};

/* Gets the collective that a stretch belongs to. Returns false if it belongs to
 * none, or to one that cannot be identified or is no longer known. */
bool ncs_stretch_collective(const struct ncs_rank *rank,
			    const struct ncs_stretch *stretch,
			    struct ncs_collective *collective);

/* Gets a rank's part in a collective. Returns false if it has none, or if it is
 * no longer known. */
bool ncs_collective_find(const struct ncs_rank *rank,
			 const struct ncs_collective *collective,
			 struct ncs_presence *part);

/* Whether a stretch belongs to its rank's part in a collective. */
bool ncs_presence_has(const struct ncs_presence *part,
		      const struct ncs_collective *collective,
		      const struct ncs_track *track,
		      const struct ncs_stretch *stretch);

/* Gets the time of a rank's latest step: its latest operations up to a
 * repetition of those before. Returns false if no operation has ended. */
bool ncs_latest_step(const struct ncs_rank *rank, uint64_t *from_ns,
		     uint64_t *until_ns);

/* --- The axis ------------------------------------------------------------ */

/* `width` cells from left to right; the last one ends at end_ns. */
struct ncs_axis {
	int64_t end_ns;
	int64_t cell_ns;
	int width;
};

#define NCS_CELL_SHORTEST_NS INT64_C(10)
/* A wait of days fits on the screen. */
#define NCS_CELL_LONGEST_NS INT64_C(10000000000000)

/* Returns the time at which a column begins. */
int64_t ncs_axis_ns(const struct ncs_axis *axis, int column);

/* Makes cells shorter (`in`) or longer, the next of 1, 2, 5, 10 ... ns. The
 * time that a column shows stays in it. */
void ncs_axis_zoom(struct ncs_axis *axis, int column, bool in);

/* Moves the axis by half its width, back or on, but not beyond `latest_ns`. */
void ncs_axis_pan(struct ncs_axis *axis, bool back, int64_t latest_ns);

/* Returns the shortest of 1, 2, 5, 10 ... ns that is at least `columns`
 * wide. */
int64_t ncs_axis_tick_ns(const struct ncs_axis *axis, int columns);

/* --- Cells --------------------------------------------------------------- */

struct ncs_cell {
	enum ncs_activity activity; /* the one that takes most of the cell */
	bool several; /* more than one stretch is of the highest layer */
	bool lit;     /* a part of it is highlighted */
};

#define NCS_CELLS_MAX 512

/* Fills in the cells of a track along an axis, which is at most NCS_CELLS_MAX
 * wide. Highlights `collective`, which may be NULL. Returns 0, or -ENOMEM. */
int ncs_track_cells(const struct ncs_rank *rank, const struct ncs_track *track,
		    const struct ncs_axis *axis,
		    const struct ncs_collective *collective,
		    struct ncs_cell *cells);

#endif
