/* SPDX-License-Identifier: MIT */
/* The text of a small file, whole. */
#ifndef NCS_TUI_TEXT_TEXT_FILE_H
#define NCS_TUI_TEXT_TEXT_FILE_H

/* *text is to be freed. 0 or -errno: -EINVAL if there is a NUL in it, -EFBIG if
 * it is longer than a MiB. */
int ncs_text_file_read(const char *path, char **text);

#endif
