/* SPDX-License-Identifier: MIT */
/* A copy of NVTX, such as each library that uses NVTX contains: the words in
 * which a tool stores its functions, and the calls that go through them. A call
 * whose word is empty does nothing. A process may have several copies. */
#ifndef NCS_TEST_PLUGIN_NVTX_COPY_H
#define NCS_TEST_PLUGIN_NVTX_COPY_H

#include <stdint.h>
#include <wchar.h>

#include "plugin/nccl/nvtx_abi.h"

#define NVTX_COPY_WORDS 16

struct nvtx_copy {
	nvtx_function core[NVTX_COPY_WORDS];
	nvtx_function core2[NVTX_COPY_WORDS];
};

/* Loads the tool at `path` into the copy, as the copy's first NVTX call does.
 * Returns the result of the tool's entry function; fails the scenario if there
 * is none. */
int nvtx_copy_load(struct nvtx_copy *copy, const char *path);

/* Called while a tool is being loaded, if it is not NULL. */
extern void (*nvtx_copy_on_load)(void);

/* The functions that programs call. */
int nvtx_push(struct nvtx_copy *copy, const char *name);
int nvtx_push_wide(struct nvtx_copy *copy, const wchar_t *name);
int nvtx_push_attributes(struct nvtx_copy *copy,
			 const struct nvtx_attributes *attributes);
int nvtx_pop(struct nvtx_copy *copy);
uint64_t nvtx_start(struct nvtx_copy *copy, const char *name);
void nvtx_end(struct nvtx_copy *copy, uint64_t id);
void nvtx_mark(struct nvtx_copy *copy, const char *name);
const struct nvtx_domain *nvtx_domain(struct nvtx_copy *copy, const char *name);
const struct nvtx_string *nvtx_string(struct nvtx_copy *copy,
				      const struct nvtx_domain *domain,
				      const char *text);
int nvtx_domain_push(struct nvtx_copy *copy, const struct nvtx_domain *domain,
		     const struct nvtx_string *name);
int nvtx_domain_pop(struct nvtx_copy *copy, const struct nvtx_domain *domain);
uint64_t nvtx_domain_start(struct nvtx_copy *copy,
			   const struct nvtx_domain *domain,
			   const struct nvtx_string *name);

#endif
