/* SPDX-License-Identifier: MIT */
/* Why something of shared memory could not be attached to, for people. */
#ifndef NCS_SHM_READ_ATTACH_H
#define NCS_SHM_READ_ATTACH_H

#include <stddef.h>

#include "ncclstat/reader.h"

/* Copies the text, cut if need be; `why` may be NULL. */
void ncs_attach_explain(char *why, size_t size, const char *text);

/* What an errno of opening or mapping comes to; explains it. */
enum ncs_attach ncs_attach_failure(int error, char *why, size_t size);

#endif
