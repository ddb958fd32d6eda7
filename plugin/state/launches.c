/* SPDX-License-Identifier: MIT */
/* State that all launches of the process share; see launches.h. */
#include "plugin/state/launches.h"

struct ncs_launch_process ncs_launch_process;
