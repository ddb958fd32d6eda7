/* SPDX-License-Identifier: MIT */
/* Reads two headers of requests. Pure. */
#ifndef NCS_TUI_SERVE_HTTP_HEADERS_H
#define NCS_TUI_SERVE_HTTP_HEADERS_H

#include <stdbool.h>

#include "analysis/metrics/metric_writer.h"

/* Returns OpenMetrics if the client names version 1.0.0 of it, or no version,
 * and likes it at least as much as plain text; else Prometheus's format. `accept`
 * may be NULL, or any bytes. */
enum ncs_metric_format ncs_accept_format(const char *accept);

/* Returns the Content-Type of a format. */
const char *ncs_accept_content_type(enum ncs_metric_format format);

/* Tells whether requests with this header Host, which may be NULL or any text, are
 * answered: those for localhost, for a loopback address, and for one of `names`,
 * separated by commas; NULL: there are none. Ports do not count. A web page can let its
 * own name resolve to 127.0.0.1, and would then read from a browser on this machine what
 * is served here; it cannot choose the header. */
bool ncs_host_is_served(const char *host, const char *names);

#endif
