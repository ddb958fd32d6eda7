/* SPDX-License-Identifier: MIT */
/* Creates and removes segments and control objects; see writer.h. Runs in the
 * training process, at init, finalize and exit: no output, no exit, nothing
 * left behind on failure. */
#include "shm/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/file_status.h"
#include "shm/object.h"

/* The object that is being created. A process that is forked meanwhile inherits
 * the descriptor and the mapping, and would hold the object. */
static struct {
	int file; /* -1 if none is open */
	void *mapping;
	size_t bytes;
} unfinished = { .file = -1 };

void ncs_writer_forget_unfinished(void)
{
	if (unfinished.file >= 0)
		close(unfinished.file);
	if (unfinished.mapping)
		munmap(unfinished.mapping, unfinished.bytes);
	unfinished.file = -1;
	unfinished.mapping = NULL;
}

/* Refuses a directory that belongs to another user and is not sticky: that user
 * could replace the object. Refuses one that is not in memory: a file system
 * that copies on write needs space again for each page that is written, and
 * raises SIGBUS where it finds none. */
static int check_directory(int directory)
{
	struct stat status;

	if (ncs_open_file_status(directory, &status) != 0)
		return -errno;
	if (status.st_uid != 0 && status.st_uid != geteuid() &&
	    !(status.st_mode & S_ISVTX))
		return -EPERM;
	return ncs_object_is_in_memory(directory) ? 0 : -EMEDIUMTYPE;
}

/* Creates an empty file in a directory that will do. Returns its descriptor or
 * -errno. */
static int create_file(const char *directory, const char *path, mode_t mode)
{
	int place = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int file = -1, error;

	if (place < 0)
		return -errno;
	error = check_directory(place);
	if (!error) {
		file = openat(place, strrchr(path, '/') + 1,
			      O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW |
				      O_CLOEXEC,
			      mode);
		error = file < 0 ? -errno : 0;
	}
	close(place);
	return error ? error : file;
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

/* Moves a mapping to `place`, which is mapped already. The old mapping gives way
 * only once nothing is left that is likely to fail. If it is gone nevertheless,
 * empty memory takes its place: late callbacks may still write there. Returns 0
 * or -errno. */
static int move_mapping(void *mapping, uint64_t bytes, void *place)
{
	void *filler;
	int error;

	if (mremap(mapping, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		   place) != MAP_FAILED)
		return 0;
	error = -errno;
	munmap(mapping, bytes);
	filler = mmap(place, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	/* Before Linux 4.17 the place is only a wish. */
	if (filler != MAP_FAILED && filler != place)
		munmap(filler, bytes);
	return error;
}

/* Maps a file of `bytes` bytes: at `place`, replacing the mapping there, or
 * anywhere if that is NULL. Returns 0 or -errno. */
static int map(int file, uint64_t bytes, void *place, void **mapping)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, file, 0);
	int error = 0;

	if (start == MAP_FAILED)
		return -errno;
	unfinished.bytes = bytes;
	unfinished.mapping = start;
	if (place)
		error = move_mapping(start, bytes, place);
	*mapping = place ? place : start;
	return error;
}

/* An object that is to be created. */
struct new_object {
	const char *directory, *prefix;
	const struct ncs_process *process;
	uint64_t number;
	mode_t mode;
	uint64_t bytes;
	void *place; /* see map() */
};

/* Creates a file of `bytes` reserved bytes and maps it. Only this descriptor can
 * write to it if `mode` says so. Returns 0 or -errno; nothing is left behind on
 * failure. */
static int create(struct ncs_writer *writer, const struct new_object *object)
{
	struct ncs_writer made = { .mapped_bytes = object->bytes };
	struct stat status;
	int file, error;

	/* Until the file has been created there is no path to unlink. */
	*writer = (struct ncs_writer){ 0 };
	if ((size_t)snprintf(
		    made.path, sizeof(made.path), "%s/%s%u.%llu.%llu",
		    object->directory, object->prefix, object->process->pid,
		    (unsigned long long)object->process->start,
		    (unsigned long long)object->number) >= sizeof(made.path))
		return -ENAMETOOLONG;
	file = create_file(object->directory, made.path, object->mode);
	if (file < 0)
		return file;
	unfinished.file = file;
	error = reserve(file, object->bytes);
	if (!error && ncs_open_file_status(file, &status) != 0)
		error = -errno;
	if (!error)
		error = map(file, object->bytes, object->place, &made.mapping);
	unfinished.mapping = NULL;
	unfinished.file = -1;
	close(file);
	if (error) {
		unlink(made.path);
		return error;
	}
	made.device = status.st_dev;
	made.inode = status.st_ino;
	*writer = made;
	return 0;
}

/* Asks the kernel itself: C libraries before 2.25 have no function for it. */
uint64_t ncs_writer_number(uint32_t serial)
{
	uint32_t number;

	if (syscall(SYS_getrandom, &number, sizeof(number), GRND_NONBLOCK) !=
	    sizeof(number))
		number = (uint32_t)ncs_clock_monotonic_ns();
	return (uint64_t)serial << 32 | number;
}

int ncs_writer_create(struct ncs_writer *writer, const char *directory,
		      const struct ncs_process *process, uint64_t number,
		      const struct ncs_segment_size *size, void *place)
{
	struct ncs_header layout = { 0 };
	struct new_object object = {
		.directory = directory,
		.prefix = NCS_NAME_PREFIX,
		.process = process,
		.number = number,
		.mode = S_IRUSR,
		.place = place,
	};
	int error;

	ncs_segment_lay_out(&layout, size);
	object.bytes = layout.segment_bytes;
	error = create(writer, &object);
	if (error)
		return error;
	/* Give pages of histograms and ranges back to the kernel: few are ever
	 * used, and each counts as this process's memory from its first use
	 * on. */
	madvise((char *)writer->mapping + layout.histograms.offset,
		layout.segment_bytes - layout.histograms.offset, MADV_DONTNEED);
	fill_header(writer->header, process, size);
	return 0;
}

int ncs_writer_create_control(struct ncs_writer *writer, const char *directory,
			      const struct ncs_process *process,
			      uint64_t number)
{
	const struct new_object object = {
		.directory = directory,
		.prefix = NCS_CONTROL_PREFIX,
		.process = process,
		.number = number,
		.mode = S_IRUSR | S_IWUSR,
		.bytes = NCS_CONTROL_BYTES,
	};
	int error = create(writer, &object);
	struct ncs_control *control = writer->control;

	if (error)
		return error;
	control->magic = NCS_CONTROL_MAGIC;
	control->byte_order = NCS_BYTE_ORDER;
	control->control_bytes = sizeof(*control);
	control->pid = process->pid;
	control->process_start = process->start;
	control->pid_namespace = process->pid_namespace;
	control->time_namespace = process->time_namespace;
	memcpy(control->boot_id, process->boot_id, sizeof(control->boot_id));
	control->created_ns = ncs_clock_monotonic_ns();
	/* ORDER: pairs with check_control() (shm/read/remote.c): the
	 * rest is stored before the version. */
	ncs_store_release32(&control->version, NCS_CONTROL_VERSION);
	return 0;
}

/* Works on the file, not on its name, by which another user may have put
 * something else in a directory that is not sticky. */
int ncs_writer_share(const struct ncs_writer *writer, gid_t group)
{
	int file = ncs_object_open(AT_FDCWD, writer->path);
	struct stat status;
	int error = 0;

	if (file < 0)
		return file;
	if (ncs_open_file_status(file, &status) != 0 ||
	    status.st_dev != writer->device || status.st_ino != writer->inode)
		error = -ENOENT;
	else if (fchown(file, (uid_t)-1, group) != 0 ||
		 fchmod(file, S_IRUSR | S_IRGRP) != 0)
		error = -errno;
	close(file);
	return error;
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
