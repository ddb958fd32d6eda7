/* SPDX-License-Identifier: MIT */
/* Opening control objects; see remote.h. What is mapped is hostile: who made it
 * is copied once, and that copy is what counts. */
#include "shm/read/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/atomics.h"
#include "shm/read/attach.h"
#include "shm/read/discover.h"
#include "shm/read/guard.h"

struct ncs_remote {
	struct ncs_control *control;
	struct ncs_process process;
	uid_t owner;
};

static enum ncs_attach corrupt(char *why, size_t why_size, const char *text)
{
	ncs_attach_explain(why, why_size, text);
	return NCS_ATTACH_CORRUPT;
}

/* Copies what stands before the words that change. */
static void copy_head(struct ncs_control *copy,
		      const struct ncs_control *mapped)
{
	uint64_t words[offsetof(struct ncs_control, request) / sizeof(uint64_t)];

	memset(copy, 0, sizeof(*copy));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = ncs_load_relaxed((const uint64_t *)mapped + i);
	memcpy(copy, words, sizeof(words));
	copy->boot_id[sizeof(copy->boot_id) - 1] = '\0';
}

static enum ncs_attach check_control(struct ncs_remote *remote, char *why,
				     size_t why_size)
{
	uint64_t magic = ncs_load_relaxed(&remote->control->magic);
	struct ncs_control copy;
	uint32_t version;

	if (magic != 0 && magic != NCS_CONTROL_MAGIC)
		return corrupt(why, why_size, "it has not the magic of one");
	/* ORDER: pairs with ncs_writer_create_control() (shm/write/writer.c): what
	 * stands before the version is complete. */
	version = ncs_load_acquire32(&remote->control->version);
	if (version == 0) {
		ncs_attach_explain(why, why_size, "it is not ready yet");
		return NCS_ATTACH_NOT_READY;
	}
	if (version >> 16 != NCS_CONTROL_VERSION >> 16) {
		ncs_attach_explain(why, why_size,
				   "it was made by another version");
		return NCS_ATTACH_OTHER_VERSION;
	}
	copy_head(&copy, remote->control);
	if (copy.magic != NCS_CONTROL_MAGIC)
		return corrupt(why, why_size, "it has not the magic of one");
	if (copy.byte_order != NCS_BYTE_ORDER)
		return corrupt(why, why_size, "its byte order is another");
	if (copy.control_bytes < sizeof(copy) ||
	    copy.control_bytes > NCS_CONTROL_BYTES)
		return corrupt(why, why_size, "its size makes no sense");
	ncs_process_of_control(&copy, &remote->process);
	return NCS_ATTACHED;
}

static enum ncs_attach map_file(struct ncs_remote *remote, int file, char *why,
				size_t why_size)
{
	struct stat status;
	void *mapping;

	if (fstat(file, &status) != 0)
		return ncs_attach_failure(errno, why, why_size);
	if (!S_ISREG(status.st_mode))
		return corrupt(why, why_size, "it is not a regular file");
	if (geteuid() != 0 && status.st_uid != geteuid()) {
		ncs_attach_explain(why, why_size, "it belongs to another user");
		return NCS_ATTACH_DENIED;
	}
	if (status.st_size == 0) {
		ncs_attach_explain(why, why_size, "it is not ready yet");
		return NCS_ATTACH_NOT_READY;
	}
	if (status.st_size < (off_t)NCS_CONTROL_BYTES)
		return corrupt(why, why_size, "it is too short");
	mapping = mmap(NULL, NCS_CONTROL_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, file, 0);
	if (mapping == MAP_FAILED)
		return ncs_attach_failure(errno, why, why_size);
	remote->control = mapping;
	remote->owner = status.st_uid;
	ncs_guard_add(mapping, NCS_CONTROL_BYTES);
	return NCS_ATTACHED;
}

enum ncs_attach ncs_remote_open(const char *path, struct ncs_remote **out,
				char *why, size_t why_size)
{
	struct ncs_remote *remote = calloc(1, sizeof(*remote));
	enum ncs_attach result;
	int file;

	*out = NULL;
	if (!remote)
		return ncs_attach_failure(ENOMEM, why, why_size);
	file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file < 0) {
		result = ncs_attach_failure(errno, why, why_size);
	} else {
		result = map_file(remote, file, why, why_size);
		close(file);
	}
	if (result == NCS_ATTACHED)
		result = check_control(remote, why, why_size);
	if (result == NCS_ATTACHED)
		*out = remote;
	else
		ncs_remote_close(remote);
	return result;
}

/* Whether a path is named after a process. Its name does not tell a PID
 * namespace; the object itself does. */
static bool is_named_after(const char *path, const struct ncs_process *process)
{
	const char *name = strrchr(path, '/');
	unsigned long long start;
	unsigned pid;

	return name &&
	       sscanf(name, "/" NCS_CONTROL_PREFIX "%u.%llu.", &pid, &start) ==
		       2 &&
	       pid == process->pid && start == process->start;
}

enum ncs_attach ncs_remote_find(const char *directory,
				const struct ncs_header *header,
				struct ncs_remote **remote, char *why,
				size_t why_size)
{
	enum ncs_attach result = NCS_ATTACH_ABSENT;
	struct ncs_process process;
	struct ncs_paths paths;
	int error;

	*remote = NULL;
	ncs_process_of_header(header, &process);
	error = ncs_discover_controls(ncs_directory(directory), &paths);
	if (error)
		return ncs_attach_failure(-error, why, why_size);
	ncs_attach_explain(why, why_size, "it has no control object");
	for (size_t i = 0; i < paths.count && !*remote; i++) {
		enum ncs_attach found;

		if (!is_named_after(paths.path[i], &process))
			continue;
		found = ncs_remote_open(paths.path[i], remote, why, why_size);
		if (found != NCS_ATTACHED) {
			result = found;
		} else if (!ncs_process_is_same(&process,
						&(*remote)->process)) {
			ncs_remote_close(*remote);
			*remote = NULL;
		}
	}
	ncs_paths_release(&paths);
	return *remote ? NCS_ATTACHED : result;
}

void ncs_remote_close(struct ncs_remote *remote)
{
	if (!remote)
		return;
	if (remote->control) {
		ncs_guard_remove(remote->control);
		munmap(remote->control, NCS_CONTROL_BYTES);
	}
	free(remote);
}

struct ncs_control *ncs_remote_control(const struct ncs_remote *remote)
{
	return remote->control;
}

const struct ncs_process *ncs_remote_process(const struct ncs_remote *remote)
{
	return &remote->process;
}

uid_t ncs_remote_owner(const struct ncs_remote *remote)
{
	return remote->owner;
}
