/* SPDX-License-Identifier: MIT */
/* The column table, and how a cell is read. Cells that are members of a struct
 * are read here, by the table; what has to be computed is in the getters
 * (analysis/views/getters.h).
 */
#include "analysis/views/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/diagnosis/finding.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "analysis/views/getters.h"

const struct ncs_view_names ncs_views[NCS_VIEW_COUNT] = {
#define X(WITH, ID, key, option, name, tab, enter, help) \
	{ option, name, tab, enter },
	NCS_TABS(X, )
#undef X
#define X(ID, option, name) { option, name, NULL, NULL },
	NCS_VIEWS_WITHOUT_TAB(X)
#undef X
};

/* --- Objects of rows ------------------------------------------------------ */

/* Defines the struct of an object that fields of columns are members of, and how a row
 * leads to it: to NULL if the row has none. */
#define OBJECT(ID, type, of_row) \
	typedef type type_##ID; \
	static const void *get_##ID(const struct ncs_row *row) \
	{ \
		return of_row; \
	}

/* clang-format off */
OBJECT(RANK, struct ncs_rank, row->rank)
OBJECT(IDENTITY, struct ncs_identity, ncs_row_identity(row))
OBJECT(COMMUNICATOR, struct ncs_communicator, row->communicator)
OBJECT(CHANNEL, struct ncs_channel_view, &row->rank->now.channels[row->index])
OBJECT(FUNCTION, struct ncs_function_view,
       &row->rank->now.functions[row->index])
OBJECT(CLASS, struct ncs_class_view, &row->rank->now.classes[row->index])
OBJECT(RANGE, struct ncs_range_sum, &row->rank->ranges[row->index])
OBJECT(FINDING, struct ncs_finding, row->finding)
OBJECT(LATENESS, struct ncs_lateness_view, ncs_rank_lateness(row->rank))
OBJECT(SKEW, struct ncs_skew, ncs_communicator_skew(row->communicator))
OBJECT(NODE, struct ncs_node, row->node)
/* clang-format on */

/* --- Whether a field is known --------------------------------------------- */

/* Defines has_<name>(), the condition of the columns whose field ends with
 * <name>: an expression of `row`. */
#define HAS(name, condition) \
	static bool has_##name(const struct ncs_row *row) \
	{ \
		return condition; \
	}

/* clang-format off */
HAS(rank, ncs_row_identity(row)->known & NCS_KNOWN_RANK)
HAS(nranks, ncs_row_identity(row)->known & NCS_KNOWN_NRANKS)
HAS(proxy, ncs_rank_proxy_known(row->rank))
HAS(calls, ncs_rank_calls_known(row->rank))
HAS(kernel_status, row->rank->now.kernel.status != NCS_KERNEL_UNKNOWN)
HAS(launches, row->rank->now.launches.launched > 0)
HAS(last_arrival, ncs_rank_lateness(row->rank)->recent.last > 0)
HAS(progress, row->communicator->progress.known > 0)
HAS(oldest_wait, row->communicator->oldest.rank)
HAS(moved, ncs_communicator_skew(row->communicator)->moved > 0)
HAS(channel_operation, row->rank->now.channels[row->index].operation != 0)
HAS(channel_bytes,
    ncs_channel_bytes_known(&row->rank->now.channels[row->index]))
HAS(function_bytes,
    ncs_function_bytes_known(&row->rank->now.functions[row->index]))
HAS(function_ends,
    ncs_function_ends_known(&row->rank->now.functions[row->index]))
HAS(function_number,
    row->rank->now.functions[row->index].last_sequence_number !=
    NCS_NO_SEQUENCE_NUMBER)
HAS(range_bytes, row->rank->ranges[row->index].size_unknown == 0)
HAS(compute_kernels, row->rank->ranges[row->index].gpu.compute_kernels > 0)
HAS(finding_root, row->finding->root.number >= 0)
HAS(finding_peer, row->finding->peer.number >= 0)
HAS(finding_duration, row->finding->duration_ns > 0)
HAS(node_host, row->node->host[0] != '\0')
/* Whether a look has come from the node. */
HAS(node_look, row->node->look_ns != 0)
HAS(node_interval, row->node->interval_ns != 0)
HAS(node_clock, row->node->clock_is_aligned)
/* clang-format on */

/* --- The table ------------------------------------------------------------ */

/* The C type of a member: a member of another type does not compile. */
#define MEMBER(object, member) (((type_##object *)NULL)->member)
#define TYPE_OF(object, member) \
	_Generic(MEMBER(object, member), \
		unsigned char: NCS_FIELD_U8, \
		unsigned int: NCS_FIELD_U32, \
		unsigned long: NCS_FIELD_U64, \
		int: NCS_FIELD_I32, \
		double: NCS_FIELD_DOUBLE, \
		char *: NCS_FIELD_TEXT)
_Static_assert(sizeof(unsigned long) == 8 && sizeof(unsigned) == 4,
	       "TYPE_OF() has the types of LP64");

/* clang-format off */
#define PLACE(object_, member) \
	.object = get_##object_, .type = TYPE_OF(object_, member), \
	.offset = offsetof(type_##object_, member)
#define ERROR(object, member) \
	.error_offset = _Generic(MEMBER(object, member), \
		unsigned long: offsetof(type_##object, member))

#define IF(condition) .known = has_##condition
#define FIELD(object, member, kind_, ...) \
	{ PLACE(object, member), .kind = NCS_VALUE_##kind_, __VA_ARGS__ }
#define DURATION(object, member, error, ...) \
	{ PLACE(object, member), .kind = NCS_VALUE_DURATION, \
	  ERROR(object, error), __VA_ARGS__ }
#define NAME(object, member, names, ...) \
	{ PLACE(object, member), .kind = NCS_VALUE_TEXT, .name = names, \
	  __VA_ARGS__ }
#define CALL(getter) { .get = ncs_get_##getter }
#define CALL_WITH(getter, argument_) \
	{ .get = ncs_get_##getter, .argument = argument_ }
/* clang-format on */

const struct ncs_column ncs_columns[] = {
#define X(VIEW, ID, title_, width_, align_, priority_, level_, value_, help_) \
	{ \
		.view = NCS_VIEW_##VIEW, \
		.id = #VIEW "_" #ID, \
		.title = title_, \
		.width = width_, \
		.align = NCS_ALIGN_##align_, \
		.priority = priority_, \
		.level = NCS_COLUMN_##level_, \
		.help = help_, \
		.value = value_, \
	},
	NCS_COLUMNS(X)
#undef X
};

const size_t ncs_column_count = sizeof(ncs_columns) / sizeof(ncs_columns[0]);

/* --- Reading a cell ------------------------------------------------------- */

static int64_t read_integer(const char *field, enum ncs_field_type type)
{
	uint64_t number;

	switch (type) {
	case NCS_FIELD_U8:
		return *(const uint8_t *)field;
	case NCS_FIELD_U32:
		return *(const uint32_t *)(const void *)field;
	case NCS_FIELD_I32:
		return *(const int32_t *)(const void *)field;
	default:
		number = *(const uint64_t *)(const void *)field;
		return number < INT64_MAX ? (int64_t)number : INT64_MAX;
	}
}

static void read_field(const struct ncs_column_value *source,
		       const char *object, struct ncs_value *value)
{
	const char *field = object + source->offset;

	if (source->type == NCS_FIELD_TEXT) {
		ncs_value_set_text(value, field);
	} else if (source->type == NCS_FIELD_DOUBLE) {
		ncs_value_set_real(value, source->kind,
				   *(const double *)(const void *)field);
	} else if (source->name) {
		ncs_value_set_text(value, source->name((unsigned)read_integer(
						  field, source->type)));
	} else {
		value->kind = source->kind;
		value->number = read_integer(field, source->type);
	}
	if (source->error_offset)
		value->error_ns =
			*(const uint64_t *)(const void *)(object +
							  source->error_offset);
}

void ncs_column_get(const struct ncs_column *column, const struct ncs_row *row,
		    struct ncs_value *value)
{
	const struct ncs_column_value *source = &column->value;
	const void *object;

	memset(value, 0, sizeof(*value));
	if (source->get) {
		source->get(row, source->argument, value);
		return;
	}
	object = source->object(row);
	if (object && (!source->known || source->known(row)))
		read_field(source, object, value);
}

bool ncs_column_sorts_up(const struct ncs_column *column)
{
	static const char *const names[] = { "RANK", "PID", "CH", "PEER",
					     "SLOWEST" };

	if (column->align == NCS_ALIGN_LEFT)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(column->title, names[i]) == 0)
			return true;
	return false;
}

/* --- By title -------------------------------------------------------------- */

static const struct ncs_column *find_exactly(enum ncs_view view,
					     const char *title)
{
	for (size_t i = 0; i < ncs_column_count; i++)
		if (ncs_columns[i].view == view &&
		    strcasecmp(ncs_columns[i].title, title) == 0)
			return &ncs_columns[i];
	return NULL;
}

const struct ncs_column *ncs_column_find(enum ncs_view view, const char *word)
{
	static const struct {
		const char *title;
		const char *name;
	} others[] = {
#define X(title_, name_) { title_, name_ },
		NCS_COLUMN_NAMES(X)
#undef X
	};
	const struct ncs_column *found = find_exactly(view, word);

	for (size_t i = 0; !found && i < sizeof(others) / sizeof(others[0]);
	     i++)
		if (strcasecmp(others[i].name, word) == 0)
			found = find_exactly(view, others[i].title);
	return found;
}
