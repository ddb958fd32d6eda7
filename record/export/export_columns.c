/* SPDX-License-Identifier: MIT */
/* The columns of exports; see export_columns.h. */
#include "record/export/export_columns.h"

#include <assert.h>
#include <stddef.h>

#include "ncclstat/tables/csv.def"
#include "record/format/record_fields.h"

static const char *const csv_columns[] = {
#define X(ID, name, first, help) name,
	NCS_CSV_COLUMNS(X)
#undef X
};

static const enum ncs_export_first csv_first[] = {
#define X(ID, name, first, help) NCS_EXPORT_FIRST_##first,
	NCS_CSV_COLUMNS(X)
#undef X
};

#define CSV_COUNT (sizeof(csv_columns) / sizeof(csv_columns[0]))

static_assert(NCS_FIELD_COUNT < 64 && CSV_COUNT < 64,
	      "a set of columns has a bit for each");

const char *ncs_export_column(enum ncs_export_format format, unsigned column)
{
	if (format == NCS_EXPORT_NDJSON && column < NCS_FIELD_COUNT)
		return ncs_field_name((enum ncs_field)column);
	if (format == NCS_EXPORT_CSV && column < CSV_COUNT)
		return csv_columns[column];
	return NULL;
}

enum ncs_export_first ncs_export_first(unsigned column)
{
	return column < CSV_COUNT ? csv_first[column] : NCS_EXPORT_FIRST_TEXT;
}
