/* SPDX-License-Identifier: MIT */
/* Exports a recording to another format: a trace, lines of JSON, or a table. */
#ifndef NCS_RECORD_EXPORT_EXPORT_H
#define NCS_RECORD_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/aliases.h"
#include "ncclstat/tables/exports.def"
#include "record/read/recording.h"

enum ncs_export_format {
#define X(ID, name, is_binary, help) NCS_EXPORT_##ID,
	NCS_EXPORTS(X)
#undef X
		NCS_EXPORT_COUNT
};

/* Return a format's name, and whether it is binary. */
const char *ncs_export_name(enum ncs_export_format format);
bool ncs_export_is_binary(enum ncs_export_format format);

/* Returns the name of a format's column by its number from 0; NULL if there is
 * no such column, or no such format. Formats other than NDJSON and CSV have
 * none. */
const char *ncs_export_column(enum ncs_export_format format, unsigned column);

struct ncs_model;
struct ncs_trace_writer; /* record/export/trace_writer.h */

/* The most columns that an export is sorted by. */
#define NCS_EXPORT_ORDERS_MAX 16u

struct ncs_export_order {
	unsigned column; /* as ncs_export_column() knows it */
	bool is_reversed;
};

struct ncs_export_request {
	enum ncs_export_format format;
	/* Only events that ended in this time are exported; in common time, 0
	 * and UINT64_MAX for all. */
	uint64_t from_ns;
	uint64_t until_ns;
	/* NDJSON, CSV: a bit for each column to write, by the number that
	 * ncs_export_column() knows it by; 0 for all. */
	uint64_t columns;
	/* CSV: the columns by which rows are sorted, the first one counting
	 * most; none: rows stay in the order of ranks. */
	struct ncs_export_order order[NCS_EXPORT_ORDERS_MAX];
	size_t order_count;
	/* A bit for each type of event to export (record.h); 0 for all. */
	uint64_t events;
	uint32_t pid; /* pid of the only process to export; 0 for all */
	/* Names of communicators; NULL for none. */
	const struct ncs_aliases *aliases;
	/* A model at the end of that time, for what is told by all ranks
	 * together; NULL: that is unknown. */
	const struct ncs_model *model;
	/* PARQUET: the folder for the files, which is made if it is not there;
	 * NULL for other formats. */
	const char *directory;
	FILE *file; /* NULL for PARQUET */
	/* Called from time to time with the numbers of records done and in
	 * total; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	/* Called before the end of a trace, so that the caller can add tracks;
	 * may be NULL. Returns 0 or -errno. */
	int (*add)(void *context, struct ncs_trace_writer *writer);
	void *context;
};

/* The number of records exported, and of data that could not be read. */
struct ncs_export_result {
	uint64_t records; /* number of records exported */
	uint64_t lost;    /* records that were overwritten or damaged */
};

/* Exports a recording. Returns 0, -ENOMEM, -EIO, or another -errno of writing.
 * After an error the file is incomplete. */
int ncs_export(struct ncs_recording *recording,
	       const struct ncs_export_request *request,
	       struct ncs_export_result *result);

#endif
