/* SPDX-License-Identifier: MIT */
/* Which of the formats of metrics an HTTP client wants, by its header Accept.
 * Pure. */
#ifndef NCS_TUI_SERVE_ACCEPT_H
#define NCS_TUI_SERVE_ACCEPT_H

#include "analysis/metrics/metric_writer.h"

/* Returns OpenMetrics if the client names version 1.0.0 of it, or no version,
 * and likes it at least as much as plain text; else Prometheus's format. `accept`
 * may be NULL, or any bytes. */
enum ncs_metric_format ncs_accept_format(const char *accept);

/* Returns the Content-Type of a format. */
const char *ncs_accept_content_type(enum ncs_metric_format format);

#endif
