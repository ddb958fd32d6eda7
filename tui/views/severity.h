/* SPDX-License-Identifier: MIT */
/* How much attention a rank deserves, for all views that show ranks, and when a
 * row is quiet. Pure. */
#ifndef NCS_TUI_VIEWS_SEVERITY_H
#define NCS_TUI_VIEWS_SEVERITY_H

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

/* Whether a column that shows a share of the window shows all of it, or nothing
 * because it is not known. */
bool ncs_share_is_all(const struct ncs_row *row, enum ncs_column_id column);

#endif
