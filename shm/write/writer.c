/* SPDX-License-Identifier: MIT */
/* Creates and removes segments and control objects; see writer.h. Runs in the
 * training process, at init, finalize and exit: no output, no exit, nothing
 * left behind on failure. */
#include "shm/write/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shm/atomics.h"

/* Refuses a directory that belongs to another user and is not sticky: that user
 * could replace the object. */
static int check_directory(const char *directory)
{
	struct stat status;

	if (stat(directory, &status) != 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	if (status.st_uid != 0 && status.st_uid != geteuid() &&
	    !(status.st_mode & S_ISVTX))
		return -EPERM;
	return 0;
}

/* Reserves the file's bytes, so that a full file system is an error here and
 * not a SIGBUS later. No signal may arrive: a file beyond the process's limit,
 * for which SIGXFSZ would be raised, is refused first, and signals are blocked,
 * since before Linux 6.11 any of them interrupts the reservation on tmpfs. */
static int reserve(int file, uint64_t bytes)
{
	struct rlimit limit;
	sigset_t all, before;
	int error;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur)
		return -EFBIG;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = posix_fallocate(file, 0, (off_t)bytes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static void fill_header(struct ncs_header *header,
			const struct ncs_process *process,
			const struct ncs_segment_size *size)
{
	header->magic = NCS_MAGIC;
	header->byte_order = NCS_BYTE_ORDER;
	header->header_bytes = sizeof(struct ncs_header);
	header->record_bytes = sizeof(struct ncs_record);
	ncs_segment_lay_out(header, size);
	header->pid = process->pid;
	header->process_start = process->start;
	header->pid_namespace = process->pid_namespace;
	header->time_namespace = process->time_namespace;
	memcpy(header->boot_id, process->boot_id, sizeof(header->boot_id));
	memcpy(header->host, process->host, sizeof(header->host));
	header->life = NCS_LIFE_LIVE;
}

/* Creates a file of `bytes` reserved bytes and maps it: at `place`, replacing
 * the mapping there, or anywhere if that is NULL. Returns 0 or -errno; nothing
 * is left behind on failure. */
static int create(const char *directory, const char *path, uint64_t bytes,
		  void *place, void **mapping)
{
	int file, error = check_directory(directory);

	if (error)
		return error;
	file = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (file < 0)
		return -errno;
	error = reserve(file, bytes);
	if (!error) {
		*mapping = mmap(place, bytes, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_POPULATE |
					(place ? MAP_FIXED : 0),
				file, 0);
		if (*mapping == MAP_FAILED)
			error = -errno;
	}
	close(file);
	if (error)
		unlink(path);
	return error;
}

/* Writes the path of an object of this process. Returns false if it is too
 * long. */
static bool name_object(char *path, size_t size, const char *directory,
			const char *prefix, const struct ncs_process *process,
			unsigned serial)
{
	return (size_t)snprintf(path, size, "%s/%s%u.%llu.%u", directory,
				prefix, process->pid,
				(unsigned long long)process->start,
				serial) < size;
}

int ncs_writer_create(struct ncs_writer *writer, const char *directory,
		      const struct ncs_process *process, unsigned serial,
		      const struct ncs_segment_size *size, void *place)
{
	struct ncs_header layout = { 0 };
	char path[sizeof(writer->path)];
	void *mapping;
	int error;

	/* Until the file has been created there is no path to unlink. */
	writer->header = NULL;
	writer->path[0] = '\0';
	if (!name_object(path, sizeof(path), directory, NCS_NAME_PREFIX,
			 process, serial))
		return -ENAMETOOLONG;
	ncs_segment_lay_out(&layout, size);
	error = create(directory, path, layout.segment_bytes, place, &mapping);
	if (error)
		return error;
	/* Give pages of histograms and ranges back to the kernel: few are ever
	 * used, and each counts as this process's memory from its first use
	 * on. */
	madvise((char *)mapping + layout.histograms.offset,
		layout.segment_bytes - layout.histograms.offset, MADV_DONTNEED);
	writer->header = mapping;
	writer->mapped_bytes = layout.segment_bytes;
	memcpy(writer->path, path, sizeof(path));
	fill_header(writer->header, process, size);
	return 0;
}

int ncs_writer_create_control(struct ncs_control_writer *writer,
			      const char *directory,
			      const struct ncs_process *process,
			      unsigned serial)
{
	struct ncs_control *control;
	char path[sizeof(writer->path)];
	void *mapping;
	int error;

	writer->control = NULL;
	writer->path[0] = '\0';
	if (!name_object(path, sizeof(path), directory, NCS_CONTROL_PREFIX,
			 process, serial))
		return -ENAMETOOLONG;
	error = create(directory, path, NCS_CONTROL_BYTES, NULL, &mapping);
	if (error)
		return error;
	control = mapping;
	writer->control = control;
	memcpy(writer->path, path, sizeof(path));
	control->magic = NCS_CONTROL_MAGIC;
	control->byte_order = NCS_BYTE_ORDER;
	control->control_bytes = sizeof(*control);
	control->pid = process->pid;
	control->process_start = process->start;
	control->pid_namespace = process->pid_namespace;
	control->time_namespace = process->time_namespace;
	memcpy(control->boot_id, process->boot_id, sizeof(control->boot_id));
	/* ORDER: pairs with check_control() (shm/read/remote.c): the
	 * rest is stored before the version. */
	ncs_store_release32(&control->version, NCS_CONTROL_VERSION);
	return 0;
}

void ncs_writer_unlink_control(struct ncs_control_writer *writer)
{
	if (writer->path[0] != '\0')
		unlink(writer->path);
	writer->path[0] = '\0';
}

void ncs_writer_publish(struct ncs_writer *writer)
{
	/* ORDER: pairs with check_header() (shm/read/reader.c): the rest of
	 * the header is stored before the version. */
	ncs_store_release32(&writer->header->version, NCS_ABI_VERSION);
}

void ncs_writer_unlink(struct ncs_writer *writer)
{
	if (writer->path[0] != '\0')
		unlink(writer->path);
	writer->path[0] = '\0';
}

#define REAP_AGE_S (24 * 60 * 60)

/* Tell whether the first bytes of a file are those of a segment or control
 * object whose process has ended. */
static bool is_of_dead_segment(const void *bytes,
			       const struct ncs_process *self)
{
	struct ncs_process process;
	struct ncs_header header;

	memcpy(&header, bytes, sizeof(header));
	ncs_process_of_header(&header, &process);
	return header.magic == NCS_MAGIC &&
	       header.version >> 16 == NCS_ABI_MAJOR &&
	       ncs_process_has_ended(&process, self);
}

static bool is_of_dead_control(const void *bytes,
			       const struct ncs_process *self)
{
	struct ncs_process process;
	struct ncs_control control;

	memcpy(&control, bytes, sizeof(control));
	ncs_process_of_control(&control, &process);
	return control.magic == NCS_CONTROL_MAGIC &&
	       control.version >> 16 == NCS_CONTROL_VERSION >> 16 &&
	       ncs_process_has_ended(&process, self);
}

/* Tells whether a file belongs to the caller, is older than REAP_AGE_S and is
 * an object of a process that has ended. */
static bool is_forgotten(const char *path, const struct ncs_process *self,
			 bool (*dead)(const void *bytes,
				      const struct ncs_process *self))
{
	char bytes[sizeof(struct ncs_header)];
	struct stat status;
	bool forgotten;
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return false;
	forgotten = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		    status.st_uid == geteuid() &&
		    status.st_mtime < time(NULL) - REAP_AGE_S &&
		    read(file, bytes, sizeof(bytes)) ==
			    (ssize_t)sizeof(bytes) &&
		    dead(bytes, self);
	close(file);
	return forgotten;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

void ncs_writer_reap(const char *directory, const struct ncs_process *process)
{
	DIR *entries = opendir(directory);
	struct dirent *found;
	char path[512];

	if (!entries)
		return;
	while ((found = readdir(entries))) {
		bool control = begins_with(found->d_name, NCS_CONTROL_PREFIX);

		if ((!control &&
		     !begins_with(found->d_name, NCS_NAME_PREFIX)) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory,
				     found->d_name) >= sizeof(path))
			continue;
		if (is_forgotten(path, process,
				 control ? is_of_dead_control :
					   is_of_dead_segment))
			unlink(path);
	}
	closedir(entries);
}
