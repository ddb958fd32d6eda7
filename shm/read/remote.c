/* SPDX-License-Identifier: MIT */
/* Opens control objects; see remote.h. A mapping is hostile input: the identity
 * of its maker is copied once, and only that copy is used. */
#include "shm/read/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/atomics.h"
#include "shm/object.h"
#include "shm/read/containers.h"
#include "shm/read/mapping.h"
#include "shm/read/paths.h"

struct ncs_remote {
	struct ncs_mapping page;
	/* Copied once: */
	struct ncs_process process; /* the object's maker */
	uint64_t created_ns;
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
	remote->created_ns = copy.created_ns;
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

/* The process and the user of a segment whose control object is looked for. */
struct wanted {
	struct ncs_process process;
	uid_t owner;
};

/* Tells whether a file is named after the process and belongs to its user. The
 * name does not contain the PID namespace; the object does. */
static bool is_candidate(const char *path, const struct wanted *wanted)
{
	const char *name = strrchr(path, '/');
	struct stat status;
	uint64_t start;
	uint32_t pid;

	return name &&
	       ncs_object_parse(name + 1, &pid, &start) == NCS_OBJECT_CONTROL &&
	       pid == wanted->process.pid && start == wanted->process.start &&
	       lstat(path, &status) == 0 && status.st_uid == wanted->owner;
}

/* Tells whether an object is meant rather than those that sort before it. */
static bool is_better(const struct ncs_remote *found,
		      const struct ncs_remote *best,
		      const struct wanted *wanted)
{
	return ncs_remote_owner(found) == wanted->owner &&
	       ncs_process_is_same(&found->process, &wanted->process) &&
	       (!best || found->created_ns >= best->created_ns);
}

/* Finds the control object among those of a directory, by the rule in
 * ncclstat/control_object.h. */
static enum ncs_attach find_in(const char *directory,
			       const struct wanted *wanted,
			       struct ncs_remote **remote, char *why,
			       size_t why_size)
{
	enum ncs_attach result = NCS_ATTACH_ABSENT;
	struct ncs_paths paths;
	int error = ncs_discover_controls(directory, &paths);

	if (error)
		return ncs_attach_failure(-error, why, why_size);
	for (size_t i = 0; i < paths.count; i++) {
		struct ncs_remote *found, *worse;
		enum ncs_attach opened;

		if (!is_candidate(paths.path[i], wanted))
			continue;
		opened = ncs_remote_open(paths.path[i], &found, why, why_size);
		if (opened != NCS_ATTACHED) {
			result = opened;
			continue;
		}
		worse = found;
		if (is_better(found, *remote, wanted)) {
			worse = *remote;
			*remote = found;
		}
		ncs_remote_close(worse);
	}
	ncs_paths_release(&paths);
	return *remote ? NCS_ATTACHED : result;
}

/* Finds it among those of containers. */
static enum ncs_attach find_in_containers(const struct wanted *wanted,
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
		found = find_in(directory, wanted, remote, why, why_size);
		if (found != NCS_ATTACH_ABSENT)
			result = found;
	}
	ncs_containers_release(&containers);
	return result;
}

enum ncs_attach ncs_remote_find(const char *directory,
				const struct ncs_process *process, uid_t owner,
				struct ncs_remote **remote, char *why,
				size_t why_size)
{
	struct wanted wanted = { .process = *process, .owner = owner };
	enum ncs_attach result;

	*remote = NULL;
	ncs_attach_refuse(NCS_ATTACH_ABSENT, "it has no control object", why,
			  why_size);
	result = find_in(ncs_directory(directory), &wanted, remote, why,
			 why_size);
	if (result == NCS_ATTACH_ABSENT && ncs_discovery_has_all(directory))
		result = find_in_containers(&wanted, remote, why, why_size);
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
