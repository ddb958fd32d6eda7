/* SPDX-License-Identifier: MIT */
/* Rows and cells; see parquet_tables.h. To add a column, add a row to
 * parquet.def and, unless it is one of the row's values, a case below. */
#include "record/export/parquet_tables.h"

#include <assert.h>

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

/* --- Values of rows ------------------------------------------------------ */

/* Places in a row's values, from 1; 0: none. */
enum {
	NO_VALUE,
	VALUE_OPERATION,
	VALUE_BYTES,
	VALUE_PEER,
	VALUE_NUMBER, /* of an operation: its sequence number; of a step */
	VALUE_STANDS_FOR,
	/* In operations: */
	VALUE_TRANSFER,
	VALUE_RANGE,
	VALUE_ROOT,
	VALUE_FIRST_CHILD,
	VALUE_ON_STREAM,
	/* In steps: */
	VALUE_SEND_GPU_WAIT = VALUE_TRANSFER,
	VALUE_SEND_PEER_WAIT,
	VALUE_SEND_WAIT,
	VALUE_RECV_WAIT,
	VALUE_RECV_FLUSH_WAIT,
	VALUE_RECV_GPU_WAIT,
	VALUES_END,
	/* In launches and states: */
	VALUE_COUNT = VALUE_TRANSFER,
	VALUE_DONE,
	VALUE_TIMED,
	VALUE_TIMED_NS,
};
static_assert(VALUES_END - 1 == NCS_PARQUET_VALUES, "all values have a place");

/* A rank that uses no function has one row. */
#define NO_FUNCTION UINT8_MAX

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
	[NCS_FIELD_STEP] = VALUE_NUMBER,
	[NCS_FIELD_STANDS_FOR] = VALUE_STANDS_FOR,
	[NCS_FIELD_TRANSFER_NUMBER] = VALUE_TRANSFER,
	[NCS_FIELD_RANGE] = VALUE_RANGE,
	[NCS_FIELD_ROOT] = VALUE_ROOT,
	[NCS_FIELD_FIRST_CHILD_NS] = VALUE_FIRST_CHILD,
	[NCS_FIELD_ON_STREAM] = VALUE_ON_STREAM,
	[NCS_FIELD_SEND_GPU_WAIT_NS] = VALUE_SEND_GPU_WAIT,
	[NCS_FIELD_SEND_PEER_WAIT_NS] = VALUE_SEND_PEER_WAIT,
	[NCS_FIELD_SEND_WAIT_NS] = VALUE_SEND_WAIT,
	[NCS_FIELD_RECV_WAIT_NS] = VALUE_RECV_WAIT,
	[NCS_FIELD_RECV_FLUSH_WAIT_NS] = VALUE_RECV_FLUSH_WAIT,
	[NCS_FIELD_RECV_GPU_WAIT_NS] = VALUE_RECV_GPU_WAIT,
};

void ncs_parquet_record_row(struct ncs_parquet_row *row, size_t rank,
			    const struct ncs_export_rank *facts,
			    const struct ncs_record *record)
{
	struct ncs_field_value fields[NCS_FIELDS_MAX];
	unsigned count = ncs_record_fields(record, 0, &facts->clock, fields);
	struct ncs_export_span span = ncs_export_rank_span(facts, record);

	*row = (struct ncs_parquet_row){
		.time_ns = span.start_ns,
		.duration_ns = span.end_ns - span.start_ns,
		.rank = (uint32_t)rank,
		.function = record->function,
		.channel = record->channel,
		.timing = NCS_TIMING_COUNT,
		.send = record->flags & NCS_RECORD_SEND,
	};
	for (unsigned i = 0; i < count; i++)
		if (fields[i].kind != NCS_FIELD_NOTHING &&
		    value_of_field[fields[i].field] != NO_VALUE)
			set(row, value_of_field[fields[i].field],
			    fields[i].value);
}

/* --- Rows of launches ---------------------------------------------------- */

static bool is_set(const struct ncs_parquet_row *row, unsigned value)
{
	union ncs_parquet_value cell;

	return get(row, value, &cell) && cell.number != 0;
}

bool ncs_parquet_launch_row(struct ncs_parquet_row *row,
			    const struct ncs_parquet_row *operation)
{
	const struct ncs_exported_operation *facts = operation->facts;

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
		.function = NO_FUNCTION,
		.timing = NCS_TIMING_COUNT,
	};
	if (function >= NCS_FUNCTION_COUNT)
		return true;
	row->function = (uint8_t)function;
	view = &snapshot->functions[function];
	if (!ncs_function_is_used(view))
		return false;
	timing = ncs_function_timing(view);
	row->timing = (uint8_t)timing;
	set(row, VALUE_COUNT, view->operations);
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

/* The cells of all tables: columns of one name have one meaning. */
enum cell {
	CELL_HOST,
	CELL_NODE,
	CELL_JOB_ID,
	CELL_PID,
	CELL_COMMUNICATOR,
	CELL_COMMUNICATOR_ID,
	CELL_NRANKS,
	CELL_RANK,
	CELL_GPU_UUID,
	CELL_START_NS,
	CELL_TAKEN_NS = CELL_START_NS,
	CELL_START_UTC,
	CELL_TAKEN_UTC = CELL_START_UTC,
	CELL_DURATION_NS,
	CELL_FUNCTION,
	CELL_SIZE_BYTES,
	CELL_BUS_BYTES,
	CELL_RANGE,
	CELL_CHANNEL,
	CELL_DIRECTION,
	/* Everything known of an operation by the records of all ranks. */
	CELL_ALGORITHM,
	CELL_PROTOCOL,
	CELL_TIMING,
	CELL_MOVING_FROM_NS,
	CELL_MOVING_UNTIL_NS,
	CELL_MOVING_ERROR_NS,
	/* Those that are values of the row, at this place. */
	CELL_VALUES,
	CELL_OPERATION = CELL_VALUES + VALUE_OPERATION,
	CELL_BYTES = CELL_VALUES + VALUE_BYTES,
	CELL_PEER = CELL_VALUES + VALUE_PEER,
	CELL_SEQUENCE_NUMBER = CELL_VALUES + VALUE_NUMBER,
	CELL_LAST_SEQUENCE_NUMBER = CELL_SEQUENCE_NUMBER,
	CELL_STEP = CELL_SEQUENCE_NUMBER,
	CELL_TRANSFER_NUMBER = CELL_VALUES + VALUE_TRANSFER,
	CELL_ROOT = CELL_VALUES + VALUE_ROOT,
	CELL_FIRST_CHILD_NS = CELL_VALUES + VALUE_FIRST_CHILD,
	CELL_ON_STREAM = CELL_VALUES + VALUE_ON_STREAM,
	CELL_SEND_GPU_WAIT_NS = CELL_VALUES + VALUE_SEND_GPU_WAIT,
	CELL_SEND_PEER_WAIT_NS = CELL_VALUES + VALUE_SEND_PEER_WAIT,
	CELL_SEND_WAIT_NS = CELL_VALUES + VALUE_SEND_WAIT,
	CELL_RECV_WAIT_NS = CELL_VALUES + VALUE_RECV_WAIT,
	CELL_RECV_FLUSH_WAIT_NS = CELL_VALUES + VALUE_RECV_FLUSH_WAIT,
	CELL_RECV_GPU_WAIT_NS = CELL_VALUES + VALUE_RECV_GPU_WAIT,
	CELL_STANDS_FOR = CELL_VALUES + VALUE_STANDS_FOR,
	CELL_OPERATIONS = CELL_VALUES + VALUE_COUNT,
	CELL_OPERATIONS_DONE = CELL_VALUES + VALUE_DONE,
	CELL_TIMED = CELL_VALUES + VALUE_TIMED,
	CELL_TIMED_NS = CELL_VALUES + VALUE_TIMED_NS,
};

#define X(TABLE, ID, name, TYPE, unit, source, help) CELL_##ID,
static const uint8_t cells_of[NCS_PARQUET_TABLE_COUNT][OPERATIONS_END] = {
	[NCS_PARQUET_OPERATIONS] = { NCS_PARQUET_OPERATIONS_COLUMNS(X) },
	[NCS_PARQUET_STEPS] = { NCS_PARQUET_STEPS_COLUMNS(X) },
	[NCS_PARQUET_LAUNCHES] = { NCS_PARQUET_LAUNCHES_COLUMNS(X) },
	[NCS_PARQUET_STATES] = { NCS_PARQUET_STATES_COLUMNS(X) },
};
#undef X

/* Gives a cell of what is known of an operation by the records of all ranks. */
static bool joined_cell(const struct ncs_parquet_row *row, enum cell kind,
			union ncs_parquet_value *cell)
{
	const struct ncs_exported_operation *facts = row->facts;

	if (!facts || !facts->is_joined)
		return false;
	if (kind == CELL_ALGORITHM)
		return facts->algorithm != NCS_ALGORITHM_UNKNOWN &&
		       facts->algorithm != NCS_CLASS_OTHER &&
		       give_text(ncs_algorithm_name(facts->algorithm), cell);
	if (kind == CELL_PROTOCOL)
		return facts->protocol != NCS_PROTOCOL_UNKNOWN &&
		       facts->protocol != NCS_CLASS_OTHER &&
		       give_text(ncs_protocol_name(facts->protocol), cell);
	if (!facts->is_moving)
		return false;
	switch (kind) {
	case CELL_TIMING:
		return facts->moving.timing < NCS_TIMING_COUNT &&
		       give_text(ncs_timing_name(facts->moving.timing), cell);
	case CELL_MOVING_FROM_NS:
		return give_number(facts->moving.begin_ns, cell);
	case CELL_MOVING_UNTIL_NS:
		return give_number(facts->moving.end_ns, cell);
	default:
		return give_number(facts->moving.error_ns, cell);
	}
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

bool ncs_parquet_give_cell(const void *context, size_t index, unsigned column,
			   union ncs_parquet_value *cell)
{
	const struct ncs_parquet_cells *cells = context;
	const struct ncs_parquet_row *row = ncs_sorted_row(cells->rows, index);
	const struct ncs_export_rank *rank = &cells->ranks[row->rank];
	const struct ncs_identity *identity = &rank->identity;
	enum cell kind = cells_of[cells->table][column];

	switch (kind) {
	case CELL_HOST:
		return give_text(rank->host, cell);
	case CELL_NODE:
		return give_text(rank->node ? rank->node : rank->host, cell);
	case CELL_JOB_ID:
		return give_text(rank->job, cell);
	case CELL_PID:
		return give_number(rank->pid, cell);
	case CELL_COMMUNICATOR:
		return identity->known & NCS_KNOWN_COMM_NAME &&
		       give_text(identity->comm_name, cell);
	case CELL_COMMUNICATOR_ID:
		return rank->communicator_id[0] &&
		       give_text(rank->communicator_id, cell);
	case CELL_NRANKS:
		cell->number = (uint64_t)(int64_t)identity->nranks;
		return identity->known & NCS_KNOWN_NRANKS;
	case CELL_RANK:
		cell->number = (uint64_t)(int64_t)identity->rank;
		return identity->known & NCS_KNOWN_RANK;
	case CELL_GPU_UUID:
		return rank->gpu_uuid[0] && give_text(rank->gpu_uuid, cell);
	case CELL_START_NS:
		return give_number(row->time_ns, cell);
	case CELL_START_UTC:
		return give_utc(cells, row, cell);
	case CELL_DURATION_NS:
		return give_number(row->duration_ns, cell);
	case CELL_FUNCTION:
		return row->function != NO_FUNCTION &&
		       give_text(ncs_function_name(row->function), cell);
	case CELL_SIZE_BYTES:
		return get(row, VALUE_BYTES, cell) &&
		       give_number(ncs_size_class_low(
					   ncs_size_class(cell->number)),
				   cell);
	case CELL_BUS_BYTES:
		return bus_bytes_cell(cells, row, cell);
	case CELL_RANGE:
		return get(row, VALUE_RANGE, cell) &&
		       give_text(ncs_export_rank_path(rank, cell->number),
				 cell);
	case CELL_CHANNEL:
		return give_number(row->channel, cell);
	case CELL_DIRECTION:
		return give_text(row->send ? "send" : "recv", cell);
	case CELL_TIMING:
		if (row->timing < NCS_TIMING_COUNT)
			return give_text(ncs_timing_name(row->timing), cell);
		return joined_cell(row, kind, cell);
	case CELL_ALGORITHM:
	case CELL_PROTOCOL:
	case CELL_MOVING_FROM_NS:
	case CELL_MOVING_UNTIL_NS:
	case CELL_MOVING_ERROR_NS:
		return joined_cell(row, kind, cell);
	default:
		return get(row, kind - CELL_VALUES, cell);
	}
}
