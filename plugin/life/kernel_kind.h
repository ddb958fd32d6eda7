/* SPDX-License-Identifier: MIT */
/* Tells by the names of kernels which of them communicate. Pure; any thread. */
#ifndef NCS_PLUGIN_LIFE_KERNEL_KIND_H
#define NCS_PLUGIN_LIFE_KERNEL_KIND_H

enum ncs_kernel_kind {
	NCS_KIND_COMPUTE, /* all others, also those without a name */
	NCS_KIND_NCCL,    /* of any release of NCCL */
	/* Communication that NCCL does not know of (tables/outside.def). */
	NCS_KIND_OUTSIDE,
};

/* Returns the kind of a kernel by its name as CUPTI has it, mangled by C++ or
 * not; NULL: it has none. */
enum ncs_kernel_kind ncs_kernel_kind_of(const char *name);

#endif
