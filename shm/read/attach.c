/* SPDX-License-Identifier: MIT */
/* Reasons of failed attempts to attach; see attach.h. Pure. */
#include "shm/read/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ncs_attach_explain(char *why, size_t size, const char *text)
{
	if (why && size > 0)
		snprintf(why, size, "%s", text);
}

enum ncs_attach ncs_attach_refuse(enum ncs_attach result, const char *text,
				  char *why, size_t size)
{
	ncs_attach_explain(why, size, text);
	return result;
}

enum ncs_attach ncs_attach_failure(int error, char *why, size_t size)
{
	ncs_attach_explain(why, size, strerror(error));
	switch (error) {
	case ENOENT:
		return NCS_ATTACH_ABSENT;
	case EACCES:
	case EPERM:
		return NCS_ATTACH_DENIED;
	case ELOOP: /* a symbolic link; segments never are */
		return NCS_ATTACH_CORRUPT;
	default:
		return NCS_ATTACH_FAILED;
	}
}
