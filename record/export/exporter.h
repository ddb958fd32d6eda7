/* SPDX-License-Identifier: MIT */
/* The functions of each export format. Only export.c and the formats include
 * this header. */
#ifndef NCS_RECORD_EXPORT_EXPORTER_H
#define NCS_RECORD_EXPORT_EXPORTER_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "record/export/export.h"
#include "record/export/export_facts.h"
#include "record/export/trace_writer.h"

struct ncs_exporter {
	const struct ncs_export_request *request;
	/* Facts of the ranks, as learned so far. */
	const struct ncs_export_rank *ranks;
	size_t rank_count;
	struct ncs_recording *recording;
	bool has_failed; /* what is written is not whole */
	/* Facts of operations, if the format joins them. */
	struct ncs_operation_table operations;
	struct ncs_trace_base base;
	void *own; /* the format's own data */
};

/* Whether a rank is exported. */
static inline bool ncs_exporter_wants(const struct ncs_exporter *exporter,
				      size_t rank)
{
	return exporter->request->pid == 0 ||
	       exporter->ranks[rank].pid == exporter->request->pid;
}

/* Returns whether a column is among those that were chosen; see
 * struct ncs_export_request. */
static inline bool ncs_exporter_has_column(uint64_t columns, unsigned column)
{
	return columns == 0 || (columns >> column & 1);
}

/* Functions return 0 or -errno. All but begin and end may be NULL. The states
 * of a rank are passed one after another, and the states of all ranks before
 * the first record. */
struct ncs_exporter_functions {
	/* Gets no record of an operation that a later record replaces, and
	 * before the records what those of all ranks tell together. */
	bool joins_operations;
	/* Names a column; see ncs_export_column(). */
	const char *(*column)(unsigned column);
	int (*begin)(struct ncs_exporter *exporter);
	int (*state)(struct ncs_exporter *exporter, size_t rank,
		     const struct ncs_snapshot *snapshot, bool is_last);
	/* Takes a record of any type but STREAM. `stream` is its stream, as
	 * ncs_cuda_streams_take() set it. */
	int (*record)(struct ncs_exporter *exporter, size_t rank, unsigned lane,
		      uint64_t stream, const struct ncs_record *record);
	/* Called if records are missing before the rank's next one. */
	int (*lose)(struct ncs_exporter *exporter, size_t rank);
	/* Ends the export, and frees `own`; also after an error. */
	int (*end)(struct ncs_exporter *exporter);
};

/* Flushes the file. Returns 0, or -errno if this or any earlier write
 * failed. */
static inline int ncs_exporter_flush(const struct ncs_exporter *exporter)
{
	FILE *file = exporter->request->file;

	errno = 0;
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	return errno ? -errno : -EIO;
}

/* PERFETTO and CHROME. */
extern const struct ncs_exporter_functions ncs_exporter_trace;
extern const struct ncs_exporter_functions ncs_exporter_ndjson;
extern const struct ncs_exporter_functions ncs_exporter_csv;
extern const struct ncs_exporter_functions ncs_exporter_parquet;

#endif
