/* SPDX-License-Identifier: MIT */
/* Opens control objects; see remote.h. A mapping is hostile input: the identity
 * of its maker is copied once, and only that copy is used. */
#include "shm/read/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/atomics.h"
#include "shm/object.h"
#include "shm/read/attach.h"
#include "shm/read/containers.h"
#include "shm/read/discovery.h"
#include "shm/read/mapping.h"
#include "shm/read/paths.h"

struct ncs_remote {
	struct ncs_mapping page;
	struct ncs_process process; /* the object's maker, copied once */
};

/* Copies the words before the request, which do not change. */
static void copy_head(struct ncs_control *copy,
		      const struct ncs_control *mapped)
{
	memset(copy, 0, sizeof(*copy));
	ncs_load_words(copy, mapped, offsetof(struct ncs_control, request));
	copy->boot_id[sizeof(copy->boot_id) - 1] = '\0';
}

static enum ncs_attach check_control(struct ncs_remote *remote, char *why,
				     size_t why_size)
{
	static const char wrong_magic[] = "it has not the magic of one";
	const struct ncs_control *mapped = ncs_remote_control(remote);
	uint64_t magic = ncs_load_relaxed(&mapped->magic);
	struct ncs_control copy;
	const char *wrong = NULL;
	uint32_t version;

	if (magic != 0 && magic != NCS_CONTROL_MAGIC)
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT, wrong_magic, why,
					 why_size);
	/* ORDER: pairs with ncs_writer_create_control() (shm/write/writer.c): a
	 * reader that sees the version sees all words before the request. */
	version = ncs_load_acquire32(&mapped->version);
	if (version == 0)
		return ncs_attach_refuse(NCS_ATTACH_NOT_READY,
					 "it is not ready yet", why, why_size);
	if (version >> 16 != NCS_CONTROL_VERSION >> 16)
		return ncs_attach_refuse(NCS_ATTACH_OTHER_VERSION,
					 "it was made by another version", why,
					 why_size);
	copy_head(&copy, mapped);
	if (copy.magic != NCS_CONTROL_MAGIC)
		wrong = wrong_magic;
	else if (copy.byte_order != NCS_BYTE_ORDER)
		wrong = "its byte order is another";
	else if (copy.control_bytes < sizeof(copy) ||
		 copy.control_bytes > NCS_CONTROL_BYTES)
		wrong = "its size makes no sense";
	if (wrong)
		return ncs_attach_refuse(NCS_ATTACH_CORRUPT, wrong, why,
					 why_size);
	ncs_process_of_control(&copy, &remote->process);
	return NCS_ATTACHED;
}

enum ncs_attach ncs_remote_open(const char *path, struct ncs_remote **out,
				char *why, size_t why_size)
{
	struct ncs_remote *remote = calloc(1, sizeof(*remote));
	enum ncs_attach result;

	*out = NULL;
	if (!remote)
		return ncs_attach_failure(ENOMEM, why, why_size);
	result = ncs_mapping_open(&remote->page, path, true, NCS_CONTROL_BYTES,
				  NCS_CONTROL_BYTES, why, why_size);
	if (result == NCS_ATTACHED)
		result = check_control(remote, why, why_size);
	if (result == NCS_ATTACHED)
		*out = remote;
	else
		ncs_remote_close(remote);
	return result;
}

/* Tells whether an object is named after a process. The name does not contain
 * the PID namespace; the object does. */
static bool is_named_after(const char *path, const struct ncs_process *process)
{
	const char *name = strrchr(path, '/');
	uint64_t start;
	uint32_t pid;

	return name &&
	       ncs_object_parse(name + 1, &pid, &start) == NCS_OBJECT_CONTROL &&
	       pid == process->pid && start == process->start;
}

/* Finds the control object of a process among those of a directory. */
static enum ncs_attach find_in(const char *directory,
			       const struct ncs_process *process,
			       struct ncs_remote **remote, char *why,
			       size_t why_size)
{
	enum ncs_attach result = NCS_ATTACH_ABSENT;
	struct ncs_paths paths;
	int error = ncs_discover_controls(directory, &paths);

	if (error)
		return ncs_attach_failure(-error, why, why_size);
	for (size_t i = 0; i < paths.count && !*remote; i++) {
		enum ncs_attach found;

		if (!is_named_after(paths.path[i], process))
			continue;
		found = ncs_remote_open(paths.path[i], remote, why, why_size);
		if (found != NCS_ATTACHED) {
			result = found;
		} else if (!ncs_process_is_same(process,
						&(*remote)->process)) {
			ncs_remote_close(*remote);
			*remote = NULL;
		}
	}
	ncs_paths_release(&paths);
	return *remote ? NCS_ATTACHED : result;
}

/* Finds it among those of containers. */
static enum ncs_attach find_in_containers(const struct ncs_process *process,
					  struct ncs_remote **remote, char *why,
					  size_t why_size)
{
	enum ncs_attach result = NCS_ATTACH_ABSENT;
	struct ncs_containers containers = { 0 };
	int error = ncs_containers_scan(&containers);

	if (error)
		result = ncs_attach_failure(-error, why, why_size);
	for (size_t i = 0; i < containers.count && !error && !*remote; i++) {
		char directory[48];
		enum ncs_attach found;

		if (containers.all[i].directory < 0)
			continue;
		snprintf(directory, sizeof(directory), "/proc/self/fd/%d",
			 containers.all[i].directory);
		found = find_in(directory, process, remote, why, why_size);
		if (found != NCS_ATTACH_ABSENT)
			result = found;
	}
	ncs_containers_release(&containers);
	return result;
}

enum ncs_attach ncs_remote_find(const char *directory,
				const struct ncs_header *header,
				struct ncs_remote **remote, char *why,
				size_t why_size)
{
	enum ncs_attach result;
	struct ncs_process process;

	*remote = NULL;
	ncs_process_of_header(header, &process);
	ncs_attach_explain(why, why_size, "it has no control object");
	result = find_in(ncs_directory(directory), &process, remote, why,
			 why_size);
	if (result == NCS_ATTACH_ABSENT && ncs_discovery_has_all(directory))
		result = find_in_containers(&process, remote, why, why_size);
	return result;
}

void ncs_remote_close(struct ncs_remote *remote)
{
	if (!remote)
		return;
	ncs_mapping_close(&remote->page);
	free(remote);
}

struct ncs_control *ncs_remote_control(const struct ncs_remote *remote)
{
	return remote->page.start;
}

const struct ncs_process *ncs_remote_process(const struct ncs_remote *remote)
{
	return &remote->process;
}

uid_t ncs_remote_owner(const struct ncs_remote *remote)
{
	return remote->page.owner;
}
