/* SPDX-License-Identifier: MIT */
/* The table of metrics (ncclstat/tables/metrics.def) as data, and sets of
 * metrics as users name them. Pure. */
#ifndef NCS_ANALYSIS_METRICS_METRIC_TABLE_H
#define NCS_ANALYSIS_METRICS_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/metrics.def"

#define NCS_METRIC_PREFIX "ncclstat_"

enum ncs_metric {
#define X(ID, ...) NCS_METRIC_##ID,
	NCS_METRICS(X)
#undef X
		NCS_METRIC_COUNT
};

enum ncs_metric_type {
	NCS_METRIC_TYPE_INFO,
	NCS_METRIC_TYPE_GAUGE,
	NCS_METRIC_TYPE_COUNTER,
	NCS_METRIC_TYPE_SUMMARY,
	NCS_METRIC_TYPE_HISTOGRAM,
};

/* Units of metrics. Values of SECONDS are given to the writer in ns, and of
 * RATIO in 10^-9. */
enum ncs_metric_unit {
	NCS_METRIC_UNIT_NONE,
	NCS_METRIC_UNIT_SECONDS,
	NCS_METRIC_UNIT_BYTES,
	NCS_METRIC_UNIT_RATIO,
};

struct ncs_metric_row {
	const char *name; /* without NCS_METRIC_PREFIX */
	enum ncs_metric_type type;
	enum ncs_metric_unit unit;
	const char *labels; /* names, separated by blanks */
	bool is_opt_in;
	const char *help;
};

/* The rows by enum ncs_metric. */
extern const struct ncs_metric_row ncs_metric_rows[NCS_METRIC_COUNT];

/* Return the words of a type and a unit in the exposition; "" for no unit. */
const char *ncs_metric_type_name(enum ncs_metric_type type);
const char *ncs_metric_unit_name(enum ncs_metric_unit unit);

/* Tells whether users choose the values of a label, whose name has `length`
 * bytes. */
bool ncs_metric_label_is_name(const char *label, size_t length);

/* Returns the set of metrics whose series differ by such a label alone: of
 * others only the label is left out. */
uint64_t ncs_metrics_by_name(void);

/* A set of metrics: a bit for each enum ncs_metric. */
#define NCS_METRIC_BIT(metric) (UINT64_C(1) << (metric))

/* Returns the set of those that are not opt-in. */
uint64_t ncs_metrics_default(void);

/* Changes the set by "NAME,-NAME,...": adds metrics, or takes them out; "all"
 * is all of them. Names may have the prefix. Returns false, with the name that
 * is none in `wrong`, of `size` bytes, and the set unchanged. */
bool ncs_metrics_parse(const char *text, uint64_t *set, char *wrong,
		       size_t size);

#endif
