/* SPDX-License-Identifier: MIT */
/* Kinds of operations of stages, and what work between them takes; see
 * work_kind.h. */
#include "analysis/records/work_kind.h"

#include <stdlib.h>
#include <string.h>

#define KINDS NCS_WORK_KIND_COUNT

unsigned ncs_work_kind_of(const struct ncs_part *part)
{
	bool is_send = part->function == NCS_FUNCTION_SEND;
	/* Records may say any number. */
	int64_t ranks = part->nranks, apart = (int64_t)part->peer - part->rank;

	if (!(part->flags & NCS_PART_P2P))
		return NCS_WORK_COLLECTIVE + part->function;
	/* Two ranks are first and last, not each the next one of the other. */
	if (ranks > 2 && (apart == 1 - ranks || apart == ranks - 1))
		apart = apart < 0 ? 1 : -1;
	if (apart == 1)
		return is_send ? NCS_WORK_SEND_NEXT : NCS_WORK_RECV_NEXT;
	if (apart == -1)
		return is_send ? NCS_WORK_SEND_BEFORE : NCS_WORK_RECV_BEFORE;
	return is_send ? NCS_WORK_SEND_FAR : NCS_WORK_RECV_FAR;
}

void ncs_work_at_once(double usual_ns[KINDS * KINDS])
{
	for (unsigned from = 0; from < NCS_WORK_COLLECTIVE; from++)
		for (unsigned to = 0; to < NCS_WORK_COLLECTIVE; to++)
			if (ncs_is_work_send(from) && !ncs_is_work_send(to) &&
			    usual_ns[from * KINDS + to] == NCS_WORK_UNKNOWN_NS)
				usual_ns[from * KINDS + to] = 0;
}

void ncs_work_put_together(double usual_ns[KINDS * KINDS])
{
	double *path_ns = malloc(sizeof(double) * KINDS * KINDS);

	if (!path_ns)
		return;
	memcpy(path_ns, usual_ns, sizeof(double) * KINDS * KINDS);
	ncs_work_at_once(path_ns);
	for (unsigned via = 0; via < NCS_WORK_COLLECTIVE; via++)
		for (unsigned from = 0; from < KINDS; from++)
			for (unsigned to = 0; to < KINDS; to++) {
				double ns = path_ns[from * KINDS + via] +
					    path_ns[via * KINDS + to];

				if (ns < path_ns[from * KINDS + to])
					path_ns[from * KINDS + to] = ns;
			}
	for (size_t i = 0; i < (size_t)KINDS * KINDS; i++)
		if (usual_ns[i] == NCS_WORK_UNKNOWN_NS)
			usual_ns[i] = path_ns[i];
	free(path_ns);
}
