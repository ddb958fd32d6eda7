/* SPDX-License-Identifier: MIT */
/* Filters and searches; see row_query.h. */
#include "tui/table/row_query.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "tui/text/nearest.h"

#define TEXT_MAX 4096

/* --- A row's names -------------------------------------------------------- */

/* Returns a row's rank; for a communicator, its first rank; NULL for a node. */
static const struct ncs_rank *rank_of(const struct ncs_row *row)
{
	return row->communicator ? row->communicator->ranks[0] : row->rank;
}

/* Prints the names of a row, but not its measurements. */
static void row_text(const struct ncs_grid_row *row, char *text, size_t size)
{
	const struct ncs_rank *rank = rank_of(&row->row);
	char cell[TEXT_MAX];

	text[0] = '\0';
	if (row->unreadable) {
		ncs_append(text, size, " %s", row->unreadable->id);
		ncs_append(text, size, " %s", row->unreadable->why);
		return;
	}
	for (size_t i = 0; i < ncs_column_count; i++) {
		struct ncs_value value = { 0 };

		if (ncs_columns[i].view != row->row.view)
			continue;
		ncs_column_get(&ncs_columns[i], &row->row, &value);
		if (value.kind != NCS_VALUE_TEXT &&
		    value.kind != NCS_VALUE_NUMBER)
			continue;
		ncs_format_value(cell, sizeof(cell), &value, 0, false);
		ncs_append(text, size, " %s", cell);
	}
	if (!rank)
		return;
	ncs_append(text, size, " %s", rank->process.host);
	for (const char *label = rank->labels; label && *label;
	     label += strlen(label) + 1)
		ncs_append(text, size, " %s", label);
}

/* --- A column and a value ------------------------------------------------- */

/* Gets the cell of a row that a title names. Returns false if there is no such
 * column. */
static bool get_cell(const struct ncs_row *row, const char *title,
		     struct ncs_value *value)
{
	const struct ncs_column *column = ncs_column_find(row->view, title);
	struct ncs_row of_rank = { .view = NCS_VIEW_RANK,
				   .rank = rank_of(row) };

	if (!column && of_rank.rank && strcasecmp(title, "host") == 0) {
		ncs_value_set_text(value, of_rank.rank->process.host);
		return true;
	}
	if (!column && of_rank.rank) {
		column = ncs_column_find(NCS_VIEW_RANK, title);
		row = &of_rank;
	}
	if (column)
		ncs_column_get(column, row, value);
	return column;
}

/* Reads "5ms", "2.5G" or "30%" in the unit of a kind of values: ns, percent, or
 * none. Returns false if it is no number. */
static bool read_amount(const char *text, enum ncs_value_kind kind,
			double *amount)
{
	static const struct {
		const char *unit;
		double ns;
	} times[] = {
		{ "", 1e9 },  { "ns", 1 },   { "us", 1e3 }, { "ms", 1e6 },
		{ "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
	};
	static const char prefixes[] = "kmgt";
	const char *prefix;
	char *unit;

	*amount = strtod(text, &unit);
	if (unit == text)
		return false;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (kind == NCS_VALUE_DURATION &&
		    strcasecmp(times[i].unit, unit) == 0) {
			*amount *= times[i].ns;
			return true;
		}
	}
	prefix = *unit ? strchr(prefixes, tolower((unsigned char)*unit)) : NULL;
	for (const char *p = prefixes; prefix && p <= prefix; p++)
		*amount *= kind == NCS_VALUE_SIZE ? 1024 : 1000;
	unit += prefix != NULL;
	return kind != NCS_VALUE_DURATION &&
	       (!*unit || strcasecmp(unit, "B") == 0 ||
		strcasecmp(unit, "B/s") == 0 || strcmp(unit, "%") == 0);
}

static double amount_of(const struct ncs_value *value)
{
	switch (value->kind) {
	case NCS_VALUE_SHARE:
		return 100 * value->real;
	case NCS_VALUE_RATE:
	case NCS_VALUE_BYTES_RATE:
	case NCS_VALUE_REAL:
	case NCS_VALUE_RECENT:
		return value->real;
	default:
		return (double)value->number;
	}
}

static bool compares(const struct ncs_value *value, char relation,
		     bool or_equal, const char *wanted)
{
	char cell[TEXT_MAX];
	double own, other;

	if (value->kind == NCS_VALUE_NONE)
		return false;
	ncs_format_value(cell, sizeof(cell), value, 0, false);
	if (relation == ':' && strcasestr(cell, wanted) &&
	    value->kind != NCS_VALUE_NUMBER)
		return true;
	if (relation == '=' && value->kind == NCS_VALUE_TEXT)
		return strcasecmp(cell, wanted) == 0 ||
		       (strncasecmp(cell, wanted, strlen(wanted)) == 0 &&
			cell[strlen(wanted)] == ':');
	if (value->kind == NCS_VALUE_TEXT ||
	    !read_amount(wanted, value->kind, &own))
		return false;
	other = own;
	own = amount_of(value);
	if (relation == '>' || relation == '<')
		return (relation == '>' ? own > other : own < other) ||
		       (or_equal && own == other);
	return own == other || strcasecmp(cell, wanted) == 0;
}

/* Cuts "late>=5ms" behind the title. Returns the value, or NULL if the word is none of
 * this kind. */
static const char *split(char *word, char *relation, bool *or_equal)
{
	char *at = word + strcspn(word, "=:<>");

	if (at == word || !*at)
		return NULL;
	*relation = *at;
	*at++ = '\0';
	*or_equal = *at == '=';
	return at + *or_equal;
}

/* --- Words ---------------------------------------------------------------- */

/* Whether a row has a word, which may be cut; `next` is the word behind it, which becomes
 * empty if it is taken as its value. */
static bool has_word(const struct ncs_grid_row *row, const char *text,
		     char *word, char *next)
{
	struct ncs_value value = { 0 };
	const char *wanted;
	bool or_equal;
	char relation;

	if (strcasestr(text, word))
		return true;
	if (row->unreadable)
		return false;
	wanted = split(word, &relation, &or_equal);
	if (!wanted && isdigit((unsigned char)next[0]) &&
	    get_cell(&row->row, word, &value)) {
		bool matches = compares(&value, '=', false, next);

		next[0] = '\0';
		return matches;
	}
	if (!wanted || !get_cell(&row->row, word, &value))
		return false;
	/* Nothing is typed yet. */
	return !wanted[0] || compares(&value, relation, or_equal, wanted);
}

/* Takes the next word off a text; "" at its end. */
static char *take_word(char **text)
{
	char *word = *text + strspn(*text, " ");

	*text = word + strcspn(word, " ");
	if (**text)
		*(*text)++ = '\0';
	return word;
}

/* Whether a row has all of some words, of which there must be one. */
static bool has_words(const struct ncs_grid_row *row, const char *text,
		      char *words)
{
	char *word = take_word(&words), *next;
	bool all = *word;

	for (; all && *word; word = *next ? next : take_word(&words)) {
		next = take_word(&words);
		all = has_word(row, text, word, next);
	}
	return all;
}

bool ncs_row_matches(const struct ncs_grid_row *row, const char *query)
{
	char text[TEXT_MAX], copy[TEXT_MAX], *rest = copy, *part;

	/* Without a word it is as if it were empty. */
	if (!query || !query[strspn(query, " |")])
		return true;
	row_text(row, text, sizeof(text));
	snprintf(copy, sizeof(copy), "%s", query);
	while ((part = strsep(&rest, "|")))
		if ((*part && strcasestr(text, part)) ||
		    has_words(row, text, part))
			return true;
	return false;
}

void ncs_row_query_hint(enum ncs_view view, const char *query, char *text,
			size_t size)
{
	char copy[TEXT_MAX], *rest = copy, *word, relation;
	struct ncs_nearest nearest;
	bool or_equal;

	snprintf(copy, sizeof(copy), "%s", query);
	while ((word = strsep(&rest, " |"))) {
		if (!split(word, &relation, &or_equal) ||
		    strcasecmp(word, "host") == 0 ||
		    ncs_column_find(view, word) ||
		    ncs_column_find(NCS_VIEW_RANK, word))
			continue;
		ncs_nearest_begin(&nearest, word, strlen(word));
		for (size_t i = 0; i < ncs_column_count; i++)
			if (ncs_columns[i].view == view ||
			    ncs_columns[i].view == NCS_VIEW_RANK)
				ncs_nearest_try(&nearest, ncs_columns[i].title);
		snprintf(text, size, "no column '%s'", word);
		ncs_nearest_append(&nearest, "", text, size);
		return;
	}
	snprintf(text, size, "try " NCS_ROW_QUERY_EXAMPLES);
}
