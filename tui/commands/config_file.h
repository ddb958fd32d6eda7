/* SPDX-License-Identifier: MIT */
/* The configuration file: long options, one a line, as "interval = 0.5".
 *
 * It says how the live view begins. It is written only when the user asks for
 * it, and what is in it and not understood stays there.
 */
#ifndef NCS_TUI_COMMANDS_CONFIG_FILE_H
#define NCS_TUI_COMMANDS_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/commands/options.h"

#define NCS_CONFIG_FILE_PATH_MAX 4096

struct ncs_config_file {
	char path[NCS_CONFIG_FILE_PATH_MAX]; /* "": none */
	bool asked;                          /* by the user, not by default */
};

/* Where it is: `asked` (NULL: not asked for, "": none), $NCCLSTATRC,
 * $XDG_CONFIG_HOME, $HOME. */
void ncs_config_file_find(struct ncs_config_file *config, const char *asked);

/* Sets the options that it has; says on `complaints`, a line each, what is
 * wrong and left out. A file that others may write to is not read. */
void ncs_config_file_load(const struct ncs_config_file *config,
			  struct ncs_options *options, FILE *complaints);

/* Writes what the live view changes, whole or not at all: a line that is there
 * gets the new value, one for what is not the default is added, all else stays.
 * Makes the folder. 0 or -errno; -EPERM: there is a file that is not read. */
int ncs_config_file_store(const char *path, const struct ncs_options *options);

/* Both without the file. */
void ncs_config_file_parse(const char *path, const char *text, size_t length,
			   struct ncs_options *options, FILE *complaints);
void ncs_config_file_merge(FILE *file, const char *text, size_t length,
			   const struct ncs_options *options);

#endif
