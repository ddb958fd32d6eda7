/* SPDX-License-Identifier: MIT */
/* Tells whether processes and segments are alive; see liveness.h. Reads /proc,
 * opens files to ask the kernel who holds them, and maps nothing. */
#include "shm/read/liveness.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/object.h"
#include "shm/read/reader_internal.h"

static struct ncs_process self;
static pthread_once_t described = PTHREAD_ONCE_INIT;

static void describe_self(void)
{
	ncs_process_describe(&self);
}

bool ncs_process_is_gone(const struct ncs_process *process)
{
	pthread_once(&described, describe_self);
	return ncs_process_look(process, &self).gone;
}

static struct ncs_process_state state_of(const struct ncs_process *process,
					 uint64_t now_ns)
{
	static _Thread_local struct {
		struct ncs_process process;
		uint64_t now_ns;
		struct ncs_process_state state;
	} latest;

	if (now_ns == 0 || latest.now_ns != now_ns ||
	    memcmp(process, &latest.process, sizeof(*process)) != 0) {
		latest.process = *process;
		latest.now_ns = now_ns;
		latest.state = ncs_process_look(process, &self);
	}
	return latest.state;
}

/* Describes the process of a segment as it is seen here, if it is. */
static void describe_here(const struct ncs_reader *reader,
			  struct ncs_process *process)
{
	ncs_process_of_header(&reader->header, process);
	if (reader->pid_here == 0)
		return;
	process->pid = reader->pid_here;
	process->pid_namespace = self.pid_namespace;
}

/* Returns whether any process holds the reader's file. A file that was removed
 * or replaced tells nothing. */
static enum ncs_holding holding_of(const struct ncs_reader *reader)
{
	enum ncs_holding holding = NCS_HOLDING_UNKNOWN;
	int file = ncs_object_open(AT_FDCWD, reader->path);
	struct stat status;

	if (file < 0)
		return holding;
	if (fstat(file, &status) == 0 &&
	    status.st_dev == reader->file.device &&
	    status.st_ino == reader->file.inode)
		holding = ncs_object_holding(file);
	close(file);
	return holding;
}

/* Tells whether the process is of this PID namespace and boot, so that /proc
 * shows whether it has ended. */
static bool is_visible(const struct ncs_process *process)
{
	return process->pid_namespace == self.pid_namespace &&
	       strncmp(process->boot_id, self.boot_id, sizeof(self.boot_id)) ==
		       0;
}

struct ncs_process_state ncs_reader_process(const struct ncs_reader *reader,
					    uint64_t now_ns)
{
	struct ncs_process_state state;
	struct ncs_process process;

	if (ncs_reader_is_image(reader))
		return reader->process;
	pthread_once(&described, describe_self);
	describe_here(reader, &process);
	state = state_of(&process, now_ns);
	if (state.gone && is_visible(&process))
		return state;
	switch (holding_of(reader)) {
	case NCS_HELD:
		state.gone = false;
		break;
	case NCS_ABANDONED:
		state = (struct ncs_process_state){ .gone = true };
		break;
	case NCS_HOLDING_UNKNOWN:
		break;
	}
	return state;
}

enum ncs_liveness ncs_liveness_of(uint64_t life, bool process_gone,
				  uint64_t last_call_ns, uint64_t now_ns)
{
	if (life == NCS_LIFE_FINISHED)
		return NCS_FINISHED;
	if (process_gone)
		return NCS_DEAD;
	if (last_call_ns != 0 && now_ns > last_call_ns &&
	    now_ns - last_call_ns > NCS_SILENT_AFTER_NS)
		return NCS_SILENT;
	return NCS_ALIVE;
}

uint64_t ncs_reader_last_call_ns(const struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < header->lanes.count; i++) {
		const struct ncs_lane *lane =
			ncs_reader_entry(reader, &header->lanes, i);
		uint64_t call_ns =
			ncs_reader_uses_lane(reader, i) ?
				ncs_clock_ns(&header->clock,
					     ncs_load_relaxed(
						     &lane->last_call)) :
				0;

		last_ns = call_ns > last_ns ? call_ns : last_ns;
	}
	return last_ns;
}
