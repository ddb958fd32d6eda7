/* Events of the plugin itself, one line each: records that tell of no event of
 * NCCL's.
 *
 * X(ID, name, number, help)
 *   ID      suffix of NCS_EVENT_…
 *   name    the key in dumps
 *   number  in records; from NCS_EVENT_MAX on, as NCCL's are below it. Part of
 *           the shared-memory ABI: append only.
 *   help    one line for people; goes into the manual
 */
#define NCS_OWN_EVENTS(X) \
	X(SETTINGS, "settings", 32, \
	  "what the plugin collects was changed from outside, or a lease ended") \
	X(MARK, "mark", 33, "the program set a mark (ncclstat_range_mark, NVTX)") \
	X(STREAM, "stream", 34, \
	  "the CUDA stream of the operations whose records come next in the ring")
