/* SPDX-License-Identifier: MIT */
/* Reasons why a segment or control object could not be attached to.
 *
 * A reason is one clause for users, e.g. "it is too short". In all functions
 * `why` may be NULL; a text that does not fit its `size` bytes is cut.
 */
#ifndef NCS_SHM_READ_ATTACH_H
#define NCS_SHM_READ_ATTACH_H

#include <stddef.h>

#include "ncclstat/attach_result.h"

/* Copies the reason into `why` and returns `result`. */
enum ncs_attach ncs_attach_refuse(enum ncs_attach result, const char *text,
				  char *why, size_t size);

/* Returns the result that stands for an errno of opening or mapping, and
 * explains it. */
enum ncs_attach ncs_attach_failure(int error, char *why, size_t size);

#endif
