/* SPDX-License-Identifier: MIT */
/* AllReduces by two ranks: measures what a call costs, and whether graphs hang.
 *
 *   allreduce bench   times back-to-back calls by CUDA events and by the host's
 *                     clock, one line for each repetition
 *   allreduce graph   captures calls into graphs, mixes their replays with
 *                     eager calls at random, and checks the sums
 *
 * Host code only. Both ranks draw the same random numbers, so they make the same
 * calls in the same order. The exit status is 0, or 1 after an error (each call
 * is checked), 2 after a wrong option, 124 when it took too long. Must not know
 * ncclstat: the environment decides which plugin NCCL loads.
 */
#include "test/gpu/pair.h"

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nccl.h>

#define USAGE 2
#define MAX_ENDPOINTS 2
#define MAX_SIZES 16
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

struct size {
	size_t bytes;
	unsigned calls;
};

/* X(field, name on the command line, default, least, most) */
#define NUMBERS(X) \
	X(repeat, "repeat", 21, 1, 100000) \
	X(eager_before, "eager-before", 1200, 0, 10000000) \
	X(captured, "captured", 4, 1, MAX_CAPTURED) \
	X(graphs, "graphs", 2, 1, MAX_GRAPHS) \
	X(replays, "replays", 50, 0, 1000000) \
	X(threads, "threads", 1, 1, 2) \
	X(comms, "comms", 1, 1, MAX_ENDPOINTS) \
	X(seed, "seed", 0, 0, UINT32_MAX) \
	X(patience_s, "patience", 60, 1, 86400)

static struct {
	bool bench;
	struct size sizes[MAX_SIZES];
	unsigned size_count;
	bool free_running;
	bool shared;
	const char *at_end;
#define FIELD(field, name, normal, least, most) unsigned field;
	NUMBERS(FIELD)
#undef FIELD
} options = {
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

static int own_rank;
static struct endpoint all_endpoints[MAX_ENDPOINTS];

/* --- Checks -------------------------------------------------------------- */

#define CUDA(call) \
	do { \
		cudaError_t error_ = (call); \
		if (error_ != cudaSuccess) \
			give_up(__LINE__, #call, cudaGetErrorString(error_)); \
	} while (0)

#define NCCL(call) \
	do { \
		ncclResult_t error_ = (call); \
		if (error_ != ncclSuccess) \
			give_up(__LINE__, #call, ncclGetErrorString(error_)); \
	} while (0)

#define LIBC(call) \
	do { \
		int error_ = (call); \
		if (error_ != 0) \
			give_up(__LINE__, #call, strerror(abs(error_))); \
	} while (0)

static _Noreturn void give_up(int line, const char *what, const char *why)
{
	fprintf(stderr, "rank %d: line %d: %s: %s\n", own_rank, line, what,
		why);
	/* No clean-up, which could hang; the parent ends the other rank. */
	_exit(EXIT_FAILURE);
}

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

static void fetch_results(const struct endpoint *endpoint, size_t elements)
{
	CUDA(cudaMemcpyAsync(endpoint->host, endpoint->out,
			     elements * sizeof(float), cudaMemcpyDeviceToHost,
			     endpoint->stream));
	CUDA(cudaStreamSynchronize(endpoint->stream));
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

/* With two endpoints, calls on the other one while this one is captured. */
static void call_beside(struct scenario *play, const struct endpoint *captured)
{
	if (play->endpoint_count == 1 || !one_in(&play->random, 2))
		return;
	call_eagerly(play,
		     &play->endpoints[captured == play->endpoints ? 1 : 0]);
}

static void capture(struct scenario *play, struct endpoint *endpoint)
{
	struct captured_graph *graph =
		&endpoint->graphs[endpoint->graph_count++];

	/* Relaxed: the other thread may add calls to the graph, and may call
	 * CUDA. */
	CUDA(cudaStreamBeginCapture(endpoint->stream,
				    cudaStreamCaptureModeRelaxed));
	for (unsigned i = 0; i < options.captured; i++) {
		graph->elements[i] = any_size(play);
		all_reduce(play, endpoint, graph->elements[i],
			   endpoint->out + i * SLICE_ELEMENTS);
		call_beside(play, endpoint);
	}
	CUDA(cudaStreamEndCapture(endpoint->stream, &graph->graph));
	CUDA(cudaGraphInstantiateWithFlags(&graph->exec, graph->graph, 0));
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
	CUDA(cudaStreamSynchronize(endpoint->stream));
	for (unsigned i = 0; i < endpoint->graph_count; i++) {
		CUDA(cudaGraphExecDestroy(endpoint->graphs[i].exec));
		CUDA(cudaGraphDestroy(endpoint->graphs[i].graph));
	}
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

/* --- What a call costs --------------------------------------------------- */

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void call_often(const struct endpoint *endpoint, size_t bytes,
		       unsigned calls)
{
	struct planned_call call = { .endpoint = endpoint,
				     .elements = bytes / sizeof(float),
				     .out = endpoint->out };

	for (unsigned i = 0; i < calls; i++)
		make_call(&call);
}

static void time_calls(const struct endpoint *endpoint, const struct size *size,
		       cudaEvent_t start, cudaEvent_t stop)
{
	double begin_us;
	float gpu_ms;

	/* After this call both ranks are at the same place. */
	call_often(endpoint, size->bytes, 1);
	begin_us = now_us();
	CUDA(cudaEventRecord(start, endpoint->stream));
	call_often(endpoint, size->bytes, size->calls);
	CUDA(cudaEventRecord(stop, endpoint->stream));
	CUDA(cudaEventSynchronize(stop));
	begin_us = now_us() - begin_us;
	CUDA(cudaEventElapsedTime(&gpu_ms, start, stop));
	if (own_rank == 0)
		printf("bytes %zu calls %u gpu_us %.3f host_us %.3f\n",
		       size->bytes, size->calls,
		       (double)gpu_ms * 1e3 / size->calls,
		       begin_us / size->calls);
}

static size_t longest(void)
{
	size_t bytes = sizeof(float);

	for (unsigned i = 0; i < options.size_count; i++)
		if (options.sizes[i].bytes > bytes)
			bytes = options.sizes[i].bytes;
	return bytes;
}

static void bench(void)
{
	const struct endpoint *endpoint = &all_endpoints[0];
	size_t elements = longest() / sizeof(float);
	cudaEvent_t start;
	cudaEvent_t stop;

	open_endpoints(1, elements, elements);
	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));
	call_often(endpoint, options.sizes[0].bytes, options.eager_before);
	for (unsigned i = 0; i < options.size_count; i++) {
		forget_results(endpoint, elements);
		for (unsigned k = 0; k < options.repeat; k++)
			time_calls(endpoint, &options.sizes[i], start, stop);
		fetch_results(endpoint, elements);
		expect_sums(endpoint->host,
			    options.sizes[i].bytes / sizeof(float));
	}
	LIBC(pair_meet());
	CUDA(cudaEventDestroy(start));
	CUDA(cudaEventDestroy(stop));
	close_endpoints(1);
}

/* --- A rank -------------------------------------------------------------- */

/* Makes NCCL take two processes on one GPU for two nodes, as it refuses them
 * otherwise; every byte then goes through a socket. */
static void pretend_two_nodes(void)
{
	setenv("NCCL_HOSTID", own_rank == 0 ? "host0" : "host1", 1);
	setenv("NCCL_SOCKET_IFNAME", "lo", 1);
	setenv("NCCL_NET", "Socket", 1);
	setenv("NCCL_IB_DISABLE", "1", 1);
}

static void say_versions(void)
{
	struct cudaDeviceProp properties;
	int version;

	NCCL(ncclGetVersion(&version));
	CUDA(cudaGetDeviceProperties(&properties, own_device()));
	printf("nccl %d.%d.%d on %s\n", version / 10000, version / 100 % 100,
	       version % 100, properties.name);
}

static int work(int rank)
{
	own_rank = rank;
	if (options.shared)
		pretend_two_nodes();
	CUDA(cudaSetDevice(own_device()));
	if (rank == 0)
		say_versions();
	if (options.bench)
		bench();
	else
		graphs();
	printf("rank %d: OK\n", rank);
	return EXIT_SUCCESS;
}

/* --- Options ------------------------------------------------------------- */

static const char usage[] =
	"usage: allreduce bench --bytes N [--calls K] ... [--repeat R]\n"
	"       allreduce graph [--captured C] [--graphs G] [--replays R]\n"
	"           [--threads 1|2] [--comms 1|2] [--free] [--seed S]\n"
	"  --bytes N         a size to time; may be repeated\n"
	"  --calls K         calls in a row, of the size before it; 1000\n"
	"  --repeat R        lines a size; 21\n"
	"  --captured C      calls in a graph, at most 32; 4\n"
	"  --graphs G        graphs, at most 8, one captured after another; 2\n"
	"  --replays R       replays after each capture; 50\n"
	"  --threads 2       a second thread makes half of the calls, in turn\n"
	"  --comms 2         two communicators; a graph on each\n"
	"  --free            with 2 and 2: a thread for each communicator, and\n"
	"                    neither waits for the other\n"
	"  --seed S          of the random choices; 0\n"
	"both:\n"
	"  --eager-before E  calls before all else; 1200\n"
	"  --shared          both ranks on one GPU, a socket between them\n"
	"  --patience S      seconds before it is called hung; 60\n"
	"  --at-end COMMAND  run when both ranks are done, before they leave\n";

static _Noreturn void misused(const char *what, const char *value)
{
	fprintf(stderr, "allreduce: %s%s%s\n%s", what, value ? ": " : "",
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

static void add_size(const char *text)
{
	if (options.size_count == MAX_SIZES)
		misused("too many sizes", text);
	options.sizes[options.size_count++] = (struct size){
		.bytes = number(text, sizeof(float), (unsigned long)1 << 32),
		.calls = 1000,
	};
}

static void set_calls(const char *text)
{
	if (options.size_count == 0)
		misused("--calls without --bytes before it", NULL);
	options.sizes[options.size_count - 1].calls =
		(unsigned)number(text, 1, 1000000);
}

enum option_code {
	OPTION_BYTES = 1,
	OPTION_CALLS,
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
	case OPTION_BYTES:
		add_size(value);
		break;
	case OPTION_CALLS:
		set_calls(value);
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
		{ "bytes", required_argument, NULL, OPTION_BYTES },
		{ "calls", required_argument, NULL, OPTION_CALLS },
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

	if (argc < 2 || (strcmp(argv[1], "bench") && strcmp(argv[1], "graph")))
		misused("bench or graph?", NULL);
	options.bench = strcmp(argv[1], "bench") == 0;
	optind = 2;
	while ((code = getopt_long(argc, argv, "", known, NULL)) != -1)
		take_option(code, optarg);
	if (optind < argc)
		misused("too much", argv[optind]);
	if (options.bench && options.size_count == 0)
		misused("bench needs --bytes", NULL);
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
