/* SPDX-License-Identifier: MIT */
/* The columns of exports that a user may choose from: the keys of lines of JSON
 * and the columns of tables of CSV. */
#ifndef NCS_RECORD_EXPORT_EXPORT_COLUMNS_H
#define NCS_RECORD_EXPORT_EXPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/export/export.h"

/* Returns the name of a format's column by its number from 0; NULL if there is
 * no such column. Formats other than NDJSON and CSV have none. */
const char *ncs_export_column(enum ncs_export_format format, unsigned column);

/* The cell that comes first if rows are sorted by a column. */
enum ncs_export_first {
	NCS_EXPORT_FIRST_TEXT, /* the first of texts by the alphabet */
	NCS_EXPORT_FIRST_SMALLEST,
	NCS_EXPORT_FIRST_LARGEST,
};

/* Returns that of a column of CSV. */
enum ncs_export_first ncs_export_first(unsigned column);

/* Returns whether a column is among those that were chosen; see
 * struct ncs_export_request. */
static inline bool ncs_export_has_column(uint64_t columns, unsigned column)
{
	return columns == 0 || (columns >> column & 1);
}

#endif
