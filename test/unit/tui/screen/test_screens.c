/* SPDX-License-Identifier: MIT */
/* Tests of the contents of the screen: every view in every size, with and
 * without colours, in UTF-8 and in ASCII, is compared with the pictures in
 * test/golden; and each key must change something.
 *
 * There is no terminal: curses draws into /dev/null, and its screen is read
 * back. Time is fixed and the job is synthetic, so that a picture is the same
 * everywhere. UPDATE_GOLDEN=1 writes new pictures.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "test/unit/support/scripted_source.h"
#include "test/unit/support/simulator/sim_recording.h"
#include "test/unit/support/source_synthetic.h"
#include "test/unit/support/unit.h"
#include "tui/screen/screen.h"
#include "tui/screen/screen_actions.h"
#include "tui/screen/screen_pages.h"
#include "tui/table/table.h"
#include "tui/term/curses.h"
#include "tui/term/term.h"

#define SECOND UINT64_C(1000000000)
#define BORN (1000 * SECOND)
/* The synthetic job is 5 s old when it is first sampled, and hangs at 8 s. */
#define SEEN (BORN + 5 * SECOND)

struct shape {
	int width;
	int height;
	bool color;
	bool utf8;
};

static const struct shape usual = { 80, 24, false, true };
/* A terminal that has room for all notes beside the tabs. */
static const struct shape roomy = { 120, 24, false, true };

static FILE *nothing_out, *nothing_in;
static struct ncs_screen screen;
static struct ncs_source *source;
static uint64_t now;

/* --- The terminal --------------------------------------------------------- */

static void use_locale(bool utf8)
{
	static const char *const names[] = { "C.UTF-8", "C.utf8",
					     "en_US.UTF-8" };

	for (size_t i = 0; utf8 && i < sizeof(names) / sizeof(*names); i++)
		if (setlocale(LC_CTYPE, names[i]))
			return;
	assert_non_null(setlocale(LC_CTYPE, "C"));
	if (utf8)
		skip();
}

static void start_type(const char *type, const struct shape *shape)
{
	struct ncs_term_config config = {
		.color = shape->color,
		.type = type,
		.height = shape->height,
		.width = shape->width,
	};

	use_locale(shape->utf8);
	nothing_out = fopen("/dev/null", "we");
	nothing_in = fopen("/dev/null", "re");
	assert_non_null(nothing_out);
	assert_non_null(nothing_in);
	config.output = nothing_out;
	config.input = nothing_in;
	assert_int_equal(ncs_term_start(&config), 0);
}

static void start(const struct shape *shape)
{
	start_type("xterm-256color", shape);
}

static void stop(void)
{
	ncs_term_stop();
	if (nothing_out)
		fclose(nothing_out);
	if (nothing_in)
		fclose(nothing_in);
	nothing_out = NULL;
	nothing_in = NULL;
}

/* --- The synthetic job ---------------------------------------------------- */

static void look(struct ncs_source *at, uint64_t at_ns)
{
	now = at_ns;
	ncs_screen_sample(&screen, at, now);
}

static void draw(void)
{
	const struct tm wall = { .tm_hour = 3, .tm_min = 4, .tm_sec = 5 };

	ncs_screen_draw(&screen, now, &wall);
	ncs_term_flush();
}

static void init(enum ncs_view view)
{
	ncs_screen_init(&screen, view, SECOND, "n017", "/dev/shm");
	strcpy(screen.plugin_folder, "/usr/lib/x86_64-linux-gnu");
}

/* Opens a job of eight ranks with four channels each, one of which has hung for
 * two seconds. */
static void open_job(enum ncs_view view)
{
	init(view);
	source = ncs_source_open_synthetic(1, 8, 4);
	assert_non_null(source);
	look(source, BORN);
	look(source, SEEN - SECOND);
	look(source, SEEN);
}

static void start_usual(enum ncs_view view)
{
	start(&usual);
	open_job(view);
}

/* A job that a test makes by hand; its source is NULL if there is none. */
static struct scripted job;

static void close_job(void)
{
	ncs_screen_release(&screen);
	if (job.source.begin)
		scripted_release(&job);
	job.source.begin = NULL;
	if (source)
		source->close(source);
	source = NULL;
}

/* Closes everything that a failed test has left open. */
static int teardown(void **state)
{
	(void)state;
	close_job();
	stop();
	return 0;
}

/* Returns the code of a key; for the name of a view, of its key. */
static int code_of(const char *name, size_t length)
{
	for (unsigned i = 0; i < NCS_VIEW_TABS; i++)
		if (strlen(ncs_views[i].option) == length &&
		    memcmp(ncs_views[i].option, name, length) == 0)
			return ncs_keys[NCS_ACTION_VIEW_RANK - 1 + i].keys[0];
	return ncs_key_code(name, length);
}

static unsigned press(const char *names)
{
	unsigned requests = 0;
	size_t length;

	while ((length = ncs_key_next_name(&names)) > 0) {
		int code = code_of(names, length);

		assert_true(code >= 0);
		requests |= ncs_screen_key(&screen, code, now);
		names += length;
	}
	return requests;
}

/* --- Pictures ------------------------------------------------------------- */

static void put_look(FILE *file, attr_t attributes, short pair)
{
	short foreground = -1, background = -1;

	fprintf(file, "%s%s%s", attributes & A_REVERSE ? "R" : "",
		attributes & A_BOLD ? "B" : "", attributes & A_DIM ? "D" : "");
	if (pair == 0)
		return;
	pair_content(pair, &foreground, &background);
	fprintf(file, "%d/%d", foreground, background);
}

static bool is_same_look(const cchar_t *a, const cchar_t *b)
{
	wchar_t text[CCHARW_MAX + 1];
	attr_t attributes_a, attributes_b;
	short pair_a, pair_b;

	getcchar(a, text, &attributes_a, &pair_a, NULL);
	getcchar(b, text, &attributes_b, &pair_b, NULL);
	return attributes_a == attributes_b && pair_a == pair_b;
}

/* Prints the columns of a line that are reverse, bold or coloured, e.g. "3:
 * 0-79 R". */
static void put_looks(FILE *file, int y, const cchar_t *cells, int width)
{
	wchar_t text[CCHARW_MAX + 1];
	bool any = false;
	attr_t attributes;
	short pair;
	int end;

	for (int x = 0; x < width; x = end) {
		for (end = x + 1;
		     end < width && is_same_look(&cells[x], &cells[end]); end++)
			;
		getcchar(&cells[x], text, &attributes, &pair, NULL);
		if (attributes == A_NORMAL && pair == 0)
			continue;
		fprintf(file, any ? ", " : "%d: ", y);
		fprintf(file, "%d-%d ", x, end - 1);
		put_look(file, attributes, pair);
		any = true;
	}
	if (any)
		fputc('\n', file);
}

/* Returns the text of the screen and, below it, its attributes. The caller
 * frees it. */
static char *picture(void)
{
	cchar_t *cells = calloc(1024, sizeof(*cells));
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(cells);
	assert_non_null(file);
	assert_true(ncs_term_save(file));
	fputs("--\n", file);
	for (int y = 0; y < ncs_term_height(); y++) {
		mvin_wchnstr(y, 0, cells, 1023);
		put_looks(file, y, cells, ncs_term_width());
	}
	fclose(file);
	free(cells);
	return text;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 18);

	assert_non_null(text);
	if (file) {
		size_t length = fread(text, 1, (1 << 18) - 1, file);

		text[length] = '\0';
		fclose(file);
	}
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Prints the first difference of two pictures. */
static void explain_difference(const char *path, const char *is,
			       const char *was)
{
	int line = 1;

	while (*is && *is == *was) {
		line += *is == '\n';
		is++;
		was++;
	}
	print_message("%s, line %d: is \"%.*s\", was \"%.*s\"\n", path, line,
		      (int)strcspn(is, "\n"), is, (int)strcspn(was, "\n"), was);
}

/* Frees both pictures. */
static void expect_same(const char *name, char *is, char *was)
{
	bool same = strcmp(is, was) == 0;

	if (!same) {
		explain_difference(name, is, was);
		fputs(is, stdout);
		fflush(stdout);
	}
	free(is);
	free(was);
	if (!same)
		fail_msg("%s differs; UPDATE_GOLDEN=1 takes files as they are",
			 name);
}

/* Compares a picture with a file, and frees it. */
static void compare_picture(const char *name, char *is)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[256];

	snprintf(path, sizeof(path), "test/golden/%s.screen", name);
	if (update && update[0] == '1')
		write_file(path, is);
	expect_same(path, is, read_file(path));
}

static void compare(const char *name)
{
	compare_picture(name, picture());
}

static bool picture_has(const char *text)
{
	char *is;
	bool found;

	draw();
	is = picture();
	found = strstr(is, text) != NULL;
	free(is);
	return found;
}

/* --- Nodes ---------------------------------------------------------------- */

/* Whether pictures are of a job with nodes. */
static bool has_nodes;

/* Gives the synthetic job nodes, the first of which has all ranks. */
static size_t list_nodes(struct ncs_source *at, const struct ncs_node **nodes)
{
	static const struct ncs_node all[] = {
		{ .name = "n01",
		  .host = "n01.example",
		  .state = NCS_NODE_RUNNING,
		  .look_ns = SEEN - SECOND / 2,
		  .interval_ns = SECOND,
		  .program_version = 1 << 8,
		  .bytes = 123456,
		  .bytes_a_second = 7100,
		  .looks = 20,
		  .ranks = 8,
		  .clock_is_aligned = true,
		  .clock_error_ns = 320000 },
		{ .name = "n02",
		  .state = NCS_NODE_SILENT,
		  .look_ns = SEEN - 12 * SECOND,
		  .interval_ns = SECOND,
		  .program_version = 1 << 8,
		  .bytes = 45678,
		  .looks = 7,
		  .looks_dropped = 3,
		  .ranks = 8 },
		{ .name = "n03",
		  .state = NCS_NODE_NOT_REACHABLE,
		  .why = "ssh: connect to host n03 port 22: No route to host" },
		{ .name = "n04",
		  .state = NCS_NODE_SLOW_LINK,
		  .look_ns = SEEN - SECOND,
		  .interval_ns = SECOND,
		  .program_version = 1 << 8,
		  .bytes = 99,
		  .looks = 3,
		  .looks_dropped = 17,
		  .ranks = 8 },
		{ .name = "n05",
		  .state = NCS_NODE_NO_JOB,
		  .look_ns = SEEN - SECOND / 4,
		  .interval_ns = SECOND,
		  .program_version = 1 << 8,
		  .looks = 20 },
	};

	(void)at;
	*nodes = all;
	return sizeof(all) / sizeof(all[0]);
}

/* --- Every view in every size --------------------------------------------- */

static char *picture_of(enum ncs_view view, const char *keys,
			const struct shape *shape)
{
	char *is;

	start(shape);
	open_job(view);
	if (has_nodes) {
		source->nodes = list_nodes;
		look(source, now);
	}
	press(keys);
	draw();
	is = picture();
	close_job();
	stop();
	return is;
}

/* Returns the attributes below a picture's text. */
static char *looks_of(char *is)
{
	char *looks = NULL;

	for (char *at = is; (at = strstr(at, "\n--\n")); at++)
		looks = at + 1;
	assert_non_null(looks);
	return looks;
}

/* Replaces what a picture in UTF-8 draws with by what one in ASCII has there:
 * any other character that is not ASCII stays, so that the two differ. */
static void make_ascii(char *is)
{
	static const struct {
		const char *utf8;
		char ascii;
	} glyphs[] = {
		{ "\u00b7", '.' }, { "\u2500", '-' }, { "\u2588", '#' },
		{ "\u2026", '~' }, { "\u2502", '|' }, { "\u250c", '+' },
		{ "\u2510", '+' }, { "\u2514", '+' }, { "\u2518", '+' },
		{ "\u2192", '>' }, { "\u25bc", 'v' }, { "\u2190", '<' },
	};
	char *to = is;

	while (*is) {
		size_t i = 0, length = 0;

		for (; i < sizeof(glyphs) / sizeof(*glyphs); i++) {
			length = strlen(glyphs[i].utf8);
			if (strncmp(is, glyphs[i].utf8, length) == 0)
				break;
		}
		if (i < sizeof(glyphs) / sizeof(*glyphs)) {
			*to++ = glyphs[i].ascii;
			is += length;
		} else {
			*to++ = *is++;
		}
	}
	*to = '\0';
}

/* A file has the picture in UTF-8 without colours, and then the attributes of
 * that with colours: its text is the same. Pictures in ASCII have the same
 * attributes, and only printable characters. */
static void golden(const char *name, enum ncs_view view, const char *keys,
		   int width, int height)
{
	char full[128], *of[2], *both = NULL;

	for (int color = 0; color < 2; color++) {
		const struct shape utf8 = { width, height, color, true };
		const struct shape ascii = { width, height, color, false };
		char *is = picture_of(view, keys, &ascii), *expected;

		for (const char *c = is; *c; c++)
			assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
		of[color] = picture_of(view, keys, &utf8);
		expected = strdup(of[color]);
		assert_non_null(expected);
		make_ascii(expected);
		expect_same("one in ASCII", is, expected);
	}
	assert_true(asprintf(&both, "%s%s", of[0], looks_of(of[1])) > 0);
	*looks_of(of[0]) = *looks_of(of[1]) = '\0';
	expect_same("the text with colours", of[1], of[0]);
	snprintf(full, sizeof(full), "%s-%dx%d", name, width, height);
	compare_picture(full, both);
}

static void goldens(const char *name, enum ncs_view view, const char *keys)
{
	golden(name, view, keys, 80, 24);
	golden(name, view, keys, 40, 10);
	golden(name, view, keys, 200, 60);
}

UNIT_FIXTURE(NULL, teardown)

TEST(nodes_view_matches_pictures)
{
	has_nodes = true;
	goldens("nodes", NCS_VIEW_NODE, "");
	has_nodes = false;
}

TEST(without_nodes_their_view_says_how_to_get_some)
{
	const struct shape shape = { .width = 80, .height = 24 };
	char *text;

	start(&shape);
	open_job(NCS_VIEW_RANK);
	assert_false(picture_has(":Node"));
	press("nodes");
	draw();
	text = picture();
	assert_non_null(strstr(text, ":Node]"));
	assert_non_null(strstr(text, "--slurm JOBID"));
	assert_non_null(strstr(text, "--hosts n[1-64]"));
	free(text);
	/* Tab goes past it. */
	press("ranges Tab");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	press("Shift-Tab");
	assert_int_equal(screen.view, NCS_VIEW_RANGE);
}

TEST(enter_on_a_node_goes_to_its_ranks)
{
	const struct shape shape = { .width = 80, .height = 24 };
	char *text;

	start(&shape);
	open_job(NCS_VIEW_RANGE);
	source->nodes = list_nodes;
	look(source, now);
	press("Tab");
	assert_int_equal(screen.view, NCS_VIEW_NODE);
	/* The first is the one that is seen least. */
	press("Enter");
	draw();
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	text = picture();
	assert_non_null(strstr(text, "n03"));
	assert_non_null(strstr(text, "No rank of this node is seen"));
	free(text);
	press("Esc End Enter");
	draw();
	assert_int_equal(screen.tables[NCS_VIEW_RANK].count,
			 screen.model.rank_count);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_NODE);
	/* Search, tags and the filter take rows without a rank. */
	press("Home Space o");
	assert_int_equal(screen.tables[NCS_VIEW_NODE].count, 1);
	press("o U \\ n 0 4 Enter");
	assert_int_equal(screen.tables[NCS_VIEW_NODE].count, 1);
}

TEST(speed_graph_and_table_have_one_kind_of_bandwidth)
{
	static const struct shape high = { 120, 40, false, false };

	start(&high);
	open_job(NCS_VIEW_RANK);
	press("!");
	assert_true(picture_has("AllReduce       64M busbw 23.26 GB/s"));
	assert_true(picture_has("busbw of the busiest function, at most 23.26"));
	assert_true(picture_has("  23.26       ##"));
	assert_false(picture_has("B/s net"));
	assert_false(picture_has("net: sent"));
}

/* Views of what only some jobs have come last, and only with data or if asked
 * for. */
TEST(the_diagnosis_is_the_second_tab)
{
	start(&usual);
	init(NCS_VIEW_RANK);
	assert_true(picture_has("[1:Ranks] 2:Diagnose  3:Communicators"
				"  4:Collectives  5:Timeline     "));
	press("2");
	assert_int_equal(screen.view, NCS_VIEW_FINDING);
	press("6");
	assert_true(picture_has("[6:Chan"));
}

TEST(detail_of_the_selected_rank_is_where_there_is_room)
{
	static const struct shape high = { 120, 40, false, true };

	start(&high);
	open_job(NCS_VIEW_RANK);
	draw();
	assert_true(picture_has("\u2500 rank 7 of world: pid 1007"));
	assert_true(picture_has("channel 0 send to 0: "));
	press("Down");
	draw();
	assert_true(picture_has("\u2500 rank 0 of world: pid 1000"));
	assert_true(picture_has("AllReduce: "));
	close_job();
	stop();
	/* There is none where there is no room. */
	start_usual(NCS_VIEW_RANK);
	draw();
	assert_false(picture_has("\u2500 rank"));
}

TEST(views_match_pictures)
{
	goldens("ranks", NCS_VIEW_RANK, "");
	goldens("communicators", NCS_VIEW_COMMUNICATOR, "");
	goldens("channels", NCS_VIEW_CHANNEL, "");
	goldens("proxy", NCS_VIEW_PROXY, "");
	goldens("collectives", NCS_VIEW_COLLECTIVE, "");
	goldens("sizes", NCS_VIEW_CLASS, "");
	/* Live ranks only, with the cursor at an operation in the past. */
	goldens("timeline", NCS_VIEW_TIMELINE,
		"\\ w o r l d Enter Down Left Left Left");
	goldens("diagnose", NCS_VIEW_FINDING, "");
	goldens("ranges", NCS_VIEW_RANGE, "");
	goldens("help", NCS_VIEW_RANK, "?");
	goldens("setup", NCS_VIEW_RANK, "S Down Down");
	goldens("setup-columns", NCS_VIEW_CHANNEL, "S End Up Space");
}

/* --- The synthetic job after some keys ------------------------------------ */

/* Compares the screen after some keys with a picture. */
static void after(const char *name, enum ncs_view view, const char *keys)
{
	start_usual(view);
	press(keys);
	draw();
	compare(name);
	close_job();
	stop();
}

TEST(screens_after_keys_match_pictures)
{
	after("channels-by-time", NCS_VIEW_CHANNEL, "T");
	after("down", NCS_VIEW_RANK, "Down Down Down Enter");
	after("down-communicator", NCS_VIEW_COMMUNICATOR, "Down Enter");
	after("down-communicator-rank", NCS_VIEW_COMMUNICATOR,
	      "Down Enter g Enter");
	after("down-peer", NCS_VIEW_CHANNEL, "T g Enter");
	after("paused", NCS_VIEW_RANK, "Z");
	/* One function's track of each rank, with one operation highlighted. */
	after("timeline-lit", NCS_VIEW_TIMELINE,
	      "\\ A l l R e d u c e Enter Down Down - + { Left Left Enter");
	after("timeline-channel", NCS_VIEW_CHANNEL, "T timeline + + ^");
	after("filter", NCS_VIEW_COLLECTIVE, "\\ R e d u c e");
	after("filter-empty", NCS_VIEW_RANK, "\\ x y z Enter");
	after("search", NCS_VIEW_COLLECTIVE, "/ g a t h F3");
	after("columns", NCS_VIEW_COLLECTIVE, "Right Right Right Down");
	after("header", NCS_VIEW_PROXY, "# p End");
	/* Exact numbers, in bits. */
	after("units", NCS_VIEW_CHANNEL, "e b");
}

/* --- Scripted jobs -------------------------------------------------------- */

static struct scripted_rank *add_world(int rank)
{
	struct scripted_rank *added = scripted_add(&job, rank);
	struct ncs_identity *identity = &added->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_NAME | NCS_KNOWN_COMM_ID;
	identity->comm_id = 1;
	snprintf(identity->comm_name, sizeof(identity->comm_name), "world");
	added->snapshot.last_call_ns = SEEN - 41 * SECOND;
	return added;
}

static void waits(struct scripted_rank *rank, enum ncs_channel_state wait,
		  bool send, int peer, uint64_t since_ns)
{
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, send, peer);

	channel->state = wait;
	channel->since_ns = since_ns;
	channel->operation = 1;
	channel->step = 3;
	channel->nsteps = 8;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
}

static void at_sequence(struct scripted_rank *rank, uint64_t sequence)
{
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	function->operations = sequence + 1;
	function->last_sequence_number = sequence;
}

/* Opens a ring of so many ranks that rank 2 does not join. */
static void make_ring_stuck(int count)
{
	uint64_t since_ns = SEEN - 41 * SECOND;

	for (int i = 0; i < count; i++) {
		struct scripted_rank *rank = add_world(i);

		rank->snapshot.liveness = NCS_SILENT;
		at_sequence(rank, i == 2 ? 87 : 88);
		if (i == 2)
			continue;
		waits(rank, NCS_CHANNEL_SEND_GPU_WAIT, true, (i + 1) % count,
		      since_ns);
		waits(rank, NCS_CHANNEL_RECV_WAIT, false,
		      (i + count - 1) % count,
		      since_ns + (uint64_t)i * SECOND / 10);
	}
}

static void make_stuck(void)
{
	make_ring_stuck(4);
}

/* With more ranks than 24 lines have room for beside the evidence. */
static void make_many_stuck(void)
{
	make_ring_stuck(8);
}

/* Minutes of one letter tell nothing: the time before the wait is there, too. */
TEST(timeline_opens_at_the_begin_of_a_long_wait)
{
	scripted_init(&job);
	waits(add_world(0), NCS_CHANNEL_RECV_WAIT, false, 1,
	      SEEN - 900 * SECOND);
	start(&usual);
	init(NCS_VIEW_TIMELINE);
	look(&job.source, SEEN - SECOND);
	look(&job.source, SEEN);
	assert_true(picture_has("|-1000s"));
	assert_true(picture_has("\u00b7DDDDDDDD"));
	close_job();
	stop();
}

TEST(legend_of_the_timeline_is_whole)
{
	static const struct shape narrow = { 60, 25, false, false };

	start(&narrow);
	open_job(NCS_VIEW_TIMELINE);
	draw();
	press("= = = = = =");
	assert_true(picture_has("o operation"));
	assert_true(screen.time.legend_lines > 2);
	assert_true(picture_has("sleep"));
	assert_true(picture_has(". nothing"));
}

static void make_nothing(void)
{
}

static void make_hidden(void)
{
	job.begin_error = -EACCES;
}

/* Opens a job, and looks at it twice. */
static void open_made(void (*make)(void), const struct shape *shape)
{
	scripted_init(&job);
	make();
	start(shape);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN - SECOND);
	look(&job.source, SEEN);
}

static void scripted_golden(const char *name, void (*make)(void),
			    const struct shape *shape, const char *keys)
{

	scripted_init(&job);
	make();
	start(shape);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN - SECOND);
	for (size_t i = 0; i < SCRIPTED_RANKS; i++)
		job.ranks[i].record_count = 0;
	look(&job.source, SEEN);
	press(keys);
	draw();
	compare(name);
	close_job();
	stop();
}

TEST(missing_job_is_explained)
{
	scripted_golden("no-job", make_nothing, &usual, "");
	scripted_golden("no-folder", make_hidden, &usual, "");
}

TEST(stuck_job_matches_pictures)
{
	scripted_golden("stuck", make_stuck, &usual, "! ! !");
	scripted_golden("stuck-communicators", make_stuck, &usual,
			"communicators");
	scripted_golden("stuck-channels", make_stuck, &usual, "channels T");
}

/* Opens four ranks that reach each other without the network: the kernel of rank
 * 2 is queued behind other work of its stream, those of the others wait. */
static void make_stuck_on_a_stream(void)
{
	for (int i = 0; i < 4; i++) {
		struct scripted_rank *rank = add_world(i);

		at_sequence(rank, 88);
		rank->snapshot.identity.nranks = 4;
		rank->snapshot.launches = (struct ncs_launches_view){
			.status = i == 3 ? NCS_STREAM_SOME : NCS_STREAM_ALL,
			.level = i == 3 ? 3 : 0,
			.ended = 88,
			.begun = i == 2 ? 88 : 89,
			.followed = 89,
			.launched = 92,
			.ended_ns = SEEN - 42 * SECOND,
			.begun_ns = SEEN - (i == 2 ? 43 : 40) * SECOND,
			.launched_ns = SEEN - 41 * SECOND,
			.timed = i == 3 ? 12 : 88,
			.missed = i == 0 ? 4 : 0,
		};
		rank->snapshot.operation_count = 1;
		rank->operations[0] = (struct ncs_operation_view){
			.number = 89,
			.start_ns = SEEN - 41 * SECOND,
			.sequence_number = 88,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.launch = 89,
		};
	}
}

static void make_stale(void)
{
	make_stuck_on_a_stream();
	scripted_all_reduces(&job, 40, SEEN - 45 * SECOND, 2, SECOND / 1000);
	job.ranks[0].snapshot.functions[NCS_FUNCTION_SEND].operations = 1;
}

TEST(job_stuck_on_a_stream_matches_pictures)
{
	static const struct shape wide = { 220, 24, true, true };

	scripted_golden("stream", make_stuck_on_a_stream, &usual, "");
	scripted_golden("stream-wide", make_stuck_on_a_stream, &wide,
			"v Down Down Down");
	scripted_golden("stream-communicators", make_stuck_on_a_stream, &usual,
			"communicators");
	scripted_golden("stream-collectives", make_stuck_on_a_stream, &usual,
			"collectives");
	/* Bandwidth from before it was stuck is dimmed. */
	scripted_golden("stale-collectives", make_stale, &wide,
			"collectives End");
}

/* Opens four ranks that make progress, but wait for rank 2 in each
 * collective. */
static void make_late(void)
{
	for (int i = 0; i < 4; i++) {
		struct scripted_rank *rank = add_world(i);

		rank->snapshot.last_call_ns = SEEN;
		at_sequence(rank, 199);
	}
	scripted_all_reduces(&job, 200, SEEN - 4 * SECOND, 2, 4100000);
}

TEST(straggler_matches_pictures)
{
	static const struct shape wide = { 140, 24, true, true };
	static const struct shape small = { 40, 10, false, false };

	scripted_golden("late", make_late, &usual, "!");
	scripted_golden("late-40x10", make_late, &small, "!");
	scripted_golden("late-wide", make_late, &wide, "! v");
	scripted_golden("late-communicators", make_late, &wide,
			"communicators");
	scripted_golden("late-down", make_late, &usual, "communicators Enter");
	/* From the rank that is called slow to how that was told. */
	scripted_golden("late-told", make_late, &roomy, "! Enter");
}

/* The evidence of the root is there, so that its row needs no explanation; that
 * of another rank has one. */
TEST(a_stuck_job_is_explained_once)
{
	open_made(make_stuck, &usual);
	assert_true(picture_has("world: 4 of its 8 ranks are seen here"));
	assert_true(picture_has("Try: gdb -p 102"));
	assert_false(picture_has("rank 2 of world: silent"));
	press("Down");
	assert_true(picture_has("Try: gdb -p 102"));
	assert_true(picture_has("rank 0 of world: silent"));
	close_job();
	stop();
}

/* The evidence needs the line of a step that will not be known. */
TEST(a_stuck_job_without_steps_has_no_line_for_them)
{
	scripted_init(&job);
	make_stuck();
	scripted_all_reduces(&job, 2, SEEN - 45 * SECOND, 2, 0);
	start(&usual);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN - SECOND);
	look(&job.source, SEEN);
	assert_true(picture_has("STUCK "));
	assert_false(picture_has("STEP "));
	close_job();
	stop();
}

/* The table can be scrolled, the evidence cannot. */
TEST(evidence_is_whole_where_a_table_is_full)
{
	open_made(make_many_stuck, &usual);
	/* The root, and some that wait for it. */
	assert_true(picture_has(">     2 -"));
	assert_true(picture_has("      0 -"));
	assert_true(picture_has("      1 -"));
	assert_true(picture_has("its host before is not known"));
	assert_true(picture_has("posted; no data from the peer yet, step 3"));
	assert_true(picture_has("Try: gdb -p 102"));
	press("End");
	assert_true(picture_has("      7 -"));
	assert_true(picture_has("rank 7 of world: silent"));
	assert_true(picture_has("posted; no data from the peer yet, step 3"));
	assert_true(picture_has("Try: gdb -p 102"));
	close_job();
	stop();
}

/* A job of eight ranks that is well. */
static void make_level(void)
{
	for (int i = 0; i < 8; i++) {
		struct scripted_rank *rank = add_world(i);

		rank->snapshot.last_call_ns = SEEN;
		at_sequence(rank, 199);
	}
	scripted_all_reduces(&job, 200, SEEN - 4 * SECOND, 0, 0);
}

/* The first screen of a job that is well, slow or stuck, in three sizes. */
TEST(first_screens_match_pictures)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} jobs[] = { { "well", make_level },
		     { "slow", make_late },
		     { "stuck", make_stuck },
		     { "many-stuck", make_many_stuck } };
	static const struct shape shapes[] = { { 80, 24, true, true },
					       { 120, 40, true, true },
					       { 200, 60, false, true } };
	char name[64];

	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		for (size_t k = 0; k < sizeof(shapes) / sizeof(*shapes); k++) {
			snprintf(name, sizeof(name), "first-%s-%dx%d",
				 jobs[i].name, shapes[k].width,
				 shapes[k].height);
			scripted_golden(name, jobs[i].make, &shapes[k], "");
		}
	}
}

static void make_dead(void)
{
	make_stuck();
	for (int i = 0; i < 4; i++)
		job.ranks[i].snapshot.liveness = NCS_DEAD;
}

static void make_unreadable(void)
{
	struct scripted_rank *rank = scripted_add(&job, 0);

	rank->attach = NCS_ATTACH_OTHER_VERSION;
	rank->why = "it was made by a plugin with format 7.0, this program"
		    " reads 1.0";
	rank = scripted_add(&job, 1);
	rank->attach = NCS_ATTACH_DENIED;
	rank->why = "it belongs to another user";
}

TEST(other_jobs_match_pictures)
{
	static const struct shape small = { 40, 10, true, true };

	scripted_golden("stuck-40x10", make_stuck, &small, "");
	scripted_golden("dead", make_dead, &usual, "");
	scripted_golden("unreadable", make_unreadable, &usual, "Down");
}

/* Names in a segment must reach the terminal only as text. */
TEST(names_from_segments_cannot_control_the_terminal)
{
	static const char evil[] = "\033[31mred\n\t\x9b"
				   "1m\xff\xe2\x80\xae"
				   "\xf0\x9f\x98\x80"
				   "end";
	struct ncs_identity *identity;
	char *text;

	scripted_init(&job);
	identity = &add_world(0)->snapshot.identity;
	memcpy(identity->comm_name, evil, sizeof(evil));
	memset(identity->gpu, '\033', sizeof(identity->gpu));
	identity->gpu[sizeof(identity->gpu) - 1] = '\0';
	identity->known |= NCS_KNOWN_GPU;
	start(&usual);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN);
	press("v $");
	draw();
	text = picture();
	for (const char *c = text; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n');
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_non_null(strstr(text, "[31mred"));
	free(text);
	close_job();
	stop();
}

TEST(ended_job_is_reported)
{
	scripted_init(&job);
	make_stuck();
	start(&usual);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN);
	press("Enter");
	for (int i = 0; i < 4; i++)
		job.ranks[i].is_there = false;
	look(&job.source, SEEN + SECOND);
	draw();
	press("Esc");
	draw();
	compare("ended");
	close_job();
	stop();
}

/* --- Sizes ---------------------------------------------------------------- */

TEST(too_small_screen_says_so)
{
	static const int sizes[][2] = {
		{ 1, 1 }, { 19, 4 }, { 20, 3 }, { 60, 2 }, { 20, 4 }
	};
	char name[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct shape shape = { sizes[i][0], sizes[i][1], false,
					     true };

		start(&shape);
		open_job(NCS_VIEW_PROXY);
		draw();
		snprintf(name, sizeof(name), "small-%dx%d", shape.width,
			 shape.height);
		compare(name);
		close_job();
		stop();
	}
}

/* Draws every view and the help at every size, with a key and a resize between
 * two frames. The only requirement is that the program stays within bounds. */
TEST(any_size_is_drawn_within_bounds)
{
	static const char *const keys[] = { "1", "2",     "3",    "4",    "5",
					    "?", "Enter", "End",  "PgDn", "/",
					    "#", "Right", "T",    "Esc",  "v",
					    "6", "+",     "-",    "{",    "}",
					    "$", "^",     "Left", "S" };
	uint32_t seed = 3;

	start_usual(NCS_VIEW_RANK);
	for (int i = 0; i < 1500; i++) {
		int height, width;

		seed = seed * 1664525u + 1013904223u;
		height = 1 + (int)(seed >> 8) % (i % 2 ? 100 : 12);
		width = 1 + (int)(seed >> 16) % (i % 3 ? 40 : 300);
		press(keys[(seed >> 24) % (sizeof(keys) / sizeof(*keys))]);
		assert_int_equal(resizeterm(height, width), OK);
		draw();
		assert_int_equal(ncs_term_height(), height);
		assert_int_equal(ncs_term_width(), width);
	}
}

/* --- Keys ----------------------------------------------------------------- */

/* Opens a screen on which each key has an effect: in the middle of a table
 * below another one, scrolled by a column, after a search. */
static void go_to_the_middle(void)
{
	open_job(NCS_VIEW_CHANNEL);
	press("g Down Down Down Enter / r e c v Enter Down Down Right");
	now += 10 * SECOND;
}

static char *moment(void)
{
	char *text;

	draw();
	text = picture();
	return text;
}

TEST(healthy_job_has_no_findings)
{
	start(&usual);
	init(NCS_VIEW_FINDING);
	source = ncs_source_open_synthetic(1, 4, 4);
	assert_non_null(source);
	look(source, BORN);
	assert_true(picture_has("nothing is wrong"));
}

TEST(enter_on_a_finding_goes_to_its_root)
{
	const struct ncs_grid_row *row;
	const struct ncs_finding *finding;
	int number;

	start_usual(NCS_VIEW_FINDING);
	row = ncs_grid_selected(&screen.tables[screen.view]);
	assert_non_null(row);
	finding = row->row.finding;
	assert_non_null(finding);
	number = (finding->channel_rank ? finding->channel_rank :
					  finding->root.rank)
			 ->now.identity.rank;
	assert_null(finding->channel);
	press("Enter");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	row = ncs_grid_selected(&screen.tables[screen.view]);
	assert_non_null(row);
	assert_int_equal(row->row.rank->now.identity.rank, number);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_FINDING);
}

TEST(every_key_changes_something)
{
	for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
		const char *names = ncs_keys[i].keys;
		size_t length;

		while ((length = ncs_key_next_name(&names)) > 0) {
			char *before, *later;
			unsigned requests;

			start(&usual);
			go_to_the_middle();
			before = moment();
			requests = ncs_screen_key(
				&screen, ncs_key_code(names, length), now);
			later = moment();
			if (requests == 0 && strcmp(before, later) == 0)
				fail_msg("%.*s does nothing", (int)length,
					 names);
			free(before);
			free(later);
			close_job();
			stop();
			names += length;
		}
	}
}

static void value_of(enum ncs_option option, char *text)
{
	ncs_options_value(&screen.options, option, text, NCS_OPTION_VALUE_MAX);
}

/* Right changes an entry immediately, and Left changes it back. */
TEST(setup_changes_every_entry)
{
	static char first[NCS_OPTION_VALUE_MAX], second[NCS_OPTION_VALUE_MAX],
		third[NCS_OPTION_VALUE_MAX];

	for (size_t i = 0; i < ncs_setup_count(NCS_VIEW_CHANNEL); i++) {
		enum ncs_option option =
			ncs_setup_entry(NCS_VIEW_CHANNEL, i).option;

		if (option == NCS_OPTION_SET)
			continue;
		start_usual(NCS_VIEW_CHANNEL);
		press("F2");
		for (size_t k = 0; k < i; k++)
			press("Down");
		value_of(option, first);
		press("Right");
		value_of(option, second);
		press("Left");
		value_of(option, third);
		assert_string_not_equal(first, second);
		assert_string_equal(first, third);
		assert_int_equal(press("q"), 0);
		assert_false(screen.setup);
		close_job();
		stop();
	}
}

/* The last entry is a column of level diag. */
TEST(setup_shows_and_hides_single_columns)
{
	const struct shape wide = { 340, 60, false, true };
	char value[NCS_OPTION_VALUE_MAX];

	start(&wide);
	open_job(NCS_VIEW_RANK);
	assert_false(picture_has("SETTINGS"));
	press("S End Space Esc");
	assert_true(picture_has("SETTINGS"));
	value_of(NCS_OPTION_COLUMNS, value);
	assert_string_equal(value, "ranks:SETTINGS");
	press("v S End Space Esc");
	assert_false(picture_has("SETTINGS"));
	value_of(NCS_OPTION_COLUMNS, value);
	assert_string_equal(value, "ranks:-SETTINGS");
	press("S End Space Esc");
	assert_true(picture_has("SETTINGS"));
	value_of(NCS_OPTION_COLUMNS, value);
	assert_string_equal(value, "default");
}

/* A column's title changes with the unit if and only if its values do. */
TEST(titles_distinguish_bits_from_bytes)
{
	const struct ncs_units bits = { .bits = true };

	start_usual(NCS_VIEW_RANK);
	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];
		struct ncs_grid *table = &screen.tables[column->view];
		struct ncs_value value = { 0 };

		screen.view = column->view;
		press("i i"); /* builds the table */
		for (size_t r = 0; r < table->count; r++) {
			ncs_column_get(column, &table->rows[r].row, &value);
			if (value.kind != NCS_VALUE_NONE)
				break;
		}
		ncs_grid_set_units(table, &bits);
		if (value.kind != NCS_VALUE_NONE &&
		    (value.kind == NCS_VALUE_BYTES_RATE ||
		     value.kind == NCS_VALUE_REAL) !=
			    (ncs_grid_title(table, column) != column->title))
			fail_msg("%s: its title in bits", column->id);
	}
}

TEST(colorblind_scheme_matches_picture)
{
	const struct shape colored = { 80, 24, true, true };

	start(&colored);
	open_job(NCS_VIEW_RANK);
	press("C");
	draw();
	compare("colorblind");
	stop();
	start_type("xterm", &colored);
	screen.options.scheme = NCS_SCHEME_NORMAL;
	press("C");
	draw();
	compare("colorblind-8");
}

struct color_look {
	int foreground;
	int background;
	unsigned attributes;
};

/* On the default background, which may be light or dark, colours that cannot be
 * read must not be used. Bad and good must not be red and green. */
TEST(every_scheme_is_readable_on_any_background)
{
#define LOOK(...) \
	{ \
		__VA_ARGS__ \
	}
#define X(ID, color, colorblind, contrast, mono) LOOK colorblind,
	static const struct color_look colorblind[] = { NCS_ROLES(X) };
#undef X
#define X(ID, color, colorblind, contrast, mono) LOOK contrast,
	static const struct color_look contrast[] = { NCS_ROLES(X) };
#undef X
#define X(ID, color, colorblind, contrast, mono) LOOK mono,
	static const struct color_look mono[] = { NCS_ROLES(X) };
#undef X

	for (size_t i = 0; i < NCS_ROLE_COUNT; i++) {
		assert_true(colorblind[i].foreground <= 0 ||
			    colorblind[i].foreground == NCS_ORANGE ||
			    colorblind[i].foreground == NCS_BLUE);
		assert_true(colorblind[i].background < 0 ||
			    colorblind[i].background == NCS_ORANGE ||
			    colorblind[i].background == NCS_BLUE);
		if (contrast[i].background < 0)
			assert_true(contrast[i].foreground < 0 ||
				    contrast[i].foreground == COLOR_MAGENTA);
		assert_true(mono[i].foreground < 0 && mono[i].background < 0);
	}
}

TEST(setup_asks_for_a_setting_of_the_plugin)
{
	start_usual(NCS_VIEW_RANK);
	press("S");
	while (ncs_setup_entry(screen.view, screen.setup_selected).option !=
	       NCS_OPTION_SET)
		press("Down");
	assert_int_equal(press("Enter s a m p l e = 8 Enter"), NCS_REQUEST_SET);
	assert_string_equal(screen.typed, "sample=8");
	assert_true(screen.setup);
	press("Esc");
	assert_false(screen.setup);
}

/* --- The mouse ------------------------------------------------------------ */

static unsigned mouse_does(enum ncs_mouse_kind kind, int y, int x)
{
	const struct ncs_mouse mouse = { .kind = kind, .y = y, .x = x };

	draw();
	return ncs_screen_mouse(&screen, &mouse, now);
}

static unsigned click(int y, int x)
{
	return mouse_does(NCS_MOUSE_CLICK, y, x);
}

/* Clicks on the first cell of a text on the screen. */
static unsigned click_on(const char *text)
{
	char *is, *at;
	int y = 0, x = 0;

	now += 10 * SECOND; /* a message hides the last line */
	draw();
	is = picture();
	at = strstr(is, text);
	if (!at)
		fail_msg("%s is not on the screen", text);
	for (const char *c = is; c < at; c++) {
		x = *c == '\n' ? 0 : x + 1;
		y += *c == '\n';
	}
	free(is);
	return click(y, x);
}

TEST(clicks_have_the_effect_of_the_text_under_them)
{
	const struct shape ascii = { 80, 24, false, false };
	struct ncs_grid *table = &screen.tables[NCS_VIEW_CHANNEL];

	start(&ascii);
	open_job(NCS_VIEW_RANK);
	click_on(":Chan");
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	draw();
	click(table->rows_y + 3, 10);
	assert_int_equal(table->selected, 3);
	click_on("SINCE");
	assert_string_equal(table->sort->title, "SINCE");
	assert_false(table->inverted);
	click_on("SINCE");
	assert_true(table->inverted);
	click_on("4Filter");
	assert_int_equal(screen.prompt, NCS_PROMPT_FILTER);
	click_on(":Proxy"); /* ignored while text is typed */
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	press("Esc");
	assert_int_equal(click_on("10Quit"), NCS_REQUEST_QUIT);
}

TEST(clicks_elsewhere_do_nothing)
{
	uint32_t seed = 5;

	start_usual(NCS_VIEW_RANK);
	for (int i = 0; i < 5000; i++) {
		int y, x;

		seed = seed * 1664525u + 1013904223u;
		y = (int)(seed >> 16) % 40 - 5;
		x = (int)(seed >> 8) % 100 - 5;
		mouse_does((enum ncs_mouse_kind)(seed >> 30), y, x);
		if (screen.prompt != NCS_PROMPT_NONE || i % 100 == 0)
			press("Esc");
		if (i % 50 == 0)
			press(i % 100 ? "S" : "?");
		if (i % 50 == 25)
			press("Esc");
	}
}

TEST(wheel_scrolls)
{
	struct ncs_grid *table = &screen.tables[NCS_VIEW_CHANNEL];

	start_usual(NCS_VIEW_CHANNEL);
	mouse_does(NCS_MOUSE_WHEEL_DOWN, 10, 10);
	assert_int_equal(table->selected, 3);
	mouse_does(NCS_MOUSE_WHEEL_UP, 10, 10);
	assert_int_equal(table->selected, 0);
	press("?");
	mouse_does(NCS_MOUSE_WHEEL_DOWN, 10, 10);
	assert_int_equal(screen.help_top, 3);
	press("q S");
	mouse_does(NCS_MOUSE_WHEEL_DOWN, 10, 10);
	assert_int_equal(screen.setup_selected, 3);
	/* The first click selects, the second changes. */
	click_on("numbers");
	assert_false(screen.options.units.exact);
	click_on("numbers");
	assert_true(screen.options.units.exact);
}

/* The menu of orders sorts by what is chosen in it, and by nothing if it is
 * left. */
TEST(menu_chooses_the_order)
{
	const struct ncs_grid *table = &screen.tables[NCS_VIEW_RANK];

	start_usual(NCS_VIEW_RANK);
	press("F6");
	assert_true(screen.sorting);
	draw();
	compare("sort");
	press("Down Esc");
	assert_false(screen.sorting);
	assert_null(table->sort);
	press("< Down Enter");
	assert_false(screen.sorting);
	assert_ptr_equal(table->sort, &ncs_columns[NCS_COLUMN_RANK_RANK]);
	assert_false(table->inverted);
	press("> Enter");
	assert_true(table->inverted);
	press("F6 Home Enter");
	assert_null(table->sort);
	press("F6 End Down Enter");
	assert_ptr_equal(table->sort, table->columns[table->column_count - 1]);
}

/* The peak of the network says nothing of a job that does not use it. */
TEST(network_peak_is_shown_for_several_machines)
{
	start_usual(NCS_VIEW_RANK);
	for (size_t i = 0; i < screen.model.rank_count; i++)
		screen.model.ranks[i]->peaks.network_mb_s = 12500;
	assert_false(picture_has("NIC"));
	for (size_t i = 0; i < screen.model.rank_count; i++)
		screen.model.ranks[i]->now.identity.nnodes = 2;
	assert_true(picture_has("busbw 23.26 of 12.5 GB/s NIC"));
	press("b");
	assert_true(picture_has(" of 100 Gb/s NIC"));
	for (size_t i = 0; i < screen.model.rank_count; i++)
		screen.model.ranks[i]->peaks.network_mb_s = 0;
	assert_false(picture_has("NIC"));
}

static void set_busbw(double gigabytes)
{
	for (size_t i = 0; i < screen.model.communicator_count; i++)
		screen.model.communicators[i].busiest.view.busbw = gigabytes;
}

/* The peak of NVLinks is shown where all ranks are on one machine and no
 * channel tells of a network; any bandwidth fits into 80 columns, in bits, too.
 */
TEST(nvlink_peak_is_shown_for_one_machine)
{
	start_usual(NCS_VIEW_RANK);
	for (size_t i = 0; i < screen.model.rank_count; i++) {
		struct ncs_rank *rank = screen.model.ranks[i];

		rank->peaks = (struct ncs_rank_peaks){
			.nvlink_mb_s = 478116,
			.own = UINT64_C(1) << rank->now.identity.rank,
			.reach = UINT64_MAX,
		};
	}
	assert_false(picture_has("NVL"));
	for (size_t i = 0; i < screen.model.rank_count; i++)
		screen.model.ranks[i]->now.channel_count = 0;
	assert_true(picture_has(" of 478 GB/s NVLink"));
	press("b");
	assert_true(picture_has(" of 3825 Gb/s NVL"));
	assert_false(picture_has("NVLi"));
	press("b");
	set_busbw(372.4849);
	assert_true(picture_has("busbw 372.5 of 478 GB/s NVLink"));
	press("b");
	assert_true(picture_has("busbw  2980 of 3825 Gb/s NVL"));
	press("b");
	set_busbw(99.996);
	assert_true(picture_has("busbw 100.0 of 478 GB/s NVLink"));
}

TEST(keys_return_their_requests)
{
	start_usual(NCS_VIEW_RANK);
	assert_int_equal(press("q"), NCS_REQUEST_QUIT);
	assert_int_equal(press("F10"), NCS_REQUEST_QUIT);
	assert_int_equal(press("Ctrl-C"), NCS_REQUEST_QUIT);
	assert_int_equal(press("Ctrl-T"), NCS_REQUEST_SAMPLE);
	assert_int_equal(press("Ctrl-L"), NCS_REQUEST_REPAINT);
	assert_int_equal(press("]"), NCS_REQUEST_INTERVAL);
	assert_true(screen.options.interval_ns == 2 * SECOND);
	assert_int_equal(press("F7 F7"), NCS_REQUEST_INTERVAL);
	assert_true(screen.options.interval_ns == SECOND / 2);
	for (int i = 0; i < 20; i++)
		press("[");
	assert_true(screen.options.interval_ns == SECOND / 10);
	for (int i = 0; i < 20; i++)
		press("]");
	assert_true(screen.options.interval_ns == 60 * SECOND);
	assert_int_equal(press("Z"), 0);
	assert_true(screen.paused);
	assert_int_equal(press("p"), NCS_REQUEST_SAMPLE);
	assert_false(screen.paused);
}

TEST(esc_goes_back_one_level_at_a_time)
{
	start_usual(NCS_VIEW_RANK);
	press("Down Down Enter");
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	assert_int_equal(screen.depth, 1);
	press("Enter");
	assert_int_equal(screen.depth, 2);
	press("Esc");
	assert_int_equal(screen.depth, 1);
	press("Backspace");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	assert_int_equal(screen.tables[NCS_VIEW_RANK].selected, 2);
	assert_int_equal(press("Esc Esc Esc"), 0);
	/* The first q leaves the help, the second one quits. */
	assert_int_equal(press("? q"), 0);
	assert_int_equal(press("q"), NCS_REQUEST_QUIT);
	/* Choosing a view drops the breadcrumbs. */
	press("Enter Enter channels");
	assert_int_equal(screen.depth, 0);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_ALL);
}

TEST(help_is_on_the_view_and_searched)
{
	int found;

	start_usual(NCS_VIEW_CHANNEL);
	press("?");
	/* The first page has the keys. */
	assert_true(picture_has("help on Channels"));
	assert_true(picture_has("the next abnormal row"));
	assert_true(picture_has("Enter          go to the peer's end of it"));
	assert_true(picture_has("F10 q Ctrl-C"));
	press("PgDn");
	assert_true(picture_has("G gpu"));
	assert_false(picture_has("communicator was finalized"));
	press("q ranks ?");
	for (int i = 0; i < 9 && !picture_has("WAITS-FOR, of a channel"); i++)
		press("PgDn");
	assert_true(picture_has("WAITS-FOR, of a channel"));
	press("q channels ?");
	press("/ f l u s h");
	found = screen.help_found;
	assert_true(picture_has("being flushed"));
	/* The next places, and again the first one. */
	press("Enter n");
	assert_true(screen.help_found > found);
	for (int i = 0; i < 40 && screen.help_found != found; i++)
		press("n");
	assert_int_equal(screen.help_found, found);
	press("N");
	assert_true(screen.help_found > found);
	press("N");
	assert_true(screen.help);
	/* Esc goes back to where the search began. */
	press("Home / z z z");
	assert_int_equal(screen.help_top, 0);
	press("Esc");
	assert_true(screen.help);
	assert_string_equal(screen.help_search, "");
	press("/ z z z Enter n");
	assert_true(picture_has("was not found"));
	press("q");
	assert_false(screen.help);
}

TEST(enter_on_a_collective_shows_its_ranks)
{
	const struct ncs_grid *collectives =
		&screen.tables[NCS_VIEW_COLLECTIVE];
	const struct ncs_grid *functions = &screen.tables[NCS_VIEW_FUNCTION];
	const struct ncs_row *row;

	start_usual(NCS_VIEW_COLLECTIVE);
	press("Down Enter");
	row = &collectives->rows[1].row;
	assert_int_equal(screen.view, NCS_VIEW_FUNCTION);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_COLLECTIVE);
	assert_int_equal(functions->count, row->communicator->rank_count);
	for (size_t i = 0; i < functions->count; i++) {
		assert_ptr_equal(functions->rows[i].row.rank->communicator,
				 row->communicator);
		assert_int_equal(functions->rows[i].row.index, row->index);
	}
	press("Down Enter");
	assert_int_equal(screen.view, NCS_VIEW_CLASS);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_FUNCTION);
	assert_int_equal(functions->selected, 1);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_COLLECTIVE);
	assert_int_equal(collectives->selected, 1);
}

TEST(enter_on_a_function_shows_its_sizes)
{
	const struct ncs_grid *functions = &screen.tables[NCS_VIEW_FUNCTION];
	const struct ncs_grid *sizes = &screen.tables[NCS_VIEW_CLASS];
	const struct ncs_row *row;

	start_usual(NCS_VIEW_FUNCTION);
	press("Down Down Enter");
	row = &functions->rows[2].row;
	assert_int_equal(screen.view, NCS_VIEW_CLASS);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_FUNCTION);
	assert_int_equal(sizes->count, 1);
	assert_ptr_equal(sizes->rows[0].row.rank, row->rank);
	assert_int_equal(
		row->rank->now.classes[sizes->rows[0].row.index].function,
		row->index);
	press("Enter");
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	look(source, SEEN + SECOND);
	press("Esc Esc");
	assert_int_equal(screen.view, NCS_VIEW_FUNCTION);
	assert_int_equal(functions->selected, 2);
}

TEST(x_changes_between_sizes_and_collectives)
{
	start_usual(NCS_VIEW_COLLECTIVE);
	press("x");
	assert_int_equal(screen.view, NCS_VIEW_CLASS);
	assert_true(screen.tables[NCS_VIEW_CLASS].count > 8);
	press("x");
	assert_int_equal(screen.view, NCS_VIEW_COLLECTIVE);
	/* Tab continues from the tab that the view is under. */
	press("x Tab");
	assert_int_equal(screen.view, NCS_VIEW_COLLECTIVE + 1);
	press("Shift-Tab");
	assert_int_equal(screen.view, NCS_VIEW_COLLECTIVE);
	press("ranks x");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	assert_non_null(strstr(screen.notice, "Collectives"));
}

TEST(enter_on_a_communicator_shows_its_ranks)
{
	const struct ncs_grid *communicators =
		&screen.tables[NCS_VIEW_COMMUNICATOR];
	const struct ncs_grid *ranks = &screen.tables[NCS_VIEW_RANK];

	start_usual(NCS_VIEW_COMMUNICATOR);
	press("Down Enter");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	assert_int_equal(ranks->count, 8);
	for (size_t i = 0; i < ranks->count; i++)
		assert_ptr_equal(ranks->rows[i].row.rank->communicator,
				 &screen.model.communicators[1]);
	press("g Down Down Enter");
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_RANK);
	/* Enter goes to the peer's end of a channel. */
	press("Enter");
	assert_int_equal(screen.depth, 3);
	/* Samples between the keys change nothing. */
	look(source, SEEN + SECOND);
	press("Esc Backspace");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_COMMUNICATOR);
	assert_int_equal(ranks->count, 8);
	assert_int_equal(ranks->selected, 2);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_COMMUNICATOR);
	assert_int_equal(communicators->selected, 1);
	assert_int_equal(screen.focus.kind, NCS_FOCUS_ALL);
}

TEST(going_down_selects_the_rank_that_is_behind)
{
	const struct ncs_grid *ranks = &screen.tables[NCS_VIEW_RANK];

	scripted_init(&job);
	make_stuck();
	start(&usual);
	init(NCS_VIEW_COMMUNICATOR);
	look(&job.source, SEEN);
	press("! Enter");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	assert_int_equal(ncs_grid_selected(ranks)->row.rank->now.identity.rank,
			 2);
	/* A focus that is gone is reported. */
	for (int i = 0; i < 4; i++)
		job.ranks[i].snapshot.identity.comm_id = 9;
	look(&job.source, SEEN + SECOND);
	assert_int_equal(ranks->count, 0);
	draw();
	compare("communicator-gone");
	close_job();
	stop();
}

/* Goes from peer to peer more often than there is room for breadcrumbs. */
TEST(going_down_is_limited)
{
	start_usual(NCS_VIEW_RANK);
	press("Down Down");
	for (int i = 0; i < 2 * NCS_TRAIL_MAX; i++)
		press("Enter");
	assert_int_equal(screen.depth, NCS_TRAIL_MAX);
	draw();
	for (int i = 0; i < 2 * NCS_TRAIL_MAX; i++)
		press("Esc");
	assert_int_equal(screen.depth, 0);
	assert_int_equal(screen.view, NCS_VIEW_RANK);
}

TEST(prompt_takes_text_and_leaves_other_keys)
{
	const struct ncs_grid *table = &screen.tables[NCS_VIEW_COLLECTIVE];

	start_usual(NCS_VIEW_COLLECTIVE);
	/* q and ? are text in a prompt. */
	assert_int_equal(press("\\ q ? Z"), 0);
	assert_string_equal(screen.filter, "q?Z");
	press("Backspace Backspace Backspace S e n d");
	assert_string_equal(screen.filter, "Send");
	assert_int_equal(table->count, 1);
	press("Enter");
	assert_string_equal(screen.filter, "Send");
	press("\\ Esc");
	assert_string_equal(screen.filter, "");
	assert_true(table->count > 1);
	/* Esc cancels a search; other keys keep it and have their usual
	 * effect. */
	press("Down / r e c v");
	assert_true(table->selected > 1);
	press("Esc");
	assert_int_equal(table->selected, 1);
	press("/ S e n d Up");
	assert_int_equal(screen.prompt, NCS_PROMPT_NONE);
	assert_string_equal(screen.search, "Send");
	/* The text is limited to its buffer. */
	press("/");
	for (int i = 0; i < 300; i++)
		press("x");
	draw();
}

TEST(set_prompt_asks_on_enter_only)
{
	start_usual(NCS_VIEW_RANK);
	assert_int_equal(press("d"), NCS_REQUEST_DETAIL);
	/* A text has no effect until Enter. */
	assert_int_equal(press("s d e f a u l t"), 0);
	assert_int_equal(screen.prompt, NCS_PROMPT_SET);
	assert_string_equal(screen.filter, "");
	assert_int_equal(press("Enter"), NCS_REQUEST_SET);
	assert_int_equal(screen.prompt, NCS_PROMPT_NONE);
	assert_string_equal(screen.typed, "default");
	assert_int_equal(press("s d Esc"), 0);
	assert_int_equal(press("s Enter"), 0); /* an empty text */
	assert_int_equal(press("s d F1"),
			 0); /* other keys have their usual effect */
	assert_true(screen.help);
	press("q / x");
	assert_int_equal(press("Enter"), 0); /* Enter ends a search */
}

TEST(lease_is_shown_until_it_expires)
{
	struct ncs_settings_view *settings;

	scripted_init(&job);
	for (int i = 0; i < 2; i++) {
		settings = &add_world(i)->snapshot.settings;
		settings->known = true;
		settings->in_force =
			(struct ncs_detail){ 1, NCS_GROUPS_ALL,
					     NCS_KERNEL_DETAIL_EVERY + 4, 1, 0 };
		settings->lease_until_ns = SEEN + 4500 * (SECOND / 1000);
	}
	start(&roomy);
	init(NCS_VIEW_RANK);
	look(&job.source, SEEN);
	assert_true(picture_has("lease 4s"));
	look(&job.source, SEEN + 5 * SECOND);
	assert_false(picture_has("lease"));
	assert_true(picture_has("kernel 1/16"));
	settings->in_force.sample = 5;
	look(&job.source, SEEN + 6 * SECOND);
	assert_true(picture_has("settings differ"));
	settings->refused = NCS_REFUSAL_KERNEL;
	press("G");
	look(&job.source, SEEN + 7 * SECOND);
	assert_true(picture_has("asked to collect"));
	close_job();
	stop();
}

static unsigned ranks_with_records(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < screen.model.rank_count; i++)
		count += source->wants_records(source->wants_context,
					       screen.model.ranks[i]->id);
	return count;
}

TEST(records_are_read_for_few_ranks_or_for_the_selected_one)
{
	start(&usual);
	source = ncs_source_open_synthetic(1, NCS_RANKS_WITH_RECORDS_MAX, 1);
	assert_non_null(source);
	init(NCS_VIEW_RANK);
	source->wants_records = NULL;
	look(source, SEEN);
	assert_true(screen.model.rank_count > NCS_RANKS_WITH_RECORDS_MAX);
	assert_int_equal(ranks_with_records(), 0);
	press("channels");
	draw();
	assert_int_equal(ranks_with_records(), 1);
	press("G");
	assert_int_equal(ranks_with_records(), 1);
	assert_false(source->wants_records(source->wants_context,
					   screen.model.ranks[0]->id));
	source->close(source);
	source = ncs_source_open_synthetic(1, 8, 4);
	assert_non_null(source);
	look(source, SEEN);
	assert_int_equal(ranks_with_records(), screen.model.rank_count);
}

TEST(timeline_follows_time_until_it_is_moved)
{
	const struct ncs_time_view *time = &screen.time;

	start_usual(NCS_VIEW_TIMELINE);
	draw();
	/* Zooming keeps now as long as the cursor is there. */
	press("+ + -");
	assert_false(time->fixed);
	press("<");
	assert_true(time->fixed);
	assert_true(time->end_ns < (int64_t)now);
	look(source, now + SECOND);
	assert_true(time->end_ns < (int64_t)(now - SECOND));
	press("Left Left Left");
	assert_int_equal(time->cursor, 3);
	press("G");
	assert_false(time->fixed);
	assert_int_equal(time->cursor, 0);
	/* Panning stops at now, and the timeline follows again. */
	press("Shift-Left > >");
	assert_false(time->fixed);
	press("Left +");
	assert_true(time->fixed);
}

TEST(esc_ends_the_highlight_and_then_goes_up)
{
	start_usual(NCS_VIEW_RANK);
	press("Down Down Down Enter timeline");
	assert_int_equal(screen.view, NCS_VIEW_TIMELINE);
	assert_int_equal(screen.depth, 1);
	draw();
	press("/ A l l R e d u Enter");
	for (int i = 0; i < 20; i++)
		press("Left");
	press("Enter");
	assert_true(screen.time.highlights);
	assert_int_equal(screen.time.highlighted.function,
			 NCS_FUNCTION_ALL_REDUCE);
	press("Esc");
	assert_false(screen.time.highlights);
	assert_int_equal(screen.view, NCS_VIEW_TIMELINE);
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
}

TEST(click_on_a_track_moves_the_cursor)
{
	int y;

	start_usual(NCS_VIEW_TIMELINE);
	draw();
	y = screen.tables[NCS_VIEW_TIMELINE].rows_y;
	click(y + 3, 70);
	assert_int_equal(screen.time.cursor, 9);
	assert_int_equal(screen.tables[NCS_VIEW_TIMELINE].selected, 3);
	/* A click on the name does not move the cursor. */
	click(y + 4, 10);
	assert_int_equal(screen.time.cursor, 9);
	assert_int_equal(screen.tables[NCS_VIEW_TIMELINE].selected, 4);
}

TEST(message_disappears_after_a_while)
{
	start_usual(NCS_VIEW_RANK);
	press("F9");
	assert_true(picture_has("nothing here stops a job"));
	now += 5 * SECOND;
	assert_false(picture_has("nothing here stops a job"));
}

TEST(navigation_works_while_paused)
{
	start_usual(NCS_VIEW_RANK);
	press("Z channels T Down Enter");
	assert_true(picture_has("PAUSED"));
	assert_true(picture_has("Chan"));
}

/* --- Windows -------------------------------------------------------------- */

TEST(rates_over_ten_seconds_match_picture)
{
	start_usual(NCS_VIEW_CHANNEL);
	for (int i = 1; i <= 15; i++)
		look(source, SEEN + (uint64_t)i * SECOND);
	press("a");
	now += 10 * SECOND; /* the message has expired */
	draw();
	compare("over-ten-seconds");
}

TEST(tabs_name_the_window_of_the_rates)
{
	static const char *const notes[] = { "over 10s  ", "over 100s: 10.0s",
					     "since start  ", NULL };

	start(&roomy);
	open_job(NCS_VIEW_RANK);
	for (int i = 0; i < 4; i++) {
		press("a");
		now += 10 * SECOND;
		if (notes[i])
			assert_true(picture_has(notes[i]));
		else
			assert_false(picture_has("over 10"));
	}
	press("z");
	look(source, SEEN + 4 * SECOND);
	assert_true(picture_has("since z: 4.00s"));
	/* The windows wrap around, and the mark stays. */
	press("a a a a a");
	now += 10 * SECOND;
	assert_true(picture_has("since z: 4.00s"));
}

TEST(sample_while_paused_moves_the_window)
{
	start_usual(NCS_VIEW_RANK);
	press("z Z ]");
	assert_int_equal(press("Ctrl-T"), NCS_REQUEST_SAMPLE);
	look(source, SEEN + 30 * SECOND);
	assert_true(picture_has("PAUSED"));
	assert_true(picture_has("since z: 30.0s"));
}

/* Going around all windows changes nothing else: what was found and compared at
 * the sample stays. */
TEST(windows_keep_what_was_found)
{
	char *before, *after;

	start(&roomy);
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		open_job((enum ncs_view)view);
		now += 10 * SECOND; /* messages have expired */
		before = moment();
		press("a a a a");
		now += 10 * SECOND;
		after = moment();
		assert_string_equal(after, before);
		free(after);
		press("z a");
		now += 10 * SECOND;
		after = moment();
		assert_string_equal(after, before);
		free(after);
		free(before);
		close_job();
	}
	stop();
}

/* --- Sparklines ----------------------------------------------------------- */

TEST(sparklines_match_pictures)
{
	static const struct shape shapes[] = { { 120, 24, false, true },
					       { 120, 24, false, false } };
	static const char *const names[] = { "history-utf8", "history-ascii" };

	for (size_t i = 0; i < 2; i++) {
		start(&shapes[i]);
		open_job(NCS_VIEW_RANK);
		press("v");
		for (uint64_t k = 1; k <= 20; k++)
			look(source, SEEN + k * SECOND / 50);
		now += 10 * SECOND; /* the message has expired */
		draw();
		compare(names[i]);
		close_job();
		stop();
	}
}

/* --- Trees and tags ------------------------------------------------------- */

TEST(tree_of_ranks_matches_picture)
{
	start_usual(NCS_VIEW_RANK);
	press("t Down Down Down + Down Space Down c");
	now += 10 * SECOND; /* the message has expired */
	draw();
	compare("tree-of-ranks");
	press("o F");
	now += 10 * SECOND;
	draw();
	compare("tree-of-tagged-ranks");
}

TEST(enter_on_a_channel_in_a_tree_goes_to_the_channel)
{
	const struct ncs_grid_row *row;

	start_usual(NCS_VIEW_RANK);
	press("t Down Down Down + Down Down Down");
	draw();
	press("Enter");
	assert_int_equal(screen.view, NCS_VIEW_CHANNEL);
	row = ncs_grid_selected(&screen.tables[NCS_VIEW_CHANNEL]);
	assert_int_equal(row->row.index, 2);
	draw();
	press("Esc");
	assert_int_equal(screen.view, NCS_VIEW_RANK);
	row = ncs_grid_selected(&screen.tables[NCS_VIEW_RANK]);
	assert_int_equal(row->row.view, NCS_VIEW_CHANNEL);
	assert_int_equal(row->row.index, 2);
}

/* Communicators are not rows of these views, but must survive every key. */
TEST(every_key_works_in_every_tree)
{
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		start_usual((enum ncs_view)view);
		press("t Home");
		for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++) {
			const char *name = ncs_keys[i].keys;
			size_t length = ncs_key_next_name(&name);

			ncs_screen_key(&screen, ncs_key_code(name, length),
				       now);
			draw();
			press("Esc Esc Esc");
			if (!screen.tables[view].tree.on)
				press("t");
			press("Home");
			draw();
		}
		close_job();
		stop();
	}
}

/* --- Recordings ----------------------------------------------------------- */

/* A recording of 100 s and two hosts with two problems. */
static struct ncs_replay replay;
static struct ncs_replay_search search;

static void open_recording(enum ncs_view view)
{
	setenv("TZ", "UTC", 1);
	open_job(view);
	replay = (struct ncs_replay){
		.all = {
			.from_ns = BORN,
			.until_ns = BORN + 100 * SECOND,
			.realtime_offset_ns = 1700000000 * (int64_t)SECOND,
		},
		.from_ns = BORN,
		.until_ns = BORN + 100 * SECOND,
		.at_ns = BORN + 12 * SECOND + SECOND / 2,
		.speed = 1,
		.error_ns = 12345,
	};
	memset(&search, 0, sizeof(search));
	search.from_ns = BORN;
	search.until_ns = BORN + 100 * SECOND;
	search.next_ns = BORN + 75 * SECOND;
	search.found.count = 2;
	search.found.all[0] = (struct ncs_episode){
		.seen_ns = BORN + 30 * SECOND,
		.until_ns = BORN + 30 * SECOND,
		.verdict = NCS_VERDICT_RANK_DIED,
		.severity = NCS_SEVERITY_STUCK,
		.sentence = "the process of rank 1 is gone",
	};
	search.found.all[1].seen_ns = BORN + 70 * SECOND;
	search.found.all[1].until_ns = BORN + 80 * SECOND;
	ncs_replay_play(&replay, true, now);
	ncs_screen_set_replay(&screen, &replay, &search);
}

TEST(recording_shows_its_position)
{
	static const struct shape shapes[] = {
		{ 80, 24, false, true },
		{ 40, 10, false, true },
		{ 160, 24, true, false },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		char name[64];

		start(&shapes[i]);
		open_recording(NCS_VIEW_RANK);
		draw();
		snprintf(name, sizeof(name), "replay-%dx%d", shapes[i].width,
			 shapes[i].height);
		compare(name);
		close_job();
		stop();
	}
}

TEST(keys_move_through_the_recording)
{
	start(&usual);
	open_recording(NCS_VIEW_RANK);
	assert_int_equal(press(")"), NCS_REQUEST_SAMPLE);
	assert_true(screen.paused);
	assert_int_equal(replay.at_ns, BORN + 13 * SECOND + SECOND / 2);
	assert_int_equal(press("("), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 12 * SECOND + SECOND / 2);
	assert_int_equal(press("f f"), 0);
	assert_true(replay.speed > 4.9 && replay.speed < 5.1);
	assert_int_equal(press("r"), 0);
	assert_true(replay.speed > 1.9 && replay.speed < 2.1);
	assert_int_equal(press(": 1 : 3 0 Enter"), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 90 * SECOND);
	assert_int_equal(press(": - 1 0 0 Enter"), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN);
	assert_int_equal(press(": 1 0 1 Enter"), 0);
	assert_non_null(strstr(screen.notice, "after the recording"));
	assert_int_equal(press(": x Enter"), 0);
	assert_non_null(strstr(screen.notice, "write a time as"));
	assert_int_equal(press(": 5 Esc"), 0);
	assert_int_equal(replay.at_ns, BORN);
	assert_int_equal(press("E"), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 30 * SECOND);
	assert_non_null(strstr(screen.notice, "stuck: the process of rank 1"));
	assert_int_equal(press("E"), NCS_REQUEST_JUMP);
	assert_int_equal(press("E"), 0);
	assert_non_null(strstr(screen.notice, "so far"));
	assert_int_equal(press("B"), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 30 * SECOND);
	assert_int_equal(press("B"), 0);
	assert_int_equal(press("Ctrl-E"), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 100 * SECOND);
	assert_int_equal(press("p"), 0);
	assert_non_null(strstr(screen.notice, "the end"));
	assert_int_equal(press("Ctrl-A"), NCS_REQUEST_JUMP);
	assert_int_equal(press("p"), NCS_REQUEST_SAMPLE);
	assert_true(replay.playing && !screen.paused);
	assert_int_equal(press("p"), NCS_REQUEST_SAMPLE);
	assert_false(replay.playing);
}

/* With so many ranks, the sample asks the table whose records to read: its rows
 * must be those of the model that was just filled. */
TEST(rows_follow_a_model_that_was_filled_anew)
{
	struct sim_options options =
		sim_steps(1, NCS_RANKS_WITH_RECORDS_MAX + 1);
	const struct ncs_replay_part part = { .at = { 0 } };
	struct sim_recording written;
	struct ncs_replay recorded;
	char directory[] = "/tmp/ncclstat-screens.XXXXXX", why[256];
	const char *path = written.path[0];
	const struct ncs_grid *table = &screen.tables[NCS_VIEW_TIMELINE];

	assert_non_null(mkdtemp(directory));
	options.steps = 3;
	assert_int_equal(sim_recording_write(&written, &options, directory, why,
					     sizeof(why)),
			 0);
	assert_int_equal(ncs_replay_open(&recorded, &path, 1, &part, why,
					 sizeof(why)),
			 0);
	start(&usual);
	init(NCS_VIEW_TIMELINE);
	ncs_screen_set_replay(&screen, &recorded, NULL);
	ncs_replay_go(&recorded, recorded.until_ns, 0);
	look(recorded.source, recorded.until_ns);
	draw();
	assert_true(table->count > 0);
	assert_int_equal(screen.model.rank_count, options.ranks);
	assert_int_equal(ncs_screen_fill(&screen, recorded.source), 0);
	for (size_t i = 0; i < table->count; i++) {
		size_t k = 0;

		while (k < screen.model.rank_count &&
		       screen.model.ranks[k] != table->rows[i].row.rank)
			k++;
		assert_true(k < screen.model.rank_count);
	}
	look(recorded.source, recorded.until_ns);
	assert_int_equal(screen.model.rank_count, options.ranks);
	close_job();
	stop();
	ncs_replay_close(&recorded);
	unlink(path);
	rmdir(directory);
	sim_recording_release(&written);
}

TEST(recording_cannot_be_asked_for_settings)
{
	start(&usual);
	open_recording(NCS_VIEW_RANK);
	assert_int_equal(press("d"), 0);
	assert_non_null(strstr(screen.notice, "this is a recording"));
	assert_int_equal(press("s"), 0);
	assert_int_equal(screen.prompt, NCS_PROMPT_NONE);
	assert_non_null(strstr(screen.notice, "this is a recording"));
}

TEST(click_on_the_bar_moves_through_the_recording)
{
	static const struct shape wide = { 160, 24, false, true };

	start(&wide);
	open_recording(NCS_VIEW_RANK);
	draw();
	assert_true(screen.bar_width > 10);
	assert_int_equal(click(screen.bar_y, screen.bar_x), NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN);
	assert_int_equal(click(screen.bar_y,
			       screen.bar_x + screen.bar_width - 1),
			 NCS_REQUEST_JUMP);
	assert_int_equal(replay.at_ns, BORN + 100 * SECOND);
	assert_int_equal(click(screen.bar_y, screen.bar_x - 1), 0);
	/* When the bar is no longer drawn, clicks on its place have no
	 * effect. */
	press("#");
	draw();
	assert_int_equal(screen.bar_width, 0);
}

TEST(keys_of_recordings_need_a_recording)
{
	start_usual(NCS_VIEW_RANK);
	assert_int_equal(press(")"), 0);
	assert_non_null(strstr(screen.notice, "--replay"));
	assert_int_equal(press(":"), 0);
	assert_int_equal(screen.prompt, NCS_PROMPT_NONE);
	assert_non_null(strstr(screen.notice, "--replay"));
}

int main(void)
{
	/* The environment of the user must have no effect. */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	return unit_run();
}
