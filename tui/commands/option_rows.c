/* SPDX-License-Identifier: MIT */
/* The table of options as an array; see option_rows.h. */
#include "tui/commands/option_rows.h"

#include "tui/commands/option_kinds.h"

enum {
	NO = no_argument,
	REQUIRED = required_argument,
	OPTIONAL = optional_argument,
};

#define FIELD_SIZE(field) sizeof(((struct ncs_options *)0)->field)

const struct ncs_option_row ncs_option_rows[NCS_OPTIONS_END] = {
#define X(ID, name, letter, has, argument, place, mode, kind, field, limits, \
	  help) \
	{ name, \
	  letter, \
	  has, \
	  argument, \
	  NCS_PLACE_##place, \
	  NCS_MODE_##mode, \
	  &ncs_option_kind_##kind, \
	  offsetof(struct ncs_options, field), \
	  FIELD_SIZE(field), \
	  limits, \
	  help },
	NCS_OPTIONS(X)
#undef X
};
