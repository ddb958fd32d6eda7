/* SPDX-License-Identifier: MIT */
/* Removes files that dead processes left behind; see clean.h. Opens each file to
 * look at it, and maps none. */
#include "shm/read/clean.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/object.h"
#include "shm/read/paths.h"
#include "shm/segment.h"

/* Reads what the segment of a dead process says of its end. Nothing in it is
 * trusted: wrong values make wrong times. */
static void read_end(int file, struct ncs_left *left)
{
	struct ncs_header header = { 0 };
	struct ncs_clock *clock = &header.clock;

	if (pread(file, &header, sizeof(header), 0) <
		    (ssize_t)NCS_HEADER_BYTES_LEAST ||
	    header.version >> 16 != NCS_ABI_MAJOR)
		return;
	left->is_finished = header.life == NCS_LIFE_FINISHED;
	/* Unlike the monotonic clock, this one is the same in all namespaces. */
	clock->base_monotonic_ns = clock->base_realtime_ns;
	if (NCS_SEGMENT_HAS(&header, alive))
		left->alive_ns = ncs_clock_ns(clock, header.alive);
}

/* Looks at a file. Returns whether it is an abandoned object that the caller may
 * remove: its own, or anybody's if the caller is root. */
static bool is_left(struct ncs_left *left, const char *path,
		    const struct ncs_process *self)
{
	const char *name = strrchr(path, '/');
	enum ncs_object_kind kind;
	struct stat status;
	uint64_t start;
	uint32_t pid;
	bool dead;
	int file;

	*left = (struct ncs_left){ .path = path };
	kind = ncs_object_parse(name ? name + 1 : path, &pid, &start);
	file = kind == NCS_OBJECT_NONE ? -1 : ncs_object_open(AT_FDCWD, path);
	if (file < 0)
		return false;
	dead = fstat(file, &status) == 0 &&
	       (geteuid() == 0 || status.st_uid == geteuid()) &&
	       ncs_object_is_abandoned(file, kind, self, NULL);
	if (dead) {
		left->bytes = (uint64_t)status.st_blocks * 512;
		if (kind == NCS_OBJECT_SEGMENT)
			read_end(file, left);
	}
	close(file);
	return dead;
}

static int latest_first(const void *a, const void *b)
{
	const struct ncs_left *x = a, *y = b;

	return (x->alive_ns < y->alive_ns) - (x->alive_ns > y->alive_ns);
}

/* Returns how long ago that was. */
static uint64_t since_ns(uint64_t realtime_ns)
{
	uint64_t now_ns = ncs_clock_realtime_ns();

	return now_ns > realtime_ns ? now_ns - realtime_ns : 0;
}

/* Removes the abandoned ones of these files, but for those that stay. Returns how
 * many were removed, or -ENOMEM. */
static int clean(const struct ncs_paths *paths,
		 const struct ncs_clean_limits *limits,
		 void (*told)(const struct ncs_left *left, void *argument),
		 void *argument)
{
	struct ncs_left *left = calloc(paths->count + 1, sizeof(*left));
	uint64_t kept_bytes = 0;
	struct ncs_process self;
	size_t found = 0;
	int count = 0;

	if (!left)
		return -ENOMEM;
	ncs_process_describe(&self);
	for (size_t i = 0; i < paths->count; i++)
		found += is_left(&left[found], paths->path[i], &self);
	qsort(left, found, sizeof(*left), latest_first);
	for (size_t i = 0; i < found; i++) {
		struct ncs_left *file = &left[i];

		file->is_kept = limits && file->alive_ns != 0 &&
				!file->is_finished &&
				since_ns(file->alive_ns) < limits->age_ns &&
				kept_bytes + file->bytes <= limits->bytes;
		if (file->is_kept)
			kept_bytes += file->bytes;
		else if (unlink(file->path) == 0)
			count++;
		else
			file->error = -errno;
		if (told)
			told(file, argument);
	}
	free(left);
	return count;
}

int ncs_clean(const char *directory, const struct ncs_clean_limits *limits,
	      void (*told)(const struct ncs_left *left, void *argument),
	      void *argument)
{
	struct ncs_paths paths;
	int error = ncs_discover(directory, &paths), count, controls;

	if (error)
		return error;
	count = clean(&paths, limits, told, argument);
	ncs_paths_release(&paths);
	error = ncs_discover_controls(directory, &paths);
	if (error)
		return error;
	controls = clean(&paths, NULL, told, argument);
	ncs_paths_release(&paths);
	return count < 0 ? count : controls < 0 ? controls : count + controls;
}
