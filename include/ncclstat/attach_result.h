/* SPDX-License-Identifier: MIT */
/* The result of attaching to a segment (reader.h) or control object. Has no
 * functions. */
#ifndef NCCLSTAT_ATTACH_RESULT_H
#define NCCLSTAT_ATTACH_RESULT_H

enum ncs_attach {
	NCS_ATTACHED,
	NCS_ATTACH_ABSENT,        /* there is no such file */
	NCS_ATTACH_DENIED,        /* it belongs to another user */
	NCS_ATTACH_NOT_READY,     /* it is being created; try again */
	NCS_ATTACH_OTHER_VERSION, /* it has another major version */
	NCS_ATTACH_CORRUPT,       /* it is not a segment, or an invalid one */
	NCS_ATTACH_FAILED,        /* out of memory, file descriptors etc. */
};

/* The reason for NCS_ATTACH_DENIED begins with this; the owner and the remedy
 * follow. */
#define NCS_WHY_OWNER "it belongs to "

#endif
