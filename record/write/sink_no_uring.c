/* SPDX-License-Identifier: MIT */
/* Stands for sink_uring.c in a build without liburing (WITH_URING=0): io_uring
 * cannot be had, so that sinks write by pwrite(2) and say so. */
#include <errno.h>

#include "record/write/sink.h"

static int cannot_open(struct ncs_sink *sink)
{
	(void)sink;
	return -ENOSYS;
}

const struct ncs_sink_method ncs_sink_uring = {
	.name = "io_uring",
	.open = cannot_open,
};
