/* SPDX-License-Identifier: MIT */
/* Appending to texts; see append.h. */
#include "analysis/base/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ncs_append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	if (length + 1 >= size)
		return;
	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}
