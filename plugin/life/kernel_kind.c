/* SPDX-License-Identifier: MIT */
/* Kinds of kernels; see kernel_kind.h. Runs for each kernel of the process: must
 * not look at template arguments, which make names a thousand bytes long. */
#include "plugin/life/kernel_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/tables/outside.def"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char nccl[][16] = { "ncclDevKernel", "ncclKernel", "ncclSymk" };

static const char outside[][24] = {
#define X(name, help) name,
	NCS_OUTSIDE_KERNELS(X)
#undef X
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns where the qualified name of a function ends. A name that C++ has
 * mangled begins with _Z; each part of it follows its length, those of a name in
 * a namespace follow an N. */
static const char *end_of_name(const char *name)
{
	if (strncmp(name, "_Z", 2) != 0)
		return name + strlen(name);
	name += 2;
	name += *name == 'N';
	for (;;) {
		const char *part = name + (*name == 'L'); /* static */
		size_t length = strtoul(part, NULL, 10);

		if (!is_digit(*part))
			return name;
		name = part + strspn(part, "0123456789");
		name += strnlen(name, length);
	}
}

static bool is_nccl(const char *name)
{
	if (strncmp(name, "_Z", 2) == 0) {
		name += 2;
		name += strspn(name, "0123456789");
	}
	for (size_t i = 0; i < COUNT(nccl); i++)
		if (strncmp(name, nccl[i], strlen(nccl[i])) == 0)
			return true;
	return false;
}

enum ncs_kernel_kind ncs_kernel_kind_of(const char *name)
{
	size_t length;

	if (!name)
		return NCS_KIND_COMPUTE;
	if (is_nccl(name))
		return NCS_KIND_NCCL;
	length = (size_t)(end_of_name(name) - name);
	for (size_t i = 0; i < COUNT(outside); i++)
		if (memmem(name, length, outside[i], strlen(outside[i])))
			return NCS_KIND_OUTSIDE;
	return NCS_KIND_COMPUTE;
}
