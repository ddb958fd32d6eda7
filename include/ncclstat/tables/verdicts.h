/* What can be wrong with a job, one line each: the rules' names, how bad each
 * is, what is said and what to do next. Dumps, the live view and the manual
 * are made from this; who is to blame is found by analysis/diagnosis/diagnosis.c.
 *
 * NCS_VERDICTS: X(ID, name, severity, sentence, next)
 *   ID        suffix of NCS_VERDICT_…; of two findings that are as bad, the
 *             one further up comes first
 *   name      the word in JSON
 *   severity  ID of NCS_SEVERITIES: at worst; what lasts for less than
 *             NCS_STUCK_NS, or still moves, is SLOW
 *   sentence  for people; in it $rank is the root, $peer the other end,
 *             $channel the channel, $call the function and its sequence
 *             number, $count how many ranks wait
 *   next      what to do, one sentence or two
 *
 * NCS_SEVERITIES: X(ID, name, help), the exit status of --diagnose in order.
 * NCS_CONFIDENCES: X(ID, name, help), the surest first.
 */
#define NCS_VERDICTS(X) \
	X(ORDER_MISMATCH, "order_mismatch", STUCK, \
	  "$rank and $peer call the same collectives in different order:" \
	  " $rank is in $call", \
	  "Compare what the two ranks call on this communicator: a branch that" \
	  " depends on the rank, or two threads that take turns differently.") \
	X(SIZE_MISMATCH, "size_mismatch", STUCK, \
	  "$rank called $call with another size, type or root than $peer", \
	  "Compare the shapes that the two ranks pass: an uneven last batch, or" \
	  " a parameter that only one of them has.") \
	X(RANK_DIED, "rank_died", STUCK, \
	  "the process of $rank is gone; $count for it", \
	  "Look at its log, the kernel's log (out of memory, Xid) and the" \
	  " scheduler; then end the rest of the job.") \
	X(DEADLOCK, "deadlock", STUCK, \
	  "ranks wait for each other in a circle, from $rank to $peer and back", \
	  "Sends and receives that need each other belong in one" \
	  " ncclGroupStart and ncclGroupEnd; communicators that share ranks" \
	  " must be used in the same order everywhere.") \
	X(RANK_MISSING, "rank_missing", STUCK, \
	  "$rank has not called $call; $count for it", \
	  "Look at the stack of its process (py-spy dump, gdb -p): it is busy" \
	  " or stuck in something that is not NCCL.") \
	X(P2P_UNMET, "p2p_unmet", STUCK, \
	  "$rank has not met $peer in $call", \
	  "Look at the stack of its process: the other half of the pair has not" \
	  " been called, or with another peer.") \
	X(LAUNCHER_BLOCKED, "launcher_blocked", STUCK, \
	  "$rank cannot enqueue $call while its proxy thread sleeps", \
	  "It looks as if the pool of proxy operations had run out, a fault of" \
	  " NCCL before 2.29.3 on Arm (nccl#2353): update NCCL.") \
	X(PROXY_ASLEEP, "proxy_asleep", STUCK, \
	  "$rank has posted $call, but its proxy thread has not woken up", \
	  "Take a stack of all its threads (gdb -p PID, thread apply all bt);" \
	  " this is a fault in NCCL: search its issues for the release.") \
	X(GPU_LATE, "gpu_late", STUCK, \
	  "the GPU of $rank has not produced the data of $call", \
	  "What runs on its GPU before this call, or what does its stream wait" \
	  " for? Look at nvidia-smi, Xid errors and the process's stack.") \
	X(CONSUMER_LATE, "consumer_late", STUCK, \
	  "the GPU of $rank does not take the data of $call that has come", \
	  "What runs on its GPU before this call, or what does its stream wait" \
	  " for? Look at nvidia-smi, Xid errors and the process's stack.") \
	X(NETWORK, "network", STUCK, \
	  "data of $call does not get from $rank to $peer on $channel", \
	  "Look at the two network ports (ibstat, ethtool -S: errors, pause" \
	  " frames) and at what lies between them; NCCL_DEBUG=INFO tells which" \
	  " device a channel uses.") \
	X(PEER_WAIT, "peer_wait", STUCK, \
	  "$count for $rank in $call", \
	  "Look at this rank: go on with ncclstat --diagnose on its machine if" \
	  " it is not seen here. NCCL's own ncclras, on any machine of the job," \
	  " tells which calls each rank has made.") \
	X(NOT_BEGUN, "not_begun", SLOW, \
	  "$rank has called $call, and NCCL has not begun with it", \
	  "It connects to its peers first: has the other half been called" \
	  " there? Look at the stacks of both; then at the network between" \
	  " them (NCCL_DEBUG=INFO).") \
	X(RANK_STOPPED, "rank_stopped", SLOW, \
	  "the process of $rank is stopped; $count for it", \
	  "A debugger or SIGSTOP holds it: let it go on, or send SIGCONT.") \
	X(SLOW_RANK, "slow_rank", SLOW, \
	  "the others wait for $rank most of the time: traffic is at less than" \
	  " half of its earlier median", \
	  "Compare its GPU's clock, temperature and load, and its CPUs and" \
	  " input, with those of the others.") \
	X(SLOW_NETWORK, "slow_network", SLOW, \
	  "what $rank sends is on the way for more than twice as long as" \
	  " before", \
	  "Look at its network port (ibstat, ethtool -S: errors, pause frames)" \
	  " and at who else uses the link.")

#define NCS_SEVERITIES(X) \
	X(HEALTHY, "healthy", "nothing is wrong as far as can be seen") \
	X(SLOW, "slow", "something is slow, or suspicious") \
	X(STUCK, "stuck", "something does not move any more")

#define NCS_CONFIDENCES(X) \
	X(CERTAIN, "certain", "what was seen has no other explanation") \
	X(LIKELY, "likely", "other explanations take an accident") \
	X(POSSIBLE, "possible", \
	  "it explains what is seen here; so may something that is not seen")
