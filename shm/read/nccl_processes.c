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

#include "ncclstat/reader.h"
#include "shm/array.h"
#include "shm/read/job.h"
#include "shm/read/nccl_library.h"

#define PLUGIN "libnccl-profiler-ncclstat.so"
/* In the ninth field of /proc/PID/stat: a thread of the kernel. */
#define KERNEL_THREAD 0x200000u

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
		version = ncs_nccl_version_of(file);
	close(file);
	return version;
}

/* --- What a process is like ------------------------------------------------ */

struct process_look {
	uint32_t pid;
	const char *directory; /* that is looked at for segments */
	bool has_nccl, has_plugin;
	bool is_linked; /* NCCL is in the program itself */
	struct mapped_file nccl;
};

/* The latest program that was looked into: processes of a node are alike. */
struct known_program {
	ino_t inode;
	dev_t device;
	bool is_linked;
	uint32_t version;
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

/* Looks into the program of a process that has no library of NCCL. */
static void look_into_program(struct process_look *look,
			      struct known_program *known)
{
	struct stat status;
	char path[48];
	int file;

	snprintf(path, sizeof(path), "/proc/%u/exe", look->pid);
	file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && (status.st_ino != known->inode ||
					  status.st_dev != known->device)) {
		known->inode = status.st_ino;
		known->device = status.st_dev;
		known->is_linked = ncs_nccl_is_linked_into(file);
		known->version = known->is_linked ? ncs_nccl_version_of(file) :
						    0;
	}
	close(file);
	look->is_linked = known->is_linked;
}

static bool is_kernel_thread(uint32_t pid)
{
	unsigned flags = 0;
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* Names of kernel threads have no ')'. */
	if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %u", &flags) !=
	    1)
		flags = 0;
	fclose(file);
	return flags & KERNEL_THREAD;
}

/* Returns the command line, to be freed by the caller; NULL: no memory. */
static char *read_command(uint32_t pid)
{
	size_t length = 0, capacity = 0;
	char path[48], *command = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	while (ncs_array_reserve(&command, &capacity, length + 4096, 1) == 0) {
		size_t got = file ? fread(command + length, 1,
					  capacity - length - 1, file) :
				    0;

		length += got;
		if (got == 0)
			break;
	}
	if (file)
		fclose(file);
	while (length > 0 && command[length - 1] == '\0')
		length--;
	for (size_t i = 0; i < length; i++)
		if (command[i] == '\0')
			command[i] = ' ';
	if (command)
		command[length] = '\0';
	return command;
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

	if (process->nccl_version != 0 && process->nccl_version < NCS_FIRST_NCCL)
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
		     struct known_version *known,
		     const struct known_program *program)
{
	unsigned device = (unsigned)makedev(look->nccl.device_major,
					    look->nccl.device_minor);

	memset(process, 0, sizeof(*process));
	process->pid = look->pid;
	process->is_linked = look->is_linked;
	if (look->is_linked)
		process->nccl_version = program->version;
	else if (known->version == 0 || known->inode != look->nccl.inode ||
		 known->device != device)
		*known = (struct known_version){
			.inode = look->nccl.inode,
			.device = device,
			.version = version_of(look->pid, &look->nccl),
		};
	if (!look->is_linked)
		process->nccl_version = known->version;
	process->presence = look->has_plugin ? presence_loaded(look, process) :
					       presence_unloaded(look, process);
	process->command = read_command(look->pid);
}

/* --- The list -------------------------------------------------------------- */

static int compare_pids(const void *a, const void *b)
{
	const struct ncs_nccl_process *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

static int add(struct ncs_nccl_processes *processes,
	       const struct process_look *look, struct known_version *known,
	       const struct known_program *program, uid_t uid)
{
	int error = ncs_array_reserve(&processes->all, &processes->capacity,
				      processes->count + 1,
				      sizeof(processes->all[0]));

	if (error)
		return error;
	describe(&processes->all[processes->count], look, known, program);
	processes->all[processes->count++].uid = uid;
	return 0;
}

/* Notes a process that may not be looked into. */
static void add_unreadable(struct ncs_nccl_processes *processes, uid_t uid)
{
	size_t i = 0;

	while (i + 1 < NCS_UNREADABLE_USERS_MAX && processes->unreadable[i].count &&
	       processes->unreadable[i].uid != uid)
		i++;
	if (processes->unreadable[i].count == 0)
		processes->unreadable[i].uid = uid;
	processes->unreadable[i].count++;
}

int ncs_nccl_processes_list(struct ncs_nccl_processes *processes,
			    const char *directory)
{
	struct known_version known = { 0 };
	struct known_program program = { 0 };
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
		if (!read_maps(&look)) {
			if (!is_kernel_thread(look.pid))
				add_unreadable(processes, status.st_uid);
			continue;
		}
		if (!look.has_nccl)
			look_into_program(&look, &program);
		if (look.has_nccl || look.is_linked)
			error = add(processes, &look, &known, &program,
				    status.st_uid);
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
	for (size_t i = 0; i < processes->count; i++)
		free(processes->all[i].command);
	free(processes->all);
	memset(processes, 0, sizeof(*processes));
}
