/* SPDX-License-Identifier: MIT */
/* Back-to-back calls of one function by two ranks, timed in two ways. Each
 * repetition prints a line:
 *
 *   bytes N calls N us X busbw X gpu_us X gpu_busbw X
 *
 * The first are those of nccl-tests: a warm-up, one call more and a wait; then the
 * host's clock from the first of N calls until the GPU has done the last one, through
 * buffers that move on from call to call. Where launching takes longer than the
 * calls, that is what they tell. The second are between two events on the stream,
 * of calls that are queued behind some long ones, so that the GPU never waits for
 * the host.
 *
 * Either a process for each GPU, or one process that calls for both GPUs in a group,
 * as nccl-tests does with -g 2. With two communicators calls alternate between them,
 * each on its own stream. Host code only; sums are not checked. The exit status is
 * 0, 1 after an error, 2 after a wrong option, 124 when it took too long. Must not
 * know ncclstat.
 */
#include "test/gpu/check.h"
#include "test/gpu/pair.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nccl.h>

#define USAGE 2
#define MAX_COMMS 2
#define MAX_SIZES 16
/* Long calls while whose time the host launches the others; and how many of these,
 * which is less than a stream's queue holds. */
#define AHEAD 8
#define QUEUED 200

struct size {
	size_t bytes;
	unsigned calls;
};

/* One GPU's part of a communicator. */
struct end {
	int device;
	ncclComm_t comm;
	cudaStream_t stream;
	char *in;
	char *out;
};

typedef void call_function(const struct end *end, const char *in, char *out,
			   size_t count);

/* Options. */
static struct size sizes[MAX_SIZES];
static unsigned size_count;
static unsigned repeat = 1;
static unsigned warm_up = 5;
static const char *turns;
static unsigned comm_count = 1;
static unsigned patience_s = 120;
static bool one_process;
static const char *at_end;

/* The ends of this process, those of a communicator side by side. */
static struct end ends[MAX_COMMS][PAIR_SIZE];
static unsigned ends_of_comm;

/* --- Functions ----------------------------------------------------------- */

static void all_reduce(const struct end *end, const char *in, char *out,
		       size_t count)
{
	NCCL(ncclAllReduce(in, out, count, ncclFloat, ncclSum, end->comm,
			   end->stream));
}

static void all_gather(const struct end *end, const char *in, char *out,
		       size_t count)
{
	NCCL(ncclAllGather(in, out, count / PAIR_SIZE, ncclFloat, end->comm,
			   end->stream));
}

static void reduce_scatter(const struct end *end, const char *in, char *out,
			   size_t count)
{
	NCCL(ncclReduceScatter(in, out, count / PAIR_SIZE, ncclFloat, ncclSum,
			       end->comm, end->stream));
}

static void broadcast(const struct end *end, const char *in, char *out,
		      size_t count)
{
	NCCL(ncclBroadcast(in, out, count, ncclFloat, 0, end->comm,
			   end->stream));
}

static void all_to_all(const struct end *end, const char *in, char *out,
		       size_t count)
{
	size_t part = count / PAIR_SIZE;

	NCCL(ncclGroupStart());
	for (int peer = 0; peer < PAIR_SIZE; peer++) {
		size_t offset = (size_t)peer * part * sizeof(float);

		NCCL(ncclSend(in + offset, part, ncclFloat, peer, end->comm,
			      end->stream));
		NCCL(ncclRecv(out + offset, part, ncclFloat, peer, end->comm,
			      end->stream));
	}
	NCCL(ncclGroupEnd());
}

static void send_recv(const struct end *end, const char *in, char *out,
		      size_t count)
{
	int rank;

	NCCL(ncclCommUserRank(end->comm, &rank));
	NCCL(ncclGroupStart());
	NCCL(ncclSend(in, count, ncclFloat, 1 - rank, end->comm, end->stream));
	NCCL(ncclRecv(out, count, ncclFloat, 1 - rank, end->comm,
		      end->stream));
	NCCL(ncclGroupEnd());
}

/* Factors of busbw for two ranks. */
static const struct function {
	const char *name;
	call_function *call;
	double factor;
} functions[] = {
	{ "AllReduce", all_reduce, 1.0 },
	{ "AllGather", all_gather, 0.5 },
	{ "ReduceScatter", reduce_scatter, 0.5 },
	{ "Broadcast", broadcast, 1.0 },
	{ "AlltoAll", all_to_all, 0.5 },
	{ "SendRecv", send_recv, 1.0 },
};

static const struct function *function = &functions[0];

/* --- Calls --------------------------------------------------------------- */

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static size_t longest(void)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < size_count; i++)
		if (sizes[i].bytes > bytes)
			bytes = sizes[i].bytes;
	return bytes;
}

static void call_once(unsigned comm, size_t bytes, unsigned number)
{
	size_t places = longest() / bytes;
	size_t offset = bytes * (number % places);

	if (ends_of_comm > 1)
		NCCL(ncclGroupStart());
	for (unsigned i = 0; i < ends_of_comm; i++) {
		const struct end *end = &ends[comm][i];

		if (ends_of_comm > 1)
			CUDA(cudaSetDevice(end->device));
		function->call(end, end->in + offset, end->out + offset,
			       bytes / sizeof(float));
	}
	if (ends_of_comm > 1)
		NCCL(ncclGroupEnd());
}

static void call_often(size_t bytes, unsigned calls)
{
	for (unsigned i = 0; i < calls; i++)
		call_once(i % comm_count, bytes, i);
}

static void finish(void)
{
	for (unsigned comm = 0; comm < comm_count; comm++)
		for (unsigned i = 0; i < ends_of_comm; i++) {
			CUDA(cudaSetDevice(ends[comm][i].device));
			CUDA(cudaStreamSynchronize(ends[comm][i].stream));
		}
}

/* Return microseconds a call. */
static double time_by_host(const struct size *size)
{
	double begin_us;

	/* After these calls both ranks are at the same place. */
	call_often(size->bytes, comm_count);
	finish();
	begin_us = now_us();
	call_often(size->bytes, size->calls);
	finish();
	return (now_us() - begin_us) / size->calls;
}

static double time_by_gpu(const struct size *size)
{
	const struct end *first = &ends[0][0];
	unsigned calls = size->calls < QUEUED ? size->calls : QUEUED;
	cudaEvent_t start;
	cudaEvent_t stop;
	float ms;

	CUDA(cudaSetDevice(first->device));
	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));
	call_often(longest(), AHEAD);
	CUDA(cudaSetDevice(first->device));
	CUDA(cudaEventRecord(start, first->stream));
	call_often(size->bytes, calls);
	CUDA(cudaSetDevice(first->device));
	CUDA(cudaEventRecord(stop, first->stream));
	finish();
	CUDA(cudaEventElapsedTime(&ms, start, stop));
	CUDA(cudaEventDestroy(start));
	CUDA(cudaEventDestroy(stop));
	return (double)ms * 1e3 / calls;
}

static double busbw(size_t bytes, double us)
{
	return (double)bytes / us / 1e3 * function->factor;
}

static void time_calls(const struct size *size)
{
	double us = time_by_host(size);
	double gpu_us = time_by_gpu(size);

	if (own_rank == 0)
		printf("bytes %zu calls %u us %.3f busbw %.3f gpu_us %.3f "
		       "gpu_busbw %.3f\n",
		       size->bytes, size->calls, us, busbw(size->bytes, us),
		       gpu_us, busbw(size->bytes, gpu_us));
}

static void bench(void)
{
	call_often(sizes[size_count - 1].bytes, warm_up);
	finish();
	call_often(sizes[0].bytes, warm_up);
	finish();
	for (unsigned i = 0; i < size_count; i++)
		for (unsigned k = 0; k < repeat; k++)
			time_calls(&sizes[i]);
}

/* --- Plugins in turn ----------------------------------------------------- */

/* Returns a function of the plugin that lets others take turns
 * (test/bench/turns_plugin.c). */
static void *turns_function(const char *name)
{
	void *library = dlopen(turns, RTLD_NOW);
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "bench: %s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	return found;
}

/* Each turn times calls of each size, again and again, and prints
 *
 *   turn N bytes N us X
 *
 * Turns begin with another one each time, so that none is always the first. */
static void bench_turns(void)
{
	unsigned (*count)(void);
	void (*take)(unsigned number);

	*(void **)&count = turns_function("turns_count");
	*(void **)&take = turns_function("turns_take");
	call_often(sizes[0].bytes, warm_up);
	finish();
	for (unsigned k = 0; k < repeat; k++)
		for (unsigned i = 0; i < count(); i++) {
			unsigned turn = (i + k) % count();

			take(turn);
			for (unsigned j = 0; j < size_count; j++) {
				double us = time_by_host(&sizes[j]);

				if (own_rank == 0)
					printf("turn %u bytes %zu us %.3f\n",
					       turn, sizes[j].bytes, us);
			}
		}
	take(0);
}

/* --- A process ----------------------------------------------------------- */

static void open_end(struct end *end, int device)
{
	end->device = device;
	CUDA(cudaSetDevice(device));
	CUDA(cudaStreamCreateWithFlags(&end->stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc((void **)&end->in, longest()));
	CUDA(cudaMalloc((void **)&end->out, longest()));
	CUDA(cudaMemset(end->in, 0, longest()));
}

static void close_ends(void)
{
	for (unsigned comm = 0; comm < comm_count; comm++)
		for (unsigned i = 0; i < ends_of_comm; i++)
			NCCL(ncclCommFinalize(ends[comm][i].comm));
	for (unsigned comm = 0; comm < comm_count; comm++)
		for (unsigned i = 0; i < ends_of_comm; i++)
			NCCL(ncclCommDestroy(ends[comm][i].comm));
}

static int work_of_both(int unused)
{
	int devices[PAIR_SIZE] = { 0, 1 };

	(void)unused;
	ends_of_comm = PAIR_SIZE;
	say_versions();
	for (unsigned comm = 0; comm < comm_count; comm++) {
		ncclComm_t comms[PAIR_SIZE];

		NCCL(ncclCommInitAll(comms, PAIR_SIZE, devices));
		for (int i = 0; i < PAIR_SIZE; i++) {
			open_end(&ends[comm][i], i);
			ends[comm][i].comm = comms[i];
		}
	}
	turns ? bench_turns() : bench();
	if (at_end && system(at_end) != 0)
		fprintf(stderr, "at the end: this failed: %s\n", at_end);
	close_ends();
	return EXIT_SUCCESS;
}

static int work_of_rank(int rank)
{
	ncclUniqueId ids[MAX_COMMS];
	int gpus;

	own_rank = rank;
	ends_of_comm = 1;
	CUDA(cudaGetDeviceCount(&gpus));
	if (gpus < PAIR_SIZE)
		pretend_two_nodes();
	if (rank == 0) {
		say_versions();
		for (unsigned i = 0; i < MAX_COMMS; i++)
			NCCL(ncclGetUniqueId(&ids[i]));
	}
	LIBC(pair_share(ids, sizeof(ids)));
	for (unsigned comm = 0; comm < comm_count; comm++) {
		open_end(&ends[comm][0], rank % gpus);
		NCCL(ncclCommInitRank(&ends[comm][0].comm, PAIR_SIZE, ids[comm],
				      rank));
	}
	turns ? bench_turns() : bench();
	LIBC(pair_meet());
	close_ends();
	return EXIT_SUCCESS;
}

/* --- Options ------------------------------------------------------------- */

static const char usage[] =
	"usage: bench [OPTION]... BYTES:CALLS...\n"
	"  --function F      AllReduce, AllGather, ReduceScatter, Broadcast,\n"
	"                    AlltoAll or SendRecv; AllReduce\n"
	"  --one-process     one process has both GPUs\n"
	"  --comms 2         calls alternate between two communicators\n"
	"  --warm-up N       calls of the last and of the first size; 5\n"
	"  --repeat N        lines a size; 1\n"
	"  --turns SO        the plugin that lets others take turns\n"
	"  --patience S      seconds before it is called hung; 120\n"
	"  --at-end COMMAND  run when all is done, before the ranks leave\n";

static _Noreturn void misused(const char *what, const char *value)
{
	fprintf(stderr, "bench: %s: %s\n%s", what, value, usage);
	exit(USAGE);
}

static unsigned number(const char *text, unsigned most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || value > most)
		misused("not a number in its range", text);
	return (unsigned)value;
}

static void add_size(const char *text)
{
	struct size size;

	if (size_count == MAX_SIZES ||
	    sscanf(text, "%zu:%u", &size.bytes, &size.calls) != 2 ||
	    size.bytes < sizeof(float) * PAIR_SIZE || size.calls == 0)
		misused("not BYTES:CALLS, or too many", text);
	sizes[size_count++] = size;
}

static void set_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strcmp(functions[i].name, name) == 0) {
			function = &functions[i];
			return;
		}
	misused("not a function", name);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "function", required_argument, NULL, 'f' },
		{ "one-process", no_argument, NULL, 'o' },
		{ "comms", required_argument, NULL, 'c' },
		{ "warm-up", required_argument, NULL, 'w' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "turns", required_argument, NULL, 't' },
		{ "patience", required_argument, NULL, 'p' },
		{ "at-end", required_argument, NULL, 'e' },
		{ 0 },
	};
	int code;

	/* Line buffered: both ranks write whole lines to one file. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((code = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (code) {
		case 'f':
			set_function(optarg);
			break;
		case 'o':
			one_process = true;
			break;
		case 'c':
			comm_count = number(optarg, MAX_COMMS);
			break;
		case 'w':
			warm_up = number(optarg, 1000000);
			break;
		case 'r':
			repeat = number(optarg, 100000);
			break;
		case 't':
			turns = optarg;
			break;
		case 'p':
			patience_s = number(optarg, 86400);
			break;
		case 'e':
			at_end = optarg;
			break;
		default:
			misused("an option that it does not have", argv[optind - 1]);
		}
	for (int i = optind; i < argc; i++)
		add_size(argv[i]);
	if (size_count == 0)
		misused("no BYTES:CALLS", "");
	return one_process ? work_of_both(0) :
			     pair_run(work_of_rank, patience_s, at_end);
}
