/* SPDX-License-Identifier: MIT */
/* Processes with NCCL in them; see nccl_processes.h. */
#include "shm/read/nccl_processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shm/array.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"

#define PLUGIN "libnccl-profiler-ncclstat.so"
#define PLUGIN_STEM "libnccl-profiler-"
/* The first release with profiler plugins. */
#define FIRST_NCCL (2u << 16 | 23u << 8)
#define PART_BYTES ((size_t)1 << 20)

/* --- NCCL's version -------------------------------------------------------- */

static const char version_mark[] = "NCCL version ";

uint32_t ncs_nccl_version_in(const char *bytes, size_t size)
{
	const size_t mark = sizeof(version_mark) - 1;
	const char *at = bytes, *end = bytes + size;
	unsigned major, minor, patch;
	char text[16];

	while ((at = memmem(at, (size_t)(end - at), version_mark, mark))) {
		size_t rest = (size_t)(end - at) - mark;

		at += mark;
		snprintf(text, sizeof(text), "%.*s", rest < 15 ? (int)rest : 15,
			 at);
		if (sscanf(text, "%3u.%3u.%3u", &major, &minor, &patch) == 3 &&
		    major < 256 && minor < 256 && patch < 256)
			return major << 16 | minor << 8 | patch;
	}
	return 0;
}

/* Reads a file part by part; the parts overlap by as much as a version takes. */
static uint32_t version_in_file(int file)
{
	const size_t overlap = sizeof(version_mark) + 16;
	char *part = malloc(PART_BYTES);
	uint32_t version = 0;
	ssize_t length;
	off_t offset = 0;

	while (part && version == 0) {
		length = pread(file, part, PART_BYTES, offset);
		if (length <= 0)
			break;
		version = ncs_nccl_version_in(part, (size_t)length);
		if ((size_t)length <= overlap)
			break;
		offset += length - (off_t)overlap;
	}
	free(part);
	return version;
}

/* A library that a process has mapped: a line of /proc/PID/maps. */
struct mapped_file {
	unsigned device_major, device_minor;
	unsigned long long inode;
	char path[4096];
};

/* Returns the version of the NCCL that a process has mapped. What is opened in
 * the process's root must be the file of the map: a container must not have
 * this one read another. */
static uint32_t version_of(uint32_t pid, const struct mapped_file *library)
{
	char path[sizeof(library->path) + 32];
	struct stat status;
	uint32_t version = 0;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, library->path);
	file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return 0;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_ino == library->inode)
		version = version_in_file(file);
	close(file);
	return version;
}

/* --- What a process is like ------------------------------------------------ */

struct process_look {
	uint32_t pid;
	const char *directory; /* that is looked at for segments */
	bool has_nccl, has_plugin;
	struct mapped_file nccl;
};

/* The latest library whose version was read: all ranks of a node have the same. */
struct known_version {
	unsigned long long inode;
	unsigned device;
	uint32_t version;
};

/* Reads the libraries of a process. Returns false if this user may not. */
static bool read_maps(struct process_look *look)
{
	char path[48], line[4096 + 128];
	struct mapped_file found;
	const char *name;
	bool is_read = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/maps", look->pid);
	file = fopen(path, "re");
	if (!file)
		return errno != EACCES && errno != EPERM;
	while (fgets(line, sizeof(line), file)) {
		is_read = true;
		if (sscanf(line, "%*s %*s %*s %x:%x %llu %4095[^\n]",
			   &found.device_major, &found.device_minor,
			   &found.inode, found.path) != 4)
			continue;
		name = strrchr(found.path, '/');
		if (!name)
			continue;
		if (strncmp(name, "/libnccl.so", 11) == 0 && !look->has_nccl) {
			look->nccl = found;
			look->has_nccl = true;
		}
		look->has_plugin |= strcmp(name + 1, PLUGIN) == 0;
	}
	is_read |= !ferror(file);
	fclose(file);
	return is_read;
}

static void read_command(uint32_t pid, char *command, size_t size)
{
	char path[48];
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		length = fread(command, 1, size - 1, file);
		fclose(file);
	}
	while (length > 0 && command[length - 1] == '\0')
		length--;
	for (size_t i = 0; i < length; i++)
		if (command[i] == '\0')
			command[i] = ' ';
	command[length] = '\0';
}

/* Tells whether a folder of a process's search path has the plugin. */
static bool path_has_plugin(uint32_t pid, char *folders)
{
	char path[4096 + 64], *rest = NULL;

	for (char *folder = strtok_r(folders, ":", &rest); folder;
	     folder = strtok_r(NULL, ":", &rest)) {
		snprintf(path, sizeof(path), "/proc/%u/%s/%s/" PLUGIN, pid,
			 folder[0] == '/' ? "root" : "cwd", folder);
		if (faccessat(AT_FDCWD, path, R_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

/* Tells whether the dynamic linker of a process finds the plugin. */
static bool is_findable(uint32_t pid)
{
	char standard[] = "/usr/lib:/usr/lib64:/usr/local/lib:/lib:/lib64"
#if defined(__x86_64__)
			  ":/usr/lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
			  ":/usr/lib/aarch64-linux-gnu"
#endif
		;
	char folders[4096] = "";

	ncs_job_environment_value(pid, "LD_LIBRARY_PATH", folders,
				  sizeof(folders));
	return path_has_plugin(pid, folders) || path_has_plugin(pid, standard);
}

/* Tells how the plugin stands in a process that has loaded it. */
static enum ncs_plugin_presence
presence_loaded(const struct process_look *look,
		struct ncs_nccl_process *process)
{
	char disable[8] = "", directory[sizeof(process->detail)] = "";

	ncs_job_environment_value(look->pid, "NCCLSTAT_DISABLE", disable,
				  sizeof(disable));
	if (strcmp(disable, "1") == 0)
		return NCS_PRESENCE_DISABLED;
	ncs_job_environment_value(look->pid, "NCCLSTAT_DIR", directory,
				  sizeof(directory));
	if (directory[0] && strcmp(directory, look->directory) != 0) {
		strcpy(process->detail, directory);
		return NCS_PRESENCE_ELSEWHERE;
	}
	return NCS_PRESENCE_NO_COMMUNICATOR;
}

/* Tells why a process has not loaded the plugin. */
static enum ncs_plugin_presence
presence_unloaded(const struct process_look *look,
		  struct ncs_nccl_process *process)
{
	char plugin[sizeof(process->detail)] = "";
	const char *name;

	if (process->nccl_version != 0 && process->nccl_version < FIRST_NCCL)
		return NCS_PRESENCE_OLD_NCCL;
	ncs_job_environment_value(look->pid, "NCCL_PROFILER_PLUGIN", plugin,
				  sizeof(plugin));
	if (!plugin[0] || strcasecmp(plugin, "none") == 0)
		return NCS_PRESENCE_NOT_SET;
	name = strrchr(plugin, '/');
	name = name ? name + 1 : plugin;
	if (strcmp(name, "ncclstat") != 0 && strcmp(name, PLUGIN) != 0) {
		strcpy(process->detail, plugin);
		return NCS_PRESENCE_OTHER_PLUGIN;
	}
	return name != plugin || is_findable(look->pid) ?
		       NCS_PRESENCE_NOT_YET :
		       NCS_PRESENCE_NOT_FOUND;
}

static void describe(struct ncs_nccl_process *process,
		     const struct process_look *look,
		     struct known_version *known)
{
	unsigned device = (unsigned)makedev(look->nccl.device_major,
					    look->nccl.device_minor);

	memset(process, 0, sizeof(*process));
	process->pid = look->pid;
	if (known->version == 0 || known->inode != look->nccl.inode ||
	    known->device != device)
		*known = (struct known_version){
			.inode = look->nccl.inode,
			.device = device,
			.version = version_of(look->pid, &look->nccl),
		};
	process->nccl_version = known->version;
	process->presence = look->has_plugin ? presence_loaded(look, process) :
					       presence_unloaded(look, process);
	read_command(look->pid, process->command, sizeof(process->command));
}

/* --- The list -------------------------------------------------------------- */

static int compare_pids(const void *a, const void *b)
{
	const struct ncs_nccl_process *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

static int add(struct ncs_nccl_processes *processes,
	       const struct process_look *look, struct known_version *known,
	       uid_t uid)
{
	int error = ncs_array_reserve(&processes->all, &processes->capacity,
				      processes->count + 1,
				      sizeof(processes->all[0]));

	if (error)
		return error;
	describe(&processes->all[processes->count], look, known);
	processes->all[processes->count++].uid = uid;
	return 0;
}

int ncs_nccl_processes_list(struct ncs_nccl_processes *processes,
			    const char *directory)
{
	struct known_version known = { 0 };
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	struct stat status;
	int error = 0;

	memset(processes, 0, sizeof(*processes));
	if (!folder)
		return -errno;
	while (!error && (entry = readdir(folder))) {
		struct process_look look = { .directory =
						     ncs_directory(directory) };

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    fstatat(dirfd(folder), entry->d_name, &status, 0) != 0)
			continue;
		look.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (!read_maps(&look))
			processes->unreadable++;
		else if (look.has_nccl)
			error = add(processes, &look, &known, status.st_uid);
	}
	closedir(folder);
	if (processes->count > 0)
		qsort(processes->all, processes->count,
		      sizeof(processes->all[0]), compare_pids);
	return error;
}

void ncs_nccl_process_publishes(struct ncs_nccl_processes *processes,
				uint32_t pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->all[i].pid == pid)
			processes->all[i].presence = NCS_PRESENCE_PUBLISHES;
}

void ncs_nccl_processes_release(struct ncs_nccl_processes *processes)
{
	free(processes->all);
	memset(processes, 0, sizeof(*processes));
}
