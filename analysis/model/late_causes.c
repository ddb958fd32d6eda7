/* SPDX-License-Identifier: MIT */
/* Why a rank came last; see late_causes.h. Must not guess: work that others may
 * have done while they waited counts as theirs.
 */
#include "analysis/model/late_causes.h"

#include "analysis/model/spans.h"

/* Returns how much of the time for which all waited for the last part alone its
 * process took by itself: it needed so much longer since its last operation than
 * the process of the last but one. The rest it lost before, in operations that
 * ended late. */
static uint64_t own_ns(const struct ncs_comparison *comparison)
{
	uint64_t late_ns = comparison->exclusive_ns;
	uint64_t last_ns = comparison->before_last.end_ns;
	uint64_t second_ns = comparison->before_second.end_ns;
	uint64_t usual_ns = 0, took_ns, own_ns;

	if (last_ns == 0)
		return late_ns;
	took_ns = ncs_arrival_ns(comparison, comparison->last) - last_ns;
	if (second_ns != 0)
		usual_ns = ncs_arrival_ns(comparison, comparison->second) -
			   second_ns;
	own_ns = ncs_time_since(usual_ns, took_ns);
	return own_ns < late_ns ? own_ns : late_ns;
}

/* Returns how much of a wait for the first data of the last part its proxy
 * thread took: the time since its kernel began, beyond what the last part but
 * one took for that. Without kernels' times, the time that the thread took to
 * look at the operation. */
static uint64_t proxy_ns(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *last = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	enum ncs_moment from = NCS_MOMENT_KERNEL, until = NCS_MOMENT_DATA;
	uint64_t usual_ns, error_ns;

	if (joined->arrival != NCS_MOMENT_DATA)
		return 0;
	if (last->at_ns[from] == 0 || second->at_ns[from] == 0) {
		from = NCS_MOMENT_OPERATION;
		until = NCS_MOMENT_PROXY;
	}
	error_ns = ncs_part_error_ns(last, from) +
		   ncs_part_error_ns(second, from) + NCS_LAUNCH_NS;
	usual_ns = ncs_time_since(second->at_ns[from], second->at_ns[until]);
	usual_ns = ncs_time_since(usual_ns, ncs_time_since(last->at_ns[from],
							   last->at_ns[until]));
	return usual_ns > error_ns ? usual_ns : 0;
}

/* Returns when the kernel of a part could begin; 0 if that is not known. */
static uint64_t begun_ns(const struct ncs_part *part)
{
	return part->at_ns[NCS_MOMENT_STREAM] != 0 ?
		       part->at_ns[NCS_MOMENT_STREAM] :
		       part->at_ns[NCS_MOMENT_KERNEL];
}

uint64_t ncs_data_late_ns(const struct ncs_comparison *comparison)
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *last = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	uint64_t late_ns;

	if (joined->arrival != NCS_MOMENT_DATA)
		return 0;
	if (begun_ns(last) == 0 || begun_ns(second) == 0)
		return proxy_ns(comparison);
	late_ns = ncs_time_since(ncs_time_since(begun_ns(second),
						second->at_ns[NCS_MOMENT_DATA]),
				 ncs_time_since(begun_ns(last),
						last->at_ns[NCS_MOMENT_DATA]));
	return late_ns < comparison->exclusive_ns ? late_ns :
						    comparison->exclusive_ns;
}

void ncs_split_wait(const struct ncs_comparison *comparison,
		    uint64_t cause_ns[NCS_LATE_CAUSE_COUNT])
{
	const struct ncs_joined *joined = comparison->joined;
	const struct ncs_part *part = &joined->parts[comparison->last];
	const struct ncs_part *second = &joined->parts[comparison->second];
	uint64_t launched_ns = part->at_ns[NCS_MOMENT_OPERATION];
	uint64_t later_ns = ncs_time_since(second->at_ns[NCS_MOMENT_OPERATION],
					   launched_ns);
	uint64_t late_ns = own_ns(comparison), peer_ns;
	uint64_t by_proxy_ns = proxy_ns(comparison);
	uint64_t host_ns = ncs_time_since(
		ncs_arrival_ns(comparison, comparison->second), launched_ns);

	peer_ns = comparison->exclusive_ns - late_ns;
	if (by_proxy_ns > late_ns)
		by_proxy_ns = late_ns;
	late_ns -= by_proxy_ns;
	if (launched_ns > comparison->before_last.end_ns &&
	    later_ns > NCS_LAUNCH_NS && later_ns > host_ns)
		host_ns = later_ns;
	if (host_ns > late_ns || joined->arrival == NCS_MOMENT_PROXY ||
	    ncs_time_since(launched_ns,
			   ncs_arrival_ns(comparison, comparison->last)) <=
		    NCS_LAUNCH_NS)
		host_ns = late_ns;
	cause_ns[NCS_LATE_PEER] = peer_ns;
	cause_ns[NCS_LATE_PROXY] = by_proxy_ns;
	cause_ns[NCS_LATE_HOST] = host_ns;
	cause_ns[NCS_LATE_STREAM] = late_ns - host_ns;
}

enum ncs_late_before ncs_work_before(const struct ncs_comparison *comparison)
{
	uint64_t before_ns = comparison->before_second.end_ns;

	if (before_ns == 0)
		return NCS_BEFORE_UNKNOWN;
	return before_ns + NCS_LAUNCH_NS >
			       ncs_arrival_ns(comparison, comparison->second) ?
		       NCS_BEFORE_QUEUED :
		       NCS_BEFORE_WORK;
}
