/* SPDX-License-Identifier: MIT */
/* Describes processes and tells whether they have ended; see process.h. No
 * state. */
#include "shm/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/control_object.h"
#include "shm/file_status.h"

static uint64_t namespace_inode(const char *path)
{
	struct stat status;

	return ncs_file_status(AT_FDCWD, path, &status, 0) == 0 ?
		       (uint64_t)status.st_ino :
		       0;
}

/* The kernel's flags of a task that is ending (PF_EXITING), and of one of its own
 * (PF_KTHREAD). */
#define TASK_EXITING 4u
#define TASK_KERNELS 0x200000u

/* Reads the beginning of a file of /proc into `text`, which is empty on failure. */
static void read_text(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = file >= 0 ? read(file, text, size - 1) : 0;

	text[bytes > 0 ? bytes : 0] = '\0';
	if (file >= 0)
		close(file);
}

/* The used fields of /proc/PID/stat; start is 0 if it cannot be read. */
struct stat_line {
	char state;
	unsigned flags;
	long threads;
	unsigned long long start;
	unsigned long pending; /* signals */
};

static struct stat_line read_stat(uint32_t pid)
{
	struct stat_line line = { 0 };
	char path[48], text[1024];
	const char *name_end;

	/* The process's first thread, whose line is the same as that in
	 * /proc/PID/stat but that emulators, qemu for one, leave it alone:
	 * they make up the other for the process that reads its own. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, pid);
	read_text(path, text, sizeof(text));
	/* The command's name, field 2, may contain any characters, e.g. ')' and
	 * newlines. */
	name_end = strrchr(text, ')');
	if (!name_end ||
	    sscanf(name_end + 1,
		   " %c %*s %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s"
		   " %*s %*s %*s %*s %ld %*s %llu %*s %*s %*s %*s %*s %*s"
		   " %*s %*s %lu",
		   &line.state, &line.flags, &line.threads, &line.start,
		   &line.pending) != 5)
		line.start = 0;
	return line;
}

/* Returns when the process began; 0 if it is a zombie or not there. */
static uint64_t start_of(const struct stat_line *line)
{
	/* A zombie. If it has other threads, only the main thread has ended. */
	if ((line->state == 'Z' || line->state == 'X') && line->threads <= 1)
		return 0;
	return line->start;
}

uint64_t ncs_process_start(uint32_t pid)
{
	struct stat_line line = read_stat(pid);

	return start_of(&line);
}

bool ncs_process_is_kernels(uint32_t pid)
{
	return read_stat(pid).flags & TASK_KERNELS;
}

static bool is_ending(const struct stat_line *line)
{
	return line->state == 'Z' || line->state == 'X' ||
	       (line->flags & TASK_EXITING) ||
	       (line->pending & (1ul << (SIGKILL - 1)));
}

struct ncs_process_state ncs_process_look(const struct ncs_process *other,
					  const struct ncs_process *self)
{
	struct ncs_process_state state = { 0 };
	struct stat_line line;
	uint64_t start;

	state.gone = self->boot_id[0] && other->boot_id[0] &&
		     strncmp(self->boot_id, other->boot_id,
			     sizeof(other->boot_id)) != 0;
	/* In another PID namespace the PID is another process's. */
	if (state.gone || other->pid_namespace != self->pid_namespace)
		return state;
	line = read_stat(other->pid);
	start = start_of(&line);
	/* A start is 0 if no process is visible at all. Start times depend on the
	 * time namespace of the process that reads them. */
	state.gone = start == 0 ? self->start != 0 :
				  other->start != 0 && start != other->start &&
					  other->time_namespace ==
						  self->time_namespace;
	if (state.gone || start == 0 || start != other->start)
		return state;
	state.stopped = line.state == 'T' || line.state == 't';
	state.ending = !state.stopped && is_ending(&line);
	return state;
}

void ncs_process_of_header(const struct ncs_header *header,
			   struct ncs_process *process)
{
	memset(process, 0, sizeof(*process));
	process->pid = header->pid;
	process->start = header->process_start;
	process->pid_namespace = header->pid_namespace;
	process->time_namespace = header->time_namespace;
	memcpy(process->boot_id, header->boot_id, sizeof(process->boot_id));
	memcpy(process->host, header->host, sizeof(process->host));
}

void ncs_process_of_control(const struct ncs_control *control,
			    struct ncs_process *process)
{
	memset(process, 0, sizeof(*process));
	process->pid = control->pid;
	process->start = control->process_start;
	process->pid_namespace = control->pid_namespace;
	process->time_namespace = control->time_namespace;
	memcpy(process->boot_id, control->boot_id, sizeof(process->boot_id));
}

bool ncs_process_is_same(const struct ncs_process *a,
			 const struct ncs_process *b)
{
	return a->pid == b->pid && a->start == b->start &&
	       a->pid_namespace == b->pid_namespace &&
	       strncmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

void ncs_process_describe(struct ncs_process *process)
{
	memset(process, 0, sizeof(*process));
	process->pid = (uint32_t)getpid();
	process->start = ncs_process_start(process->pid);
	process->pid_namespace = namespace_inode("/proc/self/ns/pid");
	process->time_namespace = namespace_inode("/proc/self/ns/time");
	read_text("/proc/sys/kernel/random/boot_id", process->boot_id,
		  sizeof(process->boot_id));
	process->boot_id[strcspn(process->boot_id, "\n")] = '\0';
	if (gethostname(process->host, sizeof(process->host) - 1) != 0)
		process->host[0] = '\0';
}
