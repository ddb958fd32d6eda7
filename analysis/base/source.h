/* SPDX-License-Identifier: MIT */
/* Where samples of ranks come from: a live job, a recording, or a synthetic job.
 *
 * A source hands over everything there is to see at one moment, one rank after
 * the other; the model (analysis/model/model.h) folds it in. Sources do the I/O
 * that the rest of analysis/ must not do.
 */
#ifndef NCS_ANALYSIS_BASE_SOURCE_H
#define NCS_ANALYSIS_BASE_SOURCE_H

#include <stdint.h>

#include "ncclstat/reader.h"

/* One rank, or one segment that cannot be read. Borrowed: valid until the
 * source hands over another, begins a pass or is closed. */
struct ncs_sample {
	const char *id; /* stable and unique; the path of a live segment */
	enum ncs_attach attach;
	const char *why; /* if not NCS_ATTACHED: one clause for people */
	/* Only if NCS_ATTACHED: */
	const struct ncs_header *header;
	const struct ncs_snapshot *snapshot;
	/* Times of ranks of other hosts can be compared with its own, as their
	 * clocks are aligned: but for so much, at most, that each is off. */
	bool clock_is_aligned;
	uint64_t clock_error_ns;
	bool without_records; /* nobody wants them, or there are none to have */
	bool is_old; /* nothing of it is newer than in the pass before */
	/* Records that are new since the pass before, lane by lane, times in
	 * the segment's ticks; how many were overwritten unseen. */
	const struct ncs_record *records;
	size_t record_count;
	uint64_t records_lost;
};

struct ncs_source {
	/* Set by who passes, NULL: all. Which samples are to have records;
	 * those of others stay where they are until they are overwritten. */
	bool (*wants_records)(const void *context, const char *id);
	const void *wants_context;
	/* What communicators are called instead, of who opened it; NULL: as
	 * they are. */
	const struct ncs_aliases *aliases;
	/* Begins a pass over all ranks as of now (CLOCK_MONOTONIC ns). 0 or
	 * -errno, with a clause for people in `why`. */
	int (*begin)(struct ncs_source *source, uint64_t now_ns, char *why,
		     size_t why_size);
	/* The next rank of the pass. False at its end. */
	bool (*next)(struct ncs_source *source, struct ncs_sample *sample);
	void (*close)(struct ncs_source *source);
};

#endif
