/* SPDX-License-Identifier: MIT */
/* Commands on many machines; see everywhere.h. */
#include "fleet/launch/everywhere.h"

#include <stdlib.h>

#include "fleet/launch/answer.h"

#define HOST_NS UINT64_C(60000000000)
#define OUTPUT_MAX (UINT64_C(1) << 20)

struct everywhere {
	const struct ncs_agent_call *call;
	const struct ncs_hostlist *hosts;
	const struct ncs_words *options;
	struct ncs_outcome *outcomes;
};

static bool begin_host(void *context, size_t task, struct ncs_answer *answer,
		       struct ncs_guard *guard)
{
	const struct everywhere *all = context;
	struct ncs_outcome *outcome = &all->outcomes[task];
	struct ncs_words words = { .count = 0 };
	int error;

	ncs_words_add_ssh_command(&words, all->hosts->hosts[task]->name,
				  all->call, all->options);
	error = ncs_answer_begin(answer, guard, &words, NULL, OUTPUT_MAX,
				 HOST_NS, outcome->why, sizeof(outcome->why));
	ncs_words_release(&words);
	return error == 0;
}

static bool end_host(void *context, size_t task, struct ncs_answer *answer,
		     int turn)
{
	const struct everywhere *all = context;
	struct ncs_outcome *outcome = &all->outcomes[task];
	bool is_silent = answer->error_used == 0;

	outcome->is_good = ncs_answer_end(answer, "ssh", turn, &outcome->text,
					  outcome->why,
					  sizeof(outcome->why)) == 0;
	/* Its output tells why. */
	if (outcome->text && outcome->text[0] && is_silent)
		outcome->why[0] = '\0';
	return false;
}

int ncs_run_everywhere(const struct ncs_agent_call *call,
		       const struct ncs_hostlist *hosts,
		       const struct ncs_words *options,
		       struct ncs_outcome *outcomes)
{
	struct everywhere all = { call, hosts, options, outcomes };
	const struct ncs_answer_tasks tasks = { &all, begin_host, end_host };

	return ncs_answers_run(&tasks, hosts->count);
}

void ncs_outcomes_release(struct ncs_outcome *outcomes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(outcomes[i].text);
}
