/* SPDX-License-Identifier: MIT */
/* Looks at objects and removes abandoned ones; see survey.h. Runs in the
 * training process, at init: no output, and a bounded number of system
 * calls. */
#include "shm/write/survey.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "shm/array.h"
#include "shm/file_status.h"
#include "shm/object.h"

#define NEVER INT64_MAX

/* An object that nobody holds. */
struct corpse {
	char name[64];
	ino_t inode;
	uint64_t bytes;
	int64_t created_ns;
	int64_t found_ns; /* NEVER if this is the first time */
	bool own;         /* the calling process made it before exec() */
};

/* A process that holds an object; a reused PID has another start. */
struct holder {
	uint32_t pid;
	uint64_t start;
};

struct look {
	struct ncs_survey *survey;
	const struct ncs_process *self;
	int directory;
	bool reap;
	uint64_t others_bytes; /* of objects of other users */
	struct corpse *corpses;
	size_t corpse_count, corpse_capacity;
	struct holder *holders;
	size_t holder_count, holder_capacity;
};

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static uint64_t bytes_of(const struct stat *status)
{
	return (uint64_t)status->st_blocks * 512;
}

/* --- looking ------------------------------------------------------------ */

static void count_holder(struct look *look, uint32_t pid, uint64_t start)
{
	for (size_t i = 0; i < look->holder_count; i++)
		if (look->holders[i].pid == pid &&
		    look->holders[i].start == start)
			return;
	if (ncs_array_reserve(&look->holders, &look->holder_capacity,
			      look->holder_count + 1,
			      sizeof(*look->holders)) != 0)
		return;
	look->holders[look->holder_count++] = (struct holder){ pid, start };
}

/* Tells whether nobody holds an object of this user, and whether the calling
 * process itself made it. */
static bool is_abandoned(const struct look *look, const char *name,
			 enum ncs_object_kind kind, bool *own)
{
	int file = ncs_object_open(look->directory, name);
	struct ncs_process maker;
	bool abandoned;

	if (file < 0)
		return false;
	abandoned = ncs_object_is_abandoned(file, kind, look->self, &maker);
	*own = abandoned && ncs_process_is_same(&maker, look->self);
	close(file);
	return abandoned;
}

static void bury(struct look *look, const char *name, const struct stat *status,
		 bool marked, bool own)
{
	struct corpse *corpse;

	if (ncs_array_reserve(&look->corpses, &look->corpse_capacity,
			      look->corpse_count + 1,
			      sizeof(*look->corpses)) != 0)
		return;
	corpse = &look->corpses[look->corpse_count++];
	*corpse = (struct corpse){
		.inode = status->st_ino,
		.bytes = bytes_of(status),
		.created_ns = ns_of(&status->st_mtim),
		.found_ns = marked ? ns_of(&status->st_ctim) : NEVER,
		.own = own,
	};
	memcpy(corpse->name, name, strlen(name) + 1);
}

static void look_at(struct look *look, const char *name)
{
	struct ncs_survey *survey = look->survey;
	enum ncs_object_kind kind;
	struct stat status;
	bool is_users, marked, own = false;
	uint64_t start;
	uint32_t pid;

	kind = ncs_object_parse(name, &pid, &start);
	if (kind == NCS_OBJECT_NONE ||
	    strlen(name) >= sizeof(look->corpses->name))
		return;
	survey->looked_at++;
	if (ncs_file_status(look->directory, name, &status,
			    AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode))
		return;
	is_users = status.st_uid == geteuid();
	/* A marked object was abandoned, and cannot be held again. */
	marked = is_users && status.st_mode & S_ISVTX;
	if (!is_users) {
		look->others_bytes += bytes_of(&status);
	} else if (look->reap ? is_abandoned(look, name, kind, &own) : marked) {
		bury(look, name, &status, marked, own);
	} else {
		survey->held_bytes += bytes_of(&status);
		count_holder(look, pid, start);
	}
}

static void look_around(struct look *look, DIR *entries)
{
	struct dirent *found;

	for (unsigned i = 0; (found = readdir(entries)); i++) {
		if (i == NCS_SURVEY_ENTRIES_MAX ||
		    look->survey->looked_at == NCS_SURVEY_OBJECTS_MAX)
			return;
		look_at(look, found->d_name);
	}
	look->survey->complete = true;
}

/* --- removing ----------------------------------------------------------- */

/* Orders corpses by creation, the latest first. */
static int compare_corpses(const void *left, const void *right)
{
	const struct corpse *a = left, *b = right;

	return (a->created_ns < b->created_ns) -
	       (a->created_ns > b->created_ns);
}

/* Removes a corpse, unless its name is another file's by now. */
static bool remove_corpse(const struct look *look, const struct corpse *corpse)
{
	struct stat status;

	return ncs_file_status(look->directory, corpse->name, &status,
			       AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_ino == corpse->inode &&
	       unlinkat(look->directory, corpse->name, 0) == 0;
}

static void mark(const struct look *look, const struct corpse *corpse)
{
	int file = ncs_object_open(look->directory, corpse->name);
	struct stat status;

	if (file < 0)
		return;
	if (ncs_open_file_status(file, &status) == 0 &&
	    status.st_ino == corpse->inode)
		fchmod(file, (status.st_mode & 0777) | S_ISVTX);
	close(file);
}

static void reap(struct look *look)
{
	struct ncs_survey *survey = look->survey;
	int64_t latest_ns;

	if (look->corpse_count == 0)
		return;
	qsort(look->corpses, look->corpse_count, sizeof(*look->corpses),
	      compare_corpses);
	latest_ns = look->corpses[0].created_ns;
	for (size_t i = 0; i < look->corpse_count; i++) {
		const struct corpse *corpse = &look->corpses[i];

		if ((corpse->own || corpse->found_ns <= latest_ns ||
		     survey->abandoned_bytes + corpse->bytes >
			     survey->limit_bytes) &&
		    remove_corpse(look, corpse)) {
			survey->removed++;
			continue;
		}
		survey->abandoned_bytes += corpse->bytes;
		if (corpse->found_ns == NEVER)
			mark(look, corpse);
	}
}

/* --- the limit ---------------------------------------------------------- */

/* Returns the free bytes of the file system. One without a limit of its own has
 * that of the machine's memory. */
static uint64_t free_bytes(int directory)
{
	struct statvfs status;
	struct sysinfo memory;

	if (fstatvfs(directory, &status) != 0)
		return 0;
	if (status.f_blocks != 0)
		return (uint64_t)status.f_bavail * status.f_frsize;
	return sysinfo(&memory) == 0 ?
		       (uint64_t)memory.freeram * memory.mem_unit :
		       0;
}

void ncs_survey_take(struct ncs_survey *survey, const char *directory,
		     const struct ncs_process *self, bool reaps)
{
	DIR *entries = opendir(directory);
	struct look look = {
		.survey = survey,
		.self = self,
		.reap = reaps,
	};
	uint64_t bytes, most;

	memset(survey, 0, sizeof(*survey));
	if (!entries)
		return;
	look.directory = dirfd(entries);
	look_around(&look, entries);
	bytes = survey->held_bytes + look.others_bytes +
		free_bytes(look.directory);
	for (size_t i = 0; i < look.corpse_count; i++)
		bytes += look.corpses[i].bytes;
	survey->limit_bytes = bytes / NCS_SURVEY_SHARE;
	most = survey->limit_bytes / 2;
	survey->held_bytes += look.others_bytes < most ? look.others_bytes :
							 most;
	if (reaps)
		reap(&look);
	else
		for (size_t i = 0; i < look.corpse_count; i++)
			survey->abandoned_bytes += look.corpses[i].bytes;
	survey->processes = (uint32_t)look.holder_count;
	free(look.corpses);
	free(look.holders);
	closedir(entries);
}
