/* SPDX-License-Identifier: MIT */
/* Sets of rows by name: which are tagged, which are folded.
 *
 * A name outlasts samples, sorting and changes of the view. Pure but for
 * memory; a set of zeros is empty.
 */
#ifndef NCS_TUI_TABLE_MARKS_H
#define NCS_TUI_TABLE_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/views/columns.h"

/* Who a row is, whatever its place. */
struct ncs_grid_key {
	/* A proxy thread is its rank: NCS_VIEW_RANK. So is what cannot be
	 * read. */
	enum ncs_view view;
	const char *id;
	uint64_t index;
	int channel; /* -1: of no channel */
	bool send;
	int peer;
};

/* The name of a row of the model; its id is the model's. */
void ncs_grid_key_of(const struct ncs_row *row, struct ncs_grid_key *key);
bool ncs_grid_key_is(const struct ncs_grid_key *a,
		     const struct ncs_grid_key *b);

struct ncs_mark {
	struct ncs_grid_key key;
	char *id;   /* the memory of key.id */
	bool whole; /* and all that belongs to it, in every view */
};

struct ncs_marks {
	struct ncs_mark *marks;
	size_t count;
};

void ncs_marks_clear(struct ncs_marks *marks);

/* False: there is no memory. What was there stays, and may become whole. */
bool ncs_marks_add(struct ncs_marks *marks, const struct ncs_grid_key *key,
		   bool whole);

/* False: it was not there. */
bool ncs_marks_remove(struct ncs_marks *marks, const struct ncs_grid_key *key);

/* Whether it is there by itself. */
bool ncs_marks_have(const struct ncs_marks *marks,
		    const struct ncs_grid_key *key);

/* Whether it is there by itself or belongs to what is there as a whole. */
bool ncs_marks_cover(const struct ncs_marks *marks, const struct ncs_row *row);

/* Whether something of a rank is there. */
bool ncs_marks_touch(const struct ncs_marks *marks,
		     const struct ncs_rank *rank);

#endif
