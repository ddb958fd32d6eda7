/* The functions of NCCL that operations carry, one line each.
 *
 * X(ID, name, size, numerator, denominator)
 *   ID    suffix of NCS_FUNCTION_…; its number is part of the ABI
 *   name  the name that NCCL passes; the key in JSON
 *   size  ONE: the message is count * size of the datatype
 *         RANKS: that times the number of ranks
 *   numerator, denominator
 *         busbw = algbw * (numerator of n) / (denominator of n), where each
 *         is RING2 2(n-1), RING n-1, RANKS n or ONE 1
 *
 * Sizes and factors are those of nccl-tests (its PERFORMANCE.md and the .cu
 * file of each test). At most NCS_FUNCTION_MAX lines; append only.
 */
#define NCS_FUNCTIONS(X) \
	X(ALL_REDUCE, "AllReduce", ONE, RING2, RANKS) \
	X(ALL_GATHER, "AllGather", RANKS, RING, RANKS) \
	X(REDUCE_SCATTER, "ReduceScatter", RANKS, RING, RANKS) \
	X(BROADCAST, "Broadcast", ONE, ONE, ONE) \
	X(REDUCE, "Reduce", ONE, ONE, ONE) \
	X(SEND, "Send", ONE, ONE, ONE) \
	X(RECV, "Recv", ONE, ONE, ONE) \
	X(SEND_RECV, "SendRecv", ONE, ONE, ONE) \
	X(ALL_TO_ALL, "AlltoAll", RANKS, RING, RANKS) \
	X(GATHER, "Gather", RANKS, RING, RANKS) \
	X(SCATTER, "Scatter", RANKS, RING, RANKS) \
	X(ALL_GATHER_V, "AllGatherV", ONE, ONE, ONE) \
	X(PUT_SIGNAL, "PutSignal", ONE, ONE, ONE) \
	X(SIGNAL, "Signal", ONE, ONE, ONE) \
	X(WAIT_SIGNAL, "WaitSignal", ONE, ONE, ONE) \
	X(OTHER, "other", ONE, ONE, ONE)
