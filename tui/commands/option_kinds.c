/* SPDX-License-Identifier: MIT */
/* Reads and prints the arguments of options; see option_rows.h. The arguments
 * of --sort and --columns are in option_columns.c. */
#include "tui/commands/option_rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/metrics/metrics.h"
#include "record/format/chunk.h"
#include "tui/text/nearest.h"

/* Returns the field that an argument sets. */
static void *field_of(const struct ncs_option_input *input)
{
	return (char *)input->options + input->row->offset;
}

void ncs_option_refuse(const struct ncs_option_row *row, const char *argument,
		       char *error, size_t error_size)
{
	snprintf(error, error_size, "--%s expects %s%s, not '%s'", row->name,
		 row->argument, row->limits, argument);
	if (row->kind->suggest)
		row->kind->suggest(row, argument, error, error_size);
}

/* --- No argument -------------------------------------------------------- */

static bool take_none(const struct ncs_option_input *input)
{
	(void)input;
	return true;
}

static bool take_flag(const struct ncs_option_input *input)
{
	*(bool *)field_of(input) = true;
	return true;
}

/* --- Choices ------------------------------------------------------------ */

int ncs_choice_find(const char *choices, const char *word)
{
	size_t length = strlen(word);

	for (int place = 0;; place++) {
		size_t choice = strcspn(choices, "|");

		if (choice == length && memcmp(choices, word, length) == 0)
			return place;
		if (!choices[choice])
			return -1;
		choices += choice + 1;
	}
}

static int count_words(const char *choices)
{
	int count = 1;

	for (; *choices; choices++)
		count += *choices == '|';
	return count;
}

/* Returns the number of the word that is set; 0 if none is, e.g. for
 * NCS_VIEW_COUNT. */
static int get_choice(const struct ncs_options *options,
		      const struct ncs_option_row *row)
{
	const char *field = (const char *)options + row->offset;
	unsigned number = 0;

	if (row->size == sizeof(bool))
		return *(const bool *)field;
	memcpy(&number, field, sizeof(number));
	return number < (unsigned)count_words(row->argument) ? (int)number : 0;
}

static void set_choice(struct ncs_options *options,
		       const struct ncs_option_row *row, int choice)
{
	char *field = (char *)options + row->offset;
	unsigned number = (unsigned)choice;

	if (row->size == sizeof(bool))
		*(bool *)field = choice == 1;
	else
		memcpy(field, &number, sizeof(number));
}

static bool take_word(const struct ncs_option_input *input, const char *word)
{
	int choice = ncs_choice_find(input->row->argument, word);

	if (choice >= 0)
		set_choice(input->options, input->row, choice);
	return choice >= 0;
}

static bool take_choice(const struct ncs_option_input *input)
{
	return !input->argument || take_word(input, input->argument);
}

static bool take_mouse(const struct ncs_option_input *input)
{
	return take_word(input, input->argument ? input->argument : "on");
}

static void print_choice(const struct ncs_options *options,
			 const struct ncs_option_row *row, char *text,
			 size_t size)
{
	const char *word = row->argument;

	for (int i = get_choice(options, row); i > 0; i--)
		word += strcspn(word, "|") + 1;
	snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
}

/* Appends the one of "one|two|three" that is nearest to a word of so many bytes,
 * if one is near. */
static void suggest_of(const char *choices, const char *word, size_t length,
		       char *text, size_t size)
{
	struct ncs_nearest nearest;

	ncs_nearest_begin(&nearest, word, length);
	ncs_nearest_try_choices(&nearest, choices);
	ncs_nearest_append(&nearest, "", text, size);
}

static void suggest_choice(const struct ncs_option_row *row,
			   const char *argument, char *text, size_t size)
{
	suggest_of(row->argument, argument, strlen(argument), text, size);
}

bool ncs_options_step(struct ncs_options *options, enum ncs_option option,
		      bool forward)
{
	const struct ncs_option_row *row = &ncs_option_rows[option];
	int count = count_words(row->argument), choice;

	if (count == 1 || row->place == NCS_PLACE_ONCE)
		return false;
	choice = get_choice(options, row) + (forward ? 1 : count - 1);
	set_choice(options, row, choice % count);
	return true;
}

/* --- Text --------------------------------------------------------------- */

static bool take_text(const struct ncs_option_input *input)
{
	*(const char **)field_of(input) = input->argument;
	return input->argument[0] != '\0';
}

static bool take_config_path(const struct ncs_option_input *input)
{
	bool is_none = strcmp(input->argument, "none") == 0;

	input->options->config_path = is_none ? "" : input->argument;
	return true;
}

static bool take_aliases_path(const struct ncs_option_input *input)
{
	return input->argument[0] != '\0' &&
	       ncs_option_keep(input->argument, field_of(input));
}

static bool take_archive(const struct ncs_option_input *input)
{
	struct ncs_options *options = input->options;

	options->archive_named = input->argument;
	if (!input->argument)
		return ncs_archive_default(options->archive_path,
					   NCS_OPTION_VALUE_MAX)[0] != '\0';
	return input->argument[0] != '\0' &&
	       ncs_option_keep(input->argument, options->archive_path);
}

/* --- Numbers ------------------------------------------------------------ */

/* Reads decimal digits and moves *text behind them. Returns false if there are
 * no digits, or if the number is out of bounds. */
static bool take_digits(const char **text, uint64_t least, uint64_t most,
			uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0 && *number >= least && *number <= most;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
	return take_digits(&text, 1, most, number) && *text == '\0';
}

static bool take_number(const struct ncs_option_input *input)
{
	return parse_number(input->argument, UINT64_MAX, field_of(input));
}

static bool take_series(const struct ncs_option_input *input)
{
	const char *text = input->argument;

	return take_digits(&text, NCS_METRICS_SERIES_MIN,
			   NCS_METRICS_SERIES_MAX, field_of(input)) &&
	       *text == '\0';
}

static bool take_pid(const struct ncs_option_input *input)
{
	uint64_t number;

	if (!parse_number(input->argument, UINT32_MAX, &number))
		return false;
	input->options->choice.pid = (uint32_t)number;
	return true;
}

static bool take_compression(const struct ncs_option_input *input)
{
	struct ncs_recorder_settings *recording = &input->options->recording;
	uint64_t level, most = (uint64_t)ncs_packer_level_max();

	recording->is_packed = true;
	if (!input->argument)
		return true;
	if (!parse_number(input->argument, most, &level))
		return false;
	recording->pack_level = (int)level;
	return true;
}

/* Smallest size at which a new file may begin, in bytes: each file needs room
 * for its heads. */
#define ROTATE_BYTES_MIN (UINT64_C(1) << 16)

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "kMG";
	const char *unit;
	unsigned shift = 0;

	if (!take_digits(&text, 1, UINT64_MAX >> 30, bytes))
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		text++;
	}
	*bytes <<= shift;
	return *text == '\0' && *bytes >= ROTATE_BYTES_MIN;
}

/* Smallest size of an archive: four files of a recording. */
#define ARCHIVE_BYTES_MIN (UINT64_C(64) << 20)

static bool take_bytes(const struct ncs_option_input *input)
{
	uint64_t bytes;

	if (!parse_bytes(input->argument, &bytes) || bytes < ARCHIVE_BYTES_MIN)
		return false;
	*(uint64_t *)field_of(input) = bytes;
	return true;
}

static bool parse_seconds(const char *text, uint64_t *time_ns)
{
	double seconds;
	char *end;

	/* Digits and a point: no sign, no exponent, no "inf". */
	if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
		return false;
	seconds = strtod(text, &end);
	if (*end != '\0' || seconds > NCS_INTERVAL_MAX_NS / 1e9)
		return false;
	*time_ns = (uint64_t)(seconds * 1e9 + 0.5);
	return *time_ns >= NCS_INTERVAL_MIN_NS;
}

/* Reads "60s", "15m", "2h" or "7d". */
static bool parse_time(const char *text, uint64_t *time_ns)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t length = strlen(text);
	char number[32];

	snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (length > 1 && text[length - 1] == units[i].unit &&
		    parse_seconds(number, time_ns)) {
			*time_ns *= units[i].seconds;
			return true;
		}
	return false;
}

/* Has each of the items taken that commas separate. */
static bool take_items(const struct ncs_option_input *input,
		       bool (*take)(struct ncs_options *options,
				    const char *item))
{
	const char *list = input->argument;
	char item[32];

	while (list)
		if (!ncs_option_item(&list, item, sizeof(item)) ||
		    !take(input->options, item))
			return false;
	return true;
}

static const char keep_item[] = "keep=";

/* Reads a time, a size or a number of files. */
static bool take_rotation_item(struct ncs_options *options, const char *item)
{
	struct ncs_recorder_settings *recording = &options->recording;

	if (strncmp(item, keep_item, strlen(keep_item)) == 0)
		return parse_number(item + strlen(keep_item), UINT64_MAX,
				    &recording->keep);
	return parse_time(item, &recording->rotate_ns) ?
		       recording->rotate_ns <= NCS_INTERVAL_MAX_NS :
		       parse_bytes(item, &recording->rotate_bytes);
}

static bool take_rotation(const struct ncs_option_input *input)
{
	return take_items(input, take_rotation_item);
}

static bool take_retention_item(struct ncs_options *options, const char *item)
{
	return parse_time(item, &options->retain.age_ns) ||
	       parse_bytes(item, &options->retain.bytes);
}

static bool take_retention(const struct ncs_option_input *input)
{
	input->options->retain =
		(struct ncs_retention){ UINT64_MAX, UINT64_MAX, input->argument };
	return take_items(input, take_retention_item);
}

static void suggest_item(const struct ncs_option_row *row, const char *argument,
			 char *text, size_t size)
{
	(void)row;
	for (;;) {
		size_t length = strcspn(argument, ",=");

		length += argument[length] == '=';
		if (strncmp(argument, keep_item, strlen(keep_item)) != 0)
			suggest_of(keep_item, argument, length, text, size);
		argument += strcspn(argument, ",");
		if (!*argument++)
			return;
	}
}

/* --- Times -------------------------------------------------------------- */

static bool take_seconds(const struct ncs_option_input *input)
{
	return parse_seconds(input->argument, field_of(input));
}

static void print_seconds(const struct ncs_options *options,
			  const struct ncs_option_row *row, char *text,
			  size_t size)
{
	uint64_t time_ns;

	memcpy(&time_ns, (const char *)options + row->offset, sizeof(time_ns));
	snprintf(text, size, "%.9g", (double)time_ns / 1e9);
}

static bool take_instant(const struct ncs_option_input *input)
{
	return ncs_instant_parse(input->argument, field_of(input));
}

/* --- Arguments that explain their errors themselves --------------------- */

void ncs_setting_suggest(const char *setting, char *text, size_t size)
{
	static const char *const words[] = { "default", "events", "sample",
					     "timing",	"all",	  "none",
					     "off",	"auto",	  "1/" };
	const size_t count = sizeof(words) / sizeof(*words);

	while (*setting) {
		struct ncs_nearest nearest;
		size_t length = 0;

		while (isalnum((unsigned char)setting[length]) ||
		       setting[length] == '/')
			length++;
		ncs_nearest_begin(&nearest, setting, length);
		for (size_t i = 0; i < count + NCS_GROUP_COUNT; i++) {
			const char *word =
				i < count ? words[i] :
					    ncs_event_group_name(
						    (unsigned)(i - count));

			ncs_nearest_try(&nearest, word);
		}
		if (nearest.name && nearest.distance > 0 &&
		    !isdigit((unsigned char)*setting)) {
			ncs_nearest_append(&nearest, "", text, size);
			return;
		}
		setting += length + (setting[length] != '\0');
	}
}

static bool take_setting(const struct ncs_option_input *input)
{
	char why[200];

	if (ncs_change_parse(input->argument, &input->options->change, why,
			     sizeof(why)))
		return true;
	snprintf(input->why, input->why_size, "--set: %s", why);
	ncs_setting_suggest(input->argument, input->why, input->why_size);
	return false;
}

static bool take_metrics(const struct ncs_option_input *input)
{
	struct ncs_nearest nearest;
	char wrong[80];

	if (ncs_metrics_parse(input->argument, field_of(input), wrong,
			      sizeof(wrong)))
		return true;
	snprintf(input->why, input->why_size,
		 "--metrics: there is no metric '%s'", wrong);
	ncs_nearest_begin(&nearest, wrong, strlen(wrong));
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		ncs_nearest_try(&nearest, ncs_metric_rows[i].name);
	ncs_nearest_append(&nearest, "", input->why, input->why_size);
	ncs_append(input->why, input->why_size,
		   "%s ncclstat-metrics(7) lists them",
		   nearest.name ? "" : ";");
	return false;
}

/* The names of scenarios, each behind a bar. */
#define X(ID, name, value, where, help) "|" name
static const char scenarios[] = NCS_WHAT_IFS(X);
#undef X

static bool take_what_if(const struct ncs_option_input *input)
{
	struct ncs_options *options = input->options;
	struct ncs_scenario scenario;
	char why[400];

	if (options->what_if_count == NCS_SCENARIOS_MAX) {
		snprintf(input->why, input->why_size, "--what-if: %u at a time",
			 NCS_SCENARIOS_MAX);
		return false;
	}
	if (!ncs_scenario_parse(&scenario, input->argument, why, sizeof(why))) {
		snprintf(input->why, input->why_size, "--what-if: %s", why);
		if (scenario.kind == NCS_WHAT_IF_NOTHING)
			suggest_of(scenarios + 1, input->argument,
				   strcspn(input->argument, ":@"), input->why,
				   input->why_size);
		return false;
	}
	options->what_if[options->what_if_count++] = input->argument;
	return true;
}

static const char hook_words[] = "stuck|slow|died";

static bool take_hook(const struct ncs_option_input *input)
{
	struct ncs_options *options = input->options;
	const char *colon = strchr(input->argument, ':');
	char word[8];
	int when;

	if (!colon || !colon[1] || colon - input->argument >= 8 ||
	    options->hook_count == NCS_HOOKS_MAX)
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)(colon - input->argument),
		 input->argument);
	when = ncs_choice_find(hook_words, word);
	if (when < 0)
		return false;
	options->hooks[options->hook_count++] = (struct ncs_hook){
		(enum ncs_hook_when)when, colon + 1, input->argument
	};
	return true;
}

static void suggest_hook(const struct ncs_option_row *row, const char *argument,
			 char *text, size_t size)
{
	size_t length = strcspn(argument, ":");
	char word[8];

	(void)row;
	snprintf(word, sizeof(word), "%.*s", (int)length, argument);
	if (ncs_choice_find(hook_words, word) < 0)
		suggest_of(hook_words, argument, length, text, size);
}

/* --- The kinds ----------------------------------------------------------- */

#define KIND(name, print, suggest) \
	const struct ncs_option_kind ncs_option_kind_##name = { \
		take_##name, print, suggest \
	};
/* No argument: nothing is set beyond the mode. */
KIND(none, NULL, NULL)
/* No argument: a bool becomes true. */
KIND(flag, NULL, NULL)
/* A word of the row's argument: sets an enum to the number of the word, or a
 * bool to true for the second of two words. */
KIND(choice, print_choice, suggest_choice)
/* A choice that is "on" if the argument is left out. */
KIND(mouse, print_choice, suggest_choice)
/* A const char * that is not empty. */
KIND(text, NULL, NULL)
/* A uint64_t of at least 1; the number of a process as uint32_t. */
KIND(number, NULL, NULL)
KIND(pid, NULL, NULL)
/* A uint64_t: a time in seconds, stored in ns. */
KIND(seconds, print_seconds, NULL)
/* A struct ncs_instant. */
KIND(instant, NULL, NULL)
/* The arguments of single options. */
KIND(archive, NULL, NULL)
KIND(config_path, NULL, NULL)
KIND(aliases_path, NULL, NULL)
KIND(series, NULL, NULL)
KIND(bytes, NULL, NULL)
KIND(rotation, NULL, suggest_item)
KIND(retention, NULL, NULL)
KIND(compression, NULL, NULL)
KIND(hook, NULL, suggest_hook)
KIND(setting, NULL, NULL)
KIND(what_if, NULL, NULL)
KIND(metrics, NULL, NULL)

/* --- The table ----------------------------------------------------------- */

enum {
	NO = no_argument,
	REQUIRED = required_argument,
	OPTIONAL = optional_argument,
};

#define FIELD_SIZE(field) sizeof(((struct ncs_options *)0)->field)

const struct ncs_option_row ncs_option_rows[NCS_OPTIONS_END] = {
#define X(ID, name, letter, has, argument, place, task, mode, kind, field, \
	  limits, help) \
	{ name, \
	  letter, \
	  has, \
	  argument, \
	  NCS_PLACE_##place, \
	  NCS_TASK_##task, \
	  NCS_MODE_##mode, \
	  &ncs_option_kind_##kind, \
	  offsetof(struct ncs_options, field), \
	  FIELD_SIZE(field), \
	  limits, \
	  help },
	NCS_OPTIONS(X)
#undef X
};

int ncs_options_find(const char *name)
{
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (strcmp(ncs_option_rows[i].name, name) == 0)
			return i;
	return -1;
}
