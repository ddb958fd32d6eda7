/* SPDX-License-Identifier: MIT */
/* Finding segments and telling the living from the dead. Reads directories and
 * /proc; maps nothing itself. */
#include "shm/read/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/process.h"
#include "shm/read/remote.h"

const char *ncs_directory(const char *directory)
{
	const char *variable = getenv("NCCLSTAT_DIR");

	if (directory)
		return directory;
	return variable && variable[0] ? variable : NCS_DEFAULT_DIR;
}

static int compare_paths(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strverscmp(*a, *b);
}

static int add_path(struct ncs_paths *paths, const char *directory,
		    const char *name)
{
	char **grown;

	if ((paths->count & (paths->count + 1)) == 0) {
		grown = realloc(paths->path, (2 * paths->count + 2) *
						     sizeof(*paths->path));
		if (!grown)
			return -ENOMEM;
		paths->path = grown;
	}
	if (asprintf(&paths->path[paths->count], "%s/%s", directory, name) < 0)
		return -ENOMEM;
	paths->count++;
	return 0;
}

/* What begins with this, sorted. */
static int list(const char *directory, const char *prefix,
		struct ncs_paths *paths)
{
	DIR *stream = opendir(directory);
	struct dirent *found;
	int error = 0;

	memset(paths, 0, sizeof(*paths));
	if (!stream)
		return -errno;
	while (!error && (found = readdir(stream)))
		if (strncmp(found->d_name, prefix, strlen(prefix)) == 0)
			error = add_path(paths, directory, found->d_name);
	closedir(stream);
	if (error) {
		ncs_paths_release(paths);
		return error;
	}
	if (paths->count > 0)
		qsort(paths->path, paths->count, sizeof(*paths->path),
		      compare_paths);
	return 0;
}

int ncs_discover(const char *directory, struct ncs_paths *paths)
{
	return list(directory, NCS_NAME_PREFIX, paths);
}

int ncs_discover_controls(const char *directory, struct ncs_paths *paths)
{
	return list(directory, NCS_CONTROL_PREFIX, paths);
}

void ncs_paths_release(struct ncs_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->path[i]);
	free(paths->path);
	memset(paths, 0, sizeof(*paths));
}

static struct ncs_process self;

static void describe_self(void)
{
	ncs_process_describe(&self);
}

static bool has_ended(const struct ncs_process *process)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, describe_self);
	return ncs_process_has_ended(process, &self);
}

bool ncs_process_is_gone(const struct ncs_header *header)
{
	struct ncs_process process;

	ncs_process_of_header(header, &process);
	return has_ended(&process);
}

struct ncs_fate ncs_process_fate_at(const struct ncs_header *header,
				    uint64_t now_ns)
{
	static _Thread_local struct {
		struct ncs_process process;
		uint64_t now_ns;
		struct ncs_fate fate;
	} latest;
	struct ncs_process process;

	ncs_process_of_header(header, &process);
	if (now_ns == 0 || latest.now_ns != now_ns ||
	    memcmp(&process, &latest.process, sizeof(process)) != 0) {
		latest.process = process;
		latest.now_ns = now_ns;
		latest.fate.gone = has_ended(&process);
		/* Of another name space the number is somebody else's. */
		latest.fate.stopped =
			!latest.fate.gone &&
			process.pid_namespace == self.pid_namespace &&
			ncs_process_is_stopped(process.pid, process.start);
	}
	return latest.fate;
}

enum ncs_liveness ncs_liveness_of(uint64_t life, bool process_gone,
				  uint64_t last_call_ns, uint64_t now_ns)
{
	if (life == NCS_LIFE_FINISHED)
		return NCS_FINISHED;
	if (process_gone)
		return NCS_DEAD;
	if (last_call_ns != 0 && now_ns > last_call_ns &&
	    now_ns - last_call_ns > NCS_SILENT_AFTER_NS)
		return NCS_SILENT;
	return NCS_ALIVE;
}

/* Whether some process of this machine still has the file mapped or open for
 * writing, in whatever PID namespace: then a read lease is refused. */
static bool is_being_written(const char *path)
{
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool refused;

	if (file < 0)
		return false;
	fcntl(file, F_SETSIG, SIGURG); /* instead of SIGIO, which kills */
	refused = fcntl(file, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
	close(file);
	return refused;
}

/* A file that is named like one of ours but is none we can read is removed only
 * if the process in its name is gone. The name does not tell a PID namespace,
 * so a file that is still mapped is left alone. */
static bool named_process_is_gone(const char *path, const char *prefix)
{
	const char *name = strrchr(path, '/');
	unsigned long long start;
	unsigned pid, serial;
	int end = -1;

	name = name ? name + 1 : path;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	name += strlen(prefix);
	if (sscanf(name, "%u.%llu.%u%n", &pid, &start, &serial, &end) != 3 ||
	    end < 0 || name[end] != '\0')
		return false;
	return ncs_process_start(pid) != start && !is_being_written(path);
}

static bool is_dead(const char *path)
{
	struct ncs_reader *reader;
	enum ncs_attach result = ncs_reader_open(path, &reader, NULL, 0);
	bool gone;

	if (result == NCS_ATTACH_DENIED || result == NCS_ATTACH_ABSENT ||
	    result == NCS_ATTACH_FAILED)
		return false;
	if (result != NCS_ATTACHED)
		return named_process_is_gone(path, NCS_NAME_PREFIX);
	gone = ncs_process_is_gone(ncs_reader_header(reader));
	ncs_reader_close(reader);
	return gone;
}

static bool is_dead_control(const char *path)
{
	struct ncs_process process;
	struct ncs_remote *remote;
	enum ncs_attach result = ncs_remote_open(path, &remote, NULL, 0);

	if (result == NCS_ATTACH_DENIED || result == NCS_ATTACH_ABSENT ||
	    result == NCS_ATTACH_FAILED)
		return false;
	if (result != NCS_ATTACHED)
		return named_process_is_gone(path, NCS_CONTROL_PREFIX);
	process = *ncs_remote_process(remote);
	ncs_remote_close(remote);
	return has_ended(&process);
}

/* Removes what is dead of one kind; returns how many were. */
static int clean(const struct ncs_paths *paths, bool (*dead)(const char *path),
		 void (*removed)(const char *path, int error, void *argument),
		 void *argument)
{
	int count = 0;

	for (size_t i = 0; i < paths->count; i++) {
		int error;

		if (!dead(paths->path[i]))
			continue;
		error = unlink(paths->path[i]) == 0 ? 0 : -errno;
		if (!error)
			count++;
		if (removed)
			removed(paths->path[i], error, argument);
	}
	return count;
}

int ncs_clean(const char *directory,
	      void (*removed)(const char *path, int error, void *argument),
	      void *argument)
{
	struct ncs_paths paths;
	int error = ncs_discover(directory, &paths), count;

	if (error)
		return error;
	count = clean(&paths, is_dead, removed, argument);
	ncs_paths_release(&paths);
	error = ncs_discover_controls(directory, &paths);
	if (error)
		return error;
	count += clean(&paths, is_dead_control, removed, argument);
	ncs_paths_release(&paths);
	return count;
}
