/* SPDX-License-Identifier: MIT */
/* Answers for jobs of known truth, counted; see truth_tally.h. */
#include "test/unit/support/truth_tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/stragglers.h"
#include "test/unit/support/unit.h"

#define KINDS_MAX 64u

struct truth_kind {
	const char *name;
	unsigned counts[TRUTH_ANSWERS];
};

static struct truth_kind kinds[KINDS_MAX];
static size_t kind_count;

static unsigned number_of(const char *name, unsigned usual)
{
	const char *text = getenv(name);

	return text && text[0] ? (unsigned)strtoul(text, NULL, 10) : usual;
}

static bool is_wanted(const char *kind)
{
	const char *wanted = getenv("TRUTH_KIND");

	return !wanted || strncmp(kind, wanted, strlen(wanted)) == 0;
}

/* A sanitizer looks at code, which few jobs of each kind reach. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USUAL_SHARE 4u
#else
#define USUAL_SHARE 1u
#endif

unsigned truth_jobs(const char *kind, unsigned usual, unsigned percent)
{
	unsigned jobs =
		number_of("TRUTH_JOBS", usual / USUAL_SHARE) * percent / 100;

	if (!is_wanted(kind))
		return 0;
	return jobs > 0 ? jobs : 1;
}

unsigned truth_seed(unsigned i)
{
	return number_of("TRUTH_SEED", 1) + i;
}

static struct truth_kind *kind_of(const char *name)
{
	for (size_t i = 0; i < kind_count; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	if (kind_count == KINDS_MAX)
		abort();
	kinds[kind_count].name = name;
	return &kinds[kind_count++];
}

void truth_count(const char *kind, unsigned seed, enum truth_answer answer)
{
	kind_of(kind)->counts[answer]++;
	if (answer == TRUTH_WRONG)
		print_message("    again: make truth KIND=%s SEED=%u COUNT=1\n",
			      kind, seed);
}

unsigned truth_counted(const char *kind, enum truth_answer answer)
{
	return kind_of(kind)->counts[answer];
}

static void print_kinds(FILE *file)
{
	for (size_t i = 0; i < kind_count; i++)
		fprintf(file, "%-32s %6u %6u %7u %7u\n", kinds[i].name,
			kinds[i].counts[TRUTH_RIGHT],
			kinds[i].counts[TRUTH_WRONG],
			kinds[i].counts[TRUTH_BOUNDED],
			kinds[i].counts[TRUTH_UNKNOWN]);
}

bool truth_has_evidence(const struct ncs_finding *finding,
			enum ncs_evidence_kind kind)
{
	for (size_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].kind == kind)
			return true;
	return false;
}

bool truth_says_unknown(const struct ncs_model *model, unsigned process)
{
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		if (rank->process.pid == 1000 + process && view &&
		    (ncs_may_straggle(view) ||
		     view->cost.unknown == NCS_COST_NO_PEER))
			return true;
	}
	return false;
}

void truth_print_table(void)
{
	const char *path = getenv("TRUTH_TABLE");
	FILE *file = path && path[0] ? fopen(path, "a") : NULL;

	printf("%-32s %6s %6s %7s %7s\n", "KIND", "RIGHT", "WRONG", "BOUNDED",
	       "UNKNOWN");
	print_kinds(stdout);
	if (!file)
		return;
	print_kinds(file);
	fclose(file);
}
