/* SPDX-License-Identifier: MIT */
/* Rows and cells; see parquet_tables.h. To add a column, add a row to
 * parquet.def and, unless it is one of the row's values, a case below. */
#include "record/export/parquet_tables.h"

#include <assert.h>

#include "analysis/base/busbw.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/rank.h"
#include "ncclstat/size_class.h"
#include "record/format/record_fields.h"

/* --- Tables -------------------------------------------------------------- */

/* Columns are numbered within their table. */
#define X(TABLE, ID, name, TYPE, unit, source, help) \
	NCS_PARQUET_##TABLE##_##ID,
enum { NCS_PARQUET_OPERATIONS_COLUMNS(X) OPERATIONS_END };
enum { NCS_PARQUET_STEPS_COLUMNS(X) STEPS_END };
enum { NCS_PARQUET_LAUNCHES_COLUMNS(X) LAUNCHES_END };
enum { NCS_PARQUET_STATES_COLUMNS(X) STATES_END };
#undef X

#define X(TABLE, ID, name, TYPE, unit, source, help) \
	{ name, NCS_PARQUET_##TYPE, unit "; " source "; " help },
static const struct ncs_parquet_column operations_columns[] = {
	NCS_PARQUET_OPERATIONS_COLUMNS(X)
};
static const struct ncs_parquet_column steps_columns[] = {
	NCS_PARQUET_STEPS_COLUMNS(X)
};
static const struct ncs_parquet_column launches_columns[] = {
	NCS_PARQUET_LAUNCHES_COLUMNS(X)
};
static const struct ncs_parquet_column states_columns[] = {
	NCS_PARQUET_STATES_COLUMNS(X)
};
#undef X

const struct ncs_parquet_table_facts
	ncs_parquet_tables[NCS_PARQUET_TABLE_COUNT] = {
		[NCS_PARQUET_OPERATIONS] = { "operations", operations_columns,
					     OPERATIONS_END,
					     NCS_PARQUET_OPERATIONS_START_NS },
		[NCS_PARQUET_STEPS] = { "steps", steps_columns, STEPS_END,
					NCS_PARQUET_STEPS_START_NS },
		[NCS_PARQUET_LAUNCHES] = { "launches", launches_columns,
					   LAUNCHES_END,
					   NCS_PARQUET_LAUNCHES_START_NS },
		[NCS_PARQUET_STATES] = { "states", states_columns, STATES_END,
					 NCS_PARQUET_STATES_TAKEN_NS },
	};

/* The columns of the rank are the same in all tables. */
#define SAME(ID) \
	static_assert((int)NCS_PARQUET_OPERATIONS_##ID == \
				      (int)NCS_PARQUET_STEPS_##ID && \
			      (int)NCS_PARQUET_OPERATIONS_##ID == \
				      (int)NCS_PARQUET_LAUNCHES_##ID && \
			      (int)NCS_PARQUET_OPERATIONS_##ID == \
				      (int)NCS_PARQUET_STATES_##ID, \
		      "tables begin with the columns of the rank")
SAME(HOST);
SAME(PID);
SAME(COMMUNICATOR);
SAME(COMMUNICATOR_ID);
SAME(NRANKS);
SAME(RANK);

/* --- Values of rows ------------------------------------------------------ */

/* Places in a row's values, from 1; 0: none. */
enum {
	NO_VALUE,
	VALUE_OPERATION,
	VALUE_BYTES,
	VALUE_PEER,
	VALUE_NUMBER, /* of an operation: its sequence number; of a step */
	/* In operations: */
	VALUE_TRANSFER,
	VALUE_RANGE,
	VALUE_ROOT,
	VALUE_FIRST_CHILD,
	VALUE_ON_STREAM,
	VALUES_END,
	/* In steps: */
	VALUE_FIRST_WAIT = VALUE_TRANSFER, /* and the next two */
	VALUE_STANDS_FOR = VALUE_FIRST_WAIT + 3,
	/* In launches: */
	VALUE_COUNT = VALUE_TRANSFER,
	/* In states: */
	VALUE_BEGUN = VALUE_OPERATION,
	VALUE_DONE = VALUE_TRANSFER,
	VALUE_TIMED,
	VALUE_TIMED_NS,
};
static_assert(VALUES_END - 1 == NCS_PARQUET_VALUES, "all values have a place");

static void set(struct ncs_parquet_row *row, unsigned value, uint64_t number)
{
	row->values[value - 1] = number;
	row->known |= (uint16_t)(1u << value);
}

static bool get(const struct ncs_parquet_row *row, unsigned value,
		union ncs_parquet_value *cell)
{
	if (value == NO_VALUE || !(row->known >> value & 1))
		return false;
	cell->number = row->values[value - 1];
	/* No count or time comes near this: it is damaged. */
	return cell->number <= INT64_MAX;
}

/* --- Rows of records ----------------------------------------------------- */

static const uint8_t value_of_field[NCS_FIELD_COUNT] = {
	[NCS_FIELD_OPERATION] = VALUE_OPERATION,
	[NCS_FIELD_BYTES] = VALUE_BYTES,
	[NCS_FIELD_PEER] = VALUE_PEER,
	[NCS_FIELD_SEQUENCE_NUMBER] = VALUE_NUMBER,
	[NCS_FIELD_TRANSFER_NUMBER] = VALUE_TRANSFER,
	[NCS_FIELD_RANGE] = VALUE_RANGE,
	[NCS_FIELD_ROOT] = VALUE_ROOT,
	[NCS_FIELD_FIRST_CHILD_NS] = VALUE_FIRST_CHILD,
	[NCS_FIELD_ON_STREAM] = VALUE_ON_STREAM,
};

static const uint8_t value_of_step_field[NCS_FIELD_COUNT] = {
	[NCS_FIELD_OPERATION] = VALUE_OPERATION,
	[NCS_FIELD_BYTES] = VALUE_BYTES,
	[NCS_FIELD_PEER] = VALUE_PEER,
	[NCS_FIELD_STEP] = VALUE_NUMBER,
	[NCS_FIELD_SEND_GPU_WAIT_NS] = VALUE_FIRST_WAIT,
	[NCS_FIELD_SEND_PEER_WAIT_NS] = VALUE_FIRST_WAIT + 1,
	[NCS_FIELD_SEND_WAIT_NS] = VALUE_FIRST_WAIT + 2,
	[NCS_FIELD_RECV_WAIT_NS] = VALUE_FIRST_WAIT,
	[NCS_FIELD_RECV_FLUSH_WAIT_NS] = VALUE_FIRST_WAIT + 1,
	[NCS_FIELD_RECV_GPU_WAIT_NS] = VALUE_FIRST_WAIT + 2,
	[NCS_FIELD_STANDS_FOR] = VALUE_STANDS_FOR,
};

void ncs_parquet_record_row(struct ncs_parquet_row *row, size_t rank,
			    const struct ncs_export_rank *facts,
			    const struct ncs_record *record)
{
	const uint8_t *values = record->event == NCS_EVENT_PROXY_STEP ?
					value_of_step_field :
					value_of_field;
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count = ncs_record_fields(record, 0, &facts->clock, fields);
	struct ncs_export_span span = ncs_export_rank_span(facts, record);

	*row = (struct ncs_parquet_row){
		.time_ns = span.start_ns,
		.duration_ns = span.end_ns - span.start_ns,
		.rank = (uint32_t)rank,
		.function = record->function,
		.channel = record->channel,
		.send = record->flags & NCS_RECORD_SEND,
	};
	for (unsigned i = 0; i < count; i++)
		if (fields[i].kind != NCS_FIELD_NOTHING &&
		    values[fields[i].field] != NO_VALUE)
			set(row, values[fields[i].field], fields[i].value);
}

/* --- Rows of launches ---------------------------------------------------- */

static bool is_set(const struct ncs_parquet_row *row, unsigned value)
{
	union ncs_parquet_value cell;

	return get(row, value, &cell) && cell.number != 0;
}

bool ncs_parquet_launch_row(struct ncs_parquet_row *row,
			    const struct ncs_parquet_row *operation,
			    const struct ncs_operation_table *operations)
{
	union ncs_parquet_value number;
	const struct ncs_exported_operation *facts =
		get(operation, VALUE_OPERATION, &number) ?
			ncs_operation_table_find(operations, operation->rank,
						 number.number) :
			NULL;

	*row = (struct ncs_parquet_row){
		.rank = operation->rank,
		.function = operation->function,
	};
	if (is_set(operation, VALUE_ON_STREAM)) {
		uint64_t begin_ns = operation->values[VALUE_FIRST_CHILD - 1];

		row->timing = NCS_TIMING_STREAM;
		if (begin_ns > operation->duration_ns)
			return false;
		row->time_ns = operation->time_ns + begin_ns;
		row->duration_ns = operation->duration_ns - begin_ns;
	} else if (facts && facts->kernel.is_known) {
		const struct ncs_kernel_span *kernel = &facts->kernel;

		row->timing = NCS_TIMING_KERNEL;
		row->time_ns = kernel->start_ns;
		row->duration_ns =
			kernel->is_by_gpu ?
				kernel->gpu_until_ns - kernel->gpu_from_ns :
				kernel->host_until_ns - kernel->start_ns;
	} else {
		return false;
	}
	set(row, VALUE_COUNT, 1);
	for (unsigned i = VALUE_OPERATION; i <= VALUE_NUMBER; i++)
		if (operation->known >> i & 1)
			set(row, i, operation->values[i - 1]);
	return true;
}

bool ncs_parquet_launch_add(struct ncs_parquet_row *row,
			    const struct ncs_parquet_row *launch)
{
	union ncs_parquet_value bytes;

	if (row->timing != NCS_TIMING_STREAM ||
	    launch->timing != NCS_TIMING_STREAM ||
	    row->time_ns != launch->time_ns ||
	    row->duration_ns != launch->duration_ns)
		return false;
	row->values[VALUE_COUNT - 1]++;
	if (get(launch, VALUE_BYTES, &bytes))
		row->values[VALUE_BYTES - 1] += bytes.number;
	else
		row->known &= (uint16_t)~(1u << VALUE_BYTES);
	return true;
}

/* --- Rows of states ------------------------------------------------------ */

bool ncs_parquet_state_row(struct ncs_parquet_row *row, size_t rank,
			   const struct ncs_snapshot *snapshot,
			   unsigned function)
{
	const struct ncs_function_view *view;
	unsigned timing;

	*row = (struct ncs_parquet_row){
		.time_ns = snapshot->taken_ns,
		.rank = (uint32_t)rank,
		.function = (uint8_t)function,
		.timing = NCS_TIMING_COUNT,
	};
	if (function >= NCS_FUNCTION_COUNT)
		return true;
	view = &snapshot->functions[function];
	if (!ncs_function_is_used(view))
		return false;
	timing = ncs_function_timing(view);
	row->timing = (uint8_t)timing;
	set(row, VALUE_BEGUN, view->operations);
	if (ncs_function_ends_known(view))
		set(row, VALUE_DONE, view->operations_done);
	if (ncs_function_bytes_known(view))
		set(row, VALUE_BYTES, view->bytes);
	if (view->last_sequence_number != NCS_NO_SEQUENCE_NUMBER)
		set(row, VALUE_NUMBER, view->last_sequence_number);
	set(row, VALUE_TIMED,
	    timing < NCS_TIMING_COUNT ? view->timed[timing] : 0);
	if (timing < NCS_TIMING_COUNT)
		set(row, VALUE_TIMED_NS, view->time_ns[timing]);
	return true;
}

/* --- Cells --------------------------------------------------------------- */

static bool give_text(const char *text, union ncs_parquet_value *cell)
{
	cell->text = text;
	return text != NULL;
}

static bool give_number(uint64_t number, union ncs_parquet_value *cell)
{
	cell->number = number;
	return number <= INT64_MAX;
}

/* Gives the time of a row as one of CLOCK_REALTIME. */
static bool give_utc(const struct ncs_parquet_cells *cells,
		     const struct ncs_parquet_row *row,
		     union ncs_parquet_value *cell)
{
	return cells->realtime_offset_ns != 0 &&
	       give_number(row->time_ns + (uint64_t)cells->realtime_offset_ns,
			   cell);
}

/* Gives a cell of the rank's columns. */
static bool rank_cell(const struct ncs_parquet_cells *cells,
		      const struct ncs_parquet_row *row, unsigned column,
		      union ncs_parquet_value *cell)
{
	const struct ncs_export_rank *rank = &cells->ranks[row->rank];
	const struct ncs_identity *identity = &rank->identity;

	switch (column) {
	case NCS_PARQUET_OPERATIONS_HOST:
		return give_text(rank->host, cell);
	case NCS_PARQUET_OPERATIONS_NODE:
		return give_text(rank->node ? rank->node : rank->host, cell);
	case NCS_PARQUET_OPERATIONS_JOB_ID:
		return give_text(rank->job, cell);
	case NCS_PARQUET_OPERATIONS_PID:
		return give_number(rank->pid, cell);
	case NCS_PARQUET_OPERATIONS_COMMUNICATOR:
		return give_text(identity->known & NCS_KNOWN_COMM_NAME ?
					 identity->comm_name :
					 NULL,
				 cell);
	case NCS_PARQUET_OPERATIONS_COMMUNICATOR_ID:
		return give_text(cells->communicator_ids[row->rank], cell);
	case NCS_PARQUET_OPERATIONS_NRANKS:
		cell->number = (uint64_t)(int64_t)identity->nranks;
		return identity->known & NCS_KNOWN_NRANKS;
	case NCS_PARQUET_OPERATIONS_RANK:
		cell->number = (uint64_t)(int64_t)identity->rank;
		return identity->known & NCS_KNOWN_RANK;
	case NCS_PARQUET_OPERATIONS_GPU_UUID:
		return give_text(rank->gpu_uuid[0] ? rank->gpu_uuid : NULL,
				 cell);
	}
	return false;
}

static bool is_of_rank(unsigned column)
{
	return column <= NCS_PARQUET_OPERATIONS_GPU_UUID;
}

static bool give_timing(unsigned timing, union ncs_parquet_value *cell)
{
	return give_text(timing < NCS_TIMING_COUNT ? ncs_timing_name(timing) :
						     NULL,
			 cell);
}

static bool joined_cell(const struct ncs_exported_operation *facts,
			unsigned column, union ncs_parquet_value *cell)
{
	if (!facts || !facts->is_joined)
		return false;
	switch (column) {
	case NCS_PARQUET_OPERATIONS_ALGORITHM:
		return facts->algorithm != NCS_ALGORITHM_UNKNOWN &&
		       facts->algorithm != NCS_CLASS_OTHER &&
		       give_text(ncs_algorithm_name(facts->algorithm), cell);
	case NCS_PARQUET_OPERATIONS_PROTOCOL:
		return facts->protocol != NCS_PROTOCOL_UNKNOWN &&
		       facts->protocol != NCS_CLASS_OTHER &&
		       give_text(ncs_protocol_name(facts->protocol), cell);
	}
	if (!facts->is_moving)
		return false;
	switch (column) {
	case NCS_PARQUET_OPERATIONS_TIMING:
		return give_timing(facts->moving.timing, cell);
	case NCS_PARQUET_OPERATIONS_MOVING_FROM_NS:
		return give_number(facts->moving.begin_ns, cell);
	case NCS_PARQUET_OPERATIONS_MOVING_UNTIL_NS:
		return give_number(facts->moving.end_ns, cell);
	case NCS_PARQUET_OPERATIONS_MOVING_ERROR_NS:
		return give_number(facts->moving.error_ns, cell);
	}
	return false;
}

static bool bus_bytes_cell(const struct ncs_parquet_cells *cells,
			   const struct ncs_parquet_row *row,
			   union ncs_parquet_value *cell)
{
	const struct ncs_identity *identity = &cells->ranks[row->rank].identity;
	double factor = ncs_bus_factor(
		row->function,
		identity->known & NCS_KNOWN_NRANKS ? identity->nranks : 0);

	if (factor < 0 || !get(row, VALUE_BYTES, cell))
		return false;
	cell->real = factor * (double)cell->number;
	return true;
}

static bool operations_cell(const void *context, size_t index, unsigned column,
			    union ncs_parquet_value *cell)
{
	static const uint8_t values[OPERATIONS_END] = {
		[NCS_PARQUET_OPERATIONS_OPERATION] = VALUE_OPERATION,
		[NCS_PARQUET_OPERATIONS_SEQUENCE_NUMBER] = VALUE_NUMBER,
		[NCS_PARQUET_OPERATIONS_TRANSFER_NUMBER] = VALUE_TRANSFER,
		[NCS_PARQUET_OPERATIONS_BYTES] = VALUE_BYTES,
		[NCS_PARQUET_OPERATIONS_ROOT] = VALUE_ROOT,
		[NCS_PARQUET_OPERATIONS_PEER] = VALUE_PEER,
		[NCS_PARQUET_OPERATIONS_FIRST_CHILD_NS] = VALUE_FIRST_CHILD,
		[NCS_PARQUET_OPERATIONS_ON_STREAM] = VALUE_ON_STREAM,
	};
	const struct ncs_parquet_cells *cells = context;
	const struct ncs_parquet_row *row = ncs_sorted_row(cells->rows, index);

	if (is_of_rank(column))
		return rank_cell(cells, row, column, cell);
	switch (column) {
	case NCS_PARQUET_OPERATIONS_START_NS:
		return give_number(row->time_ns, cell);
	case NCS_PARQUET_OPERATIONS_START_UTC:
		return give_utc(cells, row, cell);
	case NCS_PARQUET_OPERATIONS_DURATION_NS:
		return give_number(row->duration_ns, cell);
	case NCS_PARQUET_OPERATIONS_FUNCTION:
		return give_text(ncs_function_name(row->function), cell);
	case NCS_PARQUET_OPERATIONS_SIZE_BYTES:
		return get(row, VALUE_BYTES, cell) &&
		       give_number(ncs_size_class_low(
					   ncs_size_class(cell->number)),
				   cell);
	case NCS_PARQUET_OPERATIONS_BUS_BYTES:
		return bus_bytes_cell(cells, row, cell);
	case NCS_PARQUET_OPERATIONS_RANGE:
		return get(row, VALUE_RANGE, cell) &&
		       give_text(ncs_export_rank_path(&cells->ranks[row->rank],
						      cell->number),
				 cell);
	}
	if (values[column] != NO_VALUE)
		return get(row, values[column], cell);
	return get(row, VALUE_OPERATION, cell) &&
	       joined_cell(ncs_operation_table_find(cells->operations,
						    row->rank, cell->number),
			   column, cell);
}

static bool steps_cell(const void *context, size_t index, unsigned column,
		       union ncs_parquet_value *cell)
{
	static const uint8_t values[STEPS_END] = {
		[NCS_PARQUET_STEPS_OPERATION] = VALUE_OPERATION,
		[NCS_PARQUET_STEPS_PEER] = VALUE_PEER,
		[NCS_PARQUET_STEPS_STEP] = VALUE_NUMBER,
		[NCS_PARQUET_STEPS_BYTES] = VALUE_BYTES,
		[NCS_PARQUET_STEPS_STANDS_FOR] = VALUE_STANDS_FOR,
	};
	const struct ncs_parquet_cells *cells = context;
	const struct ncs_parquet_row *row = ncs_sorted_row(cells->rows, index);

	if (is_of_rank(column))
		return rank_cell(cells, row, column, cell);
	switch (column) {
	case NCS_PARQUET_STEPS_START_NS:
		return give_number(row->time_ns, cell);
	case NCS_PARQUET_STEPS_START_UTC:
		return give_utc(cells, row, cell);
	case NCS_PARQUET_STEPS_DURATION_NS:
		return give_number(row->duration_ns, cell);
	case NCS_PARQUET_STEPS_FUNCTION:
		return give_text(ncs_function_name(row->function), cell);
	case NCS_PARQUET_STEPS_CHANNEL:
		return give_number(row->channel, cell);
	case NCS_PARQUET_STEPS_DIRECTION:
		return give_text(row->send ? "send" : "recv", cell);
	case NCS_PARQUET_STEPS_SEND_GPU_WAIT_NS:
	case NCS_PARQUET_STEPS_SEND_PEER_WAIT_NS:
	case NCS_PARQUET_STEPS_SEND_WAIT_NS:
		return row->send &&
		       get(row,
			   VALUE_FIRST_WAIT + column -
				   NCS_PARQUET_STEPS_SEND_GPU_WAIT_NS,
			   cell);
	case NCS_PARQUET_STEPS_RECV_WAIT_NS:
	case NCS_PARQUET_STEPS_RECV_FLUSH_WAIT_NS:
	case NCS_PARQUET_STEPS_RECV_GPU_WAIT_NS:
		return !row->send &&
		       get(row,
			   VALUE_FIRST_WAIT + column -
				   NCS_PARQUET_STEPS_RECV_WAIT_NS,
			   cell);
	}
	return get(row, values[column], cell);
}

static bool launches_cell(const void *context, size_t index, unsigned column,
			  union ncs_parquet_value *cell)
{
	static const uint8_t values[LAUNCHES_END] = {
		[NCS_PARQUET_LAUNCHES_OPERATION] = VALUE_OPERATION,
		[NCS_PARQUET_LAUNCHES_SEQUENCE_NUMBER] = VALUE_NUMBER,
		[NCS_PARQUET_LAUNCHES_OPERATIONS] = VALUE_COUNT,
		[NCS_PARQUET_LAUNCHES_BYTES] = VALUE_BYTES,
	};
	const struct ncs_parquet_cells *cells = context;
	const struct ncs_parquet_row *row = ncs_sorted_row(cells->rows, index);

	if (is_of_rank(column))
		return rank_cell(cells, row, column, cell);
	switch (column) {
	case NCS_PARQUET_LAUNCHES_START_NS:
		return give_number(row->time_ns, cell);
	case NCS_PARQUET_LAUNCHES_START_UTC:
		return give_utc(cells, row, cell);
	case NCS_PARQUET_LAUNCHES_DURATION_NS:
		return give_number(row->duration_ns, cell);
	case NCS_PARQUET_LAUNCHES_TIMING:
		return give_timing(row->timing, cell);
	case NCS_PARQUET_LAUNCHES_FUNCTION:
		return give_text(ncs_function_name(row->function), cell);
	}
	return get(row, values[column], cell);
}

static bool states_cell(const void *context, size_t index, unsigned column,
			union ncs_parquet_value *cell)
{
	static const uint8_t values[STATES_END] = {
		[NCS_PARQUET_STATES_OPERATIONS] = VALUE_BEGUN,
		[NCS_PARQUET_STATES_OPERATIONS_DONE] = VALUE_DONE,
		[NCS_PARQUET_STATES_BYTES] = VALUE_BYTES,
		[NCS_PARQUET_STATES_LAST_SEQUENCE_NUMBER] = VALUE_NUMBER,
		[NCS_PARQUET_STATES_TIMED] = VALUE_TIMED,
		[NCS_PARQUET_STATES_TIMED_NS] = VALUE_TIMED_NS,
	};
	const struct ncs_parquet_cells *cells = context;
	const struct ncs_parquet_row *row = ncs_sorted_row(cells->rows, index);

	if (is_of_rank(column))
		return rank_cell(cells, row, column, cell);
	switch (column) {
	case NCS_PARQUET_STATES_TAKEN_NS:
		return give_number(row->time_ns, cell);
	case NCS_PARQUET_STATES_TAKEN_UTC:
		return give_utc(cells, row, cell);
	case NCS_PARQUET_STATES_FUNCTION:
		return row->function < NCS_FUNCTION_COUNT &&
		       give_text(ncs_function_name(row->function), cell);
	case NCS_PARQUET_STATES_TIMING:
		return give_timing(row->timing, cell);
	}
	return get(row, values[column], cell);
}

ncs_parquet_cell *ncs_parquet_cell_of(enum ncs_parquet_table table)
{
	static ncs_parquet_cell *const cells[NCS_PARQUET_TABLE_COUNT] = {
		[NCS_PARQUET_OPERATIONS] = operations_cell,
		[NCS_PARQUET_STEPS] = steps_cell,
		[NCS_PARQUET_LAUNCHES] = launches_cell,
		[NCS_PARQUET_STATES] = states_cell,
	};

	return cells[table];
}
