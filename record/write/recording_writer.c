/* SPDX-License-Identifier: MIT */
/* Files, chunks, the index, ranks, looks, and what is small; see
 * recording_writer.h. States are in recording_writer_state.c, records in
 * recording_writer_records.c, the chunk "tables" in recording_writer_tables.c. */
#include "record/write/recording_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/timex.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/version.h"
#include "record/format/peaks_chunk.h"
#include "record/write/recording_writer_internal.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/process.h"

/* Number of chunks after which an index is written: about 100 MiB of
 * records. */
#define INDEX_EVERY 1024

static_assert(sizeof(struct ncs_index_head) +
			      INDEX_EVERY * sizeof(struct ncs_index_entry) <=
		      NCS_PAYLOAD_BYTES_MAX,
	      "an index is one chunk");

/* --- Chunks -------------------------------------------------------------- */

static int fail(struct ncs_recording_writer *writer, int error)
{
	if (writer->error == 0)
		writer->error = error;
	return writer->error;
}

/* Seals a chunk whose payload lies in the sink's room, and appends the chunk to
 * the file. */
static int put(struct ncs_recording_writer *writer, struct ncs_chunk *place,
	       const struct ncs_chunk *chunk)
{
	char *payload = (char *)(place + 1);

	*place = *chunk;
	memset(payload + chunk->bytes, 0,
	       ncs_chunk_round(chunk->bytes) - chunk->bytes);
	ncs_chunk_seal(place, payload);
	writer->end.chunks++;
	ncs_sink_put(writer->sink, ncs_chunk_file_bytes(chunk));
	return fail(writer, writer->sink->error);
}

/* Appends `bytes` of padding, header included. */
static int pad(struct ncs_recording_writer *writer, size_t bytes)
{
	size_t room;
	struct ncs_chunk *place = ncs_sink_room(writer->sink, &room);
	struct ncs_chunk chunk = {
		.type = NCS_CHUNK_PADDING,
		.rank = NCS_NO_RANK,
		.bytes = bytes - sizeof(chunk),
		.unpacked_bytes = bytes - sizeof(chunk),
	};

	if (!place)
		return fail(writer, writer->sink->error);
	memset(place + 1, 0, chunk.bytes);
	return put(writer, place, &chunk);
}

/* Returns room for a chunk with a payload of `least` bytes, in one buffer of
 * the sink; pads the buffer if there is too little. */
static struct ncs_chunk *place_for(struct ncs_recording_writer *writer,
				   size_t least, size_t *room)
{
	struct ncs_chunk *place;

	for (;;) {
		if (writer->error != 0)
			return NULL;
		place = ncs_sink_room(writer->sink, room);
		if (!place) {
			fail(writer, writer->sink->error);
			return NULL;
		}
		if (*room >= sizeof(*place) + least)
			return place;
		pad(writer, *room);
	}
}

void *ncs_recording_chunk_begin(struct ncs_recording_writer *writer,
				size_t least, size_t *room)
{
	struct ncs_chunk *place = place_for(writer, least, room);

	if (!place)
		return NULL;
	*room -= sizeof(*place);
	writer->payload = writer->packer ? writer->unpacked :
					   (char *)(place + 1);
	return writer->payload;
}

static int write_index(struct ncs_recording_writer *writer)
{
	struct ncs_index_head head = {
		.previous_offset = writer->end.index_offset,
		.count = (uint32_t)writer->entry_count,
		.entry_bytes = sizeof(struct ncs_index_entry),
	};
	size_t bytes = writer->entry_count * sizeof(struct ncs_index_entry);
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_INDEX, NCS_NO_RANK, sizeof(head) + bytes, 0);
	size_t room;
	char *payload;

	if (writer->entry_count == 0)
		return writer->error;
	payload =
		ncs_recording_chunk_begin(writer, sizeof(head) + bytes, &room);
	if (!payload)
		return writer->error;
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), writer->entries, bytes);
	chunk.from_ns = writer->entries[0].from_ns;
	for (size_t i = 0; i < writer->entry_count; i++) {
		const struct ncs_index_entry *entry = &writer->entries[i];

		if (entry->from_ns < chunk.from_ns)
			chunk.from_ns = entry->from_ns;
		if (entry->until_ns > chunk.until_ns)
			chunk.until_ns = entry->until_ns;
	}
	writer->end.index_offset = ncs_sink_offset(writer->sink);
	writer->entry_count = 0;
	return ncs_recording_chunk_end(writer, &chunk);
}

/* Adds a chunk to the index. Must be called before the chunk is appended,
 * because it reads the payload. */
static void add_entry(struct ncs_recording_writer *writer,
		      const struct ncs_chunk *chunk, uint64_t offset)
{
	struct ncs_records_head head = { 0 };

	if (chunk->type == NCS_CHUNK_RECORDS)
		memcpy(&head, writer->payload, sizeof(head));
	writer->entries[writer->entry_count++] = (struct ncs_index_entry){
		.offset = offset,
		.bytes = chunk->bytes,
		.from_ns = chunk->from_ns,
		.until_ns = chunk->until_ns,
		.records = head.count,
		.lost = head.lost,
		.type = chunk->type,
		.rank = chunk->rank,
	};
}

int ncs_recording_chunk_end(struct ncs_recording_writer *writer,
			    struct ncs_chunk *chunk)
{
	uint64_t offset = ncs_sink_offset(writer->sink);
	size_t room;
	/* The sink has room: nothing was appended since the chunk began. */
	struct ncs_chunk *place = ncs_sink_room(writer->sink, &room);
	size_t packed = 0;

	chunk->bytes = chunk->unpacked_bytes;
	writer->unpacked_bytes += ncs_chunk_file_bytes(chunk);
	if (writer->packer) {
		/* The first chunk is never packed, so that readers that cannot
		 * unpack can still identify the file; nor is the end of a
		 * look. */
		if (chunk->type != NCS_CHUNK_FILE &&
		    chunk->type != NCS_CHUNK_LOOK)
			packed = ncs_packer_pack(writer->packer,
						 writer->payload, chunk->bytes,
						 place + 1,
						 room - sizeof(*place));
		if (packed == 0)
			memcpy(place + 1, writer->payload, chunk->bytes);
		else
			chunk->bytes = packed;
	}
	if (chunk->type != NCS_CHUNK_INDEX && chunk->type != NCS_CHUNK_END &&
	    !writer->settings.is_stream)
		add_entry(writer, chunk, offset);
	put(writer, place, chunk);
	return writer->entry_count < INDEX_EVERY ? writer->error :
						   write_index(writer);
}

int ncs_recording_chunk_write(struct ncs_recording_writer *writer,
			      struct ncs_chunk *chunk, const void *payload)
{
	size_t room;
	void *place =
		ncs_recording_chunk_begin(writer, chunk->unpacked_bytes, &room);

	if (!place)
		return writer->error;
	memcpy(place, payload, chunk->unpacked_bytes);
	return ncs_recording_chunk_end(writer, chunk);
}

/* --- This host ----------------------------------------------------------- */

void ncs_clock_reading_take(struct ncs_clock_reading *best)
{
	uint64_t least = UINT64_MAX;
	struct timex timex = { 0 };
	int state;

	*best = (struct ncs_clock_reading){
		.maximum_error_ns = UINT64_MAX,
		.estimated_error_ns = UINT64_MAX,
	};
	for (int i = 0; i < 5; i++) {
		uint64_t before = ncs_clock_monotonic_ns();
		uint64_t realtime = ncs_clock_realtime_ns();
		uint64_t after = ncs_clock_monotonic_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		best->before_ns = before;
		best->realtime_ns = realtime;
		best->after_ns = after;
	}
	state = adjtimex(&timex);
	if (state >= 0) {
		best->maximum_error_ns = (uint64_t)timex.maxerror * 1000;
		best->estimated_error_ns = (uint64_t)timex.esterror * 1000;
		best->synchronized = state != TIME_ERROR;
	}
}

void ncs_recording_head_here(struct ncs_file_head *head)
{
	struct ncs_process process;

	ncs_process_describe(&process);
	*head = (struct ncs_file_head){
		.begun_monotonic_ns = ncs_clock_monotonic_ns(),
		.begun_realtime_ns = ncs_clock_realtime_ns(),
		.time_namespace = process.time_namespace,
		.pid_namespace = process.pid_namespace,
	};
	memcpy(head->boot_id, process.boot_id, sizeof(head->boot_id));
	memcpy(head->host, process.host, sizeof(head->host));
	/* If no entropy is available, the time tells recordings apart. */
	if (getrandom(head->recording, sizeof(head->recording),
		      GRND_NONBLOCK) != sizeof(head->recording)) {
		head->recording[0] = head->begun_realtime_ns;
		head->recording[1] = process.pid;
	}
}

/* --- Files --------------------------------------------------------------- */

/* Writes the chunk NCS_CHUNK_FILE. Returns 0 or -errno. */
static int write_head(struct ncs_recording_writer *writer)
{
	const struct ncs_file_head *head = &writer->settings.head;
	struct ncs_chunk chunk =
		ncs_recording_chunk_at(NCS_CHUNK_FILE, NCS_NO_RANK,
				       sizeof(*head), head->begun_monotonic_ns);

	writer->peaks = (struct ncs_machine_peaks){ .gpu_count = 0 };
	return ncs_recording_chunk_write(writer, &chunk, head);
}

static int begin_file(struct ncs_recording_writer *writer)
{
	struct ncs_chunk chunk;
	size_t bytes;
	char *text = ncs_recording_tables_text(&bytes);

	if (!text)
		return fail(writer, -ENOMEM);
	write_head(writer);
	chunk = ncs_recording_chunk_at(
		NCS_CHUNK_TABLES, NCS_NO_RANK, bytes,
		writer->settings.head.begun_monotonic_ns);
	ncs_recording_chunk_write(writer, &chunk, text);
	free(text);
	return writer->error;
}

static void release(struct ncs_recording_writer *writer)
{
	for (size_t i = 0; i < writer->rank_count; i++) {
		ncs_recording_writer_end_rank(writer, i);
		free(writer->ranks[i].path);
	}
	free(writer->ranks);
	free(writer->entries);
	free(writer->runs);
	free(writer->unpacked);
	ncs_packer_free(writer->packer);
	free(writer);
}

static int get_memory(struct ncs_recording_writer *writer)
{
	writer->entries = calloc(INDEX_EVERY, sizeof(*writer->entries));
	if (!writer->entries)
		return -ENOMEM;
	if (!writer->settings.is_packed)
		return 0;
	writer->packer = ncs_packer_create(writer->settings.pack_level);
	writer->unpacked = malloc(NCS_PAYLOAD_BYTES_MAX);
	return writer->packer && writer->unpacked ? 0 : -ENOMEM;
}

/* Creates a writer without a sink. Returns NULL if there is no memory. */
static struct ncs_recording_writer *
create(const struct ncs_recording_settings *settings)
{
	struct ncs_recording_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->settings = *settings;
	if (writer->settings.key_every_ns == 0)
		writer->settings.key_every_ns = NCS_RECORDING_KEY_EVERY_NS;
	writer->settings.head.version = NCS_FORMAT_VERSION;
	writer->settings.head.byte_order = NCS_BYTE_ORDER;
	writer->settings.head.abi_version = NCS_ABI_VERSION;
	writer->settings.head.program_version = NCS_VERSION_NUMBER;
	if (get_memory(writer) == 0)
		return writer;
	release(writer);
	return NULL;
}

/* Begins the first file, if its sink was opened without an error. */
static int begin_first(struct ncs_recording_writer **out,
		       struct ncs_recording_writer *writer, int error)
{
	*out = error ? NULL : writer;
	if (error)
		release(writer);
	else
		begin_file(writer);
	return error;
}

int ncs_recording_writer_open(struct ncs_recording_writer **out,
			      const char *path,
			      const struct ncs_recording_settings *settings,
			      char *why, size_t why_size)
{
	struct ncs_recording_writer *writer = create(settings);

	*out = NULL;
	if (writer)
		return begin_first(out, writer,
				   ncs_sink_open(&writer->sink, path,
						 settings->means, why,
						 why_size));
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

int ncs_recording_writer_open_memory(
	struct ncs_recording_writer **out, struct ncs_sink_memory *memory,
	const struct ncs_recording_settings *settings)
{
	struct ncs_recording_writer *writer = create(settings);

	*out = NULL;
	return writer ? begin_first(out, writer,
				    ncs_sink_open_memory(&writer->sink,
							 memory)) :
			-ENOMEM;
}

static int write_all_held(struct ncs_recording_writer *writer)
{
	for (size_t i = 0; writer->held_lanes > 0 && i < writer->rank_count;
	     i++)
		writer->write_held(writer, i);
	return writer->error;
}

/* Writes the last index and the end, and closes the file. Adds the file's
 * totals to `before`. */
static int end_file(struct ncs_recording_writer *writer, bool another)
{
	struct ncs_chunk chunk = {
		.type = NCS_CHUNK_END,
		.rank = NCS_NO_RANK,
		.bytes = sizeof(writer->end),
		.unpacked_bytes = sizeof(writer->end),
	};
	struct ncs_chunk *place;
	struct ncs_end end;
	size_t room;

	write_all_held(writer);
	write_index(writer);
	/* The end chunk is never packed, so that it lies at a known distance
	 * from the end of the file. */
	place = place_for(writer, sizeof(end), &room);
	if (place) {
		end = writer->end;
		end.another = another;
		memcpy(place + 1, &end, sizeof(end));
		put(writer, place, &chunk);
	}
	writer->before = ncs_recording_writer_totals(writer);
	memset(&writer->end, 0, sizeof(writer->end));
	writer->entry_count = 0;
	fail(writer, ncs_sink_close(writer->sink));
	writer->sink = NULL;
	return writer->error;
}

int ncs_recording_writer_rotate(struct ncs_recording_writer *writer,
				const char *path, uint64_t monotonic_ns,
				uint64_t realtime_ns, char *why,
				size_t why_size)
{
	int error = end_file(writer, true);

	if (error) {
		snprintf(why, why_size, "%s", strerror(-error));
		return error;
	}
	error = ncs_sink_open(&writer->sink, path, writer->settings.means, why,
			      why_size);
	if (error)
		return fail(writer, error);
	writer->settings.head.number++;
	writer->settings.head.begun_monotonic_ns = monotonic_ns;
	writer->settings.head.begun_realtime_ns = realtime_ns;
	writer->numbers = 0;
	for (size_t i = 0; i < writer->rank_count; i++) {
		writer->ranks[i].number = NCS_NO_RANK;
		writer->ranks[i].is_in_file = false;
		writer->ranks[i].has_key = false;
	}
	return begin_file(writer);
}

int ncs_recording_writer_close(struct ncs_recording_writer *writer,
			       struct ncs_recording_totals *totals)
{
	int error = writer->error;

	if (writer->sink)
		error = end_file(writer, false);
	if (totals)
		*totals = ncs_recording_writer_totals(writer);
	release(writer);
	return error;
}

int ncs_recording_writer_flush(struct ncs_recording_writer *writer)
{
	size_t block, beyond;

	if (write_all_held(writer) != 0)
		return writer->error;
	block = writer->sink->block_bytes;
	beyond = (size_t)(ncs_sink_offset(writer->sink) % block);
	if (beyond != 0)
		pad(writer, block - beyond);
	return fail(writer, ncs_sink_flush(writer->sink));
}

/* --- Ranks --------------------------------------------------------------- */

static void *get_image(size_t bytes)
{
	/* Most of the image is for rings, which are never written here. */
	void *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return image != MAP_FAILED ? image : NULL;
}

/* Returns a rank that nothing is known of: one that has ended, or a new one. NULL
 * if there is no memory. */
static struct ncs_recording_writer_rank *
unused_rank(struct ncs_recording_writer *writer)
{
	for (size_t i = 0; i < writer->rank_count; i++) {
		struct ncs_recording_writer_rank *rank = &writer->ranks[i];

		if (rank->image)
			continue;
		free(rank->path);
		/* Readers of a file find what it has of a rank by its number:
		 * only a stream uses it again. */
		if (!writer->settings.is_stream)
			rank->number = NCS_NO_RANK;
		return rank;
	}
	if (ncs_array_reserve(&writer->ranks, &writer->rank_capacity,
			      writer->rank_count + 1,
			      sizeof(*writer->ranks)) != 0)
		return NULL;
	writer->ranks[writer->rank_count].number = NCS_NO_RANK;
	return &writer->ranks[writer->rank_count++];
}

int ncs_recording_writer_add_rank(struct ncs_recording_writer *writer,
				  const struct ncs_header *header, uid_t owner,
				  const char *path, size_t *rank)
{
	bool holds = writer->packer && !writer->settings.is_stream;
	struct ncs_recording_writer_rank *added;

	if (writer->error != 0)
		return writer->error;
	added = unused_rank(writer);
	if (!added)
		return -ENOMEM;
	*rank = (size_t)(added - writer->ranks);
	*added = (struct ncs_recording_writer_rank){
		.header = *header,
		.owner = owner,
		.path = strdup(path),
		.number = added->number,
		.pages = (header->segment_bytes + NCS_PAGE_BYTES - 1) /
			 NCS_PAGE_BYTES,
	};
	added->image = get_image(added->pages * NCS_PAGE_BYTES);
	added->key = get_image(added->pages * NCS_PAGE_BYTES);
	added->touched =
		calloc((added->pages + 63) / 64, sizeof(*added->touched));
	if (holds)
		added->held = calloc(header->lanes.count, sizeof(*added->held));
	if (!added->path || !added->image || !added->key || !added->touched ||
	    (holds && !added->held)) {
		ncs_recording_writer_end_rank(writer, *rank);
		return -ENOMEM;
	}
	writer->added++;
	return 0;
}

void ncs_recording_writer_end_rank(struct ncs_recording_writer *writer,
				   size_t rank)
{
	struct ncs_recording_writer_rank *ended = &writer->ranks[rank];
	size_t bytes = ended->pages * NCS_PAGE_BYTES;

	if (writer->sink && writer->held_lanes > 0)
		writer->write_held(writer, rank);
	if (ended->image)
		munmap(ended->image, bytes);
	if (ended->key)
		munmap(ended->key, bytes);
	free(ended->touched);
	for (size_t i = 0; ended->held && i < ended->header.lanes.count; i++) {
		writer->held_lanes -= ended->held[i].records != NULL;
		free(ended->held[i].records);
	}
	free(ended->held);
	ended->image = ended->key = NULL;
	ended->touched = NULL;
	ended->held = NULL;
}

static int write_rank(struct ncs_recording_writer *writer,
		      struct ncs_recording_writer_rank *rank)
{
	struct ncs_rank_head head = {
		.header_bytes = sizeof(rank->header),
		.path_bytes = (uint32_t)strlen(rank->path),
		.owner = (uid_t)(rank->owner + 1),
	};
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_RANK, rank->number,
		sizeof(head) + sizeof(rank->header) + head.path_bytes,
		writer->settings.head.begun_monotonic_ns);
	size_t room;
	char *payload =
		ncs_recording_chunk_begin(writer, chunk.unpacked_bytes, &room);

	if (!payload)
		return writer->error;
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), &rank->header, sizeof(rank->header));
	memcpy(payload + sizeof(head) + sizeof(rank->header), rank->path,
	       head.path_bytes);
	return ncs_recording_chunk_end(writer, &chunk);
}

struct ncs_recording_writer_rank *
ncs_recording_rank_in_file(struct ncs_recording_writer *writer, size_t rank)
{
	struct ncs_recording_writer_rank *found = &writer->ranks[rank];

	if (writer->error != 0)
		return NULL;
	if (found->is_in_file)
		return found;
	if (found->number == NCS_NO_RANK)
		found->number = writer->numbers++;
	found->is_in_file = true;
	return write_rank(writer, found) == 0 ? found : NULL;
}

/* --- Looks --------------------------------------------------------------- */

/* Bytes of a path and a reason that are kept. */
#define TEXT_BYTES_MAX 4096u

int ncs_recording_writer_renew(struct ncs_recording_writer *writer)
{
	if (writer->error != 0)
		return writer->error;
	for (size_t i = 0; i < writer->rank_count; i++) {
		writer->ranks[i].is_in_file = false;
		writer->ranks[i].has_key = false;
	}
	return write_head(writer);
}

int ncs_recording_writer_unreadable(struct ncs_recording_writer *writer,
				    enum ncs_attach attach, const char *path,
				    const char *why)
{
	struct ncs_unreadable_head head = {
		.attach = attach,
		.path_bytes = (uint32_t)strnlen(path, TEXT_BYTES_MAX),
		.why_bytes = (uint32_t)strnlen(why, TEXT_BYTES_MAX),
	};
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_UNREADABLE, NCS_NO_RANK,
		sizeof(head) + head.path_bytes + head.why_bytes, 0);
	size_t room;
	char *payload =
		ncs_recording_chunk_begin(writer, chunk.unpacked_bytes, &room);

	if (!payload)
		return writer->error;
	memcpy(payload, &head, sizeof(head));
	memcpy(payload + sizeof(head), path, head.path_bytes);
	memcpy(payload + sizeof(head) + head.path_bytes, why, head.why_bytes);
	return ncs_recording_chunk_end(writer, &chunk);
}

void ncs_recording_writer_unpack(struct ncs_recording_writer *writer)
{
	ncs_packer_free(writer->packer);
	writer->packer = NULL;
}

int ncs_recording_writer_look(struct ncs_recording_writer *writer,
			      struct ncs_look *look)
{
	const struct ncs_file_head *head = &writer->settings.head;
	struct ncs_chunk chunk = ncs_recording_chunk_at(
		NCS_CHUNK_LOOK, NCS_NO_RANK, sizeof(*look), look->taken_ns);
	size_t room;

	/* Room is made first: it may take padding, which is a chunk of this
	 * look, too. */
	if (!ncs_recording_chunk_begin(writer, sizeof(*look), &room))
		return writer->error;
	memcpy(look->recording, head->recording, sizeof(look->recording));
	look->program_version = head->program_version;
	look->chunks = writer->end.chunks - writer->look_chunks;
	look->records = writer->end.records - writer->look_records;
	look->bytes = ncs_sink_offset(writer->sink) - writer->look_offset;
	ncs_recording_chunk_write(writer, &chunk, look);
	writer->look_chunks = writer->end.chunks;
	writer->look_records = writer->end.records;
	writer->look_offset = ncs_sink_offset(writer->sink);
	writer->look_unpacked = writer->unpacked_bytes;
	return ncs_recording_writer_flush(writer);
}

/* --- Peaks, stacks, clocks ----------------------------------------------- */

int ncs_recording_writer_peaks(struct ncs_recording_writer *writer,
			       const struct ncs_machine_peaks *peaks,
			       uint64_t now_ns)
{
	static const struct ncs_machine_peaks unknown;
	char payload[NCS_PEAKS_BYTES_MAX];
	struct ncs_chunk chunk;

	if (writer->error != 0 ||
	    memcmp(peaks, &unknown, sizeof(*peaks)) == 0 ||
	    memcmp(peaks, &writer->peaks, sizeof(*peaks)) == 0)
		return writer->error;
	writer->peaks = *peaks;
	chunk = ncs_recording_chunk_at(NCS_CHUNK_PEAKS, NCS_NO_RANK,
				       ncs_peaks_pack(peaks, payload), now_ns);
	return ncs_recording_chunk_write(writer, &chunk, payload);
}

int ncs_recording_writer_stack(struct ncs_recording_writer *writer,
			       size_t number, const char *lines,
			       uint64_t now_ns)
{
	const struct ncs_recording_writer_rank *rank =
		ncs_recording_rank_in_file(writer, number);
	struct ncs_chunk chunk;

	if (!rank)
		return writer->error;
	chunk = ncs_recording_chunk_at(NCS_CHUNK_STACK, rank->number,
				       strnlen(lines, NCS_PAYLOAD_BYTES_MAX),
				       now_ns);
	return ncs_recording_chunk_write(writer, &chunk, lines);
}

/* --- Clocks and totals --------------------------------------------------- */

int ncs_recording_writer_clock(struct ncs_recording_writer *writer,
			       const struct ncs_clock_reading *reading)
{
	struct ncs_chunk chunk =
		ncs_recording_chunk_at(NCS_CHUNK_CLOCK, NCS_NO_RANK,
				       sizeof(*reading), reading->before_ns);

	chunk.until_ns = reading->after_ns;
	return ncs_recording_chunk_write(writer, &chunk, reading);
}

/* --- Totals -------------------------------------------------------------- */

struct ncs_recording_totals
ncs_recording_writer_totals(const struct ncs_recording_writer *writer)
{
	struct ncs_recording_totals totals = writer->before;

	totals.ranks = writer->added;
	if (!writer->sink)
		return totals;
	totals.files++;
	totals.bytes += ncs_sink_offset(writer->sink);
	totals.chunks += writer->end.chunks;
	totals.records += writer->end.records;
	totals.lost += writer->end.lost;
	totals.states += writer->end.states;
	totals.torn_states += writer->end.torn_states;
	return totals;
}

uint64_t ncs_recording_writer_bytes(const struct ncs_recording_writer *writer)
{
	return writer->sink ? ncs_sink_offset(writer->sink) : 0;
}

uint64_t
ncs_recording_writer_look_bytes(const struct ncs_recording_writer *writer,
				uint64_t *unpacked)
{
	*unpacked = writer->unpacked_bytes - writer->look_unpacked;
	return ncs_recording_writer_bytes(writer) - writer->look_offset;
}

const struct ncs_sink *
ncs_recording_writer_sink(const struct ncs_recording_writer *writer)
{
	return writer->sink;
}
