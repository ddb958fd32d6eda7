/* The columns of every view, one line each: the live view, the text dump and
 * the manual are made from this.
 *
 * X(VIEW, ID, title, width, align, priority, level, help)
 *   VIEW      RANK, COMMUNICATOR, CHANNEL, PROXY, FUNCTION, CLASS,
 *             TIMELINE: the rows it belongs to
 *   ID        suffix of NCS_COLUMN_<VIEW>_…
 *   title     the header; also how --dump names it
 *   width     characters at least
 *   align     LEFT, RIGHT
 *   priority  the higher, the longer it stays as the screen narrows (1 … 9)
 *   level     INFO always, DIAG and DEBUG with more detail
 *   help      one sentence; what it is, unit, and where it comes from
 *
 * NCS_COLUMNS_IN_BITS: X(VIEW, ID, title), the columns that the live view can
 * show in bits, and their titles then: all that are bytes over time.
 */
#define NCS_COLUMNS(X) \
	X(RANK, RANK, "RANK", 4, RIGHT, 9, INFO, "Rank in the communicator.") \
	X(RANK, COMM, "COMM", 12, LEFT, 8, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(RANK, NRANKS, "SIZE", 4, RIGHT, 3, INFO, \
	  "Ranks in the communicator.") \
	X(RANK, PID, "PID", 7, RIGHT, 5, INFO, "The process.") \
	X(RANK, STATE, "STATE", 8, LEFT, 9, INFO, \
	  "alive; silent: NCCL has reported nothing new for 10 s; finished: the" \
	  " communicator was finalized; dead: the process is gone.") \
	X(RANK, PROXY, "PROXY", 7, LEFT, 6, INFO, \
	  "What the proxy thread does, where NCCL tells (from 2.27 on).") \
	X(RANK, WAIT, "WAIT", 8, LEFT, 7, INFO, \
	  "What most busy channels wait for.") \
	X(RANK, OLDEST, "OLDEST", 7, RIGHT, 8, INFO, \
	  "How long the channel that has waited longest has been waiting.") \
	X(RANK, OPERATION, "OPERATION", 13, LEFT, 6, INFO, \
	  "The oldest operation in flight.") \
	X(RANK, SEQUENCE, "SEQ", 7, RIGHT, 5, INFO, \
	  "Its sequence number, counted by NCCL per function.") \
	X(RANK, USER_TAG, "TAG", 6, RIGHT, 2, DIAG, \
	  "The tag that the application gave it (NCCL tells from 2.31 on).") \
	X(RANK, OPERATIONS_RATE, "OP/S", 6, RIGHT, 5, INFO, \
	  "Operations started per second.") \
	X(RANK, SEND_RATE, "SEND/S", 7, RIGHT, 6, INFO, \
	  "Bytes per second that the proxy sends.") \
	X(RANK, RECV_RATE, "RECV/S", 7, RIGHT, 6, INFO, \
	  "Bytes per second that the proxy receives.") \
	X(RANK, TRACE, "HIST", 16, LEFT, 6, DIAG, \
	  "Bytes per second that the proxy sent and received at the latest" \
	  " looks, as bars; the largest is the tallest, unknown is blank. In" \
	  " the live view only.") \
	X(RANK, LATE, "LATE", 7, RIGHT, 5, INFO, \
	  "How much later than the first it comes to collectives that others" \
	  " wait in; the median of the latest that were compared.") \
	X(RANK, LAST_SHARE, "%LAST", 5, RIGHT, 5, INFO, \
	  "Share of these to which it came after all others.") \
	X(RANK, LATE_CAUSE, "LATEBY", 8, LEFT, 4, INFO, \
	  "Where most of its lateness at these began: host, queue, producer.") \
	X(RANK, LATE_P99, "LATE99", 7, RIGHT, 2, DIAG, \
	  "The 99th percentile of how late it comes.") \
	X(RANK, EXCLUSIVE, "ALONE", 7, RIGHT, 2, DIAG, \
	  "How much later than the last but one it comes where it is the last;" \
	  " the median.") \
	X(RANK, LATE_COST, "%COST", 5, RIGHT, 3, DIAG, \
	  "Share of the time in which all others had come and waited for this" \
	  " rank alone.") \
	X(RANK, LOST, "LOST", 6, RIGHT, 2, INFO, \
	  "Everything that the view may lack, all counters together, without" \
	  " records overwritten before this viewer came.") \
	X(RANK, API, "API", 3, RIGHT, 1, INFO, \
	  "Version of NCCL's profiler API that is spoken.") \
	X(RANK, NCCL, "NCCL", 7, LEFT, 1, INFO, "NCCL's version.") \
	X(RANK, GPU, "GPU", 12, LEFT, 1, DIAG, "PCI bus id of the GPU.") \
	X(RANK, KERNEL, "KERNELS", 9, LEFT, 1, DIAG, \
	  "Which kernels are timed, or why none is: a word of" \
	  " ncclstat-plugin(7).") \
	X(RANK, LAST_CALL, "CALLED", 7, RIGHT, 4, DIAG, \
	  "How long ago NCCL last called the plugin.") \
	X(RANK, SETTINGS, "SETTINGS", 8, LEFT, 1, DIAG, \
	  "What the plugin collects in this process, as --set names it; lease" \
	  " where a viewer has asked for some of it for as long as it runs.") \
	X(COMMUNICATOR, COMM, "COMM", 12, LEFT, 9, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(COMMUNICATOR, NRANKS, "SIZE", 4, RIGHT, 5, INFO, \
	  "Ranks in the communicator.") \
	X(COMMUNICATOR, SEEN, "SEEN", 4, RIGHT, 4, INFO, \
	  "How many of them are seen here.") \
	X(COMMUNICATOR, LIVE, "LIVE", 4, RIGHT, 6, INFO, \
	  "How many of these live: they are alive or silent.") \
	X(COMMUNICATOR, SILENT, "SILENT", 6, RIGHT, 4, INFO, \
	  "From how many of these NCCL has reported nothing new for 10 s.") \
	X(COMMUNICATOR, DEAD, "DEAD", 4, RIGHT, 7, INFO, \
	  "Of how many the process is gone.") \
	X(COMMUNICATOR, FUNCTION, "FUNCTION", 9, LEFT, 7, INFO, \
	  "The function in which a rank is behind the most; where all are level," \
	  " that which most ranks are in.") \
	X(COMMUNICATOR, SEQUENCE, "SEQ", 7, RIGHT, 6, INFO, \
	  "How far the fastest rank is: the largest sequence number in this" \
	  " function.") \
	X(COMMUNICATOR, BEHIND, "BEHIND", 6, RIGHT, 8, INFO, \
	  "How many calls of it the slowest rank is behind the fastest; 0: all" \
	  " whose number is known are level. The dead count only where no rank" \
	  " lives.") \
	X(COMMUNICATOR, SLOWEST, "SLOWEST", 7, RIGHT, 8, INFO, \
	  "The rank that is so far behind; the first, if several are.") \
	X(COMMUNICATOR, OLDEST, "OLDEST", 7, RIGHT, 8, INFO, \
	  "How long the channel that has waited longest has been waiting.") \
	X(COMMUNICATOR, OPERATIONS_RATE, "OP/S", 6, RIGHT, 5, INFO, \
	  "Operations started per second, by all of its ranks together.") \
	X(COMMUNICATOR, SEND_RATE, "SEND/S", 7, RIGHT, 6, INFO, \
	  "Bytes per second that the proxies of all its ranks send.") \
	X(COMMUNICATOR, RECV_RATE, "RECV/S", 7, RIGHT, 5, INFO, \
	  "Bytes per second that the proxies of all its ranks receive.") \
	X(COMMUNICATOR, SKEW, "SKEW", 7, RIGHT, 5, INFO, \
	  "How much later than the first the last rank comes to a collective;" \
	  " the median of the latest that were compared.") \
	X(COMMUNICATOR, TRANSFER, "MOVE", 7, RIGHT, 3, DIAG, \
	  "What the operation takes from then on; the median.") \
	X(COMMUNICATOR, STRAGGLER, "LATE", 4, RIGHT, 5, INFO, \
	  "The rank that is marked for coming late.") \
	X(COMMUNICATOR, LOST, "LOST", 6, RIGHT, 2, INFO, \
	  "Everything that the view may lack of its ranks.") \
	X(COMMUNICATOR, ID, "ID", 16, LEFT, 1, DIAG, "The communicator's id.") \
	X(CHANNEL, RANK, "RANK", 4, RIGHT, 9, INFO, \
	  "Rank in the communicator.") \
	X(CHANNEL, COMM, "COMM", 8, LEFT, 5, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(CHANNEL, CHANNEL, "CH", 3, RIGHT, 9, INFO, "NCCL's channel.") \
	X(CHANNEL, DIRECTION, "DIR", 4, LEFT, 9, INFO, "send or recv.") \
	X(CHANNEL, PEER, "PEER", 4, RIGHT, 9, INFO, \
	  "The rank at the other end.") \
	X(CHANNEL, STATE, "STATE", 8, LEFT, 9, INFO, \
	  "What the oldest unfinished step waits for.") \
	X(CHANNEL, SINCE, "SINCE", 7, RIGHT, 8, INFO, \
	  "How long it has been in this state.") \
	X(CHANNEL, STEP, "STEP", 9, RIGHT, 7, INFO, \
	  "The oldest unfinished step, of how many of its proxy operation.") \
	X(CHANNEL, FUNCTION, "FUNCTION", 13, LEFT, 6, INFO, \
	  "The function whose operation is under way.") \
	X(CHANNEL, RATE, "MB/S", 8, RIGHT, 8, INFO, \
	  "10^6 bytes per second.") \
	X(CHANNEL, TRACE, "HIST", 16, LEFT, 6, DIAG, \
	  "Its bytes per second at the latest looks, as bars.") \
	X(CHANNEL, BYTES, "BYTES", 7, RIGHT, 3, INFO, \
	  "Bytes moved since the start: the sum of transSize.") \
	X(CHANNEL, GPU_SHARE, "%GPU", 4, RIGHT, 6, INFO, \
	  "Share of time spent waiting for the local GPU: to produce (send) or" \
	  " to consume (recv).") \
	X(CHANNEL, PEER_SHARE, "%PEER", 5, RIGHT, 6, INFO, \
	  "Share of time spent waiting for the peer: its buffer (send; NCCL" \
	  " tells from 2.27 on) or its data (recv).") \
	X(CHANNEL, NET_SHARE, "%NET", 4, RIGHT, 6, INFO, \
	  "Share of time spent waiting for the network (send) or for the flush" \
	  " to GPU memory (recv).") \
	X(CHANNEL, IDLE_SHARE, "%IDLE", 5, RIGHT, 5, INFO, \
	  "Share of time without a step under way.") \
	X(CHANNEL, OPERATIONS, "OPS", 7, RIGHT, 2, INFO, \
	  "Proxy operations started.") \
	X(CHANNEL, STEPS, "STEPS", 8, RIGHT, 2, INFO, "Steps done.") \
	X(PROXY, RANK, "RANK", 4, RIGHT, 9, INFO, "Rank in the communicator.") \
	X(PROXY, COMM, "COMM", 8, LEFT, 8, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(PROXY, PID, "PID", 7, RIGHT, 3, INFO, "The process.") \
	X(PROXY, STATE, "STATE", 7, LEFT, 9, INFO, \
	  "What the proxy thread does: sleep, idle, active, append. NCCL tells" \
	  " from 2.27 on.") \
	X(PROXY, SINCE, "SINCE", 7, RIGHT, 9, INFO, \
	  "How long it has been in this state.") \
	X(PROXY, SLEEP_SHARE, "%SLEEP", 6, RIGHT, 8, INFO, \
	  "Share of time asleep.") \
	X(PROXY, IDLE_SHARE, "%IDLE", 5, RIGHT, 8, INFO, \
	  "Share of time awake without progress.") \
	X(PROXY, ACTIVE_SHARE, "%ACTV", 5, RIGHT, 8, INFO, \
	  "Share of time making progress.") \
	X(PROXY, APPEND_SHARE, "%APPD", 5, RIGHT, 7, INFO, \
	  "Share of time taking over posted operations.") \
	X(PROXY, WAKEUP_RATE, "WAKE/S", 7, RIGHT, 6, INFO, \
	  "Times woken per second.") \
	X(PROXY, IDLE_RATE, "IDLE/S", 7, RIGHT, 5, INFO, \
	  "Transitions to idle per second.") \
	X(PROXY, ACTIVE_RATE, "ACTV/S", 7, RIGHT, 5, INFO, \
	  "Transitions to active per second.") \
	X(PROXY, APPEND_RATE, "APPD/S", 7, RIGHT, 5, INFO, \
	  "Times per second that operations were taken over.") \
	X(PROXY, APPENDED, "APPENDED", 8, RIGHT, 4, INFO, \
	  "Proxy operations taken over since the start.") \
	X(FUNCTION, COMM, "COMM", 10, LEFT, 8, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(FUNCTION, RANK, "RANK", 4, RIGHT, 7, INFO, \
	  "Rank in the communicator.") \
	X(FUNCTION, FUNCTION, "FUNCTION", 13, LEFT, 9, INFO, \
	  "NCCL's function.") \
	X(FUNCTION, CALLS, "CALLS", 7, RIGHT, 4, INFO, \
	  "Calls by the application (from NCCL 2.28 on).") \
	X(FUNCTION, OPERATIONS, "OPS", 7, RIGHT, 6, INFO, \
	  "Operations started.") \
	X(FUNCTION, DONE, "DONE", 7, RIGHT, 5, INFO, \
	  "Operations whose last proxy operation or kernel has ended.") \
	X(FUNCTION, RATE, "OP/S", 7, RIGHT, 6, INFO, \
	  "Operations started per second.") \
	X(FUNCTION, BYTES, "BYTES", 7, RIGHT, 5, INFO, \
	  "Message bytes as nccl-tests counts them, of all operations.") \
	X(FUNCTION, ALGBW, "ALGBW", 7, RIGHT, 7, INFO, \
	  "GB/s: bytes over time of the timed operations, over the latest" \
	  " interval in which some were timed.") \
	X(FUNCTION, BUSBW, "BUSBW", 7, RIGHT, 8, INFO, \
	  "GB/s: algbw times nccl-tests' factor of the function.") \
	X(FUNCTION, TRACE, "HIST", 16, LEFT, 6, DIAG, \
	  "Its busbw at the latest looks, as bars.") \
	X(FUNCTION, P50, "P50", 8, RIGHT, 7, INFO, \
	  "Median time of an operation, in the window; since the start where" \
	  " that is the latest interval.") \
	X(FUNCTION, P95, "P95", 8, RIGHT, 4, DIAG, \
	  "95th percentile of the same.") \
	X(FUNCTION, P99, "P99", 8, RIGHT, 7, INFO, \
	  "99th percentile of the same.") \
	X(FUNCTION, MAX, "MAX", 8, RIGHT, 4, DIAG, \
	  "The longest time of an operation, of the same.") \
	X(FUNCTION, TIMING, "TIMING", 6, LEFT, 6, INFO, \
	  "Where times come from: kernel, the GPU's clock; proxy, first proxy" \
	  " operation to last; none.") \
	X(FUNCTION, TIMED, "TIMED", 7, RIGHT, 3, INFO, \
	  "How many operations were timed.") \
	X(FUNCTION, SEQUENCE, "SEQ", 7, RIGHT, 5, INFO, \
	  "The largest sequence number seen.") \
	X(FINDING, SEVERITY, "HOW", 5, LEFT, 8, INFO, \
	  "slow, or suspicious; stuck.") \
	X(FINDING, VERDICT, "VERDICT", 16, LEFT, 9, INFO, \
	  "What is wrong: a word of the verdicts.") \
	X(FINDING, COMM, "COMM", 8, LEFT, 6, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(FINDING, RANK, "RANK", 4, RIGHT, 9, INFO, \
	  "The rank that others wait for, seen here or not.") \
	X(FINDING, PEER, "PEER", 4, RIGHT, 5, INFO, "The rank at the other end.") \
	X(FINDING, CHANNEL, "CH", 3, RIGHT, 4, INFO, "NCCL's channel.") \
	X(FINDING, CALL, "CALL", 15, LEFT, 7, INFO, \
	  "The function, and its sequence number.") \
	X(FINDING, SINCE, "SINCE", 7, RIGHT, 8, INFO, "For how long so far.") \
	X(FINDING, WAITING, "WAIT", 4, RIGHT, 6, INFO, \
	  "How many ranks wait for it.") \
	X(FINDING, CONFIDENCE, "SURE", 8, LEFT, 6, INFO, \
	  "How sure it is: certain, likely, possible.") \
	X(RANGE, COMM, "COMM", 8, LEFT, 5, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(RANGE, RANK, "RANK", 4, RIGHT, 8, INFO, "Rank in the communicator.") \
	X(RANGE, NAME, "RANGE", 18, LEFT, 9, INFO, \
	  "The range's name, below that of the range around it.") \
	X(RANGE, CALLS, "CALLS", 6, RIGHT, 3, INFO, \
	  "Calls of the application, from NCCL 2.28 on.") \
	X(RANGE, OPERATIONS, "OPS", 6, RIGHT, 6, INFO, "Operations started.") \
	X(RANGE, BYTES, "BYTES", 6, RIGHT, 7, INFO, \
	  "Message bytes of these operations.") \
	X(RANGE, TIME, "TIME", 7, RIGHT, 7, INFO, \
	  "The times of the timed operations together.") \
	X(RANGE, BUSY, "BUSY", 7, RIGHT, 8, INFO, \
	  "The time in which one or more operations made progress.") \
	X(RANGE, ALGBW, "ALGBW", 6, RIGHT, 6, INFO, \
	  "GB/s: bytes of the timed operations over their times.") \
	X(RANGE, BUSYBW, "BUSYBW", 6, RIGHT, 4, INFO, \
	  "GB/s: bytes of the operations that made progress over the time in" \
	  " which any did.") \
	X(RANGE, WAIT, "WAIT", 7, LEFT, 7, INFO, \
	  "What its channels spent most of the time with.") \
	X(RANGE, SHARE, "SHARE", 5, RIGHT, 5, INFO, "… and that share of it.") \
	X(RANGE, COMPUTE, "COMPUTE", 7, RIGHT, 4, DIAG, \
	  "The time in which kernels launched in it computed; with" \
	  " NCCLSTAT_CUPTI only.") \
	X(RANGE, HIDDEN, "%HIDDEN", 7, RIGHT, 4, DIAG, \
	  "Share of the time of NCCL's kernels in which the GPU computed, too;" \
	  " with NCCLSTAT_CUPTI only.") \
	X(RANGE, P50, "P50", 7, RIGHT, 5, INFO, \
	  "Median time of an operation, within 8 %.") \
	X(RANGE, P99, "P99", 7, RIGHT, 6, INFO, \
	  "99th percentile of the time of an operation, within 8 %.") \
	X(CLASS, COMM, "COMM", 10, LEFT, 5, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(CLASS, RANK, "RANK", 4, RIGHT, 8, INFO, "Rank in the communicator.") \
	X(CLASS, FUNCTION, "FUNCTION", 13, LEFT, 9, INFO, "NCCL's function.") \
	X(CLASS, SIZE, "SIZE", 5, RIGHT, 9, INFO, \
	  "Message bytes as nccl-tests counts them: from this to under twice as" \
	  " many, K being 1024; other: what found no row of its own.") \
	X(CLASS, ALGORITHM, "ALGO", 5, LEFT, 6, INFO, \
	  "NCCL's algorithm, where it tells.") \
	X(CLASS, PROTOCOL, "PROTO", 6, LEFT, 6, INFO, \
	  "NCCL's protocol, where it tells.") \
	X(CLASS, OPERATIONS, "OPS", 7, RIGHT, 6, INFO, \
	  "Operations started.") \
	X(CLASS, RATE, "OP/S", 6, RIGHT, 3, INFO, \
	  "Operations started per second.") \
	X(CLASS, TIMED, "TIMED", 7, RIGHT, 2, INFO, \
	  "How many operations were timed.") \
	X(CLASS, TIME, "TIME", 7, RIGHT, 7, INFO, \
	  "Mean time of an operation, since the start.") \
	X(CLASS, ALGBW, "ALGBW", 6, RIGHT, 6, INFO, \
	  "GB/s: bytes over time of the timed operations, since the start.") \
	X(CLASS, BUSBW, "BUSBW", 6, RIGHT, 8, INFO, \
	  "GB/s: algbw times nccl-tests' factor of the function.") \
	X(CLASS, P50, "P50", 7, RIGHT, 5, INFO, \
	  "Median time of an operation, since the start.") \
	X(CLASS, P95, "P95", 7, RIGHT, 3, INFO, \
	  "95th percentile of the time of an operation, since the start.") \
	X(CLASS, P99, "P99", 7, RIGHT, 7, INFO, \
	  "99th percentile of the time of an operation, since the start.") \
	X(CLASS, MAX, "MAX", 7, RIGHT, 4, INFO, \
	  "The longest time of an operation, since the start.") \
	X(CLASS, TIMING, "TIMING", 6, LEFT, 4, INFO, \
	  "Where times come from: kernel, the GPU's clock; proxy, first proxy" \
	  " operation to last; none.") \
	X(TIMELINE, RANK, "RANK", 4, RIGHT, 9, INFO, \
	  "Rank in the communicator.") \
	X(TIMELINE, LANE, "LANE", 12, LEFT, 9, INFO, \
	  "API: the application's calls; a function: its operations; kernels:" \
	  " those that are timed; proxy: the proxy thread; ch: the steps of a" \
	  " channel, direction and peer, and of how many operations one keeps" \
	  " them.") \
	X(TIMELINE, COMM, "COMM", 8, LEFT, 5, INFO, \
	  "The communicator's name, or its id where it has none.") \
	X(TIMELINE, NOW, "NOW", 9, LEFT, 4, INFO, \
	  "What it does at this moment.") \
	X(TIMELINE, SINCE, "SINCE", 7, RIGHT, 3, INFO, \
	  "How long it has been doing that.")

#define NCS_COLUMNS_IN_BITS(X) \
	X(RANK, SEND_RATE, "SENDb/S") \
	X(RANK, RECV_RATE, "RECVb/S") \
	X(COMMUNICATOR, SEND_RATE, "SENDb/S") \
	X(COMMUNICATOR, RECV_RATE, "RECVb/S") \
	X(CHANNEL, RATE, "Mb/S") \
	X(FUNCTION, ALGBW, "ALGBWb") \
	X(FUNCTION, BUSBW, "BUSBWb") \
	X(RANGE, ALGBW, "ALGBWb") \
	X(RANGE, BUSYBW, "BUSYBWb") \
	X(CLASS, ALGBW, "ALGBWb") \
	X(CLASS, BUSBW, "BUSBWb")
