/* SPDX-License-Identifier: MIT */
/* The version of this release of the plugin, the program and the library. The
 * format of shared memory has a version of its own (abi_header.h).
 */
#ifndef NCCLSTAT_VERSION_H
#define NCCLSTAT_VERSION_H

#define NCS_VERSION_MAJOR 0
#define NCS_VERSION_MINOR 1
#define NCS_VERSION_PATCH 0
/* The version as one number, as in segments and recordings. */
#define NCS_VERSION_NUMBER \
	(NCS_VERSION_MAJOR << 16 | NCS_VERSION_MINOR << 8 | NCS_VERSION_PATCH)

#define NCS_VERSION_WORD(number) #number
#define NCS_VERSION_JOIN(major, minor, patch) \
	NCS_VERSION_WORD(major) "." NCS_VERSION_WORD(minor) "." \
	NCS_VERSION_WORD(patch)
/* The version as a string, e.g. "0.1.0". */
#define NCS_VERSION_TEXT \
	NCS_VERSION_JOIN(NCS_VERSION_MAJOR, NCS_VERSION_MINOR, \
			 NCS_VERSION_PATCH)

#endif
