/* SPDX-License-Identifier: MIT */
/* Keeps what is watched: writes the looks of each node to a file of its own,
 * as they came; see fleet.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/fleet/fleet_internal.h"

static void path_of(const struct ncs_fleet_node *node, char *path, size_t size)
{
	char name[NCS_NODE_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", node->facts.name);
	for (char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	snprintf(path, size, "%s.%s", node->fleet->kept_path, name);
}

static void fail(struct ncs_fleet_node *node, int error)
{
	struct ncs_fleet_kept *kept = &node->fleet->kept;

	if (kept->error)
		return;
	kept->error = error;
	path_of(node, kept->failed_path, sizeof(kept->failed_path));
}

static bool open_file(struct ncs_fleet_node *node)
{
	char path[4200];

	path_of(node, path, sizeof(path));
	/* Like segments, recordings may be read only by their owner. */
	node->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (node->file < 0)
		fail(node, -errno);
	else
		node->fleet->kept.files++;
	return node->file >= 0;
}

/* Returns whether bytes are a chunk of this type. */
static bool is_chunk(const void *bytes, size_t size, uint32_t type)
{
	struct ncs_chunk chunk;

	if (size < sizeof(chunk))
		return false;
	memcpy(&chunk, bytes, sizeof(chunk));
	return chunk.type == type;
}

void ncs_fleet_keep_look(void *context, const void *bytes, size_t size)
{
	struct ncs_fleet_node *node = context;
	struct ncs_fleet *fleet = node->fleet;
	const char *from = bytes;

	const struct ncs_stream_facts *facts = ncs_stream_facts(node->stream);

	if (fleet->pass)
		fleet->pass(fleet->pass_context, node->number, bytes, size);
	if (!fleet->kept_path || fleet->kept.error)
		return;
	if (!node->is_named && facts->has_head) {
		ncs_fleet_node_name(node, facts->head.host);
		node->is_named = true;
	}
	if (!node->is_named)
		return;
	/* A file begins with a look that can be read by itself. */
	if (node->file < 0 && (!is_chunk(bytes, size, NCS_CHUNK_FILE) ||
			       !open_file(node)))
		return;
	fleet->kept.looks += is_chunk(bytes, size, NCS_CHUNK_LOOK);
	while (size > 0) {
		ssize_t written = write(node->file, from, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			fail(node, written < 0 ? -errno : -EIO);
			return;
		}
		from += written;
		size -= (size_t)written;
		fleet->kept.bytes += (uint64_t)written;
	}
}

void ncs_fleet_keep(struct ncs_fleet *fleet, const char *path)
{
	pthread_mutex_lock(&fleet->mutex);
	fleet->kept_path = path;
	pthread_mutex_unlock(&fleet->mutex);
}

void ncs_fleet_keep_end(struct ncs_fleet *fleet, struct ncs_fleet_kept *kept)
{
	pthread_mutex_lock(&fleet->mutex);
	for (size_t i = 0; i < fleet->count; i++) {
		struct ncs_fleet_node *node = fleet->nodes[i];

		if (node->file >= 0 && close(node->file) != 0)
			fail(node, -errno);
		node->file = -1;
	}
	fleet->kept_path = NULL;
	*kept = fleet->kept;
	pthread_mutex_unlock(&fleet->mutex);
}

void ncs_fleet_pass_on(struct ncs_fleet *fleet, ncs_fleet_pass *pass,
		       void *context)
{
	pthread_mutex_lock(&fleet->mutex);
	fleet->pass = pass;
	fleet->pass_context = context;
	pthread_mutex_unlock(&fleet->mutex);
}
