/* SPDX-License-Identifier: MIT */
/* Reads lists of names; see option_rows.h. */
#include "tui/commands/option_rows.h"

#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"
#include "ncclstat/record.h"
#include "tui/text/nearest.h"

/* A list of names to choose from. */
struct names {
	const char *option;
	const char *of; /* whose names they are */
	/* Returns a name by its number from 0; NULL at the end. */
	const char *(*name)(enum ncs_export_format format, unsigned number);
	enum ncs_export_format format;
};

/* STREAM records have no line. */
static unsigned event_of(unsigned number)
{
	return number < NCS_EVENT_COUNT  ? number :
	       number == NCS_EVENT_COUNT ? NCS_EVENT_SETTINGS :
					   NCS_EVENT_MARK;
}

static const char *name_of_event(enum ncs_export_format format, unsigned number)
{
	(void)format;
	return number <= NCS_EVENT_COUNT + 1 ?
		       ncs_event_name(event_of(number)) :
		       NULL;
}

/* Returns the number of a name; -1 if there is none. */
static int find(const struct names *names, const char *word, size_t length)
{
	const char *name;

	for (unsigned i = 0; (name = names->name(names->format, i)); i++)
		if (strlen(name) == length && strncmp(name, word, length) == 0)
			return (int)i;
	return -1;
}

static void complain(const struct names *names, const char *word, size_t length,
		     char *error, size_t error_size)
{
	struct ncs_nearest nearest;
	const char *name;

	ncs_nearest_begin(&nearest, word + (word[0] == '-'),
			  length - (word[0] == '-'));
	for (unsigned i = 0; (name = names->name(names->format, i)); i++)
		ncs_nearest_try(&nearest, name);
	snprintf(error, error_size, "--%s: '%.*s' is no %s", names->option,
		 (int)length, word, names->of);
	ncs_nearest_append(&nearest, "", error, error_size);
	ncs_append(error, error_size, nearest.name ? " They are" : "; they are");
	for (unsigned i = 0; (name = names->name(names->format, i)); i++)
		ncs_append(error, error_size, "%s %s", i > 0 ? "," : "", name);
}

/* Takes the first word, "NAME" or "-NAME", off a list, which is NULL after the last one.
 * Returns the number of the name; -1 after writing a message. */
static int take_word(const struct names *names, const char **list, bool *minus,
		     char *error, size_t error_size)
{
	const char *word = *list;
	size_t length = strcspn(word, ",");
	int number;

	*minus = word[0] == '-';
	*list = word[length] ? word + length + 1 : NULL;
	number = find(names, word + *minus, length - *minus);
	if (number < 0)
		complain(names, word, length, error, error_size);
	return number;
}

/* Takes "NAME,..." for these, or "-NAME,..." for all others, and sets a bit for
 * each by its number. */
static bool take(const struct names *names, const char *list, uint64_t *chosen,
		 char *error, size_t error_size)
{
	uint64_t named = 0, left_out = 0;
	bool minus;

	while (list) {
		int number = take_word(names, &list, &minus, error, error_size);

		if (number < 0)
			return false;
		*(minus ? &left_out : &named) |= UINT64_C(1) << number;
	}
	if (named == 0)
		for (unsigned i = 0; names->name(names->format, i); i++)
			named |= UINT64_C(1) << i;
	*chosen = named & ~left_out;
	if (*chosen == 0)
		snprintf(error, error_size, "--%s leaves nothing to write",
			 names->option);
	return *chosen != 0;
}

/* Takes "[-]NAME,...": the columns by which rows are sorted. */
static bool take_order(const struct names *names, const char *list,
		       struct ncs_export_request *request, char *error,
		       size_t error_size)
{
	bool minus;

	while (list) {
		int number = take_word(names, &list, &minus, error, error_size);

		if (number < 0)
			return false;
		if (request->order_count == NCS_EXPORT_ORDERS_MAX) {
			snprintf(error, error_size,
				 "--%s takes %u columns at most", names->option,
				 NCS_EXPORT_ORDERS_MAX);
			return false;
		}
		request->order[request->order_count++] =
			(struct ncs_export_order){
				.column = (unsigned)number,
				.is_reversed = minus,
			};
	}
	return true;
}

bool ncs_export_choice(const struct ncs_options *options,
		       struct ncs_export_request *request, char *error,
		       size_t error_size)
{
	const struct names columns = {
		"columns",
		options->export_format == NCS_EXPORT_CSV ?
			"column of --export=csv" :
			"key of --export=ndjson",
		ncs_export_column, options->export_format
	};
	const struct names events = { "events", "event", name_of_event,
				      options->export_format };
	struct names sorts = columns;
	uint64_t chosen;

	sorts.option = "sort";
	if (options->sort_text[0] &&
	    strcmp(options->sort_text, "default") != 0 &&
	    !take_order(&sorts, options->sort_text, request, error, error_size))
		return false;
	if (options->columns_text[0] &&
	    strcmp(options->columns_text, "default") != 0 &&
	    !take(&columns, options->columns_text, &request->columns, error,
		  error_size))
		return false;
	if (!options->events)
		return true;
	if (!take(&events, options->events, &chosen, error, error_size))
		return false;
	for (unsigned i = 0; name_of_event(options->export_format, i); i++)
		if (chosen >> i & 1)
			request->events |= UINT64_C(1) << event_of(i);
	return true;
}
