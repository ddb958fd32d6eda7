/* SPDX-License-Identifier: MIT */
/* Prints texts with values in them, in which these stand for an argument:
 *   $s  a text of any bytes, cleaned; $16s in at   $f  a double, two digits; $x three
 *       least 16 columns
 *   $v  a struct ncs_value *, as tables show it    $n  a size_t; $u a uint64_t
 *   $d  a duration, a uint64_t in ns               $b  bytes, a uint64_t, with a unit
 *   $t  a struct ncs_replay *, and a time of its recording, a uint64_t in ns
 */
#ifndef NCS_TUI_COMMANDS_PRINT_VALUES_H
#define NCS_TUI_COMMANDS_PRINT_VALUES_H

#include <stdio.h>

/* Prints text for users, in ASCII where messages are. */
void ncs_print(FILE *file, const char *format, ...);

/* Prints HTML, in which texts are escaped. */
void ncs_html_print(FILE *file, const char *html, ...);

#endif
