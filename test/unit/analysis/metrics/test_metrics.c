/* SPDX-License-Identifier: MIT */
/* Metrics as text: names, escapes, numbers, what is left out, and counters that
 * do not fall. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/metrics.h"
#include "ncclstat/names.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define NOW (UINT64_C(1000) * SECOND)

static struct ncs_metrics metrics;
static char *text;

static int setup(void **state)
{
	ncs_metrics_init(&metrics);
	return scripted_setup(state);
}

static int teardown(void **state)
{
	ncs_metrics_release(&metrics);
	free(text);
	text = NULL;
	return scripted_teardown(state);
}

/* Makes the text of the latest look. */
static void print_findings(struct scripted *scripted,
			   enum ncs_metric_format format,
			   const struct ncs_diagnosis *diagnosis)
{
	const struct ncs_metrics_look look = {
		.realtime_ns = UINT64_C(1700000000) * SECOND,
		.took_ns = 12345678,
	};
	size_t size = 0;
	FILE *file;

	free(text);
	text = NULL;
	file = open_memstream(&text, &size);
	assert_non_null(file);
	assert_int_equal(ncs_metrics_write(&metrics, file, format,
					   &scripted->model, diagnosis, &look),
			 0);
	assert_int_equal(fclose(file), 0);
}

/* Looks at the scripted ranks at `now_ns`, and makes the text. */
static void print_at(struct scripted *scripted, enum ncs_metric_format format,
		     uint64_t now_ns)
{
	struct ncs_diagnosis diagnosis;

	scripted_pass(scripted, now_ns);
	ncs_diagnosis_init(&diagnosis);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	print_findings(scripted, format, &diagnosis);
	ncs_diagnosis_release(&diagnosis);
}

static void print(struct scripted *scripted, enum ncs_metric_format format)
{
	print_at(scripted, format, NOW);
}

/* Returns how many lines begin with these words. */
static unsigned count_lines(const char *begin)
{
	unsigned count = 0;

	for (const char *line = text; *line;
	     line += strcspn(line, "\n") + 1)
		count += strncmp(line, begin, strlen(begin)) == 0;
	return count;
}

static void assert_line(const char *line)
{
	char wanted[1024];

	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	if (!strstr(text, wanted))
		fail_msg("no line %s in\n%s", line, text);
}

static struct scripted_rank *add(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = scripted_add(scripted, number);
	struct ncs_identity *identity = &rank->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_ID;
	identity->comm_id = 0xabcdef;
	strcpy(rank->header.host, "node7");
	rank->snapshot.last_call_ns = NOW - 3 * SECOND / 2;
	return rank;
}

static struct ncs_function_view *function_of(struct scripted_rank *rank)
{
	return &rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];
}

#define COMM "comm=\"0000000000abcdef\",comm_name=\"\",job_id=\"\""
#define NODE COMM ",node=\"node7\""
#define RANK0 "{" NODE ",rank=\"0\""
#define ALL_REDUCE0 RANK0 ",func=\"AllReduce\""

/* --- The table ------------------------------------------------------------ */

static bool has_end(const char *name, const char *end)
{
	return strlen(name) > strlen(end) &&
	       strcmp(name + strlen(name) - strlen(end), end) == 0;
}

TEST_WITH(names_of_the_table_follow_the_rules, NULL, NULL)
{
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++) {
		const struct ncs_metric_row *row = &ncs_metric_rows[i];
		const char *unit = ncs_metric_units[row->unit];
		bool counts = row->type == NCS_METRIC_TYPE_COUNTER;
		char name[128];

		assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(row->name));
		assert_int_equal(has_end(row->name, "_total"), counts);
		assert_int_equal(has_end(row->name, "_info"),
				 row->type == NCS_METRIC_TYPE_INFO);
		snprintf(name, sizeof(name), "%.*s",
			 (int)(strlen(row->name) - (counts ? 6 : 0)),
			 row->name);
		if (unit[0])
			assert_true(has_end(name, unit));
		assert_null(strpbrk(row->help, "\\\n"));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(row->name,
						ncs_metric_rows[k].name);
	}
}

TEST_WITH(sets_are_parsed, NULL, NULL)
{
	uint64_t set = ncs_metrics_default();
	char wrong[32];

	assert_true(ncs_metrics_parse("calls_total,-ncclstat_rank_info", &set,
				      wrong, sizeof(wrong)));
	assert_int_equal(set, (ncs_metrics_default() |
			       NCS_METRIC_BIT(NCS_METRIC_CALLS)) &
				      ~NCS_METRIC_BIT(NCS_METRIC_RANK_INFO));
	set = 0;
	assert_true(ncs_metrics_parse("all", &set, wrong, sizeof(wrong)));
	for (unsigned i = 0; i < NCS_METRIC_COUNT; i++)
		assert_true(set & NCS_METRIC_BIT(i));
	assert_false(ncs_metrics_parse("segments,x", &set, wrong,
				       sizeof(wrong)));
	assert_string_equal(wrong, "x");
	assert_false(ncs_metrics_parse("", &set, wrong, sizeof(wrong)));
}

/* --- The text ------------------------------------------------------------- */

UNIT_FIXTURE(setup, teardown)

TEST(without_ranks_there_are_own_metrics)
{
	print(*state, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_segments{state=\"attached\"} 0");
	assert_line("ncclstat_lost_total{reason=\"stale\"} 0");
	assert_line("ncclstat_collect_seconds 0.012345678");
	assert_line("ncclstat_series_left_out 0");
	assert_int_equal(count_lines("ncclstat_rank"), 0);
	assert_int_equal(count_lines("# TYPE ncclstat_rank"), 0);
	assert_string_equal(text + strlen(text) - 7, "\n# EOF\n");
}

TEST(heads_are_those_of_the_format)
{
	struct scripted *scripted = *state;

	function_of(add(scripted, 0))->operations = 3;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("# TYPE ncclstat_rank info");
	assert_line("# TYPE ncclstat_operations counter");
	assert_line("# UNIT ncclstat_message_bytes bytes");
	assert_line("ncclstat_operations_total" ALL_REDUCE0 "} 3");
	print(scripted, NCS_METRICS_PROMETHEUS);
	assert_line("# TYPE ncclstat_rank_info gauge");
	assert_line("# TYPE ncclstat_operations_total counter");
	assert_line("ncclstat_operations_total" ALL_REDUCE0 "} 3");
	assert_int_equal(count_lines("# UNIT"), 0);
	assert_int_equal(count_lines("# EOF"), 0);
}

TEST(hostile_names_are_escaped)
{
	struct scripted *scripted = *state;
	struct ncs_identity *identity = &add(scripted, 0)->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_NAME | NCS_KNOWN_GPU;
	strcpy(identity->comm_name, "a\"} 1\n\\x\xff\x1b[31m{,=");
	strcpy(identity->gpu, "0000:8d:00.0");
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_non_null(strstr(text, ",comm_name=\"a\\\"} 1?\\\\x??[31m{,=\","));
	assert_non_null(strstr(text, ",pci_bus_id=\"00000000:8D:00.0\","));
	assert_int_equal(count_lines("ncclstat_rank_info{"), 1);
}

TEST(names_that_users_choose_can_be_left_out)
{
	static const char *const labels[] = { "job_id", "job_step", "job_rank",
					      "pod", "namespace", "comm_name" };
	struct scripted *scripted = *state;
	struct ncs_range_view range = { .number = 1,
					.name = "SECRET",
					.calls = 1,
					.operations = 1,
					.with_children = 1 };

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_NAME;
		strcpy(rank->snapshot.identity.comm_name, "SECRET");
		rank->labels = "job_id=SECRET\0job_step=SECRET\0"
			       "job_rank=SECRET\0pod=SECRET\0"
			       "namespace=SECRET\0";
		rank->snapshot.ranges = &range;
		rank->snapshot.range_count = 1;
		function_of(rank)->operations = 1;
	}
	strcpy(scripted->ranks[1].header.host, "SECRET");
	metrics.wanted = NCS_METRIC_BIT(NCS_METRIC_COUNT) - 1;
	print(scripted, NCS_METRICS_OPENMETRICS);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		char label[40];

		snprintf(label, sizeof(label), ",%s=\"SECRET\"", labels[i]);
		assert_non_null(strstr(text, label));
	}
	assert_non_null(strstr(text, ",node=\"SECRET\""));
	assert_int_equal(count_lines("ncclstat_range_operations_total{"), 2);
	assert_int_equal(count_lines("ncclstat_range_busy_seconds_total{"), 2);
	metrics.hides_names = true;
	strcpy(metrics.host, "node7");
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_null(strstr(text, "SECRET"));
	assert_int_equal(count_lines("ncclstat_rank_info{"), 2);
	assert_non_null(strstr(text, ",node=\"node7\""));
	assert_non_null(strstr(text, ",node=\"\""));
	assert_int_equal(count_lines("ncclstat_operations_total{"), 2);
	assert_int_equal(count_lines("ncclstat_range"), 0);
}

static struct scripted_rank *add_world(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = add(scripted, number);

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_NAME;
	strcpy(rank->snapshot.identity.comm_name, "world");
	rank->labels = "job_id=77\0";
	return rank;
}

TEST(all_series_of_ranks_tell_their_job_and_communicator)
{
	static const char names[] = "{comm=\"0000000000abcdef\","
				    "comm_name=\"world\",job_id=\"77\"";
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add_world(scripted, 0);
	struct ncs_function_view *function = function_of(rank);
	unsigned count = 0;

	function->operations = function->timed[NCS_TIMING_STREAM] = 1;
	scripted_channel(rank, 0, true, 1);
	metrics.wanted = NCS_METRIC_BIT(NCS_METRIC_COUNT) - 1;
	print(scripted, NCS_METRICS_OPENMETRICS);
	for (const char *at = text; (at = strstr(at, "{comm=")); at++, count++)
		if (strncmp(at, names, strlen(names)) != 0)
			fail_msg("no %s in %.200s", names, at);
	assert_in_range(count, 15, 100);
	assert_int_equal(count_lines("ncclstat_communicator_size"), 1);
}

TEST(a_rank_that_is_not_seen_has_the_job_of_its_communicator)
{
	struct scripted *scripted = *state;
	struct ncs_node node = { .name = "node8" };
	struct ncs_finding finding = {
		.verdict = NCS_VERDICT_RANK_MISSING,
		.severity = NCS_SEVERITY_STUCK,
		.call = ncs_no_call,
		.duration_ns = SECOND,
	};
	const struct ncs_diagnosis diagnosis = { .findings = &finding,
						 .count = 1 };

	add_world(scripted, 0);
	print(scripted, NCS_METRICS_OPENMETRICS);
	finding.root = (struct ncs_party){
		.communicator = scripted->model.communicators, .number = 5
	};
	print_findings(scripted, NCS_METRICS_OPENMETRICS, &diagnosis);
#define FOUND(node) \
	"ncclstat_finding_seconds{comm=\"0000000000abcdef\"," \
	"comm_name=\"world\",job_id=\"77\",node=\"" node "\",rank=\"5\"," \
	"verdict=\"rank_missing\",severity=\"stuck\"," \
	"confidence=\"certain\",func=\"\"} 1.000000000"
	assert_line(FOUND(""));
	finding.node = &node;
	print_findings(scripted, NCS_METRICS_OPENMETRICS, &diagnosis);
	assert_line(FOUND("node8"));
	finding.root = (struct ncs_party){ .number = -1 };
	print_findings(scripted, NCS_METRICS_OPENMETRICS, &diagnosis);
	assert_int_equal(count_lines("ncclstat_finding_seconds{comm=\"\","
				     "comm_name=\"\",job_id=\"\","
				     "node=\"node8\",rank=\"\""),
			 1);
}

TEST(longest_names_fit)
{
	struct scripted *scripted = *state;
	struct ncs_identity *identity = &add(scripted, 0)->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_NAME;
	memset(identity->comm_name, '"', sizeof(identity->comm_name) - 1);
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_rank_info{"), 1);
	assert_line("ncclstat_series_left_out 0");
}

TEST(times_have_all_digits)
{
	struct scripted *scripted = *state;
	struct ncs_function_view *function = function_of(add(scripted, 0));

	function->operations = function->timed[NCS_TIMING_KERNEL] =
		UINT64_C(9007199254740993);
	function->time_ns[NCS_TIMING_KERNEL] = 12 * SECOND + 345;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_operation_seconds_count" ALL_REDUCE0
		    ",timing=\"kernel\"} 9007199254740993");
	assert_line("ncclstat_operation_seconds_sum" ALL_REDUCE0
		    ",timing=\"kernel\"} 12.000000345");
	assert_line("ncclstat_rank_last_call_timestamp_seconds" RANK0
		    "} 1699999998.500000000");
}

TEST(unknown_values_are_left_out)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	struct ncs_function_view *function = function_of(rank);

	function->operations = 5;
	function->size_unknown = 1;
	rank->snapshot.identity.known &= ~(uint64_t)NCS_KNOWN_NRANKS;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_operations_total"), 1);
	assert_int_equal(count_lines("ncclstat_operations_done_total"), 0);
	assert_int_equal(count_lines("ncclstat_message_bytes_total"), 0);
	assert_int_equal(count_lines("ncclstat_sequence_number"), 0);
	assert_int_equal(count_lines("ncclstat_communicator_size"), 0);
	assert_int_equal(count_lines("ncclstat_proxy_seconds_total"), 0);
	assert_int_equal(count_lines("ncclstat_oldest_operation_seconds"), 0);
	assert_int_equal(count_lines("ncclstat_oldest_wait_seconds"), 0);
	assert_non_null(strstr(text, ",nranks=\"\","));
	function->last_sequence_number = 0;
	function->operations_done = 5;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_sequence_number" ALL_REDUCE0 "} 0");
	assert_line("ncclstat_oldest_operation_seconds" RANK0 "} 0.000000000");
}

TEST(an_unknown_communicator_has_a_name_of_its_own)
{
	struct scripted *scripted = *state;

	strcpy(scripted_add(scripted, 0)->id, "x/ncclstat.100.7.4");
	strcpy(scripted_add(scripted, 0)->id, "x/ncclstat.100.7.5");
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_rank_alive{comm=\"~100.4\","),
			 1);
	assert_int_equal(count_lines("ncclstat_rank_alive{comm=\"~100.5\","),
			 1);
	assert_line("ncclstat_segments{state=\"duplicate\"} 0");
}

/* --- Sums ----------------------------------------------------------------- */

TEST(classes_are_summed_over_ranks)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i);
		struct ncs_class_view *view = scripted_class(
			rank, NCS_FUNCTION_ALL_REDUCE, 4096,
			NCS_ALGORITHM_RING, NCS_PROTOCOL_LL128);

		view->operations = 10;
		function_of(rank)->operations = 10;
		scripted_class_times(rank, view, NCS_TIMING_STREAM, 10, SECOND,
				     80);
	}
	print(scripted, NCS_METRICS_OPENMETRICS);
#define CLASS \
	"{" NODE ",func=\"AllReduce\",size=\"4096\"," \
	"algo=\"RING\",proto=\"LL128\",timing=\"stream\"} "
	assert_line("ncclstat_class_operations_total" CLASS "20");
	assert_line("ncclstat_class_seconds_total" CLASS "20.000000000");
	/* 2 · 80 bytes · 2 · 7 / 8 */
	assert_line("ncclstat_class_bus_bytes_total" CLASS "280");
	/* A rank that leaves takes nothing back. */
	scripted->ranks[1].is_there = false;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_class_operations_total" CLASS "20");
	assert_int_equal(count_lines("ncclstat_rank_alive"), 1);
	/* Without a rank the communicator has none. */
	scripted->ranks[0].is_there = false;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_class"), 0);
}

TEST(a_histogram_is_cumulative)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	struct ncs_function_view *function = function_of(rank);
	uint64_t *buckets = scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE,
					       NCS_TIMING_STREAM);

	function->operations = function->timed[NCS_TIMING_STREAM] = 7;
	function->time_ns[NCS_TIMING_STREAM] = SECOND;
	buckets[ncs_histogram_bucket(16383)] = 1;
	buckets[ncs_histogram_bucket(16384)] = 2; /* an edge counts above */
	buckets[NCS_HISTOGRAM_BUCKETS - 1] = 4;
	print(scripted, NCS_METRICS_OPENMETRICS);
#define TIMES(end, le) \
	"ncclstat_operation_duration_seconds" end RANK0 "," \
	"func=\"AllReduce\",timing=\"stream\"" le "} "
	assert_line(TIMES("_bucket", ",le=\"1.6384e-05\"") "1");
	assert_line(TIMES("_bucket", ",le=\"3.2768e-05\"") "3");
	assert_line(TIMES("_bucket", ",le=\"0.000131072\"") "3");
	assert_line(TIMES("_bucket", ",le=\"8.589934592\"") "3");
	assert_line(TIMES("_bucket", ",le=\"+Inf\"") "7");
	assert_line(TIMES("_count", "") "7");
	assert_line(TIMES("_sum", "") "1.000000000");
	assert_int_equal(
		count_lines("ncclstat_operation_duration_seconds_bucket"),
		NCS_METRIC_EDGES + 1);
}

TEST(nine_peers_are_eight_and_others)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);

	for (int peer = 8; peer > 0; peer--)
		scripted_channel(rank, 0, true, peer)->bytes = 10;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_peer_sent_bytes_total"), 8);
	/* A ninth, before the others: they keep their names. */
	rank->channels[0].peer = 0;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_peer_sent_bytes_total" RANK0
		    ",peer=\"other\"} 10");
	assert_line("ncclstat_peer_sent_bytes_total" RANK0 ",peer=\"7\"} 10");
	assert_int_equal(count_lines("ncclstat_peer_sent_bytes_total"), 8);
}

TEST(a_receiver_waits_for_its_peer)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);

	scripted_channel(rank, 0, false, 3)->time_ns[NCS_CHANNEL_RECV_WAIT] =
		SECOND;
	scripted_channel(rank, 1, false, 3)->time_ns[NCS_CHANNEL_RECV_WAIT] =
		SECOND;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_peer_wait_seconds_total" RANK0
		    ",peer=\"3\",state=\"recv_wait\"} 2.000000000");
	assert_int_equal(count_lines("ncclstat_peer_wait_seconds_total"), 1);
	assert_int_equal(count_lines("ncclstat_peer_sent_bytes_total"), 0);
}

/* --- Over time ------------------------------------------------------------ */

TEST(counters_do_not_fall)
{
	struct scripted *scripted = *state;
	struct ncs_function_view *function = function_of(add(scripted, 0));

	function->operations = function->operations_done = 10;
	print(scripted, NCS_METRICS_OPENMETRICS);
	function->operations_done = 9; /* one was reopened */
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_operations_done_total" ALL_REDUCE0 "} 10");
	function->operations_done = 11;
	print(scripted, NCS_METRICS_PROMETHEUS);
	assert_line("ncclstat_operations_done_total" ALL_REDUCE0 "} 11");
}

TEST(losses_of_ranks_that_left_still_count)
{
	struct scripted *scripted = *state;

	add(scripted, 0)->snapshot.losses[NCS_LOSS_STALE] = 4;
	add(scripted, 1)->snapshot.losses[NCS_LOSS_STALE] = 5;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_lost_total{reason=\"stale\"} 9");
	scripted->ranks[0].is_there = false;
	scripted->ranks[1].is_there = false;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_lost_total{reason=\"stale\"} 9");
	assert_int_equal(count_lines("ncclstat_lost_total{reason=\"overw"), 0);
}

TEST(the_dead_stay_ten_minutes)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);

	function_of(rank)->operations = 1;
	rank->snapshot.liveness = NCS_DEAD;
	rank->snapshot.last_call_ns = NOW;
	print_at(scripted, NCS_METRICS_OPENMETRICS, NOW + 600 * SECOND);
	assert_line("ncclstat_rank_alive" RANK0 "} 0");
	assert_int_equal(count_lines("ncclstat_rank_info"), 1);
	assert_int_equal(count_lines("ncclstat_oldest"), 0);
	print_at(scripted, NCS_METRICS_OPENMETRICS, NOW + 601 * SECOND);
	assert_int_equal(count_lines("ncclstat_rank"), 0);
	assert_int_equal(count_lines("ncclstat_operations_total"), 0);
}

TEST(the_finished_leave)
{
	struct scripted *scripted = *state;

	add(scripted, 0)->snapshot.liveness = NCS_FINISHED;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_rank"), 0);
	assert_line("ncclstat_segments{state=\"attached\"} 1");
}

/* A rank of a job that began a minute ago and has started 5 operations. */
static struct scripted_rank *add_to_job(struct scripted *scripted, int number,
					const char *labels)
{
	struct scripted_rank *rank = add(scripted, number);

	rank->labels = labels;
	rank->header.created = NOW - 60 * SECOND;
	function_of(rank)->operations = 5;
	return rank;
}

TEST(a_finished_job_is_summed_up_once)
{
	struct scripted *scripted = *state;
	struct scripted_rank *one = add_to_job(scripted, 0, "job_id=77\0");
	struct scripted_rank *other = add_to_job(scripted, 1, "job_id=77\0");

	one->snapshot.identity.nranks = other->snapshot.identity.nranks = 2;
	one->snapshot.last_call_ns = NOW - 60 * SECOND;
	one->snapshot.liveness = NCS_DEAD;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_job_operations_total{job_id=\"77\"} 10");
	assert_int_equal(count_lines("ncclstat_finished_job_seconds"), 0);
	/* One rank leaves unseen, the other one finishes. */
	one->is_there = false;
	function_of(other)->operations = 7;
	other->snapshot.liveness = NCS_FINISHED;
	other->snapshot.finished_ns = NOW + 3 * SECOND;
	print_at(scripted, NCS_METRICS_OPENMETRICS, NOW + 15 * SECOND);
	assert_line("ncclstat_job_operations_total{job_id=\"77\"} 12");
	assert_line("ncclstat_finished_job_seconds{job_id=\"77\","
		    "severity=\"slow\",verdict=\"rank_died\"} 63.000000000");
	print_at(scripted, NCS_METRICS_OPENMETRICS, NOW + 30 * SECOND);
	assert_int_equal(count_lines("ncclstat_job_operations_total"), 0);
	assert_int_equal(count_lines("ncclstat_finished_job_seconds"), 0);
}

TEST(jobs_without_names_are_one)
{
	struct scripted *scripted = *state;

	add_to_job(scripted, 0, "job_id=77\0");
	add_to_job(scripted, 1, "job_id=78\0");
	metrics.hides_names = true;
	strcpy(metrics.host, "node7");
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_job_operations_total{job_id=\"\"} 10");
	scripted->ranks[0].is_there = false;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_finished_job_seconds"), 0);
	scripted->ranks[1].is_there = false;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_finished_job_seconds{job_id=\"\","
		    "severity=\"well\",verdict=\"\"} 60.000000000");
}

TEST(of_two_equal_ranks_the_live_one_counts)
{
	struct scripted *scripted = *state;
	struct scripted_rank *dead = add(scripted, 0);
	struct scripted_rank *live;

	dead->snapshot.liveness = NCS_DEAD;
	dead->snapshot.last_call_ns = NOW;
	function_of(dead)->operations = 70;
	live = add(scripted, 0);
	live->header.pid = 999;
	function_of(live)->operations = 5;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_rank_alive" RANK0 "} 1");
	assert_line("ncclstat_operations_total" ALL_REDUCE0 "} 5");
	assert_int_equal(count_lines("ncclstat_rank_alive"), 1);
	assert_int_equal(count_lines("ncclstat_rank_info"), 1);
	assert_line("ncclstat_segments{state=\"duplicate\"} 1");
}

TEST(unreadable_segments_are_counted_by_state)
{
	struct scripted *scripted = *state;

	add(scripted, 0)->attach = NCS_ATTACH_DENIED;
	add(scripted, 1)->attach = NCS_ATTACH_CORRUPT;
	add(scripted, 2)->attach = NCS_ATTACH_CORRUPT;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_segments{state=\"denied\"} 1");
	assert_line("ncclstat_segments{state=\"corrupt\"} 2");
	assert_line("ncclstat_segments{state=\"attached\"} 0");
}

TEST(a_finding_lasts)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i);

		rank->snapshot.identity.nranks = 2;
		rank->snapshot.last_call_ns = NOW - 60 * SECOND;
		function_of(rank)->operations = 1;
	}
	scripted->ranks[1].snapshot.liveness = NCS_DEAD;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_line("ncclstat_finding_seconds{" NODE ",rank=\"1\","
		    "verdict=\"rank_died\",severity=\"slow\","
		    "confidence=\"certain\",func=\"\"} 60.000000000");
	scripted->ranks[1].snapshot.liveness = NCS_ALIVE;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_finding_seconds"), 0);
}

/* --- Limits --------------------------------------------------------------- */

TEST(series_beyond_the_limit_are_counted)
{
	struct scripted *scripted = *state;
	unsigned shown, all, left_out;

	for (int i = 0; i < 8; i++) {
		struct scripted_rank *rank = add(scripted, i);

		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			rank->snapshot.functions[k].operations = 1;
		function_of(rank)->timed[NCS_TIMING_STREAM] = 1;
		scripted_histogram(rank, NCS_FUNCTION_ALL_REDUCE,
				   NCS_TIMING_STREAM)[0] = 1;
	}
	print(scripted, NCS_METRICS_OPENMETRICS);
	all = count_lines("ncclstat_");
	assert_line("ncclstat_series_left_out 0");
	/* The last histogram is left out, as a whole, before all others. */
	metrics.series_max = all - 1;
	print(scripted, NCS_METRICS_OPENMETRICS);
	assert_int_equal(count_lines("ncclstat_"),
			 all - (NCS_METRIC_EDGES + 3));
	assert_int_equal(count_lines("ncclstat_operation_duration_seconds_sum"),
			 7);
	assert_int_equal(count_lines("ncclstat_operation_seconds_sum"), 8);
	metrics.series_max = 100;
	print(scripted, NCS_METRICS_OPENMETRICS);
	shown = count_lines("ncclstat_");
	assert_int_equal(shown, 100);
	left_out = (unsigned)atoi(strstr(text, "\nncclstat_series_left_out ") +
				  strlen("\nncclstat_series_left_out "));
	assert_int_equal(shown + left_out, all);
	/* The most important ones are there, and the exporter's own. */
	assert_int_equal(count_lines("ncclstat_rank_info"), 8);
	assert_int_equal(count_lines("ncclstat_rank_alive"), 8);
	assert_line("ncclstat_lost_total{reason=\"stale\"} 0");
}
