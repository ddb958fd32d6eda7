/* SPDX-License-Identifier: MIT */
/* What an export has to know of a rank to tell its records: who it is, what
 * its ranges are called, and how its GPU's clock goes. Learned from the rank's
 * states. */
#ifndef NCS_RECORD_EXPORT_EXPORT_RANK_H
#define NCS_RECORD_EXPORT_EXPORT_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/aliases.h"
#include "analysis/records/gpu_readings.h"
#include "ncclstat/reader.h"

struct ncs_export_range_path {
	uint32_t number;
	char *path; /* outermost first, with '/' between two */
};

struct ncs_export_rank {
	const char *host; /* borrowed */
	uint32_t pid;
	const struct ncs_aliases *aliases; /* borrowed; NULL: none */
	struct ncs_clock clock; /* of its records, to the common time */
	struct ncs_identity identity;
	char communicator[128];       /* its name, else its id; raw */
	struct ncs_export_range_path *paths; /* by number */
	size_t path_count;
	size_t path_capacity;
	struct ncs_gpu_readings gpu; /* its clock, in common time */
};

/* From its header; nothing else is known then. */
void ncs_export_rank_init(struct ncs_export_rank *rank, const char *host,
			  const struct ncs_header *header,
			  const struct ncs_aliases *aliases);
void ncs_export_rank_release(struct ncs_export_rank *rank);

/* Learns of a state; later ones come later. 0 or -ENOMEM. */
int ncs_export_rank_learn(struct ncs_export_rank *rank,
			  const struct ncs_snapshot *snapshot);

/* The names of a range and of those around it; NULL: not known. */
const char *ncs_export_rank_path(const struct ncs_export_rank *rank,
				 uint64_t number);

/* When a record's event began and ended, common time. */
struct ncs_export_span {
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_by_gpu; /* by the GPU's clock: a kernel's, where that is known … */
	uint64_t gpu_error_ns; /* … and what it is off at most */
};

struct ncs_export_span ncs_export_rank_span(const struct ncs_export_rank *rank,
					    const struct ncs_record *record);

#endif
