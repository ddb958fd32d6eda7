/* SPDX-License-Identifier: MIT */
/* Tells whether processes and segments are alive; see liveness.h. Reads /proc
 * and maps nothing. */
#include "shm/read/liveness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct ncs_process self;

static void describe_self(void)
{
	ncs_process_describe(&self);
}

bool ncs_process_ended(const struct ncs_process *process)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, describe_self);
	return ncs_process_has_ended(process, &self);
}

bool ncs_process_is_gone(const struct ncs_header *header)
{
	struct ncs_process process;

	ncs_process_of_header(header, &process);
	return ncs_process_ended(&process);
}

struct ncs_process_state ncs_process_state_at(const struct ncs_header *header,
					      uint64_t now_ns)
{
	static _Thread_local struct {
		struct ncs_process process;
		uint64_t now_ns;
		struct ncs_process_state state;
	} latest;
	struct ncs_process process;

	ncs_process_of_header(header, &process);
	if (now_ns == 0 || latest.now_ns != now_ns ||
	    memcmp(&process, &latest.process, sizeof(process)) != 0) {
		latest.process = process;
		latest.now_ns = now_ns;
		latest.state.gone = ncs_process_ended(&process);
		/* In another PID namespace the PID is another process's. */
		latest.state.stopped =
			!latest.state.gone &&
			process.pid_namespace == self.pid_namespace &&
			ncs_process_is_stopped(process.pid, process.start);
	}
	return latest.state;
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

bool ncs_is_being_written(const char *path)
{
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool refused;

	if (file < 0)
		return false;
	fcntl(file, F_SETSIG, SIGURG); /* instead of SIGIO, which kills */
	refused = fcntl(file, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
	close(file);
	return refused;
}
