/* SPDX-License-Identifier: MIT */
/* Collectives of two GPUs through buffers that NCCL may take for symmetric: by its
 * symmetric kernels, or, with --copy, by copy engines. Prints what a call takes,
 * which is timed by CUDA events around calls that are queued behind one another:
 *
 *   rank N function NAME bytes N us X right
 *
 * With --plain the buffers are ordinary ones. With --graph the calls are captured
 * and replayed. Sums are checked. The exit status is that of bench.c. Must not know
 * ncclstat.
 */
#include "test/gpu/check.h"
#include "test/gpu/pair.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <nccl.h>

#define USAGE 2
#define CALLS 50

/* Options. */
static bool copies, is_plain, captures;
static unsigned rounds = 5;
static const char *at_end;

static cudaStream_t stream;
static ncclComm_t comm;
static float *in, *out;

/* Elements of each rank's part. */
static const size_t counts[] = { 256, 1 << 18, 1 << 22 };
#define COUNT_MAX (1 << 22)

typedef ncclResult_t call_function(size_t count);

static ncclResult_t all_reduce(size_t count)
{
	return ncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, stream);
}

static ncclResult_t all_gather(size_t count)
{
	return ncclAllGather(in, out, count, ncclFloat, comm, stream);
}

static ncclResult_t reduce_scatter(size_t count)
{
	return ncclReduceScatter(in, out, count, ncclFloat, ncclSum, comm,
				 stream);
}

static ncclResult_t all_to_all(size_t count)
{
	return ncclAlltoAll(in, out, count, ncclFloat, comm, stream);
}

static const struct {
	const char *name;
	call_function *call;
	/* The first element of the result, where all elements of rank r are
	 * r + 1. */
	float first;
} functions[] = {
	{ "AllReduce", all_reduce, 3 },
	{ "AllGather", all_gather, 1 },
	{ "ReduceScatter", reduce_scatter, 3 },
	{ "AlltoAll", all_to_all, 1 },
};

static float *allocate(void)
{
	size_t bytes = 2 * COUNT_MAX * sizeof(float);
	void *memory;

	if (is_plain) {
		CUDA(cudaMalloc(&memory, bytes));
		return memory;
	}
	NCCL(ncclMemAlloc(&memory, bytes));
	NCCL(ncclCommWindowRegister(comm, memory, bytes,
				    &(ncclWindow_t){ NULL },
				    NCCL_WIN_COLL_SYMMETRIC));
	return memory;
}

static void open_comm(void)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id;
	float *host;

	CUDA(cudaSetDevice(own_rank));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	if (own_rank == 0) {
		say_versions();
		NCCL(ncclGetUniqueId(&id));
	}
	LIBC(pair_share(&id, sizeof(id)));
	if (copies)
		config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
	NCCL(ncclCommInitRankConfig(&comm, PAIR_SIZE, id, own_rank, &config));
	in = allocate();
	out = allocate();
	host = malloc(2 * COUNT_MAX * sizeof(*host));
	if (!host)
		give_up(__LINE__, "malloc", "no memory");
	for (size_t i = 0; i < 2 * COUNT_MAX; i++)
		host[i] = (float)own_rank + 1;
	CUDA(cudaMemcpy(in, host, 2 * COUNT_MAX * sizeof(*host),
			cudaMemcpyHostToDevice));
	free(host);
}

static void make_calls(call_function *call, size_t count)
{
	for (unsigned i = 0; i < CALLS; i++)
		NCCL(call(count));
}

/* Returns the time of a call in us. */
static double measure(call_function *call, size_t count)
{
	cudaGraphExec_t graph = NULL;
	cudaEvent_t begin, end;
	float ms;

	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	make_calls(call, count);
	if (captures) {
		cudaGraph_t captured;

		CUDA(cudaStreamBeginCapture(stream,
					    cudaStreamCaptureModeThreadLocal));
		make_calls(call, count);
		CUDA(cudaStreamEndCapture(stream, &captured));
		CUDA(cudaGraphInstantiate(&graph, captured, 0));
	}
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaEventRecord(begin, stream));
	for (unsigned i = 0; i < rounds; i++)
		if (captures)
			CUDA(cudaGraphLaunch(graph, stream));
		else
			make_calls(call, count);
	CUDA(cudaEventRecord(end, stream));
	CUDA(cudaEventSynchronize(end));
	CUDA(cudaEventElapsedTime(&ms, begin, end));
	if (graph)
		CUDA(cudaGraphExecDestroy(graph));
	return ms * 1e3 / (rounds * CALLS);
}

static int work(int rank)
{
	int wrong = 0;

	own_rank = rank;
	open_comm();
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
			double us = measure(functions[i].call, counts[k]);
			float first;

			CUDA(cudaMemcpy(&first, out, sizeof(first),
					cudaMemcpyDeviceToHost));
			wrong += first != functions[i].first;
			printf("rank %d function %s bytes %zu us %.2f %s\n",
			       rank, functions[i].name,
			       counts[k] * sizeof(float), us,
			       first == functions[i].first ? "right" : "wrong");
		}
	LIBC(pair_meet());
	fflush(stdout);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "copy", no_argument, NULL, 'c' },
		{ "plain", no_argument, NULL, 'p' },
		{ "graph", no_argument, NULL, 'g' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "at-end", required_argument, NULL, 'x' },
		{ 0 },
	};
	int code;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((code = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (code) {
		case 'c':
			copies = true;
			break;
		case 'p':
			is_plain = true;
			break;
		case 'g':
			captures = true;
			break;
		case 'r':
			rounds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'x':
			at_end = optarg;
			break;
		default:
			return USAGE;
		}
	return pair_run(work, 120, at_end);
}
