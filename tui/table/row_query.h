/* SPDX-License-Identifier: MIT */
/* The words by which users filter rows or search for one: "allreduce", "rank 3",
 * "rank=3", "host:n7 late>5ms", "n1|n2".
 *
 * Pure: reads a row and the query, nothing else.
 */
#ifndef NCS_TUI_TABLE_ROW_QUERY_H
#define NCS_TUI_TABLE_ROW_QUERY_H

#include "tui/table/rows.h"

#define NCS_ROW_QUERY_EXAMPLES "rank=3 or host:n7 late>5ms or a|b"

/* Whether a row matches: all of the words that blanks separate, or those of
 * another alternative behind '|'. A word is a part of one of the row's names, of
 * its host or of its job's labels; or a column's title, any of = : < > <= >=,
 * and a value; ':' and '=' of a text is for its beginning as well. A column that
 * the row's view lacks is that of its rank. An unknown cell matches no value; an
 * empty query matches every row. */
bool ncs_row_matches(const struct ncs_grid_row *row, const char *query);

/* Prints why a query may match nothing: a column that there is not, or else
 * examples. `view` is that of the rows. */
void ncs_row_query_hint(enum ncs_view view, const char *query, char *text,
			size_t size);

#endif
