/* SPDX-License-Identifier: MIT */
/* The wait rule of each function; see collective_waits.h. A root or leaf that
 * has sent its data goes on: if it is held up, it is by the network. */
#include "analysis/base/collective_waits.h"

#include "ncclstat/abi_values.h"

enum ncs_wait_rule ncs_wait_rule_of(unsigned function)
{
	static const enum ncs_wait_rule rules[NCS_FUNCTION_COUNT] = {
		[NCS_FUNCTION_ALL_REDUCE] = NCS_WAIT_FOR_ALL,
		[NCS_FUNCTION_ALL_GATHER] = NCS_WAIT_FOR_ALL,
		[NCS_FUNCTION_REDUCE_SCATTER] = NCS_WAIT_FOR_ALL,
		[NCS_FUNCTION_ALL_TO_ALL] = NCS_WAIT_FOR_ALL,
		[NCS_FUNCTION_ALL_GATHER_V] = NCS_WAIT_FOR_ALL,
		[NCS_FUNCTION_BROADCAST] = NCS_WAIT_FOR_ROOT,
		[NCS_FUNCTION_SCATTER] = NCS_WAIT_FOR_ROOT,
		[NCS_FUNCTION_REDUCE] = NCS_WAIT_FOR_LEAVES,
		[NCS_FUNCTION_GATHER] = NCS_WAIT_FOR_LEAVES,
	};

	return function < NCS_FUNCTION_COUNT ? rules[function] :
					       NCS_WAIT_FOR_NONE;
}

bool ncs_has_root(unsigned function)
{
	return function == NCS_FUNCTION_BROADCAST ||
	       function == NCS_FUNCTION_REDUCE;
}

bool ncs_has_one_size(unsigned function)
{
	return function == NCS_FUNCTION_ALL_REDUCE ||
	       function == NCS_FUNCTION_ALL_GATHER ||
	       function == NCS_FUNCTION_REDUCE_SCATTER ||
	       ncs_has_root(function);
}
