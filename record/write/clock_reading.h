/* SPDX-License-Identifier: MIT */
/* Reads this machine's clocks against each other, for a recording. */
#ifndef NCS_RECORD_WRITE_CLOCK_READING_H
#define NCS_RECORD_WRITE_CLOCK_READING_H

#include "record/format/file_format.h"

/* Reads CLOCK_MONOTONIC and CLOCK_REALTIME several times and takes the fastest
 * reading: the process was delayed during the slower ones. Any thread may call
 * it. */
void ncs_clock_reading_take(struct ncs_clock_reading *reading);

#endif
