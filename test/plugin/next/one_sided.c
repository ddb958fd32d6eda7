/* SPDX-License-Identifier: MIT */
/* A library that calls functions of NCCL which report nothing, if it is called
 * itself: no test does. The functions do not exist. */
#define EXPORT __attribute__((visibility("default")))

int ncclPutSignal(void);
int ncclDevCommCreate(void);
int one_sided(void);

EXPORT int one_sided(void)
{
	return ncclPutSignal() + ncclDevCommCreate();
}
