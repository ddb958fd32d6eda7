/* SPDX-License-Identifier: MIT */
/* The column table with its getters: one truth for the live view, the text
 * dump and the manual.
 *
 * Pure: a getter computes one cell of one row from the model. Unknown is
 * NCS_VALUE_NONE and is shown as "-", never as 0.
 */
#ifndef NCS_ANALYSIS_VIEWS_COLUMNS_H
#define NCS_ANALYSIS_VIEWS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "ncclstat/tables/columns.def"

enum ncs_view {
	NCS_VIEW_RANK,
	NCS_VIEW_COMMUNICATOR,
	NCS_VIEW_CHANNEL,
	NCS_VIEW_PROXY,
	NCS_VIEW_FUNCTION,
	NCS_VIEW_TIMELINE,
	NCS_VIEW_FINDING,
	NCS_VIEW_RANGE,
	NCS_VIEW_CLASS, /* has no tab: it is under that of functions */
	NCS_VIEW_COUNT
};

/* Views that have a tab come first. */
#define NCS_VIEW_TABS NCS_VIEW_CLASS

/* As --view names them. */
extern const char *const ncs_view_names[NCS_VIEW_COUNT];

/* Places in ncs_columns. */
enum ncs_column_id {
#define X(VIEW, ID, title, width, align, priority, level, help) \
	NCS_COLUMN_##VIEW##_##ID,
	NCS_COLUMNS(X)
#undef X
	NCS_COLUMN_COUNT
};

/* A row of a view: a communicator; a rank, or the index-th channel, function,
 * track, range or class of one; or a finding, which is its root's, or that of a
 * rank of the root's communicator where the root is not seen. */
struct ncs_row {
	enum ncs_view view;
	const struct ncs_finding *finding;           /* NULL: it is none */
	const struct ncs_communicator *communicator; /* NULL: it is a rank's */
	const struct ncs_rank *rank; /* NULL: it is a communicator's */
	size_t index;
};

enum ncs_value_kind {
	NCS_VALUE_NONE,       /* unknown */
	NCS_VALUE_NUMBER,     /* number */
	NCS_VALUE_RATE,       /* real, per second */
	NCS_VALUE_BYTES,      /* number */
	NCS_VALUE_SIZE,       /* number, shown in powers of 1024 */
	NCS_VALUE_BYTES_RATE, /* real, bytes per second */
	NCS_VALUE_REAL,       /* real, 10^6 or 10^9 bytes per second */
	NCS_VALUE_SHARE,      /* real, 0 … 1, shown in percent */
	NCS_VALUE_DURATION,   /* number, ns; may have an error */
	NCS_VALUE_TEXT,       /* text */
	NCS_VALUE_TRACE,      /* trace; real, its latest value */
};

struct ncs_value {
	enum ncs_value_kind kind;
	int64_t number;
	uint64_t error_ns; /* what it may be off, by hosts' clocks; 0: nothing */
	double real;
	const struct ncs_recent *trace; /* the model's */
	uint64_t trace_count;
	char text[128]; /* raw, as found in the segment: escape when shown */
};

enum ncs_column_align { NCS_ALIGN_LEFT, NCS_ALIGN_RIGHT };
enum ncs_column_level { NCS_COLUMN_INFO, NCS_COLUMN_DIAG, NCS_COLUMN_DEBUG };
/* Whether it is shown: as its level says, or as the user does. */
enum ncs_column_choice {
	NCS_COLUMN_BY_LEVEL,
	NCS_COLUMN_SHOWN,
	NCS_COLUMN_HIDDEN
};

struct ncs_column {
	enum ncs_view view;
	const char *id;    /* "RANK_STATE" */
	const char *title;
	unsigned width;
	enum ncs_column_align align;
	unsigned priority;
	enum ncs_column_level level;
	const char *help;
	/* Sets all of *value. */
	void (*get)(const struct ncs_row *row, struct ncs_value *value);
};

extern const struct ncs_column ncs_columns[];
extern const size_t ncs_column_count;

/* All rows of a view in the model's order: communicators; ranks; channels of
 * each rank; functions with a call or an operation, tracks
 * (analysis/views/timeline.h), ranges and classes of each rank; findings, if the model
 * has a diagnosis. *rows is grown with realloc() and owned by the caller; returns
 * the number of rows, or -ENOMEM. */
int ncs_rows(const struct ncs_model *model, enum ncs_view view,
	     struct ncs_row **rows, size_t *capacity);

/* Orders two values as a user who sorts expects: unknown last. Who turns the
 * order round must leave unknown values where they are. */
int ncs_value_compare(const struct ncs_value *a, const struct ncs_value *b);

#endif
