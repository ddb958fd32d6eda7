/* Datatypes, algorithms and protocols as NCCL names them.
 *
 * NCS_DATATYPES: X(ID, name, number, bytes); number is ncclDataType_t, which
 * API 1 passes in place of the name. NCCL has no name for ncclUint8 and calls
 * it "Unknown", hence one byte.
 * NCS_ALGORITHMS, NCS_PROTOCOLS: X(ID, name, number); number is API 1's.
 * UNKNOWN (number -1) stands first in each, so that 0 means "not told".
 */
#define NCS_DATATYPES(X) \
	X(UNKNOWN, "Unknown", -1, 1) \
	X(INT8, "ncclInt8", 0, 1) \
	X(UINT8, "ncclUint8", 1, 1) \
	X(INT32, "ncclInt32", 2, 4) \
	X(UINT32, "ncclUint32", 3, 4) \
	X(INT64, "ncclInt64", 4, 8) \
	X(UINT64, "ncclUint64", 5, 8) \
	X(FLOAT16, "ncclFloat16", 6, 2) \
	X(FLOAT32, "ncclFloat32", 7, 4) \
	X(FLOAT64, "ncclFloat64", 8, 8) \
	X(BFLOAT16, "ncclBfloat16", 9, 2) \
	X(FLOAT8E4M3, "ncclFloat8e4m3", 10, 1) \
	X(FLOAT8E5M2, "ncclFloat8e5m2", 11, 1)

#define NCS_ALGORITHMS(X) \
	X(UNKNOWN, "-", -1) \
	X(TREE, "TREE", 0) \
	X(RING, "RING", 1) \
	X(COLLNET_DIRECT, "COLLNET_DIRECT", 2) \
	X(COLLNET_CHAIN, "COLLNET_CHAIN", 3) \
	X(NVLS, "NVLS", 4) \
	X(NVLS_TREE, "NVLS_TREE", 5) \
	X(PAT, "PAT", 6)

#define NCS_PROTOCOLS(X) \
	X(UNKNOWN, "-", -1) \
	X(LL, "LL", 0) \
	X(LL128, "LL128", 1) \
	X(SIMPLE, "SIMPLE", 2)
