/* SPDX-License-Identifier: MIT */
/* Who waits, by function; see collective_waits.h. A root that has sent its data, and a leaf
 * that has, go on: what holds them up is the network. */
#include "analysis/base/collective_waits.h"

#include "ncclstat/abi.h"

enum ncs_gate ncs_gate_of(unsigned function)
{
	static const enum ncs_gate gates[NCS_FUNCTION_COUNT] = {
		[NCS_FUNCTION_ALL_REDUCE] = NCS_GATE_ALL,
		[NCS_FUNCTION_ALL_GATHER] = NCS_GATE_ALL,
		[NCS_FUNCTION_REDUCE_SCATTER] = NCS_GATE_ALL,
		[NCS_FUNCTION_ALL_TO_ALL] = NCS_GATE_ALL,
		[NCS_FUNCTION_ALL_GATHER_V] = NCS_GATE_ALL,
		[NCS_FUNCTION_BROADCAST] = NCS_GATE_ROOT,
		[NCS_FUNCTION_SCATTER] = NCS_GATE_ROOT,
		[NCS_FUNCTION_REDUCE] = NCS_GATE_LEAVES,
		[NCS_FUNCTION_GATHER] = NCS_GATE_LEAVES,
	};

	return function < NCS_FUNCTION_COUNT ? gates[function] : NCS_GATE_NONE;
}
