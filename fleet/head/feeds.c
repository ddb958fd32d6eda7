/* SPDX-License-Identifier: MIT */
/* Threads that feed a fleet; see feeds.h. */
#include "fleet/head/feeds.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analysis/base/hash_table.h"
#include "fleet/launch/lines.h"
#include "fleet/stream/stream_output.h"
#include "record/format/chunk.h"
#include "shm/array.h"
#include "shm/atomics.h"
#include "shm/clock.h"

#define READ_BYTES (UINT32_C(64) << 10)

/* Time between two looks at whether all has ended. */
#define TURN_NS UINT64_C(200000000)

/* --- Lines in files ------------------------------------------------------ */

/* A node whose stream comes in lines. */
struct pipe_node {
	struct ncs_name_link link;
	char name[NCS_LINE_NODE_MAX + 1];
	size_t node; /* in the fleet */
	struct ncs_line_order order;
};

struct pipe_file {
	int file; /* -1 once it has ended */
	enum { UNKNOWN, RAW, LINES } form;
	char first[sizeof(uint64_t)]; /* bytes read while it is UNKNOWN */
	size_t first_bytes;
	size_t node; /* of a raw stream */
	struct ncs_line_splitter splitter;
	struct pipe_node **nodes; /* of lines */
	size_t count;
	size_t capacity;
	struct ncs_hash_table by_name;
};

struct ncs_pipes {
	struct ncs_fleet *fleet;
	struct pipe_file *files;
	struct pollfd *polled; /* of the files, then `wake` */
	size_t count;
	int wake; /* an eventfd: the thread is to end */
	/* The thread's, for any: */
	uint64_t ended; /* number of files */
	uint64_t empty; /* and of those that ended without a node */
	uint64_t has_lines;
	/* The rest is the opener's: */
	pthread_t thread;
	bool has_thread;
};

/* Adds a node to the fleet. Returns NULL if there is no memory, or are too
 * many. */
static struct pipe_node *add_node(struct ncs_pipes *pipes,
				  struct pipe_file *file, const char *name)
{
	struct pipe_node *added = calloc(1, sizeof(*added));

	if (!added ||
	    ncs_array_reserve(&file->nodes, &file->capacity, file->count + 1,
			      sizeof(*file->nodes)) != 0) {
		free(added);
		return NULL;
	}
	snprintf(added->name, sizeof(added->name), "%s", name);
	if (ncs_hash_table_insert_name(&file->by_name, &added->link,
				       added->name) != 0) {
		free(added);
		return NULL;
	}
	if (ncs_fleet_add(pipes->fleet, name, "", &added->node) != 0) {
		ncs_hash_table_remove(&file->by_name, &added->link.link);
		free(added);
		return NULL;
	}
	file->nodes[file->count++] = added;
	return added;
}

/* Finds the node of a line; adds it if it is new. */
static struct pipe_node *find_node(struct ncs_pipes *pipes,
				   struct pipe_file *file, const char *name)
{
	struct pipe_node *node =
		ncs_hash_table_find_name(&file->by_name, name, strlen(name));

	return node ? node : add_node(pipes, file, name);
}

static void take_line(struct ncs_pipes *pipes, struct pipe_file *file,
		      const char *text, size_t length, uint64_t now_ns)
{
	struct ncs_line line;
	struct pipe_node *node;
	enum ncs_line_step step;

	if (ncs_line_parse(text, length, &line) != NCS_LINE_OURS)
		return;
	node = find_node(pipes, file, line.node);
	step = node ? ncs_line_order_take(&node->order, &line) : NCS_LINE_DROP;
	if (step == NCS_LINE_DROP)
		return;
	if (step != NCS_LINE_NEXT)
		ncs_fleet_gap(pipes->fleet, node->node);
	ncs_fleet_feed(pipes->fleet, node->node, line.bytes, line.byte_count,
		       now_ns);
}

static void take_lines(struct ncs_pipes *pipes, struct pipe_file *file,
		       const char *bytes, size_t size, uint64_t now_ns)
{
	size_t length;
	char *line;

	while ((line = ncs_line_next(&file->splitter, &bytes, &size, &length)))
		take_line(pipes, file, line, length, now_ns);
}

/* --- Files --------------------------------------------------------------- */

static void take_bytes(struct ncs_pipes *pipes, struct pipe_file *file,
		       const char *bytes, size_t size, uint64_t now_ns)
{
	if (file->form == RAW)
		ncs_fleet_feed(pipes->fleet, file->node, bytes, size, now_ns);
	else
		take_lines(pipes, file, bytes, size, now_ns);
}

/* Finds out from the first bytes in which form the stream comes. Returns how
 * many bytes were taken. */
static size_t look_at_first(struct ncs_pipes *pipes, struct pipe_file *file,
			    const char *bytes, size_t size, uint64_t now_ns)
{
	const uint64_t magic = NCS_CHUNK_MAGIC;
	size_t taken = sizeof(file->first) - file->first_bytes;

	if (taken > size)
		taken = size;
	memcpy(file->first + file->first_bytes, bytes, taken);
	file->first_bytes += taken;
	if (file->first_bytes < sizeof(file->first))
		return taken;
	file->form = memcmp(file->first, &magic, sizeof(magic)) == 0 ? RAW :
								       LINES;
	/* Without memory for a node the bytes are read as lines, of which there
	 * are none. */
	if (file->form == RAW &&
	    ncs_fleet_add(pipes->fleet, NULL, "", &file->node) != 0)
		file->form = LINES;
	if (file->form == LINES)
		ncs_store_relaxed(&pipes->has_lines, true);
	take_bytes(pipes, file, file->first, sizeof(file->first), now_ns);
	return taken;
}

static void end_file(struct ncs_pipes *pipes, struct pipe_file *file,
		     uint64_t now_ns)
{
	if (file->file != STDIN_FILENO)
		close(file->file);
	file->file = -1;
	if (file->form == RAW)
		ncs_fleet_set_state(pipes->fleet, file->node, NCS_NODE_ENDED,
				    "", now_ns);
	for (size_t i = 0; i < file->count; i++)
		ncs_fleet_set_state(pipes->fleet, file->nodes[i]->node,
				    NCS_NODE_ENDED, "", now_ns);
	if (file->form != RAW && file->count == 0)
		ncs_add_relaxed(&pipes->empty, 1);
	ncs_add_relaxed(&pipes->ended, 1);
}

/* Reads what is there. A file is read only if poll() says that this does not
 * wait. */
static void read_file(struct ncs_pipes *pipes, struct pipe_file *file,
		      char *room)
{
	ssize_t size = read(file->file, room, READ_BYTES);
	uint64_t now_ns = ncs_clock_monotonic_ns();
	size_t taken = 0;

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (size <= 0) {
		end_file(pipes, file, now_ns);
		return;
	}
	if (file->form == UNKNOWN)
		taken = look_at_first(pipes, file, room, (size_t)size, now_ns);
	if (taken < (size_t)size)
		take_bytes(pipes, file, room + taken, (size_t)size - taken,
			   now_ns);
}

static void *run_pipes(void *context)
{
	struct ncs_pipes *pipes = context;
	char *room = malloc(READ_BYTES);

	while (room) {
		for (size_t i = 0; i < pipes->count; i++)
			pipes->polled[i].fd = pipes->files[i].file;
		if (poll(pipes->polled, pipes->count + 1, -1) < 0)
			continue;
		if (pipes->polled[pipes->count].revents)
			break;
		for (size_t i = 0; i < pipes->count; i++)
			if (pipes->polled[i].revents &&
			    pipes->files[i].file >= 0)
				read_file(pipes, &pipes->files[i], room);
	}
	free(room);
	return NULL;
}

static int open_files(struct ncs_pipes *pipes, char *const *paths, char *why,
		      size_t why_size)
{
	for (size_t i = 0; i < pipes->count; i++) {
		bool is_input = strcmp(paths[i], "-") == 0;
		int file = is_input ? STDIN_FILENO :
				      open(paths[i], O_RDONLY | O_CLOEXEC);

		if (file < 0) {
			int error = -errno;

			snprintf(why, why_size, "%s: %s", paths[i],
				 strerror(errno));
			return error;
		}
		pipes->files[i].file = file;
		pipes->polled[i].events = POLLIN;
	}
	pipes->wake = eventfd(0, EFD_CLOEXEC);
	pipes->polled[pipes->count].fd = pipes->wake;
	pipes->polled[pipes->count].events = POLLIN;
	if (pipes->wake >= 0)
		return 0;
	snprintf(why, why_size, "%s", strerror(errno));
	return -errno;
}

int ncs_pipes_open(struct ncs_pipes **out, struct ncs_fleet *fleet,
		   char *const *paths, size_t count, char *why, size_t why_size)
{
	struct ncs_pipes *pipes = calloc(1, sizeof(*pipes));
	int error = -ENOMEM;

	*out = NULL;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	if (!pipes)
		return error;
	pipes->fleet = fleet;
	pipes->wake = -1;
	pipes->files = calloc(count, sizeof(*pipes->files));
	pipes->polled = calloc(count + 1, sizeof(*pipes->polled));
	if (pipes->files && pipes->polled) {
		pipes->count = count;
		for (size_t i = 0; i < count; i++)
			pipes->files[i].file = -1;
		error = open_files(pipes, paths, why, why_size);
	}
	if (!error) {
		error = ncs_stream_thread_start(&pipes->thread, run_pipes,
						pipes);
		pipes->has_thread = error == 0;
		if (error)
			snprintf(why, why_size, "%s", strerror(-error));
	}
	if (error)
		ncs_pipes_close(pipes);
	else
		*out = pipes;
	return error;
}

size_t ncs_pipes_count(struct ncs_pipes *pipes)
{
	return pipes->count - ncs_load_relaxed(&pipes->empty);
}

bool ncs_pipes_have_lines(struct ncs_pipes *pipes)
{
	return ncs_load_relaxed(&pipes->has_lines);
}

bool ncs_pipes_have_ended(struct ncs_pipes *pipes)
{
	return ncs_load_relaxed(&pipes->ended) == pipes->count;
}

static void release_nodes(struct pipe_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		free(file->nodes[i]);
	free(file->nodes);
	ncs_hash_table_release(&file->by_name);
}

void ncs_pipes_close(struct ncs_pipes *pipes)
{
	const uint64_t one = 1;

	if (!pipes)
		return;
	/* The counter of an eventfd has room for this. */
	if (pipes->has_thread && write(pipes->wake, &one, sizeof(one)) > 0)
		pthread_join(pipes->thread, NULL);
	for (size_t i = 0; i < pipes->count; i++) {
		if (pipes->files[i].file > STDIN_FILENO)
			close(pipes->files[i].file);
		release_nodes(&pipes->files[i]);
	}
	if (pipes->wake >= 0)
		close(pipes->wake);
	free(pipes->files);
	free(pipes->polled);
	free(pipes);
}

/* --- Agents -------------------------------------------------------------- */

struct ncs_crew {
	struct ncs_fleet *fleet;
	struct ncs_agents *agents;
	pthread_t thread;
	pthread_mutex_t mutex;
	/* Under the mutex: */
	bool stops;
	bool has_ended;
	char message[NCS_NODE_WHY_BYTES];
};

/* Without memory, what the node tells is left out. */
static size_t take_agent_node(void *context, const char *name,
			      const char *reach)
{
	const struct ncs_crew *crew = context;
	size_t number = SIZE_MAX;

	ncs_fleet_add(crew->fleet, name, reach, &number);
	return number;
}

static void take_agent_bytes(void *context, size_t node,
			     enum ncs_line_step step, const void *bytes,
			     size_t size)
{
	const struct ncs_crew *crew = context;

	if (node == SIZE_MAX)
		return;
	if (step != NCS_LINE_NEXT)
		ncs_fleet_gap(crew->fleet, node);
	ncs_fleet_feed(crew->fleet, node, bytes, size,
		       ncs_clock_monotonic_ns());
}

static void take_agent_state(void *context, size_t node,
			     enum ncs_node_state state, const char *why)
{
	const struct ncs_crew *crew = context;

	if (node != SIZE_MAX)
		ncs_fleet_set_state(crew->fleet, node, state, why,
				    ncs_clock_monotonic_ns());
}

static void *run_crew(void *context)
{
	struct ncs_crew *crew = context;
	const struct ncs_agents_sink sink = {
		.context = crew,
		.node = take_agent_node,
		.bytes = take_agent_bytes,
		.state = take_agent_state,
	};
	bool stops = false;

	while (!stops) {
		ncs_agents_run(crew->agents, &sink,
			       ncs_clock_monotonic_ns() + TURN_NS);
		pthread_mutex_lock(&crew->mutex);
		snprintf(crew->message, sizeof(crew->message), "%s",
			 ncs_agents_message(crew->agents));
		crew->has_ended = ncs_agents_have_ended(crew->agents);
		stops = crew->stops;
		pthread_mutex_unlock(&crew->mutex);
	}
	/* This thread started them, and must outlive them. */
	ncs_agents_close(crew->agents);
	return NULL;
}

int ncs_crew_open(struct ncs_crew **crew, struct ncs_fleet *fleet,
		  const struct ncs_launch *launch, char *why, size_t why_size)
{
	struct ncs_crew *opened = calloc(1, sizeof(*opened));
	int error;

	*crew = NULL;
	if (!opened) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	opened->fleet = fleet;
	error = ncs_agents_open(&opened->agents, launch, why, why_size);
	if (error) {
		free(opened);
		return error;
	}
	pthread_mutex_init(&opened->mutex, NULL);
	error = ncs_stream_thread_start(&opened->thread, run_crew, opened);
	if (error) {
		snprintf(why, why_size, "%s", strerror(-error));
		ncs_agents_close(opened->agents);
		pthread_mutex_destroy(&opened->mutex);
		free(opened);
		return error;
	}
	*crew = opened;
	return 0;
}

bool ncs_crew_has_ended(struct ncs_crew *crew)
{
	bool has_ended;

	pthread_mutex_lock(&crew->mutex);
	has_ended = crew->has_ended;
	pthread_mutex_unlock(&crew->mutex);
	return has_ended;
}

void ncs_crew_message(struct ncs_crew *crew, char *text, size_t size)
{
	pthread_mutex_lock(&crew->mutex);
	snprintf(text, size, "%s", crew->message);
	pthread_mutex_unlock(&crew->mutex);
}

void ncs_crew_close(struct ncs_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->mutex);
	crew->stops = true;
	pthread_mutex_unlock(&crew->mutex);
	ncs_agents_wake(crew->agents);
	pthread_join(crew->thread, NULL);
	pthread_mutex_destroy(&crew->mutex);
	free(crew);
}
