/* SPDX-License-Identifier: MIT */
/* The rows and columns of --export=parquet (tables/parquet.def): makes rows of
 * records and states, and cells of rows. Writes nothing. */
#ifndef NCS_RECORD_EXPORT_PARQUET_TABLES_H
#define NCS_RECORD_EXPORT_PARQUET_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/tables/parquet.def"
#include "record/export/export_facts.h"
#include "record/export/parquet_file.h"
#include "record/export/sorted_rows.h"

enum ncs_parquet_table {
#define X(ID, name, help) NCS_PARQUET_##ID,
	NCS_PARQUET_TABLES(X)
#undef X
		NCS_PARQUET_TABLE_COUNT
};

struct ncs_parquet_table_facts {
	const char *name;
	const struct ncs_parquet_column *columns;
	unsigned column_count;
	unsigned sorted_by; /* the column of a row's time */
};

extern const struct ncs_parquet_table_facts
	ncs_parquet_tables[NCS_PARQUET_TABLE_COUNT];

#define NCS_PARQUET_VALUES 11u

/* A row of any of the tables. */
struct ncs_parquet_row {
	uint64_t time_ns; /* the row's place in the order of time */
	uint64_t duration_ns;
	uint64_t values[NCS_PARQUET_VALUES]; /* by table; see the source */
	/* Facts of an operation; may be NULL. */
	const struct ncs_exported_operation *facts;
	uint32_t rank;                       /* in the recording */
	uint16_t known; /* a bit for each of the values */
	uint8_t function;
	uint8_t channel;
	uint8_t timing; /* enum ncs_timing */
	bool send;
};

/* Makes the row of an operation or a step of its record. */
void ncs_parquet_record_row(struct ncs_parquet_row *row, size_t rank,
			    const struct ncs_export_rank *facts,
			    const struct ncs_record *record);

/* Makes the row of the launch that an operation was alone in, of the
 * operation's row and of what else is known of operations. Returns false if the
 * launch is not known. */
bool ncs_parquet_launch_row(struct ncs_parquet_row *row,
			    const struct ncs_parquet_row *operation);

/* Adds an operation's launch to another one of the same rank. Returns false if
 * they are not the same launch; then nothing changed. */
bool ncs_parquet_launch_add(struct ncs_parquet_row *row,
			    const struct ncs_parquet_row *launch);

/* Makes the row of a function at a state. Returns false if the rank does not
 * use it. With NCS_FUNCTION_COUNT makes the row of a rank that uses none. */
bool ncs_parquet_state_row(struct ncs_parquet_row *row, size_t rank,
			   const struct ncs_snapshot *snapshot,
			   unsigned function);

/* The context of ncs_parquet_give_cell(). */
struct ncs_parquet_cells {
	enum ncs_parquet_table table;
	const struct ncs_sorted_rows *rows; /* of struct ncs_parquet_row */
	const struct ncs_export_rank *ranks;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME minus the common time */
};

/* Gives a cell of a row of a table, by the number of its column. */
ncs_parquet_cell ncs_parquet_give_cell;

#endif
