/* SPDX-License-Identifier: MIT */
/* How rows look, for all views that show ranks: how much attention a rank deserves,
 * when a row is quiet, and one colour for each kind of wait. Pure. */
#ifndef NCS_TUI_VIEWS_ROW_LOOKS_H
#define NCS_TUI_VIEWS_ROW_LOOKS_H

#include "analysis/model/model.h"
#include "tui/table/rows.h"

/* Whether no operation was started within the window of the rates and no
 * channel is busy. */
bool ncs_rank_is_idle(const struct ncs_rank *rank);

/* Whether a rank has waited for so long that it may be stuck. */
bool ncs_rank_waits_long(const struct ncs_rank *rank);

/* Returns NCS_BAD for a rank that is dead or waits for long, NCS_NOTE if it is
 * of the past or silent, lost records or is a straggler, NCS_QUIET if it is idle
 * or finished, else NCS_NORMAL. */
enum ncs_severity ncs_rank_severity(const struct ncs_rank *rank);

/* Returns the severity of a part of a rank that is quiet or not: NCS_NOTE if the rank
 * is dead, NCS_QUIET also if it is finished. */
enum ncs_severity ncs_part_severity(const struct ncs_rank *rank, bool is_quiet);

/* Whether a column that shows a share of the window shows all of it, or nothing
 * because it is not known. */
bool ncs_share_is_all(const struct ncs_row *row, enum ncs_column_id column);

/* Returns the role in which a kind of wait is drawn. */
enum ncs_role ncs_wait_role(unsigned kind);

/* Returns the role of a cell that says what a channel or a rank waits for;
 * NCS_ROLE_TEXT for any other cell, and where that is not known. */
enum ncs_role ncs_wait_cell_role(const struct ncs_column *column,
				 const struct ncs_row *row);

#endif
