/* SPDX-License-Identifier: MIT */
/* Tests of exports: the time and process that are exported, lines of JSON, and
 * the table. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/names.h"
#include "ncclstat/reader.h"
#include "record/export/export.h"
#include "record/export/parquet_tables.h"
#include "record/read/recorded_operations.h"
#include "shm/read/job.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)

struct exported_text {
	char *text;
	size_t size;
	struct ncs_export_result result;
};

static struct ncs_export_request all_as(enum ncs_export_format format)
{
	return (struct ncs_export_request){ .format = format,
					    .until_ns = UINT64_MAX };
}

static void export(const struct recording_fixture *fixture,
		   const struct ncs_export_request *asked,
		   struct exported_text *exported)
{
	struct ncs_export_request request = *asked;
	const char *path = fixture->path;
	struct ncs_recording *recording;
	char why[300];

	assert_int_equal(
		ncs_recording_open(&recording, &path, 1, why, sizeof(why)), 0);
	request.file = open_memstream(&exported->text, &exported->size);
	assert_int_equal(ncs_export(recording, &request, &exported->result), 0);
	fclose(request.file);
	ncs_recording_close(recording);
}

/* --- Lines of JSON ------------------------------------------------------- */

static json_t *line_of(const char *text, size_t line)
{
	json_t *object;

	while (line-- > 0)
		text = strchr(text, '\n') + 1;
	object = json_loadb(text, strcspn(text, "\n"), 0, NULL);
	assert_non_null(object);
	return object;
}

static size_t lines(const struct exported_text *exported)
{
	size_t count = 0;

	for (size_t i = 0; i < exported->size; i++)
		count += exported->text[i] == '\n';
	return count;
}

static uint64_t number(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Begins a recording with one rank and its first state. Returns the rank. */
static size_t begin(struct recording_fixture *fixture)
{
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "/dev/shm/a");
	recording_fixture_state(fixture, rank, 0, 0);
	return rank;
}

/* Writes 100 records, the last of which ends after one second. */
static void make(struct recording_fixture *fixture)
{
	size_t rank;

	rank = begin(fixture);
	recording_fixture_records(fixture, rank, 1, 0, 100, 0, SECOND);
	recording_fixture_end(fixture);
}

UNIT_FIXTURE(recording_fixture_setup, recording_fixture_teardown)

TEST(every_record_is_one_line)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct exported_text exported;
	json_t *line;

	make(*state);
	export(*state, &request, &exported);
	assert_int_equal(exported.result.records, 100);
	assert_int_equal(lines(&exported), 100);
	line = line_of(exported.text, 3);
	assert_string_equal(json_string_value(json_object_get(line, "event")),
			    "proxy_step");
	assert_string_equal(json_string_value(json_object_get(line, "host")),
			    "pod-a");
	assert_int_equal(number(line, "pid"), getpid());
	assert_int_equal(number(line, "rank"), 3);
	assert_int_equal(number(line, "lane"), 1);
	assert_int_equal(number(line, "start_ns"),
			 RECORDING_BEGUN_NS + 30000000);
	assert_int_equal(number(line, "duration_ns"), 10000000);
	assert_int_equal(number(line, "recv_wait_ns"), 10000000);
	assert_int_equal(number(line, "bytes"), 3);
	/* Unknown values are null, not 0. */
	assert_true(json_is_null(json_object_get(line, "communicator")));
	assert_true(json_is_null(json_object_get(line, "communicator_id")));
	assert_true(json_is_null(json_object_get(line, "operation")));
	json_decref(line);
	free(exported.text);
}

TEST(time_range_exports_what_ended_in_it)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct exported_text exported;
	json_t *line;

	make(*state);
	request.from_ns = RECORDING_BEGUN_NS + 200000000;
	request.until_ns = RECORDING_BEGUN_NS + 300000000;
	export(*state, &request, &exported);
	/* The lines are for records that end from the beginning to the end,
	 * both included. */
	assert_int_equal(lines(&exported), 11);
	line = line_of(exported.text, 0);
	assert_int_equal(number(line, "bytes"), 19);
	json_decref(line);
	free(exported.text);
}

TEST(pid_filter_exports_one_process)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct exported_text exported;

	make(*state);
	request.pid = (uint32_t)getpid();
	export(*state, &request, &exported);
	assert_int_equal(lines(&exported), 100);
	free(exported.text);
	request.pid++;
	export(*state, &request, &exported);
	assert_int_equal(lines(&exported), 0);
	free(exported.text);
}

/* Writes a record of an AllReduce into lane 1, which ends `after_ns` after the
 * beginning. Unless `stream` is 0, writes a STREAM record before it. */
static void put_operation(struct recording_fixture *fixture, size_t rank,
			  uint64_t position, uint64_t stream, uint64_t after_ns)
{
	struct ncs_record records[] = {
		{ .event = NCS_EVENT_STREAM, .value = stream },
		{ .event = NCS_EVENT_COLL },
	};
	unsigned first = stream == 0;

	for (unsigned i = first; i < 2; i++) {
		records[i].start = RECORDING_BEGUN_NS + after_ns;
		records[i].position = (uint32_t)(position + i - first);
	}
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, rank, 1, &records[first],
				 2 - first, position, 0,
				 RECORDING_BEGUN_NS + after_ns),
			 0);
}

static void expect_stream(const struct exported_text *exported, size_t line,
			  const char *stream)
{
	json_t *object = line_of(exported->text, line);
	json_t *found = json_object_get(object, "stream");

	assert_non_null(found);
	if (stream)
		assert_string_equal(json_string_value(found), stream);
	else
		assert_true(json_is_null(found));
	json_decref(object);
}

TEST(operation_has_the_stream_that_its_ring_named)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct recording_fixture *fixture = *state;
	struct exported_text exported;
	size_t rank;

	rank = begin(fixture);
	put_operation(fixture, rank, 0, 0, SECOND);
	put_operation(fixture, rank, 1, NCS_RECORD_STREAM(0x7f0012345678),
		      2 * SECOND);
	put_operation(fixture, rank, 3, 0, 3 * SECOND);
	put_operation(fixture, rank, 4, NCS_RECORD_STREAM(NULL), 4 * SECOND);
	recording_fixture_end(fixture);
	export(fixture, &request, &exported);
	/* The ring's stream record is not exported. */
	assert_int_equal(exported.result.records, 4);
	assert_int_equal(lines(&exported), 4);
	expect_stream(&exported, 0, NULL);
	expect_stream(&exported, 1, "0x7f0012345678");
	expect_stream(&exported, 2, "0x7f0012345678");
	expect_stream(&exported, 3, "0x0");
	free(exported.text);
}

TEST(operation_says_whether_its_times_are_from_the_stream)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct recording_fixture *fixture = *state;
	struct ncs_record records[2] = { { .event = NCS_EVENT_COLL },
					 { .event = NCS_EVENT_P2P } };
	struct exported_text exported;
	size_t rank;

	for (unsigned i = 0; i < 2; i++) {
		records[i].start = RECORDING_BEGUN_NS + SECOND;
		records[i].position = i;
		records[i].flags = i ? NCS_RECORD_ON_STREAM : 0;
	}
	rank = begin(fixture);
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, rank, 1, records, 2, 0, 0,
				 RECORDING_BEGUN_NS + SECOND),
			 0);
	recording_fixture_end(fixture);
	export(fixture, &request, &exported);
	for (unsigned i = 0; i < 2; i++) {
		json_t *line = line_of(exported.text, i);
		json_t *found = json_object_get(line, "on_stream");

		assert_true(i ? json_is_true(found) : json_is_false(found));
		json_decref(line);
	}
	free(exported.text);
}

TEST(stream_named_before_the_time_range_still_holds)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_NDJSON);
	struct recording_fixture *fixture = *state;
	struct exported_text exported;
	struct ncs_record records[2] = {
		{ .start = RECORDING_BEGUN_NS + SECOND,
		  .event = NCS_EVENT_STREAM,
		  .value = NCS_RECORD_STREAM(0x10) },
		{ .start = RECORDING_BEGUN_NS + 2 * SECOND,
		  .event = NCS_EVENT_P2P,
		  .position = 1 },
	};
	size_t rank;

	rank = begin(fixture);
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, rank, 1, records, 2, 0, 0,
				 RECORDING_BEGUN_NS + 2 * SECOND),
			 0);
	recording_fixture_end(fixture);
	request.from_ns = RECORDING_BEGUN_NS + 3 * SECOND / 2;
	export(fixture, &request, &exported);
	assert_int_equal(lines(&exported), 1);
	expect_stream(&exported, 0, "0x10");
	free(exported.text);
}

TEST(lost_records_are_counted)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_PERFETTO);
	struct recording_fixture *fixture = *state;
	struct exported_text exported;
	size_t rank;

	rank = begin(fixture);
	recording_fixture_records(fixture, rank, 1, 0, 10, 0, SECOND);
	recording_fixture_records(fixture, rank, 1, 17, 10, 7, SECOND);
	recording_fixture_end(fixture);
	export(fixture, &request, &exported);
	assert_int_equal(exported.result.records, 20);
	assert_int_equal(exported.result.lost, 7);
	free(exported.text);
}

/* --- The table ----------------------------------------------------------- */

/* Adds AllReduces of 4096 bytes, each of 10 µs. */
static void run(struct recording_fixture *fixture, uint64_t count)
{
	struct segment_fixture *segment = fixture->segment;
	struct ncs_histogram *histogram = segment_fixture_histogram(segment, 0);
	struct ncs_class *class =
		segment_fixture_class(segment, NCS_FUNCTION_MAX);

	class->key = NCS_CLASS_KEY(NCS_FUNCTION_ALL_REDUCE,
				   ncs_size_class(4096), NCS_ALGORITHM_RING,
				   NCS_PROTOCOL_LL);
	class->operations += count;
	histogram->key = NCS_HISTOGRAM_KEY(NCS_FUNCTION_MAX, NCS_TIMING_PROXY);
	histogram->buckets[ncs_histogram_bucket(10000)] += count;
	histogram->time_ns += count * 10000;
	histogram->bytes += count * 4096;
	histogram->longest_ns = 10000;
}

/* Returns the cell of a row, counted from 1. The caller frees it. */
static char *cell(const char *text, unsigned row, const char *column)
{
	const char *at = text;
	unsigned place = 0;

	while (strncmp(at, column, strlen(column)) != 0 ||
	       !strchr(",\r", at[strlen(column)])) {
		at = strpbrk(at, ",\n");
		assert_true(at && *at == ',');
		at++;
		place++;
	}
	at = text;
	while (row-- > 0)
		at = strchr(at, '\n') + 1;
	while (place-- > 0)
		at = strchr(at, ',') + 1;
	return strndup(at, strcspn(at, ",\r"));
}

#define assert_cell(text, row, column, expected) \
	do { \
		char *found = cell(text, row, column); \
\
		assert_string_equal(found, expected); \
		free(found); \
	} while (0)

static void make_table(struct recording_fixture *fixture, unsigned last)
{
	size_t rank;

	recording_fixture_begin(fixture, "one");
	rank = recording_fixture_add_rank(fixture, "/dev/shm/a");
	run(fixture, 3);
	recording_fixture_state(fixture, rank, SECOND, 0);
	run(fixture, 4);
	recording_fixture_state(fixture, rank, 2 * SECOND, 0);
	run(fixture, 5);
	recording_fixture_state(fixture, rank, 3 * SECOND, 0);
	recording_fixture_state(fixture, rank, 4 * SECOND, last);
	recording_fixture_end(fixture);
}

TEST(table_has_the_columns_of_nccl_tests)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct exported_text exported;

	make_table(*state, 0);
	export(*state, &request, &exported);
	assert_int_equal(lines(&exported), 2);
	assert_cell(exported.text, 1, "communicator", "");
	assert_cell(exported.text, 1, "nranks", "8");
	assert_cell(exported.text, 1, "rank", "3");
	assert_cell(exported.text, 1, "host", "pod-a");
	assert_cell(exported.text, 1, "function", "AllReduce");
	assert_cell(exported.text, 1, "size_bytes", "4096");
	assert_cell(exported.text, 1, "algorithm", "RING");
	assert_cell(exported.text, 1, "protocol", "LL");
	assert_cell(exported.text, 1, "operations", "12");
	assert_cell(exported.text, 1, "timed", "12");
	assert_cell(exported.text, 1, "timing", "proxy");
	assert_cell(exported.text, 1, "average_bytes", "4096");
	assert_cell(exported.text, 1, "time_avg_us", "10.000");
	assert_cell(exported.text, 1, "time_max_us", "10.000");
	free(exported.text);
}

TEST(table_prefers_times_of_the_stream)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct recording_fixture *fixture = *state;
	struct ncs_histogram *histogram =
		segment_fixture_histogram(fixture->segment, 1);
	struct exported_text exported;

	histogram->key = NCS_HISTOGRAM_KEY(NCS_FUNCTION_MAX, NCS_TIMING_STREAM);
	histogram->buckets[ncs_histogram_bucket(8192)] = 3;
	histogram->time_ns = 3 * 8192;
	histogram->bytes = 3 * 4096;
	make_table(*state, 0);
	export(*state, &request, &exported);
	assert_cell(exported.text, 1, "timed", "3");
	assert_cell(exported.text, 1, "timing", "stream");
	assert_cell(exported.text, 1, "time_avg_us", "8.192");
	free(exported.text);
}

TEST(table_counts_only_the_requested_time)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct exported_text exported;

	make_table(*state, 0);
	request.from_ns = RECORDING_BEGUN_NS + SECOND + SECOND / 2;
	export(*state, &request, &exported);
	assert_cell(exported.text, 1, "operations", "9");
	assert_cell(exported.text, 1, "timed", "9");
	assert_cell(exported.text, 1, "time_avg_us", "10.000");
	free(exported.text);
	request.until_ns = RECORDING_BEGUN_NS + 2 * SECOND;
	export(*state, &request, &exported);
	assert_cell(exported.text, 1, "operations", "4");
	free(exported.text);
	request.from_ns = 0;
	export(*state, &request, &exported);
	assert_cell(exported.text, 1, "operations", "7");
	free(exported.text);
	/* Export a time in which nothing happened. */
	request.from_ns = RECORDING_BEGUN_NS + 3 * SECOND;
	request.until_ns = UINT64_MAX;
	export(*state, &request, &exported);
	assert_int_equal(lines(&exported), 1);
	free(exported.text);
}

TEST(removed_rank_is_in_the_table)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct exported_text exported;

	make_table(*state, NCS_STATE_REMOVED);
	export(*state, &request, &exported);
	assert_cell(exported.text, 1, "operations", "12");
	free(exported.text);
}

TEST(names_are_never_formulas)
{
	static const char *const names[][2] = {
		{ "=1+1", "'=1+1" },     { "+1", "'+1" },  { "-1", "'-1" },
		{ "@sum", "'@sum" },     { "1=1", "1=1" }, { "'=1", "'=1" },
		{ "=a,b", "\"'=a,b\"" },
	};
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct recording_fixture *fixture = *state;
	struct ncs_identity *identity = &fixture->segment->header->identity;
	struct exported_text exported;
	char begin[64];

	identity->known |= NCS_KNOWN_COMM_NAME;
	identity->rank = -3; /* a number stays one */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		strcpy(identity->comm_name, names[i][0]);
		make_table(fixture, 0);
		export(fixture, &request, &exported);
		snprintf(begin, sizeof(begin), "\n%s,", names[i][1]);
		assert_non_null(strstr(exported.text, begin));
		assert_non_null(strstr(exported.text, ",-3,pod-a,"));
		free(exported.text);
	}
}

TEST(names_with_commas_are_quoted)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CSV);
	struct recording_fixture *fixture = *state;
	struct ncs_identity *identity = &fixture->segment->header->identity;
	struct exported_text exported;

	identity->known |= NCS_KNOWN_COMM_NAME;
	strcpy(identity->comm_name, "tp,\"0\"\n");
	make_table(fixture, 0);
	export(fixture, &request, &exported);
	assert_non_null(strstr(exported.text, "\n\"tp,\"\"0\"\"?\","));
	free(exported.text);
}

/* --- Errors -------------------------------------------------------------- */

/* Two operations, one of which is replaced twice; its last record comes before
 * the one that it replaces, as it may from another lane. */
static void write_replaced(const struct recording_fixture *fixture, size_t rank)
{
	struct ncs_record records[5];

	for (unsigned i = 0; i < 5; i++)
		records[i] = (struct ncs_record){
			.start = RECORDING_BEGUN_NS + i * 1000,
			.duration = 500 + 100 * i,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.flags = i == 1 || i == 2 ? NCS_RECORD_AGAIN : 0,
			.operation = i == 4 ? 8 : 7,
			.position = i,
			.number = i == 4 ? 2 : 1,
		};
	records[4].event = NCS_EVENT_PROXY_OP; /* none that is replaced */
	records[4].operation = 7;
	records[0].operation = 8;
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, rank, 1, records, 5, 0, 0,
				 RECORDING_BEGUN_NS + SECOND),
			 0);
}

/* Removes a folder. Returns the number of files that were in it. */
static int remove_files(const char *folder)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	int count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.') {
			assert_int_equal(unlinkat(dirfd(directory),
						  entry->d_name, 0),
					 0);
			count++;
		}
	closedir(directory);
	assert_int_equal(rmdir(folder), 0);
	return count;
}

TEST(replaced_operations_are_in_a_trace_once)
{
	static const uint64_t records[] = {
		[NCS_EXPORT_PERFETTO] = 3,
		[NCS_EXPORT_CHROME] = 3,
		[NCS_EXPORT_NDJSON] = 5,
		[NCS_EXPORT_PARQUET] = 3,
	};
	struct recording_fixture *fixture = *state;
	struct exported_text exported;
	char folder[] = "/tmp/ncclstat-export.XXXXXX";

	assert_non_null(mkdtemp(folder));

	write_replaced(fixture, begin(fixture));
	recording_fixture_end(fixture);
	for (int i = 0; i < NCS_EXPORT_COUNT; i++) {
		struct ncs_export_request request = all_as(i);

		if (i == NCS_EXPORT_CSV)
			continue;
		if (i == NCS_EXPORT_PARQUET)
			request.directory = folder;
		export(fixture, &request, &exported);
		assert_int_equal(exported.result.records, records[i]);
		if (i == NCS_EXPORT_CHROME) {
			assert_non_null(strstr(exported.text, "\"dur\":0.700"));
			assert_null(strstr(exported.text, "\"dur\":0.600"));
			assert_null(strstr(exported.text, "\"dur\":0.800"));
		}
		free(exported.text);
	}
	assert_int_equal(remove_files(folder), NCS_PARQUET_TABLE_COUNT);
}

/* Writes a collective of both ranks of a communicator, of which rank 1 arrives
 * `late_ns` after rank 0. */
static void write_collective(const struct recording_fixture *fixture,
			     const size_t ranks[2], unsigned number,
			     uint64_t late_ns)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t start = RECORDING_BEGUN_NS + number * SECOND / 10 +
				 i * late_ns;
		const struct ncs_record record = {
			.start = start,
			.duration = 5000,
			.delta = { 100, 200 },
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.operation = number + 1,
			.position = number,
			.peer = -1,
			.value = 4096,
			.number = number,
		};

		assert_int_equal(ncs_recording_writer_records(
					 fixture->writer, ranks[i], 1, &record,
					 1, number, 0, start + SECOND),
				 0);
	}
}

static size_t count_words(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		count++;
	}
	return count;
}

/* Begins a recording with both ranks of a communicator. */
static void begin_two(struct recording_fixture *fixture, size_t ranks[2])
{
	recording_fixture_begin(fixture, "one");
	for (unsigned i = 0; i < 2; i++) {
		struct ncs_header header = *ncs_reader_header(fixture->reader);

		header.identity.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK |
					NCS_KNOWN_NRANKS;
		header.identity.comm_id = 77;
		header.identity.rank = (int32_t)i;
		header.identity.nranks = 2;
		assert_int_equal(ncs_recording_writer_add_rank(
					 fixture->writer, &header, NCS_NO_OWNER,
					 i ? "/dev/shm/b" : "/dev/shm/a",
					 &ranks[i]),
				 0);
	}
}

TEST(slices_tell_the_trust_of_their_operation)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CHROME);
	struct recording_fixture *fixture = *state;
	struct exported_text exported;
	size_t ranks[2];

	begin_two(fixture, ranks);
	write_collective(fixture, ranks, 0, 1000);
	write_collective(fixture, ranks, 1, 40000000);
	recording_fixture_end(fixture);
	export(fixture, &request, &exported);
	assert_int_equal(count_words(exported.text, "\"trust\":\"trusted\""),
			 2);
	assert_int_equal(count_words(exported.text,
				     "\"trust\":\"end before arrivals\""),
			 2);
	free(exported.text);
}

/* The parts of a recording, which the critical path takes, have the end that a
 * trace shows, also where the record that has it comes after those of later
 * operations. */
TEST(parts_end_when_a_trace_says_so)
{
	struct ncs_export_request request = all_as(NCS_EXPORT_CHROME);
	struct recording_fixture *fixture = *state;
	const char *path = fixture->path;
	const uint64_t duration_ns = 300000000;
	const struct ncs_record again = {
		.start = RECORDING_BEGUN_NS,
		.duration = duration_ns,
		.delta = { 100, 200 },
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.flags = NCS_RECORD_AGAIN,
		.operation = 1,
		.position = 20,
		.peer = -1,
		.value = 4096,
	};
	const struct ncs_joined *joined;
	struct ncs_recorded_operations *operations;
	struct ncs_recording *recording;
	struct exported_text exported;
	size_t ranks[2];
	char why[300];

	begin_two(fixture, ranks);
	for (unsigned i = 0; i < 20; i++)
		write_collective(fixture, ranks, i, 0);
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, ranks[0], 1, &again, 1, 20, 0,
				 RECORDING_BEGUN_NS + 4 * SECOND),
			 0);
	recording_fixture_end(fixture);
	export(fixture, &request, &exported);
	/* One slice of the operation, with the later end. */
	assert_int_equal(count_words(exported.text, "\"dur\":300000.000"), 1);
	assert_int_equal(count_words(exported.text, "\"dur\":5.000"), 39);
	free(exported.text);
	assert_int_equal(
		ncs_recording_open(&recording, &path, 1, why, sizeof(why)), 0);
	operations = ncs_recorded_operations_open(recording, 0, UINT64_MAX);
	assert_non_null(operations);
	/* The second pass is the same as the first. */
	for (unsigned pass = 0; pass < 2; pass++) {
		unsigned count = 0, later = 0;

		while (ncs_recorded_operations_next(operations, &joined) == 1) {
			count++;
			assert_int_equal(joined->count, 2);
			assert_true(joined->is_complete);
			for (size_t i = 0; i < joined->count; i++) {
				const uint64_t *at_ns = joined->parts[i].at_ns;
				uint64_t took_ns = at_ns[NCS_MOMENT_LAST_END] -
						   at_ns[NCS_MOMENT_OPERATION];

				if (took_ns == duration_ns)
					later++;
				else
					assert_int_equal(took_ns, 5000);
			}
		}
		assert_int_equal(count, 20);
		assert_int_equal(later, 1);
		assert_int_equal(ncs_recorded_operations_rewind(operations), 0);
	}
	ncs_recorded_operations_close(operations);
	ncs_recording_close(recording);
}

TEST(full_disk_is_an_error_in_every_format)
{
	struct recording_fixture *fixture = *state;
	const char *path = fixture->path;
	struct ncs_recording *recording;
	char why[300];

	make_table(fixture, 0);
	assert_int_equal(
		ncs_recording_open(&recording, &path, 1, why, sizeof(why)), 0);
	for (int i = 0; i < NCS_EXPORT_COUNT; i++) {
		struct ncs_export_request request = all_as(i);
		struct ncs_export_result result;

		/* test/ui/parquet.sh lets files grow too large. */
		if (i == NCS_EXPORT_PARQUET)
			continue;
		request.file = fopen("/dev/full", "w");
		/* Without records, nothing would be written as lines of
		 * JSON. */
		assert_int_equal(ncs_export(recording, &request, &result),
				 i == NCS_EXPORT_NDJSON ? 0 : -ENOSPC);
		fclose(request.file);
	}
	ncs_recording_close(recording);
}
