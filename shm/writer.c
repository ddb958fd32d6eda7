/* Creating and removing segments. Runs inside the training process, at init,
 * finalize and exit: no output, no exit, nothing left behind on failure. */
#include "shm/writer.h"

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

/* In a directory that another user owns and that is not sticky, he could swap
 * our object for his. */
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

/* Reserves the file's bytes: a full file system is an error here, not a SIGBUS
 * later. Neither can it end in a signal: a file over the process's limit would
 * raise SIGXFSZ, and before Linux 6.11 any signal interrupts it on tmpfs. */
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

int ncs_writer_create(struct ncs_writer *writer, const char *directory,
		      const struct ncs_process *process, unsigned serial,
		      const struct ncs_segment_size *size, void *place)
{
	struct ncs_header layout = { 0 };
	char path[sizeof(writer->path)];
	int file, error;
	void *mapping;

	/* Until the file is there and ours, there is nothing to unlink. */
	writer->header = NULL;
	writer->path[0] = '\0';
	error = check_directory(directory);
	if (error)
		return error;
	if ((size_t)snprintf(path, sizeof(path),
			     "%s/" NCS_NAME_PREFIX "%u.%llu.%u", directory,
			     process->pid, (unsigned long long)process->start,
			     serial) >= sizeof(path))
		return -ENAMETOOLONG;
	ncs_segment_lay_out(&layout, size);
	file = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (file < 0)
		return -errno;
	error = reserve(file, layout.segment_bytes);
	if (error)
		goto fail;
	mapping = mmap(place, layout.segment_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE | (place ? MAP_FIXED : 0),
		       file, 0);
	if (mapping == MAP_FAILED) {
		error = -errno;
		goto fail;
	}
	close(file);
	writer->header = mapping;
	writer->mapped_bytes = layout.segment_bytes;
	memcpy(writer->path, path, sizeof(path));
	fill_header(writer->header, process, size);
	return 0;
fail:
	close(file);
	unlink(path);
	return error;
}

void ncs_writer_publish(struct ncs_writer *writer)
{
	/* ORDER: pairs with check_header() (shm/reader.c): the header is
	 * complete before its version says so. */
	ncs_store_release32(&writer->header->version, NCS_ABI_VERSION);
}

void ncs_writer_unlink(struct ncs_writer *writer)
{
	if (writer->path[0] != '\0')
		unlink(writer->path);
	writer->path[0] = '\0';
}

#define REAP_AGE_S (24 * 60 * 60)

/* Whether the file at `path` is a segment of ours that nobody will miss. */
static bool is_forgotten(const char *path, const struct ncs_process *process)
{
	struct ncs_header header;
	struct stat status;
	bool forgotten;
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return false;
	forgotten = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		    status.st_uid == geteuid() &&
		    status.st_mtime < time(NULL) - REAP_AGE_S &&
		    read(file, &header, sizeof(header)) ==
			    (ssize_t)sizeof(header) &&
		    header.magic == NCS_MAGIC &&
		    header.version >> 16 == NCS_ABI_MAJOR &&
		    ncs_process_has_ended(&header, process);
	close(file);
	return forgotten;
}

void ncs_writer_reap(const char *directory, const struct ncs_process *process)
{
	DIR *stream = opendir(directory);
	struct dirent *found;
	char path[512];

	if (!stream)
		return;
	while ((found = readdir(stream))) {
		if (strncmp(found->d_name, NCS_NAME_PREFIX,
			    strlen(NCS_NAME_PREFIX)) != 0 ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory,
				     found->d_name) >= sizeof(path))
			continue;
		if (is_forgotten(path, process))
			unlink(path);
	}
	closedir(stream);
}
