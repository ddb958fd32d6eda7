/* SPDX-License-Identifier: MIT */
/* Clauses on launches of NCCL's kernels: how far they have got, and which of
 * them are timed. Pure; texts are cut at the size of the buffer. */
#ifndef NCS_TUI_TEXT_LAUNCH_TEXT_H
#define NCS_TUI_TEXT_LAUNCH_TEXT_H

#include <stddef.h>

#include "analysis/model/waits.h"

/* Appends "launch 75 of 80 began 3.2s ago, 4 are ahead on the host"; nothing if
 * no launch is followed. */
void ncs_append_launch_progress(const struct ncs_rank *rank, char *text,
				size_t size);

/* Appends "1 launch in 8 is timed, 120 so far: " and the reason; nothing if the
 * plugin does not say. */
void ncs_append_launch_timing(const struct ncs_rank *rank, char *text,
			      size_t size);

/* Appends what a rank has waited for longest (analysis/model/oldest.h): a
 * channel's wait, or "AllReduce #41, stream for 3.2s: ". Appends nothing if it
 * waits for nothing. */
void ncs_append_oldest(const struct ncs_rank *rank, char *text, size_t size);

#endif
