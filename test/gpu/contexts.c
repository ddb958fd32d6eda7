/* SPDX-License-Identifier: MIT */
/* The plugin in a process that makes and destroys CUDA contexts, or resets its
 * devices, in each order with communicators.
 *
 * The program is NCCL for the plugin, with the real driver: NCCL itself launches
 * in primary contexts only, at least since 2.28. A round makes a communicator,
 * plays launches around work on a stream of the context, and destroys the context
 * before or after it finalizes the communicator, or never finalizes it. A thread
 * a device. Must not know the plugin's insides.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include "plugin/nccl/nccl_abi.h"
#include "test/gpu/check.h"

#define DEVICES_MOST 8
#define CALLS 20
#define BYTES ((size_t)256 << 20) /* some 0.1 ms of work */

/* --- The driver ------------------------------------------------------------ */

#define DRIVER(X) \
	X(cuInit, (unsigned)) \
	X(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice)) \
	X(cuCtxDestroy_v2, (CUcontext)) \
	X(cuCtxSetCurrent, (CUcontext)) \
	X(cuCtxSynchronize, (void)) \
	X(cuMemAlloc_v2, (CUdeviceptr *, size_t)) \
	X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream)) \
	X(cuStreamCreate, (CUstream *, unsigned))

/* Green contexts, which a driver may lack. */
#define GREEN_DRIVER(X) \
	X(cuCtxFromGreenCtx, (CUcontext *, CUgreenCtx)) \
	X(cuDeviceGetDevResource, \
	  (CUdevice, CUdevResource *, CUdevResourceType)) \
	X(cuDevSmResourceSplitByCount, \
	  (CUdevResource *, unsigned *, const CUdevResource *, \
	   CUdevResource *, unsigned, unsigned)) \
	X(cuDevResourceGenerateDesc, \
	  (CUdevResourceDesc *, CUdevResource *, unsigned)) \
	X(cuGreenCtxCreate, \
	  (CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned)) \
	X(cuGreenCtxStreamCreate, (CUstream *, CUgreenCtx, unsigned, int)) \
	X(cuGreenCtxDestroy, (CUgreenCtx))

static struct {
#define X(name, parameters) CUresult(*name) parameters;
	DRIVER(X)
	GREEN_DRIVER(X)
#undef X
} driver;
static bool has_green = true;

static void find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		give_up(__LINE__, "libcuda.so.1", dlerror());
#define FIND(name) (*(void **)&driver.name = dlsym(library, #name))
#define X(name, parameters) \
	if (!FIND(name)) \
		give_up(__LINE__, #name, "the driver has none");
	DRIVER(X)
#undef X
#define X(name, parameters) has_green = FIND(name) && has_green;
	GREEN_DRIVER(X)
#undef X
#undef FIND
	if (!has_green)
		puts("the driver has no green contexts");
}

#define DRIVE(call) \
	do { \
		CUresult error_ = driver.call; \
		char text_[16]; \
		snprintf(text_, sizeof(text_), "%d", (int)error_); \
		if (error_ != CUDA_SUCCESS) \
			give_up(__LINE__, #call, text_); \
	} while (0)

/* --- A round ---------------------------------------------------------------- */

#define KINDS(X) \
	X(OWN, "own") X(GREEN, "green") X(RESET, "reset") X(PRIMARY, "primary")
#define ENDINGS(X) \
	X(BEFORE, "finalized before") \
	X(AFTER, "finalized after") X(NEVER, "never finalized")

#define X(ID, name) ID,
enum kind { KINDS(X) KIND_COUNT };
enum ending { ENDINGS(X) ENDING_COUNT };
#undef X
#define X(ID, name) name,
static const char *const kind_names[] = { KINDS(X) };
static const char *const ending_names[] = { ENDINGS(X) };
#undef X

struct round {
	enum kind kind;
	enum ending ending;
	bool pending;    /* work, when the context is destroyed */
	bool comm_first; /* the communicator is older than the context */
	bool at_once;    /* the plugin's thread gets no time */
	CUcontext context;
	CUgreenCtx green;
	CUstream stream;
	CUdeviceptr data;
	void *comm;
};

static const struct nccl_profiler *plugin;
static int activation_mask;

static void open_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	plugin = library ? dlsym(library, "ncclProfiler_v5") : NULL;
	if (!plugin)
		give_up(__LINE__, path, dlerror());
}

static void use_primary(int device)
{
	CUDA(cudaSetDevice(device));
	CUDA(cudaFree(NULL));
}

static void make_green(struct round *round, int device)
{
	CUdevResource all, part, rest;
	CUdevResourceDesc description;
	unsigned parts = 1;

	DRIVE(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
	DRIVE(cuDevSmResourceSplitByCount(&part, &parts, &all, &rest, 0, 32));
	DRIVE(cuDevResourceGenerateDesc(&description, &part, 1));
	DRIVE(cuGreenCtxCreate(&round->green, description, device,
			       CU_GREEN_CTX_DEFAULT_STREAM));
	DRIVE(cuCtxFromGreenCtx(&round->context, round->green));
	DRIVE(cuCtxSetCurrent(round->context));
	DRIVE(cuGreenCtxStreamCreate(&round->stream, round->green,
				     CU_STREAM_NON_BLOCKING, 0));
}

static void make_context(struct round *round, int device)
{
	if (round->kind == OWN)
		DRIVE(cuCtxCreate_v2(&round->context, 0, device));
	else
		use_primary(device);
	if (round->kind == GREEN)
		make_green(round, device);
	else
		DRIVE(cuStreamCreate(&round->stream, CU_STREAM_NON_BLOCKING));
	DRIVE(cuMemAlloc_v2(&round->data, BYTES));
}

static void make_comm(struct round *round, unsigned number)
{
	if (plugin->init.v5(&round->comm, number, &activation_mask, "contexts", 1,
			 1, 0, NULL) != NCCL_SUCCESS)
		give_up(__LINE__, "init", "failed");
}

static void launch(struct round *round)
{
	struct nccl_event_descr_v5 event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.kernel_launch.stream = round->stream,
	};
	void *handle = NULL;

	plugin->start_event(round->comm, &handle, &event);
	DRIVE(cuMemsetD8Async(round->data, 1, BYTES, round->stream));
	plugin->stop_event(handle);
}

static void finalize(struct round *round)
{
	if (plugin->finalize(round->comm) != NCCL_SUCCESS)
		give_up(__LINE__, "finalize", "failed");
}

static void destroy_context(struct round *round)
{
	if (round->kind == OWN)
		DRIVE(cuCtxDestroy_v2(round->context));
	else if (round->kind == GREEN)
		DRIVE(cuGreenCtxDestroy(round->green));
	else if (round->kind == RESET)
		CUDA(cudaDeviceReset());
	if (round->context)
		DRIVE(cuCtxSetCurrent(NULL));
}

static void let_look(const struct round *round)
{
	if (!round->at_once)
		usleep(60000);
}

static void play(struct round *round, int device, unsigned number)
{
	if (round->comm_first)
		make_comm(round, number);
	make_context(round, device);
	if (!round->comm_first)
		make_comm(round, number);
	for (int i = 0; i < CALLS; i++)
		launch(round);
	let_look(round);
	if (!round->pending)
		DRIVE(cuCtxSynchronize());
	if (round->ending == BEFORE)
		finalize(round);
	destroy_context(round);
	/* In use again: handles of before would be dangerous. */
	if (!round->at_once)
		use_primary(device);
	if (round->ending == AFTER)
		finalize(round);
	let_look(round);
}

/* --- The program ------------------------------------------------------------ */

static unsigned rounds;

static struct round nth_round(unsigned i)
{
	struct round round = {
		.kind = i % KIND_COUNT,
		.ending = i / KIND_COUNT % ENDING_COUNT,
		.pending = i / (KIND_COUNT * ENDING_COUNT) % 2,
		.comm_first = i / (KIND_COUNT * ENDING_COUNT * 2) % 2,
		.at_once = i / (KIND_COUNT * ENDING_COUNT * 4) % 2,
	};

	if (round.kind == GREEN && !has_green)
		round.kind = OWN;
	return round;
}

static void *play_all(void *argument)
{
	int device = (int)(intptr_t)argument;

	for (unsigned i = 0; i < rounds; i++) {
		struct round round = nth_round(i);

		printf("device %d: round %u: %s, %s%s%s%s\n", device, i,
		       kind_names[round.kind], ending_names[round.ending],
		       round.pending ? ", pending" : "",
		       round.comm_first ? ", communicator first" : "",
		       round.at_once ? ", at once" : "");
		play(&round, device, i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[DEVICES_MOST];
	int devices;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4) {
		fputs("usage: contexts PLUGIN ROUNDS AT-END-COMMAND\n", stderr);
		return 64;
	}
	rounds = (unsigned)strtoul(argv[2], NULL, 10);
	find_driver();
	DRIVE(cuInit(0));
	open_plugin(argv[1]);
	CUDA(cudaGetDeviceCount(&devices));
	if (devices > DEVICES_MOST)
		devices = DEVICES_MOST;
	for (intptr_t i = 0; i < devices; i++)
		LIBC(pthread_create(&threads[i], NULL, play_all, (void *)i));
	for (int i = 0; i < devices; i++)
		pthread_join(threads[i], NULL);
	if (system(argv[3]) != 0)
		give_up(__LINE__, argv[3], "failed");
	puts("OK");
	return EXIT_SUCCESS;
}
