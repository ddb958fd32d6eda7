/* SPDX-License-Identifier: MIT */
/* The configuration file: long options, one on each line, as "interval = 0.5".
 *
 * The file sets the options with which the live view begins. It must be written
 * only when the user requests this, and lines that the program does not
 * understand must be kept.
 */
#ifndef NCS_TUI_COMMANDS_CONFIG_FILE_H
#define NCS_TUI_COMMANDS_CONFIG_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/commands/options.h"

#define NCS_CONFIG_FILE_PATH_MAX 4096

struct ncs_config_file {
	char path[NCS_CONFIG_FILE_PATH_MAX]; /* "" if there is none */
	bool asked; /* whether the user named the file, so that it must exist */
};

/* Finds the file's path. `asked` is the path that the user named, "" for no
 * file, or NULL if the user named none; the path then comes from $NCCLSTATRC,
 * $XDG_CONFIG_HOME or $HOME. */
void ncs_config_file_find(struct ncs_config_file *config, const char *asked);

/* Sets the options that are in the file. For each error, writes a line to
 * `complaints` and leaves the option unchanged. Does not read a file that other
 * users may write to. */
void ncs_config_file_load(const struct ncs_config_file *config,
			  struct ncs_options *options, FILE *complaints);

/* Saves the options that the live view changes. Existing lines for these
 * options get the new value; lines are added for other options that differ from
 * their default; all other lines stay. The file is replaced as a whole or not
 * at all; its folder is made if necessary. Returns 0 or -errno; -EPERM if there
 * is a file that cannot be trusted. */
int ncs_config_file_store(const char *path, const struct ncs_options *options);

/* Read and write an open file: ncs_config_file_parse() sets options and writes
 * complaints, with `path` in them; ncs_config_file_merge() writes the new text of what
 * is in `from`, which may be NULL, to `file`. */
void ncs_config_file_parse(const char *path, FILE *file,
			   struct ncs_options *options, FILE *complaints);
void ncs_config_file_merge(FILE *file, FILE *from,
			   const struct ncs_options *options);

#endif
