/* SPDX-License-Identifier: MIT */
/* Captured and eager AllReduces by two ranks: checks that no job hangs and that
 * all sums are right.
 *
 * Captures calls into graphs and mixes their replays with eager calls at random;
 * with two threads one captures while the other calls. Host code only. Both ranks
 * draw the same random numbers, so they make the same calls in the same order. The
 * exit status is 0, or 1 after an error (each call is checked), 2 after a wrong
 * option, 124 when it took too long. Must not know ncclstat: the environment
 * decides which plugin NCCL loads.
 */
#include "test/gpu/check.h"
#include "test/gpu/pair.h"

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nccl.h>

#define USAGE 2
#define MAX_ENDPOINTS 2
#define MAX_GRAPHS 8
#define MAX_CAPTURED 32
/* Elements that a call of a graph may write: its part of the endpoint's results. */
#define SLICE_ELEMENTS ((size_t)1 << 18)
/* How many calls share one check: a check waits for the GPU, but the
 * test needs a job that runs ahead of it. */
#define CHECK_EAGER 16
#define CHECK_REPLAY 4

/* Sizes for few channels and many, with and without the protocols for short
 * messages. */
static const size_t elements_of[] = { 1 << 6, 1 << 12, 1 << 16, 1 << 18 };
/* Sizes that are used if two processes share a GPU: through a socket, long calls
 * would take most of the time and prove nothing more. */
#define SHARED_SIZES 2

/* X(field, name on the command line, default, least, most) */
#define NUMBERS(X) \
	X(eager_before, "eager-before", 1200, 0, 10000000) \
	X(captured, "captured", 4, 1, MAX_CAPTURED) \
	X(graphs, "graphs", 2, 1, MAX_GRAPHS) \
	X(replays, "replays", 50, 0, 1000000) \
	X(threads, "threads", 1, 1, 2) \
	X(comms, "comms", 1, 1, MAX_ENDPOINTS) \
	X(seed, "seed", 0, 0, UINT32_MAX) \
	X(patience_s, "patience", 60, 1, 86400)

static struct {
	bool free_running;
	bool shared;
	enum cudaStreamCaptureMode mode;
	const char *at_end;
#define FIELD(field, name, normal, least, most) unsigned field;
	NUMBERS(FIELD)
#undef FIELD
} options = {
	.mode = cudaStreamCaptureModeRelaxed,
#define NORMAL(field, name, normal, least, most) .field = (normal),
	NUMBERS(NORMAL)
#undef NORMAL
};

struct captured_graph {
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t elements[MAX_CAPTURED];
};

/* A communicator with a stream and buffers of its own. */
struct endpoint {
	ncclComm_t comm;
	cudaStream_t stream;
	float *in;
	float *out;
	/* Pinned memory, as long as `out`. */
	float *host;
	struct captured_graph graphs[MAX_GRAPHS];
	unsigned graph_count;
};

struct planned_call {
	const struct endpoint *endpoint;
	size_t elements;
	float *out;
};

/* The second thread, which makes the calls that are handed to it. */
struct helper {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* The call to make; NULL if there is none. */
	const struct planned_call *call;
	bool stop;
};

/* The calls of one thread on its endpoints, some of them made by the helper. */
struct scenario {
	struct endpoint *endpoints;
	unsigned endpoint_count;
	/* NULL if the thread makes all calls itself. */
	struct helper *helper;
	/* State of the random numbers that both ranks share. */
	uint64_t random;
	/* State of the rank's own random numbers: which thread calls. */
	uint64_t caller;
};

static struct endpoint all_endpoints[MAX_ENDPOINTS];

/* In global mode, held while a thread captures, waits for the GPU, or makes or
 * destroys a graph: while one captures CUDA forbids the others to all threads. */
static pthread_mutex_t unsafe = PTHREAD_MUTEX_INITIALIZER;

/* --- Random numbers ------------------------------------------------------ */

static unsigned below(uint64_t *random, unsigned limit)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*random >> 33) % limit;
}

static bool one_in(uint64_t *random, unsigned limit)
{
	return below(random, limit) == 0;
}

/* --- An endpoint
 * ------------------------------------------------------------- */

static float value_of(int rank, size_t index)
{
	return (float)(rank + 1 + (int)(index % 7));
}

static void open_endpoint(struct endpoint *endpoint, ncclUniqueId id,
			  size_t in_elements, size_t out_elements)
{
	size_t in_bytes = in_elements * sizeof(float);
	size_t out_bytes = out_elements * sizeof(float);

	CUDA(cudaStreamCreateWithFlags(&endpoint->stream,
				       cudaStreamNonBlocking));
	CUDA(cudaMalloc((void **)&endpoint->in, in_bytes));
	CUDA(cudaMalloc((void **)&endpoint->out, out_bytes));
	CUDA(cudaMallocHost((void **)&endpoint->host, out_bytes));
	for (size_t i = 0; i < in_elements; i++)
		endpoint->host[i] = value_of(own_rank, i);
	CUDA(cudaMemcpy(endpoint->in, endpoint->host, in_bytes,
			cudaMemcpyHostToDevice));
	NCCL(ncclCommInitRank(&endpoint->comm, PAIR_SIZE, id, own_rank));
}

static void close_endpoint(struct endpoint *endpoint)
{
	NCCL(ncclCommDestroy(endpoint->comm));
	CUDA(cudaFreeHost(endpoint->host));
	CUDA(cudaFree(endpoint->out));
	CUDA(cudaFree(endpoint->in));
	CUDA(cudaStreamDestroy(endpoint->stream));
}

static void open_endpoints(unsigned count, size_t in_elements,
			   size_t out_elements)
{
	ncclUniqueId ids[MAX_ENDPOINTS];

	if (own_rank == 0)
		for (unsigned i = 0; i < MAX_ENDPOINTS; i++)
			NCCL(ncclGetUniqueId(&ids[i]));
	LIBC(pair_share(ids, sizeof(ids)));
	for (unsigned i = 0; i < count; i++)
		open_endpoint(&all_endpoints[i], ids[i], in_elements,
			      out_elements);
}

static void close_endpoints(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close_endpoint(&all_endpoints[i]);
}

/* Overwrites the results, so that a call that does nothing is noticed. */
static void forget_results(const struct endpoint *endpoint, size_t elements)
{
	CUDA(cudaMemsetAsync(endpoint->out, 0, elements * sizeof(float),
			     endpoint->stream));
}

static void begin_unsafe(void)
{
	if (options.mode == cudaStreamCaptureModeGlobal)
		LIBC(pthread_mutex_lock(&unsafe));
}

static void end_unsafe(void)
{
	if (options.mode == cudaStreamCaptureModeGlobal)
		LIBC(pthread_mutex_unlock(&unsafe));
}

static void wait_for(const struct endpoint *endpoint)
{
	begin_unsafe();
	CUDA(cudaStreamSynchronize(endpoint->stream));
	end_unsafe();
}

static void fetch_results(const struct endpoint *endpoint, size_t elements)
{
	CUDA(cudaMemcpyAsync(endpoint->host, endpoint->out,
			     elements * sizeof(float), cudaMemcpyDeviceToHost,
			     endpoint->stream));
	wait_for(endpoint);
}

static void expect_sums(const float *results, size_t elements)
{
	char why[96];

	for (size_t i = 0; i < elements; i++) {
		float sum = value_of(0, i) + value_of(1, i);

		if (results[i] == sum)
			continue;
		snprintf(why, sizeof(why), "element %zu of %zu is %g, not %g",
			 i, elements, (double)results[i], (double)sum);
		give_up(__LINE__, "a wrong sum", why);
	}
}

static void make_call(const struct planned_call *call)
{
	const struct endpoint *endpoint = call->endpoint;

	NCCL(ncclAllReduce(endpoint->in, call->out, call->elements, ncclFloat,
			   ncclSum, endpoint->comm, endpoint->stream));
}

/* --- The second thread --------------------------------------------------- */

static int own_device(void)
{
	return options.shared ? 0 : own_rank;
}

static void *help(void *argument)
{
	struct helper *helper = argument;

	CUDA(cudaSetDevice(own_device()));
	pthread_mutex_lock(&helper->mutex);
	while (!helper->stop) {
		if (!helper->call) {
			pthread_cond_wait(&helper->changed, &helper->mutex);
			continue;
		}
		make_call(helper->call);
		helper->call = NULL;
		pthread_cond_signal(&helper->changed);
	}
	pthread_mutex_unlock(&helper->mutex);
	return NULL;
}

static void hire(struct helper *helper)
{
	*helper = (struct helper){ .stop = false };
	LIBC(pthread_mutex_init(&helper->mutex, NULL));
	LIBC(pthread_cond_init(&helper->changed, NULL));
	LIBC(pthread_create(&helper->thread, NULL, help, helper));
}

static void dismiss(struct helper *helper)
{
	pthread_mutex_lock(&helper->mutex);
	helper->stop = true;
	pthread_cond_signal(&helper->changed);
	pthread_mutex_unlock(&helper->mutex);
	LIBC(pthread_join(helper->thread, NULL));
}

/* Has the helper make a call and waits for it, as jobs wait for a backward pass. */
static void hand_over(struct helper *helper, const struct planned_call *call)
{
	pthread_mutex_lock(&helper->mutex);
	helper->call = call;
	pthread_cond_signal(&helper->changed);
	while (helper->call)
		pthread_cond_wait(&helper->changed, &helper->mutex);
	pthread_mutex_unlock(&helper->mutex);
}

static void all_reduce(struct scenario *play, const struct endpoint *endpoint,
		       size_t elements, float *out)
{
	struct planned_call call = { .endpoint = endpoint,
				     .elements = elements,
				     .out = out };

	if (play->helper && one_in(&play->caller, 2))
		hand_over(play->helper, &call);
	else
		make_call(&call);
}

/* --- Graphs -------------------------------------------------------------- */

static size_t any_size(struct scenario *play)
{
	unsigned count = options.shared ?
				 SHARED_SIZES :
				 sizeof(elements_of) / sizeof(*elements_of);

	return elements_of[below(&play->random, count)];
}

static struct endpoint *any_endpoint(struct scenario *play)
{
	return &play->endpoints[below(&play->random, play->endpoint_count)];
}

static void call_eagerly(struct scenario *play, const struct endpoint *endpoint)
{
	size_t elements = any_size(play);
	bool checked = one_in(&play->random, CHECK_EAGER);

	if (checked)
		forget_results(endpoint, elements);
	all_reduce(play, endpoint, elements, endpoint->out);
	if (checked) {
		fetch_results(endpoint, elements);
		expect_sums(endpoint->host, elements);
	}
}

/* With two endpoints, calls on the other one while this one is captured. NCCL lets
 * only captures in relaxed mode go on then; in the other modes another thread calls
 * (--free). */
static void call_beside(struct scenario *play, const struct endpoint *captured)
{
	if (play->endpoint_count == 1 ||
	    options.mode != cudaStreamCaptureModeRelaxed ||
	    !one_in(&play->random, 2))
		return;
	call_eagerly(play,
		     &play->endpoints[captured == play->endpoints ? 1 : 0]);
}

static void capture(struct scenario *play, struct endpoint *endpoint)
{
	struct captured_graph *graph =
		&endpoint->graphs[endpoint->graph_count++];

	begin_unsafe();
	CUDA(cudaStreamBeginCapture(endpoint->stream, options.mode));
	for (unsigned i = 0; i < options.captured; i++) {
		graph->elements[i] = any_size(play);
		all_reduce(play, endpoint, graph->elements[i],
			   endpoint->out + i * SLICE_ELEMENTS);
		call_beside(play, endpoint);
	}
	CUDA(cudaStreamEndCapture(endpoint->stream, &graph->graph));
	CUDA(cudaGraphInstantiateWithFlags(&graph->exec, graph->graph, 0));
	CUDA(cudaGraphUpload(graph->exec, endpoint->stream));
	end_unsafe();
}

static void replay(struct scenario *play, const struct endpoint *endpoint)
{
	const struct captured_graph *graph =
		&endpoint->graphs[below(&play->random, endpoint->graph_count)];
	bool checked = one_in(&play->random, CHECK_REPLAY);
	size_t all = options.captured * SLICE_ELEMENTS;

	if (checked)
		forget_results(endpoint, all);
	CUDA(cudaGraphLaunch(graph->exec, endpoint->stream));
	if (!checked)
		return;
	fetch_results(endpoint, all);
	for (unsigned i = 0; i < options.captured; i++)
		expect_sums(endpoint->host + i * SLICE_ELEMENTS,
			    graph->elements[i]);
}

static void mix(struct scenario *play, unsigned replays)
{
	while (replays > 0) {
		if (one_in(&play->random, 3)) {
			replay(play, any_endpoint(play));
			replays--;
		} else {
			call_eagerly(play, any_endpoint(play));
		}
	}
}

/* Destroys the graphs: NCCL waits in ncclCommDestroy while one exists. */
static void forget_graphs(struct endpoint *endpoint)
{
	wait_for(endpoint);
	begin_unsafe();
	for (unsigned i = 0; i < endpoint->graph_count; i++) {
		CUDA(cudaGraphExecDestroy(endpoint->graphs[i].exec));
		CUDA(cudaGraphDestroy(endpoint->graphs[i].graph));
	}
	end_unsafe();
}

static void *run_scenario(void *argument)
{
	struct scenario *play = argument;

	CUDA(cudaSetDevice(own_device()));
	for (unsigned i = 0; i < options.eager_before; i++)
		call_eagerly(play, any_endpoint(play));
	for (unsigned i = 0; i < options.graphs; i++) {
		for (unsigned k = 0; k < play->endpoint_count; k++)
			capture(play, &play->endpoints[k]);
		mix(play, options.replays);
	}
	for (unsigned i = 0; i < play->endpoint_count; i++)
		forget_graphs(&play->endpoints[i]);
	return NULL;
}

static struct scenario scenario_of(struct endpoint *endpoints,
				   unsigned endpoint_count, unsigned number)
{
	uint64_t seed = 2 * (uint64_t)options.seed + number;

	return (struct scenario){
		.endpoints = endpoints,
		.endpoint_count = endpoint_count,
		.random = seed,
		.caller = ~(PAIR_SIZE * seed + (unsigned)own_rank),
	};
}

/* Makes all calls in one order, by one thread or by two that take turns. */
static void run_in_turn(void)
{
	struct scenario play = scenario_of(all_endpoints, options.comms, 0);
	struct helper helper;

	if (options.threads == 2) {
		hire(&helper);
		play.helper = &helper;
	}
	run_scenario(&play);
	if (options.threads == 2)
		dismiss(&helper);
}

/* Makes calls by two threads, each with a communicator, that do not wait for each
 * other. */
static void run_freely(void)
{
	struct scenario plays[MAX_ENDPOINTS];
	pthread_t threads[MAX_ENDPOINTS];

	for (unsigned i = 0; i < MAX_ENDPOINTS; i++) {
		plays[i] = scenario_of(&all_endpoints[i], 1, i);
		LIBC(pthread_create(&threads[i], NULL, run_scenario,
				    &plays[i]));
	}
	for (unsigned i = 0; i < MAX_ENDPOINTS; i++)
		LIBC(pthread_join(threads[i], NULL));
}

static void graphs(void)
{
	open_endpoints(options.comms, SLICE_ELEMENTS,
		       MAX_CAPTURED * SLICE_ELEMENTS);
	if (options.free_running)
		run_freely();
	else
		run_in_turn();
	LIBC(pair_meet());
	close_endpoints(options.comms);
}

/* --- A rank -------------------------------------------------------------- */

static int work(int rank)
{
	own_rank = rank;
	if (options.shared)
		pretend_two_nodes();
	CUDA(cudaSetDevice(own_device()));
	if (rank == 0)
		say_versions();
	graphs();
	printf("rank %d: OK\n", rank);
	return EXIT_SUCCESS;
}

/* --- Options ------------------------------------------------------------- */

static const struct {
	const char *name;
	enum cudaStreamCaptureMode mode;
} modes[] = {
	{ "global", cudaStreamCaptureModeGlobal },
	{ "thread-local", cudaStreamCaptureModeThreadLocal },
	{ "relaxed", cudaStreamCaptureModeRelaxed },
};

static const char usage[] =
	"usage: graphs [OPTION]...\n"
	"  --captured C      calls in a graph, at most 32; 4\n"
	"  --graphs G        graphs, at most 8, one captured after another; 2\n"
	"  --replays R       replays after each capture; 50\n"
	"  --mode MODE       of the capture: global, thread-local or relaxed\n"
	"  --threads 2       a second thread makes half of the calls, in turn;\n"
	"                    captures must be relaxed, as both add to them\n"
	"  --comms 2         two communicators; a graph on each\n"
	"  --free            with 2 and 2: a thread for each communicator, and\n"
	"                    neither waits for the other\n"
	"  --seed S          of the random choices; 0\n"
	"  --eager-before E  calls before all else; 1200\n"
	"  --shared          both ranks on one GPU, a socket between them\n"
	"  --patience S      seconds before it is called hung; 60\n"
	"  --at-end COMMAND  run when both ranks are done, before they leave\n";

static _Noreturn void misused(const char *what, const char *value)
{
	fprintf(stderr, "graphs: %s%s%s\n%s", what, value ? ": " : "",
		value ? value : "", usage);
	exit(USAGE);
}

static unsigned long number(const char *text, unsigned long least,
			    unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		misused("not a number in its range", text);
	return value;
}

static enum cudaStreamCaptureMode mode_of(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(name, modes[i].name) == 0)
			return modes[i].mode;
	misused("not a mode", name);
}

enum option_code {
	OPTION_MODE = 1,
	OPTION_FREE,
	OPTION_SHARED,
	OPTION_AT_END,
#define CODE(field, name, normal, least, most) OPTION_##field,
	NUMBERS(CODE)
#undef CODE
};

static void take_option(int code, const char *value)
{
	switch (code) {
	case OPTION_MODE:
		options.mode = mode_of(value);
		break;
	case OPTION_FREE:
		options.free_running = true;
		break;
	case OPTION_SHARED:
		options.shared = true;
		break;
	case OPTION_AT_END:
		options.at_end = value;
		break;
#define TAKE(field, name, normal, least, most) \
	case OPTION_##field: \
		options.field = (unsigned)number(value, least, most); \
		break;
		NUMBERS(TAKE)
#undef TAKE
	default:
		misused("an option that it does not have", NULL);
	}
}

static void take_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "mode", required_argument, NULL, OPTION_MODE },
		{ "free", no_argument, NULL, OPTION_FREE },
		{ "shared", no_argument, NULL, OPTION_SHARED },
		{ "at-end", required_argument, NULL, OPTION_AT_END },
#define KNOWN(field, name, normal, least, most) \
	{ name, required_argument, NULL, OPTION_##field },
		NUMBERS(KNOWN)
#undef KNOWN
			{ 0 },
	};
	int code;

	while ((code = getopt_long(argc, argv, "", known, NULL)) != -1)
		take_option(code, optarg);
	if (optind < argc)
		misused("too much", argv[optind]);
	if (options.free_running &&
	    (options.threads != 2 || options.comms != 2))
		misused("--free needs --threads 2 --comms 2", NULL);
}

int main(int argc, char **argv)
{
	/* Line buffered: both ranks write whole lines to one file. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	take_options(argc, argv);
	return pair_run(work, options.patience_s, options.at_end);
}
