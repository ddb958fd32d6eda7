/* SPDX-License-Identifier: MIT */
/* Opens and closes recordings, and summarizes their contents; see
 * recording.h. */
#include "record/read/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "record/read/recording_internal.h"
#include "shm/clock.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"

static int fail(int error, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s", strerror(-error));
	return error;
}

/* --- Names of files ------------------------------------------------------- */

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Whether a file may be a recording. */
static bool is_recording(const char *path)
{
	uint64_t magic = 0;
	struct stat status;
	bool is_read;
	int file;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return true;
	is_read = read(file, &magic, sizeof(magic)) == (ssize_t)sizeof(magic);
	close(file);
	return is_read && magic == NCS_CHUNK_MAGIC;
}

static int add_folder(struct ncs_paths *names, const char *folder)
{
	char path[PATH_MAX];
	struct dirent **entries;
	int error = 0, count = scandir(folder, &entries, is_shown, versionsort);
	size_t before = names->count;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder,
				      entries[i]->d_name);

		if (!error && length < PATH_MAX && is_recording(path))
			error = ncs_paths_add(names, "%s", path);
		free(entries[i]);
	}
	free(entries);
	return !error && names->count == before ? -ENOENT : error;
}

/* Adds the path of a file, or those of the recordings in a folder. A path that does
 * not exist is added, too. Returns 0, or -errno and sets `why` to a clause for the
 * user that names the path. */
static int add_names(struct ncs_paths *names, const char *path, char *why,
		     size_t why_size)
{
	struct stat status;
	int error = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ?
			    add_folder(names, path) :
			    ncs_paths_add(names, "%s", path);

	if (error)
		snprintf(why, why_size, "%s: %s", path,
			 error == -ENOENT ? "there is no recording in it" :
					    strerror(-error));
	return error;
}

bool ncs_recording_is_one_of(const char *path, char *const *paths, size_t count)
{
	struct ncs_paths names = { .count = 0 };
	struct stat output, input;
	bool is_one = false;

	if (stat(path, &output) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		add_names(&names, paths[i], NULL, 0);
	for (size_t i = 0; i < names.count && !is_one; i++)
		is_one = stat(names.path[i], &input) == 0 &&
			 input.st_dev == output.st_dev &&
			 input.st_ino == output.st_ino;
	ncs_paths_release(&names);
	return is_one;
}

/* --- Files --------------------------------------------------------------- */

/* Makes up the head of a file that lacks its first chunk. Such a file counts as
 * a recording of its own, and its host is that of its first rank. */
static void mend_head(struct ncs_recorded_file *file, size_t number)
{
	struct ncs_header header;
	const char *path;
	size_t bytes;
	uid_t owner;

	file->head.recording[1] = number + 1;
	for (size_t i = 0; i < file->count; i++) {
		if (file->places[i].type != NCS_CHUNK_RANK ||
		    !ncs_recording_read_rank(file, &file->places[i], &header,
					     &owner, &path, &bytes))
			continue;
		file->head.begun_monotonic_ns = header.clock.base_monotonic_ns;
		file->head.begun_realtime_ns = header.clock.base_realtime_ns;
		file->head.time_namespace = header.time_namespace;
		memcpy(file->head.boot_id, header.boot_id,
		       sizeof(file->head.boot_id));
		memcpy(file->head.host, header.host, sizeof(file->head.host));
		return;
	}
}

static bool is_before(const struct ncs_recorded_file *a,
		      const struct ncs_recorded_file *b)
{
	return ncs_recording_is_same(a->head.recording, b->head.recording) &&
	       a->head.number < b->head.number;
}

/* Places a file behind the files of its recording that precede it. The first
 * file of a recording is placed behind all other files. */
static int place_file(struct ncs_recording *recording,
		      const struct ncs_recorded_file *file, char *why,
		      size_t why_size)
{
	size_t at = recording->file_count;

	for (size_t i = 0; i < recording->file_count; i++) {
		const struct ncs_recorded_file *other = &recording->files[i];

		if (!ncs_recording_is_same(other->head.recording,
					   file->head.recording))
			continue;
		if (other->head.number == file->head.number) {
			snprintf(why, why_size,
				 "%s: it is the same file of the same recording"
				 " as %s",
				 file->path, other->path);
			return -EEXIST;
		}
		at = is_before(file, other) ? i : i + 1;
		if (at == i)
			break;
	}
	memmove(&recording->files[at + 1], &recording->files[at],
		(recording->file_count - at) * sizeof(*recording->files));
	recording->files[at] = *file;
	recording->file_count++;
	return 0;
}

static int find_series(struct ncs_recording *recording)
{
	recording->series =
		calloc(recording->file_count, sizeof(*recording->series));
	recording->file_series =
		calloc(recording->file_count, sizeof(*recording->file_series));
	recording->runs =
		calloc(recording->file_count, sizeof(*recording->runs));
	if (!recording->series || !recording->file_series || !recording->runs)
		return -ENOMEM;
	for (size_t i = 0; i < recording->file_count; i++) {
		const struct ncs_recorded_file *file = &recording->files[i];
		struct ncs_file_series *series;

		if (i == 0 || !ncs_recording_is_same(
				      file->head.recording,
				      recording->files[i - 1].head.recording)) {
			series = &recording->series[recording->series_count++];
			series->first_file = i;
			series->from_ns = series->records_from_ns = UINT64_MAX;
			memcpy(series->recording, file->head.recording,
			       sizeof(series->recording));
		}
		series = &recording->series[recording->series_count - 1];
		series->file_count++;
		recording->file_series[i] = recording->series_count - 1;
	}
	return 0;
}

/* --- Facts --------------------------------------------------------------- */

static uint64_t first_state_ns(const struct ncs_recording *recording,
			       const struct ncs_rank_entry *rank)
{
	if (rank->states.count == 0)
		return UINT64_MAX;
	return ncs_recording_common_ns(
		recording, rank->facts.host,
		ncs_recording_chunk(recording, rank->states.at[0])->from_ns);
}

/* Returns the time at which all ranks present at the beginning had a state,
 * since states are taken one after another; UINT64_MAX if there are no
 * states. */
static uint64_t first_round_ns(const struct ncs_recording *recording)
{
	uint64_t first_ns = UINT64_MAX, last_ns;

	for (size_t i = 0; i < recording->rank_count; i++) {
		uint64_t taken_ns =
			first_state_ns(recording, &recording->ranks[i]);

		if (taken_ns < first_ns)
			first_ns = taken_ns;
	}
	last_ns = first_ns;
	for (size_t i = 0; i < recording->rank_count; i++) {
		uint64_t taken_ns =
			first_state_ns(recording, &recording->ranks[i]);

		if (taken_ns > last_ns &&
		    taken_ns - first_ns < recording->facts.interval_ns)
			last_ns = taken_ns;
	}
	return last_ns;
}

/* Finds the beginning and the end of the recording, in common time. */
static void find_ends(struct ncs_recording *recording)
{
	struct ncs_recording_facts *facts = &recording->facts;
	uint64_t state_ns = first_round_ns(recording);
	uint64_t record_ns = UINT64_MAX;

	facts->until_ns = 0;
	for (size_t i = 0; i < recording->rank_count; i++) {
		const struct ncs_rank_entry *rank = &recording->ranks[i];

		if (rank->records.count > 0 && rank->facts.from_ns < record_ns)
			record_ns = rank->facts.from_ns;
		if (rank->facts.until_ns > facts->until_ns)
			facts->until_ns = rank->facts.until_ns;
	}
	facts->from_ns = state_ns != UINT64_MAX ? state_ns : record_ns;
	if (facts->from_ns > facts->until_ns)
		facts->from_ns = facts->until_ns;
}

static void sum_facts(struct ncs_recording *recording)
{
	struct ncs_recording_facts *facts = &recording->facts;

	facts->files = recording->file_count;
	facts->bytes = facts->chunks = facts->cut_files = 0;
	facts->damaged_chunks = facts->skipped_bytes = 0;
	for (size_t i = 0; i < recording->file_count; i++) {
		const struct ncs_recorded_file *file = &recording->files[i];

		facts->bytes += file->size;
		facts->chunks += file->count;
		facts->damaged_chunks += file->damaged;
		facts->skipped_bytes += file->skipped_bytes;
		facts->cut_files += !file->has_end;
		if (file->head.interval_ns > facts->interval_ns)
			facts->interval_ns = file->head.interval_ns;
	}
	facts->records = facts->lost = 0;
	for (size_t i = 0; i < recording->rank_count; i++) {
		facts->records += recording->ranks[i].facts.records;
		facts->lost += recording->ranks[i].facts.lost;
	}
}

/* Sets each host's first time, by its own clock. */
static void note_first(struct ncs_recording *recording)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		struct ncs_rank_entry *rank = &recording->ranks[i];
		struct ncs_host_entry *host =
			&recording->hosts[rank->facts.host];

		rank->own_from_ns = rank->facts.from_ns;
		rank->own_until_ns = rank->facts.until_ns;
		if (rank->facts.from_ns < host->facts.first_ns)
			host->facts.first_ns = rank->facts.from_ns;
	}
}

/* Returns the run of a series of files, which is added if it is new. */
static struct ncs_recorded_run *find_run(struct ncs_recording *recording,
					 uint64_t run)
{
	struct ncs_recorded_run *found = recording->runs;
	struct ncs_recorded_run *end = found + recording->facts.runs;

	while (found < end && found->run != run)
		found++;
	if (found == end) {
		*found = (struct ncs_recorded_run){ run, UINT64_MAX, 0 };
		recording->facts.runs++;
	}
	return found;
}

static uint64_t run_of(const struct ncs_recording *recording,
		       const struct ncs_file_series *series)
{
	return recording->files[series->first_file].head.run;
}

/* Finds the runs of heads, and which of them have passed when. */
static void find_runs(struct ncs_recording *recording)
{
	recording->facts.runs = 0;
	for (size_t i = 0; i < recording->series_count; i++) {
		const struct ncs_file_series *series = &recording->series[i];
		uint64_t id = run_of(recording, series), from_ns, until_ns;
		struct ncs_recorded_run *run;

		if (id == 0 || series->from_ns == UINT64_MAX)
			continue;
		run = find_run(recording, id);
		from_ns = ncs_recording_common_ns(recording, series->host,
						  series->from_ns);
		until_ns = ncs_recording_common_ns(recording, series->host,
						   series->until_ns);
		if (from_ns < run->from_ns)
			run->from_ns = from_ns;
		if (until_ns > run->until_ns)
			run->until_ns = until_ns;
	}
	for (size_t i = 0; i < recording->series_count; i++) {
		struct ncs_file_series *series = &recording->series[i];
		uint64_t id = run_of(recording, series);
		const struct ncs_recorded_run *own;

		series->passed_ns = UINT64_MAX;
		if (id == 0 || series->from_ns == UINT64_MAX)
			continue;
		own = find_run(recording, id);
		/* The clocks of hosts differ, so that a run may seem to begin
		 * before the one before it ends. */
		for (size_t k = 0; k < recording->facts.runs; k++) {
			uint64_t at_ns = recording->runs[k].from_ns;

			if (at_ns <= own->from_ns)
				continue;
			if (at_ns <= own->until_ns)
				at_ns = own->until_ns + 1;
			if (at_ns < series->passed_ns)
				series->passed_ns = at_ns;
		}
	}
}

static void move_ranks(struct ncs_recording *recording)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		struct ncs_rank_entry *rank = &recording->ranks[i];
		struct ncs_recorded_rank *facts = &rank->facts;

		ncs_recording_move_clock(recording, rank);
		facts->header = &rank->moved;
		facts->from_ns = ncs_recording_common_ns(recording, facts->host,
							 rank->own_from_ns);
		facts->until_ns = ncs_recording_common_ns(
			recording, facts->host, rank->own_until_ns);
		ncs_recording_release_state(recording, rank);
	}
	find_runs(recording);
	find_ends(recording);
}

/* --- Opening ------------------------------------------------------------- */

static int join(struct ncs_recording *recording, char *why, size_t why_size)
{
	int error = find_series(recording);

	if (!error)
		error = ncs_recording_find_hosts(recording);
	if (!error)
		error = ncs_recording_take_ranks(recording);
	if (!error)
		error = ncs_recording_name_ranks(recording);
	if (error)
		return fail(error, why, why_size);
	error = ncs_recording_refuse_twice(recording, why, why_size);
	if (error)
		return error;
	sum_facts(recording);
	note_first(recording);
	move_ranks(recording);
	return 0;
}

/* Returns NULL if there is no memory. */
static struct ncs_recording *create(size_t files)
{
	struct ncs_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->budget.most = ncs_budget_half_of_free();
	recording->files = calloc(files, sizeof(*recording->files));
	if (recording->files)
		return recording;
	free(recording);
	return NULL;
}

static int take_file(struct ncs_recording *recording,
		     struct ncs_recorded_file *file, char *why, size_t why_size)
{
	int error;

	if (!file->has_head)
		mend_head(file, recording->file_count);
	error = place_file(recording, file, why, why_size);
	if (error)
		ncs_recorded_file_release(file);
	return error;
}

/* Joins the files, or closes the recording on an error. */
static int finish(struct ncs_recording **out, struct ncs_recording *recording,
		  int error, char *why, size_t why_size)
{
	if (!error)
		error = join(recording, why, why_size);
	if (error)
		ncs_recording_close(recording);
	else
		*out = recording;
	return error;
}

static int open_files(struct ncs_recording **out, const struct ncs_paths *names,
		      char *why, size_t why_size)
{
	struct ncs_recording *recording =
		create(names->count > 0 ? names->count : 1);
	struct ncs_recorded_file file;
	int error = 0;

	if (!recording)
		return fail(-ENOMEM, why, why_size);
	for (size_t i = 0; i < names->count && !error; i++) {
		error = ncs_recorded_file_open(&file, names->path[i], why,
					       why_size);
		if (!error)
			error = take_file(recording, &file, why, why_size);
	}
	return finish(out, recording, error, why, why_size);
}

int ncs_recording_open(struct ncs_recording **out, const char *const *paths,
		       size_t count, char *why, size_t why_size)
{
	struct ncs_paths names = { .count = 0 };
	int error = 0;

	*out = NULL;
	for (size_t i = 0; i < count && !error; i++)
		error = add_names(&names, paths[i], why, why_size);
	if (!error)
		error = open_files(out, &names, why, why_size);
	ncs_paths_release(&names);
	return error;
}

int ncs_recording_open_memory(struct ncs_recording **out, const void *bytes,
			      size_t size, char *why, size_t why_size)
{
	struct ncs_recording *recording = create(1);
	struct ncs_recorded_file file;
	int error;

	*out = NULL;
	if (!recording)
		return fail(-ENOMEM, why, why_size);
	error = ncs_recorded_file_open_memory(&file, bytes, size, "memory", why,
					      why_size);
	if (!error)
		error = take_file(recording, &file, why, why_size);
	return finish(out, recording, error, why, why_size);
}

static void release_rank(struct ncs_recording *recording,
			 struct ncs_rank_entry *rank)
{
	ncs_recording_release_state(recording, rank);
	free(rank->id);
	free(rank->path);
	free(rank->states.at);
	free(rank->records.at);
	free(rank->stacks.at);
}

void ncs_recording_close(struct ncs_recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->rank_count; i++)
		release_rank(recording, &recording->ranks[i]);
	for (size_t i = 0; i < recording->host_count; i++) {
		free(recording->hosts[i].name);
		free(recording->hosts[i].boot_id);
	}
	for (size_t i = 0; i < recording->series_count; i++) {
		free(recording->series[i].records.at);
		free(recording->series[i].peaks.at);
	}
	for (size_t i = 0; i < recording->file_count; i++)
		ncs_recorded_file_release(&recording->files[i]);
	ncs_state_image_release(&recording->image);
	free(recording->file_series);
	free(recording->series);
	free(recording->runs);
	free(recording->hosts);
	free(recording->ranks);
	free(recording->files);
	free(recording);
}

/* --- Jobs ---------------------------------------------------------------- */

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
	ncs_state_image_clear(&recording->image);
	kept = 0;
	for (size_t i = 0; i < recording->rank_count; i++) {
		struct ncs_rank_entry *rank = &recording->ranks[i];

		if (places[i] == NCS_NO_RANK) {
			release_rank(recording, rank);
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

/* --- Facts and contents -------------------------------------------------- */

void ncs_recording_check(struct ncs_recording *recording)
{
	for (size_t i = 0; i < recording->file_count; i++)
		for (size_t k = 0; k < recording->files[i].count; k++)
			ncs_recorded_file_payload(
				&recording->files[i],
				&recording->files[i].places[k], NULL);
}

const struct ncs_recording_facts *
ncs_recording_facts(struct ncs_recording *recording)
{
	sum_facts(recording);
	return &recording->facts;
}

void ncs_recording_file(const struct ncs_recording *recording, size_t index,
			struct ncs_recorded_file_facts *facts)
{
	const struct ncs_recorded_file *file = &recording->files[index];
	size_t host = recording->series[recording->file_series[index]].host;

	*facts = (struct ncs_recorded_file_facts){
		.path = file->path,
		.host = host,
		.bytes = file->size,
		.number = file->head.number,
		.run = file->head.run,
		.begun_ns = ncs_recording_common_ns(
			recording, host, file->head.begun_monotonic_ns),
		.damaged_chunks = file->damaged,
		.skipped_bytes = file->skipped_bytes,
		.is_cut = !file->has_end,
	};
	for (size_t i = 0; i < file->count; i++)
		facts->records += file->places[i].records;
}

size_t ncs_recording_rank_count(const struct ncs_recording *recording)
{
	return recording->rank_count;
}

const struct ncs_recorded_rank *
ncs_recording_rank(const struct ncs_recording *recording, size_t rank)
{
	return &recording->ranks[rank].facts;
}

size_t ncs_recording_host_count(const struct ncs_recording *recording)
{
	return recording->host_count;
}

const struct ncs_recorded_host *
ncs_recording_host(const struct ncs_recording *recording, size_t host)
{
	return &recording->hosts[host].facts;
}

void ncs_recording_align(struct ncs_recording *recording, size_t host,
			 int64_t offset_ns, double drift, uint64_t error_ns)
{
	struct ncs_recorded_host *facts = &recording->hosts[host].facts;

	facts->offset_ns = offset_ns;
	facts->drift = drift;
	facts->error_ns = error_ns;
	facts->is_by_realtime = false;
	move_ranks(recording);
}
