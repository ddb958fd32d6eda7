/* NCCLSTAT_CUPTI: what came of it.
 *
 * X(ID, name, help)
 *   ID    suffix of NCS_CUPTI_…; its number is part of the ABI (append only)
 *   name  the word in JSON
 *   help  for people; goes into the manual
 */
#define NCS_CUPTI_STATUSES(X) \
	X(OFF, "off", "nothing is recorded, as was asked for") \
	X(ON, "on", "the GPU's kernels are recorded") \
	X(MISSING, "missing", \
	  "nothing is recorded: there is no library of CUPTI, or it lacks" \
	  " something; NCCL's log says which") \
	X(OLD, "old", "nothing is recorded: CUPTI is older than CUDA 12.0's") \
	X(TAKEN, "taken", \
	  "nothing is recorded: another tool has CUPTI, which serves one" \
	  " (torch.profiler, Nsight Systems, Nsight Compute)") \
	X(FAILED, "failed", \
	  "nothing is recorded: CUPTI has refused; NCCL's log says why") \
	X(FORKED, "forked", \
	  "nothing is recorded: the process was forked by one that had CUPTI," \
	  " which is its parent's alone")
