/* SPDX-License-Identifier: MIT */
/* Passes a recording to an exporter: first all states, which contain the names
 * and clocks, then all records. See export.h. Must not know the formats. */
#include "record/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "record/export/exporter.h"
#include "analysis/records/replaced_records.h"
#include "shm/clock.h"

static const struct {
	const char *name;
	bool is_binary;
} names[NCS_EXPORT_COUNT] = {
#define X(ID, name, is_binary, help) [NCS_EXPORT_##ID] = { name, is_binary },
	NCS_EXPORTS(X)
#undef X
};

static const struct ncs_exporter_functions *const formats[NCS_EXPORT_COUNT] = {
	[NCS_EXPORT_PERFETTO] = &ncs_exporter_trace,
	[NCS_EXPORT_CHROME] = &ncs_exporter_trace,
	[NCS_EXPORT_NDJSON] = &ncs_exporter_ndjson,
	[NCS_EXPORT_CSV] = &ncs_exporter_csv,
	[NCS_EXPORT_PARQUET] = &ncs_exporter_parquet,
};

const char *ncs_export_name(enum ncs_export_format format)
{
	return names[format].name;
}

bool ncs_export_is_binary(enum ncs_export_format format)
{
	return names[format].is_binary;
}

const char *ncs_export_column(enum ncs_export_format format, unsigned column)
{
	return format < NCS_EXPORT_COUNT && formats[format]->column ?
		       formats[format]->column(column) :
		       NULL;
}

struct export_run {
	struct ncs_recording *recording;
	const struct ncs_export_request *request;
	const struct ncs_exporter_functions *format;
	struct ncs_exporter exporter;
	struct ncs_export_rank *ranks;
	struct ncs_cuda_streams *streams; /* by rank */
	struct ncs_replaced_records replaced;
	struct ncs_export_result result;
};

/* --- Ranks --------------------------------------------------------------- */

static int open_ranks(struct export_run *run)
{
	struct ncs_recording *recording = run->recording;
	size_t count = ncs_recording_rank_count(recording);
	struct ncs_machine_peaks peaks;

	run->ranks = calloc(count ? count : 1, sizeof(*run->ranks));
	run->streams = calloc(count ? count : 1, sizeof(*run->streams));
	if (!run->ranks || !run->streams) {
		free(run->ranks);
		free(run->streams);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		const struct ncs_recorded_rank *rank =
			ncs_recording_rank(recording, i);

		const char *named = rank->header->host;

		/* Those of containers on one machine are not the same. */
		ncs_export_rank_init(
			&run->ranks[i],
			named[0] ? named :
				   ncs_recording_host(recording, rank->host)
					   ->name,
			rank->header, run->request->aliases);
		if (ncs_recording_peaks(recording, i, UINT64_MAX, &peaks))
			ncs_gpu_uuid_write(
				ncs_machine_peaks_of_rank(
					&peaks, &rank->header->identity)
					.uuid,
				run->ranks[i].gpu_uuid);
	}
	run->exporter.ranks = run->ranks;
	run->exporter.rank_count = count;
	return 0;
}

/* Sets the trace's base: the first time that is exported. */
static void set_base(struct export_run *run)
{
	uint64_t base_ns = run->request->from_ns;

	for (size_t i = 0;
	     run->request->from_ns == 0 && i < run->exporter.rank_count; i++) {
		uint64_t from_ns =
			ncs_recording_rank(run->recording, i)->from_ns;

		if (base_ns == 0 || from_ns < base_ns)
			base_ns = from_ns;
	}
	run->exporter.base.base_ns = base_ns;
	if (ncs_recording_host_count(run->recording) > 0)
		run->exporter.base.realtime_offset_ns =
			ncs_recording_host(run->recording, 0)
				->realtime_offset_ns;
}

/* --- States -------------------------------------------------------------- */

/* Returns the time of the rank's first state to export: the latest one at the
 * beginning of the requested time, which is the baseline of changes; 0 if there
 * is none. */
static uint64_t first_state_ns(const struct export_run *run, size_t rank)
{
	uint64_t from_ns = run->request->from_ns;
	uint64_t at_ns = ncs_recording_next_state_of(run->recording, rank, 0);
	uint64_t next_ns = at_ns;

	while (next_ns != 0 && next_ns <= from_ns) {
		at_ns = next_ns;
		next_ns = ncs_recording_next_state_of(run->recording, rank,
						      next_ns);
	}
	return at_ns <= run->request->until_ns ? at_ns : 0;
}

/* Passes on a state that a snapshot was taken of. */
static int pass_state(struct export_run *run, size_t rank,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	return run->format->state ? run->format->state(&run->exporter, rank,
						       snapshot, is_last) :
				    0;
}

static int take_state(struct export_run *run, size_t rank,
		      struct ncs_snapshot *snapshot, struct ncs_reader *reader,
		      uint64_t taken_ns, bool is_last)
{
	int error;

	ncs_snapshot_take(snapshot, reader, taken_ns);
	error = ncs_export_rank_learn(&run->ranks[rank], snapshot,
				      ncs_reader_labels(reader));
	return error ? error : pass_state(run, rank, snapshot, is_last);
}

static int take_states(struct export_run *run, size_t rank)
{
	struct ncs_snapshot snapshot = { 0 };
	uint64_t at_ns = first_state_ns(run, rank), done_ns = 0;
	bool is_ready = false;
	int error = 0;

	while (at_ns != 0 && !error) {
		uint64_t next_ns = ncs_recording_next_state_of(run->recording,
							       rank, at_ns);
		bool is_last = next_ns == 0 || next_ns > run->request->until_ns;
		struct ncs_reader *reader;
		uint64_t taken_ns;
		int found = ncs_recording_state(run->recording, rank, at_ns,
						&reader, &taken_ns);

		if (found < 0) {
			error = found;
		} else if (found == NCS_RECORDED_YES && !is_ready) {
			error = ncs_snapshot_init(&snapshot, reader);
			is_ready = !error;
		}
		/* If a state is damaged, the reader returns an earlier one.
		 * Pass that on again only in place of the last state. */
		if (!error && found == NCS_RECORDED_YES &&
		    (taken_ns > done_ns || is_last)) {
			error = take_state(run, rank, &snapshot, reader,
					   taken_ns, is_last);
			done_ns = taken_ns;
		} else if (!error && is_last && done_ns != 0) {
			error = pass_state(run, rank, &snapshot, true);
		}
		at_ns = is_last ? 0 : next_ns;
	}
	if (is_ready)
		ncs_snapshot_release(&snapshot);
	return error;
}

/* --- Records ------------------------------------------------------------- */

static bool is_wanted(const struct export_run *run, size_t rank,
		      const struct ncs_record *record)
{
	const struct ncs_export_request *request = run->request;
	uint64_t end_ns;

	if (request->events != 0 &&
	    (record->event >= 64 || !(request->events >> record->event & 1)))
		return false;
	end_ns = ncs_clock_ns(&run->ranks[rank].clock,
			      record->start + record->duration);
	return end_ns >= request->from_ns && end_ns <= request->until_ns;
}

/* Takes one record. STREAM records are not exported, but set the stream of
 * later records, even if they are outside the requested time. */
static int take_record(struct export_run *run, const struct ncs_batch *batch,
		       const struct ncs_record *record)
{
	uint64_t stream;
	int error = ncs_cuda_streams_take(&run->streams[batch->rank],
					  batch->lane, record, &stream);

	if (error || record->event == NCS_EVENT_STREAM ||
	    !is_wanted(run, batch->rank, record) ||
	    ncs_replaced_records_take(&run->replaced, batch->rank, record))
		return error;
	run->result.records++;
	return run->format->record(&run->exporter, batch->rank, batch->lane,
				   stream, record);
}

static int take_batch(struct export_run *run, const struct ncs_batch *batch)
{
	int error = 0;

	if (!ncs_exporter_wants(&run->exporter, batch->rank))
		return 0;
	if (batch->lost > 0 && run->format->lose)
		error = run->format->lose(&run->exporter, batch->rank);
	run->result.lost += batch->lost;
	for (size_t i = 0; i < batch->count && !error; i++)
		error = take_record(run, batch, &batch->records[i]);
	return error;
}

static int note_replaced_of(struct export_run *run,
			    const struct ncs_batch *batch)
{
	int error = 0;

	for (size_t i = 0; i < batch->count && !error; i++)
		if (is_wanted(run, batch->rank, &batch->records[i]))
			error = ncs_replaced_records_note(&run->replaced,
							  batch->rank,
							  &batch->records[i]);
	return error;
}

/* Goes over all records for those that replace earlier ones. */
static int note_replaced(struct export_run *run)
{
	struct ncs_recording_pass *pass = ncs_recording_pass_open(
		run->recording, run->request->from_ns, run->request->until_ns);
	struct ncs_batch batch;
	int error = 0, found = 0;

	if (!pass)
		return -ENOMEM;
	while (!error && (found = ncs_recording_pass_next(pass, &batch)) > 0)
		if (ncs_exporter_wants(&run->exporter, batch.rank))
			error = note_replaced_of(run, &batch);
	ncs_recording_pass_close(pass);
	ncs_replaced_records_sort(&run->replaced);
	return error ? error : found;
}

static int take_records(struct export_run *run)
{
	const struct ncs_export_request *request = run->request;
	uint64_t total = ncs_recording_facts(run->recording)->records;
	struct ncs_recording_pass *pass = ncs_recording_pass_open(
		run->recording, request->from_ns, request->until_ns);
	struct ncs_batch batch;
	uint64_t done = 0;
	int error = 0, found = 0;

	if (!pass)
		return -ENOMEM;
	while (!error && (found = ncs_recording_pass_next(pass, &batch)) > 0) {
		error = take_batch(run, &batch);
		/* Stop early if the disk is full. */
		if (!error && request->file && ferror(request->file))
			error = errno ? -errno : -EIO;
		done += batch.count;
		if (request->progress)
			request->progress(request->context, done, total);
	}
	ncs_recording_pass_close(pass);
	return error ? error : found;
}

int ncs_export(struct ncs_recording *recording,
	       const struct ncs_export_request *request,
	       struct ncs_export_result *result)
{
	struct export_run run = {
		.recording = recording,
		.request = request,
		.format = formats[request->format],
		.exporter = { .request = request, .recording = recording },
	};
	int error = open_ranks(&run), end_error;

	if (error)
		return error;
	set_base(&run);
	error = run.format->begin(&run.exporter);
	for (size_t i = 0; i < run.exporter.rank_count && !error; i++)
		if (ncs_exporter_wants(&run.exporter, i))
			error = take_states(&run, i);
	if (!error && run.format->joins_operations)
		error = note_replaced(&run);
	if (!error && run.format->joins_operations)
		error = ncs_operation_table_join(&run.exporter.operations,
						 recording, request->from_ns,
						 request->until_ns);
	if (!error && run.format->record)
		error = take_records(&run);
	run.exporter.has_failed = error != 0;
	end_error = run.format->end(&run.exporter);
	for (size_t i = 0; i < run.exporter.rank_count; i++) {
		ncs_export_rank_release(&run.ranks[i]);
		ncs_cuda_streams_release(&run.streams[i]);
	}
	ncs_replaced_records_release(&run.replaced);
	ncs_operation_table_release(&run.exporter.operations);
	free(run.ranks);
	free(run.streams);
	*result = run.result;
	return error ? error : end_error;
}
