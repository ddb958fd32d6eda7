/* SPDX-License-Identifier: MIT */
/* A library that calls functions of NCCL which report nothing, if it is called
 * itself: no test does. The functions do not exist. One is bound when it is
 * called, the other one at once, as all are with -fno-plt. */
#define EXPORT __attribute__((visibility("default")))

int ncclPutSignal(void);
__attribute__((weak)) int ncclDevCommCreate(void);

EXPORT int one_sided(void);

static int (*volatile create)(void) = ncclDevCommCreate;

EXPORT int one_sided(void)
{
	return ncclPutSignal() + create();
}
