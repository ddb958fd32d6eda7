/* SPDX-License-Identifier: MIT */
/* The part of CUDA's driver API that the plugin calls, in our own words.
 *
 * The driver is the one that the process has loaded already; nothing is linked
 * against it. Handles are opaque pointers. Every function returns 0 or an error
 * number of the driver. Between ncs_cuda_begin() and ncs_cuda_end() the calling
 * thread may call the driver without spoiling a stream capture of this or of
 * another thread.
 */
#ifndef NCS_PLUGIN_NCCL_CUDA_DRIVER_H
#define NCS_PLUGIN_NCCL_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

enum {
	CUDA_ERROR_NOT_READY_NUMBER = 600, /* the event has not happened yet */
	CUDA_ERROR_CONTEXT_IS_DESTROYED_NUMBER = 709,
	/* The first and the last error of calls that a stream capture
	 * forbids. */
	CUDA_ERROR_CAPTURE_FIRST = 900,
	CUDA_ERROR_CAPTURE_LAST = 908,
	CUDA_EVENT_DEFAULT_FLAGS = 0,
	CUDA_EVENT_DISABLE_TIMING_FLAG = 2,
	CUDA_STREAM_NON_BLOCKING_FLAG = 1,
	CUDA_CAPTURE_MODE_RELAXED = 2,
	CUDA_CAPTURE_STATUS_ACTIVE = 1,
	CUDA_HOST_REGISTER_DEVICE_MAP_FLAG = 2,
};

/* X(name of the member, symbol, symbol in older drivers, parameters) */
#define NCS_CUDA_FUNCTIONS(X) \
	X(context_set, "cuCtxSetCurrent", NULL, (void *context)) \
	X(context_device, "cuCtxGetDevice", NULL, (int *device)) \
	X(context_id, "cuCtxGetId", NULL, \
	  (void *context, unsigned long long *id)) \
	X(device_bus_id, "cuDeviceGetPCIBusId", NULL, \
	  (char *text, int length, int device)) \
	X(primary_state, "cuDevicePrimaryCtxGetState", NULL, \
	  (int device, unsigned *flags, int *active)) \
	X(primary_retain, "cuDevicePrimaryCtxRetain", NULL, \
	  (void **context, int device)) \
	X(primary_release, "cuDevicePrimaryCtxRelease_v2", \
	  "cuDevicePrimaryCtxRelease", (int device)) \
	X(event_create, "cuEventCreate", NULL, (void **event, unsigned flags)) \
	X(event_destroy, "cuEventDestroy_v2", NULL, (void *event)) \
	X(event_record, "cuEventRecord", NULL, (void *event, void *stream)) \
	X(event_query, "cuEventQuery", NULL, (void *event)) \
	X(event_elapsed_ms, "cuEventElapsedTime_v2", "cuEventElapsedTime", \
	  (float *ms, void *begin, void *end)) \
	X(stream_create, "cuStreamCreate", NULL, \
	  (void **stream, unsigned flags)) \
	X(stream_destroy, "cuStreamDestroy_v2", NULL, (void *stream)) \
	X(stream_is_capturing, "cuStreamIsCapturing", NULL, \
	  (void *stream, int *status)) \
	X(stream_context, "cuStreamGetCtx", NULL, \
	  (void *stream, void **context)) \
	X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", NULL, \
	  (int *mode))

/* Functions that only stamps in graphs need (stamps.h). */
#define NCS_CUDA_GRAPH_FUNCTIONS(X) \
	X(stream_capture_info, "cuStreamGetCaptureInfo_v2", NULL, \
	  (void *stream, int *status, unsigned long long *id, void **graph, \
	   void *const **nodes, size_t *count)) \
	X(module_load, "cuModuleLoadData", NULL, \
	  (void **module, const void *image)) \
	X(module_unload, "cuModuleUnload", NULL, (void *module)) \
	X(module_function, "cuModuleGetFunction", NULL, \
	  (void **function, void *module, const char *name)) \
	X(host_register, "cuMemHostRegister_v2", NULL, \
	  (void *memory, size_t bytes, unsigned flags)) \
	X(host_unregister, "cuMemHostUnregister", NULL, (void *memory)) \
	X(host_device_pointer, "cuMemHostGetDevicePointer_v2", NULL, \
	  (unsigned long long *address, void *memory, unsigned flags)) \
	X(launch_kernel, "cuLaunchKernel", NULL, \
	  (void *function, unsigned grid_x, unsigned grid_y, \
	   unsigned grid_z, unsigned block_x, unsigned block_y, \
	   unsigned block_z, unsigned shared_bytes, void *stream, \
	   void **arguments, void **extra))

struct ncs_cuda_driver {
#define X(name, symbol, older_symbol, parameters) int(*name) parameters;
	NCS_CUDA_FUNCTIONS(X)
	NCS_CUDA_GRAPH_FUNCTIONS(X)
#undef X
	/* Whether it has all functions of NCS_CUDA_GRAPH_FUNCTIONS. */
	bool has_graphs;
};

/* The loaded driver's functions; NULL if it lacks one. Valid after
 * ncs_cuda_driver_find(). */
extern struct ncs_cuda_driver ncs_cuda;

/* Finds the driver's functions. Returns false if the driver lacks one, or if the
 * process had not loaded it at the first call: NCCL has it before it makes a
 * communicator. Asks the dynamic linker once per process: it may be held up while
 * another library is being loaded, and a child that is forked while it looks for
 * a library which is not loaded may crash in its own dlopen(). One thread at a
 * time; not for callbacks. */
bool ncs_cuda_driver_find(void);

/* Stores the PCI bus id of the calling thread's current device in `name`; an empty
 * string if it has none. */
void ncs_cuda_device_name(char *name, size_t size);

/* Begin and end a passage of driver calls: in between, the thread's capture
 * mode is relaxed, so that calls which CUDA forbids during a stream capture do
 * not invalidate it. `mode` keeps the thread's former mode. */
static inline void ncs_cuda_begin(int *mode)
{
	*mode = CUDA_CAPTURE_MODE_RELAXED;
	ncs_cuda.exchange_capture_mode(mode);
}

/* Ends what ncs_cuda_begin() began, with the same `mode`. */
static inline void ncs_cuda_end(int *mode)
{
	ncs_cuda.exchange_capture_mode(mode);
}

/* Destroys an event, if there is one, and forgets its handle. */
static inline void ncs_cuda_drop_event(void **event)
{
	if (*event)
		ncs_cuda.event_destroy(*event);
	*event = NULL;
}

/* Makes two events with these flags in the current context. Returns 0, or the
 * driver's error; then there is none. */
int ncs_cuda_make_events(void **first, void **second, unsigned flags);

/* A device's primary context that is retained: its handle stays valid until it is
 * released. What was made in it does not: a reset of the device destroys that,
 * and then the context has another ID, or none. The driver crashes on a handle of
 * a former one. */
struct ncs_cuda_primary {
	void *context;
	unsigned long long id;
	int device;
};

/* Retains the primary context of the calling thread's device if it is `context`;
 * never brings one into being. Returns false if it is another context. */
bool ncs_cuda_retain_primary(void *context, struct ncs_cuda_primary *primary);

/* Returns true if what was made in a retained context is still there. */
static inline bool ncs_cuda_is_there(const struct ncs_cuda_primary *primary)
{
	unsigned long long id;

	return ncs_cuda.context_id(primary->context, &id) == 0 &&
	       id == primary->id;
}

/* Returns true if a call failed because of a stream capture only. */
static inline bool ncs_cuda_is_capture_error(int error)
{
	return error >= CUDA_ERROR_CAPTURE_FIRST &&
	       error <= CUDA_ERROR_CAPTURE_LAST;
}

#endif
