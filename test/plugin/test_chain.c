/* SPDX-License-Identifier: MIT */
/* A second plugin chained to ours (NCCLSTAT_CHAIN): it must get the same calls
 * as if it were alone, and our plugin must publish the same as without it. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/plugin/calls.h"
#include "test/plugin/next/recording_plugin.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define BIT(event) (1u << NCS_EVENT_##event)

/* --- The chained plugin ------------------------------------------------ */

static const char *file_of(const char *versions)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/recorder-%s.so", NCS_NEXT, versions);
	return path;
}

static struct recorder *open_recorder(const char *versions)
{
	void *library = dlopen(file_of(versions), RTLD_NOW | RTLD_LOCAL);
	struct recorder *recorder;

	CHECK(library, "%s", dlerror());
	recorder = dlsym(library, "recorder");
	CHECK(recorder, "not a recorder's library");
	recorder->reset();
	return recorder;
}

/* Loads the recording plugin that the next init of this process will chain to
 * ours. */
static struct recorder *chain(const char *versions)
{
	setenv("NCCLSTAT_CHAIN", file_of(versions), 1);
	return open_recorder(versions);
}

static void *context_of(unsigned number)
{
	return (void *)(uintptr_t)RECORDER_CONTEXT(number);
}

/* Tells whether a line of the recording plugin begins with this text. */
__attribute__((format(printf, 2, 3))) static bool
wrote(const struct recorder *recorder, const char *format, ...)
{
	char wanted[512];
	va_list list;

	wanted[0] = '\n';
	va_start(list, format);
	vsnprintf(wanted + 1, sizeof(wanted) - 1, format, list);
	va_end(list);
	return strstr(recorder->text, wanted) ||
	       strncmp(recorder->text, wanted + 1, strlen(wanted + 1)) == 0;
}

#define EXPECT(recorder, ...) \
	CHECK(wrote(recorder, __VA_ARGS__), "not in\n%s", (recorder)->text)

/* Returns the n-th handle that the recording plugin gave, for an event of this
 * type. */
static void *handle_of(unsigned number, unsigned event)
{
	return (void *)(uintptr_t)RECORDER_HANDLE(number, event);
}

static void expect_start(const struct recorder *recorder, unsigned number,
			 enum ncs_event event, void *parent)
{
	EXPECT(recorder, "start %p context=%p type=%llu parent=%p ",
	       handle_of(number, event), context_of(1), 1ull << event, parent);
}

static void expect_nothing_broken(const struct recorder *recorder)
{
	CHECK_EQUAL(recorder->broken, 0, "got a handle that it never returned");
}

/* --- The same calls as alone ------------------------------------------- */

/* NCCL starts an event if its type, or a type below it, is in the mask. */
static bool is_started(unsigned mask, unsigned event)
{
	static const uint32_t beneath[NCS_EVENT_COUNT] = {
		[NCS_EVENT_GROUP_API] = BIT(COLL_API) | BIT(P2P_API) |
					BIT(KERNEL_LAUNCH) | BIT(GROUP),
		[NCS_EVENT_COLL_API] = BIT(COLL) | BIT(CE_COLL),
		[NCS_EVENT_P2P_API] = BIT(P2P),
		[NCS_EVENT_GROUP] = BIT(COLL) | BIT(P2P),
		[NCS_EVENT_COLL] = BIT(PROXY_OP) | BIT(KERNEL_CH),
		[NCS_EVENT_P2P] = BIT(PROXY_OP) | BIT(KERNEL_CH),
		[NCS_EVENT_PROXY_OP] = BIT(PROXY_STEP),
		[NCS_EVENT_PROXY_STEP] = BIT(NET_PLUGIN),
		[NCS_EVENT_KERNEL_CH] = BIT(KERNEL_PHASE),
		[NCS_EVENT_CE_COLL] = BIT(CE_SYNC) | BIT(CE_BATCH),
	};

	if (mask & 1u << event)
		return true;
	for (unsigned i = 0; i < NCS_EVENT_COUNT; i++)
		if (beneath[event] & 1u << i && is_started(mask, i))
			return true;
	return false;
}

/* Makes the calls of a log that NCCL makes with this mask. */
static void replay(const struct calllog *log, const char *path, int api,
		   unsigned mask)
{
	char message[512];
	struct host *host;

	CHECK(host_open(&host, path, api, message, sizeof(message)) == 0, "%s",
	      message);
	CHECK(host_use_log(host, log) == 0, "out of memory");
	for (size_t i = 0; i < log->call_count; i++) {
		const struct calllog_call *call = &log->calls[i];
		uint64_t type = calllog_number(call, CALLLOG_KEY_TYPE);

		if (call->verb == CALLLOG_START &&
		    !is_started(mask, (unsigned)__builtin_ctzll(type)))
			continue;
		CHECK(host_call(host, call, NULL, message, sizeof(message)) ==
			      0,
		      "%s", message);
	}
	host_finalize_all(host);
	host_close(host);
}

static void check_same_text(const char *got, const char *want, const char *what)
{
	size_t same = 0, line = 1;

	while (got[same] && got[same] == want[same])
		line += got[same++] == '\n';
	if (!got[same] && !want[same])
		return;
	while (same > 0 && got[same - 1] != '\n')
		same--;
	scenario_fail(__FILE__, __LINE__, NULL,
		      "%s, call %zu: it got\n%.*s\nand alone gets\n%.*s", what,
		      line, (int)strcspn(got + same, "\n"), got + same,
		      (int)strcspn(want + same, "\n"), want + same);
}

struct comparison {
	const char *log;
	int api;              /* 0 for the log's version */
	const char *versions; /* the chained plugin's version */
	size_t body_bytes;    /* the highest version of both */
	unsigned known;       /* bits of the events of that version */
};

static const unsigned masks[] = {
	0xffff,
	BIT(COLL) | BIT(P2P) | BIT(KERNEL_CH),
	BIT(PROXY_STEP),
	BIT(KERNEL_LAUNCH) | BIT(PROXY_CTRL),
	0,
};

static void compare(void *argument)
{
	const struct comparison *wanted = argument;
	struct recorder *chained = chain(wanted->versions);
	struct recorder *alone = open_recorder("all");
	struct calllog *log;
	char message[1024], what[256], *text;
	int api;

	CHECK(calllog_read(wanted->log, &log, message, sizeof(message)) == 0,
	      "%s", message);
	api = wanted->api ? wanted->api : log->api;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		unsigned mask = masks[i] & wanted->known;

		chained->reset();
		chained->mask = (int)masks[i];
		chained->body_bytes = wanted->body_bytes;
		replay(log, NCS_PLUGIN_PATH, api, 0xffff);
		expect_nothing_broken(chained);
		text = strdup(chained->text);
		alone->reset();
		alone->mask = (int)mask;
		alone->body_bytes = wanted->body_bytes;
		replay(log, file_of("all"), api, mask);
		expect_nothing_broken(alone);
		snprintf(what, sizeof(what), "%s, mask %x", wanted->log, mask);
		check_same_text(text, alone->text, what);
		free(text);
	}
	CHECK(strstr(alone->text, "init"), "nothing was compared");
	calllog_free(log);
}

static int has_no_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Compares every capture whose folder's name contains `part`. */
static void compare_captures(const char *part,
			     const struct comparison *comparison)
{
	struct dirent **folders;
	int count = scandir(NCS_CAPTURES, &folders, has_no_dot, versionsort);
	struct comparison one = *comparison;
	unsigned compared = 0;
	char path[4096];

	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s/rank0.calllog.xz",
			 NCS_CAPTURES, folders[i]->d_name);
		one.log = path;
		if (strstr(folders[i]->d_name, part) &&
		    access(path, R_OK) == 0) {
			scenario_play(compare, &one);
			compared++;
		}
		free(folders[i]);
	}
	free(folders);
	assert_true(compared > 0);
}

TEST(chained_plugin_gets_every_capture_as_if_alone)
{
	const struct comparison same = { .versions = "all", .known = 0xffff };

	compare_captures("", &same);
}

TEST(older_table_gets_newer_descriptors_unchanged)
{
	struct comparison comparison = {
		.versions = "5",
		.body_bytes = NCCL_EVENT_DESCR_V5_BYTES - 24,
		.known = 0xfff,
	};

	compare_captures("v6", &comparison);
	comparison.api = 7;
	compare_captures("v6", &comparison);
	comparison.versions = "6";
	comparison.known = 0x7fff;
	compare_captures("v6", &comparison);
}

/* --- All types with all their fields ----------------------------------- */

static void start_all_types(int api, const char *path, unsigned known)
{
	struct host_event facts = {
		.rank = 3,
		.seq_number = 77,
		.func = "AllReduce",
		.datatype = "ncclInt8",
		.algorithm = "RING",
		.protocol = "LL",
		.count = 4711,
		.root = 1,
		.peer = 2,
		.channels = 8,
		.warps = 4,
		.kernel_variant = "variant",
		.is_symmetric = 1,
		.user_tag = UINT64_C(0x1122334455667788),
		.depth = 2,
		.pid = (int)getpid(),
		.channel = 6,
		.steps = 12,
		.chunk_bytes = 4096,
		.is_send = 1,
		.step = 5,
		.gpu_timer_ns = 123456789,
		.sync_strategy = "MC",
		.intra_sync = 1,
		.batch_size = 9,
		.batches = 10,
		.ce_seq_number = 11,
		.is_complete = 1,
		.nranks = 4,
		.ops = 13,
		.total_bytes = 14,
		.phase = 2,
		.phase_name = "final_sync",
		.net_id = 1,
	};
	/* Parents before children. */
	static const unsigned order[] = { 8, 9, 10, 11, 0,  1,  2,  3,
					  4, 7, 5,  6,  15, 12, 13, 14 };
	static const unsigned parents[16] = {
		[1] = 9,   [2] = 10,  [3] = 1,  [4] = 3,  [6] = 1,
		[7] = 4,   [9] = 8,   [10] = 8, [11] = 8, [12] = 9,
		[13] = 12, [14] = 12, [15] = 6,
	};
	void *context, *handles[16] = { 0 };
	char message[512];
	struct host *host;

	CHECK(host_open(&host, path, api, message, sizeof(message)) == 0, "%s",
	      message);
	context = init_comm(host, "all types", 1);
	for (size_t i = 0; i < 16; i++) {
		unsigned event = order[i];

		if (!(known & 1u << event))
			continue;
		facts.type = UINT64_C(1) << event;
		facts.parent = parents[event] ? handles[parents[event]] : NULL;
		facts.parent_group = handles[0];
		host_start(host, context, &facts, &handles[event]);
		CHECK(handles[event], "type %u", event);
	}
	for (size_t i = 16; i-- > 0;) {
		struct host_state state = { .state = (int)i, .size_bytes = 99 };

		if (!handles[order[i]])
			continue;
		host_record(host, handles[order[i]], &state);
		host_stop(host, handles[order[i]]);
	}
	host_finalize(host, context);
	host_close(host);
}

static void compare_all_types(void *argument)
{
	const struct comparison *wanted = argument;
	struct recorder *chained = chain(wanted->versions);
	struct recorder *alone;
	char *text;

	chained->body_bytes = wanted->body_bytes;
	start_all_types(wanted->api, NCS_PLUGIN_PATH,
			wanted->api == 7 ? 0xffff : 0x7fff);
	expect_nothing_broken(chained);
	CHECK(chained->version == (unsigned)atoi(wanted->versions) ||
		      strcmp(wanted->versions, "all") == 0,
	      "the newest that fits is taken");
	text = strdup(chained->text);
	alone = open_recorder("all");
	alone->body_bytes = wanted->body_bytes;
	start_all_types(wanted->api, file_of("all"), wanted->known);
	check_same_text(text, alone->text, wanted->versions);
	free(text);
}

TEST(events_of_every_type_are_passed_on_completely)
{
	const size_t old = NCCL_EVENT_DESCR_V5_BYTES - 24;
	struct comparison comparisons[] = {
		{ NULL, 7, "all", 0, 0xffff }, { NULL, 6, "all", 0, 0x7fff },
		{ NULL, 7, "6", old, 0x7fff }, { NULL, 7, "5", old, 0xfff },
		{ NULL, 6, "5", old, 0xfff },
	};

	for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
		scenario_play(compare_all_types, &comparisons[i]);
}

/* --- Version 4 and its parents ----------------------------------------- */

static void speak_version_4(void *argument)
{
	struct recorder *next = chain("4");
	struct guest guest;
	void *call, *group, *coll, *op, *step, *p2p, *kernel;

	guest_open(&guest, *(const int *)argument);
	CHECK_EQUAL(next->version, 4, "there is no other");
	EXPECT(next, "init id=c0ffee name=guest nnodes=2 nranks=4 rank=1");
	call = start_type(&guest, NCCL_EVENT_COLL_API,
			  start_type(&guest, NCCL_EVENT_GROUP_API, NULL));
	start_type(&guest, NCCL_EVENT_KERNEL_LAUNCH, NULL);
	CHECK_EQUAL(next->calls, 1, "version 4 has no such types");
	group = start_type(&guest, NCCL_EVENT_GROUP, NULL);
	coll = start(&guest, &(struct host_event){ .type = NCCL_EVENT_COLL,
						   .rank = 1,
						   .parent = call,
						   .parent_group = group });
	p2p = start(&guest, &(struct host_event){ .type = NCCL_EVENT_P2P,
						  .parent = call,
						  .parent_group = group });
	op = start_proxy_op(&guest, coll, 3, true, 2, 1);
	step = start_step(&guest, op, 0);
	kernel = start_kernel(&guest, p2p, 5, 12345);
	record_timer(&guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 23456);
	record_size(&guest, step, NCCL_STATE_STEP_SEND_WAIT, 77);
	stop(&guest, step);
	stop(&guest, call);
	expect_start(next, 1, NCS_EVENT_GROUP, NULL);
	expect_start(next, 2, NCS_EVENT_COLL, handle_of(1, NCS_EVENT_GROUP));
	expect_start(next, 3, NCS_EVENT_P2P, handle_of(1, NCS_EVENT_GROUP));
	expect_start(next, 4, NCS_EVENT_PROXY_OP, handle_of(2, NCS_EVENT_COLL));
	expect_start(next, 5, NCS_EVENT_PROXY_STEP,
		     handle_of(4, NCS_EVENT_PROXY_OP));
	expect_start(next, 6, NCS_EVENT_KERNEL_CH, handle_of(3, NCS_EVENT_P2P));
	EXPECT(next, "state %p 22 ", handle_of(6, NCS_EVENT_KERNEL_CH));
	EXPECT(next, "state %p 9 ", handle_of(5, NCS_EVENT_PROXY_STEP));
	EXPECT(next, "stop %p", handle_of(5, NCS_EVENT_PROXY_STEP));
	CHECK_EQUAL(next->calls, 10, "no others");
	expect_nothing_broken(next);
	guest_close(&guest);
}

TEST(version_4_gets_the_group_as_parent)
{
	int api;

	for (api = 5; api <= LAST_API; api++)
		scenario_play(speak_version_4, &api);
}

/* --- Plugins that cannot be chained ------------------------------------ */

struct chain_refusal {
	const char *file; /* the versions of a recording plugin, or a path */
	int api;
	const char *told;
};

static void refuse(void *argument)
{
	const struct chain_refusal *refusal = argument;
	bool is_path = strchr(refusal->file, '/') != NULL;
	struct guest guest;

	setenv("NCCLSTAT_CHAIN",
	       is_path ? refusal->file : file_of(refusal->file), 1);
	guest_open(&guest, refusal->api);
	play_coll(&guest, 0);
	check_still_follows(&guest, "ours goes on alone");
	check_losses(&guest, "ours goes on alone", END_OF_LOSSES);
	CHECK(refusal->api < 4 || host_log_has(refusal->told),
	      "the log does not say that %s", refusal->told);
	CHECK(refusal->api < 4 || host_log_has("gets no calls"),
	      "the log does not say what that means");
	init_comm(guest.host, "second", 2);
	guest_close(&guest);
}

TEST(table_of_unusable_version_is_left_out_and_reported)
{
	struct chain_refusal refusals[] = {
		{ "1-2-3", 7, "it offers 1, 2, 3, and this NCCL needs 4 to 7" },
		{ "1-2-3", 5, "it offers 1, 2, 3, and this NCCL needs 4 to 5" },
		{ "1-2-3", 4, "it offers 1, 2, 3, and this NCCL needs 4" },
		{ "6-7", 5, "it offers 6, 7, and this NCCL needs 4 to 5" },
		{ "5", 4, "it offers 5, and this NCCL needs 4" },
		{ "5", 3, "" },
		{ "/nowhere/other.so", 6, "it cannot be loaded: /nowhere" },
		{ "libm.so.6/", 6, "it cannot be loaded" },
		{ NCS_PLUGIN_PATH, 6, "it is ncclstat itself" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		scenario_play(refuse, &refusals[i]);
}

SCENARIO(library_without_tables_is_left_out)
{
	struct guest guest;

	setenv("NCCLSTAT_CHAIN", "libm.so.6", 1);
	guest_open(&guest, LAST_API);
	CHECK(host_log_has("it offers none, and this NCCL needs 4 to 7"),
	      "a library without tables");
	check_still_follows(&guest, "ours goes on alone");
	guest_close(&guest);
}

SCENARIO(none_means_no_library)
{
	struct guest guest;

	setenv("NCCLSTAT_CHAIN", "none", 1);
	guest_open(&guest, LAST_API);
	CHECK(!host_log_has("NCCLSTAT_CHAIN"), "no plugin was to be chained");
	guest_close(&guest);
}

static void use_version(void *argument)
{
	int api = *(const int *)argument;
	struct recorder *next = chain("1-2-3");
	struct guest guest;

	guest_open(&guest, api);
	CHECK_EQUAL(next->version, api, "the same as NCCL's");
	play_coll(&guest, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], 1, "gets all events");
	guest_close(&guest);
}

TEST(versions_1_to_3_are_passed_on_unchanged)
{
	int api;

	for (api = 1; api <= 3; api++)
		scenario_play(use_version, &api);
}

/* --- Failed init ------------------------------------------------------- */

SCENARIO(failed_init_affects_that_communicator_only)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *second;

	next->fails_init = true;
	guest_open(&guest, LAST_API);
	CHECK(host_log_has("cannot follow this communicator (error 2)"),
	      "nothing is logged");
	CHECK_EQUAL(next->calls, 1, "init");
	check_still_follows(&guest, "beside one that failed");
	CHECK_EQUAL(next->calls, 1, "nothing after an init that failed");
	CHECK(!(host_mask() & (int)BIT(KERNEL_CH)),
	      "kernel events are not requested");
	next->fails_init = false;
	second = init_comm(guest.host, "second", 2);
	CHECK(!(host_mask() & (int)BIT(KERNEL_CH)),
	      "calls were made without, so it comes too late");
	check_still_follows(&guest, "beside one that failed");
	CHECK_EQUAL(next->calls, 2, "the first stays without");
	start_in(&guest, second,
		 &(struct host_event){ .type = NCCL_EVENT_GROUP });
	EXPECT(next, "start %p context=%p", handle_of(1, NCS_EVENT_GROUP),
	       context_of(2));
	/* Plays one group of calls, of which both plugins must get all. */
	start_in(&guest, second,
		 &(struct host_event){
			 .type = NCCL_EVENT_KERNEL_LAUNCH,
			 .parent = start_type(&guest, NCCL_EVENT_GROUP_API,
					      NULL) });
	EXPECT(next, "start %p context=%p type=2048 parent=(nil)",
	       handle_of(2, NCS_EVENT_KERNEL_LAUNCH), context_of(2));
	host_finalize(guest.host, second);
	EXPECT(next, "finalize %p", context_of(2));
	guest_close(&guest);
	CHECK_EQUAL(next->calls, 5, "no finalize without an init");
}

static void give_no_context(void *argument)
{
	int api = *(const int *)argument;
	struct recorder *next = chain("all");
	struct guest guest;

	next->gives_no_context = true;
	guest_open(&guest, api);
	start_type(&guest, NCCL_EVENT_GROUP, NULL);
	EXPECT(next, "start %p context=(nil)", handle_of(1, NCS_EVENT_GROUP));
	guest_close(&guest);
	CHECK_EQUAL(wrote(next, "finalize (nil)"), api < 5,
		    "NCCL from 2.28 on finalizes no NULL context");
}

TEST(context_of_null_is_passed_on)
{
	int apis[] = { 4, 5 };

	for (size_t i = 0; i < 2; i++)
		scenario_play(give_no_context, &apis[i]);
}

/* --- Masks ------------------------------------------------------------- */

SCENARIO(mask_changes_are_followed_as_nccl_does)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *group, *call, *coll;
	int ours;

	next->mask = 0;
	guest_open(&guest, 5);
	ours = host_mask();
	call = start_type(&guest, NCCL_EVENT_COLL_API, NULL);
	CHECK_EQUAL(next->calls, 1, "the plugin asked for no events");
	__atomic_store_n(next->mask_word, (int)(BIT(KERNEL_CH) | BIT(COLL)),
			 __ATOMIC_RELAXED);
	CHECK_EQUAL(host_mask(), ours, "the mask was not read yet");
	coll = start(&guest, &(struct host_event){ .type = NCCL_EVENT_COLL,
						   .parent = call });
	start_kernel(&guest, coll, 1, 5);
	CHECK_EQUAL(next->calls, 1, "the call was made before it asked");
	CHECK_EQUAL(host_mask(), ours, "kernel timing is not switched");
	stop(&guest, start_type(&guest, NCCL_EVENT_GROUP_API, NULL));
	CHECK_EQUAL(next->calls, 3, "the group");
	call = start_type(&guest, NCCL_EVENT_COLL_API, NULL);
	coll = start(&guest, &(struct host_event){ .type = NCCL_EVENT_COLL,
						   .parent = call });
	CHECK_EQUAL(next->calls, 5, "gets events from the next call on");
	__atomic_store_n(next->mask_word, 0, __ATOMIC_RELAXED);
	start_kernel(&guest, coll, 1, 5);
	CHECK_EQUAL(next->calls, 6, "the call keeps its handles");
	stop(&guest, start_type(&guest, NCCL_EVENT_GROUP_API, NULL));
	CHECK_EQUAL(host_mask(), ours, "NCCL is no longer asked for events");
	start_type(&guest, NCCL_EVENT_COLL_API, NULL);
	start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
	CHECK_EQUAL(next->calls, 6, "no more");
	/* NCCL reads the mask itself before it makes calls. */
	group = start_type(&guest, NCCL_EVENT_GROUP_API, NULL);
	__atomic_store_n(next->mask_word, (int)BIT(COLL), __ATOMIC_RELAXED);
	call = start_type(&guest, NCCL_EVENT_COLL_API, group);
	EXPECT(next, "start %p context=%p type=512 parent=(nil)",
	       handle_of(5, NCS_EVENT_COLL_API), context_of(1));
	guest_close(&guest);
}

/* Up to API 3 only a chained plugin asks for control events. */
SCENARIO(events_that_it_asks_for_later_are_added)
{
	struct recorder *next = chain("all");
	struct guest guest;
	int ours;

	next->mask = 0;
	guest_open(&guest, 3);
	ours = host_mask();
	CHECK(!(ours & (int)BIT(PROXY_CTRL)), "not asked for");
	for (unsigned i = 0; i < 6; i++) {
		__atomic_store_n(next->mask_word,
				 i % 2 ? 0 : (int)BIT(PROXY_CTRL),
				 __ATOMIC_RELAXED);
		CHECK_EQUAL(host_mask(),
			    i % 2 ? ours | (int)BIT(PROXY_CTRL) : ours,
			    "the mask was not read yet");
		start_type(&guest, NCCL_EVENT_GROUP, NULL);
		CHECK_EQUAL(host_mask(),
			    i % 2 ? ours : ours | (int)BIT(PROXY_CTRL),
			    "events are added and taken away");
	}
	guest_close(&guest);
}

SCENARIO(kernel_events_are_not_requested_if_the_job_could_hang)
{
	struct recorder *next = chain("all");
	struct guest guest;
	int ours;

	next->mask = 0;
	guest_open(&guest, 5);
	ours = host_mask();
	__atomic_store_n(next->mask_word, (int)BIT(KERNEL_CH),
			 __ATOMIC_RELAXED);
	make_calls(&guest, guest.context, 3);
	CHECK_EQUAL(host_mask(), ours, "could hang the job");
	expect_status(&guest, NCS_KERNEL_LATE, "it is told why");
	host_finalize(guest.host, guest.context);
	next->mask = (int)BIT(KERNEL_CH);
	guest.context = init_comm(guest.host, "next", GUEST_RANK);
	CHECK_EQUAL(host_mask(), ours | (int)BIT(KERNEL_CH),
		    "safe while there is no communicator");
	__atomic_store_n(next->mask_word, 0, __ATOMIC_RELAXED);
	make_calls(&guest, guest.context, 3);
	CHECK_EQUAL(host_mask(), ours | (int)BIT(KERNEL_CH),
		    "could hang the job");
	view_close(&guest.view);
	view_open(&guest.view, 1);
	expect_status(&guest, NCS_KERNEL_CHAINED, "status is shown");
	guest_close(&guest);
}

static void ask_for_kernels(void *argument)
{
	int api = *(const int *)argument;
	struct recorder *next = chain("all");
	struct guest guest;

	next->mask =
		(int)(BIT(KERNEL_CH) | BIT(PROXY_CTRL) | BIT(KERNEL_PHASE));
	guest_open(&guest, api);
	CHECK(host_mask() & (int)BIT(KERNEL_CH), "its own choice");
	CHECK_EQUAL(host_log_has("can end a job before NCCL 2.28.3"), api == 4,
		    "a warning is logged");
	CHECK_EQUAL((host_mask() & (int)BIT(KERNEL_PHASE)) != 0, api >= 7,
		    "if its version knows the event");
	stop(&guest, start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL));
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_CTRL], 1,
		    "gets control events");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_CTRL], 1,
		    "gets control events");
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_PROXY_CTRL], api >= 4,
		    "only the chained plugin asked for these");
	guest_close(&guest);
}

static void ask_for_phases(void *argument)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *kernel;

	(void)argument;
	next->mask = (int)BIT(KERNEL_PHASE);
	guest_open(&guest, LAST_API);
	CHECK(host_mask() & (int)BIT(KERNEL_CH), "NCCL asks for both");
	kernel = start_kernel(&guest, start_coll(&guest, 0, 1), 1, 5);
	start_type(&guest, NCCL_EVENT_KERNEL_PHASE, kernel);
	expect_start(next, 2, NCS_EVENT_KERNEL_CH,
		     handle_of(1, NCS_EVENT_COLL));
	expect_start(next, 3, NCS_EVENT_KERNEL_PHASE,
		     handle_of(2, NCS_EVENT_KERNEL_CH));
	guest_close(&guest);
}

TEST(chained_plugin_may_request_events_that_ours_does_not)
{
	int api;

	scenario_play(ask_for_phases, NULL);
	for (api = 3; api <= LAST_API; api++)
		scenario_play(ask_for_kernels, &api);
}

/* --- NULL handles ------------------------------------------------------ */

static void give_nothing(void *argument)
{
	int api = *(const int *)argument;
	struct recorder *next = chain("all");
	struct guest guest;
	void *group, *coll, *op, *step;

	next->gives_nothing_for = BIT(GROUP) | BIT(PROXY_OP);
	guest_open(&guest, api);
	group = start_type(&guest, NCCL_EVENT_GROUP, NULL);
	coll = start(&guest, &(struct host_event){ .type = NCCL_EVENT_COLL,
						   .parent = group });
	CHECK_EQUAL(next->starts[NCS_EVENT_COLL], api >= 5,
		    "NCCL up to 2.27 starts no Coll without a Group");
	op = start_proxy_op(&guest, coll, 1, true, 2, 1);
	step = start_step(&guest, op, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], api >= 5,
		    "NCCL up to 2.27 starts no steps without their operation");
	record(&guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
	CHECK_EQUAL(next->states, 0, "NCCL reports no states of such a step");
	stop(&guest, step);
	stop(&guest, op);
	stop(&guest, group);
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_STEP], api >= 5, "a step");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_OP], 0,
		    "has no handle to stop");
	CHECK_EQUAL(next->stops[NCS_EVENT_GROUP], 0, "has no handle to stop");
	check_losses(&guest, "none of ours", END_OF_LOSSES);
	guest_close(&guest);
}

TEST(events_that_it_did_not_request_are_not_passed_on)
{
	int apis[] = { 3, 4, 5, 7 };

	for (size_t i = 0; i < sizeof(apis) / sizeof(*apis); i++)
		scenario_play(give_nothing, &apis[i]);
}

SCENARIO(second_stop_reaches_both_plugins)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *call;

	guest_open(&guest, LAST_API);
	call = start_type(&guest, NCCL_EVENT_COLL_API, NULL);
	for (int i = 0; i < 3; i++)
		stop(&guest, call);
	CHECK_EQUAL(next->stops[NCS_EVENT_COLL_API], 3,
		    "NCCL stops some again, and it must get that too");
	check_losses(&guest, "stopped again", NCS_LOSS_STALE, 2, END_OF_LOSSES);
	guest_close(&guest);
}

/* --- Other processes, and garbage -------------------------------------- */

SCENARIO(events_of_another_process_are_not_passed_on)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *coll, *op, *step;
	struct host_event facts = {
		.type = NCCL_EVENT_PROXY_OP,
		.pid = (int)getpid(),
	};

	guest_open(&guest, LAST_API);
	coll = start_coll(&guest, 0, 1);
	/* A context of another process, and a parent that happens to be a valid
	 * number here. */
	facts.parent = coll;
	op = start_in(&guest, (void *)((uintptr_t)guest.context ^ 1 << 20),
		      &facts);
	CHECK(op, "NCCL up to 2.27 starts no steps otherwise");
	step = start_in(&guest, (void *)((uintptr_t)guest.context ^ 1 << 20),
			&(struct host_event){ .type = NCCL_EVENT_PROXY_STEP,
					      .parent = op });
	record(&guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
	stop(&guest, step);
	stop(&guest, op);
	/* A parent of that process which is no valid number here. */
	facts.parent = (void *)((uintptr_t)coll ^ UINT64_C(1) << 40);
	op = start_in(&guest, (void *)((uintptr_t)guest.context ^ 1 << 20),
		      &facts);
	stop(&guest, op);
	facts.pid++;
	op = start(&guest, &facts);
	stop(&guest, op);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_OP] +
			    next->starts[NCS_EVENT_PROXY_STEP] +
			    next->stops[NCS_EVENT_PROXY_OP] + next->states,
		    0, "it has no context for it");
	check_losses(&guest, "foreign", NCS_LOSS_FOREIGN, 4, END_OF_LOSSES);
	expect_nothing_broken(next);
	guest_close(&guest);
}

SCENARIO(garbage_handles_are_not_passed_on)
{
	static const uintptr_t garbage[] = {
		0,
		1,
		8,
		0x408,
		0x1008,
		0x1408,
		0x1808,
		0x1c08,
		0xfff8,
		0x123456789abcdef8,
		0xa5a5a5a5a5a5a5a8,
		UINTPTR_MAX - 7,
		UINTPTR_MAX,
	};
	struct recorder *next = chain("all");
	struct guest guest;
	uint64_t before, stale;

	guest_open(&guest, LAST_API);
	before = next->calls;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		void *value = (void *)garbage[i];

		stop(&guest, value);
		record(&guest, value, NCCL_STATE_STEP_SEND_WAIT);
		host_finalize(guest.host, value);
		start_in(&guest, value,
			 &(struct host_event){ .type = NCCL_EVENT_COLL });
		stop(&guest, guest.context);
	}
	host_finalize(guest.host, start_type(&guest, NCCL_EVENT_GROUP, NULL));
	CHECK_EQUAL(next->calls, before + 1, "the last start only");
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++)
		for (int event = 0; event < NCS_EVENT_COUNT; event++)
			start(&guest,
			      &(struct host_event){
				      .type = UINT64_C(1) << event,
				      .parent = (void *)garbage[i],
				      .parent_group = (void *)garbage[i],
				      .pid = (int)getpid() });
	for (int bit = 16; bit < 64; bit++)
		start_type(&guest, UINT64_C(1) << bit, NULL);
	start_type(&guest, 0, NULL);
	start_type(&guest, 3, NULL);
	expect_nothing_broken(next);
	view_take(&guest.view);
	stale = guest.view.now.losses[NCS_LOSS_STALE];
	CHECK_EQUAL(stale, 3 * sizeof(garbage) / sizeof(*garbage),
		    "handles that were never given out");
	check_still_follows(&guest, "after garbage");
	guest_close(&guest);
}

/* --- Long-lived handles ------------------------------------------------ */

#define MANY 70000

SCENARIO(long_lived_handles_survive_many_short_ones)
{
	struct recorder *next = chain("all");
	struct host_event captured = {
		.type = NCCL_EVENT_COLL_API,
		.graph_captured = 1,
	};
	struct guest guest;
	void *early, *graph, *op, *step, *asleep;

	guest_open(&guest, LAST_API);
	next->counts_only = true;
	early = start_type(&guest, NCCL_EVENT_COLL_API, NULL);
	graph = start(&guest, &captured);
	op = start_proxy_op(&guest, NULL, 3, true, 2, 1);
	step = start_step(&guest, op, 0);
	asleep = start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
	stop(&guest, early);
	stop(&guest, graph);
	for (int i = 0; i < MANY; i++) {
		stop(&guest, start_type(&guest, NCCL_EVENT_COLL_API, NULL));
		stop(&guest, start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL));
		stop(&guest, start_type(&guest, NCCL_EVENT_NET_PLUGIN, step));
	}
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_CHAIN], 0, "nothing yet");
	next->counts_only = false;
	start(&guest,
	      &(struct host_event){ .type = NCCL_EVENT_COLL, .parent = graph });
	expect_start(next, 5 + 3 * MANY + 1, NCS_EVENT_COLL,
		     handle_of(2, NCS_EVENT_COLL_API));
	start(&guest,
	      &(struct host_event){ .type = NCCL_EVENT_COLL, .parent = early });
	expect_start(next, 5 + 3 * MANY + 2, NCS_EVENT_COLL, NULL);
	record(&guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
	stop(&guest, step);
	stop(&guest, op);
	stop(&guest, asleep);
	EXPECT(next, "state %p 8", handle_of(4, NCS_EVENT_PROXY_STEP));
	EXPECT(next, "stop %p", handle_of(4, NCS_EVENT_PROXY_STEP));
	EXPECT(next, "stop %p", handle_of(3, NCS_EVENT_PROXY_OP));
	EXPECT(next, "stop %p", handle_of(5, NCS_EVENT_PROXY_CTRL));
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_CHAIN], 1,
		    "the parent that made room");
	expect_nothing_broken(next);
	guest_close(&guest);
}

/* A call that is too late for the chained plugin is too late for our plugin as
 * well, and counted in the communicator of the handle. */
SCENARIO(late_calls_are_counted_by_their_communicator)
{
	struct guest first, second;
	void *ctrl;

	chain("all");
	guest_open(&first, LAST_API);
	second = first;
	second.context = init_comm(first.host, "second", 2);
	view_open(&second.view, 1);
	ctrl = start_type(&second, NCCL_EVENT_PROXY_CTRL, NULL);
	stop(&second, ctrl);
	for (int i = 0; i < 1024; i++)
		stop(&first, start_type(&first, NCCL_EVENT_PROXY_CTRL, NULL));
	stop(&second, ctrl);
	check_losses(&first, "of another communicator", END_OF_LOSSES);
	check_losses(&second, "its own", NCS_LOSS_STALE, 1, NCS_LOSS_CHAIN, 1,
		     END_OF_LOSSES);
	host_finalize(first.host, second.context);
	view_close(&second.view);
	guest_close(&first);
}

/* NCCL starts a receive step at every poll until it can be posted, and stops
 * only the last one. */
SCENARIO(polling_evicts_no_handle)
{
	struct recorder *next = chain("all");
	union nccl_event_descr descr;
	struct guest guest;
	void *op, *held, *polled = NULL;

	guest_open(&guest, LAST_API);
	next->counts_only = true;
	op = start_proxy_op(&guest, NULL, 3, false, 2, 8);
	held = start_step(&guest, op, 0);
	host_lay_out(guest.host,
		     &(struct host_event){ .type = NCCL_EVENT_PROXY_STEP,
					   .parent = op,
					   .step = 1 },
		     &descr);
	for (int i = 0; i < 20 * MANY; i++)
		host_start_descr(guest.host, guest.context, &descr, &polled);
	next->counts_only = false;
	stop(&guest, polled);
	stop(&guest, held);
	stop(&guest, op);
	EXPECT(next, "stop %p", handle_of(2 + 20 * MANY, NCS_EVENT_PROXY_STEP));
	EXPECT(next, "stop %p", handle_of(2, NCS_EVENT_PROXY_STEP));
	EXPECT(next, "stop %p", handle_of(1, NCS_EVENT_PROXY_OP));
	check_losses(&guest, "nothing was driven out", END_OF_LOSSES);
	guest_close(&guest);
}

/* A graph that is replayed keeps its parents however many others are captured;
 * one that is no longer replayed makes room. */
SCENARIO(replayed_graph_keeps_its_parents)
{
	struct recorder *next = chain("all");
	struct host_event captured = {
		.type = NCCL_EVENT_COLL_API,
		.graph_captured = 1,
	};
	struct host_event replay_of_first = { .type = NCCL_EVENT_COLL };
	struct guest guest;
	void *dropped;

	guest_open(&guest, LAST_API);
	next->counts_only = true;
	replay_of_first.parent = start(&guest, &captured);
	dropped = start(&guest, &captured);
	for (int i = 0; i < 3 * MANY; i++) {
		stop(&guest, start(&guest, &captured));
		if (i % 100 == 0)
			stop(&guest, start(&guest, &replay_of_first));
	}
	next->counts_only = false;
	start(&guest, &replay_of_first);
	EXPECT(next, "start %p context=%p type=2 parent=%p",
	       handle_of(3 * MANY + 2 + 3 * MANY / 100 + 1, NCS_EVENT_COLL),
	       context_of(1), handle_of(1, NCS_EVENT_COLL_API));
	next->reset();
	start(&guest, &(struct host_event){ .type = NCCL_EVENT_COLL,
					    .parent = dropped });
	EXPECT(next, "start %p context=%p type=2 parent=(nil)",
	       handle_of(1, NCS_EVENT_COLL), context_of(1));
	guest_close(&guest);
}

/* Events that are never stopped, such as those of copy engines. */
SCENARIO(handles_never_stopped_are_eventually_reused)
{
	struct recorder *next = chain("all");
	struct guest guest;

	guest_open(&guest, LAST_API);
	next->counts_only = true;
	for (int i = 0; i < 3 * MANY; i++)
		start_proxy_op(&guest, NULL, 3, true, 2, 1);
	for (int i = 0; i < 2000; i++)
		start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_OP], 3 * MANY,
		    "all are passed on");
	expect_nothing_broken(next);
	play_coll(&guest, 0);
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_STEP], 1,
		    "later stops are passed on");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_OP], 1,
		    "later stops are passed on");
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_CHAIN], 2000 - 1024,
		    "a thread has one control event at a time");
	guest_close(&guest);
}

/* --- Communicators ----------------------------------------------------- */

SCENARIO(communicators_come_and_go)
{
	struct recorder *next = chain("all");
	struct guest guest;
	void *context;

	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < 3000; i++) {
		context = init_comm(guest.host, "short", 2);
		host_finalize(guest.host, context);
		host_finalize(guest.host, context);
		EXPECT(next, "finalize %p", context_of(2 + i));
	}
	CHECK_EQUAL(next->calls, 1 + 2 * 3000, "one finalize each");
	start_coll(&guest, 0, 1);
	EXPECT(next, "start %p context=%p", handle_of(1, NCS_EVENT_COLL),
	       context_of(1));
	guest_close(&guest);
	EXPECT(next, "finalize %p", context_of(1));
	/* NCCL closes the plugin and opens it again. */
	next->reset();
	guest_open(&guest, LAST_API);
	play_coll(&guest, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_COLL], 1, "as before");
	guest_close(&guest);
}

static void stay_unseen(void *argument)
{
	struct recorder *next = chain("all");
	struct guest guest = { 0 };
	void *first, *second;

	setenv((const char *)argument,
	       strcmp(argument, "NCCLSTAT_DISABLE") == 0 ? "1" : "/nowhere", 1);
	next->mask = (int)(BIT(COLL) | BIT(PROXY_STEP));
	guest.host = open_plugin(LAST_API);
	first = init_comm(guest.host, "first", 1);
	second = init_comm(guest.host, "second", 2);
	CHECK_EQUAL(host_mask(), BIT(COLL) | BIT(PROXY_STEP),
		    "the chained plugin's mask");
	for (int i = 0; i < 2; i++) {
		guest.context = i == 0 ? first : second;
		play_coll(&guest, 0);
	}
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], 2, "two steps");
	CHECK_EQUAL(next->states, 4, "two states each");
	EXPECT(next, "start %p context=%p type=2", handle_of(4, NCS_EVENT_COLL),
	       context_of(2));
	expect_nothing_broken(next);
	host_finalize(guest.host, second);
	EXPECT(next, "finalize %p", context_of(2));
	CHECK_EQUAL(count_objects(), 0, "ours stays silent");
	host_finalize(guest.host, first);
	host_close(guest.host);
}

TEST(chained_plugin_gets_calls_if_ours_is_silent)
{
	char disable[] = "NCCLSTAT_DISABLE", folder[] = "NCCLSTAT_DIR";

	scenario_play(stay_unseen, disable);
	scenario_play(stay_unseen, folder);
}

/* If our plugin is disabled, there is no event at which it could read the
 * mask. */
SCENARIO(empty_mask_can_be_raised_if_ours_is_disabled)
{
	struct recorder *next = chain("5");
	struct guest guest = { 0 };

	setenv("NCCLSTAT_DISABLE", "1", 1);
	next->mask = 0;
	guest.host = open_plugin(LAST_API);
	guest.context = init_comm(guest.host, "first", 1);
	CHECK_EQUAL(host_mask(), 0, "nothing is requested");
	__atomic_store_n(next->mask_word, (int)BIT(COLL), __ATOMIC_RELAXED);
	CHECK_EQUAL(host_mask(), BIT(COLL), "NCCL's own word");
	play_coll(&guest, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_COLL], 1, "the requested events");
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_OP], 0, "no other events");
	next->mask = 0xffff;
	host_finalize(guest.host, init_comm(guest.host, "second", 2));
	CHECK_EQUAL(host_mask(), 0xfff, "without events unknown to version 5");
	host_finalize(guest.host, guest.context);
	host_close(guest.host);
}

/* Two copies of NCCL in one process, e.g. one that is linked statically. */
SCENARIO(second_nccl_in_the_process_is_not_passed_on)
{
	struct recorder *next = chain("all");
	struct guest guest, other;

	guest_open(&guest, 5);
	other.host = open_plugin(7);
	other.context = init_comm(other.host, "other", 2);
	CHECK(host_log_has("gets no calls of a second NCCL"),
	      "a line is logged");
	view_open(&other.view, 1);
	play_coll(&other, 0);
	/* The second copy uses a handle of the first one's communicator. */
	start_in(&other, guest.context,
		 &(struct host_event){ .type = NCCL_EVENT_COLL });
	CHECK_EQUAL(next->calls, 1,
		    "only calls of the first NCCL are passed on");
	check_still_follows(&other, "ours follows both");
	play_coll(&guest, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], 1, "the first one");
	expect_nothing_broken(next);
	host_finalize(other.host, other.context);
	view_close(&other.view);
	host_close(other.host);
	guest_close(&guest);
}

SCENARIO(forked_child_starts_afresh)
{
	struct recorder *next = chain("all");
	struct guest guest;
	uint64_t calls;
	int status;
	pid_t pid;

	guest_open(&guest, LAST_API);
	calls = next->calls;
	pid = scenario_fork();
	if (pid == 0) {
		struct guest child = { .host = guest.host };

		start_in(&guest, guest.context,
			 &(struct host_event){ .type = NCCL_EVENT_COLL });
		host_finalize(guest.host, guest.context);
		CHECK_EQUAL(next->calls, calls, "the parent's communicator");
		child.context = init_comm(guest.host, "child", 2);
		play_coll(&child, 0);
		CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], 1,
			    "the child's own");
		expect_nothing_broken(next);
		host_finalize(guest.host, child.context);
		exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0,
	      "the child says why");
	play_coll(&guest, 0);
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], 1, "the parent's own");
	guest_close(&guest);
}
