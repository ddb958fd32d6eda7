/* SPDX-License-Identifier: MIT */
/* Tells by what a job is seen to be well. Pure. */
#ifndef NCS_TUI_TEXT_WELL_TEXT_H
#define NCS_TUI_TEXT_WELL_TEXT_H

#include <stddef.h>

#include "analysis/model/model.h"

/* Appends by what a job is taken to be well: how many of its ranks are seen and
 * level, of how many that is not known, how many operations they began lately,
 * and in how many of them it was compared how late they come. Appends nothing if
 * no rank lives. */
void ncs_append_well(const struct ncs_model *model, char *text, size_t size);

#endif
