/* SPDX-License-Identifier: MIT */
/* Makes a manual page from its source: mangen PAGE.in >PAGE
 *
 * A source is mdoc. It has markers, lines such as
 *
 *	.\" @columns RANK@
 *
 * which mangen replaces by what the tables in ncclstat/tables and the structs of
 * ncclstat/abi_*.h say; it copies all other lines. An unknown marker is an error,
 * and so is a struct with a field that has no explanation. Must not know which
 * pages there are.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "man/json_keys.h"
#include "man/json_schema.h"
#include "man/mdoc.h"
#include "man/recording_fields.h"
#include "man/segment_fields.h"
#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"
#include "ncclstat/record.h"
#include "ncclstat/tables/activities.def"
#include "ncclstat/tables/columns.def"
#include "ncclstat/tables/cost.def"
#include "ncclstat/tables/environment.def"
#include "ncclstat/tables/job_labels.def"
#include "ncclstat/tables/csv.def"
#include "ncclstat/tables/cupti.def"
#include "ncclstat/tables/outside.def"
#include "ncclstat/tables/exports.def"
#include "ncclstat/tables/fields.def"
#include "ncclstat/tables/kernel_timing.def"
#include "ncclstat/tables/keys.def"
#include "ncclstat/tables/lateness.def"
#include "ncclstat/tables/launches.def"
#include "ncclstat/tables/metrics.def"
#include "ncclstat/tables/names.def"
#include "ncclstat/tables/node_states.def"
#include "ncclstat/tables/commands.def"
#include "ncclstat/tables/options.def"
#include "ncclstat/tables/parquet.def"
#include "ncclstat/tables/timings.def"
#include "ncclstat/tables/verdicts.def"
#include "ncclstat/tables/waits.def"
#include "ncclstat/tables/what_if.def"
#include "ncclstat/version.h"
#include "record/format/file_format.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- Items of lists ------------------------------------------------------- */

/* The parts of a table's row that a page shows. */
struct man_item {
	const char *name;
	const char *help;
	/* Other columns of the table. Each put function says which it expects. */
	const char *words[4];
	long numbers[2];
};

static void put_letter(long letter)
{
	char letters[] = { (char)letter, '\0' };

	ncs_mdoc_name(letter == ' ' ? "blank" : letters);
}

static void put_tag(const struct man_item *item)
{
	fputs(".It Sy ", stdout);
	ncs_mdoc_name(item->name);
}

static void put_named(const struct man_item *item)
{
	put_tag(item);
	putchar('\n');
	ncs_mdoc_sentence(item->help);
}

/* A field of an export; without help it shares that of the field before it. */
static void put_field_name(const struct man_item *item)
{
	put_tag(item);
	putchar('\n');
	if (item->help[0])
		ncs_mdoc_sentence(item->help);
}

/* numbers: a letter; words: a label, or NULL. */
static void put_lettered(const struct man_item *item)
{
	put_tag(item);
	fputs(" Pq Sy ", stdout);
	if (item->words[0]) {
		ncs_mdoc_name(item->words[0]);
		fputs(" , Sy ", stdout);
	}
	put_letter(item->numbers[0]);
	putchar('\n');
	ncs_mdoc_sentence(item->help);
}

/* numbers: the number that stands for the item; words: a sentence that has # in
 * its place. */
static void put_numbered(const struct man_item *item)
{
	const char *format = item->words[0];
	size_t before = strcspn(format, "#");
	char text[64];

	put_named(item);
	snprintf(text, sizeof(text), "%.*s%ld%s", (int)before, format,
		 item->numbers[0], format + before + 1);
	ncs_mdoc_text(text);
}

/* Prints an option without its help. numbers: the letter or 0; words: whether
 * there is an argument, its name, where the option may stand. Words to choose from
 * are typed literally; other arguments are placeholders. */
static void put_option(const struct man_item *item)
{
	const char *has = item->words[0], *argument = item->words[1];
	bool optional = strcmp(has, "OPTIONAL") == 0;

	fputs(".It", stdout);
	if (item->numbers[0])
		printf(" Fl %c ,", (char)item->numbers[0]);
	fputs(" Fl \\-", stdout);
	ncs_mdoc_name(item->name);
	if (strcmp(has, "NO") != 0) {
		printf(" Ns %s= Ns %s ", optional ? "Oo " : "",
		       strchr(argument, '|') ? "Cm" : "Ar");
		ncs_mdoc_name(argument);
		fputs(optional ? " Oc" : "", stdout);
	}
	putchar('\n');
}

/* Prints a command with the names of its operands. */
static void put_command(const char *name, const char *operands,
			const char *brief)
{
	fputs(".It Cm ", stdout);
	ncs_mdoc_name(name);
	if (operands[0]) {
		fputs(" Ar \"", stdout);
		ncs_mdoc_name(operands);
		putchar('"');
	}
	putchar('\n');
	ncs_mdoc_sentence(brief);
}

/* Prints the names of the event types of a group; `events` has a bit for each. */
static void put_group_events(unsigned long events)
{
	static const char *const names[] = {
#define X(ID, name, bit, api, help) name,
		NCS_EVENTS(X)
#undef X
	};
	char text[256] = "Event types:";
	size_t used = strlen(text);
	const char *comma = " ";

	for (size_t i = 0; i < COUNT(names); i++) {
		if (!(events >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", comma, names[i]);
		comma = ", ";
	}
	snprintf(text + used, sizeof(text) - used, ".");
	ncs_mdoc_text(text);
}

/* numbers: the bits of its event types, the group that it needs. */
static void put_event_group(const struct man_item *item)
{
	static const char *const names[] = {
#define X(ID, name, events, needs, help) name,
		NCS_EVENT_GROUPS(X)
#undef X
	};
	char text[64];

	put_named(item);
	put_group_events((unsigned long)item->numbers[0]);
	if (item->numbers[1] == NCS_GROUP_CALLS)
		return;
	snprintf(text, sizeof(text), "Left out together with %s.",
		 names[item->numbers[1]]);
	ncs_mdoc_text(text);
}

/* The first release of NCCL that speaks a version of the profiler API. */
static const char *const releases[] = {
	NULL, "2.23", "2.24", "2.26", "2.27", "2.28", "2.29", "2.31",
};

/* numbers: the first version of the profiler API that has the event. */
static void put_event(const struct man_item *item)
{
	put_named(item);
	if (item->numbers[0] > 1)
		printf("From NCCL %s on.\n", releases[item->numbers[0]]);
}

/* The text of the manual in place of a word of a sentence that begins with $. */
struct general_word {
	const char *word; /* in capitals */
	const char *meaning;
};

/* Prints a sentence with general words in a text of `size` bytes. */
static void put_general(const char *sentence, const struct general_word *words,
			size_t count, char *text, size_t size)
{
	size_t used = 0;

	while (*sentence && used + 1 < size) {
		size_t length = strspn(sentence + 1, "abcdefghijklmnopqrstuvwxyz");
		size_t i = 0;

		if (*sentence != '$') {
			text[used++] = *sentence++;
			continue;
		}
		while (i < count && (strlen(words[i].word) != length ||
				     strncasecmp(words[i].word, sentence + 1,
						 length) != 0))
			i++;
		if (i == count) {
			fprintf(stderr, "mangen: no word: %s\n", sentence);
			exit(1);
		}
		used += (size_t)snprintf(text + used, size - used, "%s",
					 words[i].meaning);
		sentence += 1 + length;
	}
	text[used] = '\0';
}

/* help: the sentence. */
static void put_verdict(const struct man_item *item)
{
	static const struct general_word words[] = {
		{ "RANK", "a rank" },       { "PEER", "another" },
		{ "CHANNEL", "a channel" }, { "CALL", "a call" },
		{ "COUNT", "others wait" }, { "SHARE", "a share" },
		{ "CAUSE", "why" },         { "NODE", "X" },
		{ "WHY", "why" },           { "GAIN", "; without it a step takes B, not A" },
		{ "LACKS", "has not called" },
	};
	struct man_item general = *item;
	char sentence[512];

	put_general(item->help, words, COUNT(words), sentence,
		    sizeof(sentence));
	general.help = sentence;
	put_named(&general);
}

/* A word of a scenario. words: its value, in capitals, and where it applies; ""
 * if it has none. */
static void put_what_if(const struct man_item *item)
{
	const char *value = item->words[0], *where = item->words[1];
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", item->name, value[0] ? ":" : "",
		 value);
	fputs(".It Cm ", stdout);
	ncs_mdoc_name(text);
	if (where[0]) {
		fputs(" Ns Op @", stdout);
		ncs_mdoc_name(where);
	}
	putchar('\n');
	ncs_mdoc_text(item->help);
}

/* words: the values of the variable, its default. */
static void put_variable(const struct man_item *item)
{
	char text[256];

	printf(".It Ev %s\n", item->name);
	ncs_mdoc_text(item->help);
	snprintf(text, sizeof(text), "Values: %s. Default: %s.", item->words[0],
		 item->words[1]);
	ncs_mdoc_text(text);
}

/* words: the label, and a variable that must be set as well. */
static void put_job_variable(const struct man_item *item)
{
	char label[32];
	size_t length = strlen(item->words[0]);

	for (size_t i = 0; i <= length && i < sizeof(label); i++)
		label[i] = (char)tolower((unsigned char)item->words[0][i]);
	printf(".It Ev %s Ta Sy %.31s", item->name, label);
	if (item->words[1][0])
		printf(" , if Ev %s No is set", item->words[1]);
	putchar('\n');
}

/* words: the type, the labels, whether it is there by default. */
static void put_metric(const struct man_item *item)
{
	const char *type = item->words[0];
	char text[512];

	put_tag(item);
	putchar('\n');
	ncs_mdoc_text(item->help);
	snprintf(text, sizeof(text), "%c%s%s", type[0], type + 1,
		 item->words[1][0] ? " (" : "");
	for (char *c = text + 1; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	for (const char *c = item->words[1]; *c; c++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 *c == ' ' ? ", " : "%c", *c);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s.",
		 item->words[1][0] ? ")" : "",
		 strcmp(item->words[2], "OPT_IN") == 0 ?
			 ", only with --metrics" :
			 "");
	ncs_mdoc_text(text);
}

static const char *term_text(const char *term)
{
	if (strcmp(term, "RING2") == 0)
		return "2(n\\-1)";
	if (strcmp(term, "RING") == 0)
		return "(n\\-1)";
	return strcmp(term, "RANKS") == 0 ? "n" : "1";
}

/* words: the size, the numerator and the denominator of busbw/algbw. */
static void put_function(const struct man_item *item)
{
	put_tag(item);
	printf(" Ta count \\(mu size%s Ta %s",
	       strcmp(item->words[0], "RANKS") == 0 ? " \\(mu n" : "",
	       term_text(item->words[1]));
	if (strcmp(item->words[2], "ONE") != 0)
		printf("/%s", term_text(item->words[2]));
	putchar('\n');
}

/* --- Lists ---------------------------------------------------------------- */

struct man_list {
	const char *marker;
	const char *open; /* what follows .Bl; NULL if pages have numbers only */
	void (*put)(const struct man_item *item);
	const struct man_item *items; /* ends with a name that is NULL */
};

/* The items of a table. ROW takes the table's columns. */
#define ITEMS(table, ROW) \
	(const struct man_item[]) \
	{ \
		table(ROW) \
		{ \
			.name = NULL \
		} \
	}

#define NAMED(ID, name_, help_) { .name = name_, .help = help_ },
/* With another column before the help. */
#define NAMED_TOO(ID, name_, other, help_) { .name = name_, .help = help_ },
#define WAIT(ID, letter, name_, help_) { .name = name_, .help = help_ },
#define NAME(ID, name_, ...) { .name = name_ },
#define OPTION(ID, name_, letter, has, argument, place, task, mode, kind, \
	       field, limits, help_) \
	{ name_, help_, { #has, argument, #place, #task }, { letter } },
#define COLUMN(VIEW, ID, title, width, align, priority, level, value, help_) \
	{ .name = title, .help = help_, .words = { #VIEW, #level } },
#define CHANNEL_STATE(ID, name_, letter, label, help_) \
	{ name_, help_, { label }, { letter } },
#define PROXY_STATE(ID, name_, letter, help_) \
	{ .name = name_, .help = help_, .numbers = { letter } },
#define ACTIVITY(ID, letter, layer, label, help_) \
	{ .name = label, .help = help_, .numbers = { letter } },
#define OUTSIDE_KERNEL(name_, help_) { .name = name_, .help = help_ },
#define OUTSIDE_CODE(ID, name_, help_, how, text) \
	{ .name = name_, .help = help_ },
#define EXPORT_FIELD(ID, name_, where, type, help_) \
	{ .name = name_, .help = help_ },
#define PARQUET(TABLE, ID, name_, TYPE, unit, source, help_) \
	{ .name = name_, .help = help_, .words = { #TABLE } },
#define EVENT(ID, name_, bit, api, help_) \
	{ .name = name_, .help = help_, .numbers = { api } },
#define EVENT_GROUP(ID, name_, events, needs, help_) \
	{ .name = name_, \
	  .help = help_, \
	  .numbers = { events, NCS_GROUP_##needs } },
#define OWN_EVENT(ID, name_, number_, help_) \
	{ name_, help_, { "In records: #." }, { number_ } },
#define CHUNK(ID, name_, number_, help_) \
	{ name_, help_, { "Number #." }, { number_ } },
#define VERDICT(ID, name_, severity, sentence, next) \
	{ .name = name_, .help = sentence },
#define WHAT_IF(ID, name_, value, where, help_) \
	{ .name = name_, .help = help_, .words = { value, where } },
#define VARIABLE(ID, name_, values, default_, help_) \
	{ .name = name_, .help = help_, .words = { values, default_ } },
#define JOB_VARIABLE(variable, ID, only_if) \
	{ .name = variable, .words = { #ID, only_if } },
#define METRIC(ID, name_, type, unit, labels, presence, help_) \
	{ .name = name_, .help = help_, .words = { #type, labels, #presence } },
#define FUNCTION(ID, name_, size, numerator, denominator) \
	{ .name = name_, .words = { #size, #numerator, #denominator } },

#define X(ID, name, bit, api, help) \
	static_assert((api) < COUNT(releases), "a release for each API");
NCS_EVENTS(X)
#undef X

#define FUNCTIONS_OPEN \
	"-column ReduceScatter \"count x size x n\" \"2(n-1)/n\"\n" \
	".It Em function Ta Em \"message bytes\" Ta Em \"busbw/algbw\""

static const struct man_list lists[] = {
	{ "channel_states", "-tag -width Ds", put_lettered,
	  ITEMS(NCS_CHANNEL_STATES, CHANNEL_STATE) },
	{ "activities", "-tag -width Ds", put_lettered,
	  ITEMS(NCS_ACTIVITIES, ACTIVITY) },
	{ "exports", "-tag -width perfetto", put_named,
	  ITEMS(NCS_EXPORTS, NAMED_TOO) },
	{ "fields", "-tag -width appended_operations -compact", put_field_name,
	  ITEMS(NCS_FIELDS, EXPORT_FIELD) },
	{ "csv", "-tag -width communicator_id -compact", put_named,
	  ITEMS(NCS_CSV_COLUMNS, NAMED_TOO) },
	{ "parquet_tables", "-tag -width operations -compact", put_named,
	  ITEMS(NCS_PARQUET_TABLES, NAMED) },
	{ "kernel_statuses", "-tag -width broken_promise -compact", put_named,
	  ITEMS(NCS_KERNEL_STATUSES, NAMED) },
	{ "stream_statuses", "-tag -width no_driver -compact", put_named,
	  ITEMS(NCS_STREAM_STATUSES, NAMED) },
	{ "launch_phases", "-tag -width running -compact", put_named,
	  ITEMS(NCS_LAUNCH_PHASES, NAMED) },
	{ "launch_waits", "-tag -width running -compact", put_named,
	  ITEMS(NCS_LAUNCH_WAITS, NAMED) },
	{ "cupti_statuses", "-tag -width starting -compact", put_named,
	  ITEMS(NCS_CUPTI_STATUSES, NAMED) },
	{ "outside_kernels", "-tag -width oneshotAllreduce -compact", put_named,
	  ITEMS(NCS_OUTSIDE_KERNELS, OUTSIDE_KERNEL) },
	{ "outside_code", "-tag -width TensorRT-LLM -compact", put_named,
	  ITEMS(NCS_OUTSIDE_CODE, OUTSIDE_CODE) },
	{ "timings", "-tag -width stream -compact", put_named,
	  ITEMS(NCS_TIMINGS, NAMED) },
	{ "proxy_states", "-tag -width \"unknown (blank)\" -compact",
	  put_lettered, ITEMS(NCS_PROXY_STATES, PROXY_STATE) },
	{ "proxy_transitions", "-tag -width append_end -compact", put_named,
	  ITEMS(NCS_PROXY_TRANSITIONS, NAMED) },
	{ "losses", "-tag -width missing_stop -compact", put_named,
	  ITEMS(NCS_LOSSES, NAMED_TOO) },
	{ "events", "-tag -width kernel_launch -compact", put_event,
	  ITEMS(NCS_EVENTS, EVENT) },
	{ "event_groups", "-tag -width operations -compact", put_event_group,
	  ITEMS(NCS_EVENT_GROUPS, EVENT_GROUP) },
	{ "own_events", "-tag -width settings -compact", put_numbered,
	  ITEMS(NCS_OWN_EVENTS, OWN_EVENT) },
	{ "chunks", "-tag -width padding -compact", put_numbered,
	  ITEMS(NCS_CHUNKS, CHUNK) },
	{ "refusals", "-tag -width malformed -compact", put_named,
	  ITEMS(NCS_REFUSALS, NAMED) },
	{ "node_states", "-tag -width not_reachable -compact", put_named,
	  ITEMS(NCS_NODE_STATES, NAMED_TOO) },
	{ "moments", "-tag -width kernel_end -compact", put_named,
	  ITEMS(NCS_MOMENTS, NAMED) },
	{ "late_causes", "-tag -width transfer -compact", put_named,
	  ITEMS(NCS_LATE_CAUSES, NAMED) },
	{ "cost_unknowns", "-tag -width ambiguous -compact", put_named,
	  ITEMS(NCS_COST_UNKNOWNS, NAMED) },
	{ "path_causes", "-tag -width transfer -compact", put_named,
	  ITEMS(NCS_PATH_CAUSES, NAMED) },
	{ "what_ifs", "-tag -width Ds", put_what_if,
	  ITEMS(NCS_WHAT_IFS, WHAT_IF) },
	{ "verdicts", "-tag -width Ds", put_verdict,
	  ITEMS(NCS_VERDICTS, VERDICT) },
	{ "severities", "-tag -width verdict -compact", put_named,
	  ITEMS(NCS_SEVERITIES, NAMED) },
	{ "waits", "-tag -width network -compact", put_named,
	  ITEMS(NCS_WAITS, WAIT) },
	{ "confidences", "-tag -width possible -compact", put_named,
	  ITEMS(NCS_CONFIDENCES, NAMED) },
	{ "environment", "-tag -width Ds", put_variable,
	  ITEMS(NCS_ENVIRONMENT, VARIABLE) },
	{ "job_labels", "-tag -width completion_index -compact", put_named,
	  ITEMS(NCS_JOB_LABELS, NAMED) },
	{ "job_variables", "-column KUBERNETES_SERVICE_HOST completion_index",
	  put_job_variable, ITEMS(NCS_JOB_VARIABLES, JOB_VARIABLE) },
	{ "metrics", "-tag -width Ds", put_metric, ITEMS(NCS_METRICS, METRIC) },
	{ "metric_states", "-tag -width other_version -compact", put_named,
	  ITEMS(NCS_METRIC_STATES, NAMED) },
	{ "functions", FUNCTIONS_OPEN, put_function,
	  ITEMS(NCS_FUNCTIONS, FUNCTION) },
	{ "datatypes", NULL, NULL, ITEMS(NCS_DATATYPES, NAME) },
	{ "algorithms", NULL, NULL, ITEMS(NCS_ALGORITHMS, NAME) },
	{ "protocols", NULL, NULL, ITEMS(NCS_PROTOCOLS, NAME) },
};

static const struct man_list *find_list(const char *marker)
{
	for (size_t i = 0; i < COUNT(lists); i++)
		if (strcmp(lists[i].marker, marker) == 0)
			return &lists[i];
	return NULL;
}

/* Prints a list, unless it has numbers only. */
static bool put_list(const struct man_list *list)
{
	if (!list->put)
		return false;
	printf(".Bl %s\n", list->open);
	for (const struct man_item *item = list->items; item->name; item++)
		list->put(item);
	puts(".El");
	return true;
}

/* Prints the names of a list by number: "0 idle, 1 send_gpu_wait, ...". */
static bool put_numbers(const char *argument)
{
	const struct man_list *list = find_list(argument);
	char text[2048] = "";
	size_t used = 0;

	if (!list)
		return false;
	for (const struct man_item *item = list->items; item->name; item++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%td %s%s", item - list->items,
					 item->name, item[1].name ? ", " : ".");
	ncs_mdoc_text(text);
	return true;
}

/* --- Columns ------------------------------------------------------------------ */

/* Prints the columns of a view, those that it shows at first or the others.
 * Returns whether there are some. */
static bool put_columns_of(const char *view, bool at_first)
{
	static const struct man_item columns[] = { NCS_COLUMNS(COLUMN) };
	bool found = false;

	for (size_t i = 0; i < COUNT(columns); i++) {
		const struct man_item *item = &columns[i];

		if (strcmp(item->words[0], view) != 0 ||
		    (strcmp(item->words[1], "INFO") == 0) != at_first)
			continue;
		if (!found && !at_first)
			puts(".Pp\nWith more detail\n.Pq key Ic v :\n.Pp");
		if (!found)
			puts(".Bl -tag -width OPERATION -compact");
		put_tag(item);
		putchar('\n');
		ncs_mdoc_text(item->help);
		found = true;
	}
	if (found)
		puts(".El");
	return found;
}

static bool put_columns(const char *view)
{
	if (!put_columns_of(view, true))
		return false;
	put_columns_of(view, false);
	return true;
}

/* Whether lines of JSON or CSV have a column of this name and meaning. */
static bool is_known(const struct man_item *column)
{
	static const struct man_item known[] = { NCS_FIELDS(
		EXPORT_FIELD) NCS_CSV_COLUMNS(NAMED_TOO) };

	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(known[i].name, column->name) == 0 &&
		    strcmp(known[i].help, column->help) == 0)
			return true;
	return false;
}

/* Prints the columns of a table of Parquet: the names of those that lines of JSON
 * or CSV also have, and the others with their help. */
static bool put_parquet(const char *table)
{
	static const struct man_item columns[] = { NCS_PARQUET_COLUMNS(
		PARQUET) };
	const char *comma = "As in JSON or CSV:\n";
	bool found = false;

	for (size_t i = 0; i < COUNT(columns); i++) {
		if (strcmp(columns[i].words[0], table) != 0 ||
		    !is_known(&columns[i]))
			continue;
		printf("%s.Li ", comma);
		ncs_mdoc_name(columns[i].name);
		comma = " ,\n";
	}
	puts(" .\n.Bl -tag -width moving_until_ns -compact");
	for (size_t i = 0; i < COUNT(columns); i++) {
		if (strcmp(columns[i].words[0], table) != 0 ||
		    is_known(&columns[i]))
			continue;
		put_named(&columns[i]);
		found = true;
	}
	puts(".El");
	return found;
}

/* --- Options and commands ----------------------------------------------------- */

enum option {
#define X(ID, ...) OPTION_##ID,
	NCS_OPTIONS(X)
#undef X
		OPTIONS_END
};

static const struct man_item options[] = { NCS_OPTIONS(OPTION) };

/* Prints the options of a task, with their help. */
static bool put_options(const char *task)
{
	bool found = false;

	puts(".Bl -tag -width Ds");
	for (int i = 0; i < OPTIONS_END; i++) {
		if (strcmp(options[i].words[3], task) != 0)
			continue;
		put_option(&options[i]);
		ncs_mdoc_sentence(options[i].help);
		found = true;
	}
	puts(".El");
	return found;
}

/* Prints the names of a task's options or, if `task` is NULL, of those that may be
 * in the configuration file. */
static void put_option_names(const char *task)
{
	const char *comma = "";

	for (int i = 0; i < OPTIONS_END; i++) {
		if (task ? strcmp(options[i].words[3], task) != 0 :
			   strcmp(options[i].words[2], "ONCE") == 0)
			continue;
		printf("%s.Fl \\-", comma);
		ncs_mdoc_name(options[i].name);
		comma = " ,\n";
	}
	puts(" .");
}

static void put_kept_options(void)
{
	put_option_names(NULL);
}

/* Prints an option with one word for its argument. */
static void put_first_option(const struct man_item *item, const char *brief)
{
	struct man_item first = *item;
	char argument[64];
	size_t length = strlen(item->name);

	if (strchr(item->words[1], '|') && length < sizeof(argument)) {
		for (size_t i = 0; i <= length; i++)
			argument[i] =
				(char)toupper((unsigned char)item->name[i]);
		first.words[1] = argument;
	}
	if (strcmp(item->words[0], "OPTIONAL") == 0)
		first.words[0] = "NO";
	put_option(&first);
	ncs_mdoc_sentence(brief);
}

/* Prints a task's commands and the options that are needed most. */
static void put_first(const char *task)
{
	const char *open =
		".Bl -tag -width \"export FORMAT FILE...\" -compact\n";
	const char *close = "";

#define OPEN() (fputs(open, stdout), open = "", close = ".El\n")
#define X(name, TASK, options, operands, option, takes, brief) \
	if (strcmp(#TASK, task) == 0) { \
		OPEN(); \
		put_command(name, operands, brief); \
	}
	NCS_SUBCOMMANDS(X)
#undef X
#define X(TASK, ID, brief) \
	if (strcmp(#TASK, task) == 0) { \
		OPEN(); \
		put_first_option(&options[OPTION_##ID], brief); \
	}
	NCS_FIRST_OPTIONS(X)
#undef X
#undef OPEN
	fputs(close, stdout);
}

/* Prints a section for each task, which ends with the names of all its options. */
static void put_tasks(void)
{
	static const struct {
		const char *task, *title, *page;
	} tasks[] = {
#define X(ID, word, title, page) { #ID, title, page },
		NCS_TASKS(X)
#undef X
	};

	for (size_t i = 0; i < COUNT(tasks); i++) {
		const char *page = tasks[i].page;
		int length = (int)strcspn(page, "(");

		printf(".Ss %s\n", tasks[i].title);
		put_first(tasks[i].task);
		printf("In\n.Xr %.*s %c :\n", length, page, page[length + 1]);
		put_option_names(tasks[i].task);
	}
}

/* --- Keys ----------------------------------------------------------------- */

static void put_key(const char *keys, const char *help)
{
	const char *comma = "";

	fputs(".It", stdout);
	while (*keys) {
		char key[32];
		size_t length = strcspn(keys, " ");

		snprintf(key, sizeof(key), "%.*s", (int)length, keys);
		printf("%s Ic ", comma);
		ncs_mdoc_name(key);
		comma = " ,";
		keys += length;
		keys += strspn(keys, " ");
	}
	putchar('\n');
	ncs_mdoc_sentence(help);
}

static void put_keys(void)
{
	enum {
#define X(ID, title) GROUP_##ID,
		NCS_KEY_GROUPS(X)
#undef X
			GROUP_COUNT
	};
	static const char *const titles[] = {
#define X(ID, title) title,
		NCS_KEY_GROUPS(X)
#undef X
	};

	for (int i = 0; i < GROUP_COUNT; i++) {
		/* "In" would be a macro. */
		printf(".Ss \\&%s\n.Bl -tag -width 16n -compact\n", titles[i]);
#define X(ID, group, keys, label, help) \
	if (GROUP_##group == i) \
		put_key(keys, help);
		NCS_KEYS(X)
#undef X
		puts(".El");
	}
}

/* --- Shared memory and recordings ----------------------------------------- */

struct man_field {
	const char *name;
	size_t offset;
	size_t bytes;
	const char *type; /* name of the type; for an array, of an element */
	size_t element_bytes; /* size of an element; of the field if no array */
	const char *help;
};

/* In a _Generic selection an array is a pointer to its first element. */
#define TYPE_NAME(member) \
	_Generic((member),                          \
		uint64_t: "u64",                    \
		uint32_t: "u32",                    \
		int32_t: "i32",                     \
		uint8_t: "u8",                      \
		char *: "char",                     \
		uint64_t *: "u64",                  \
		struct ncs_table: "table",          \
		struct ncs_clock: "clock",          \
		struct ncs_identity: "identity",    \
		struct ncs_proxy: "proxy",          \
		struct ncs_kernel: "kernel",        \
		struct ncs_gpu_clock: "gpu_clock",  \
		struct ncs_sampling: "sampling",    \
		struct ncs_settings: "settings",    \
		struct ncs_filled: "filled",        \
		struct ncs_cupti: "cupti",          \
		struct ncs_gpu_time: "gpu_time",    \
		struct ncs_launch_progress: "launch_progress", \
		struct ncs_graphs: "graphs", \
		struct ncs_stream_times: "stream_times",       \
		struct ncs_stream_times *: "stream_times",     \
		struct ncs_function *: "function")

#define ELEMENT_BYTES(member) \
	_Generic((member),                            \
		char *: sizeof(char),                 \
		uint64_t *: sizeof(uint64_t),         \
		struct ncs_function *:                \
			sizeof(struct ncs_function),  \
		struct ncs_stream_times *:            \
			sizeof(struct ncs_stream_times), \
		default: sizeof(member))

#define MEMBER(name) (((struct_type *)0)->name)
#define FIELD(name, help) \
	{ #name, \
	  offsetof(struct_type, name), \
	  sizeof(MEMBER(name)), \
	  TYPE_NAME(MEMBER(name)), \
	  ELEMENT_BYTES(MEMBER(name)), \
	  help },

/* The structs, each with the table that explains its fields. */
#define STRUCTS(X) \
	X(header, NCS_HEADER_FIELDS) \
	X(table, NCS_TABLE_FIELDS) \
	X(clock, NCS_CLOCK_FIELDS) \
	X(identity, NCS_IDENTITY_FIELDS) \
	X(proxy, NCS_PROXY_FIELDS) \
	X(kernel, NCS_KERNEL_FIELDS) \
	X(gpu_clock, NCS_GPU_CLOCK_FIELDS) \
	X(sampling, NCS_SAMPLING_FIELDS) \
	X(settings, NCS_SETTINGS_FIELDS) \
	X(filled, NCS_FILLED_FIELDS) \
	X(launch_progress, NCS_LAUNCH_PROGRESS_FIELDS) \
	X(graphs, NCS_GRAPHS_FIELDS) \
	X(stream_times, NCS_STREAM_TIMES_FIELDS) \
	X(control, NCS_CONTROL_FIELDS) \
	X(lane, NCS_LANE_FIELDS) \
	X(function, NCS_FUNCTION_FIELDS) \
	X(channel, NCS_CHANNEL_FIELDS) \
	X(operation, NCS_OPERATION_FIELDS) \
	X(class, NCS_CLASS_FIELDS) \
	X(histogram, NCS_HISTOGRAM_FIELDS) \
	X(gpu_time, NCS_GPU_TIME_FIELDS) \
	X(cupti, NCS_CUPTI_FIELDS) \
	X(range, NCS_RANGE_FIELDS) \
	X(range_histogram, NCS_RANGE_HISTOGRAM_FIELDS) \
	X(ring, NCS_RING_FIELDS) \
	X(record, NCS_RECORD_FIELDS) \
	X(chunk, NCS_CHUNK_FIELDS) \
	X(file_head, NCS_FILE_HEAD_FIELDS) \
	X(rank_head, NCS_RANK_HEAD_FIELDS) \
	X(state_head, NCS_STATE_HEAD_FIELDS) \
	X(run, NCS_RUN_FIELDS) \
	X(records_head, NCS_RECORDS_HEAD_FIELDS) \
	X(clock_reading, NCS_CLOCK_READING_FIELDS) \
	X(index_head, NCS_INDEX_HEAD_FIELDS) \
	X(index_entry, NCS_INDEX_ENTRY_FIELDS) \
	X(look, NCS_LOOK_FIELDS) \
	X(unreadable_head, NCS_UNREADABLE_HEAD_FIELDS) \
	X(pack_head, NCS_PACK_HEAD_FIELDS) \
	X(node_head, NCS_NODE_HEAD_FIELDS) \
	X(peaks_head, NCS_PEAKS_HEAD_FIELDS) \
	X(gpu_peak, NCS_GPU_PEAK_FIELDS) \
	X(ports, NCS_PORTS_FIELDS) \
	X(end, NCS_END_FIELDS)

struct man_struct {
	const char *name;
	const struct man_field *fields;
	size_t field_count;
	size_t bytes;
};

/* Returns whether the fields cover each byte of the struct exactly once; if
 * not, it prints an error. */
static bool is_complete(const struct man_struct *block)
{
	size_t end = 0;

	for (size_t i = 0; i < block->field_count; i++) {
		const struct man_field *field = &block->fields[i];

		if (field->offset != end) {
			fprintf(stderr,
				"mangen: struct ncs_%s: byte %zu, before %s,"
				" is not explained\n",
				block->name, end, field->name);
			return false;
		}
		end += field->bytes;
	}
	if (end != block->bytes)
		fprintf(stderr,
			"mangen: struct ncs_%s: byte %zu is not explained\n",
			block->name, end);
	return end == block->bytes;
}

/* Pads with escaped blanks: roff would fill plain ones. */
static void put_padded(const char *text, size_t width, bool right)
{
	size_t length = strlen(text);

	if (!right)
		fputs(text, stdout);
	for (size_t i = length; i < width; i++)
		fputs("\\ ", stdout);
	if (right)
		fputs(text, stdout);
}

static void put_field(const struct man_field *field)
{
	char offset[16], type[32];

	snprintf(offset, sizeof(offset), "%zu", field->offset);
	if (field->bytes > field->element_bytes)
		snprintf(type, sizeof(type), "%s[%zu]", field->type,
			 field->bytes / field->element_bytes);
	else
		snprintf(type, sizeof(type), "%s", field->type);
	fputs(".It ", stdout);
	put_padded(offset, 4, true);
	fputs("\\ \\ ", stdout);
	put_padded(type, 9, false);
	printf("\\ %s\n", field->name);
	ncs_mdoc_text(field->help);
}

/* The help of a field without a meaning, which pages leave out. */
#define UNUSED "0."

static void put_fields(const struct man_struct *block)
{
	if (!is_complete(block))
		exit(1);
	puts(".Bl -tag -width 35n -compact");
	for (size_t i = 0; i < block->field_count; i++)
		if (strcmp(block->fields[i].help, UNUSED) != 0)
			put_field(&block->fields[i]);
	puts(".El");
	printf(".Pp\n%zu bytes.\n", block->bytes);
}

static bool put_struct(const char *argument)
{
#define X(name, FIELDS) \
	if (strcmp(argument, #name) == 0) { \
		typedef struct ncs_##name struct_type; \
		static const struct man_field fields[] = { FIELDS(FIELD) }; \
\
		put_fields(&(struct man_struct){ #name, fields, COUNT(fields), \
						 sizeof(struct_type) }); \
		return true; \
	}
	STRUCTS(X)
#undef X
	return false;
}

/* --- Versions ------------------------------------------------------------- */

static void put_version(void)
{
	printf(".Os \"ncclstat %s\"\n", NCS_VERSION_TEXT);
}

static void put_format(void)
{
	printf("This page describes version %u.%u.\n", NCS_ABI_MAJOR,
	       NCS_ABI_MINOR);
}

static void put_record_format(void)
{
	printf("This page describes version %u.%u.\n", NCS_FORMAT_MAJOR,
	       NCS_FORMAT_MINOR);
}

/* --- The page ------------------------------------------------------------- */

/* Markers other than those of lists. Each function prints the text that
 * replaces the marker; of a marker that has an argument, it returns false if that is
 * wrong. */
static const struct man_marker {
	const char *name;
	bool (*put_of)(const char *argument);
	void (*put)(void);
} markers[] = {
	{ "columns", put_columns, NULL },
	{ "parquet", put_parquet, NULL },
	{ "options", put_options, NULL },
	{ "struct", put_struct, NULL },
	{ "numbers", put_numbers, NULL },
	{ "json", ncs_json_keys, NULL },
	{ "kept_options", NULL, put_kept_options },
	{ "tasks", NULL, put_tasks },
	{ "keys", NULL, put_keys },
	{ "version", NULL, put_version },
	{ "format", NULL, put_format },
	{ "record_format", NULL, put_record_format },
};

/* Returns false if there is no such marker, or if its argument is wrong. */
static bool replace_marker(const char *name, const char *argument)
{
	const struct man_list *list = find_list(name);

	if (list)
		return !argument && put_list(list);
	for (size_t i = 0; i < COUNT(markers); i++) {
		if (strcmp(markers[i].name, name) != 0)
			continue;
		if (argument)
			return markers[i].put_of && markers[i].put_of(argument);
		if (markers[i].put)
			markers[i].put();
		return markers[i].put;
	}
	return false;
}

#define MARK ".\\\" @"

/* Replaces a line if it is a marker, and modifies the line on the way. Returns
 * false if it is not a marker. */
static bool put_marker(const char *path, unsigned number, char *line)
{
	char *word = line + strlen(MARK), *end = strrchr(line, '@');
	char *argument;

	if (strncmp(line, MARK, strlen(MARK)) != 0)
		return false;
	if (end > word && end[1] == '\0') {
		*end = '\0';
		argument = strchr(word, ' ');
		if (argument)
			*argument++ = '\0';
		if (replace_marker(word, argument))
			return true;
	}
	fprintf(stderr, "mangen: %s:%u: an unknown marker: %s\n", path, number,
		word);
	exit(1);
}

static void put_page(const char *path, FILE *file)
{
	unsigned number = 0;
	char line[1024];

	while (fgets(line, sizeof(line), file)) {
		size_t length = strcspn(line, "\n");

		number++;
		if (line[length] != '\n') {
			fprintf(stderr, "mangen: %s:%u: too long a line\n",
				path, number);
			exit(1);
		}
		line[length] = '\0';
		if (!put_marker(path, number, line))
			puts(line);
	}
}

int main(int argc, char **argv)
{
	FILE *file;

	if (argc != 2) {
		fputs("usage: mangen PAGE.in >PAGE\n"
		      "       mangen --schema >SCHEMA\n",
		      stderr);
		return 2;
	}
	if (strcmp(argv[1], "--schema") == 0) {
		ncs_json_schema();
		return fflush(stdout) != 0 || ferror(stdout);
	}
	file = fopen(argv[1], "r");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	put_page(argv[1], file);
	if (ferror(file) || fclose(file) != 0 || fflush(stdout) != 0 ||
	    ferror(stdout)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
