/* SPDX-License-Identifier: MIT */
/* Sets of rows by name: which are tagged, which are folded.
 *
 * A name stays valid across samples, sorting and changes of the view. Functions
 * only change the set and allocate memory; a set of zeros is empty.
 */
#ifndef NCS_TUI_TABLE_MARKS_H
#define NCS_TUI_TABLE_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/views/columns.h"

/* The name of a row, independent of its place. */
struct ncs_grid_key {
	/* NCS_VIEW_RANK also for a proxy thread, which is named like its rank,
	 * and for a segment that cannot be read. */
	enum ncs_view view;
	uint64_t id; /* of the communicator's key, the rank's id or the node's name */
	uint64_t index; /* function, verdict, range, class or track */
	int channel;    /* -1 if the row is not of a channel */
	bool send;
	int peer;
};

/* Returns the number that stands for a text in names of rows. */
uint64_t ncs_grid_id(const char *text);

/* Gets the name of a row of the model. */
void ncs_grid_key_of(const struct ncs_row *row, struct ncs_grid_key *key);

/* Whether two names are equal. */
bool ncs_grid_key_is(const struct ncs_grid_key *a,
		     const struct ncs_grid_key *b);

struct ncs_mark {
	struct ncs_grid_key key;
	/* The mark includes all rows that belong to this row, in every view. */
	bool whole;
};

struct ncs_marks {
	struct ncs_mark *marks;
	size_t count;
	size_t capacity;
};

/* Removes all marks and frees their memory. */
void ncs_marks_clear(struct ncs_marks *marks);

/* Adds a mark, or makes an existing one whole. Returns false if there is no
 * memory. */
bool ncs_marks_add(struct ncs_marks *marks, const struct ncs_grid_key *key,
		   bool whole);

/* Removes a mark. Returns false if there was none. */
bool ncs_marks_remove(struct ncs_marks *marks, const struct ncs_grid_key *key);

/* Whether a row is marked by its own name. */
bool ncs_marks_have(const struct ncs_marks *marks,
		    const struct ncs_grid_key *key);

/* Whether a row is marked by its own name or belongs to a row that is marked as
 * a whole. */
bool ncs_marks_cover(const struct ncs_marks *marks, const struct ncs_row *row);

/* Whether a rank, or a row of it, is marked. */
bool ncs_marks_touch(const struct ncs_marks *marks,
		     const struct ncs_rank *rank);

#endif
