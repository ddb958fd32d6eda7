/* SPDX-License-Identifier: MIT */
/* Processes with NCCL in them; see nccl_processes.h. */
#include "shm/read/nccl_processes.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/array.h"
#include "shm/process.h"
#include "shm/read/containers.h"
#include "shm/read/job.h"

#define PART_BYTES ((size_t)1 << 20)

static const char version_mark[] = "NCCL version ";
static const char function_name[] = "ncclCommInitRank";

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

static uint32_t has_function(const char *bytes, size_t size)
{
	/* With the NULs around it in a table of strings. */
	return memmem(bytes, size, function_name, sizeof(function_name)) !=
	       NULL;
}

/* Reads a part of a file in pieces, which overlap by as much as what is searched
 * for takes, until `find` returns something. */
static uint32_t search(int file, off_t offset, off_t end,
		       uint32_t (*find)(const char *bytes, size_t size))
{
	const size_t overlap = sizeof(version_mark) + 16;
	char *part = malloc(PART_BYTES);
	uint32_t found = 0;

	while (part && found == 0 && offset < end) {
		size_t wanted = end - offset < (off_t)PART_BYTES ?
					(size_t)(end - offset) :
					PART_BYTES;
		ssize_t length = pread(file, part, wanted, offset);

		if (length <= 0)
			break;
		found = find(part, (size_t)length);
		if ((size_t)length <= overlap)
			break;
		offset += length - (off_t)overlap;
	}
	free(part);
	return found;
}

static off_t size_of(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) ?
		       status.st_size :
		       0;
}

/* Does what ncs_nccl_version_in() does for an open file. */
static uint32_t version_of_file(int file)
{
	return search(file, 0, size_of(file), ncs_nccl_version_in);
}

uint32_t ncs_nccl_version_at(const char *path)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint32_t version;

	if (file < 0)
		return 0;
	version = version_of_file(file);
	close(file);
	return version;
}

/* Whether an open file is a program or library of this machine's kind whose
 * symbols have NCCL's functions. */
static bool is_linked_into(int file)
{
	off_t size = size_of(file);
	bool found = false;
	Elf64_Ehdr head;
	Elf64_Shdr section;

	if (size == 0 || pread(file, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(section) || head.e_shoff > (size_t)size)
		return false;
	for (unsigned i = 0; !found && i < head.e_shnum; i++) {
		off_t at = (off_t)(head.e_shoff + i * sizeof(section));

		if (pread(file, &section, sizeof(section), at) !=
		    sizeof(section))
			break;
		if (section.sh_type != SHT_STRTAB ||
		    section.sh_offset > (size_t)size ||
		    section.sh_size > (size_t)size - section.sh_offset)
			continue;
		found = search(file, (off_t)section.sh_offset,
			       (off_t)(section.sh_offset + section.sh_size),
			       has_function);
	}
	return found;
}

/* --- The libraries of this machine ----------------------------------------- */

/* Appends the folder of a pattern to the matches that there are. */
static void match(glob_t *matches, const char *folder, size_t length,
		  const char *below)
{
	char pattern[4096];

	if (length > 0 &&
	    (size_t)snprintf(pattern, sizeof(pattern), "%.*s/%s/libnccl.so.2",
			     (int)length, folder, below) < sizeof(pattern))
		glob(pattern, GLOB_BRACE | GLOB_APPEND, NULL, matches);
}

/* Calls match() for the folders of a list such as $PATH. */
static void match_each(glob_t *matches, const char *folders, const char *below)
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		match(matches, folders, length, below);
		folders += length + (folders[length] == ':');
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

void ncs_nccl_libraries(void (*on_found)(const char *path, void *argument),
			void *argument)
{
	static const char packages[] =
		"../{lib,lib64,local/lib}/python3*/{site,dist}-packages/"
		"{nvidia/nccl,torch}/lib";
	static const char standard[] =
		"/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"
		":/usr/lib64:/usr/lib:/usr/local/lib:/usr/local/cuda/lib64";
	const char *home = getenv("HOME");
	glob_t matches = { 0 };

	match_each(&matches, getenv("LD_LIBRARY_PATH"), ".");
	match_each(&matches, standard, ".");
	/* The environments of Python have their programs in $PATH. */
	match_each(&matches, getenv("PATH"), packages);
	if (home)
		match(&matches, home, strlen(home),
		      ".local/lib/python3*/site-packages/nvidia/nccl/lib");
	for (size_t i = 0; i < matches.gl_pathc; i++) {
		char *real = realpath(matches.gl_pathv[i], NULL);
		size_t k = 0;

		while (k < i &&
		       !is_same_file(matches.gl_pathv[k], matches.gl_pathv[i]))
			k++;
		if (real && k == i)
			on_found(real, argument);
		free(real);
	}
	globfree(&matches);
}

/* --- What a process has mapped ---------------------------------------------- */

#define PLUGIN "libnccl-profiler-ncclstat.so"

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
		version = version_of_file(file);
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

/* The latest file that was looked into: all processes of a node have the same program
 * and library. */
struct known_file {
	ino_t inode;
	dev_t device;
	bool is_linked;
	uint32_t version;
};

/* Reads the libraries of a process. Returns false if this user may not. */
static bool read_maps(struct process_look *look)
{
	FILE *file = ncs_process_file(look->pid, "maps");
	struct mapped_file found;
	char line[4096 + 128];
	const char *name;
	bool is_read = false;

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
			      struct known_file *known)
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
		known->is_linked = is_linked_into(file);
		known->version = known->is_linked ? version_of_file(file) : 0;
	}
	close(file);
	look->is_linked = known->is_linked;
}

/* Returns the command line, to be freed by the caller; NULL: no memory. */
static char *read_command(uint32_t pid)
{
	size_t length;
	char *command = ncs_process_text(pid, "cmdline", &length);

	if (!command)
		return NULL;
	while (length > 0 && command[length - 1] == '\0')
		length--;
	for (size_t i = 0; i < length; i++)
		if (command[i] == '\0')
			command[i] = ' ';
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

/* Returns the version of the library that a process has mapped, which is read
 * unless it is the latest one that was. */
static uint32_t mapped_version(const struct process_look *look,
			       struct known_file *known)
{
	dev_t device =
		makedev(look->nccl.device_major, look->nccl.device_minor);

	if (known->version == 0 || known->inode != look->nccl.inode ||
	    known->device != device)
		*known = (struct known_file){
			.inode = look->nccl.inode,
			.device = device,
			.version = version_of(look->pid, &look->nccl),
		};
	return known->version;
}

/* --- The list -------------------------------------------------------------- */

static int compare_pids(const void *a, const void *b)
{
	const struct ncs_nccl_process *first = a, *second = b;

	return (first->pid > second->pid) - (first->pid < second->pid);
}

static int add(struct ncs_nccl_processes *processes,
	       const struct process_look *look, uint32_t version, uid_t uid)
{
	struct ncs_nccl_process *process;

	if (ncs_array_reserve(&processes->all, &processes->capacity,
			      processes->count + 1, sizeof(*process)) != 0)
		return -ENOMEM;
	process = &processes->all[processes->count++];
	*process = (struct ncs_nccl_process){
		.pid = look->pid,
		.uid = uid,
		.nccl_version = version,
		.is_linked = look->is_linked,
		.command = read_command(look->pid),
	};
	process->presence = look->has_plugin ? presence_loaded(look, process) :
					       presence_unloaded(look, process);
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
	struct known_file library = { 0 }, program = { 0 };
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
			if (!ncs_process_is_kernels(look.pid))
				add_unreadable(processes, status.st_uid);
			continue;
		}
		if (!look.has_nccl)
			look_into_program(&look, &program);
		if (look.has_nccl || look.is_linked)
			error = add(processes, &look,
				    look.is_linked ?
					    program.version :
					    mapped_version(&look, &library),
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
