/* SPDX-License-Identifier: MIT */
/* The latest past as swim lanes: what a rank's application, operations, proxy
 * thread and channels did when, as cells of a line.
 *
 * A rank has tracks, a track has stretches of time in which it does one thing:
 * those of records (analysis/records/latest_records.h) and those of what is
 * under way in the snapshot. An axis says which time a line shows; cells are
 * what is seen there. Pure. All times are CLOCK_MONOTONIC ns.
 */
#ifndef NCS_ANALYSIS_VIEWS_TIMELINE_H
#define NCS_ANALYSIS_VIEWS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "ncclstat/tables/activities.def"

/* The table's own, then the states of channels and of proxy threads. */
enum ncs_activity {
#define X(ID, letter, layer, label, help) NCS_ACTIVITY_##ID,
	NCS_ACTIVITIES(X)
#undef X
		NCS_ACTIVITY_CHANNEL,
	NCS_ACTIVITY_PROXY = NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_STATE_COUNT,
	NCS_ACTIVITY_COUNT = NCS_ACTIVITY_PROXY + NCS_PROXY_STATE_COUNT
};

char ncs_activity_letter(enum ncs_activity activity);
const char *ncs_activity_label(enum ncs_activity activity);
const char *ncs_activity_help(enum ncs_activity activity);

/* --- Tracks -------------------------------------------------------------- */

enum ncs_track_kind {
	NCS_TRACK_CALLS,    /* of the application */
	NCS_TRACK_FUNCTION, /* operations of one function */
	NCS_TRACK_KERNELS,  /* those that are timed */
	NCS_TRACK_PROXY,    /* the proxy thread */
	NCS_TRACK_CHANNEL,  /* steps of one channel, direction and peer */
};

struct ncs_track {
	enum ncs_track_kind kind;
	unsigned function;
	const struct ncs_channel_view *channel;
};

/* Places of tracks; those of channels are the last. */
size_t ncs_track_count(const struct ncs_rank *rank);

/* False: the rank has nothing to show in this place. */
bool ncs_track_at(const struct ncs_rank *rank, size_t place,
		  struct ncs_track *track);

/* "API", "AllReduce", "kernels", "proxy", "ch 3 send 6". */
void ncs_track_name(const struct ncs_track *track, char *text, size_t size);

struct ncs_stretch {
	uint64_t start_ns;
	uint64_t end_ns;
	enum ncs_activity activity;
	bool open; /* it goes on */
	/* Where it comes from; both NULL: a state of the snapshot's tables. */
	const struct ncs_record *record;
	const struct ncs_operation_view *operation;
};

/* Calls `visit` for each stretch that overlaps a time, in no order. */
typedef void ncs_stretch_visit(void *context,
			       const struct ncs_stretch *stretch);
void ncs_track_visit(const struct ncs_rank *rank, const struct ncs_track *track,
		     int64_t from_ns, int64_t until_ns,
		     ncs_stretch_visit *visit, void *context);

/* The stretch that is seen in a time: of those before others the one that
 * takes most of it. False: there is none. *count: how many there are. */
bool ncs_track_find(const struct ncs_rank *rank, const struct ncs_track *track,
		    int64_t from_ns, int64_t until_ns,
		    struct ncs_stretch *found, size_t *count);

/* What is under way in it, as of the snapshot. False: nothing is. */
bool ncs_track_now(const struct ncs_rank *rank, const struct ncs_track *track,
		   struct ncs_stretch *now);

/* Whether nothing is known of it but that it is there. */
bool ncs_track_is_empty(const struct ncs_rank *rank,
			const struct ncs_track *track);

/* From when on all of a track is known that was not lost. */
uint64_t ncs_track_known_from_ns(const struct ncs_rank *rank,
				 const struct ncs_track *track);

/* --- One collective in all ranks ----------------------------------------- */

struct ncs_collective {
	uint64_t comm_id;
	unsigned function;
	uint64_t sequence_number;
};

/* As one rank had it. */
struct ncs_presence {
	uint64_t start_ns;
	uint64_t end_ns; /* 0: it is under way */
	uint32_t operation;
};

/* The collective that a stretch belongs to. False: to none that can be told
 * from others, or that is still known. */
bool ncs_stretch_collective(const struct ncs_rank *rank,
			    const struct ncs_stretch *stretch,
			    struct ncs_collective *collective);

/* A rank's part in it. False: it had none, or it is no longer known. */
bool ncs_collective_find(const struct ncs_rank *rank,
			 const struct ncs_collective *collective,
			 struct ncs_presence *part);

/* Whether a stretch belongs to the part of the same rank. */
bool ncs_presence_has(const struct ncs_presence *part,
		      const struct ncs_collective *collective,
		      const struct ncs_track *track,
		      const struct ncs_stretch *stretch);

/* --- The axis ------------------------------------------------------------ */

/* Cells from left to right, the last of which ends at end_ns. */
struct ncs_axis {
	int64_t end_ns;
	int64_t cell_ns;
	int width;
};

#define NCS_CELL_SHORTEST_NS INT64_C(10)
#define NCS_CELL_LONGEST_NS INT64_C(10000000000)

/* When a column begins. */
int64_t ncs_axis_ns(const struct ncs_axis *axis, int column);

/* The next shorter or longer cells of 1, 2, 5, 10 … ns. What is in the column
 * stays there. */
void ncs_axis_zoom(struct ncs_axis *axis, int column, bool in);

/* Half a screen back or on, but not beyond `latest_ns`. */
void ncs_axis_pan(struct ncs_axis *axis, bool back, int64_t latest_ns);

/* The shortest of 1, 2, 5, 10 … ns that is `columns` wide at least. */
int64_t ncs_axis_tick_ns(const struct ncs_axis *axis, int columns);

/* --- Cells --------------------------------------------------------------- */

struct ncs_cell {
	enum ncs_activity activity; /* that takes most of it */
	bool several; /* there are more stretches than one before others */
	bool lit;     /* some of it belongs to what is highlighted */
};

#define NCS_CELLS_MAX 512

/* What a track does in each cell of an axis that is NCS_CELLS_MAX wide at
 * most. `collective`, which may be NULL, is highlighted. 0 or -ENOMEM. */
int ncs_track_cells(const struct ncs_rank *rank, const struct ncs_track *track,
		    const struct ncs_axis *axis,
		    const struct ncs_collective *collective,
		    struct ncs_cell *cells);

#endif
