/* Why the plugin has not done what it was asked for, one line each.
 *
 * X(ID, name, help)
 *   ID    suffix of NCS_REFUSAL_…; its number is part of the ABI (append only)
 *   name  the key in JSON
 *   help  a clause for people
 */
#define NCS_REFUSALS(X) \
	X(NONE, "none", "nothing was refused") \
	X(MALFORMED, "malformed", \
	  "the request makes no sense to this version of the plugin; the" \
	  " latest one that did holds, without a lease") \
	X(KERNEL, "kernel", \
	  "this release of NCCL is never asked for kernel times: it could end" \
	  " the job") \
	X(LEASE, "lease", \
	  "the lease had ended before it was seen, or was to last for longer" \
	  " than a lease may")
