/* SPDX-License-Identifier: MIT */
/* CUPTI; see cupti.h. */
#include "plugin/life/cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/nccl/cupti_abi.h"
#include "plugin/life/gpu_time.h"
#include "plugin/state/registry.h"
#include "plugin/state/range_stack.h"
#include "shm/atomics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct {
	void *library;
	struct cupti_subscriber *subscriber;
#define X(name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

/* enum ncs_cupti_status. Off until the first communicator has begun to start
 * CUPTI. */
static uint64_t status;

/* --- Launches ----------------------------------------------------------- */

/* Ranges of launches, by the launch's number: the number in the upper 32 bits,
 * the range plus 1 in the lower ones. A launch is forgotten after this many
 * calls of CUDA, since CUPTI numbers all calls, not only launches. */
#define LAUNCHES (1u << 18)

static uint64_t launches[LAUNCHES];

static void on_launch(void *argument, uint32_t domain, uint32_t number,
		      const struct cupti_call *call)
{
	(void)argument;
	(void)domain;
	(void)number;
	if (!call || call->site != CUPTI_ENTER)
		return;
	ncs_store_relaxed(&launches[call->correlation % LAUNCHES],
			  (uint64_t)call->correlation << 32 |
				  (ncs_range_now(NULL).number + 1));
}

/* Returns false if the launch is not known. */
static bool find_launch(uint32_t correlation, uint32_t *range)
{
	uint64_t word = ncs_load_relaxed(&launches[correlation % LAUNCHES]);

	if ((uint32_t)word == 0 || word >> 32 != correlation)
		return false;
	*range = (uint32_t)word - 1;
	return true;
}

/* --- Buffers ------------------------------------------------------------ */

/* Buffers are small, about 300 kernels each, because CUPTI returns a buffer
 * when it is full. */
#define BUFFER_BYTES (UINT64_C(64) << 10)
#define BUFFERS 64u

static uint8_t *buffers;
static uint64_t free_buffers; /* a bit for each buffer; 1 if free */

/* Gives CUPTI a buffer, on any thread of the program. If there is none, CUPTI
 * counts the records that it drops. */
static void on_request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	uint64_t free_ones;

	*buffer = NULL;
	*bytes = 0;
	*records = 0; /* 0: as many as fit */
	do {
		free_ones = ncs_load_relaxed(&free_buffers);
		if (free_ones == 0)
			return;
		/* ORDER: pairs with give_back() (plugin/life/cupti.c): its last
		 * user has finished with it. */
	} while (!ncs_cas_acquire_release(&free_buffers, free_ones,
					  free_ones & (free_ones - 1)));
	*buffer = buffers + (unsigned)__builtin_ctzll(free_ones) * BUFFER_BYTES;
	*bytes = BUFFER_BYTES;
}

static bool is_ours(const uint8_t *buffer)
{
	uint64_t place =
		(uint64_t)(uintptr_t)buffer - (uint64_t)(uintptr_t)buffers;

	return buffers && place < BUFFERS * BUFFER_BYTES &&
	       place % BUFFER_BYTES == 0;
}

static void give_back(const uint8_t *buffer)
{
	uint64_t bit = UINT64_C(1)
		       << (uint64_t)(buffer - buffers) / BUFFER_BYTES;

	/* ORDER: pairs with on_request() (plugin/life/cupti.c): the next user
	 * comes after this one. */
	ncs_add_acquire_release(&free_buffers, bit);
}

/* --- Records ------------------------------------------------------------ */

/* For the sums. CUPTI is never called under it: finalize takes it, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lose(struct ncs_comm *comm, uint64_t count)
{
	ncs_add_relaxed(&comm->header->cupti.lost, count);
}

static void count(struct ncs_comm *comm, const struct cupti_kernel *record)
{
	struct ncs_kernel_run kernel = {
		.device = record->device,
		.start = record->start,
		.end = record->end,
		.kind = ncs_kernel_kind_of(record->name),
	};

	if (!find_launch(record->correlation, &kernel.range))
		ncs_add_relaxed(&comm->header->cupti.unplaced, 1);
	pthread_mutex_lock(&lock);
	if (!ncs_gpu_time_add(comm, &kernel))
		lose(comm, 1);
	pthread_mutex_unlock(&lock);
}

static void read_buffer(struct ncs_comm *comm, uint8_t *buffer, size_t bytes)
{
	const struct cupti_record *record = NULL;
	int result;

	while ((result = cupti.ActivityGetNextRecord(buffer, bytes, &record)) ==
	       CUPTI_OK) {
		size_t place = (size_t)((const uint8_t *)record - buffer);

		if (record->kind != CUPTI_CONCURRENT_KERNEL)
			continue;
		if (place + sizeof(struct cupti_kernel) > bytes)
			break;
		count(comm, (const struct cupti_kernel *)record);
	}
	if (result != CUPTI_NO_MORE_RECORDS)
		lose(comm, 1);
}

/* Takes back a full buffer, on a thread of CUPTI or in ncs_cupti_flush(). */
static void on_complete(void *context, uint32_t stream, uint8_t *buffer,
			size_t bytes, size_t valid_bytes)
{
	struct ncs_comm *comm = ncs_comm_for_unattributed();
	size_t dropped = 0;

	(void)bytes;
	if (!is_ours(buffer))
		return;
	if (comm && valid_bytes <= BUFFER_BYTES)
		read_buffer(comm, buffer, valid_bytes);
	if (comm && cupti.ActivityGetNumDroppedRecords(context, stream,
						       &dropped) == CUPTI_OK)
		lose(comm, dropped);
	give_back(buffer);
}

/* --- Loading ------------------------------------------------------------ */

static const char names[][16] = { "libcupti.so.13", "libcupti.so.12",
				  "libcupti.so" };

static void *open_in(const char *root)
{
	static const char folders[][20] = { "lib64", "lib",
					    "extras/CUPTI/lib64" };
	void *library = NULL;
	char path[1024];

	if (!root || !*root)
		return NULL;
	for (size_t i = 0; i < COUNT(folders) && !library; i++)
		for (size_t k = 0; k < COUNT(names) && !library; k++)
			if (snprintf(path, sizeof(path), "%s/%s/%s", root,
				     folders[i], names[k]) < (int)sizeof(path))
				library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* Opens CUPTI. Prefers a library that the program has already loaded, since two
 * copies would not know of each other. */
static void *open_somewhere(void)
{
	void *library = NULL;

	for (size_t i = 0; i < COUNT(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	for (size_t i = 0; i < COUNT(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = open_in(getenv("CUDA_HOME"));
	return library ? library : open_in(getenv("CUDA_PATH"));
}

/* ISO C has no conversion from an object pointer, which dlsym() returns, to a
 * function pointer. */
static bool find_function(const char *name, void *function)
{
	void *symbol = dlsym(cupti.library, name);

	if (symbol)
		memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool load(const char *library, char *why, size_t why_size)
{
	const char *missing = NULL, *error;
	bool anywhere = strcmp(library, "1") == 0;

	cupti.library = anywhere ? open_somewhere() :
				   dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!cupti.library) {
		error = anywhere ? NULL : dlerror();
		snprintf(why, why_size, "%s",
			 error ? error :
				 "there is no libcupti.so.13 or .12; name its"
				 " file in NCCLSTAT_CUPTI");
		return false;
	}
#define X(name, parameters) \
	if (!missing && !find_function("cupti" #name, &cupti.name)) \
		missing = "cupti" #name;
	CUPTI_FUNCTIONS(X)
#undef X
	if (missing)
		snprintf(why, why_size, "the library has no %s", missing);
	return !missing;
}

/* --- Starting ----------------------------------------------------------- */

static const struct {
	uint32_t domain;
	uint32_t number;
} launching[] = {
#define X(domain, number, name) { CUPTI_##domain, number },
	CUPTI_LAUNCHES(X)
#undef X
};

#define FLUSH_PERIOD_MS 1000u

/* Returns CUPTI_OK, or the first other result; *what is the function that
 * returned it. */
static int subscribe(const char **what)
{
	int result;

	*what = "cuptiSubscribe";
	result = cupti.Subscribe(&cupti.subscriber, on_launch, NULL);
	if (result != CUPTI_OK) {
		cupti.subscriber = NULL;
		return result;
	}
	*what = "cuptiActivityRegisterCallbacks";
	result = cupti.ActivityRegisterCallbacks(on_request, on_complete);
	if (result != CUPTI_OK)
		return result;
	*what = "cuptiActivityFlushPeriod";
	result = cupti.ActivityFlushPeriod(FLUSH_PERIOD_MS);
	*what = result == CUPTI_OK ? "cuptiEnableCallback" : *what;
	for (size_t i = 0; i < COUNT(launching) && result == CUPTI_OK; i++)
		result = cupti.EnableCallback(1, cupti.subscriber,
					      launching[i].domain,
					      launching[i].number);
	if (result != CUPTI_OK)
		return result;
	*what = "cuptiActivityEnable";
	return cupti.ActivityEnable(CUPTI_CONCURRENT_KERNEL);
}

static bool make_buffers(void)
{
	void *memory = buffers;

	if (!memory)
		memory = mmap(NULL, BUFFERS * BUFFER_BYTES,
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	buffers = memory;
	free_buffers = UINT64_MAX;
	return true;
}

static enum ncs_cupti_status start(const char *library, char *why,
				   size_t why_size)
{
	const char *what, *text = NULL;
	uint32_t version = 0;
	int result;

	if (!load(library, why, why_size))
		return NCS_CUPTI_MISSING;
	if (cupti.GetVersion(&version) != CUPTI_OK ||
	    version < CUPTI_VERSION_LEAST) {
		snprintf(why, why_size,
			 "version %u of its interface is older"
			 " than CUDA 12.0's",
			 version);
		return NCS_CUPTI_OLD;
	}
	if (!make_buffers()) {
		snprintf(why, why_size, "no memory for its buffers");
		return NCS_CUPTI_FAILED;
	}
	result = subscribe(&what);
	if (result == CUPTI_OK)
		return NCS_CUPTI_ON;
	if (cupti.subscriber)
		cupti.Unsubscribe(cupti.subscriber);
	cupti.subscriber = NULL;
	if (result == CUPTI_ANOTHER_SUBSCRIBER) {
		snprintf(why, why_size,
			 "another tool has CUPTI, which serves one"
			 " (torch.profiler, nsys, ncu)");
		return NCS_CUPTI_TAKEN;
	}
	if (cupti.GetResultString(result, &text) != CUPTI_OK || !text)
		text = "unknown";
	snprintf(why, why_size, "%s: %s (%d)", what, text, result);
	return NCS_CUPTI_FAILED;
}

void ncs_cupti_publish(struct ncs_comm *comm)
{
	ncs_store_relaxed(&comm->header->cupti.status,
			  ncs_load_relaxed(&status));
}

bool ncs_cupti_join(struct ncs_comm *comm, const char *library)
{
	bool is_first = library[0] && ncs_load_relaxed(&status) ==
					      NCS_CUPTI_OFF;

	if (is_first)
		ncs_store_relaxed(&status, NCS_CUPTI_STARTING);
	ncs_cupti_publish(comm);
	return is_first;
}

bool ncs_cupti_start(const char *library, char *why, size_t why_size)
{
	enum ncs_cupti_status outcome = start(library, why, why_size);

	/* ORDER: pairs with ncs_cupti_flush() (plugin/life/cupti.c): CUPTI's
	 * functions are known. */
	ncs_store_release(&status, outcome);
	return outcome == NCS_CUPTI_ON;
}

void ncs_cupti_flush(void)
{
	/* ORDER: pairs with ncs_cupti_start() (plugin/life/cupti.c). */
	if (ncs_load_acquire(&status) == NCS_CUPTI_ON)
		/* The result is ignored: it says nothing that a reader could
		 * use. */
		cupti.ActivityFlushAll(0);
}

void ncs_cupti_forget(void)
{
	uint64_t parents = ncs_load_relaxed(&status);
	bool is_parents = parents == NCS_CUPTI_STARTING ||
			  parents == NCS_CUPTI_ON ||
			  parents == NCS_CUPTI_FORKED;

	ncs_store_relaxed(&status,
			  is_parents ? NCS_CUPTI_FORKED : NCS_CUPTI_OFF);
	pthread_mutex_init(&lock, NULL);
	ncs_gpu_time_forget();
}
