/* How ranks come to collectives, and where lateness comes from, one line each.
 *
 * NCS_MOMENTS_OF_ARRIVAL: X(ID, name, help), on the way into an operation, in
 *   this order. NCS_AT_<ID>.
 * NCS_LATE_CAUSES: X(ID, name, help), where a rank's lateness began.
 *   NCS_LATE_<ID>.
 * Names are the views' and keys in JSON; help is a clause for people.
 */
#define NCS_MOMENTS_OF_ARRIVAL(X) \
	X(CALL, "call", \
	  "the application's latest call of the function before the operation" \
	  " began") \
	X(OPERATION, "operation", "NCCL began to enqueue it") \
	X(PROXY, "proxy", "the proxy thread had its first part") \
	X(KERNEL, "kernel", "its first kernel began, by the GPU's clock") \
	X(DATA, "data", "the GPU had produced the first data to be sent")

#define NCS_LATE_CAUSES(X) \
	X(HOST, "host", "the application called late") \
	X(QUEUE, "queue", \
	  "it called in time, but the operation or its kernel began late," \
	  " behind earlier work") \
	X(PRODUCER, "producer", \
	  "all of that was in time, but the GPU's first data came late")
