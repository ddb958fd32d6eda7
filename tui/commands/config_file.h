/* SPDX-License-Identifier: MIT */
/* The configuration file: long options, one on each line, as "interval = 0.5".
 *
 * It sets the options with which the live view begins. It must be written only
 * when the user asks for that, and lines that are not understood must stay.
 */
#ifndef NCS_TUI_COMMANDS_CONFIG_FILE_H
#define NCS_TUI_COMMANDS_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/commands/options.h"

#define NCS_CONFIG_FILE_PATH_MAX 4096

struct ncs_config_file {
	char path[NCS_CONFIG_FILE_PATH_MAX]; /* "" if there is none */
	bool asked; /* the user named the file, so it must exist */
};

/* Finds the file's path: `asked`, which is NULL if the user named none and "" for
 * no file; else from $NCCLSTATRC, $XDG_CONFIG_HOME or $HOME. */
void ncs_config_file_find(struct ncs_config_file *config, const char *asked);

/* Sets the options that the file has. Writes a line to `complaints` for each error
 * and leaves that option alone. A file that others may write to is not read. */
void ncs_config_file_load(const struct ncs_config_file *config,
			  struct ncs_options *options, FILE *complaints);

/* Saves the options that the live view changes, as a whole or not at all: lines
 * for them get the new value, lines are added for options that differ from their
 * default, other lines stay. Makes the folder. Returns 0 or -errno; -EPERM if
 * there is a file that cannot be trusted. */
int ncs_config_file_store(const char *path, const struct ncs_options *options);

/* Read and write a configuration in memory: parse sets options and writes
 * complaints, merge writes the new text to `file`. `path` is for messages. */
void ncs_config_file_parse(const char *path, const char *text, size_t length,
			   struct ncs_options *options, FILE *complaints);
void ncs_config_file_merge(FILE *file, const char *text, size_t length,
			   const struct ncs_options *options);

#endif
