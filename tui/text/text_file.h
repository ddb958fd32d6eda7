/* SPDX-License-Identifier: MIT */
/* Reading a small text file at once. */
#ifndef NCS_TUI_TEXT_TEXT_FILE_H
#define NCS_TUI_TEXT_TEXT_FILE_H

/* Reads a file into a string that the caller frees. Returns 0 or -errno:
 * -EINVAL if the file contains a NUL, -EFBIG if it is longer than 1 MiB; *text
 * is then NULL. */
int ncs_text_file_read(const char *path, char **text);

#endif
