/* The environment variables that the plugin reads, one line each.
 *
 * X(ID, name, values, default, help)
 *   ID       suffix of NCS_ENVIRONMENT_…
 *   name     the variable
 *   values   what it may be set to, for the manual
 *   default  what holds when it is not set
 *   help     one or two sentences; goes into the manual
 */
#define NCS_ENVIRONMENT(X) \
	X(DISABLE, "NCCLSTAT_DISABLE", "0 | 1", "0", \
	  "1 keeps the plugin silent: it asks NCCL for no events and publishes" \
	  " nothing.") \
	X(DIR, "NCCLSTAT_DIR", "directory", "/dev/shm", \
	  "The directory that holds the shared-memory objects; containers that" \
	  " share it see each other's jobs. The viewer reads it too.") \
	X(KERNEL_TIMING, "NCCLSTAT_KERNEL_TIMING", \
	  "off | sampled | sampled:N | sampled:auto | always", "sampled:64", \
	  "Whether NCCL is asked for the GPU's own times of operations: of" \
	  " none, of one group of calls in N (1 to 1048576, rounded up to a" \
	  " power of two), of as many as keep their cost low, or of all." \
	  " They are the only times on jobs without network traffic; see" \
	  " below for what they cost and when none are taken.") \
	X(NO_GRAPHS, "NCCLSTAT_NO_GRAPHS", "0 | 1", "0", \
	  "1 promises that no NCCL call of the job is captured into a CUDA" \
	  " graph, and that none sends or receives from point to point." \
	  " Calls can then be timed in processes with several communicators," \
	  " too. Where the promise is broken the job may hang.") \
	X(SAMPLE, "NCCLSTAT_SAMPLE", "1 to 16384", "1", \
	  "One operation in this many keeps the records of what it consists of," \
	  " the same ones on all ranks; 1 is all of them. It is rounded up to a" \
	  " power of two. Counts and times in the tables stay exact.") \
	X(SAMPLE_SLOW, "NCCLSTAT_SAMPLE_SLOW", "time with suffix us, ms or s", \
	  "10ms", \
	  "An operation that has been under way for longer keeps its records" \
	  " from then on, whether it was chosen or not.") \
	X(SHM_BYTES, "NCCLSTAT_SHM_BYTES", "bytes, or with suffix K, M, G", \
	  "16M", \
	  "The shared memory that one process may use for all its communicators" \
	  " together. Rings shrink as it fills up.") \
	X(CHAIN, "NCCLSTAT_CHAIN", "none | file", "none", \
	  "Another profiler plugin, which gets the calls that NCCL would make if" \
	  " it were alone: a path, or a name that the dynamic linker finds.") \
	X(RANGES, "NCCLSTAT_RANGES", "auto | 0 to 65535", "auto", \
	  "How many ranges of the program, each in each place, are told apart;" \
	  " 0 turns them off. auto is 1024 if NVTX_INJECTION64_PATH is set," \
	  " else 64.") \
	X(NVTX_CHAIN, "NCCLSTAT_NVTX_CHAIN", "none | file", "none", \
	  "Another NVTX tool, which is loaded first and gets all calls, where" \
	  " NVTX_INJECTION64_PATH names the plugin.") \
	X(CUPTI, "NCCLSTAT_CUPTI", "0 | 1 | file", "0", \
	  "1 loads CUPTI, which comes with CUDA, and records the GPU's" \
	  " kernels, so that ranges also tell compute time and how much of the" \
	  " communication it hides; a file is the library to load.")
