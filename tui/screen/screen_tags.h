/* SPDX-License-Identifier: MIT */
/* Keys that tag rows. */
#ifndef NCS_TUI_SCREEN_SCREEN_TAGS_H
#define NCS_TUI_SCREEN_SCREEN_TAGS_H

#include "tui/screen/screen_state.h"

/* Tags or untags rows. Returns false if the action is not one of these. */
bool ncs_screen_act_on_tags(struct ncs_screen *screen, enum ncs_action action,
			    uint64_t now_ns);

#endif
