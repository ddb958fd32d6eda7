/* SPDX-License-Identifier: MIT */
/* The colours of waits: one for each kind, in every view. Pure. */
#ifndef NCS_TUI_VIEWS_WAIT_CELLS_H
#define NCS_TUI_VIEWS_WAIT_CELLS_H

#include "analysis/views/columns.h"
#include "tui/term/term.h"

/* Returns the role in which a kind of wait is drawn. */
enum ncs_role ncs_wait_role(unsigned kind);

/* Returns the role of a cell that says what a channel or a rank waits for;
 * NCS_ROLE_TEXT for any other cell, and where that is not known. */
enum ncs_role ncs_wait_cell_role(const struct ncs_column *column,
				 const struct ncs_row *row);

#endif
