/* SPDX-License-Identifier: MIT */
/* Keeps what is watched: writes the looks of each node to a file of its own,
 * as they came; see fleet.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "fleet/head/fleet_internal.h"
#include "record/format/chunk.h"
#include "record/write/recorder.h"
#include "shm/array.h"

/* How often whoever passes looks on has the bytes of one in memory at most: that
 * which comes and two others, with room to grow; and a packer's base. */
#define PASSED_COPIES 7u

/* Prints the path of a node's file by its number. A name such as rack.1 is not that of the
 * second file of rack: it goes on with a '_'. Addresses, such as 10.0.0.1, stay. */
static void path_of(const struct ncs_fleet_node *node, uint64_t number,
		    char *path, size_t size)
{
	char name[NCS_NODE_NAME_BYTES];
	const char *dot;
	bool is_numbered;

	snprintf(name, sizeof(name), "%s", node->facts.name);
	for (char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	dot = strrchr(name, '.');
	is_numbered = dot && dot[1] &&
		      !dot[1 + strspn(dot + 1, "0123456789")] &&
		      strspn(name, "0123456789.") < strlen(name);
	snprintf(path, size, "%s%s%s", node->fleet->kept.prefix, name,
		 is_numbered ? "_" : "");
	if (number > 0)
		ncs_append(path, size, ".%" PRIu64, number);
}

static void fail(struct ncs_fleet_node *node, int error)
{
	struct ncs_fleet_kept *kept = &node->fleet->kept;

	if (kept->error)
		return;
	kept->error = error;
	path_of(node, node->file.head.number, kept->failed_path,
		sizeof(kept->failed_path));
}

/* --- Files --------------------------------------------------------------- */

static void write_bytes(struct ncs_fleet_node *node, const char *bytes,
			size_t size)
{
	struct ncs_fleet_kept *kept = &node->fleet->kept;

	while (size > 0 && !kept->error) {
		ssize_t written = write(node->file.opened, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			fail(node, written < 0 ? -errno : -EIO);
			return;
		}
		bytes += written;
		size -= (size_t)written;
		node->file.bytes += (uint64_t)written;
		kept->bytes += (uint64_t)written;
	}
}

/* Returns whether the node was started again since its file began. */
static bool is_another_boot(const struct ncs_fleet_node *node)
{
	return strcmp(node->file.head.boot_id,
		      node->stream->facts.head.boot_id) != 0;
}

/* Begins a file with the look that comes. Whichever agent writes it, all files of
 * the node are one recording, as long as it is not started again. */
static void open_file(struct ncs_fleet_node *node)
{
	const struct ncs_stream_facts *facts = &node->stream->facts;
	struct ncs_fleet_file *file = &node->file;
	char path[4200];

	if (file->head.run == 0)
		node->fleet->kept.nodes++;
	if (file->head.run == 0 || is_another_boot(node)) {
		uint64_t number = file->head.number;

		file->head = facts->head;
		file->head.run = node->fleet->run;
		file->head.number = number;
	}
	file->head.begun_monotonic_ns = facts->look.taken_ns;
	file->head.begun_realtime_ns = facts->look.realtime_ns;
	file->end = (struct ncs_end){ .torn_states = UINT64_MAX };
	file->bytes = 0;
	path_of(node, file->head.number, path, sizeof(path));
	/* Like segments, recordings may be read only by their owner. */
	file->opened =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file->opened < 0)
		fail(node, -errno);
	else
		node->fleet->kept.files++;
}

/* Writes the end of a file; without an index, its chunks are found by a search. */
static void end_file(struct ncs_fleet_node *node, bool another)
{
	struct ncs_fleet_file *file = &node->file;
	struct {
		struct ncs_chunk chunk;
		struct ncs_end end;
	} last = {
		.chunk = {
			.type = NCS_CHUNK_END,
			.rank = NCS_NO_RANK,
			.bytes = sizeof(last.end),
			.unpacked_bytes = sizeof(last.end),
		},
		.end = file->end,
	};

	last.end.another = another;
	ncs_chunk_seal(&last.chunk, &last.end);
	write_bytes(node, (const char *)&last, sizeof(last));
	if (close(file->opened) != 0)
		fail(node, -errno);
	file->opened = -1;
}

static bool is_due(const struct ncs_fleet_node *node)
{
	const struct ncs_recorder_settings *settings = node->fleet->keeps;
	uint64_t now_ns = node->stream->facts.look.taken_ns;
	uint64_t begun_ns = node->file.head.begun_monotonic_ns;

	/* A clock that is behind is that of a node that was started again. */
	return is_another_boot(node) || now_ns < begun_ns ||
	       (settings->rotate_bytes != 0 &&
		node->file.bytes >= settings->rotate_bytes) ||
	       (settings->rotate_ns != 0 &&
		now_ns - begun_ns >= settings->rotate_ns);
}

/* Goes on in another file, and removes the oldest one. */
static void rotate(struct ncs_fleet_node *node)
{
	uint64_t keep = node->fleet->keeps->keep, number;
	char path[4200];

	end_file(node, !is_another_boot(node));
	number = ++node->file.head.number;
	open_file(node);
	if (keep == 0 || number < keep || node->fleet->kept.error)
		return;
	path_of(node, number - keep, path, sizeof(path));
	/* Recording goes on, whatever stays. */
	if (unlink(path) != 0 && errno != ENOENT)
		node->fleet->kept.stale++;
}

/* --- Chunks -------------------------------------------------------------- */

/* Returns whether bytes are a chunk of this type. */
static bool is_chunk(const void *bytes, size_t size, uint32_t type)
{
	const struct ncs_chunk *chunk = bytes;

	return size >= sizeof(*chunk) && chunk->type == type;
}

/* Writes into a file's head what differs from that of the stream. */
static void put_head(struct ncs_file_head *head,
		     const struct ncs_file_head *ours)
{
	memcpy(head->recording, ours->recording, sizeof(head->recording));
	head->number = ours->number;
	head->begun_monotonic_ns = ours->begun_monotonic_ns;
	head->begun_realtime_ns = ours->begun_realtime_ns;
	head->run = ours->run;
}

/* Adds a chunk to the bytes that are written next, compressed, as chunks of looks
 * that came in packs are not. */
static int add_chunk(struct ncs_fleet_node *node, struct ncs_chunk chunk,
		     const char *payload)
{
	struct ncs_fleet *fleet = node->fleet;
	size_t packed = 0;
	char *at, *to;

	if (!fleet->packer)
		fleet->packer = ncs_packer_create(fleet->keeps->pack_level);
	if (ncs_array_reserve(&fleet->packed.bytes, &fleet->packed.capacity,
			      fleet->packed.size + ncs_chunk_file_bytes(&chunk),
			      1) != 0)
		return -ENOMEM;
	at = fleet->packed.bytes + fleet->packed.size;
	to = at + sizeof(chunk);
	if (fleet->packer && chunk.type != NCS_CHUNK_FILE &&
	    chunk.type != NCS_CHUNK_LOOK && !ncs_chunk_is_packed(&chunk))
		packed = ncs_packer_pack(fleet->packer, payload, chunk.bytes,
					 to, chunk.bytes);
	if (packed > 0)
		chunk.bytes = packed;
	else
		memcpy(to, payload, chunk.bytes);
	memset(to + chunk.bytes, 0, ncs_chunk_round(chunk.bytes) - chunk.bytes);
	if (chunk.type == NCS_CHUNK_FILE &&
	    chunk.bytes >= sizeof(node->file.head))
		put_head((struct ncs_file_head *)to, &node->file.head);
	ncs_chunk_seal(&chunk, to);
	memcpy(at, &chunk, sizeof(chunk));
	fleet->packed.size += ncs_chunk_file_bytes(&chunk);
	node->file.end.chunks++;
	return 0;
}

/* Adds the chunk "tables": agents send it only with their first look. */
static int add_tables(struct ncs_fleet_node *node)
{
	size_t size = 0;
	char *text = ncs_recording_tables_text(&size);
	const struct ncs_chunk chunk = {
		.type = NCS_CHUNK_TABLES,
		.rank = NCS_NO_RANK,
		.from_ns = node->file.head.begun_monotonic_ns,
		.until_ns = node->file.head.begun_monotonic_ns,
		.bytes = size,
		.unpacked_bytes = size,
	};
	int error = text ? add_chunk(node, chunk, text) : -ENOMEM;

	free(text);
	return error;
}

/* Writes into a look's last chunk, at this place of what is written next, how long its
 * chunks are now and which node's it is. Counts the look. */
static void end_look(struct ncs_fleet_node *node, size_t end, uint64_t chunks)
{
	struct ncs_fleet_file *file = &node->file;
	struct ncs_fleet_kept *kept = &node->fleet->kept;
	struct ncs_chunk *chunk =
		(struct ncs_chunk *)(node->fleet->packed.bytes + end);
	struct ncs_look *look = (struct ncs_look *)(chunk + 1);

	memcpy(look->recording, file->head.recording, sizeof(look->recording));
	look->bytes = end;
	look->chunks = chunks;
	ncs_chunk_seal(chunk, look);
	file->end.records += look->records;
	file->end.lost += node->stream->facts.look_lost;
	file->end.states += look->ranks;
	kept->states += look->ranks;
	kept->looks++;
}

/* Makes the bytes of a look that are to be written. */
static int add_chunks(struct ncs_fleet_node *node, const char *bytes,
		      size_t size)
{
	struct ncs_sink_memory *packed = &node->fleet->packed;
	uint64_t before = node->file.end.chunks;
	size_t end = 0;
	int error = 0;

	packed->size = 0;
	for (size_t at = 0; at < size && !error;) {
		const struct ncs_chunk *chunk =
			(const struct ncs_chunk *)(bytes + at);

		end = packed->size;
		error = add_chunk(node, *chunk, (const char *)(chunk + 1));
		at += ncs_chunk_file_bytes(chunk);
		if (!error && chunk->type == NCS_CHUNK_FILE &&
		    node->file.bytes == 0 &&
		    !is_chunk(bytes + at, size - at, NCS_CHUNK_TABLES))
			error = add_tables(node);
	}
	if (!error)
		end_look(node, end, node->file.end.chunks - before - 1);
	return error;
}

/* Passes a look on. One for which there is no room is left out. */
static void pass_on(struct ncs_fleet_node *node, const void *bytes, size_t size,
		    size_t end)
{
	struct ncs_fleet *fleet = node->fleet;
	uint64_t due = size * PASSED_COPIES;

	if (due > node->pass_paid &&
	    ncs_budget_take(&fleet->budget, due - node->pass_paid))
		node->pass_paid = due;
	if (due <= node->pass_paid)
		fleet->pass(fleet->pass_context, node->number, bytes, size,
			    end);
	else
		ncs_fleet_node_limit(node, "there is no room to pass its looks"
					   " on");
}

void ncs_fleet_keep_look(void *context, const void *bytes, size_t size,
			 size_t end)
{
	struct ncs_fleet_node *node = context;
	struct ncs_fleet *fleet = node->fleet;
	const struct ncs_stream_facts *facts = &node->stream->facts;
	int error;

	if (fleet->pass)
		pass_on(node, bytes, size, end);
	if (!fleet->keeps || fleet->kept.error)
		return;
	if (!node->is_named && facts->has_head) {
		ncs_fleet_node_name(node, facts->head.host);
		node->is_named = true;
	}
	if (!node->is_named)
		return;
	/* A file begins with a look that can be read by itself. */
	if (is_chunk(bytes, size, NCS_CHUNK_FILE)) {
		if (node->file.opened < 0)
			open_file(node);
		else if (is_due(node))
			rotate(node);
	}
	if (node->file.opened < 0)
		return;
	error = add_chunks(node, bytes, size);
	if (error)
		fail(node, error);
	else
		write_bytes(node, fleet->packed.bytes, fleet->packed.size);
}

void ncs_fleet_keep(struct ncs_fleet *fleet,
		    const struct ncs_recorder_settings *settings)
{
	const char *path = settings->path;
	bool names_folder = path[0] && path[strlen(path) - 1] == '/';
	struct ncs_file_head head;
	struct stat status;
	bool is_folder;

	if (names_folder)
		mkdir(path, 0700);
	is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	ncs_recording_head_here(&head);
	pthread_mutex_lock(&fleet->mutex);
	fleet->keeps = settings;
	fleet->run = head.recording[0];
	snprintf(fleet->kept.prefix, sizeof(fleet->kept.prefix), "%s%s", path,
		 names_folder ? "" : is_folder ? "/" : ".");
	pthread_mutex_unlock(&fleet->mutex);
}

void ncs_fleet_keep_end(struct ncs_fleet *fleet, struct ncs_fleet_kept *kept)
{
	pthread_mutex_lock(&fleet->mutex);
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->nodes[i]->file.opened >= 0)
			end_file(fleet->nodes[i], false);
	fleet->keeps = NULL;
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
