/* SPDX-License-Identifier: MIT */
/* Facts that exports need besides records: about a rank its identity, the paths of
 * its ranges, and its GPU's clock, which are learned from the rank's states; and
 * about operations. Writes nothing. Not thread-safe. */
#ifndef NCS_RECORD_EXPORT_EXPORT_FACTS_H
#define NCS_RECORD_EXPORT_EXPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/aliases.h"
#include "analysis/base/hash_table.h"
#include "analysis/base/machine_peaks.h"
#include "analysis/records/gpu_readings.h"
#include "analysis/records/joined.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/snapshot.h"
#include "record/format/record_fields.h"
#include "record/read/recording.h"

struct ncs_header; /* ncclstat/abi_header.h */

struct ncs_export_range_path {
	uint32_t number;
	/* Names from the outermost range inwards, separated by '/'. */
	char *path;
};

struct ncs_export_rank {
	const char *host; /* borrowed: as the process had it */
	char *node; /* that the pod is on; NULL: not known */
	char *job; /* what names the job; NULL: nothing does */
	uint32_t pid;
	const struct ncs_aliases *aliases; /* borrowed; NULL if none */
	struct ncs_clock clock; /* from the records' ticks to the common time */
	struct ncs_identity identity;
	char gpu_uuid[NCS_GPU_UUID_BYTES]; /* "": not known */
	/* Name or id of the communicator; not cleaned. */
	char communicator[128];
	char communicator_id[17]; /* its id in hexadecimal; "": not known */
	struct ncs_export_range_path *paths; /* sorted by number */
	size_t path_count;
	size_t path_capacity;
	/* Readings of the GPU's clock, in common time. */
	struct ncs_gpu_readings gpu;
};

/* Initializes a rank with the facts in its header. The names are borrowed. */
void ncs_export_rank_init(struct ncs_export_rank *rank, const char *host,
			  const struct ncs_header *header,
			  const struct ncs_aliases *aliases);
/* Frees what was learned. */
void ncs_export_rank_release(struct ncs_export_rank *rank);

/* Learns from the rank's next state, and from the labels of its process, which never
 * change. Returns 0 or -ENOMEM. */
int ncs_export_rank_learn(struct ncs_export_rank *rank,
			  const struct ncs_snapshot *snapshot,
			  const char *labels);

/* Returns the path of a range; NULL if it is not known. */
const char *ncs_export_rank_path(const struct ncs_export_rank *rank,
				 uint64_t number);

#define NCS_EXPORT_TEXT_BYTES 256u

/* Returns the text of a field that exports show as text: of any kind but flags and
 * numbers. NULL if it is not known. It may be written into `room`; that of a path
 * is not cleaned. */
const char *ncs_export_rank_text(const struct ncs_export_rank *rank,
				 const struct ncs_field_value *field,
				 char room[NCS_EXPORT_TEXT_BYTES]);

/* The time of a record's event, in common time. */
struct ncs_export_span {
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_by_gpu; /* whether this is a kernel's time by the GPU's clock */
	uint64_t gpu_error_ns; /* largest error of the GPU's clock */
};

/* Returns the time of a record's event. A kernel's time is by the GPU's clock
 * if that is known. */
struct ncs_export_span ncs_export_rank_span(const struct ncs_export_rank *rank,
					    const struct ncs_record *record);

/* --- Operations ----------------------------------------------------------- */

/* Facts about operations that their own records do not hold: what the records of
 * all ranks tell together, and when their kernels ran on the GPU. By rank of the
 * recording and number of the operation. About 120 bytes an operation.
 *
 * The records of kernels are read here, too, as the table of launches shows them as
 * reported, even where the GPU's clock is not known or where they do not tell an
 * operation's end. */

/* From the first channel's begin to the last one's end. */
struct ncs_kernel_span {
	bool is_known;
	bool is_by_gpu;    /* all channels' times are by the GPU's clock */
	uint64_t start_ns; /* in common time */
	uint64_t gpu_from_ns, gpu_until_ns; /* by the GPU's clock */
	uint64_t host_until_ns;
};

struct ncs_exported_operation {
	struct ncs_hash_link link;   /* private */
	bool is_joined;              /* the next five are known */
	bool is_moving;              /* `moving` is known, too */
	bool kernel_end_is_wrong;    /* it ended later, as joined.h tells */
	uint8_t doubt;               /* enum ncs_doubt */
	uint8_t algorithm, protocol; /* NCS_CLASS_OTHER: not known */
	struct ncs_moving_part moving;
	struct ncs_kernel_span kernel;
};

/* Start with {0}. */
struct ncs_operation_table {
	struct ncs_hash_table facts;
};

/* Frees the memory. */
void ncs_operation_table_release(struct ncs_operation_table *table);

/* Joins the operations that ended from from_ns to until_ns, and notes what is
 * known of them. Returns 0 or -errno. */
int ncs_operation_table_join(struct ncs_operation_table *table,
			     struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns);

/* Notes a record of type KERNEL_CH. Returns 0 or -ENOMEM. */
int ncs_operation_table_kernel(struct ncs_operation_table *table, size_t rank,
			       const struct ncs_export_rank *facts,
			       const struct ncs_record *record);

/* Return what is known of an operation, which may become more. The first returns
 * NULL if nothing is; the second one does if there is no memory. */
struct ncs_exported_operation *
ncs_operation_table_find(const struct ncs_operation_table *table, size_t rank,
			 uint64_t operation);
struct ncs_exported_operation *
ncs_operation_table_take(struct ncs_operation_table *table, size_t rank,
			 uint64_t operation);

#endif
