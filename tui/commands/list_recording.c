/* SPDX-License-Identifier: MIT */
/* --list of recordings; see list_parts.h. Must not read segments. */
#include "tui/commands/list_parts.h"

#include <inttypes.h>

#include "analysis/base/utf8.h"
#include "analysis/base/value_names.h"
#include "ncclstat/abi_header.h"
#include "tui/commands/dump_command.h"
#include "tui/text/format.h"

struct recording_listing {
	FILE *file;
	struct ncs_replay *replay;
	bool ascii;
};

static void print_clean(const struct recording_listing *listing,
			const char *before, const char *raw)
{
	char clean[4096 + 1];

	ncs_utf8_clean(clean, sizeof(clean), raw, listing->ascii);
	fprintf(listing->file, "%s%s", before, clean);
}

static void print_file(const struct recording_listing *listing, size_t index)
{
	struct ncs_recorded_file_facts facts;
	char begun[64];

	ncs_recording_file(listing->replay->recording, index, &facts);
	print_clean(listing, "", facts.path);
	print_clean(listing, ": host ",
		    ncs_recording_host(listing->replay->recording, facts.host)
			    ->name);
	ncs_dump_time(begun, sizeof(begun),
		      ncs_replay_realtime_ns(listing->replay, facts.begun_ns));
	fprintf(listing->file, "%s%s", begun[0] ? ", begun " : "", begun);
	if (facts.run != 0)
		fprintf(listing->file, ", run %016" PRIx64, facts.run);
	fprintf(listing->file,
		", file %" PRIu64 ", %" PRIu64 " bytes, %" PRIu64 " records",
		facts.number + 1, facts.bytes, facts.records);
	if (facts.damaged_chunks > 0)
		fprintf(listing->file, ", %" PRIu64 " damaged chunks",
			facts.damaged_chunks);
	if (facts.skipped_bytes > 0)
		fprintf(listing->file, ", %" PRIu64 " bytes that are no chunk",
			facts.skipped_bytes);
	fputs(facts.is_cut ? ", cut or still growing\n" : ", whole\n",
	      listing->file);
}

/* Prints the evidence for the alignment of a host's clock. */
static void print_knowledge(const struct recording_listing *listing,
			    const struct ncs_aligned *aligned)
{
	if (aligned->by == NCS_ALIGNED_BY_TRAFFIC) {
		fprintf(listing->file, ", by %" PRIu64 " facts of its traffic",
			aligned->facts);
		if (aligned->violations > 0)
			fprintf(listing->file, ", %" PRIu64 " contradicted",
				aligned->violations);
		if (aligned->is_uneven)
			fputs(", its clock or another ran unevenly",
			      listing->file);
	} else {
		fputs(", by CLOCK_REALTIME: it has no traffic both ways",
		      listing->file);
	}
	if (aligned->realtime_steps > 0)
		fprintf(listing->file,
			", CLOCK_REALTIME was set %" PRIu64 " time%s",
			aligned->realtime_steps,
			aligned->realtime_steps == 1 ? "" : "s");
}

static void print_host(const struct recording_listing *listing, size_t index)
{
	const struct ncs_recorded_host *host =
		ncs_recording_host(listing->replay->recording, index);
	char text[NCS_FORMAT_MAX];

	print_clean(listing, "clock of ", host->name);
	fprintf(listing->file, ": %+.9f s moved, drift %+.3f ppm, ",
		(double)host->offset_ns / 1e9, host->drift * 1e6);
	if (host->error_ns == UINT64_MAX) {
		fputs("error not known", listing->file);
	} else {
		ncs_format_duration(text, sizeof(text), host->error_ns, 0);
		fprintf(listing->file, "error %s at most", text);
	}
	print_knowledge(listing, &listing->replay->alignment.hosts[index]);
	fputc('\n', listing->file);
}

/* Prints the evidence by which the clocks of all hosts were aligned. */
static void print_alignment(const struct recording_listing *listing)
{
	const struct ncs_recording_alignment *alignment =
		&listing->replay->alignment;
	char text[NCS_FORMAT_MAX];

	if (alignment->host_count == 0)
		return;
	fprintf(listing->file,
		"clocks: %" PRIu64 " messages and %" PRIu64
		" collectives in %u window%s, ",
		alignment->messages.messages, alignment->collectives,
		alignment->windows, alignment->windows == 1 ? "" : "s");
	ncs_format_duration(text, sizeof(text), alignment->windows_ns, 0);
	fprintf(listing->file, "%s of ", text);
	ncs_format_duration(text, sizeof(text), alignment->length_ns, 0);
	fprintf(listing->file, "%s; ", text);
	fprintf(listing->file, "%zu pairs of hosts", alignment->quality.pairs);
	if (alignment->quality.one_way > 0)
		fprintf(listing->file, ", %zu more with traffic one way only",
			alignment->quality.one_way);
	if (alignment->quality.loop_ns > 0) {
		ncs_format_duration(text, sizeof(text),
				    alignment->quality.loop_ns, 0);
		fprintf(listing->file,
			", which contradict each other by %s more than their"
			" errors",
			text);
	}
	fputc('\n', listing->file);
}

void ncs_list_identify(struct ncs_replay *replay, size_t index,
		       struct ncs_identity *identity)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(replay->recording, index);
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t taken_ns;

	*identity = rank->header->identity;
	if (ncs_recording_state(replay->recording, index, rank->until_ns,
				&reader, &taken_ns) != NCS_RECORDED_YES ||
	    ncs_snapshot_init(&snapshot, reader) != 0)
		return;
	ncs_snapshot_take(&snapshot, reader, taken_ns);
	*identity = snapshot.identity;
	ncs_snapshot_release(&snapshot);
}

static void print_time(const struct recording_listing *listing,
		       uint64_t time_ns)
{
	uint64_t from_ns = listing->replay->all.from_ns;
	char text[32];

	/* Records that were in the rings when the recording began are from
	 * before its beginning. */
	ncs_instant_print(time_ns > from_ns ? time_ns - from_ns :
					      from_ns - time_ns,
			  text + 1, sizeof(text) - 1);
	text[0] = '-';
	fprintf(listing->file, "  %12s", time_ns < from_ns ? text : text + 1);
}

static void print_rank(const struct recording_listing *listing, size_t index)
{
	const struct ncs_recorded_rank *rank =
		ncs_recording_rank(listing->replay->recording, index);
	char comm[NCS_FORMAT_MAX] = "-", number[16] = "-";
	struct ncs_identity identity;
	char raw[sizeof(identity.comm_name)];

	ncs_list_identify(listing->replay, index, &identity);
	if (identity.known & NCS_KNOWN_RANK)
		snprintf(number, sizeof(number), "%" PRId32, identity.rank);
	ncs_comm_text(&identity, raw, sizeof(raw));
	if (raw[0])
		ncs_utf8_clean(comm, sizeof(comm), raw, listing->ascii);
	fprintf(listing->file, "%7" PRIu32 "  %4s  %-16s", rank->header->pid,
		number, comm);
	print_time(listing, rank->from_ns);
	print_time(listing, rank->until_ns);
	fprintf(listing->file, "  %10" PRIu64 "  %8" PRIu64, rank->records,
		rank->lost);
	print_clean(listing, "  ", rank->id);
	fputc('\n', listing->file);
}

void ncs_list_recording_text(FILE *file, struct ncs_replay *replay, bool ascii)
{
	const struct recording_listing all = { file, replay, ascii };
	struct ncs_recording *recording = replay->recording;
	size_t hosts = ncs_recording_host_count(recording);
	size_t ranks = ncs_recording_rank_count(recording);
	char length[32];

	for (size_t i = 0; i < ncs_recording_facts(recording)->files; i++)
		print_file(&all, i);
	for (size_t i = 1; i < hosts; i++)
		print_host(&all, i);
	print_alignment(&all);
	ncs_instant_print(replay->all.until_ns - replay->all.from_ns, length,
			  sizeof(length));
	fprintf(file, "%s long, %zu rank%s\n", length, ranks,
		ranks == 1 ? "" : "s");
	if (ranks > 0)
		fprintf(file, "\n%7s  %4s  %-16s  %12s  %12s  %10s  %8s  %s\n",
			"PID", "RANK", "COMM", "FROM", "UNTIL", "RECORDS",
			"LOST", "PATH");
	for (size_t i = 0; i < ranks; i++)
		print_rank(&all, i);
}
