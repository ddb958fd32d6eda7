/* SPDX-License-Identifier: MIT */
/* Plain text as mdoc, on standard output. A text is UTF-8. What is too long ends the
 * program with a message. For one thread. */
#ifndef NCS_MAN_MDOC_H
#define NCS_MAN_MDOC_H

/* Prints an argument of a macro: a name, never itself a macro or a delimiter. */
void ncs_mdoc_name(const char *name);

/* Prints text: as many words on a line as fit, each sentence on a line of its
 * own. */
void ncs_mdoc_text(const char *text);

/* Prints a clause as a sentence: it gets a capital letter and a full stop. */
void ncs_mdoc_sentence(const char *text);

#endif
