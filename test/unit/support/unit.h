/* SPDX-License-Identifier: MIT */
/* cmocka with the headers that it wants before it. */
#ifndef NCS_TEST_UNIT_SUPPORT_UNIT_H
#define NCS_TEST_UNIT_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
