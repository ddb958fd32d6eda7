/* SPDX-License-Identifier: MIT */
/* The peaks of this machine, and what holds it below them, for whoever shows or
 * records its ranks.
 *
 * They are read by a thread of its own, from the first time that they are asked
 * for: NVML may take a second, and hangs while a GPU does. What changes is read
 * again and again. To be asked for once there is a job. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_PEAKS_PEAKS_HERE_H
#define NCS_ANALYSIS_PEAKS_PEAKS_HERE_H

#include <stdbool.h>

#include "analysis/base/machine_peaks.h"

struct ncs_peaks_reading;

/* One of zeros has not been asked for. */
struct ncs_peaks_here {
	struct ncs_peaks_reading *reading; /* NULL: not begun, or no memory */
	bool has_begun;
	struct ncs_machine_peaks peaks;
};

/* Returns the latest peaks, or NULL as long as they are not known, which may be
 * for ever. Never waits. They are valid until the next call. */
const struct ncs_machine_peaks *ncs_peaks_here(struct ncs_peaks_here *here);

/* Ends the reading. Waits for it for half a second at most; then the thread is
 * left behind with its memory, and the program must end. */
void ncs_peaks_here_release(struct ncs_peaks_here *here);

#endif
