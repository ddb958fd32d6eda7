/* SPDX-License-Identifier: MIT */
/* Passes streams on; see relay.h. A fleet's thread hands looks over, the
 * caller's thread makes lines of them. */
#include "fleet/head/relay.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "fleet/launch/lines.h"
#include "fleet/stream/look_pack.h"
#include "record/format/chunk.h"
#include "shm/array.h"
#include "shm/clock.h"

/* Time between two looks at the states of nodes, and after which a state is
 * told again. */
#define TURN_NS UINT64_C(250000000)
#define AGAIN_NS UINT64_C(10000000000)

/* How soon it is looked whether a pipe that was full has room. */
#define FULL_NS UINT64_C(20000000)

#define PACK_LEVEL 3

struct relay_look {
	struct ncs_sink_memory memory;
	size_t end;       /* where its chunk "look" is */
	uint64_t dropped; /* looks that were dropped here until then */
	bool is_unsent;
};

struct relay_node {
	struct ncs_sink_memory spare; /* for the look that comes next */
	uint64_t recording;
	uint64_t dropped;
	struct relay_look key; /* the latest that can be read by itself */
	struct relay_look latest;
	/* The rest is the caller's thread's. */
	struct ncs_look_packer *packer; /* NULL: looks are not packed */
	struct ncs_line_writer lines;
	bool has_lines;
	struct ncs_node reported; /* as it was last reported */
	uint64_t reported_ns;     /* 0: it need not be */
};

struct relay {
	struct ncs_fleet *fleet;
	int event; /* looks have come */
	uint32_t agent;
	size_t even; /* bytes of each line; see ncs_line_even() */
	pthread_mutex_t mutex;
	/* Under the mutex: */
	struct relay_node **nodes;
	size_t count;
	size_t capacity;
	/* The rest is the caller's thread's. */
	struct ncs_packer *packer;
	struct ncs_node *states;
	size_t state_capacity;
	struct ncs_sink_memory packed;
	struct ncs_sink_memory text;
	uint64_t looks;
};

/* --- Looks that come ------------------------------------------------------ */

/* Returns a node; NULL if there is no memory. The mutex is held. */
static struct relay_node *node_of(struct relay *relay, size_t number)
{
	if (number >= relay->count &&
	    ncs_array_reserve_zeroed(&relay->nodes, &relay->capacity,
				     number + 1, sizeof(*relay->nodes)) != 0)
		return NULL;
	if (number >= relay->count)
		relay->count = number + 1;
	if (!relay->nodes[number])
		relay->nodes[number] = calloc(1, sizeof(struct relay_node));
	return relay->nodes[number];
}

static void exchange(struct ncs_sink_memory *a, struct ncs_sink_memory *b)
{
	struct ncs_sink_memory memory = *a;

	*a = *b;
	*b = memory;
}

/* Returns the payload of the chunk "look" at an offset. */
static struct ncs_look *look_of(const struct ncs_sink_memory *memory,
				size_t end)
{
	return (struct ncs_look *)(memory->bytes + end +
				   sizeof(struct ncs_chunk));
}

/* Takes the look that is in the spare memory, with its last chunk at `end`. */
static void take_look(struct relay_node *node, size_t end)
{
	struct relay_look *taken = &node->latest;
	const struct ncs_look *look = look_of(&node->spare, end);

	if (look->flags & NCS_LOOK_KEY) {
		if (node->recording != look->recording[0])
			node->dropped = 0;
		node->recording = look->recording[0];
		node->dropped += node->key.is_unsent + node->latest.is_unsent;
		node->latest.is_unsent = false;
		taken = &node->key;
	} else if (node->recording != look->recording[0]) {
		node->dropped++;
		return;
	} else {
		node->dropped += node->latest.is_unsent;
	}
	exchange(&taken->memory, &node->spare);
	taken->end = end;
	taken->dropped = node->dropped;
	taken->is_unsent = true;
}

/* An ncs_fleet_pass. */
static void take_bytes(void *context, size_t number, const void *bytes,
		       size_t size, size_t end)
{
	struct relay *relay = context;
	const uint64_t one = 1;
	struct relay_node *node;

	pthread_mutex_lock(&relay->mutex);
	node = node_of(relay, number);
	if (node) {
		node->spare.size = 0;
		if (ncs_sink_memory_append(&node->spare, bytes, size) == 0)
			take_look(node, end);
		else
			node->dropped++;
		/* The counter of an eventfd has room for this. */
		if (write(relay->event, &one, sizeof(one)) < 0)
			abort();
	}
	pthread_mutex_unlock(&relay->mutex);
}

/* --- Lines ---------------------------------------------------------------- */

static int put_lines(struct relay *relay, struct relay_node *node,
		     const char *bytes, size_t size)
{
	while (size > 0) {
		char line[NCS_LINE_PADDED];
		size_t length;
		size_t taken = ncs_line_put(&node->lines, bytes, size, line,
					    &length);

		if (ncs_sink_memory_append(&relay->text, line, length) != 0)
			return -ENOMEM;
		bytes += taken;
		size -= taken;
	}
	return 0;
}

/* Writes in the look's end how many were dropped until it. */
static void count_dropped(struct relay_look *look)
{
	struct ncs_look *end = look_of(&look->memory, look->end);

	end->dropped += look->dropped;
	ncs_chunk_seal((struct ncs_chunk *)end - 1, end);
}

static int put_look(struct relay *relay, struct relay_node *node,
		    struct relay_look *look)
{
	int error;

	if (!look->is_unsent)
		return 0;
	count_dropped(look);
	look->is_unsent = false;
	relay->looks++;
	if (!node->packer)
		return put_lines(relay, node, look->memory.bytes,
				 look->memory.size);
	error = ncs_look_packer_pack(node->packer, look->memory.bytes,
				     look->memory.size, &relay->packed);
	return error ? error :
		       put_lines(relay, node, relay->packed.bytes,
				 relay->packed.size);
}

/* Whether only a launcher knows it, or it is of here. */
static bool is_to_be_reported(enum ncs_node_state state)
{
	return state == NCS_NODE_NOT_REACHABLE || state == NCS_NODE_REFUSED ||
	       state == NCS_NODE_NOT_INSTALLED ||
	       state == NCS_NODE_OTHER_VERSION || state == NCS_NODE_FAILED ||
	       state == NCS_NODE_ENDED || state == NCS_NODE_OVER_LIMIT ||
	       state == NCS_NODE_GONE;
}

/* Tells why no looks come, if it is new or was long ago. */
static int put_state(struct relay *relay, struct relay_node *node,
		     const struct ncs_node *state, uint64_t now_ns)
{
	struct {
		struct ncs_chunk chunk;
		struct ncs_node_head head;
		char why[NCS_NODE_WHY_BYTES + NCS_CHUNK_ALIGNMENT];
	} word = {
		.chunk = { .type = NCS_CHUNK_NODE, .rank = NCS_NO_RANK },
		.head = { .state = state->state },
	};

	if (!is_to_be_reported(state->state)) {
		node->reported_ns = 0;
		return 0;
	}
	if (node->reported_ns != 0 && now_ns - node->reported_ns < AGAIN_NS &&
	    node->reported.state == state->state &&
	    strcmp(node->reported.why, state->why) == 0)
		return 0;
	node->reported = *state;
	node->reported_ns = now_ns;
	word.head.why_bytes = (uint32_t)strlen(state->why);
	word.chunk.bytes = sizeof(word.head) + word.head.why_bytes;
	word.chunk.unpacked_bytes = word.chunk.bytes;
	memcpy(word.why, state->why, word.head.why_bytes);
	ncs_chunk_seal(&word.chunk, &word.head);
	return put_lines(relay, node, (const char *)&word,
			 ncs_chunk_file_bytes(&word.chunk));
}

/* --- The loop ------------------------------------------------------------- */

/* Looks at the states of all nodes. Sets *count to their number. */
static int look_at_states(struct relay *relay, uint64_t now_ns, size_t *count)
{
	*count = ncs_fleet_nodes(relay->fleet, now_ns, NULL, 0);
	if (ncs_array_reserve(&relay->states, &relay->state_capacity, *count,
			      sizeof(*relay->states)) != 0)
		return -ENOMEM;
	ncs_fleet_nodes(relay->fleet, now_ns, relay->states, *count);
	return 0;
}

/* Prepares to write the lines of a node. */
static int prepare(struct relay *relay, struct relay_node *node,
		   const char *name, bool packs)
{
	if (!node->has_lines)
		ncs_line_writer_init(&node->lines, name, relay->agent,
				     relay->even);
	node->has_lines = true;
	if (packs && !node->packer) {
		node->packer = ncs_look_packer_new(relay->packer);
		if (!node->packer)
			return -ENOMEM;
	}
	return 0;
}

/* Makes lines of all that is new. Returns 0 or -ENOMEM. */
static int make_lines(struct relay *relay, bool packs, uint64_t now_ns)
{
	size_t count;
	int error = look_at_states(relay, now_ns, &count);

	pthread_mutex_lock(&relay->mutex);
	for (size_t i = 0; i < count && !error; i++) {
		struct relay_node *node = node_of(relay, i);

		error = node ? prepare(relay, node, relay->states[i].name,
				       packs) :
			       -ENOMEM;
		if (!error)
			error = put_look(relay, node, &node->key);
		if (!error)
			error = put_look(relay, node, &node->latest);
		if (!error)
			error = put_state(relay, node, &relay->states[i],
					  now_ns);
	}
	pthread_mutex_unlock(&relay->mutex);
	return error;
}

static int loop(struct relay *relay, struct ncs_agent_wait *wait,
		struct ncs_stream_output *output,
		bool (*has_ended)(void *context), void *context)
{
	uint64_t events, until_ns;
	int error = 0;

	do {
		uint64_t now_ns = ncs_clock_monotonic_ns();
		/* Before what it has told is taken. */
		bool ended = has_ended(context);

		/* Nothing has come if this fails. */
		if (read(relay->event, &events, sizeof(events)) < 0)
			events = 0;
		until_ns = now_ns + FULL_NS;
		if (ncs_stream_output_waits(output))
			continue;
		error = make_lines(relay, wait->orders.packs, now_ns);
		if (!error && relay->text.size > 0)
			ncs_stream_output_put(output, &relay->text);
		else if (ended)
			return error;
		until_ns = now_ns + TURN_NS;
	} while (!error && ncs_agent_wait(wait, until_ns));
	return error;
}

static void release(struct relay *relay)
{
	for (size_t i = 0; i < relay->count; i++) {
		struct relay_node *node = relay->nodes[i];

		if (!node)
			continue;
		ncs_look_packer_free(node->packer);
		free(node->spare.bytes);
		free(node->key.memory.bytes);
		free(node->latest.memory.bytes);
		free(node);
	}
	free(relay->nodes);
	free(relay->states);
	free(relay->packed.bytes);
	free(relay->text.bytes);
	ncs_packer_free(relay->packer);
	if (relay->event >= 0)
		close(relay->event);
	pthread_mutex_destroy(&relay->mutex);
}

static int begin(struct relay *relay, struct ncs_stream_output **output,
		 const struct ncs_agent_settings *settings)
{
	pthread_mutex_init(&relay->mutex, NULL);
	relay->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (relay->event < 0)
		return -errno;
	/* If no entropy is available, the time tells agents apart. */
	if (getrandom(&relay->agent, sizeof(relay->agent), GRND_NONBLOCK) !=
	    sizeof(relay->agent))
		relay->agent = (uint32_t)ncs_clock_monotonic_ns();
	relay->packer = ncs_packer_create(PACK_LEVEL);
	if (!relay->packer)
		return -ENOMEM;
	relay->even = ncs_line_even(settings->output);
	return ncs_stream_output_open(output, settings->output,
				      NCS_STREAM_OUTPUT_TEXT, NULL);
}

void ncs_relay_run(struct ncs_fleet *fleet,
		   const struct ncs_agent_settings *settings,
		   bool (*has_ended)(void *context), void *context,
		   struct ncs_agent_result *result)
{
	struct relay relay = { .fleet = fleet };
	struct ncs_stream_output *output = NULL;
	struct ncs_agent_wait wait = { .end = NCS_AGENT_COUNTED };
	int error = begin(&relay, &output, settings);

	memset(result, 0, sizeof(*result));
	if (!error) {
		ncs_agent_wait_begin(&wait, settings,
				     ncs_stream_output_event(output),
				     relay.event);
		wait.end = NCS_AGENT_COUNTED;
		ncs_fleet_pass_on(fleet, take_bytes, &relay);
		error = loop(&relay, &wait, output, has_ended, context);
		ncs_fleet_pass_on(fleet, NULL, NULL);
	}
	result->end = wait.end;
	result->looks = relay.looks;
	ncs_agent_finish(output, error, result);
	release(&relay);
}
