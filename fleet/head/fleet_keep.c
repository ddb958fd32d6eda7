/* SPDX-License-Identifier: MIT */
/* Keeps what is watched: writes the looks of each node to a file of its own,
 * as they came; see fleet.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fleet/head/fleet_internal.h"
#include "record/format/chunk.h"
#include "shm/array.h"

/* The level at which what is kept is compressed. */
#define PACK_LEVEL 1

/* How often whoever passes looks on has the bytes of one in memory at most: that
 * which comes and two others, with room to grow; and a packer's base. */
#define PASSED_COPIES 7u

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

/* Adds a chunk to the bytes that are written next, compressed, as chunks of looks
 * that came in packs are not. */
static int add_chunk(struct ncs_fleet_node *node, const char *bytes,
		     struct ncs_chunk chunk)
{
	struct ncs_fleet *fleet = node->fleet;
	const char *payload = bytes + sizeof(chunk);
	size_t size = ncs_chunk_file_bytes(&chunk), packed = 0;
	char *at;

	if (!fleet->packer)
		fleet->packer = ncs_packer_create(PACK_LEVEL);
	if (ncs_array_reserve(&fleet->packed.bytes, &fleet->packed.capacity,
			      fleet->packed.size + size, 1) != 0)
		return -ENOMEM;
	at = fleet->packed.bytes + fleet->packed.size;
	if (fleet->packer && chunk.type != NCS_CHUNK_FILE &&
	    chunk.type != NCS_CHUNK_LOOK && !ncs_chunk_is_packed(&chunk))
		packed = ncs_packer_pack(fleet->packer, payload, chunk.bytes,
					 at + sizeof(chunk), chunk.bytes);
	if (packed == 0) {
		memcpy(at, bytes, size);
	} else {
		chunk.bytes = packed;
		ncs_chunk_seal(&chunk, at + sizeof(chunk));
		memcpy(at, &chunk, sizeof(chunk));
		memset(at + sizeof(chunk) + packed, 0,
		       ncs_chunk_round(packed) - packed);
	}
	fleet->packed.size += ncs_chunk_file_bytes(&chunk);
	return 0;
}

/* Writes in the end of a look, which is all that will be written next, how long
 * its chunks are now. */
static void end_look(struct ncs_fleet_node *node)
{
	char *at = node->fleet->packed.bytes;
	struct ncs_chunk chunk;
	struct ncs_look look;

	memcpy(&chunk, at, sizeof(chunk));
	memcpy(&look, at + sizeof(chunk), sizeof(look));
	look.bytes = node->kept_bytes;
	memcpy(at + sizeof(chunk), &look, sizeof(look));
	ncs_chunk_seal(&chunk, at + sizeof(chunk));
	memcpy(at, &chunk, sizeof(chunk));
	node->kept_bytes = 0;
}

/* Makes the bytes to be written of those that came. */
static int add_chunks(struct ncs_fleet_node *node, const char *bytes,
		      size_t size)
{
	int error = 0;

	node->fleet->packed.size = 0;
	for (size_t at = 0; at < size && !error;) {
		struct ncs_chunk chunk;

		memcpy(&chunk, bytes + at, sizeof(chunk));
		error = add_chunk(node, bytes + at, chunk);
		at += ncs_chunk_file_bytes(&chunk);
	}
	if (!error && is_chunk(bytes, size, NCS_CHUNK_LOOK))
		end_look(node);
	else
		node->kept_bytes += node->fleet->packed.size;
	return error;
}

/* Passes a look on; its end comes with the last bytes. A look for which there is
 * no room is left out. */
static void pass_on(struct ncs_fleet_node *node, const void *bytes, size_t size)
{
	struct ncs_fleet *fleet = node->fleet;
	bool is_end = is_chunk(bytes, size, NCS_CHUNK_LOOK);
	uint64_t due = size * PASSED_COPIES;

	if (due > node->pass_paid &&
	    ncs_budget_take(&fleet->budget, due - node->pass_paid))
		node->pass_paid = due;
	node->is_not_passed |= due > node->pass_paid;
	if (!node->is_not_passed)
		fleet->pass(fleet->pass_context, node->number, bytes, size);
	else if (is_end)
		ncs_fleet_node_limit(node, "there is no room to pass its looks"
					   " on");
	if (is_end)
		node->is_not_passed = false;
}

void ncs_fleet_keep_look(void *context, const void *bytes, size_t size)
{
	struct ncs_fleet_node *node = context;
	struct ncs_fleet *fleet = node->fleet;
	const struct ncs_stream_facts *facts = ncs_stream_facts(node->stream);
	const char *from;
	int error;

	if (fleet->pass)
		pass_on(node, bytes, size);
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
	error = add_chunks(node, bytes, size);
	if (error)
		fail(node, error);
	from = fleet->packed.bytes;
	size = error ? 0 : fleet->packed.size;
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
