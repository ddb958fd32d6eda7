/* SPDX-License-Identifier: MIT */
/* Finds the files of a job; see archive.h. Must not write to the directory. */
#include "record/archive/archive.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/archive/entries.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/labels.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"

/* Adds the recordings of a folder: files whose names are those of the ring. */
static int add_files(struct ncs_paths *files, const char *path)
{
	struct ncs_entries found;
	int error = ncs_entries_list(&found, path, S_IFREG);

	for (size_t i = 0; !error && i < found.count; i++)
		if (ncs_entry_is_recording(&found.at[i]) &&
		    found.at[i].size > 0)
			error = ncs_paths_add(files, "%s", found.at[i].path);
	ncs_entries_release(&found);
	return error;
}

/* The parts of the name of a job's folder. */
struct folder_name {
	char job[NCS_ARCHIVE_NAME_MAX];
	char *id;        /* of a job in an array, which has its own; else NULL */
	char *namespace; /* of a pod; else NULL */
	const char *run; /* how often it was queued again, or "" */
	bool is_cut;     /* the job's name, which is then a pattern */
	long long begun;
	uid_t owner; /* or NCS_NO_OWNER */
};

/* Cuts a text off where the last one of a character is. Returns the text behind it;
 * NULL if there is none. */
static char *cut(char *text, char mark)
{
	char *at = strrchr(text, mark);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

/* Undoes the encoding of add_part(). A part that was cut off becomes a pattern. */
static void decode(char *part)
{
	char *end = part, digits[3] = "";

	for (const char *at = part; part && *at; at++) {
		bool is_code = *at == '%' && isxdigit((unsigned char)at[1]) &&
			       isxdigit((unsigned char)at[2]);

		if (is_code)
			memcpy(digits, at + 1, 2);
		*end++ = is_code     ? (char)strtoul(digits, NULL, 16) :
			 *at == '%' ? '*' :
				       *at;
		at += is_code ? 2 : 0;
	}
	if (part)
		*end = '\0';
}

static void split_name(struct folder_name *name, const char *folder)
{
	char *begun, *run, *owner;

	snprintf(name->job, sizeof(name->job), "%s", folder);
	owner = cut(name->job, ',');
	name->owner = owner ? (uid_t)strtoul(owner, NULL, 10) : NCS_NO_OWNER;
	begun = cut(name->job, '@');
	name->begun = begun ? atoll(begun) : 0;
	run = cut(name->job, '~');
	name->run = run ? run : "";
	name->namespace = cut(name->job, '+');
	name->id = cut(name->job, '=');
	name->is_cut = name->job[0] && strchr(name->job, '\0')[-1] == '%';
	decode(name->job);
	decode(name->id);
	decode(name->namespace);
}

bool ncs_archive_matches(const char *folder, const char *pattern)
{
	struct ncs_labels labels = { 0 };
	struct folder_name name;
	char array[NCS_ARCHIVE_NAME_MAX];

	split_name(&name, folder);
	if (name.namespace) {
		ncs_labels_add(&labels, "pod", name.job);
		ncs_labels_add(&labels, "namespace", name.namespace);
	} else {
		ncs_labels_add(&labels, "job_id", name.id ? name.id : name.job);
	}
	if (name.id) {
		snprintf(array, sizeof(array), "%.*s",
			 (int)strcspn(name.job, "_["), name.job);
		ncs_labels_add(&labels, "array_job", array);
		ncs_labels_add(&labels, "array_id", name.job);
	}
	return ncs_job_matches(labels.text, pattern) ||
	       fnmatch(pattern, folder, 0) == 0 ||
	       (name.is_cut && fnmatch(name.job, pattern, 0) == 0);
}

/* Returns whether a folder may be of the same job as that of another machine: not if it
 * is of another run, of another job in an array, or of another user. A job of pods has
 * several names, of one namespace, and may have users of their own. */
static bool goes_with(const struct folder_name *a, const struct folder_name *b)
{
	if (a->namespace && b->namespace)
		return strcmp(a->namespace, b->namespace) == 0;
	return !a->namespace == !b->namespace && strcmp(a->job, b->job) == 0 &&
	       strcmp(a->run, b->run) == 0 &&
	       ncs_owners_agree(a->owner, b->owner);
}

static int by_begin(const void *a, const void *b)
{
	struct folder_name x, y;

	split_name(&x, ((const struct ncs_entry *)a)->name);
	split_name(&y, ((const struct ncs_entry *)b)->name);
	return (x.begun > y.begun) - (x.begun < y.begun);
}

/* A search for the files of a job. */
struct file_search {
	struct ncs_archive_files *files;
	const char *pattern;
	struct folder_name latest; /* of all machines; of zeros: there is none */
	int error; /* the first one: others may not be readable, or no archives */
};

/* Lists the folders of one machine, the job that began last at the end. */
static void list_jobs(struct file_search *search, const char *path,
		      struct ncs_entries *folders)
{
	char below[NCS_ENTRY_PATH_BYTES];
	int error;

	snprintf(below, sizeof(below), "%s/jobs", path);
	error = ncs_entries_list(folders, below, S_IFDIR);
	if (search->error == 0)
		search->error = error;
	if (folders->count > 0)
		qsort(folders->at, folders->count, sizeof(*folders->at),
		      by_begin);
}

static bool find_latest(void *context, const char *path)
{
	struct file_search *search = context;
	struct folder_name name;
	struct ncs_entries folders;
	bool any = false;

	list_jobs(search, path, &folders);
	for (size_t i = 0; i < folders.count; i++) {
		if (!ncs_archive_matches(folders.at[i].name, search->pattern))
			continue;
		split_name(&name, folders.at[i].name);
		if (!search->latest.run || name.begun >= search->latest.begun)
			split_name(&search->latest, folders.at[i].name);
		any = true;
	}
	ncs_entries_release(&folders);
	return any;
}

/* The job of one machine that is chosen. */
struct chosen_job {
	const struct ncs_entry *folder, *before; /* NULL: there is none */
	struct folder_name name;
	size_t matching;   /* jobs that the pattern names */
	time_t next_begun; /* another run of its name; 0: there is none */
};

static const char *namespace_of(const struct folder_name *name)
{
	return name->namespace ? name->namespace : "";
}

/* Chooses the latest job of one machine that may be the one that was found. */
static void choose_job(const struct file_search *search,
		       const struct ncs_entries *folders,
		       struct chosen_job *chosen)
{
	const struct ncs_entry *before = NULL;
	struct folder_name name;

	*chosen = (struct chosen_job){ .folder = NULL };
	for (size_t i = 0; i < folders->count; i++) {
		const struct ncs_entry *folder = &folders->at[i];

		split_name(&name, folder->name);
		if (chosen->folder && chosen->next_begun == 0 &&
		    strcmp(name.job, chosen->name.job) == 0 &&
		    ncs_owners_agree(name.owner, chosen->name.owner) &&
		    strcmp(namespace_of(&name), namespace_of(&chosen->name)) ==
			    0)
			chosen->next_begun = (time_t)name.begun;
		if (!ncs_archive_matches(folder->name, search->pattern))
			continue;
		chosen->matching++;
		if (goes_with(&name, &search->latest)) {
			chosen->folder = folder;
			chosen->before = before;
			chosen->next_begun = 0;
			split_name(&chosen->name, folder->name);
		}
		before = folder;
	}
}

/* Notes what is known of the job, with the machine's. */
static void note_job(struct ncs_archive_files *files, const char *pattern,
		     const struct chosen_job *chosen)
{
	time_t begun = (time_t)chosen->name.begun;
	const char *namespace = namespace_of(&chosen->name);
	const char *slash = namespace[0] ? "/" : "";
	const char *behind = strrchr(pattern, '/');
	char job[sizeof(files->job)];

	snprintf(job, sizeof(job), "%s%s%s", namespace, slash,
		 chosen->name.job);
	if (namespace[0] && behind)
		pattern = behind + 1;
	if (files->folders.count == 0)
		files->owner = NCS_NO_OWNER;
	files->owners_differ |=
		!ncs_owners_agree(files->owner, chosen->name.owner);
	if (files->owners_differ)
		files->owner = NCS_NO_OWNER;
	else if (chosen->name.owner != NCS_NO_OWNER)
		files->owner = chosen->name.owner;
	if (files->folders.count == 0)
		strcpy(files->job, job);
	else if (strcmp(files->job, job) != 0)
		/* Without the marks of a folder's name, and what follows. */
		snprintf(files->job, sizeof(files->job), "%s%s%.*s", namespace,
			 slash, (int)strcspn(pattern, "@~+=,"), pattern);
	if (files->begun == 0 || begun < files->begun)
		files->begun = begun;
	if (chosen->next_begun != 0 &&
	    (files->next_begun == 0 || chosen->next_begun < files->next_begun))
		files->next_begun = chosen->next_begun;
	if (chosen->matching > files->matching) {
		files->matching = chosen->matching;
		snprintf(files->before, sizeof(files->before), "%s",
			 chosen->before ? chosen->before->name : "");
	}
}

/* Adds the files of a job of one machine: those of the ring, if it keeps none yet. */
static int add_job(struct ncs_archive_files *files, const char *path,
		   const char *folder)
{
	size_t before = files->files.count;
	char below[NCS_ENTRY_PATH_BYTES];
	int error = ncs_paths_add(&files->folders, "%s", folder);

	if (!error)
		error = add_files(&files->files, folder);
	if (error || files->files.count > before)
		return error;
	snprintf(below, sizeof(below), "%s/ring", path);
	return add_files(&files->files, below);
}

static bool find_here(void *context, const char *path)
{
	struct file_search *search = context;
	size_t before = search->files->files.count;
	struct chosen_job chosen;
	struct ncs_entries folders;
	int error = 0;

	list_jobs(search, path, &folders);
	choose_job(search, &folders, &chosen);
	if (chosen.folder) {
		note_job(search->files, search->pattern, &chosen);
		error = add_job(search->files, path, chosen.folder->path);
	}
	for (size_t i = 0; !error && i < folders.count; i++)
		if (&folders.at[i] != chosen.folder &&
		    ncs_archive_matches(folders.at[i].name, search->pattern))
			error = ncs_paths_add(&search->files->others, "%s",
					      folders.at[i].path);
	ncs_entries_release(&folders);
	if (search->error == 0)
		search->error = error;
	return search->files->files.count > before;
}

int ncs_archive_each(const char *path,
		     bool (*visit)(void *context, const char *path),
		     void *context)
{
	static const mode_t kinds[] = { S_IFDIR, S_IFLNK };
	bool any = false;
	int error = 0;

	if (visit(context, path))
		return 0;
	for (size_t k = 0; !error && k < 2; k++) {
		struct ncs_entries machines;

		error = ncs_entries_list(&machines, path, kinds[k]);
		for (size_t i = 0; i < machines.count; i++)
			any |= visit(context, machines.at[i].path);
		ncs_entries_release(&machines);
	}
	if (any)
		return 0;
	return error ? error : -ENOENT;
}

int ncs_archive_find(struct ncs_archive_files *files, const char *path,
		     const char *pattern)
{
	struct file_search search = { .files = files, .pattern = pattern };
	int error;

	*files = (struct ncs_archive_files){ 0 };
	error = ncs_archive_each(path, find_latest, &search);
	if (!error)
		error = ncs_archive_each(path, find_here, &search);
	return error && search.error ? search.error : error;
}

void ncs_archive_release(struct ncs_archive_files *files)
{
	ncs_paths_release(&files->files);
	ncs_paths_release(&files->folders);
	ncs_paths_release(&files->others);
}
