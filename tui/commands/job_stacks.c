/* SPDX-License-Identifier: MIT */
/* Stacks of a job's processes; see job_stacks.h. --stacks-of reads those of this
 * machine for --stacks elsewhere. */
#include "tui/commands/job_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "analysis/sources/source_shm.h"
#include "fleet/stacks/read_stacks.h"
#include "shm/clock.h"
#include "tui/commands/commands.h"
#include "tui/commands/json_values.h"
#include "tui/commands/metrics_watch.h"
#include "tui/text/finding_text.h"
#include "tui/text/output.h"
#include "tui/text/words.h"

#define COLUMNS 80
/* Branches of deeper levels are indented like this one. */
#define LEVEL_MAX 16u

/* A process of the job, by one of its ranks. */
struct member {
	const struct ncs_rank *rank;
	int32_t number; /* in the communicator of the finding; -1: in none */
	bool is_culprit;
};

struct ncs_job_stacks {
	struct member *members;   /* by node, then by process */
	struct ncs_stack *stacks; /* of each */
	size_t count;
	struct ncs_stack_leaf *leaves; /* those that have frames, merged */
	size_t leaf_count;
	struct ncs_stack_branch *branches;
	size_t branch_count;
	/* Whether all are of one process, at moments when it was late. */
	bool is_late;
	uint64_t age_ns; /* of those of a recording or stream; 0: read now */
};

/* --- Which processes ------------------------------------------------------ */

/* Returns the rank that stacks are to explain: that which the finding asked for, or
 * the worst one on a rank that is seen, blames, or which waits longest; NULL if
 * there is none. */
static const struct ncs_rank *
suspect_of(const struct ncs_stacks_request *request,
	   const struct ncs_rank **peer)
{
	const struct ncs_diagnosis *diagnosis = request->diagnosis;

	*peer = NULL;
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];

		if (request->finding && request->finding != finding)
			continue;
		*peer = finding->peer.rank;
		if (finding->root.rank || *peer)
			return finding->root.rank ? finding->root.rank : *peer;
	}
	return NULL;
}

static bool is_culprit(const struct ncs_diagnosis *diagnosis,
		       const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_rank *root = diagnosis->findings[i].root.rank;

		if (root && ncs_shares_process(root, rank))
			return true;
	}
	return false;
}

static void add_member(struct ncs_job_stacks *job,
		       const struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator,
		       const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	job->members[job->count++] = (struct member){
		.rank = rank,
		.number = rank->communicator == communicator &&
					  (identity->known & NCS_KNOWN_RANK) ?
				  identity->rank :
				  -1,
		.is_culprit = is_culprit(diagnosis, rank),
	};
}

/* Orders members by node and process; a process's numbered rank is first. */
static int compare_members(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	uint32_t left_pid = ncs_rank_pid(left->rank);
	uint32_t right_pid = ncs_rank_pid(right->rank);
	int order = strcmp(left->rank->reach, right->rank->reach);

	if (order == 0)
		order = (left_pid > right_pid) - (left_pid < right_pid);
	return order ? order :
		       (left->number < right->number) -
				(left->number > right->number);
}

/* Chooses all processes of the job, or the suspect and another one: that of its
 * finding, else the first that waits for it. */
static bool choose(struct ncs_job_stacks *job,
		   const struct ncs_stacks_request *request, bool all)
{
	const struct ncs_model *model = request->model;
	const struct ncs_diagnosis *diagnosis = request->diagnosis;
	const struct ncs_communicator *communicator = NULL;
	const struct ncs_rank *peer;
	const struct ncs_rank *suspect = suspect_of(request, &peer);
	size_t room = model->rank_count + NCS_LATE_STACKS_MAX, kept = 0;

	job->members = calloc(room, sizeof(*job->members));
	job->stacks = calloc(room, sizeof(*job->stacks));
	job->leaves = calloc(room, sizeof(*job->leaves));
	if (!job->members || !job->stacks || !job->leaves)
		return false;
	for (size_t i = 0; i < model->communicator_count && !suspect; i++)
		if (!communicator || model->communicators[i].rank_count >
					     communicator->rank_count)
			communicator = &model->communicators[i];
	if (suspect)
		communicator = suspect->communicator;
	if (suspect)
		add_member(job, diagnosis, communicator, suspect);
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (suspect && !peer && rank->communicator == communicator &&
		    !ncs_shares_process(suspect, rank) &&
		    ncs_diagnosis_is_victim(diagnosis, rank))
			peer = rank;
		if (all && rank != suspect &&
		    (rank->now.liveness != NCS_FINISHED || rank->stack))
			add_member(job, diagnosis, communicator, rank);
	}
	if (!all && peer && !job->is_late)
		add_member(job, diagnosis, communicator, peer);
	qsort(job->members, job->count, sizeof(*job->members), compare_members);
	for (size_t i = 0; i < job->count; i++)
		if (i == 0 || !ncs_shares_process(job->members[kept - 1].rank,
						  job->members[i].rank))
			job->members[kept++] = job->members[i];
	job->count = kept;
	return true;
}

/* --- Moments at which a process is late ----------------------------------- */

struct late_process {
	struct ncs_model model;
	struct ncs_source *source;
	uint32_t pid;
};

static uint64_t lateness(void *context)
{
	struct late_process *process = context;
	struct ncs_model *model = &process->model;
	struct ncs_progress progress;
	bool is_behind = false;
	uint64_t calls = 1;

	ncs_model_update(model, process->source, ncs_clock_monotonic_ns());
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (ncs_rank_pid(rank) != process->pid || !rank->communicator)
			continue;
		if (rank->now.operation_count > 0)
			return 0;
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++) {
			const struct ncs_function_view *function =
				&rank->now.functions[k];

			calls += function->operations;
			ncs_communicator_progress(rank->communicator, k,
						  &progress);
			is_behind |= function->last_sequence_number <
				     progress.most;
		}
	}
	return is_behind ? calls : 0;
}

/* Samples the process that the first stack names, as ncs_stacks_sample_late(). It is
 * late while it has no operation in flight, and another rank that `source` shows
 * is further in one of its communicators. The source is of this machine, and hands
 * over no records from then on. */
static size_t sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			  struct ncs_source *source)
{
	struct late_process process = { .source = source,
					.pid = stacks[0].pid };
	size_t count;

	source->wants_records = ncs_wants_no_records;
	ncs_model_init(&process.model);
	count = ncs_stacks_sample_late(stacks, lateness, &process);
	ncs_model_release(&process.model);
	return count;
}

/* --- Reading -------------------------------------------------------------- */

/* Reads the stacks of this machine, by `source`, or those of all nodes. */
static bool read_all(struct ncs_job_stacks *job, const struct ncs_model *model,
		     struct ncs_source *source, const char *command)
{
	struct ncs_node_stacks *nodes;
	size_t node_count = 0;

	/* There may be so many stacks of the only process. */
	while (job->is_late && job->count < NCS_LATE_STACKS_MAX)
		job->members[job->count++] = job->members[0];
	nodes = calloc(job->count, sizeof(*nodes));
	if (!nodes)
		return false;
	for (size_t i = 0; i < job->count; i++) {
		const char *reach = job->members[i].rank->reach;

		ncs_stack_identify(&job->stacks[i],
				   &job->members[i].rank->process,
				   job->members[i].rank->labels);
		if (node_count == 0 ||
		    strcmp(nodes[node_count - 1].reach, reach) != 0)
			nodes[node_count++] = (struct ncs_node_stacks){
				.reach = reach,
				.command = command,
				.stacks = &job->stacks[i],
				.is_late = job->is_late,
			};
		nodes[node_count - 1].count++;
		if (model->node_count > 0 && !reach[0])
			ncs_stack_say(&job->stacks[i],
				      "how its node is reached is not known");
	}
	if (model->node_count == 0 && job->is_late)
		sample_late(job->stacks, source);
	else if (model->node_count == 0)
		ncs_stacks_read(job->stacks, job->count);
	else
		/* Those that cannot be reached are sorted first. */
		ncs_stacks_read_nodes(nodes + !nodes[0].reach[0],
				      node_count - !nodes[0].reach[0]);
	free(nodes);
	/* The first one says why there are none. */
	while (job->is_late && job->count > 1 &&
	       job->stacks[job->count - 1].count == 0)
		job->count--;
	return true;
}

/* Takes the stacks that the recording or the streams have. Returns false if they
 * have none. */
static bool take_kept(struct ncs_job_stacks *job)
{
	bool found = false;

	for (size_t i = 0; i < job->count && !job->is_late; i++) {
		const struct ncs_rank *rank = job->members[i].rank;
		uint64_t age_ns = rank->now.taken_ns - rank->stack_ns;

		if (!rank->stack)
			continue;
		ncs_stacks_take(&job->stacks[i], 1, rank->stack);
		if (rank->now.taken_ns > rank->stack_ns &&
		    age_ns > job->age_ns)
			job->age_ns = age_ns;
		found = true;
	}
	return found;
}

/* Merges the stacks. In a text, the reason why there is none is a branch of its
 * own. */
static bool merge(struct ncs_job_stacks *job, bool is_text)
{
	char text[NCS_SENTENCE_MAX];

	for (size_t i = 0; i < job->count; i++) {
		struct ncs_stack *stack = &job->stacks[i];
		bool is_read = stack->count > 0;

		snprintf(text, sizeof(text), "(not read: %s)",
			 stack->why[0] ? stack->why : "none was kept");
		if (!is_read && is_text)
			ncs_stack_add(stack, text, "", 0);
		if (stack->count > 0)
			job->leaves[job->leaf_count++] =
				(struct ncs_stack_leaf){
					stack, i,
					is_read && job->members[i].is_culprit
				};
	}
	job->branches = ncs_stacks_merge(job->leaves, job->leaf_count,
					 &job->branch_count);
	return job->leaf_count == 0 || job->branches;
}

/* Says what is about to be done to processes, and does it. */
static bool read_running(struct ncs_job_stacks *job,
			 const struct ncs_stacks_request *request)
{
	const char *command = request->options->remote_command;
	char text[NCS_SENTENCE_MAX];

	snprintf(text, sizeof(text),
		 "reading the stacks of %zu process%s; each pauses while its own"
		 " is read",
		 job->count, job->count == 1 ? "" : "es");
	request->say(request->context,
		     job->is_late ? "sampling the rank to blame while its host"
				    " is late, for 10 s at most; nothing pauses" :
				    text);
	return read_all(job, request->model, request->source,
			command ? command : "ncclstat");
}

/* Whether all processes are to be shown: that is asked for, or none is to blame, as
 * after the end of a job, but stacks were kept. */
static bool wants_all(const struct ncs_stacks_request *request)
{
	const struct ncs_model *model = request->model;
	const struct ncs_rank *peer;

	if (request->options->stacks != NCS_STACKS_CULPRIT)
		return request->options->stacks == NCS_STACKS_ALL;
	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->stack)
			return !suspect_of(request, &peer);
	return false;
}

struct ncs_job_stacks *
ncs_job_stacks_read(const struct ncs_stacks_request *request)
{
	const struct ncs_options *options = request->options;
	struct ncs_job_stacks *job = calloc(1, sizeof(*job));
	const bool all = wants_all(request);
	const char *why = "no stacks: there is no memory";
	bool is_read = false;

	if (job)
		job->is_late = options->stacks == NCS_STACKS_LATE;
	if (job && choose(job, request, all)) {
		if (job->count == 0)
			why = all ? "no stacks: there is no process" :
				    "no stacks: no finding names a process;"
				    " --stacks=all shows those of all";
		else if (take_kept(job))
			is_read = true;
		else if (options->file_count > 0 || options->from)
			why = "no stacks: none were kept; --stacks with"
			      " --record, or with --stream, keeps them once a"
			      " job stands still";
		else if (request->say)
			is_read = read_running(job, request);
	}
	if (is_read && merge(job, options->format == NCS_DUMP_TEXT))
		return job;
	if (request->say)
		request->say(request->context, why);
	ncs_job_stacks_free(job);
	return NULL;
}

void ncs_job_stacks_free(struct ncs_job_stacks *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->count; i++)
		ncs_stack_forget(&job->stacks[i]);
	free(job->members);
	free(job->stacks);
	free(job->leaves);
	free(job->branches);
	free(job);
}

/* --- Text ----------------------------------------------------------------- */

/* Prints a line of so many columns at most. */
static void print_line(FILE *file, unsigned indent, unsigned columns,
		       const char *raw, bool ascii)
{
	char clean[NCS_SENTENCE_MAX];

	ncs_utf8_clean(clean, columns + 1 - indent, raw, ascii);
	fprintf(file, "%*s%s\n", (int)indent, "", clean);
}

static int compare_numbers(const void *a, const void *b)
{
	const int32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Appends the ranks of a branch, "rank 5" or "ranks 0-3,6", and processes that
 * have no number; those that find no room are counted. */
static void append_members(const struct ncs_job_stacks *job,
			   const struct ncs_stack_branch *branch, char *text,
			   size_t size)
{
	int32_t *numbers = calloc(branch->count, sizeof(*numbers));
	size_t others = 0, past;

	for (size_t i = 0; numbers && i < branch->count; i++)
		numbers[i] = job->members[job->leaves[branch->first + i].number]
				     .number;
	if (!numbers)
		return;
	qsort(numbers, branch->count, sizeof(*numbers), compare_numbers);
	while (others < branch->count && numbers[others] < 0)
		others++;
	if (others < branch->count)
		ncs_append(text, size,
			   branch->count - others > 1 ? "ranks " : "rank ");
	for (size_t i = others; i < branch->count; i = past) {
		past = i + 1;
		while (past < branch->count &&
		       numbers[past] == numbers[past - 1] + 1)
			past++;
		if (strlen(text) > COLUMNS / 2) {
			ncs_append(text, size, " and %zu more",
				   branch->count - i);
			break;
		}
		ncs_append(text, size, "%s%d", i > others ? "," : "",
			   numbers[i]);
		if (past - i > 1)
			ncs_append(text, size, "%c%d", past - i > 2 ? '-' : ',',
				   numbers[past - 1]);
	}
	if (others > 0)
		ncs_append(text, size, "%s%zu process%s of other communicators",
			   others < branch->count ? ", " : "", others,
			   others > 1 ? "es" : "");
	free(numbers);
}

/* Appends a function, and its place between two texts. */
static void append_frame(const struct ncs_stack_frame *frame,
			 const char *before, const char *after, char *text,
			 size_t size)
{
	const char *slash = strrchr(frame->file, '/');

	ncs_append(text, size, "%s", frame->function);
	if (!frame->file[0])
		return;
	ncs_append(text, size, "%s%s", before, slash ? slash + 1 : frame->file);
	if (frame->line > 0)
		ncs_append(text, size, ":%u", frame->line);
	ncs_append(text, size, "%s", after);
}

static void print_branch(FILE *file, const struct ncs_job_stacks *job,
			 const struct ncs_stack_branch *branch, bool ascii)
{
	unsigned level = branch->level < LEVEL_MAX ? branch->level : LEVEL_MAX;
	const struct ncs_stack *stack = job->leaves[branch->first].stack;
	char text[NCS_SENTENCE_MAX] = "";

	if (job->is_late)
		ncs_append(text, sizeof(text), "%zu of %zu", branch->count,
			   job->leaf_count);
	else
		append_members(job, branch, text, sizeof(text));
	ncs_append(text, sizeof(text), ":%s%s",
		   branch->from == branch->end ? " here" : "",
		   branch->is_apart ? " <-- leaves the others" : "");
	if (branch->from == 0 && strcmp(stack->tool, "/proc") == 0)
		ncs_append(text, sizeof(text), " by /proc: %s", stack->why);
	print_line(file, 2 + 2 * level, NCS_SENTENCE_MAX - 1, text, ascii);
	for (size_t i = branch->from; i < branch->end; i++) {
		text[0] = '\0';
		append_frame(&stack->frames[i], "  ", "", text, sizeof(text));
		print_line(file, 4 + 2 * level, COLUMNS, text, ascii);
	}
}

/* Prints in which frame a process is late most of the time. */
static void print_lateness(FILE *file, const struct ncs_job_stacks *job,
			   bool ascii)
{
	const bool is_known = job->stacks[0].tool[0];
	const struct ncs_stack_branch one = { .count = 1 }, *most = NULL;
	char text[NCS_SENTENCE_MAX] = "";

	/* Branches of most stacks come out of each other. */
	for (size_t i = 0; i < job->branch_count; i++)
		if (2 * job->branches[i].count > job->leaf_count)
			most = &job->branches[i];
	ncs_append(text, sizeof(text), "%s", is_known ? "" : "where ");
	append_members(job, &one, text, sizeof(text));
	ncs_append(text, sizeof(text), " is late %s",
		   is_known ? "in " : "is not known: ");
	if (!is_known)
		ncs_append(text, sizeof(text), "%s", job->stacks[0].why);
	else if (most)
		append_frame(&job->leaves[most->first]
				      .stack->frames[most->end - 1],
			     " (", ")", text, sizeof(text));
	if (is_known)
		ncs_append(text, sizeof(text), "%s at %zu of %zu moments:",
			   most ? "" : "various places",
			   most ? most->count : job->leaf_count,
			   job->leaf_count);
	fputc('\n', file);
	print_line(file, 0, NCS_SENTENCE_MAX - 1, text, ascii);
}

static void print_head(FILE *file, const struct ncs_job_stacks *job)
{
	char age[NCS_FORMAT_MAX];

	ncs_format_duration(age, sizeof(age), job->age_ns, 8);
	fprintf(file, "\nstacks of main threads%s%s%s, the outermost frame"
		      " first:\n",
		job->age_ns > 0 ? ", read " : "", job->age_ns > 0 ? age : "",
		job->age_ns > 0 ? " before" : "");
}

void ncs_job_stacks_text(FILE *file, const struct ncs_job_stacks *job,
			 bool ascii)
{
	if (job->is_late)
		print_lateness(file, job, ascii);
	else
		print_head(file, job);
	for (size_t i = 0; i < job->branch_count; i++)
		if (!job->is_late || job->stacks[0].tool[0])
			print_branch(file, job, &job->branches[i], ascii);
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *process_of(const struct member *member,
			  const struct ncs_stack *stack)
{
	return NCS_JSON_OBJECT(
		{ "rank", NCS_JSON_IF(member->number >= 0, member->number) },
		{ "pid", NCS_JSON(stack->pid) },
		{ "host", NCS_JSON(member->rank->process.host) },
		{ "culprit", NCS_JSON(member->is_culprit) },
		{ "tool", ncs_json_name(stack->tool) },
		{ "why", ncs_json_name(stack->why) });
}

static json_t *frame_of(const struct ncs_stack_frame *frame)
{
	return NCS_JSON_OBJECT({ "function", NCS_JSON(frame->function) },
			       { "file", ncs_json_name(frame->file) },
			       { "line", ncs_json_known(frame->line) });
}

NCS_JSON_ARRAY(static json_t *numbers_of(const struct ncs_stack_leaf *leaves,
					 size_t count),
	       count, NCS_JSON(leaves[i].number))

NCS_JSON_ARRAY(static json_t *frames_of(const struct ncs_stack_frame *frames,
					size_t count),
	       count, frame_of(&frames[i]))

static json_t *branch_of(const struct ncs_stack_leaf *leaves,
			 const struct ncs_stack_branch *branch)
{
	return NCS_JSON_OBJECT(
		{ "level", NCS_JSON(branch->level) },
		{ "processes", numbers_of(leaves, branch->count) },
		{ "leaves_the_others", NCS_JSON(branch->is_apart) },
		{ "frames", frames_of(&leaves->stack->frames[branch->from],
				      branch->end - branch->from) });
}

NCS_JSON_ARRAY(static json_t *processes_of(const struct ncs_job_stacks *job),
	       job->count, process_of(&job->members[i], &job->stacks[i]))

NCS_JSON_ARRAY(static json_t *branches_of(const struct ncs_job_stacks *job),
	       job->branch_count,
	       branch_of(job->leaves + job->branches[i].first,
			 &job->branches[i]))

json_t *ncs_job_stacks_json(const struct ncs_job_stacks *job)
{
	if (!job)
		return json_null();
	return NCS_JSON_OBJECT({ "late", NCS_JSON(job->is_late) },
			       { "age_ns", ncs_json_known(job->age_ns) },
			       { "processes", processes_of(job) },
			       { "branches", branches_of(job) });
}

/* --- For --stacks elsewhere ----------------------------------------------- */

/* Samples the first process here while it is late. Returns the number of stacks. */
static size_t sample_late_here(struct ncs_stack *stacks,
			       const struct ncs_options *options)
{
	struct ncs_source *source =
		ncs_source_open_shm(options->directory, NULL);
	size_t count = 0;

	if (source) {
		count = sample_late(stacks, source);
		source->close(source);
	}
	return count > 0 ? count : 1;
}

int ncs_stacks_of_run(const struct ncs_command_input *input)
{
	struct ncs_stack *stacks;
	size_t count = ncs_stacks_parse(input->options->stacks_of, &stacks);

	if (count == 0) {
		ncs_complain("--stacks-of expects PID:START:NAMESPACE,...");
		return NCS_EXIT_USAGE;
	}
	if (input->options->stacks == NCS_STACKS_LATE)
		count = sample_late_here(stacks, input->options);
	else
		ncs_stacks_read(stacks, count);
	for (size_t i = 0; i < count; i++) {
		ncs_stack_print(input->file, &stacks[i]);
		ncs_stack_forget(&stacks[i]);
	}
	free(stacks);
	return NCS_EXIT_OK;
}
