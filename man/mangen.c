/* SPDX-License-Identifier: MIT */
/* Makes a manual page of its source: mangen PAGE.in >PAGE
 *
 * A source is mdoc, with lines such as
 *
 *	.\" @columns RANK@
 *
 * in the place of what the tables in ncclstat/tables and the structs of
 * ncclstat/abi.h say already; everything else is copied as it is. A marker
 * that is not known, or a struct with a field that nobody explains, is an
 * error. It must not know which pages there are.
 *
 * Text from the tables is plain: here it gets mdoc's escapes, one sentence a
 * line.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "man/recording_fields.h"
#include "man/segment_fields.h"
#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"
#include "ncclstat/record.h"
#include "ncclstat/tables/activities.def"
#include "ncclstat/tables/columns.def"
#include "ncclstat/tables/environment.def"
#include "ncclstat/tables/csv.def"
#include "ncclstat/tables/cupti.def"
#include "ncclstat/tables/exports.def"
#include "ncclstat/tables/fields.def"
#include "ncclstat/tables/kernel_timing.def"
#include "ncclstat/tables/keys.def"
#include "ncclstat/tables/lateness.def"
#include "ncclstat/tables/names.def"
#include "ncclstat/tables/options.def"
#include "ncclstat/tables/verdicts.def"
#include "ncclstat/tables/what_if.def"
#include "ncclstat/version.h"
#include "record/format/file_format.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes of a line of mdoc, which mandoc -Tlint wants below 80. */
#define LINE_MAX_BYTES 76

/* --- Escapes ------------------------------------------------------------ */

/* Decodes one character of UTF-8; the tables have nothing worse. */
static size_t decode(const char *text, unsigned *character)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (bytes[0] >= 0xe0) {
		*character = (bytes[0] & 0xfu) << 12 |
			     (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu);
		return 3;
	}
	*character = (bytes[0] & 0x1fu) << 6 | (bytes[1] & 0x3fu);
	return 2;
}

/* What stands for an ASCII character that roff would take for another; NULL:
 * itself. A dash or quote that is part of a word keeps its meaning. */
static const char *escape_of(char c, bool in_word)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	case '`':
		return "\\(ga";
	case '"':
		return "\\(dq";
	case '|':
		return "\\(ba";
	case '\'':
		return in_word ? NULL : "\\(aq";
	case '-':
		return in_word ? NULL : "\\-";
	default:
		return NULL;
	}
}

/* Escapes `length` bytes. `literal`: a name that is typed as it stands. */
static void escape(char *escaped, size_t size, const char *text,
		   size_t length, bool literal)
{
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		bool in_word = !literal && i > 0 && i + 1 < length &&
			       isalnum((unsigned char)text[i - 1]) &&
			       isalnum((unsigned char)text[i + 1]);
		const char *code = escape_of(text[i], in_word);
		char one[16] = { text[i] };
		unsigned character;
		size_t bytes = 1;

		if ((unsigned char)text[i] >= 0x80) {
			bytes = decode(&text[i], &character);
			snprintf(one, sizeof(one), "\\[u%04X]", character);
		}
		used += (size_t)snprintf(escaped + used, size - used, "%s",
					 code ? code : one);
		if (used >= size) {
			fputs("mangen: a word is too long\n", stderr);
			exit(1);
		}
		i += bytes;
	}
}

/* An argument of a macro: a name, never a macro or a delimiter itself. */
static void put_name(const char *name)
{
	char escaped[256];

	escape(escaped, sizeof(escaped), name, strlen(name), true);
	printf("%s%s", strlen(name) <= 3 ? "\\&" : "", escaped);
}

/* --- Sentences ---------------------------------------------------------- */

static bool ends_sentence(const char *word, size_t length)
{
	while (length > 0 && strchr(")'\"", word[length - 1]))
		length--;
	return length > 1 && strchr(".!?", word[length - 1]) &&
	       !(length > 3 && word[length - 3] == '.');
}

/* Text lines: as many words as fit, and each sentence on a line of its own. */
static void put_text(const char *text)
{
	size_t column = 0;
	bool new_line = true;

	while (*text) {
		size_t length = strcspn(text, " ");
		char word[256];
		bool control = *text == '.' || *text == '\'';

		escape(word, sizeof(word), text, length, false);
		if (!new_line && column + 1 + strlen(word) > LINE_MAX_BYTES)
			new_line = true;
		if (column > 0)
			putchar(new_line ? '\n' : ' ');
		if (new_line)
			column = 0;
		printf("%s%s", new_line && control ? "\\&" : "", word);
		column += 1 + strlen(word);
		new_line = ends_sentence(text, length);
		text += length;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* A clause of a table as a sentence: a capital in front, a full stop at the
 * end. */
static void put_sentence(const char *text)
{
	char sentence[1024];
	size_t length = strlen(text);

	if (length == 0 || length + 2 > sizeof(sentence)) {
		fputs("mangen: a help text is empty or too long\n", stderr);
		exit(1);
	}
	memcpy(sentence, text, length + 1);
	sentence[0] = (char)toupper((unsigned char)sentence[0]);
	if (!strchr(".!?", sentence[length - 1]))
		strcpy(&sentence[length], ".");
	put_text(sentence);
}

/* --- Options and keys --------------------------------------------------- */

enum has { NO, REQUIRED, OPTIONAL };

/* Words to choose from are typed as they stand, others stand for something. */
static void put_argument(enum has has, const char *argument)
{
	if (has == NO)
		return;
	printf(" Ns %s= Ns %s ", has == OPTIONAL ? "Oo " : "",
	       strchr(argument, '|') ? "Cm" : "Ar");
	put_name(argument);
	if (has == OPTIONAL)
		fputs(" Oc", stdout);
}

static void put_option(const char *name, char letter, enum has has,
		       const char *argument, const char *place,
		       const char *help)
{
	fputs(".It", stdout);
	if (letter)
		printf(" Fl %c ,", letter);
	fputs(" Fl \\-", stdout);
	put_name(name);
	put_argument(has, argument);
	putchar('\n');
	put_sentence(help);
	if (strcmp(place, "ONCE") != 0)
		puts("Also in the configuration file.");
}

static bool put_options(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, name, letter, has, argument, place, help) \
	put_option(name, letter, has, argument, #place, help);
	NCS_OPTIONS(X)
#undef X
	puts(".El");
	return true;
}

static void put_key(const char *keys, const char *help)
{
	const char *comma = "";

	fputs(".It", stdout);
	while (*keys) {
		char key[32];
		size_t length = strcspn(keys, " ");

		snprintf(key, sizeof(key), "%.*s", (int)length, keys);
		printf("%s Ic ", comma);
		put_name(key);
		comma = " ,";
		keys += length;
		keys += strspn(keys, " ");
	}
	putchar('\n');
	put_sentence(help);
}

static bool put_keys(const char *argument)
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

	if (argument)
		return false;
	for (int i = 0; i < GROUP_COUNT; i++) {
		printf(".Ss %s\n.Bl -tag -width 16n -compact\n", titles[i]);
#define X(ID, group, keys, label, help) \
	if (GROUP_##group == i)         \
		put_key(keys, help);
		NCS_KEYS(X)
#undef X
		puts(".El");
	}
	return true;
}

/* --- Lists of names ----------------------------------------------------- */

static void put_item(const char *name)
{
	fputs(".It Sy ", stdout);
	put_name(name);
}

static void put_column(const char *title, const char *level, const char *help)
{
	put_item(title);
	putchar('\n');
	put_text(help);
	if (strcmp(level, "INFO") != 0)
		printf("Only with more detail (key\n.Ic v ) .\n");
}

static bool put_columns(const char *argument)
{
	bool found = false;

	if (!argument)
		return false;
	puts(".Bl -tag -width OPERATION -compact");
#define X(VIEW, ID, title, width, align, priority, level, help) \
	if (strcmp(argument, #VIEW) == 0) {                     \
		put_column(title, #level, help);                \
		found = true;                                   \
	}
	NCS_COLUMNS(X)
#undef X
	puts(".El");
	return found;
}

static void put_channel_state(const char *name, char letter, const char *label,
			      const char *help)
{
	char letters[] = { letter, '\0' };

	put_item(name);
	fputs(" Pq Sy ", stdout);
	put_name(label);
	fputs(" , Sy ", stdout);
	put_name(letters);
	putchar('\n');
	put_sentence(help);
}

static bool put_channel_states(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, name, letter, label, help) \
	put_channel_state(name, letter, label, help);
	NCS_CHANNEL_STATES(X)
#undef X
	puts(".El");
	return true;
}

static void put_activity(const char *label, char letter, const char *help)
{
	char letters[] = { letter, '\0' };

	put_item(label);
	fputs(" Pq Sy ", stdout);
	put_name(letter == ' ' ? "blank" : letters);
	putchar('\n');
	put_sentence(help);
}

static bool put_activities(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, letter, layer, label, help) put_activity(label, letter, help);
	NCS_ACTIVITIES(X)
#undef X
	puts(".El");
	return true;
}

static void put_named(const char *name, const char *help)
{
	put_item(name);
	putchar('\n');
	put_sentence(help);
}

static bool put_exports(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width perfetto");
#define X(ID, name, is_binary, help) put_named(name, help);
	NCS_EXPORTS(X)
#undef X
	puts(".El");
	return true;
}

static void put_export_field(const char *name, const char *help)
{
	put_item(name);
	putchar('\n');
	/* Like the one before it. */
	if (help[0])
		put_sentence(help);
}

static bool put_fields(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width appended_operations -compact");
#define X(ID, name, where, help) put_export_field(name, help);
	NCS_FIELDS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_csv(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width communicator_id -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_CSV_COLUMNS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_kernel_statuses(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width broken_promise -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_KERNEL_STATUSES(X)
#undef X
	puts(".El");
	return true;
}

static bool put_cupti_statuses(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width missing -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_CUPTI_STATUSES(X)
#undef X
	puts(".El");
	return true;
}

static void put_proxy_state(const char *name, char letter, const char *help)
{
	char letters[] = { letter, '\0' };

	put_item(name);
	fputs(" Pq Sy ", stdout);
	put_name(letters);
	putchar('\n');
	put_sentence(help);
}

static bool put_proxy_states(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width \"unknown (?)\" -compact");
#define X(ID, name, letter, help) put_proxy_state(name, letter, help);
	NCS_PROXY_STATES(X)
#undef X
	puts(".El");
	return true;
}

/* Event types by name, for the bits of a group. */
static void put_group_events(uint32_t events)
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
	put_text(text);
}

static void put_event_group(const char *name, uint32_t events,
			    const char *needs, const char *help)
{
	put_named(name, help);
	put_group_events(events);
	if (strcmp(needs, "calls") != 0) {
		char text[64];

		snprintf(text, sizeof(text), "Left out together with %s.",
			 needs);
		put_text(text);
	}
}

static bool put_event_groups(const char *argument)
{
	static const char *const names[] = {
#define X(ID, name, events, needs, help) [NCS_GROUP_##ID] = name,
		NCS_EVENT_GROUPS(X)
#undef X
	};

	if (argument)
		return false;
	puts(".Bl -tag -width operations -compact");
#define X(ID, name, events, needs, help) \
	put_event_group(name, events, names[NCS_GROUP_##needs], help);
	NCS_EVENT_GROUPS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_refusals(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width malformed -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_REFUSALS(X)
#undef X
	puts(".El");
	return true;
}

/* A verdict's sentence, of nobody in particular. */
static void put_verdict(const char *name, const char *sentence,
			const char *next)
{
	static const struct {
		const char *word;
		const char *meaning;
	} words[] = {
		{ "$rank", "a rank" },       { "$peer", "another" },
		{ "$channel", "a channel" }, { "$call", "a call" },
		{ "$count", "others wait" },
	};
	char text[1024];
	size_t used = 0;

	while (*sentence) {
		size_t skip = 1, i = 0;

		while (i < COUNT(words) && strncmp(sentence, words[i].word,
						   strlen(words[i].word)) != 0)
			i++;
		if (i < COUNT(words)) {
			skip = strlen(words[i].word);
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, "%s",
						 words[i].meaning);
		} else {
			text[used++] = *sentence;
		}
		sentence += skip;
	}
	text[0] = (char)toupper((unsigned char)text[0]);
	snprintf(text + used, sizeof(text) - used, ". %s", next);
	put_named(name, text);
}

static bool put_verdicts(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, name, severity, sentence, next) put_verdict(name, sentence, next);
	NCS_VERDICTS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_severities(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width healthy -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_SEVERITIES(X)
#undef X
	puts(".El");
	return true;
}

static bool put_confidences(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width possible -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_CONFIDENCES(X)
#undef X
	puts(".El");
	return true;
}

static bool put_moments(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width operation -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_MOMENTS_OF_ARRIVAL(X)
#undef X
	puts(".El");
	return true;
}

static bool put_late_causes(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width producer -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_LATE_CAUSES(X)
#undef X
	puts(".El");
	return true;
}

static bool put_path_causes(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width producer -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_PATH_CAUSES(X)
#undef X
	puts(".El");
	return true;
}

/* A word of a specification, in which a name stands in capitals. */
static void put_what_if(const char *name, const char *value, const char *where,
			const char *help)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", name, value[0] ? ":" : "",
		 value);
	fputs(".It Cm ", stdout);
	put_name(text);
	if (where[0]) {
		fputs(" Ns Op @", stdout);
		put_name(where);
	}
	putchar('\n');
	put_text(help);
}

static bool put_what_ifs(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, name, value, where, help) put_what_if(name, value, where, help);
	NCS_WHAT_IFS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_own_events(const char *argument)
{
	char text[64];

	if (argument)
		return false;
	puts(".Bl -tag -width settings -compact");
#define X(ID, name, number, help) \
	put_named(name, help); \
	snprintf(text, sizeof(text), "In records: %d.", (number)); \
	put_text(text);
	NCS_OWN_EVENTS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_chunks(const char *argument)
{
	char text[64];

	if (argument)
		return false;
	puts(".Bl -tag -width padding -compact");
#define X(ID, name, number, help) \
	put_named(name, help); \
	snprintf(text, sizeof(text), "Its number is %d.", (number)); \
	put_text(text);
	NCS_CHUNKS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_proxy_transitions(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width append_end -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_PROXY_TRANSITIONS(X)
#undef X
	puts(".El");
	return true;
}

static bool put_losses(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width missing_stop -compact");
#define X(ID, name, help) put_named(name, help);
	NCS_LOSSES(X)
#undef X
	puts(".El");
	return true;
}

/* The first release of NCCL that speaks a version of the profiler API. */
static const char *const releases[] = {
	NULL, "2.23", "2.24", "2.26", "2.27", "2.28", "2.29", "2.31",
};

static void put_event(const char *name, unsigned api, const char *help)
{
	put_named(name, help);
	if (api > 1)
		printf("From NCCL %s on.\n", releases[api]);
}

static bool put_events(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width kernel_launch -compact");
#define X(ID, name, bit, api, help)                                        \
	static_assert((api) < COUNT(releases), "a release for each API");  \
	put_event(name, api, help);
	NCS_EVENTS(X)
#undef X
	puts(".El");
	return true;
}

static void put_variable(const char *name, const char *values,
			 const char *default_value, const char *help)
{
	char text[256];

	printf(".It Ev %s\n", name);
	put_text(help);
	snprintf(text, sizeof(text), "Values: %s. Default: %s.", values,
		 default_value);
	put_text(text);
}

static bool put_environment(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -tag -width Ds");
#define X(ID, name, values, default_value, help) \
	put_variable(name, values, default_value, help);
	NCS_ENVIRONMENT(X)
#undef X
	puts(".El");
	return true;
}

/* --- Functions ---------------------------------------------------------- */

static const char *size_text(const char *size)
{
	return strcmp(size, "RANKS") == 0 ? "count \\(mu size \\(mu n" :
					    "count \\(mu size";
}

static const char *term_text(const char *term)
{
	if (strcmp(term, "RING2") == 0)
		return "2(n\\-1)";
	if (strcmp(term, "RING") == 0)
		return "(n\\-1)";
	return strcmp(term, "RANKS") == 0 ? "n" : "1";
}

static void put_function(const char *name, const char *size,
			 const char *numerator, const char *denominator)
{
	put_item(name);
	printf(" Ta %s Ta %s", size_text(size), term_text(numerator));
	if (strcmp(denominator, "ONE") != 0)
		printf("/%s", term_text(denominator));
	putchar('\n');
}

static bool put_functions(const char *argument)
{
	if (argument)
		return false;
	puts(".Bl -column ReduceScatter \"count x size x n\" \"2(n-1)/n\"");
	puts(".It Em function Ta Em \"message bytes\" Ta Em \"busbw/algbw\"");
#define X(ID, name, size, numerator, denominator) \
	put_function(name, #size, #numerator, #denominator);
	NCS_FUNCTIONS(X)
#undef X
	puts(".El");
	return true;
}

/* --- Shared memory ------------------------------------------------------ */

struct field {
	const char *name;
	size_t offset;
	size_t bytes;
	const char *type; /* of an element; an array has several */
	size_t element_bytes;
	const char *help;
};

/* An array is a pointer to its first element here. */
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
		struct ncs_function *: "function")

#define ELEMENT_BYTES(member)                         \
	_Generic((member),                            \
		char *: sizeof(char),                 \
		uint64_t *: sizeof(uint64_t),         \
		struct ncs_function *:                \
			sizeof(struct ncs_function),  \
		default: sizeof(member))

#define MEMBER(name) (((STRUCT *)0)->name)
#define FIELD(name, help)                                      \
	{ #name, offsetof(STRUCT, name), sizeof(MEMBER(name)), \
	  TYPE_NAME(MEMBER(name)), ELEMENT_BYTES(MEMBER(name)), help },

#define STRUCT struct ncs_header
static const struct field header_fields[] = { NCS_HEADER_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_table
static const struct field table_fields[] = { NCS_TABLE_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_clock
static const struct field clock_fields[] = { NCS_CLOCK_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_identity
static const struct field identity_fields[] = { NCS_IDENTITY_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_proxy
static const struct field proxy_fields[] = { NCS_PROXY_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_kernel
static const struct field kernel_fields[] = { NCS_KERNEL_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_gpu_clock
static const struct field gpu_clock_fields[] = { NCS_GPU_CLOCK_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_sampling
static const struct field sampling_fields[] = { NCS_SAMPLING_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_settings
static const struct field settings_fields[] = { NCS_SETTINGS_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_filled
static const struct field filled_fields[] = { NCS_FILLED_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_control
static const struct field control_fields[] = { NCS_CONTROL_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_lane
static const struct field lane_fields[] = { NCS_LANE_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_function
static const struct field function_fields[] = { NCS_FUNCTION_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_channel
static const struct field channel_fields[] = { NCS_CHANNEL_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_operation
static const struct field operation_fields[] = {
	NCS_OPERATION_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_class
static const struct field class_fields[] = { NCS_CLASS_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_histogram
static const struct field histogram_fields[] = {
	NCS_HISTOGRAM_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_gpu_time
static const struct field gpu_time_fields[] = { NCS_GPU_TIME_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_cupti
static const struct field cupti_fields[] = { NCS_CUPTI_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_range
static const struct field range_fields[] = { NCS_RANGE_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_range_histogram
static const struct field range_histogram_fields[] = {
	NCS_RANGE_HISTOGRAM_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_ring
static const struct field ring_fields[] = { NCS_RING_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_record
static const struct field record_fields[] = { NCS_RECORD_FIELDS(FIELD) };
#undef STRUCT
#define STRUCT struct ncs_chunk
static const struct field chunk_fields[] = {
	NCS_CHUNK_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_file_head
static const struct field file_head_fields[] = {
	NCS_FILE_HEAD_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_rank_head
static const struct field rank_head_fields[] = {
	NCS_RANK_HEAD_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_state_head
static const struct field state_head_fields[] = {
	NCS_STATE_HEAD_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_run
static const struct field run_fields[] = {
	NCS_RUN_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_records_head
static const struct field records_head_fields[] = {
	NCS_RECORDS_HEAD_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_clock_reading
static const struct field clock_reading_fields[] = {
	NCS_CLOCK_READING_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_index_head
static const struct field index_head_fields[] = {
	NCS_INDEX_HEAD_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_index_entry
static const struct field index_entry_fields[] = {
	NCS_INDEX_ENTRY_FIELDS(FIELD)
};
#undef STRUCT
#define STRUCT struct ncs_end
static const struct field end_fields[] = {
	NCS_END_FIELDS(FIELD)
};
#undef STRUCT

static const struct block {
	const char *name;
	const struct field *fields;
	size_t field_count;
	size_t bytes;
} blocks[] = {
#define BLOCK(name)                                             \
	{ #name, name##_fields, COUNT(name##_fields),           \
	  sizeof(struct ncs_##name) }
	BLOCK(header),    BLOCK(table),     BLOCK(clock),   BLOCK(identity),
	BLOCK(proxy),     BLOCK(gpu_clock), BLOCK(kernel),  BLOCK(sampling),
	BLOCK(lane),      BLOCK(function),  BLOCK(channel), BLOCK(operation),
	BLOCK(histogram), BLOCK(ring),      BLOCK(record),  BLOCK(settings),
	BLOCK(filled),    BLOCK(control),   BLOCK(class),
	BLOCK(range),     BLOCK(range_histogram),
	BLOCK(cupti),     BLOCK(gpu_time),
	BLOCK(chunk),     BLOCK(file_head), BLOCK(rank_head),
	BLOCK(state_head), BLOCK(run),      BLOCK(records_head),
	BLOCK(clock_reading), BLOCK(index_head), BLOCK(index_entry),
	BLOCK(end),
};

/* Whether the fields cover the struct, each byte once. */
static bool is_complete(const struct block *block)
{
	size_t end = 0;

	for (size_t i = 0; i < block->field_count; i++) {
		const struct field *field = &block->fields[i];

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

/* roff would fill the blanks. */
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

static void put_field(const struct field *field)
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
	put_text(field->help);
}

static bool put_struct(const char *argument)
{
	for (size_t i = 0; argument && i < COUNT(blocks); i++) {
		const struct block *block = &blocks[i];

		if (strcmp(argument, block->name) != 0)
			continue;
		if (!is_complete(block))
			exit(1);
		puts(".Bl -tag -width 35n -compact");
		for (size_t k = 0; k < block->field_count; k++)
			put_field(&block->fields[k]);
		puts(".El");
		printf(".Pp\n%zu bytes.\n", block->bytes);
		return true;
	}
	return false;
}

/* "0 idle, 1 send_gpu_wait, …" */
#define PUT_NUMBERS(table)                                               \
	do {                                                             \
		static const char *const names[] = { table(NAME) };      \
		put_numbers_of(names, COUNT(names));                     \
	} while (0)

static void put_numbers_of(const char *const *names, size_t count)
{
	char text[2048] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%zu %s%s", i, names[i],
					 i + 1 < count ? ", " : ".");
	put_text(text);
}

static bool put_numbers(const char *argument)
{
#define NAME(ID, name, ...) name,
	if (!argument)
		return false;
	if (strcmp(argument, "channel_states") == 0)
		PUT_NUMBERS(NCS_CHANNEL_STATES);
	else if (strcmp(argument, "proxy_states") == 0)
		PUT_NUMBERS(NCS_PROXY_STATES);
	else if (strcmp(argument, "proxy_transitions") == 0)
		PUT_NUMBERS(NCS_PROXY_TRANSITIONS);
	else if (strcmp(argument, "kernel_statuses") == 0)
		PUT_NUMBERS(NCS_KERNEL_STATUSES);
	else if (strcmp(argument, "cupti_statuses") == 0)
		PUT_NUMBERS(NCS_CUPTI_STATUSES);
	else if (strcmp(argument, "functions") == 0)
		PUT_NUMBERS(NCS_FUNCTIONS);
	else if (strcmp(argument, "losses") == 0)
		PUT_NUMBERS(NCS_LOSSES);
	else if (strcmp(argument, "events") == 0)
		PUT_NUMBERS(NCS_EVENTS);
	else if (strcmp(argument, "event_groups") == 0)
		PUT_NUMBERS(NCS_EVENT_GROUPS);
	else if (strcmp(argument, "refusals") == 0)
		PUT_NUMBERS(NCS_REFUSALS);
	else if (strcmp(argument, "datatypes") == 0)
		PUT_NUMBERS(NCS_DATATYPES);
	else if (strcmp(argument, "algorithms") == 0)
		PUT_NUMBERS(NCS_ALGORITHMS);
	else if (strcmp(argument, "protocols") == 0)
		PUT_NUMBERS(NCS_PROTOCOLS);
	else
		return false;
#undef NAME
	return true;
}

static bool put_version(const char *argument)
{
	if (argument)
		return false;
	printf(".Os \"ncclstat %s\"\n", NCS_VERSION_TEXT);
	return true;
}

static bool put_format(const char *argument)
{
	if (argument)
		return false;
	printf("This page describes version %u.%u.\n", NCS_ABI_MAJOR,
	       NCS_ABI_MINOR);
	return true;
}

static bool put_record_format(const char *argument)
{
	if (argument)
		return false;
	printf("This page describes version %u.%u.\n", NCS_FORMAT_MAJOR,
	       NCS_FORMAT_MINOR);
	return true;
}

/* --- The page ----------------------------------------------------------- */

/* What stands for a marker; false if the argument is none of the marker's. */
static const struct marker {
	const char *name;
	bool (*put)(const char *argument);
} markers[] = {
	{ "options", put_options },
	{ "keys", put_keys },
	{ "columns", put_columns },
	{ "channel_states", put_channel_states },
	{ "activities", put_activities },
	{ "exports", put_exports },
	{ "fields", put_fields },
	{ "csv", put_csv },
	{ "kernel_statuses", put_kernel_statuses },
	{ "cupti_statuses", put_cupti_statuses },
	{ "proxy_states", put_proxy_states },
	{ "proxy_transitions", put_proxy_transitions },
	{ "losses", put_losses },
	{ "events", put_events },
	{ "event_groups", put_event_groups },
	{ "own_events", put_own_events },
	{ "chunks", put_chunks },
	{ "refusals", put_refusals },
	{ "moments", put_moments },
	{ "late_causes", put_late_causes },
	{ "path_causes", put_path_causes },
	{ "what_ifs", put_what_ifs },
	{ "verdicts", put_verdicts },
	{ "severities", put_severities },
	{ "confidences", put_confidences },
	{ "environment", put_environment },
	{ "functions", put_functions },
	{ "struct", put_struct },
	{ "numbers", put_numbers },
	{ "version", put_version },
	{ "format", put_format },
	{ "record_format", put_record_format },
};

#define MARK ".\\\" @"

/* True if the line is a marker; the line is taken apart. */
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
		for (size_t i = 0; i < COUNT(markers); i++)
			if (strcmp(markers[i].name, word) == 0 &&
			    markers[i].put(argument))
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
		fputs("usage: mangen PAGE.in >PAGE\n", stderr);
		return 2;
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
