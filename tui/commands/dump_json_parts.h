/* SPDX-License-Identifier: MIT */
/* Parts of the JSON dump, which dump_json.c puts together. Keys are part of the
 * interface; see dump_json.c.
 */
#ifndef NCS_TUI_COMMANDS_DUMP_JSON_PARTS_H
#define NCS_TUI_COMMANDS_DUMP_JSON_PARTS_H

#include <jansson.h>

#include "analysis/model/model.h"
#include "analysis/views/columns.h"

/* Returns a new object with a rank and what the views show of it: a bit for each
 * enum ncs_view. */
json_t *ncs_dump_json_rank(const struct ncs_rank *rank, unsigned views);

/* Returns a new object that says which rank it is: its process, and its number,
 * which is null if unknown. */
json_t *ncs_dump_json_identity(const struct ncs_rank *rank);

/* Adds the members that are cells of a view's row: of a rank, its channel, its
 * proxy thread, its function or its class. `index` is that of struct ncs_row.
 * Returns the object. */
json_t *ncs_dump_json_cells(json_t *object, const struct ncs_rank *rank,
			    enum ncs_view view, size_t index);

/* Return new arrays: a rank's functions, classes, ranges and operations in
 * flight. */
json_t *ncs_dump_json_functions(const struct ncs_rank *rank);
json_t *ncs_dump_json_classes(const struct ncs_rank *rank);
json_t *ncs_dump_json_ranges(const struct ncs_rank *rank);
json_t *ncs_dump_json_operations(const struct ncs_rank *rank);

/* Returns a new object with GPU times by CUPTI; null if no kernel was
 * recorded. */
json_t *ncs_dump_json_gpu_time(const struct ncs_gpu_time *time);

#endif
