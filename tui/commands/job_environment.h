/* SPDX-License-Identifier: MIT */
/* The environment with which a program's NCCL loads the plugin: for "ncclstat
 * run" and "ncclstat env". Must not change the environment of this process
 * unless told to.
 */
#ifndef NCS_TUI_COMMANDS_JOB_ENVIRONMENT_H
#define NCS_TUI_COMMANDS_JOB_ENVIRONMENT_H

#include <stddef.h>

/* The name by which every NCCL from 2.23 on finds the plugin in the folders of
 * LD_LIBRARY_PATH. Some releases do not take a path. */
#define NCS_PLUGIN_FILE "libnccl-profiler-ncclstat.so"

#define NCS_JOB_VARIABLES_MAX 5

struct ncs_job_variable {
	const char *name;
	char *value; /* allocated */
};

struct ncs_job_environment {
	struct ncs_job_variable variables[NCS_JOB_VARIABLES_MAX];
	size_t count;
};

/* Finds the plugin that was built or installed with this program. Returns its
 * path, to be freed by the caller, or NULL: there is none, or no memory. */
char *ncs_job_plugin(void);

/* Prints the folder of that plugin; "" if there is none. */
void ncs_job_plugin_folder(char *text, size_t size);

/* Determines the variables that a program needs to load the plugin, in addition
 * to the environment of this process. A profiler plugin or NVTX tool that is set
 * there is chained behind ours. Returns 0, or -ENOMEM. The caller releases the
 * environment. */
int ncs_job_environment_make(struct ncs_job_environment *environment,
			     const char *plugin);
void ncs_job_environment_release(struct ncs_job_environment *environment);

#endif
