/* The columns of --export=csv, one line each, in their order.
 *
 * X(ID, name, help)
 *   ID    suffix of NCS_CSV_…
 *   name  in the first line
 *   help  a clause for people; goes into the manual
 */
#define NCS_CSV_COLUMNS(X) \
	X(COMMUNICATOR, "communicator", "the communicator's name") \
	X(COMMUNICATOR_ID, "communicator_id", \
	  "its id, 16 hexadecimal digits") \
	X(NRANKS, "nranks", "its size") \
	X(RANK, "rank", "the rank in it") \
	X(HOST, "host", "the host's name") \
	X(PID, "pid", "the process") \
	X(FUNCTION, "function", "the function of NCCL") \
	X(SIZE, "size_bytes", \
	  "the operations are of this size or more, but less than twice that") \
	X(ALGORITHM, "algorithm", "the algorithm that NCCL chose") \
	X(PROTOCOL, "protocol", "the protocol that NCCL chose") \
	X(OPERATIONS, "operations", "operations begun") \
	X(TIMED, "timed", "those with a time: what follows is of these") \
	X(TIMING, "timing", \
	  "where the time comes from: kernel, the GPU's clock; proxy, from the" \
	  " first proxy operation's start to the last one's end") \
	X(BYTES, "average_bytes", "their size, as nccl-tests counts it") \
	X(AVERAGE, "time_avg_us", "their time") \
	X(P50, "time_p50_us", "half of them took no longer") \
	X(P99, "time_p99_us", "all but one in a hundred took no longer") \
	X(LONGEST, "time_max_us", \
	  "the longest of all since the communicator was there") \
	X(ALGBW, "algbw_gb_s", \
	  "the sum of their bytes over the sum of their times, 10^9 bytes a" \
	  " second") \
	X(BUSBW, "busbw_gb_s", \
	  "that times the function's factor, as nccl-tests has it")
