/* SPDX-License-Identifier: MIT */
/* A list of paths, as reader.h makes them of segments. Has no functions. */
#ifndef NCCLSTAT_PATH_LIST_H
#define NCCLSTAT_PATH_LIST_H

#include <stddef.h>

struct ncs_paths {
	char **path;
	size_t count;
};

#endif
