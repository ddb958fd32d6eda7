/* What exports call the parts of a record, one line each: keys of JSON lines,
 * arguments of slices, and the manual are made from this.
 *
 * X(ID, name, where, help)
 *   ID     suffix of NCS_FIELD_…
 *   name   the key
 *   where  LINES: in JSON lines only, as a trace tells it by its tracks, names
 *          or times; BOTH: in traces, too
 *   help   a clause for people
 */
#define NCS_FIELDS(X) \
	X(EVENT, "event", LINES, "the type of the event, as in a dump") \
	X(HOST, "host", LINES, "the host's name") \
	X(PID, "pid", LINES, "the process") \
	X(COMMUNICATOR, "communicator", LINES, "the communicator's name") \
	X(COMMUNICATOR_ID, "communicator_id", LINES, \
	  "its id, 16 hexadecimal digits") \
	X(RANK, "rank", LINES, "the rank in it") \
	X(LANE, "lane", LINES, \
	  "the ring that the record was in: one for each thread") \
	X(START_NS, "start_ns", LINES, \
	  "when it began, by CLOCK_MONOTONIC of the first file's host") \
	X(DURATION_NS, "duration_ns", LINES, "how long it lasted") \
	X(FUNCTION, "function", LINES, "the function of NCCL") \
	X(OPERATION, "operation", BOTH, \
	  "the number of the operation in its communicator and process") \
	X(SEQUENCE_NUMBER, "sequence_number", BOTH, \
	  "NCCL's number of the operation, one row of numbers for each function" \
	  " and communicator: the same on all ranks") \
	X(BYTES, "bytes", BOTH, \
	  "of an operation: its size as nccl-tests counts it; else what was moved") \
	X(RANGE, "range", BOTH, \
	  "the ranges of the program that it was called in, the outermost first") \
	X(STREAM, "stream", BOTH, \
	  "the handle of the CUDA stream that it was called on, in hexadecimal;" \
	  " 0x0 is the default stream") \
	X(ROOT, "root", BOTH, "the root of the collective") \
	X(PEER, "peer", BOTH, "the other rank") \
	X(CHANNEL, "channel", LINES, "the channel") \
	X(DIRECTION, "direction", LINES, "send or recv") \
	X(ENQUEUED_NS, "enqueued_ns", BOTH, \
	  "from its start: when it had been enqueued") \
	X(FIRST_CHILD_NS, "first_child_ns", BOTH, \
	  "from its start: when its first proxy operation began") \
	X(STEPS, "steps", BOTH, "network transfers done") \
	X(IN_PROGRESS_NS, "in_progress_ns", BOTH, \
	  "from its start: when the proxy thread took it up") \
	X(FIRST_STEP_NS, "first_step_ns", BOTH, \
	  "from its start: when its first step began") \
	X(STEP, "step", BOTH, "the number of the step in its proxy operation") \
	X(SEND_GPU_WAIT_NS, "send_gpu_wait_ns", LINES, \
	  "a step's time in this state, like the next five") \
	X(SEND_PEER_WAIT_NS, "send_peer_wait_ns", LINES, "") \
	X(SEND_WAIT_NS, "send_wait_ns", LINES, "") \
	X(RECV_WAIT_NS, "recv_wait_ns", LINES, "") \
	X(RECV_FLUSH_WAIT_NS, "recv_flush_wait_ns", LINES, "") \
	X(RECV_GPU_WAIT_NS, "recv_gpu_wait_ns", LINES, "") \
	X(STATE, "state", LINES, "what the proxy thread did") \
	X(APPENDED_OPERATIONS, "appended_operations", BOTH, \
	  "proxy operations that it took over") \
	X(GPU_CLOCK_NS, "gpu_clock_ns", BOTH, \
	  "what the GPU's own clock showed when the kernel began") \
	X(GPU_START_NS, "gpu_start_ns", LINES, \
	  "the same moment by CLOCK_MONOTONIC, where the clocks' offset is known") \
	X(GPU_ERROR_NS, "gpu_error_ns", BOTH, \
	  "how far that may be off, at most, but for the clocks' drift") \
	X(GPU_DURATION_NS, "gpu_duration_ns", BOTH, \
	  "how long the kernel ran, by the GPU's clock") \
	X(PHASE, "phase", BOTH, "the number of the kernel's phase") \
	X(PLUGIN_ID, "plugin_id", BOTH, "what the network plugin calls itself") \
	X(DEPTH, "depth", BOTH, "how deep the group is in other groups") \
	X(GROUP_START_NS, "group_start_ns", BOTH, \
	  "from its start: when ncclGroupStart had returned") \
	X(GROUP_END_NS, "group_end_ns", BOTH, \
	  "from its start: when ncclGroupEnd was called") \
	X(RANKS, "ranks", BOTH, "ranks that are synchronised") \
	X(COPIES, "copies", BOTH, "copies in the batch") \
	X(COLLECTS, "collects", BOTH, \
	  "what the plugin collects from then on, as --set has it") \
	X(COLLECTED, "collected", BOTH, "what it collected until then") \
	X(GRAPH, "graph", BOTH, "it was captured into a CUDA graph") \
	X(MISSING_STOP, "missing_stop", BOTH, \
	  "NCCL did not report its end, which was later than this") \
	X(AGAIN, "again", BOTH, \
	  "another record of the operation, which turned out not to have ended") \
	X(LEFT_OUT, "left_out", BOTH, \
	  "records of its parts were left out, by sampling") \
	X(STANDS_FOR, "stands_for", BOTH, \
	  "for so many operations this one was chosen, by sampling") \
	X(SLOW, "slow", BOTH, \
	  "not chosen, but kept for being slow: it stands for itself only")
