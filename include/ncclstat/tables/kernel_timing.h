/* Kernel timing: what can be asked for, and what came of it.
 *
 * NCS_KERNEL_TIMINGS: X(ID, name, help), what was asked for.
 * NCS_KERNEL_STATUSES: X(ID, name, help), what is in force, and why.
 *   ID    suffix of NCS_KERNEL_TIMING_…, NCS_KERNEL_…; its number is part
 *         of the ABI (append only)
 *   name  the word in JSON, in columns and in NCCLSTAT_KERNEL_TIMING
 *   help  for people; goes into the manual
 */
#define NCS_KERNEL_TIMINGS(X) \
	X(OFF, "off", "no call is timed") \
	X(ALWAYS, "always", "every call is timed") \
	X(SAMPLED, "sampled", "one group of calls in so many is timed") \
	X(AUTO, "sampled:auto", \
	  "as sampled, with a period that follows the rate of calls")

#define NCS_KERNEL_STATUSES(X) \
	X(UNKNOWN, "unknown", "the plugin does not tell") \
	X(OFF, "off", "no call is timed, as was asked for") \
	X(ALWAYS, "always", "every call is timed, as was asked for") \
	X(SAMPLED, "sampled", \
	  "single groups of calls are timed, beginning 1000 calls after the" \
	  " last communicator was made") \
	X(RELEASE, "release", \
	  "none is timed: this release of NCCL cannot time single calls" \
	  " (only 2.28 to 2.30 can), or no calls at all (before 2.28)") \
	X(SEVERAL, "several", \
	  "none is timed as long as the process has several communicators:" \
	  " NCCL has one switch for all of them, and it is never certain for" \
	  " one what a call of the other does to it") \
	X(LINGERING, "lingering", \
	  "every call is timed although that was not asked for: it could not" \
	  " be turned off with certainty, most often because a communicator" \
	  " was made while a call was to be timed; it ends when only one" \
	  " communicator is left, or not at all") \
	X(GRAPH_ON, "graph_on", \
	  "every call is timed from now on: the first call that was captured" \
	  " into a CUDA graph was timed") \
	X(GRAPH_OFF, "graph_off", \
	  "none is timed any more: a call that was not timed was captured" \
	  " into a CUDA graph") \
	X(BROKEN_PROMISE, "broken_promise", \
	  "none is timed any more: a call was captured into a CUDA graph" \
	  " although NCCLSTAT_NO_GRAPHS=1 promises the contrary; the job may" \
	  " hang") \
	X(P2P, "p2p", \
	  "none is timed any more: the job sends or receives from point to" \
	  " point, and NCCL does not count a message to oneself") \
	X(BROADCAST, "broadcast", \
	  "none is timed any more: NCCL 2.29 and 2.30 do not count what they" \
	  " make of Broadcasts, unless NCCL_ALLGATHERV_ENABLE=0 is set") \
	X(BLIND, "blind", \
	  "none is timed: a communicator of the process could not be" \
	  " published, or belongs to a second copy of NCCL, so that not all" \
	  " calls are seen, or not switched") \
	X(EVENTS, "events", \
	  "none is timed any more: NCCL was asked not to report calls, so that" \
	  " those which are captured would not be seen") \
	X(FOREIGN, "foreign", \
	  "somebody else has set what NCCL reports (its RAS client can, from" \
	  " 2.31 on), and the plugin leaves it alone") \
	X(CHAINED, "chained", \
	  "every call is timed, since the plugin of NCCLSTAT_CHAIN asks for it")
