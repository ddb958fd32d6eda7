/* SPDX-License-Identifier: MIT */
/* The memory that one call over NVLink touches, and how often it reads the time: its
 * twelve callbacks (GroupApi with two states, CollApi, KernelLaunch, Group, Coll) run
 * under valgrind, which tells each access. When the job's own work has filled the
 * caches, each line costs a miss, so that their number tells what a call costs,
 * without a clock.
 *
 *	test_touched --calls	makes the calls, and writes the process's mappings
 *	LINES=1 test_touched	prints each line, by the callback that comes first, and
 *				each callback's instructions
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The most that a call may touch but for the states of its group, and that these may
 * add. A change that needs more slows down every call of every job: think of another
 * way first. */
struct touched {
	size_t data_lines, code_lines;
	unsigned instructions;
};
static const struct touched touched_max[] = { { 37, 112, 2250 },
					      { 2, 12, 225 } };
/* The least number of lines that it fetches ahead, which no access shows: a
 * compiler may drop them all, and does so without a word. */
#define FETCHES_MIN 20u
/* A reading of the time takes as long as 25 to 75 other instructions. Callbacks that
 * NCCL makes one directly after the other share one. */
#define TIMES_MAX 6u

#define WARM_UP 70 /* calls before the first one that is counted */
#define CALLS 16   /* that are counted; places in tables differ */
#define CALLBACKS 12

/* --- Making the calls, under valgrind ------------------------------------- */

/* Where a callback begins and ends, there is a store here. Nothing else is. */
#define MARKS UINT64_C(0x100000000)
#define MARK_BYTES 4096u
#define MARK_BEGIN MARKS
#define MARK_END (MARKS + 8)
#define MARK_WARM (MARKS + 16) /* the calls that are counted begin */

static const char *const callbacks[CALLBACKS] = {
	"group_api start",    "group_api begun", "coll_api start",
	"coll_api stop",      "group_api ends",  "kernel_launch start",
	"kernel_launch stop", "group start",     "coll start",
	"coll stop",          "group stop",      "group_api stop",
};

static void mark(uint64_t place)
{
	*(volatile uint64_t *)place = 1;
}

static void *begin(struct host *host, void *context,
		   const struct host_event *event, void *parent)
{
	union nccl_event_descr descr;
	void *handle = NULL;

	host_lay_out(host, event, &descr);
	descr.v5.parent = parent;
	mark(MARK_BEGIN);
	host_start_descr(host, context, &descr, &handle);
	mark(MARK_END);
	return handle;
}

static void end(struct host *host, void *handle)
{
	mark(MARK_BEGIN);
	host_stop(host, handle);
	mark(MARK_END);
}

static void tell_state(struct host *host, void *handle, int state)
{
	const struct host_state told = { .state = state };

	mark(MARK_BEGIN);
	host_record(host, handle, &told);
	mark(MARK_END);
}

static void call(struct host *host, void *context, uint64_t number)
{
	const struct host_event group_api = { .type = NCCL_EVENT_GROUP_API,
					      .depth = 1 },
				coll_api = { .type = NCCL_EVENT_COLL_API,
					     .func = "AllReduce",
					     .count = 256,
					     .datatype = "ncclFloat32" },
				launch = { .type = NCCL_EVENT_KERNEL_LAUNCH },
				group = { .type = NCCL_EVENT_GROUP },
				coll = { .type = NCCL_EVENT_COLL,
					 .seq_number = number,
					 .func = "AllReduce",
					 .count = 256,
					 .datatype = "ncclFloat32",
					 .channels = 1,
					 .algorithm = "RING",
					 .protocol = "LL" };
	void *outer = begin(host, context, &group_api, NULL);
	void *api, *inner;

	tell_state(host, outer, NCCL_STATE_GROUP_START_API_STOP);
	api = begin(host, context, &coll_api, outer);
	end(host, api);
	tell_state(host, outer, NCCL_STATE_GROUP_END_API_START);
	end(host, begin(host, context, &launch, outer));
	inner = begin(host, context, &group, NULL);
	end(host, begin(host, context, &coll, api));
	end(host, inner);
	end(host, outer);
}

/* Writes the process's mappings to stderr, as lines that begin with `what`. */
static void write_maps(const char *what)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		fprintf(stderr, "%s %s", what, line);
	if (maps)
		fclose(maps);
}

static int make_calls(void)
{
	struct host *host;
	void *context;

	if (mmap((void *)MARKS, MARK_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)MARKS)
		return EXIT_FAILURE;
	write_maps("old");
	host = open_plugin(5);
	context = init_comm(host, "lines", 0);
	write_maps("new");
	for (uint64_t number = 0; number < WARM_UP + CALLS; number++) {
		if (number == WARM_UP)
			mark(MARK_WARM);
		call(host, context, number);
	}
	host_finalize(host, context);
	return EXIT_SUCCESS;
}

/* --- Counting ----------------------------------------------------------- */

struct range {
	uint64_t begin, end;
	uint64_t offset; /* in its file */
	char name[64];
};

struct ranges {
	struct range all[256];
	size_t count;
};

struct line {
	uint64_t number;   /* address / 64 */
	unsigned callback; /* that touches it first */
};

struct lines {
	struct line all[4096];
	size_t count;
};

struct trace {
	char maps[128]; /* path of the file with the process's mappings */
	/* Mappings before the plugin was there, and after. */
	struct ranges old, now;
	bool warm, inside;
	unsigned callback;       /* of a call */
	struct lines data, code; /* of a call */
	unsigned fetches;        /* of a call */
	unsigned times;          /* readings of the time, of a call */
	unsigned by_callback[CALLBACKS]; /* instructions */
	/* The greatest of all calls. */
	struct touched most[2]; /* but for the states, and by them */
	unsigned calls;
	unsigned fetches_least, times_most;
	FILE *plugin;
};

static void add_range(struct ranges *ranges, const char *text)
{
	struct range *range = &ranges->all[ranges->count];
	char path[256] = "";

	if (ranges->count == COUNT(ranges->all) ||
	    sscanf(text, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			 " %*s %*s %255s",
		   &range->begin, &range->end, &range->offset, path) < 3)
		return;
	snprintf(range->name, sizeof(range->name), "%.63s",
		 strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	ranges->count++;
}

static const struct range *range_of(const struct ranges *ranges,
				    uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (address >= ranges->all[i].begin &&
		    address < ranges->all[i].end)
			return &ranges->all[i];
	return NULL;
}

/* Returns the plugin's range at an address; NULL if it is not the plugin's. */
static const struct range *plugins(const struct trace *trace, uint64_t address)
{
	return range_of(&trace->old, address) ? NULL :
						range_of(&trace->now, address);
}

static void add_line(struct lines *lines, uint64_t number, unsigned callback)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->all[i].number == number)
			return;
	CHECK(lines->count < COUNT(lines->all), "room for lines");
	lines->all[lines->count++] = (struct line){ number, callback };
}

static void print_lines(const struct trace *trace, const struct lines *lines,
			const char *what)
{
	for (size_t i = 0; i < lines->count; i++) {
		uint64_t address = lines->all[i].number * 64;
		const struct range *range = plugins(trace, address);

		printf("%s %-20s %s+0x%" PRIx64 "\n", what,
		       callbacks[lines->all[i].callback],
		       *range->name ? range->name : "memory",
		       address - range->begin);
	}
}

static void read_maps(struct trace *trace)
{
	FILE *maps = fopen(trace->maps, "re");
	char line[512];

	CHECK(maps, "%s: %s", trace->maps, strerror(errno));
	while (fgets(line, sizeof(line), maps))
		if (strncmp(line, "old ", 4) == 0)
			add_range(&trace->old, line + 4);
		else if (strncmp(line, "new ", 4) == 0)
			add_range(&trace->now, line + 4);
	fclose(maps);
}

/* Counts an instruction, by its code: one that fetches a line is 0f 18 or 0f 0d, after
 * a prefix or none; one that reads the time stamp counter is 0f 31. */
static void count_instruction(struct trace *trace, const struct range *range,
			      uint64_t address)
{
	unsigned char bytes[3] = { 0 }, *code = bytes;

	trace->by_callback[trace->callback]++;
	fseek(trace->plugin, (long)(address - range->begin + range->offset),
	      SEEK_SET);
	if (fread(bytes, 1, sizeof(bytes), trace->plugin) == sizeof(bytes) &&
	    (*code & 0xf0) == 0x40)
		code++;
	if (code[0] != 0x0f)
		return;
	trace->fetches += code[1] == 0x18 || code[1] == 0x0d;
	trace->times += code[1] == 0x31;
}

static bool is_state(unsigned callback)
{
	return callback == 1 || callback == 4;
}

static size_t count_lines(const struct lines *lines, bool states)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->count; i++)
		count += is_state(lines->all[i].callback) == states;
	return count;
}

/* Returns what the states of a call's group touch first, or its other callbacks. */
static struct touched touched_by(const struct trace *trace, bool states)
{
	struct touched touched = {
		.data_lines = count_lines(&trace->data, states),
		.code_lines = count_lines(&trace->code, states),
	};

	for (unsigned i = 0; i < CALLBACKS; i++)
		if (is_state(i) == states)
			touched.instructions += trace->by_callback[i];
	return touched;
}

static void end_call(struct trace *trace)
{
	for (unsigned part = 0; part < 2; part++) {
		struct touched touched = touched_by(trace, part == 1);
		struct touched *most = &trace->most[part];

		if (touched.data_lines > most->data_lines)
			most->data_lines = touched.data_lines;
		if (touched.code_lines > most->code_lines)
			most->code_lines = touched.code_lines;
		if (touched.instructions > most->instructions)
			most->instructions = touched.instructions;
	}
	if (trace->calls == 0 || trace->fetches < trace->fetches_least)
		trace->fetches_least = trace->fetches;
	if (trace->times > trace->times_most)
		trace->times_most = trace->times;
	if (++trace->calls == 1 && getenv("LINES")) {
		print_lines(trace, &trace->data, "data");
		print_lines(trace, &trace->code, "code");
		for (unsigned i = 0; i < CALLBACKS; i++)
			printf("%-20s %u instructions\n", callbacks[i],
			       trace->by_callback[i]);
	}
	memset(trace->by_callback, 0, sizeof(trace->by_callback));
	trace->callback = 0;
	trace->data.count = trace->code.count = 0;
	trace->fetches = trace->times = 0;
}

static void take_access(struct trace *trace, char kind, uint64_t address,
			unsigned bytes)
{
	const struct range *range;

	if (address == MARK_WARM) {
		read_maps(trace);
		trace->warm = true;
	} else if (address == MARK_BEGIN) {
		trace->inside = trace->warm;
	} else if (address == MARK_END && trace->inside) {
		trace->inside = false;
		if (++trace->callback == CALLBACKS)
			end_call(trace);
	}
	range = trace->inside ? plugins(trace, address) : NULL;
	if (!range)
		return;
	if (kind == 'I')
		count_instruction(trace, range, address);
	for (uint64_t number = address / 64;
	     number <= (address + bytes - 1) / 64; number++)
		add_line(kind == 'I' ? &trace->code : &trace->data, number,
			 trace->callback);
}

SCENARIO(call_touches_few_lines)
{
	static struct trace trace;
	char command[4300], path[4096], line[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	unsigned bytes;
	uint64_t address;
	FILE *pipe;
	char kind;

#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__) || \
	defined(__SANITIZE_THREAD__)
	scenario_skip("the numbers are those of a plain build for x86-64");
#endif
	if (system("valgrind --version >/dev/null 2>&1") != 0)
		scenario_skip("valgrind is not installed");
	CHECK(length > 0, "the path of this program");
	path[length] = '\0';
	snprintf(trace.maps, sizeof(trace.maps), "%s/maps", scenario_directory);
	snprintf(command, sizeof(command),
		 "valgrind -q --tool=lackey --trace-mem=yes --log-fd=1"
		 " %s --calls 2>%s",
		 path, trace.maps);
	trace.plugin = fopen(NCS_PLUGIN_PATH, "re");
	CHECK(trace.plugin, "%s: %s", NCS_PLUGIN_PATH, strerror(errno));
	pipe = popen(command, "re");
	CHECK(pipe, "%s", strerror(errno));
	while (fgets(line, sizeof(line), pipe))
		if (sscanf(line, " %c %" SCNx64 ",%u", &kind, &address,
			   &bytes) == 3)
			take_access(&trace, kind, address, bytes);
	CHECK_EQUAL(pclose(pipe), 0, command);
	unlink(trace.maps);
	fclose(trace.plugin);
	CHECK_EQUAL(trace.calls, CALLS, "calls");
	for (unsigned part = 0; part < 2; part++) {
		const struct touched *most = &trace.most[part],
				     *max = &touched_max[part];
		const char *whose = part == 1 ? "by the states" : "by others";

		printf("%zu lines of data, %zu of code, %u instructions %s\n",
		       most->data_lines, most->code_lines, most->instructions,
		       whose);
		CHECK(most->data_lines <= max->data_lines,
		      "%zu lines of data %s", most->data_lines, whose);
		CHECK(most->code_lines <= max->code_lines,
		      "%zu lines of code %s", most->code_lines, whose);
		CHECK(most->instructions <= max->instructions,
		      "%u instructions %s", most->instructions, whose);
	}
	printf("%u instructions fetch a line, and %u read the time\n",
	       trace.fetches_least, trace.times_most);
	CHECK(trace.times_most <= TIMES_MAX, "the time is read %u times",
	      trace.times_most);
	CHECK(trace.fetches_least >= FETCHES_MIN, "%u lines fetched ahead",
	      trace.fetches_least);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--calls") == 0)
		return make_calls();
	return unit_run();
}
