/* SPDX-License-Identifier: MIT */
/* The arguments of --sort and --columns: titles of columns, such as
 * "channels:-SINCE,LOST"; see option_rows.h. */
#include "tui/commands/option_rows.h"

#include <string.h>

#include "analysis/base/append.h"
#include "ncclstat/tables/columns.def"
#include "tui/text/nearest.h"

/* --- Texts -------------------------------------------------------------- */

bool ncs_option_item(const char **list, char *item, size_t size)
{
	size_t length = strcspn(*list, ",");

	if (length >= size)
		return false;
	memcpy(item, *list, length);
	item[length] = '\0';
	*list = (*list)[length] ? *list + length + 1 : NULL;
	return true;
}

bool ncs_option_keep(const char *argument, char *text)
{
	return snprintf(text, NCS_OPTION_VALUE_MAX, "%s", argument) <
	       NCS_OPTION_VALUE_MAX;
}

/* --- Reading ------------------------------------------------------------ */

/* Takes "-SINCE", or "-" alone for the reversed order of the model. */
static bool take_sort(struct ncs_options *options, enum ncs_view view,
		      const char *title, bool minus)
{
	const struct ncs_column *column = ncs_column_find(view, title);

	if (!column && !(minus && !title[0]))
		return false;
	options->sort[view] = (struct ncs_sort){
		.column = column,
		.inverted = minus,
	};
	return true;
}

static bool take_column(struct ncs_options *options, enum ncs_view view,
			const char *title, bool minus)
{
	const struct ncs_column *column = ncs_column_find(view, title);

	if (column)
		options->columns[column - ncs_columns] =
			minus ? NCS_COLUMN_HIDDEN : NCS_COLUMN_SHOWN;
	return column != NULL;
}

typedef bool take_title(struct ncs_options *options, enum ncs_view view,
			const char *title, bool minus);

/* Takes "channels:-SINCE", or "-SINCE" for all views that have the column; only
 * for one view unless that is NCS_VIEW_COUNT. */
static bool take_item(struct ncs_options *options, enum ncs_view only,
		      const char *item, take_title *take)
{
	const char *colon = strchr(item, ':');
	const char *word = colon ? colon + 1 : item;
	bool minus = word[0] == '-', found = false;

	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		size_t length = strlen(ncs_views[i].option);

		if (colon && (length != (size_t)(colon - item) ||
			      strncmp(ncs_views[i].option, item, length) != 0))
			continue;
		if (only != NCS_VIEW_COUNT && only != i)
			continue;
		found = take(options, (enum ncs_view)i, word + minus, minus) ||
			found;
	}
	return found;
}

/* Takes "default", or items separated by commas. */
static bool take_titles(struct ncs_options *options, enum ncs_view only,
			const char *text, take_title *take)
{
	char item[64];

	if (strcmp(text, "default") == 0)
		return true;
	while (text)
		if (!ncs_option_item(&text, item, sizeof(item)) ||
		    !take_item(options, only, item, take))
			return false;
	return true;
}

static bool has_title(struct ncs_options *options, enum ncs_view view,
		      const char *title, bool minus)
{
	(void)options;
	return ncs_column_find(view, title) || (minus && !title[0]);
}

bool ncs_titles_are_of(const char *text, enum ncs_view view)
{
	return take_titles(NULL, view, text, has_title);
}

/* Appends the view's name or the column's title that may be meant by an item, if
 * it names none. Returns whether it names one. */
static bool suggest_for(const char *item, char *text, size_t size)
{
	const char *colon = strchr(item, ':');
	const char *word = colon ? colon + 1 : item;
	struct ncs_nearest of_views, of_titles;

	word += word[0] == '-';
	ncs_nearest_begin(&of_views, item, strcspn(item, ":"));
	ncs_nearest_begin(&of_titles, word, strlen(word));
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_nearest_try(&of_views, ncs_views[i].option);
	if (colon && of_views.distance > 0) {
		ncs_append(text, size, ": no view '%.*s'",
			   (int)strcspn(item, ":"), item);
		ncs_nearest_append(&of_views, "", text, size);
		return false;
	}
	for (size_t i = 0; i < ncs_column_count; i++)
		if (!colon || strncmp(ncs_views[ncs_columns[i].view].option,
				      item, (size_t)(colon - item)) == 0)
			ncs_nearest_try(&of_titles, ncs_columns[i].title);
#define X(title, name) ncs_nearest_try(&of_titles, name);
	NCS_COLUMN_NAMES(X)
#undef X
	if (of_titles.distance == 0)
		return true;
	ncs_append(text, size, ": no column '%s'", word);
	ncs_nearest_append(&of_titles, "", text, size);
	return false;
}

static void suggest_titles(const struct ncs_option_row *row,
			   const char *argument, char *text, size_t size)
{
	char item[64];

	(void)row;
	while (argument && ncs_option_item(&argument, item, sizeof(item)) &&
	       suggest_for(item, text, size))
		;
}

/* Columns of views have titles, those of exports have names. The mode, which
 * says which are meant, may not be known yet: option_rules.c checks them. */
static bool take_sorts(const struct ncs_option_input *input)
{
	struct ncs_options *options = input->options;

	memset(options->sort, 0, sizeof(options->sort));
	options->sorts_are_titles =
		take_titles(options, NCS_VIEW_COUNT, input->argument,
			    take_sort);
	return ncs_option_keep(input->argument, options->sort_text);
}

static bool take_columns(const struct ncs_option_input *input)
{
	struct ncs_options *options = input->options;

	memset(options->columns, 0, sizeof(options->columns));
	options->columns_are_titles =
		take_titles(options, NCS_VIEW_COUNT, input->argument,
			    take_column);
	return ncs_option_keep(input->argument, options->columns_text);
}

/* --- Printing ----------------------------------------------------------- */

static void print_title(enum ncs_view view, bool minus, const char *title,
			char *text, size_t size)
{
	ncs_append(text, size, "%s%s:%s%s", text[0] ? "," : "",
		   ncs_views[view].option, minus ? "-" : "", title);
}

static void print_sorts(const struct ncs_options *options,
			const struct ncs_option_row *row, char *text,
			size_t size)
{
	(void)row;
	text[0] = '\0';
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		const struct ncs_sort *sort = &options->sort[i];

		if (sort->column || sort->inverted)
			print_title((enum ncs_view)i, sort->inverted,
				    sort->column ? sort->column->title : "",
				    text, size);
	}
	if (!text[0])
		ncs_append(text, size, "default");
}

static void print_columns(const struct ncs_options *options,
			  const struct ncs_option_row *row, char *text,
			  size_t size)
{
	(void)row;
	text[0] = '\0';
	for (size_t i = 0; i < ncs_column_count; i++)
		if (options->columns[i] != NCS_COLUMN_BY_LEVEL)
			print_title(ncs_columns[i].view,
				    options->columns[i] == NCS_COLUMN_HIDDEN,
				    ncs_columns[i].title, text, size);
	if (!text[0])
		ncs_append(text, size, "default");
}

const struct ncs_option_kind ncs_option_kind_sort = {
	.take = take_sorts,
	.print = print_sorts,
	.suggest = suggest_titles,
};
const struct ncs_option_kind ncs_option_kind_columns = {
	.take = take_columns,
	.print = print_columns,
	.suggest = suggest_titles,
};
