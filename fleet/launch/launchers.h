/* SPDX-License-Identifier: MIT */
/* The command lines by which agents are started on other machines. Functions
 * only put words together; fleet/launch/subprocess.h runs them. */
#ifndef NCS_FLEET_LAUNCH_LAUNCHERS_H
#define NCS_FLEET_LAUNCH_LAUNCHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/read/job.h"

/* Agents are told to end when nothing has been written to their input for so
 * long, in seconds: not all launchers tell them of its end, nor of a link's. */
#define NCS_AGENT_HEARTBEAT_S 30

/* How to call the agent. */
struct ncs_agent_call {
	/* Its program and perhaps words before the options, separated by
	 * blanks; "ncclstat" is looked for in the PATH of the other side. */
	const char *command;
	const char *directory; /* of segments there; NULL for the default */
	uint64_t interval_ns;  /* time between looks */
	struct ncs_choice choice; /* of the processes to look at */
	bool with_records;
	bool with_stacks;
	/* ssh's program, and perhaps options before ours, which then hold,
	 * separated by blanks; NULL: "ssh". */
	const char *ssh;
};

/* The words of a command line; the last one is followed by NULL. One of zeros
 * is empty. */
struct ncs_words {
	char **words;
	size_t count;
	size_t capacity;
	bool failed; /* out of memory: a word is missing */
};

/* Adds each word of a text; words are separated by blanks. */
void ncs_words_add_split(struct ncs_words *words, const char *text);

/* Adds a formatted word. */
void ncs_words_add(struct ncs_words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Frees the words. */
void ncs_words_release(struct ncs_words *words);

/* Add the words that start an agent: on a host by ssh, without a question to
 * anyone and with a link that is noticed when it is dead after 4 s; on all
 * nodes of a list, of one component of Slurm's job (SIZE_MAX: it has none), in a
 * step that also has the components whose words are there; in a pod; by a shell
 * command of the user's. */
void ncs_words_add_ssh(struct ncs_words *words, const char *host,
		       const struct ncs_agent_call *call);
void ncs_words_add_srun(struct ncs_words *words, const char *job,
			size_t component, const char *nodes, size_t node_count,
			const struct ncs_agent_call *call);
void ncs_words_add_kubectl(struct ncs_words *words, const char *name_space,
			   const char *pod, const struct ncs_agent_call *call);

/* Adds the words that run ncclstat with these options on a host, by ssh. Of the call,
 * the command and ssh count. */
void ncs_words_add_ssh_command(struct ncs_words *words, const char *host,
			       const struct ncs_agent_call *call,
			       const struct ncs_words *options);

/* Adds the words that run a shell command. */
void ncs_words_add_shell(struct ncs_words *words, const char *command);

#endif
