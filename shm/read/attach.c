/* SPDX-License-Identifier: MIT */
/* Reasons of failed attempts to attach; see attach.h. Pure. */
#include "shm/read/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum ncs_attach ncs_attach_refuse(enum ncs_attach result, const char *text,
				  char *why, size_t size)
{
	if (why && size > 0)
		snprintf(why, size, "%s", text);
	return result;
}

enum ncs_attach ncs_attach_failure(int error, char *why, size_t size)
{
	enum ncs_attach result = NCS_ATTACH_FAILED;

	if (error == ENOENT)
		result = NCS_ATTACH_ABSENT;
	else if (error == EACCES || error == EPERM)
		result = NCS_ATTACH_DENIED;
	else if (error == ELOOP) /* a symbolic link; segments never are */
		result = NCS_ATTACH_CORRUPT;
	return ncs_attach_refuse(result, strerror(error), why, size);
}
