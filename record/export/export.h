/* SPDX-License-Identifier: MIT */
/* Recordings in the formats of others: traces, lines of JSON, tables. */
#ifndef NCS_RECORD_EXPORT_EXPORT_H
#define NCS_RECORD_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/base/aliases.h"
#include "ncclstat/tables/exports.def"
#include "record/export/export_trace.h"
#include "record/read/recording.h"

enum ncs_export_format {
#define X(ID, name, is_binary, help) NCS_EXPORT_##ID,
	NCS_EXPORTS(X)
#undef X
		NCS_EXPORT_COUNT
};

const char *ncs_export_name(enum ncs_export_format format);
bool ncs_export_is_binary(enum ncs_export_format format);

struct ncs_export_request {
	enum ncs_export_format format;
	/* What ended in this time, common time; 0 and UINT64_MAX: all. */
	uint64_t from_ns;
	uint64_t until_ns;
	uint32_t pid;                      /* of this process only; 0: of all */
	const struct ncs_aliases *aliases; /* of communicators; NULL: none */
	FILE *file;
	/* Called now and then with how many records are done, of how many; NULL:
	 * nobody wants to know. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	/* Called before the end of a trace for what else is to be in it; NULL:
	 * nothing. 0 or -errno. */
	int (*add)(void *context, struct ncs_trace_writer *writer,
		   struct ncs_trace_export *trace);
	void *context;
};

/* What was left out, as it could not be read. */
struct ncs_export_result {
	uint64_t records; /* exported */
	uint64_t lost;    /* overwritten or damaged, between these */
	size_t damaged_states;
};

/* 0 or -errno: -ENOMEM, -EIO, or what was wrong with writing. The file is then
 * as far as it came. */
int ncs_export(struct ncs_recording *recording,
	       const struct ncs_export_request *request,
	       struct ncs_export_result *result);

#endif
