/* SPDX-License-Identifier: MIT */
/* The members of the JSON dump that are cells of a view's table: rates and shares
 * of the window, ages, and what a rank waits for. They come from the columns, so
 * that a script gets what a screen shows. Must not compute a figure itself. */
#include "tui/commands/dump_json_parts.h"

#include "analysis/views/columns.h"
#include "tui/commands/json_values.h"

/* A column's value times `factor` is the member's, in the unit of its name. */
static const struct json_cell {
	const char *key;
	enum ncs_column_id column;
	double factor;
} cells[] = {
	{ "waits_for", NCS_COLUMN_RANK_WAIT, 1 },
	{ "busbw_gbs", NCS_COLUMN_RANK_BUSBW, 1 },
	{ "operations_per_s", NCS_COLUMN_RANK_OPERATIONS_RATE, 1 },
	{ "send_bytes_per_s", NCS_COLUMN_RANK_SEND_RATE, 1 },
	{ "recv_bytes_per_s", NCS_COLUMN_RANK_RECV_RATE, 1 },
	{ "kernel_age_ns", NCS_COLUMN_RANK_MOVED, 1 },
	{ "call_age_ns", NCS_COLUMN_RANK_LAST_CALL, 1 },
	{ "state_age_ns", NCS_COLUMN_CHANNEL_SINCE, 1 },
	{ "function", NCS_COLUMN_CHANNEL_FUNCTION, 1 },
	{ "bytes_per_s", NCS_COLUMN_CHANNEL_RATE, 1e6 },
	{ "gpu_wait_share", NCS_COLUMN_CHANNEL_GPU_SHARE, 1 },
	{ "peer_wait_share", NCS_COLUMN_CHANNEL_PEER_SHARE, 1 },
	{ "network_wait_share", NCS_COLUMN_CHANNEL_NET_SHARE, 1 },
	{ "idle_share", NCS_COLUMN_CHANNEL_IDLE_SHARE, 1 },
	{ "state_age_ns", NCS_COLUMN_PROXY_SINCE, 1 },
	{ "sleep_share", NCS_COLUMN_PROXY_SLEEP_SHARE, 1 },
	{ "idle_share", NCS_COLUMN_PROXY_IDLE_SHARE, 1 },
	{ "active_share", NCS_COLUMN_PROXY_ACTIVE_SHARE, 1 },
	{ "append_share", NCS_COLUMN_PROXY_APPEND_SHARE, 1 },
	{ "wakeup_per_s", NCS_COLUMN_PROXY_WAKEUP_RATE, 1 },
	{ "idle_per_s", NCS_COLUMN_PROXY_IDLE_RATE, 1 },
	{ "active_per_s", NCS_COLUMN_PROXY_ACTIVE_RATE, 1 },
	{ "append_per_s", NCS_COLUMN_PROXY_APPEND_RATE, 1 },
	{ "operations_per_s", NCS_COLUMN_FUNCTION_RATE, 1 },
	{ "operations_per_s", NCS_COLUMN_CLASS_RATE, 1 },
};

/* A duration that may be any longer one is unknown. */
static json_t *json_of(const struct ncs_value *value, double factor)
{
	if (value->is_least)
		return json_null();
	switch (value->kind) {
	case NCS_VALUE_NUMBER:
	case NCS_VALUE_BYTES:
	case NCS_VALUE_SIZE:
	case NCS_VALUE_DURATION:
		return json_integer((json_int_t)value->number);
	case NCS_VALUE_RATE:
	case NCS_VALUE_BYTES_RATE:
	case NCS_VALUE_REAL:
	case NCS_VALUE_SHARE:
		return json_real(value->real * factor);
	case NCS_VALUE_TEXT:
		return ncs_json_of_text(value->text);
	case NCS_VALUE_NONE:
	case NCS_VALUE_RECENT:
		break;
	}
	return json_null();
}

json_t *ncs_dump_json_cells(json_t *object, const struct ncs_rank *rank,
			    enum ncs_view view, size_t index)
{
	const struct ncs_row row = { .view = view,
				     .rank = rank,
				     .index = index };
	struct ncs_value value;

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		const struct ncs_column *column = &ncs_columns[cells[i].column];

		if (column->view != view)
			continue;
		ncs_column_get(column, &row, &value);
		json_object_set_new(object, cells[i].key,
				    json_of(&value, cells[i].factor));
	}
	return object;
}
