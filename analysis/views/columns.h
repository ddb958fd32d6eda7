/* SPDX-License-Identifier: MIT */
/* The views, their columns, and their rows: the one source of the live view,
 * the text dump and the JSON.
 *
 * Pure: a cell is computed from its row, which points into the model. A cell
 * that is unknown is NCS_VALUE_NONE and is shown as "-", never as 0.
 */
#ifndef NCS_ANALYSIS_VIEWS_COLUMNS_H
#define NCS_ANALYSIS_VIEWS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "analysis/views/value.h"
#include "ncclstat/tables/columns.def"
#include "ncclstat/tables/timings.def"
#include "ncclstat/tables/views.def"

enum ncs_view {
#define X(WITH, ID, ...) NCS_VIEW_##ID,
	NCS_TABS(X, )
#undef X
	/* Have no tab of their own, but that of collectives: */
#define X(ID, option, name) NCS_VIEW_##ID,
	NCS_VIEWS_WITHOUT_TAB(X)
#undef X
		NCS_VIEW_COUNT
};

/* The number of views that have a tab; they come first. */
#define NCS_VIEW_TABS NCS_VIEW_FUNCTION

/* The words on a view; see views.def. */
struct ncs_view_names {
	const char *option;
	const char *full;
	/* NULL if it has no tab: */
	const char *tab;
	const char *enter;
};

extern const struct ncs_view_names ncs_views[NCS_VIEW_COUNT];

/* Indexes of ncs_columns. */
enum ncs_column_id {
#define X(VIEW, ID, title, width, align, priority, level, value, help) \
	NCS_COLUMN_##VIEW##_##ID,
	NCS_COLUMNS(X)
#undef X
		NCS_COLUMN_COUNT
};

/* A row of a view: a communicator, or a function of one; a rank, or one of its
 * channels, functions, tracks, ranges or classes; a finding; or a node. A
 * finding's rank is its root, or any rank of the root's communicator if the root
 * is not seen; NULL if the finding is on a node. */
struct ncs_row {
	enum ncs_view view;
	const struct ncs_finding *finding;           /* NULL unless a finding */
	const struct ncs_communicator *communicator; /* NULL unless of one */
	const struct ncs_rank *rank; /* NULL if of a communicator or node */
	const struct ncs_node *node; /* NULL unless of one */
	uint64_t now_ns; /* the latest update; not of a rank's row */
	size_t index; /* of the rank's channels, a function, ... */
};

enum ncs_column_align { NCS_ALIGN_LEFT, NCS_ALIGN_RIGHT };
enum ncs_column_level { NCS_COLUMN_INFO, NCS_COLUMN_DIAG, NCS_COLUMN_DEBUG };
/* Whether a column is shown: as its level says, or as the user chose. */
enum ncs_column_choice {
	NCS_COLUMN_BY_LEVEL,
	NCS_COLUMN_SHOWN,
	NCS_COLUMN_HIDDEN
};

/* The C type of a field. */
enum ncs_field_type {
	NCS_FIELD_NONE, /* there is no field: the cell is computed */
	NCS_FIELD_U8,
	NCS_FIELD_U32,
	NCS_FIELD_U64,
	NCS_FIELD_I32,
	NCS_FIELD_DOUBLE, /* negative: unknown */
	NCS_FIELD_TEXT,   /* an array of char that ends with a NUL */
};

/* Where the value of a column's cells comes from: from a field, or from a
 * getter. */
struct ncs_column_value {
	enum ncs_field_type type;
	/* Returns the object of a row that has the field; NULL if it has none. */
	const void *(*object)(const struct ncs_row *row);
	size_t offset; /* in the object */
	enum ncs_value_kind kind;
	size_t error_offset; /* of a uint64_t, ns; 0 if there is no error */
	const char *(*name)(unsigned number); /* NULL unless shown as a name */
	/* Whether the value is known; NULL means always. */
	bool (*known)(const struct ncs_row *row);
	void (*get)(const struct ncs_row *row, int argument,
		    struct ncs_value *value);
	int argument; /* of the getter */
};

struct ncs_column {
	enum ncs_view view;
	const char *id; /* "RANK_STATE" */
	const char *title;
	unsigned width;
	enum ncs_column_align align;
	unsigned priority;
	enum ncs_column_level level;
	const char *help;
	struct ncs_column_value value;
};

/* All columns, in the table's order; their number is also NCS_COLUMN_COUNT. */
extern const struct ncs_column ncs_columns[];
extern const size_t ncs_column_count;

/* Returns the column of a view with this title, or with this other name where no
 * column has it as its title, in any case; NULL if there is none. */
const struct ncs_column *ncs_column_find(enum ncs_view view, const char *word);

/* Whether a column is sorted upwards: columns that name a row are, columns that
 * measure it are not. */
bool ncs_column_sorts_up(const struct ncs_column *column);

/* Sets *value to the value of a cell. `row` belongs to the column's view. */
void ncs_column_get(const struct ncs_column *column, const struct ncs_row *row,
		    struct ncs_value *value);

/* Returns the identity of a row's communicator, as the rank knows it if the row
 * is a rank's. */
const struct ncs_identity *ncs_row_identity(const struct ncs_row *row);

/* Returns the communicator of a row, or of its rank; NULL if that is not
 * known. */
const struct ncs_communicator *ncs_row_communicator(const struct ncs_row *row);

/* Whether the source of a model has anything to show in a view of nodes,
 * channels, proxy threads or ranges. */
bool ncs_view_has_data(const struct ncs_model *model, enum ncs_view view);

/* Lists all rows of a view in the model's order: communicators; the functions
 * of each that have a call or an operation; ranks; the channels of each rank;
 * its functions with a call or an operation, its tracks
 * (analysis/views/timeline.h), ranges and classes; findings, if the model has a
 * diagnosis; nodes, those of which the least is seen first. *rows grows with realloc() and belongs to the caller, as does
 * *capacity; both begin as 0. Returns the number of rows, or -ENOMEM. */
int ncs_rows(const struct ncs_model *model, enum ncs_view view,
	     struct ncs_row **rows, size_t *capacity);

#endif
