/* SPDX-License-Identifier: MIT */
/* The table of metrics as data; see metric_writer.h. */
#include "analysis/metrics/metric_writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(NCS_METRIC_COUNT <= 64, "metrics fit the bits of a set");

#define PRESENCE_DEFAULT false
#define PRESENCE_OPT_IN true

const struct ncs_metric_row ncs_metric_rows[NCS_METRIC_COUNT] = {
#define X(ID, name, type, unit, labels, presence, help) \
	[NCS_METRIC_##ID] = { name, NCS_METRIC_TYPE_##type, \
			      NCS_METRIC_UNIT_##unit, labels, \
			      PRESENCE_##presence, help },
	NCS_METRICS(X)
#undef X
};

const char *const ncs_metric_types[] = { "info", "gauge", "counter", "summary",
					 "histogram" };

const char *const ncs_metric_units[] = { "", "seconds", "bytes", "ratio" };

static const struct user_name {
	const char *name;
	bool is_key;
} names[] = {
#define X(name, is_key) { name, is_key },
	NCS_METRIC_NAMES(X)
#undef X
};

/* Returns the row of a label; NULL if users do not choose its values. */
static const struct user_name *find_name(const char *label, size_t length)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length &&
		    memcmp(names[i].name, label, length) == 0)
			return &names[i];
	return NULL;
}

bool ncs_metric_label_is_name(const char *label, size_t length)
{
	return find_name(label, length) != NULL;
}

static bool has_key(const struct ncs_metric_row *row)
{
	const char *label = row->labels;

	while (*label) {
		size_t length = strcspn(label, " ");
		const struct user_name *name = find_name(label, length);

		if (name && name->is_key)
			return true;
		label += length;
		label += *label == ' ';
	}
	return false;
}

uint64_t ncs_metrics_by_name(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (has_key(&ncs_metric_rows[i]))
			set |= NCS_METRIC_BIT(i);
	return set;
}

uint64_t ncs_metrics_default(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (!ncs_metric_rows[i].is_opt_in)
			set |= NCS_METRIC_BIT(i);
	return set;
}

/* Returns the set that a name of `length` bytes stands for; 0 if none. */
static uint64_t find(const char *name, size_t length)
{
	size_t prefix = strlen(NCS_METRIC_PREFIX);

	if (length == 3 && memcmp(name, "all", length) == 0)
		return NCS_METRIC_BIT(NCS_METRIC_COUNT) - 1;
	if (length > prefix && memcmp(name, NCS_METRIC_PREFIX, prefix) == 0) {
		name += prefix;
		length -= prefix;
	}
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		if (strlen(ncs_metric_rows[i].name) == length &&
		    memcmp(ncs_metric_rows[i].name, name, length) == 0)
			return NCS_METRIC_BIT(i);
	return 0;
}

bool ncs_metrics_parse(const char *text, uint64_t *set, char *wrong,
		       size_t size)
{
	uint64_t changed = *set;

	for (;;) {
		bool without = *text == '-';
		size_t length;
		uint64_t named;

		text += without;
		length = strcspn(text, ",");
		named = find(text, length);
		if (!named) {
			snprintf(wrong, size, "%.*s", (int)length, text);
			return false;
		}
		changed = without ? changed & ~named : changed | named;
		if (!text[length])
			break;
		text += length + 1;
	}
	*set = changed;
	return true;
}
