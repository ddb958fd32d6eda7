/* SPDX-License-Identifier: MIT */
/* Files of the directory, and which of them go; see archive.h. */
#include "record/archive/archive.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/archive/entries.h"
#include "record/format/file_format.h"
#include "shm/labels.h"
#include "shm/process.h"
#include "shm/read/job.h"

/* The directory is for its owner: recordings tell what users do. */
#define DIRECTORY_MODE 0700

static int list_below(const struct ncs_archive *archive, const char *name,
		      mode_t kind, struct ncs_entries *entries)
{
	char path[NCS_ENTRY_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", archive->path, name);
	return ncs_entries_list(entries, path, kind);
}

/* --- The directory ------------------------------------------------------- */

const char *ncs_archive_default(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		snprintf(path, size, "/var/lib/ncclstat");
	else if (state && state[0] == '/')
		snprintf(path, size, "%s/ncclstat", state);
	else if (home && home[0])
		snprintf(path, size, "%s/.local/state/ncclstat", home);
	else
		path[0] = '\0';
	return path;
}

/* Makes a folder and those that it is in. Returns 0 or -errno. */
static int make_folders(const char *path)
{
	char part[NCS_ENTRY_PATH_BYTES];

	for (const char *end = path + 1; *end; end++) {
		if (*end != '/' && end[1])
			continue;
		snprintf(part, sizeof(part), "%.*s",
			 (int)(end - path) + (*end != '/'), path);
		if (mkdir(part, DIRECTORY_MODE) != 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int make_below(const struct ncs_archive *archive, const char *name)
{
	char path[NCS_ENTRY_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", archive->path, name);
	return make_folders(path);
}

bool ncs_archive_open(struct ncs_archive *archive, const char *path,
		      uint64_t limit_bytes, char *why, size_t why_size)
{
	char lock[NCS_ENTRY_PATH_BYTES];
	int error;

	*archive = (struct ncs_archive){
		.limit_bytes = limit_bytes,
		.lock = -1,
	};
	if (snprintf(archive->path, sizeof(archive->path), "%s", path) >=
	    (int)sizeof(archive->path)) {
		snprintf(why, why_size, "%s", strerror(ENAMETOOLONG));
		return false;
	}
	error = make_below(archive, "ring");
	if (!error)
		error = make_below(archive, "jobs");
	snprintf(lock, sizeof(lock), "%s/lock", archive->path);
	if (!error)
		archive->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!error && archive->lock < 0)
		error = -errno;
	if (!error && flock(archive->lock, LOCK_EX | LOCK_NB) != 0)
		error = -errno;
	if (!error)
		return true;
	snprintf(why, why_size, "%s",
		 error == -EWOULDBLOCK ? "another watch writes there" :
					 strerror(-error));
	ncs_archive_close(archive);
	return false;
}

void ncs_archive_close(struct ncs_archive *archive)
{
	if (archive->lock >= 0)
		close(archive->lock);
	archive->lock = -1;
}

time_t ncs_archive_last_written(const struct ncs_archive *archive)
{
	struct ncs_entries ring;
	time_t written = 0;

	if (list_below(archive, "ring", S_IFREG, &ring) == 0 && ring.count > 0)
		written = ring.at[ring.count - 1].written.tv_sec;
	ncs_entries_release(&ring);
	return written;
}

/* Reads the head of a recording's file. Returns false if it has none. */
static bool read_head(const char *path, struct ncs_file_head *head)
{
	struct ncs_chunk chunk;
	FILE *file = fopen(path, "re");
	bool is_read = file && fread(&chunk, sizeof(chunk), 1, file) == 1 &&
		       chunk.magic == NCS_CHUNK_MAGIC &&
		       chunk.type == NCS_CHUNK_FILE &&
		       fread(head, sizeof(*head), 1, file) == 1;

	if (file)
		fclose(file);
	return is_read && head->version == NCS_FORMAT_VERSION;
}

void ncs_archive_begin_run(struct ncs_archive *archive,
			   struct ncs_archive_run *run)
{
	uint64_t latest_ns = 0;
	struct ncs_process self;
	struct ncs_file_head head;
	struct ncs_entries ring;
	struct timespec now;

	*run = (struct ncs_archive_run){ .number = 0 };
	ncs_process_describe(&self);
	if (list_below(archive, "ring", S_IFREG, &ring) == 0)
		for (size_t i = 0; i < ring.count; i++) {
			/* Times of files are those of a clock that may be set. */
			if (!read_head(ring.at[i].path, &head) ||
			    strncmp(head.boot_id, self.boot_id,
				    sizeof(head.boot_id)) != 0 ||
			    head.begun_monotonic_ns < latest_ns)
				continue;
			latest_ns = head.begun_monotonic_ns;
			memcpy(run->recording, head.recording,
			       sizeof(run->recording));
			run->number = head.number + 1;
		}
	ncs_entries_release(&ring);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(archive->run, sizeof(archive->run), "%lld.%09ld.%ld",
		 (long long)now.tv_sec, now.tv_nsec, (long)getpid());
	snprintf(run->path, sizeof(run->path), "%s/ring/%s", archive->path,
		 archive->run);
}

/* Adds a part to a folder's name, if there is one, behind a mark. Characters that are
 * not plain are encoded as in URLs, which leaves no mark in a part. One that is too long
 * is cut off behind a whole character, and ends with '%'. */
static void add_part(char *folder, size_t size, const char *mark,
		     const char *part)
{
	size_t used = strlen(folder) + strlen(mark);

	if (!part || used >= size)
		return;
	strcat(folder, mark);
	for (; *part && used + strlen("%41%") < size; part++) {
		bool is_plain = isalnum((unsigned char)*part) ||
				*part == '-' || *part == '_' ||
				(*part == '.' && used > 0);

		used += (size_t)snprintf(folder + used, size - used,
					 is_plain ? "%c" : "%%%02X",
					 (unsigned char)*part);
	}
	if (!*part)
		return;
	while (used >= strlen("%41") && folder[used - 3] == '%' &&
	       folder[used - 2] >= '8')
		used -= strlen("%41");
	strcpy(folder + used, "%");
}

void ncs_archive_folder(char *folder, size_t size, const char *labels,
			uid_t owner, time_t begun)
{
	const char *name, *namespace = ncs_labels_value(labels, "namespace");
	char number[32];
	bool is_pod = ncs_job_of(labels, &name) == NCS_JOB_POD;

	folder[0] = '\0';
	add_part(folder, size - 2 * sizeof(number), "", ncs_job_name(labels));
	if (ncs_labels_value(labels, "array_id"))
		add_part(folder, size - 2 * sizeof(number), "=",
			 ncs_labels_value(labels, "job_id"));
	if (is_pod)
		add_part(folder, size - 2 * sizeof(number), "+",
			 namespace ? namespace : "");
	add_part(folder, size - sizeof(number), "~",
		 ncs_labels_value(labels, "requeued"));
	snprintf(number, sizeof(number), "%lld", (long long)begun);
	add_part(folder, size, "@", number);
	snprintf(number, sizeof(number), "%u", (unsigned)owner);
	if (owner != NCS_NO_OWNER)
		add_part(folder, size, ",", number);
}

/* --- What is kept -------------------------------------------------------- */

static int keep_file(const struct ncs_archive *archive, const char *folder,
		     const struct ncs_entry *file)
{
	char path[NCS_ENTRY_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/jobs/%s/%s", archive->path, folder,
		 file->name);
	/* The oldest file may go meanwhile. */
	return link(file->path, path) == 0 || errno == EEXIST ||
			       errno == ENOENT ?
		       0 :
		       -errno;
}

/* Removes the oldest recordings of a folder as long as all take more than so much.
 * Returns 0 or -errno. */
static int drop_oldest(const char *folder, uint64_t most_bytes)
{
	struct ncs_entries files;
	int error = ncs_entries_list(&files, folder, S_IFREG);

	for (size_t i = 0; i < files.count; i++) {
		if (!ncs_entry_is_recording(&files.at[i]))
			continue;
		if (files.bytes <= most_bytes)
			break;
		if (unlink(files.at[i].path) != 0 && errno != ENOENT && !error)
			error = -errno;
		files.bytes -= files.at[i].bytes;
	}
	ncs_entries_release(&files);
	return error;
}

static int mark(const struct ncs_archive *archive, const char *folder)
{
	char path[NCS_ENTRY_PATH_BYTES];
	int file;

	snprintf(path, sizeof(path), "%s/jobs/%s/" NCS_ARCHIVE_FINDING,
		 archive->path, folder);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	close(file);
	return 0;
}

int ncs_archive_keep(const struct ncs_archive *archive, const char *folder,
		     time_t since, bool has_finding)
{
	char name[NCS_ARCHIVE_NAME_MAX + 8], path[NCS_ENTRY_PATH_BYTES];
	struct ncs_entries ring;
	int error;

	snprintf(name, sizeof(name), "jobs/%s", folder);
	error = make_below(archive, name);
	if (error)
		return error;
	error = list_below(archive, "ring", S_IFREG, &ring);
	for (size_t i = 0; !error && i < ring.count; i++)
		if (ring.at[i].written.tv_sec >= since && ring.at[i].size > 0)
			error = keep_file(archive, folder, &ring.at[i]);
	ncs_entries_release(&ring);
	snprintf(path, sizeof(path), "%s/%s", archive->path, name);
	if (!error)
		error = drop_oldest(path, archive->limit_bytes / 4);
	return !error && has_finding ? mark(archive, folder) : error;
}

/* --- What goes ----------------------------------------------------------- */

/* Returns whether a file is one of the first `count` entries. */
static bool is_in(const struct ncs_entries *entries, size_t count, ino_t inode)
{
	for (size_t i = 0; i < count; i++)
		if (entries->at[i].inode == inode)
			return true;
	return false;
}

/* Adds a file of a folder. Returns 0 or -ENOMEM. */
static int add(struct ncs_entries *entries, const struct ncs_entry *file)
{
	const struct stat stat = {
		.st_mtim = file->written,
		.st_ino = file->inode,
		.st_blocks = (blkcnt_t)(file->bytes / 512),
	};

	return ncs_entries_add(entries, file->path, &stat);
}

/* Finds the bytes of a folder, and those that are freed with it: of files that the ring
 * does not have. The ring's are the first `ring` of those counted. Adds the folder's files
 * to these, each once. */
static int look_into(struct ncs_entry *folder, struct ncs_entries *counted,
		     size_t ring)
{
	uint64_t before = counted->bytes;
	struct ncs_entries files;
	int error = ncs_entries_list(&files, folder->path, S_IFREG);

	folder->bytes = 0;
	for (size_t i = 0; !error && i < files.count; i++) {
		if (!is_in(counted, ring, files.at[i].inode))
			folder->bytes += files.at[i].bytes;
		if (!is_in(counted, counted->count, files.at[i].inode))
			error = add(counted, &files.at[i]);
	}
	folder->freed = counted->bytes - before;
	ncs_entries_release(&files);
	return error;
}

static int remove_folder(const struct ncs_entry *folder)
{
	struct ncs_entries files;
	int error = ncs_entries_list(&files, folder->path, S_IFREG);

	for (size_t i = 0; i < files.count; i++)
		if (unlink(files.at[i].path) != 0 && errno != ENOENT && !error)
			error = -errno;
	ncs_entries_release(&files);
	/* Another process may remove it, too. */
	if (rmdir(folder->path) != 0 && errno != ENOENT && !error)
		error = -errno;
	return error;
}

/* Returns the number of a file of the run that goes on; -1 if it is of another one. */
static long number_in_run(const struct ncs_archive *archive,
			  const struct ncs_entry *file)
{
	size_t length = strlen(archive->run);

	if (length == 0 || strncmp(file->name, archive->run, length) != 0)
		return -1;
	if (file->name[length] == '\0')
		return 0;
	return file->name[length] == '.' ? atol(file->name + length + 1) : -1;
}

/* Removes the oldest files of the ring, but not the one that is being written. */
static int trim_ring(const struct ncs_archive *archive, uint64_t most_bytes)
{
	struct ncs_entries ring;
	int error = list_below(archive, "ring", S_IFREG, &ring);
	long latest = -1;

	for (size_t i = 0; i < ring.count; i++)
		if (number_in_run(archive, &ring.at[i]) > latest)
			latest = number_in_run(archive, &ring.at[i]);
	for (size_t i = 0; i < ring.count && ring.bytes > most_bytes; i++) {
		const struct ncs_entry *file = &ring.at[i];

		if (latest >= 0 && number_in_run(archive, file) == latest)
			continue;
		if (unlink(file->path) != 0 && errno != ENOENT && !error)
			error = -errno;
		ring.bytes -= file->bytes;
	}
	ncs_entries_release(&ring);
	return error;
}

/* The arguments of trimming or cleaning, and its result. */
struct trimming {
	const struct ncs_archive *archive;
	bool (*is_running)(void *context, const char *folder);
	void (*told)(void *context, const struct ncs_archive_job *job);
	void *context;
	int error; /* the first one */
};

static void note(struct trimming *trimming, int error)
{
	if (trimming->error == 0)
		trimming->error = error;
}

static bool runs(const struct trimming *trimming,
		 const struct ncs_entry *folder)
{
	return trimming->is_running &&
	       trimming->is_running(trimming->context, folder->name);
}

/* The turns in which folders go. */
enum turn { OLD, WELL, FOUND, RUNNING };

static int by_turn(const void *a, const void *b)
{
	const struct ncs_entry *x = a, *y = b;

	return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) :
				    ncs_entry_by_time(a, b);
}

static unsigned turn_of(const struct trimming *trimming,
			const struct ncs_entry *folder, time_t since)
{
	if (runs(trimming, folder))
		return RUNNING;
	if (folder->written.tv_sec < since)
		return OLD;
	return folder->has_finding ? FOUND : WELL;
}

/* Lists the folders by their turns, and sets what goes with each if those before it
 * have gone. `counted` has the files of the ring that count without them; adds those
 * of the folders. */
static void take_turns(struct trimming *trimming, struct ncs_entries *folders,
		       struct ncs_entries *counted, time_t since)
{
	size_t ring = counted->count;

	note(trimming, list_below(trimming->archive, "jobs", S_IFDIR, folders));
	for (size_t i = 0; i < folders->count; i++) {
		struct ncs_entry *folder = &folders->at[i];
		char path[NCS_ENTRY_PATH_BYTES + 8];

		snprintf(path, sizeof(path), "%s/" NCS_ARCHIVE_FINDING,
			 folder->path);
		folder->has_finding = access(path, F_OK) == 0;
		folder->turn = turn_of(trimming, folder, since);
	}
	if (folders->count > 0)
		qsort(folders->at, folders->count, sizeof(*folders->at),
		      by_turn);
	for (size_t i = folders->count; i-- > 0;)
		note(trimming, look_into(&folders->at[i], counted, ring));
}

/* Removes a folder if it is to go, and tells of it. Returns what was freed. */
static uint64_t clean_folder(struct trimming *trimming,
			     const struct ncs_entry *folder, bool has_room)
{
	struct ncs_archive_job job = {
		.folder = folder->name,
		.bytes = folder->freed,
		.written = folder->written.tv_sec,
		.has_finding = folder->has_finding,
		.runs = folder->turn == RUNNING,
	};
	int error = 0;

	if (folder->turn == OLD)
		job.fate = NCS_ARCHIVE_TOO_OLD;
	else if (!has_room && !job.runs)
		job.fate = NCS_ARCHIVE_NO_ROOM;
	if (job.fate != NCS_ARCHIVE_KEPT)
		error = remove_folder(folder);
	note(trimming, error);
	if (trimming->told && !error)
		trimming->told(trimming->context, &job);
	return job.fate == NCS_ARCHIVE_KEPT || error ? 0 : job.bytes;
}

/* Removes the oldest files of jobs that run, which only folders have, as long as all
 * take more than the limit. The first `ring` files of those counted are the ring's. */
static void drop_running(struct trimming *trimming,
			 const struct ncs_entries *folders,
			 const struct ncs_entries *counted, size_t ring,
			 uint64_t bytes)
{
	struct ncs_entries all = { 0 };

	for (size_t i = 0; i < folders->count; i++) {
		struct ncs_entries files = { 0 };

		if (folders->at[i].turn == RUNNING)
			note(trimming,
			     ncs_entries_list(&files, folders->at[i].path,
					      S_IFREG));
		for (size_t k = 0; k < files.count; k++)
			if (ncs_entry_is_recording(&files.at[k]) &&
			    !is_in(counted, ring, files.at[k].inode))
				note(trimming, add(&all, &files.at[k]));
		ncs_entries_release(&files);
	}
	if (all.count > 0)
		qsort(all.at, all.count, sizeof(*all.at), ncs_entry_by_time);
	for (size_t i = 0;
	     i < all.count && bytes > trimming->archive->limit_bytes; i++) {
		const struct ncs_entry *file = &all.at[i];

		if (unlink(file->path) != 0 && errno != ENOENT)
			note(trimming, -errno);
		/* A file that others keep is freed with the last of them. */
		else if (i + 1 == all.count || file[1].inode != file->inode)
			bytes -= file->bytes;
	}
	ncs_entries_release(&all);
}

int ncs_archive_trim(const struct ncs_archive *archive,
		     bool (*is_running)(void *context, const char *folder),
		     void (*told)(void *context,
				  const struct ncs_archive_job *job),
		     void *context)
{
	struct trimming trimming = { .archive = archive,
				     .is_running = is_running,
				     .told = told,
				     .context = context };
	struct ncs_entries folders, counted;
	uint64_t bytes;
	size_t ring;

	note(&trimming, trim_ring(archive, archive->limit_bytes / 2));
	note(&trimming, list_below(archive, "ring", S_IFREG, &counted));
	ring = counted.count;
	take_turns(&trimming, &folders, &counted, 0);
	bytes = counted.bytes;
	for (size_t i = 0; i < folders.count; i++)
		bytes -= clean_folder(&trimming, &folders.at[i],
				      bytes <= archive->limit_bytes ||
					      folders.at[i].bytes == 0);
	drop_running(&trimming, &folders, &counted, ring, bytes);
	ncs_entries_release(&folders);
	ncs_entries_release(&counted);
	return trimming.error;
}

/* A recorder writes to the ring every second while a job runs. */
#define RECORDED_WITHIN_S 600

int ncs_archive_clean(const char *path, const struct ncs_archive_limits *limits,
		      bool (*is_running)(void *context, const char *folder),
		      void (*told)(void *context,
				   const struct ncs_archive_job *job),
		      void *context)
{
	struct ncs_archive archive = { .lock = -1 };
	struct trimming trimming = { .archive = &archive,
				     .told = told,
				     .context = context };
	char jobs[NCS_ENTRY_PATH_BYTES];
	struct ncs_entries folders, counted = { 0 };
	uint64_t bytes;

	if (snprintf(archive.path, sizeof(archive.path), "%s", path) >=
	    (int)sizeof(archive.path))
		return -ENAMETOOLONG;
	snprintf(jobs, sizeof(jobs), "%s/jobs", archive.path);
	if (access(jobs, R_OK) != 0)
		return -errno;
	if (time(NULL) - ncs_archive_last_written(&archive) < RECORDED_WITHIN_S)
		trimming.is_running = is_running;
	take_turns(&trimming, &folders, &counted, limits->since);
	bytes = counted.bytes;
	for (size_t i = 0; i < folders.count; i++)
		bytes -= clean_folder(&trimming, &folders.at[i],
				      bytes <= limits->bytes);
	ncs_entries_release(&folders);
	ncs_entries_release(&counted);
	return trimming.error;
}

/* --- Lines ---------------------------------------------------------------- */

void ncs_archive_lines(char *text, size_t size, const char *path)
{
	snprintf(text, size, "%s/jobs.jsonl", path);
}

/* A file of that size is begun anew. */
#define LINES_BYTES (64L << 20)

/* Writes a line to a file, on a line of its own. Returns 0 or -errno. */
static int write_line(int file, const char *line)
{
	off_t before = lseek(file, 0, SEEK_END);
	size_t size = strlen(line);
	char last = '\n';
	int error;

	/* One that was cut has no end. */
	if (before > 0 && pread(file, &last, 1, before - 1) == 1 && last != '\n' &&
	    write(file, "\n", 1) != 1)
		return -errno;
	errno = ENOSPC;
	if (write(file, line, size) == (ssize_t)size && fsync(file) == 0)
		return 0;
	error = -errno;
	if (ftruncate(file, before) != 0)
		return -errno;
	return error;
}

int ncs_archive_add_line(const struct ncs_archive *archive, const char *line)
{
	char path[NCS_ENTRY_PATH_BYTES], old[NCS_ENTRY_PATH_BYTES + 8];
	struct stat stat;
	int file, error;

	ncs_archive_lines(path, sizeof(path), archive->path);
	snprintf(old, sizeof(old), "%s.old", path);
	if (lstat(path, &stat) == 0 && stat.st_size > LINES_BYTES &&
	    rename(path, old) != 0)
		return -errno;
	file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	error = write_line(file, line);
	close(file);
	return error;
}
