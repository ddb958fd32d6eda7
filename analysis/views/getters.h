/* SPDX-License-Identifier: MIT */
/* Getters of the cells that are computed, by kind of row. Only columns.c, whose
 * table names them, calls them.
 *
 * A getter gets a row, the argument of its column, and a value that is unknown
 * (NCS_VALUE_NONE); it sets the value if it knows it. Rates and shares cover the
 * window, from the rank's base to now. Pure: a getter reads its row and nothing else.
 */
#ifndef NCS_ANALYSIS_VIEWS_GETTERS_H
#define NCS_ANALYSIS_VIEWS_GETTERS_H

#include "analysis/views/columns.h"

#define NCS_GETTER(name) \
	void ncs_get_##name(const struct ncs_row *row, \
			    int argument __attribute__((unused)), \
			    struct ncs_value *value)

/* Sets how long a rank has been in something since a time, 0 if that is not known:
 * until now or until its end, and at least so long if nobody knows when its process
 * died. Not a getter, but of use to several; in rank_getters.c. */
void ncs_value_set_lasting(struct ncs_value *value, const struct ncs_rank *rank,
			   uint64_t since_ns);

/* The getters of the table, in rank_getters.c, channel_getters.c,
 * operation_getters.c and finding_getters.c. Some use their argument: of
 * rank_bytes_rate it is 1 for bytes sent, 0 for bytes received; of channel_share an
 * enum ncs_wait_kind, of proxy_share an enum ncs_proxy_state, of proxy_rate an enum
 * ncs_proxy_transition; of bandwidths 1 for bus, 0 for algorithm bandwidth; of
 * percentiles the percentage. */
#define FIELD(...)
#define DURATION(...)
#define NAME(...)
#define CALL(getter) NCS_GETTER(getter);
#define CALL_WITH(getter, argument) NCS_GETTER(getter);
#define X(VIEW, ID, title, width, align, priority, level, value, help) value
NCS_COLUMNS(X)
#undef X
#undef CALL_WITH
#undef CALL
#undef NAME
#undef DURATION
#undef FIELD

/* Sets the values of a sparkline (rank_getters.c). Each of `count` refreshes has
 * a value, whatever the window. */
void ncs_value_set_recent(struct ncs_value *value,
			  const struct ncs_recent *recent, uint64_t count);

#endif
