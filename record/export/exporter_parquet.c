/* SPDX-License-Identifier: MIT */
/* Exports tables as Parquet: a file for each host and table. Each is written
 * under a name of its own and renamed when it is whole, so that no reader sees
 * a part of one. Must not know the columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "record/export/exporter.h"
#include "record/export/parquet_tables.h"

/* Rows that all hosts together keep to sort them, and that a host keeps at
 * least and at most; half of them become a row group. */
#define ROWS_ALL ((size_t)1 << 20)
#define ROWS_LEAST ((size_t)1 << 15)
#define ROWS_MOST ((size_t)1 << 18)

/* The states of a rank come before those of the next one. */
#define STATE_ROWS_MOST NCS_PARQUET_ROWS_MAX

#define NAME_BYTES 200u

struct parquet_export;

/* A table of a host. */
struct host_table {
	struct parquet_export *export;
	enum ncs_parquet_table table;
	struct ncs_sorted_rows rows;
	struct ncs_parquet_file *file;
	char *path; /* of the file, once it is whole */
};

struct parquet_host {
	char name[NAME_BYTES]; /* of its files; "" if it has none */
	struct host_table tables[NCS_PARQUET_TABLE_COUNT];
};

struct parquet_export {
	const struct ncs_exporter *exporter;
	struct parquet_host *hosts; /* by host of the recording */
	size_t host_count;
	/* By rank: the latest; one that knows nothing is none. */
	struct ncs_parquet_row *launches;
};

static size_t host_of(const struct parquet_export *own, size_t rank)
{
	return ncs_recording_rank(own->exporter->recording, rank)->host;
}

/* --- Names --------------------------------------------------------------- */

/* Makes a file's name of a host's: what may not be in one becomes '_'. */
static void make_name(char name[NAME_BYTES], const char *host)
{
	size_t length = 0;

	for (; *host && length < NAME_BYTES - 16; host++) {
		bool is_plain = (*host >= 'a' && *host <= 'z') ||
				(*host >= 'A' && *host <= 'Z') ||
				(*host >= '0' && *host <= '9') ||
				*host == '-' || *host == '_' ||
				(*host == '.' && length > 0);

		name[length++] = is_plain ? *host : '_';
	}
	if (length == 0)
		name[length++] = '_';
	name[length] = '\0';
}

static bool is_taken(const struct parquet_export *own, size_t host)
{
	for (size_t i = 0; i < own->host_count; i++)
		if (i != host &&
		    strcmp(own->hosts[i].name, own->hosts[host].name) == 0)
			return true;
	return false;
}

/* Names the files of a host; hosts of one name get numbers. */
static void name_host(struct parquet_export *own, size_t host)
{
	char *name = own->hosts[host].name;
	size_t length;

	make_name(name, ncs_recording_host(own->exporter->recording, host)
				->name);
	length = strlen(name);
	for (unsigned i = 2; is_taken(own, host); i++) {
		name[length] = '\0';
		ncs_append(name, NAME_BYTES, "-%u", i);
	}
}

/* --- Files --------------------------------------------------------------- */

#define PART ".part"

/* Writes rows that are in order: a row group. */
static int write_rows(const struct host_table *table,
		      const struct ncs_sorted_rows *rows, size_t count)
{
	const struct parquet_export *own = table->export;
	const struct ncs_parquet_cells cells = {
		.table = table->table,
		.rows = rows,
		.ranks = own->exporter->ranks,
		.realtime_offset_ns = own->exporter->base.realtime_offset_ns,
	};

	return ncs_parquet_write(table->file, count, ncs_parquet_give_cell,
				 &cells);
}

static int add_row(struct parquet_export *own, enum ncs_parquet_table table,
		   const struct ncs_parquet_row *row)
{
	struct parquet_host *host = &own->hosts[host_of(own, row->rank)];

	return ncs_sorted_rows_add(&host->tables[table].rows, row);
}

/* Adds the rank's latest launch to the table. */
static int end_launch(struct parquet_export *own, size_t rank)
{
	return own->launches[rank].known == 0 ?
		       0 :
		       add_row(own, NCS_PARQUET_LAUNCHES, &own->launches[rank]);
}

static int take_launch(struct parquet_export *own,
		       const struct ncs_parquet_row *operation)
{
	size_t rank = operation->rank;
	struct ncs_parquet_row launch;
	int error;

	if (!ncs_parquet_launch_row(&launch, operation) ||
	    (own->launches[rank].known != 0 &&
	     ncs_parquet_launch_add(&own->launches[rank], &launch)))
		return 0;
	error = end_launch(own, rank);
	own->launches[rank] = launch;
	return error;
}

/* Takes rows of a table that are in order. The launches are known now, as all
 * that belongs to these operations has been read. */
static int take_rows(void *context, const struct ncs_sorted_rows *rows,
		     size_t count)
{
	struct host_table *table = context;
	int error = 0;

	for (size_t i = 0; table->table == NCS_PARQUET_OPERATIONS &&
			   i < count && !error;
	     i++)
		error = take_launch(table->export, ncs_sorted_row(rows, i));
	return error ? error : write_rows(table, rows, count);
}

static int open_table(struct parquet_export *own, struct parquet_host *host,
		      enum ncs_parquet_table kind)
{
	const struct ncs_parquet_table_facts *facts = &ncs_parquet_tables[kind];
	struct host_table *table = &host->tables[kind];
	char path[4096] = "";
	size_t rows_max = ROWS_ALL / own->host_count;

	if (rows_max < ROWS_LEAST)
		rows_max = ROWS_LEAST;
	if (rows_max > ROWS_MOST)
		rows_max = ROWS_MOST;
	*table = (struct host_table){
		.export = own,
		.table = kind,
		.rows = { .row_bytes = sizeof(struct ncs_parquet_row),
			  .rows_max = kind == NCS_PARQUET_STATES ?
					      STATE_ROWS_MOST :
					      rows_max,
			  .take = take_rows,
			  .context = table },
	};
	ncs_append(path, sizeof(path), "%s/%s.%s.parquet",
		   own->exporter->request->directory, host->name, facts->name);
	if (strlen(path) + sizeof(PART) >= sizeof(path))
		return -ENAMETOOLONG;
	table->path = strdup(path);
	if (!table->path)
		return -ENOMEM;
	ncs_append(path, sizeof(path), PART);
	return ncs_parquet_open(&table->file, path, facts->columns,
				facts->column_count, facts->sorted_by);
}

/* Closes the table's file, and gives it its name if it is whole. */
static int close_table(struct host_table *table, bool is_whole)
{
	char path[4096] = "";
	int error;

	ncs_sorted_rows_release(&table->rows);
	if (!table->file) {
		free(table->path);
		return 0;
	}
	error = ncs_parquet_close(table->file, is_whole);
	ncs_append(path, sizeof(path), "%s" PART, table->path);
	if (is_whole && !error && rename(path, table->path) != 0)
		error = -errno;
	if (!is_whole || error)
		unlink(path);
	free(table->path);
	return error;
}

/* --- The export ---------------------------------------------------------- */

static int open_hosts(struct parquet_export *own)
{
	int error = 0;

	for (size_t i = 0; i < own->exporter->rank_count && !error; i++) {
		size_t number = host_of(own, i);
		struct parquet_host *host = &own->hosts[number];

		if (!ncs_exporter_wants(own->exporter, i) || host->name[0])
			continue;
		name_host(own, number);
		for (unsigned k = 0; k < NCS_PARQUET_TABLE_COUNT && !error; k++)
			error = open_table(own, host,
					   (enum ncs_parquet_table)k);
	}
	return error;
}

static int begin(struct ncs_exporter *exporter)
{
	const struct ncs_export_request *request = exporter->request;
	struct parquet_export *own;

	if (!request->directory)
		return -EINVAL;
	own = calloc(1, sizeof(*own));
	exporter->own = own;
	if (!own)
		return -ENOMEM;
	own->exporter = exporter;
	own->host_count = ncs_recording_host_count(exporter->recording);
	own->hosts = calloc(own->host_count + 1, sizeof(*own->hosts));
	own->launches =
		calloc(exporter->rank_count + 1, sizeof(*own->launches));
	if (!own->hosts || !own->launches)
		return -ENOMEM;
	if (mkdir(request->directory, 0777) != 0 && errno != EEXIST)
		return -errno;
	return open_hosts(own);
}

static int take_state(struct ncs_exporter *exporter, size_t rank,
		      const struct ncs_snapshot *snapshot, bool is_last)
{
	struct parquet_export *own = exporter->own;
	struct ncs_parquet_row row;
	bool is_used = false;
	int error = 0;

	(void)is_last;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT && !error; i++) {
		if (!ncs_parquet_state_row(&row, rank, snapshot, i))
			continue;
		is_used = true;
		error = add_row(own, NCS_PARQUET_STATES, &row);
	}
	if (error || is_used)
		return error;
	ncs_parquet_state_row(&row, rank, snapshot, NCS_FUNCTION_COUNT);
	return add_row(own, NCS_PARQUET_STATES, &row);
}

static int take_record(struct ncs_exporter *exporter, size_t rank,
		       unsigned lane, uint64_t stream,
		       const struct ncs_record *record)
{
	struct parquet_export *own = exporter->own;
	struct ncs_parquet_row row;

	(void)lane;
	(void)stream;
	switch (record->event) {
	case NCS_EVENT_COLL:
	case NCS_EVENT_P2P:
		ncs_parquet_record_row(&row, rank, &exporter->ranks[rank],
				       record);
		if (record->operation != 0) {
			row.facts = ncs_operation_table_take(
				&exporter->operations, rank, record->operation);
			if (!row.facts)
				return -ENOMEM;
		}
		return add_row(own, NCS_PARQUET_OPERATIONS, &row);
	case NCS_EVENT_PROXY_STEP:
		ncs_parquet_record_row(&row, rank, &exporter->ranks[rank],
				       record);
		return add_row(own, NCS_PARQUET_STEPS, &row);
	case NCS_EVENT_KERNEL_CH:
		return ncs_operation_table_kernel(&exporter->operations, rank,
						  &exporter->ranks[rank],
						  record);
	}
	return 0;
}

static int flush(struct parquet_export *own, enum ncs_parquet_table table)
{
	int error = 0;

	for (size_t i = 0; i < own->host_count && !error; i++)
		if (own->hosts[i].name[0])
			error = ncs_sorted_rows_flush(
				&own->hosts[i].tables[table].rows);
	return error;
}

/* Writes all rows that are left. */
static int finish(struct parquet_export *own)
{
	int error = flush(own, NCS_PARQUET_OPERATIONS);

	for (size_t i = 0; i < own->exporter->rank_count && !error; i++)
		error = end_launch(own, i);
	for (unsigned i = 0; i < NCS_PARQUET_TABLE_COUNT && !error; i++)
		error = flush(own, (enum ncs_parquet_table)i);
	return error;
}

static int end(struct ncs_exporter *exporter)
{
	struct parquet_export *own = exporter->own;
	int error;

	if (!own)
		return 0;
	error = exporter->has_failed ? 0 : finish(own);
	for (size_t i = 0; own->hosts && i < own->host_count; i++) {
		for (unsigned k = 0; k < NCS_PARQUET_TABLE_COUNT; k++) {
			int one = close_table(&own->hosts[i].tables[k],
					      !exporter->has_failed && !error);

			error = error ? error : one;
		}
	}
	free(own->launches);
	free(own->hosts);
	free(own);
	return error;
}

const struct ncs_exporter_functions ncs_exporter_parquet = {
	.joins_operations = true,
	.begin = begin,
	.state = take_state,
	.record = take_record,
	.end = end,
};
