/* SPDX-License-Identifier: MIT */
/* The step of a job in words. Pure functions; texts are cut at the size of the buffer.
 * Names in them come from shared memory: clean them before printing
 * (ncs_utf8_clean()). */
#ifndef NCS_TUI_TEXT_STEP_TEXT_H
#define NCS_TUI_TEXT_STEP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/stragglers.h"
#include "tui/text/words.h"

/* Returns whether a bound of a value is as good as the value. */
bool ncs_bound_is_near(double bound, double value);

/* Returns a time in ns, as "31ms", or "4.1ms to 28ms" where its bounds are not near. */
struct ncs_phrase ncs_bounded(double ns, double least_ns, double most_ns);

/* Appends "a step takes 148ms (mean of 63, by 14 calls that repeat), of it 31ms exposed
 * communication, 27ms waiting for rank 5 of world", or why that is not known. */
void ncs_append_step(const struct ncs_model *model, char *text, size_t size);

#endif
