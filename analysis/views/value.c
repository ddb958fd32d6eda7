/* SPDX-License-Identifier: MIT */
/* Values of cells: setting and comparing them. Must not know the model. */
#include "analysis/views/value.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/percentile.h"
#include "analysis/base/value_names.h"

void ncs_value_set(struct ncs_value *value, enum ncs_value_kind kind,
		   uint64_t number)
{
	value->kind = kind;
	value->number = number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

void ncs_value_set_number(struct ncs_value *value, uint64_t number)
{
	ncs_value_set(value, NCS_VALUE_NUMBER, number);
}

void ncs_value_set_real(struct ncs_value *value, enum ncs_value_kind kind,
			double real)
{
	if (!(real >= 0))
		return;
	value->kind = kind;
	value->real = real;
}

void ncs_value_set_text(struct ncs_value *value, const char *text)
{
	if (!text[0])
		return;
	value->kind = NCS_VALUE_TEXT;
	snprintf(value->text, sizeof(value->text), "%s", text);
}

void ncs_value_set_call(struct ncs_value *value, unsigned function,
			uint64_t number)
{
	ncs_value_set_text(value, ncs_function_name(function));
	if (number != NCS_NO_SEQUENCE_NUMBER)
		ncs_append(value->text, sizeof(value->text), "#%" PRIu64,
			   number);
}

void ncs_value_set_duration(struct ncs_value *value, uint64_t duration_ns)
{
	if (duration_ns > 0)
		ncs_value_set(value, NCS_VALUE_DURATION, duration_ns);
}

void ncs_value_set_percentile(struct ncs_value *value, uint64_t time_ns)
{
	ncs_value_set_duration(value, time_ns);
	value->is_least = ncs_percentile_is_least(time_ns);
}

void ncs_value_set_span(struct ncs_value *value, uint64_t from_ns,
			uint64_t until_ns)
{
	if (from_ns != 0)
		ncs_value_set(value, NCS_VALUE_DURATION,
			      until_ns > from_ns ? until_ns - from_ns : 0);
}

static bool is_real(enum ncs_value_kind kind)
{
	return kind == NCS_VALUE_RATE || kind == NCS_VALUE_BYTES_RATE ||
	       kind == NCS_VALUE_REAL || kind == NCS_VALUE_SHARE ||
	       kind == NCS_VALUE_RECENT;
}

int ncs_value_order(const struct ncs_value *a, const struct ncs_value *b,
		    bool downwards)
{
	int order;

	if (a->kind == NCS_VALUE_NONE || b->kind == NCS_VALUE_NONE)
		return (a->kind == NCS_VALUE_NONE) -
		       (b->kind == NCS_VALUE_NONE);
	if (a->kind != b->kind)
		order = a->kind < b->kind ? -1 : 1;
	else if (a->kind == NCS_VALUE_TEXT)
		order = strverscmp(a->text, b->text);
	else if (is_real(a->kind))
		order = (a->real > b->real) - (a->real < b->real);
	else
		order = (a->number > b->number) - (a->number < b->number);
	return downwards ? -order : order;
}
