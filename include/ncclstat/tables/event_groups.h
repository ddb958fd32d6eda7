/* The groups of event types that can be asked for or left out, one line each:
 * what --set events=… names.
 *
 * X(ID, name, events, needs, help)
 *   ID      suffix of NCS_GROUP_…; its number is part of the ABI (append only)
 *   name    the word on the command line and in JSON; letters only
 *   events  the bits of its event types, by enum ncs_event
 *   needs   the group without which it makes no sense: that one left out, this
 *           one is, too; itself: none
 *   help    a clause for people
 *
 * CALLS cannot be left out: requests are read as such an event begins, and
 * kernel timing is decided by them. The events of the kernel are in no group:
 * they are asked for by kernel=.
 */
#define NCS_EVENT_GROUPS(X) \
	X(CALLS, "calls", \
	  1u << NCS_EVENT_GROUP | 1u << NCS_EVENT_GROUP_API | \
		  1u << NCS_EVENT_COLL_API | 1u << NCS_EVENT_P2P_API, \
	  CALLS, "the application's calls, and groups; never left out") \
	X(OPERATIONS, "operations", \
	  1u << NCS_EVENT_COLL | 1u << NCS_EVENT_P2P, CALLS, \
	  "what NCCL makes of the calls, with sizes and sequence numbers") \
	X(PROXY, "proxy", 1u << NCS_EVENT_PROXY_OP, CALLS, \
	  "the proxy's share of operations, on each channel and to each peer") \
	X(STEPS, "steps", 1u << NCS_EVENT_PROXY_STEP, PROXY, \
	  "each network transfer, and what it waits for") \
	X(NETWORK, "network", 1u << NCS_EVENT_NET_PLUGIN, STEPS, \
	  "what the network plugin reports of a transfer") \
	X(CONTROL, "control", 1u << NCS_EVENT_PROXY_CTRL, CALLS, \
	  "the state of the proxy thread") \
	X(LAUNCHES, "launches", 1u << NCS_EVENT_KERNEL_LAUNCH, CALLS, \
	  "launches of kernels") \
	X(COPIES, "copies", \
	  1u << NCS_EVENT_CE_COLL | 1u << NCS_EVENT_CE_SYNC | \
		  1u << NCS_EVENT_CE_BATCH, \
	  CALLS, "collectives done by copy engines")
