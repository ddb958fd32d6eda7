/* SPDX-License-Identifier: MIT */
/* Leaves all but some jobs out of a recording; see recording.h. */
#include "ncclstat/reader.h"
#include "record/read/recording_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "shm/clock.h"
#include "shm/read/job.h"

/* Returns when the segment of a header was created, since 1970. */
static uint64_t created_ns(const struct ncs_header *header)
{
	return ncs_clock_ns(&header->clock, header->created) -
	       header->clock.base_monotonic_ns + header->clock.base_realtime_ns;
}

/* Tells whether a rank is of the job, and its labels match, as its first state has
 * them. They do not change. Returns -errno or an enum ncs_recorded if no state tells. */
static int matches(struct ncs_recording *recording, size_t rank,
		   const char *pattern, uint64_t since_ns, uint64_t before_ns,
		   bool *is_wanted)
{
	struct ncs_reader *reader;
	uint64_t created,
		taken_ns = ncs_recording_next_state_of(recording, rank, 0);
	int result = ncs_recording_state(recording, rank, taken_ns, &reader,
					 &taken_ns);

	*is_wanted = false;
	if (result != NCS_RECORDED_YES)
		return result;
	created = created_ns(ncs_reader_header(reader));
	*is_wanted = created >= since_ns &&
		     (before_ns == 0 || created < before_ns) &&
		     ncs_job_matches(ncs_reader_labels(reader), pattern);
	return result;
}

/* Gives chunks the new numbers of their ranks: places[i] is that of rank i,
 * NCS_NO_RANK for none. Drops the chunks of the others. */
static void renumber(struct ncs_recording *recording, const uint32_t *places)
{
	for (size_t i = 0; i < recording->file_count; i++)
		for (size_t k = 0; k < recording->files[i].count; k++) {
			uint32_t *rank = &recording->files[i].places[k].owner;

			if (*rank != NCS_NO_RANK)
				*rank = places[*rank];
		}
	for (size_t i = 0; i < recording->series_count; i++) {
		struct ncs_chunk_refs *refs = &recording->series[i].records;
		size_t kept = 0;

		for (size_t k = 0; k < refs->count; k++)
			if (ncs_recording_rank_of(recording, refs->at[k]) !=
			    NCS_NO_RANK)
				refs->at[kept++] = refs->at[k];
		refs->count = kept;
	}
}

int ncs_recording_keep_jobs(struct ncs_recording *recording,
			    const char *pattern, uid_t owner, uint64_t since_ns,
			    uint64_t before_ns)
{
	uint32_t *places = calloc(recording->rank_count + 1, sizeof(*places));
	uint32_t kept = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < recording->rank_count; i++) {
		bool is_wanted;
		int result = matches(recording, i, pattern, since_ns, before_ns,
				     &is_wanted);

		if (result < 0) {
			free(places);
			return result;
		}
		is_wanted = is_wanted &&
			    ncs_owners_agree(recording->ranks[i].facts.owner,
					     owner);
		places[i] = is_wanted ? kept++ : NCS_NO_RANK;
	}
	renumber(recording, places);
	kept = 0;
	for (size_t i = 0; i < recording->rank_count; i++) {
		struct ncs_rank_entry *rank = &recording->ranks[i];

		if (places[i] == NCS_NO_RANK) {
			ncs_recording_release_rank(rank);
			continue;
		}
		recording->ranks[kept] = *rank;
		recording->ranks[kept].facts.header =
			&recording->ranks[kept].moved;
		kept++;
	}
	recording->rank_count = kept;
	free(places);
	return kept > 0 ? 0 : -ENOENT;
}
