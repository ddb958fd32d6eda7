/* SPDX-License-Identifier: MIT */
/* Commands of --on; see watch_parts.h. */
#include "tui/commands/watch_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "tui/text/finding_text.h"
#include "tui/text/output.h"

/* Time, and bytes of output, that a command has. */
#define COMMAND_NS UINT64_C(60000000000)
#define OUTPUT_BYTES ((size_t)1 << 20)
/* Findings that are known at once; others wait until one is forgotten. */
#define KNOWN_MAX 64u

/* A finding, and the hooks whose commands were run for it. */
struct known_finding {
	struct ncs_finding_key key;
	uint64_t first_ns, latest_ns; /* samples that had it */
	unsigned ran;                 /* a bit each */
};

struct ncs_hooks {
	const struct ncs_options *options;
	struct known_finding known[KNOWN_MAX];
	size_t known_count;
	struct ncs_guard guard; /* started with the first command */
	/* The command that runs; its input is NULL if none does. */
	struct ncs_answer answer;
	char *input;
	const char *option; /* of that command */
};

/* --- When ----------------------------------------------------------------- */

static bool is_due(enum ncs_hook_when when, const struct ncs_finding *finding,
		   uint64_t age_ns)
{
	switch (when) {
	case NCS_HOOK_STUCK:
		return finding->severity == NCS_SEVERITY_STUCK;
	case NCS_HOOK_SLOW:
		return finding->severity == NCS_SEVERITY_SLOW &&
		       age_ns >= NCS_STUCK_NS;
	case NCS_HOOK_DIED:
		return finding->verdict == NCS_VERDICT_RANK_DIED;
	}
	return false;
}

/* --- Findings ------------------------------------------------------------- */

struct ncs_finding_key ncs_finding_key(const struct ncs_finding *finding)
{
	const struct ncs_rank *rank = finding->root.rank ? finding->root.rank :
							   finding->peer.rank;
	struct ncs_finding_key key;

	memset(&key, 0, sizeof(key));
	key.verdict = finding->verdict;
	key.rank = rank ? rank->serial : 0;
	key.number = finding->root.number;
	if (finding->node)
		strcpy(key.node, finding->node->name);
	return key;
}

/* Returns what is known of a finding, which is of a sample at `now_ns`; NULL if
 * too many are known. */
static struct known_finding *know(struct ncs_hooks *hooks,
				  const struct ncs_finding *finding,
				  uint64_t now_ns)
{
	struct ncs_finding_key key = ncs_finding_key(finding);
	struct known_finding *known = hooks->known;
	struct known_finding *end = known + hooks->known_count;

	while (known < end && memcmp(&known->key, &key, sizeof(key)) != 0)
		known++;
	if (known == end) {
		if (hooks->known_count == KNOWN_MAX)
			return NULL;
		hooks->known_count++;
		*known = (struct known_finding){ .first_ns = now_ns };
		known->key = key;
	}
	known->latest_ns = now_ns;
	return known;
}

/* Forgets findings that have been gone for long. */
static void forget(struct ncs_hooks *hooks, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < hooks->known_count; i++)
		if (now_ns - hooks->known[i].latest_ns < NCS_STUCK_NS)
			hooks->known[kept++] = hooks->known[i];
	hooks->known_count = kept;
}

/* --- Commands ------------------------------------------------------------- */

/* Adds a variable, without what a terminal must not get. */
static void add_variable(struct ncs_words *words, const char *name,
			 const char *raw)
{
	char clean[NCS_SENTENCE_MAX];

	ncs_utf8_clean(clean, sizeof(clean), raw, false);
	ncs_words_add(words, "%s=%s", name, clean);
}

static void add_variables(struct ncs_words *words, const char *directory,
			  const struct ncs_finding *finding)
{
	const struct ncs_rank *rank = finding->root.rank;
	char text[NCS_SENTENCE_MAX];

	if (!directory)
		directory = getenv("NCCLSTAT_DIR");
	if (directory)
		ncs_words_add(words, "NCCLSTAT_DIR=%s", directory);
	add_variable(words, "NCCLSTAT_VERDICT",
		     ncs_verdict_name(finding->verdict));
	add_variable(words, "NCCLSTAT_SEVERITY",
		     ncs_severity_name(finding->severity));
	ncs_finding_sentence(finding, text, sizeof(text));
	add_variable(words, "NCCLSTAT_SENTENCE", text);
	text[0] = '\0';
	if (finding->root.number >= 0)
		snprintf(text, sizeof(text), "%d", finding->root.number);
	add_variable(words, "NCCLSTAT_RANK", text);
	text[0] = '\0';
	if (rank)
		snprintf(text, sizeof(text), "%u", ncs_rank_pid(rank));
	add_variable(words, "NCCLSTAT_PID", text);
	add_variable(words, "NCCLSTAT_HOST",
		     rank          ? rank->process.host :
		     finding->node ? finding->node->name :
				     "");
}

/* Returns the diagnosis as JSON, to be freed; NULL without memory. */
static char *document_of(const struct ncs_diagnosis *diagnosis,
			 const struct ncs_model *model,
			 const struct ncs_stamp *stamp)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	ncs_diagnose_json(file, diagnosis, model, stamp);
	return fclose(file) == 0 ? text : NULL;
}

/* Begins to run a hook's command; `input` is its own then. */
static void run(struct ncs_hooks *hooks, const struct ncs_hook *hook,
		const struct ncs_finding *finding, char *input)
{
	struct ncs_words words = { .count = 0 };
	char why[200] = "there is no memory";

	ncs_guard_check(&hooks->guard);
	ncs_words_add(&words, "env");
	add_variables(&words, hooks->options->directory, finding);
	ncs_words_add_shell(&words, hook->command);
	if (input &&
	    ncs_answer_begin(&hooks->answer, &hooks->guard, &words, input,
			     OUTPUT_BYTES, COMMAND_NS, why, sizeof(why)) == 0) {
		hooks->input = input;
		hooks->option = hook->option;
	} else {
		ncs_complain("--on=%s: %s", hook->option, why);
		free(input);
	}
	ncs_words_release(&words);
}

void ncs_hooks_look(struct ncs_hooks *hooks,
		    const struct ncs_diagnosis *diagnosis,
		    const struct ncs_model *model,
		    const struct ncs_stamp *stamp)
{
	const struct ncs_options *options = hooks->options;
	uint64_t now_ns = stamp->monotonic_ns;

	forget(hooks, now_ns);
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		struct known_finding *known = know(hooks, finding, now_ns);

		for (size_t k = 0; known && k < options->hook_count; k++) {
			const struct ncs_hook *hook = &options->hooks[k];

			if (hooks->input || known->ran >> k & 1 ||
			    !is_due(hook->when, finding,
				    now_ns - known->first_ns))
				continue;
			known->ran |= 1u << k;
			run(hooks, hook, finding,
			    document_of(diagnosis, model, stamp));
		}
	}
}

bool ncs_hooks_turn(struct ncs_hooks *hooks)
{
	char *output, *rest, *line, why[400] = "";
	int turn = hooks->input ? ncs_answer_turn(&hooks->answer, 0) : 0;

	if (turn == 0)
		return hooks->input != NULL;
	ncs_answer_end(&hooks->answer, "its command", turn, &output, why,
		       sizeof(why));
	for (rest = output; (line = strsep(&rest, "\n"));)
		if (*line)
			ncs_complain("--on=%s: %s", hooks->option, line);
	if (why[0])
		ncs_complain("--on=%s: %s", hooks->option, why);
	free(output);
	free(hooks->input);
	hooks->input = NULL;
	return false;
}

struct ncs_hooks *ncs_hooks_open(const struct ncs_options *options)
{
	struct ncs_hooks *hooks = calloc(1, sizeof(*hooks));

	if (hooks)
		hooks->options = options;
	return hooks;
}

void ncs_hooks_close(struct ncs_hooks *hooks)
{
	if (hooks->input) {
		ncs_answer_cancel(&hooks->answer);
		free(hooks->input);
	}
	ncs_guard_stop(&hooks->guard);
	free(hooks);
}
