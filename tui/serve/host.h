/* SPDX-License-Identifier: MIT */
/* Which hosts a request may name in its header Host. A web page can let its own
 * name resolve to 127.0.0.1, and would then read from a browser on this machine
 * what is served here; it cannot choose the header. Pure. */
#ifndef NCS_TUI_SERVE_HOST_H
#define NCS_TUI_SERVE_HOST_H

#include <stdbool.h>

/* Tells whether requests with this header, which may be NULL or any text, are
 * answered: those for localhost, for a loopback address, and for one of
 * `names`, separated by commas; NULL: there are none. Ports do not count. */
bool ncs_host_is_served(const char *host, const char *names);

#endif
