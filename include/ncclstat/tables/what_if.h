/* What the elapsed time goes through, and what can be changed of it, one line
 * each: the analyses, --critical-path, --what-if, their help and the manual are
 * made from this.
 *
 * NCS_PATH_CAUSES: X(ID, name, help). NCS_PATH_<ID>. name is the column's and
 *   the key in JSON, help a clause for people. From GPU on they are the states
 *   of channels but for IDLE, in their order (channel_states.h).
 * NCS_WHAT_IFS: X(ID, name, value, where, help). NCS_WHAT_IF_<ID>. A
 *   specification is NAME[:VALUE][@WHERE]...; value and where are what the
 *   manual calls them, "" where there is none; help is for people.
 */
#define NCS_PATH_CAUSES(X) \
	X(HOST, "host", \
	  "nothing of the rank was under way, and the application had not" \
	  " called yet") \
	X(LAUNCH, "launch", \
	  "from the call until NCCL has enqueued the operation, and as long as" \
	  " its kernel takes to begin at the least") \
	X(QUEUE, "queue", \
	  "called in time, the operation followed the rank's one before: what" \
	  " one kernel needs to follow another") \
	X(PRODUCER, "producer", \
	  "called in time, and nothing of NCCL was in its way: the GPU had" \
	  " other work to do first") \
	X(TRANSFER, "transfer", \
	  "all had come; what the time was spent in is not known, as no steps" \
	  " of channels were recorded") \
	X(GPU, "gpu", \
	  "all had come; the channel that ended last waited for its GPU to" \
	  " produce data") \
	X(PEER, "peer", "likewise; for a buffer of its peer") \
	X(NETWORK, "network", "likewise; for data of its own on the wire") \
	X(SENDER, "sender", "likewise; for data from its peer") \
	X(FLUSH, "flush", \
	  "likewise; for data to be flushed to the memory of its GPU") \
	X(KERNEL, "kernel", "likewise; for its GPU to consume data") \
	X(START, "start", "what was before the path's first operation")

#define NCS_WHAT_IFS(X) \
	X(NET, "net", "xN", "inter-node|A-B", \
	  "The network moves bytes N times as fast: all of it, or for" \
	  " communicators of several hosts only, or between ranks A and B." \
	  " Only what a transfer takes for its bytes changes, as sizes and" \
	  " times of the recording tell it.") \
	X(LATENCY, "latency", "-USus", "", \
	  "Each step of an algorithm takes so many microseconds less.") \
	X(WITHOUT, "without", "RANK|stragglers", "", \
	  "The rank, or each one, takes the median of the ranks' times before" \
	  " an operation, where its own is longer.") \
	X(PRODUCER, "producer", "F", "rank=RANK|range=PATH", \
	  "What the GPU does before operations takes F times as long.") \
	X(HOST, "host", "F", "rank=RANK|range=PATH", \
	  "What the application does before it calls takes F times as long.") \
	X(LAUNCH, "launch", "F", "rank=RANK|range=PATH", \
	  "From a call until its kernel begins it takes F times as long.") \
	X(ALGORITHM, "algorithm", "NAME", "", \
	  "Collectives use this algorithm, where the recording has its times" \
	  " for such a size in the same communicator.") \
	X(OVERLAP, "overlap", "", "", \
	  "A bound: no operation waits for other work of the GPU, and that" \
	  " work for no operation.")
