/* SPDX-License-Identifier: MIT */
/* Functions that look up a word in a table of ncclstat/tables, by number. For
 * the files that define them. */
#ifndef NCS_ANALYSIS_BASE_LOOKUP_H
#define NCS_ANALYSIS_BASE_LOOKUP_H

/* Columns of tables whose rows are X(ID, name) or X(ID, name, help). */
#define NCS_NAME(ID, name, ...) name,
#define NCS_HELP(ID, name, help) help,

/* Defines a function that looks up a column of a table. `otherwise` is for
 * numbers that are out of range; it may be one of the `words`. */
#define NCS_DEFINE_LOOKUP(function, table, column, otherwise) \
	const char *function(unsigned number) \
	{ \
		static const char *const words[] = { table(column) }; \
\
		return number < sizeof(words) / sizeof(*words) ? \
			       words[number] : \
			       (otherwise); \
	}

#endif
