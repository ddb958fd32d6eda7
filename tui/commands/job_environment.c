/* SPDX-License-Identifier: MIT */
/* Variables with which NCCL loads the plugin; see job_environment.h. */
#include "tui/commands/job_environment.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

char *ncs_job_plugin(void)
{
	/* Relative to the program: where it is built, and where libraries are
	 * installed. */
	static const char *const folders[] = {
		".",
		"../lib",
		"../lib64",
#if defined(__x86_64__)
		"../lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"../lib/aarch64-linux-gnu",
#endif
	};
	char program[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", program,
				  sizeof(program) - 1);
	char *slash;

	if (length < 0)
		return NULL;
	program[length] = '\0';
	slash = strrchr(program, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/" NCS_PLUGIN_FILE, program,
			 folders[i]);
		if (access(path, R_OK) == 0)
			return realpath(path, NULL);
	}
	return NULL;
}

void ncs_job_plugin_folder(char *text, size_t size)
{
	char *plugin = ncs_job_plugin();
	const char *name = plugin ? strrchr(plugin, '/') : NULL;

	snprintf(text, size, "%.*s", name ? (int)(name - plugin) : 0,
		 plugin ? plugin : "");
	free(plugin);
}

static bool add(struct ncs_job_environment *environment, const char *name,
		char *value)
{
	if (!value)
		return false;
	environment->variables[environment->count++] =
		(struct ncs_job_variable){ .name = name, .value = value };
	return true;
}

/* Adds a variable that names a library. Another library that it names now is
 * chained behind by the variable `chain`, unless that is set. */
static bool add_library(struct ncs_job_environment *environment,
			const char *name, const char *value, const char *chain)
{
	const char *before = getenv(name);
	const char *file = before ? strrchr(before, '/') : NULL;

	if (!add(environment, name, strdup(value)))
		return false;
	file = file ? file + 1 : before;
	if (!file || !*file || strcasecmp(file, "none") == 0 ||
	    strcmp(file, NCS_PLUGIN_FILE) == 0 || getenv(chain))
		return true;
	return add(environment, chain, strdup(before));
}

/* Returns a search path that begins with a folder, to be freed by the caller;
 * NULL if there is no memory. */
static char *put_first(const char *folder, size_t folder_length,
		       const char *path)
{
	bool more = path && *path;
	char *joined = NULL;

	if (asprintf(&joined, "%.*s%s%s", (int)folder_length, folder,
		     more ? ":" : "", more ? path : "") < 0)
		return NULL;
	return joined;
}

int ncs_job_environment_make(struct ncs_job_environment *environment,
			     const char *plugin)
{
	const char *const name = strrchr(plugin, '/');

	memset(environment, 0, sizeof(*environment));
	if (add_library(environment, "NCCL_PROFILER_PLUGIN", NCS_PLUGIN_FILE,
			"NCCLSTAT_CHAIN") &&
	    add(environment, "LD_LIBRARY_PATH",
		put_first(plugin, name ? (size_t)(name - plugin) : 0,
			  getenv("LD_LIBRARY_PATH"))) &&
	    add_library(environment, "NVTX_INJECTION64_PATH", plugin,
			"NCCLSTAT_NVTX_CHAIN"))
		return 0;
	ncs_job_environment_release(environment);
	return -ENOMEM;
}

void ncs_job_environment_release(struct ncs_job_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->variables[i].value);
	environment->count = 0;
}
