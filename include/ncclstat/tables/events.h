/* Every event type of NCCL's profiler API, one line each.
 *
 * X(ID, name, bit, api, help)
 *   ID    suffix of NCS_EVENT_…, the event's number in records and counters
 *   name  the key in JSON and in dumps: NCCL's name in lower case
 *   bit   the type's bit in NCCL's activation mask and in descriptor.type
 *   api   the first version of the profiler API that has it
 *   help  one line for people; goes into the manual
 *
 * The order is that of NCCL's bits, so that ID == log2(bit). It is part of
 * the shared-memory ABI: append only.
 */
#define NCS_EVENTS(X) \
	X(GROUP, "group", 1, 1, \
	  "operations launched together: one plan handed to the GPU and the proxy") \
	X(COLL, "coll", 2, 1, "a collective operation, from enqueueing on") \
	X(P2P, "p2p", 4, 1, "a send or receive operation, from enqueueing on") \
	X(PROXY_OP, "proxy_op", 8, 1, \
	  "the proxy's share of an operation: one channel, direction and peer") \
	X(PROXY_STEP, "proxy_step", 16, 1, \
	  "one network transfer of a proxy operation") \
	X(PROXY_CTRL, "proxy_ctrl", 32, 1, \
	  "the proxy thread going idle or active, sleeping, or appending work") \
	X(KERNEL_CH, "kernel_ch", 64, 3, \
	  "one channel of an operation running on the GPU") \
	X(NET_PLUGIN, "net_plugin", 128, 3, "an event of the network plugin") \
	X(GROUP_API, "group_api", 256, 5, \
	  "the application's span from ncclGroupStart to ncclGroupEnd") \
	X(COLL_API, "coll_api", 512, 5, \
	  "the application's call of a collective function") \
	X(P2P_API, "p2p_api", 1024, 5, \
	  "the application's call of ncclSend or ncclRecv") \
	X(KERNEL_LAUNCH, "kernel_launch", 2048, 5, \
	  "the launch of a kernel for one plan") \
	X(CE_COLL, "ce_coll", 4096, 6, \
	  "a collective done by copy engines being submitted") \
	X(CE_SYNC, "ce_sync", 8192, 6, \
	  "a synchronisation of a copy-engine collective being submitted") \
	X(CE_BATCH, "ce_batch", 16384, 6, \
	  "a batch of copies of a copy-engine collective being submitted") \
	X(KERNEL_PHASE, "kernel_phase", 32768, 7, \
	  "one phase of a channel's kernel: initial sync, compute, final sync")
