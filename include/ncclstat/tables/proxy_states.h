/* The proxy thread's states and its counted transitions, one line each.
 *
 * NCS_PROXY_STATES: X(ID, name, letter, help), the state a thread is in.
 * NCS_PROXY_TRANSITIONS: X(ID, name, help), what NCCL reported.
 * Names are keys in JSON; the numbers are part of the ABI.
 */
#define NCS_PROXY_STATES(X) \
	X(UNKNOWN, "unknown", '?', \
	  "NCCL has not reported a state (it does so from NCCL 2.27 on)") \
	X(SLEEP, "sleep", 'S', \
	  "no operation to progress: the thread sleeps until one is posted") \
	X(IDLE, "idle", 'I', \
	  "awake, but no operation made progress in the latest pass") \
	X(ACTIVE, "active", 'A', "operations are making progress") \
	X(APPEND, "append", '+', "taking over newly posted operations")

#define NCS_PROXY_TRANSITIONS(X) \
	X(IDLE, "idle", "times all operations stopped moving") \
	X(ACTIVE, "active", "times one of them moved again") \
	X(SLEEP, "sleep", "times the thread went to sleep") \
	X(WAKEUP, "wakeup", "times the thread was woken") \
	X(APPEND, "append", "times it began to take over posted operations") \
	X(APPEND_END, "append_end", "times it had taken them over")
