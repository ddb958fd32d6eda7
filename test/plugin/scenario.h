/* SPDX-License-Identifier: MIT */
/* Scenarios: episodes of a training process, each in a process of its own.
 *
 * The plugin reads its environment once per process and keeps its state until
 * the end. So every scenario is played by a forked child, with a private
 * directory in NCCLSTAT_DIR. The parent never loads the plugin. It fails the
 * cmocka test if the child does not end well or leaves objects behind.
 *
 * The child does not use cmocka: it calls CHECK(), which prints the reason and
 * exits.
 */
#ifndef NCS_TEST_PLUGIN_SCENARIO_H
#define NCS_TEST_PLUGIN_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ncclstat/names.h"
#include "ncclstat/reader.h"
#include "plugin/nccl/nccl_abi.h"
#include "test/host/plugin_host.h"
#include "test/unit/support/unit.h"

/* --- Checks, for the child --------------------------------------------- */

/* Ends the process with a message; the parent then fails the test. `condition`
 * is the condition that did not hold, or NULL. */
void scenario_fail(const char *file, int line, const char *condition,
		   const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Checks a condition. The message says what it means if it does not hold. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			scenario_fail(__FILE__, __LINE__, #condition, \
				      __VA_ARGS__); \
	} while (0)

#define CHECK_EQUAL(actual, expected, what) \
	do { \
		uint64_t actual_ = (uint64_t)(actual); \
		uint64_t expected_ = (uint64_t)(expected); \
		if (actual_ != expected_) \
			scenario_fail(__FILE__, __LINE__, #actual, \
				      "%s: %llu, not %llu", what, \
				      (unsigned long long)actual_, \
				      (unsigned long long)expected_); \
	} while (0)

/* Ends the process; the parent then skips the test. For tests that need
 * privileges. */
void scenario_skip(const char *why) __attribute__((noreturn));

/* For the child: mounts a tmpfs with these options over its directory, which
 * only it sees; skips the test if it may not. */
void scenario_mount(const char *options);

/* Removes all objects in the scenario's directory. */
void scenario_remove_objects(void);

/* --- Playing ----------------------------------------------------------- */

/* The directory of the current scenario, in parent and child. */
extern char scenario_directory[64];

/* The objects that the child may leave in its directory. */
enum scenario_leaves { LEAVES_NOTHING, LEAVES_OBJECTS };

/* Plays a scenario in a child that ends with exit(). Fails the cmocka test if
 * the child does not end with status 0, or if any object is left. */
void scenario_play(void (*play)(void *argument), void *argument);

/* Begins the scenario of a test, whose statements follow in braces. */
#define SCENARIO(test) \
	static void test##_plays(void *argument); \
	TEST(test) \
	{ \
		scenario_play(test##_plays, NULL); \
	} \
	static void test##_plays(__attribute__((unused)) void *argument)

/* The steps of scenario_play(), for scenarios that end in other ways. */
void scenario_prepare(void);
pid_t scenario_start(void (*play)(void *argument), void *argument);
void scenario_expect_success(pid_t pid);
void scenario_expect_signal(pid_t pid, int signal_number);
void scenario_clean_up(enum scenario_leaves leaves);

/* Runs test/plugin/captures_json.py: replays captures and compares the
 * program's dumps with test/oracle.py. `option` may be NULL; `folders` are the
 * captures, separated by blanks, or NULL for all. Skips the cmocka test if
 * nothing can be run. For the parent. */
void scenario_compare_dumps(const char *option, const char *folders);

/* For the child's main thread: forks while its other threads sleep, as those of the
 * plugin mostly do. One that runs may hold a lock of ASan's allocator, for which
 * the new process would wait for ever. Returns as fork() does; never fails. */
pid_t scenario_fork(void);

/* --- Reading segments, for parent and child ---------------------------- */

/* Returns the resident memory of the calling process. */
unsigned long resident_kib(void);

/* Returns the number of the calling process's thread of this name; 0 if there
 * is none. */
pid_t find_thread(const char *name);

/* Return the number of segments in the scenario's directory, of control
 * objects, and the bytes of all segments. */
size_t count_objects(void);
size_t count_controls(void);
uint64_t count_object_bytes(void);

struct view {
	struct ncs_reader *reader;
	struct ncs_snapshot now;
};

/* Opens the segment with this index in the order of creation. view_try_open()
 * returns false with a reason if it cannot be attached to; view_open() fails
 * the scenario. */
bool view_try_open(struct view *view, size_t place, char *why, size_t why_size);
void view_open(struct view *view, size_t place);
void view_close(struct view *view);

/* Takes a new snapshot into `now`. */
void view_take(struct view *view);

struct ncs_remote; /* shm/read/remote.h */

/* Finds the control object of the segment's process, as ncs_remote_find()
 * does. */
enum ncs_attach view_find_remote(const struct view *view,
				 struct ncs_remote **remote, char *why,
				 size_t why_size);

/* Copies up to `size` new records of all lanes, lane by lane. Returns how
 * many. */
size_t view_records(struct view *view, struct ncs_record *records, size_t size,
		    uint64_t *lost);

const struct ncs_channel_view *
view_channel(const struct view *view, unsigned channel, bool send, int peer);

/* --- A guest: one communicator and its segment ------------------------- */

#define GUEST_RANK 1
#define GUEST_NRANKS 4
#define GUEST_COMM_ID UINT64_C(0xc0ffee)

struct guest {
	struct host *host;
	void *context;
	struct view view;
};

/* Opens the plugin, initialises a communicator, and opens its segment. */
void guest_open(struct guest *guest, int api);

/* Finalizes the communicator, closes its segment and the plugin. */
void guest_close(struct guest *guest);

/* Plays a scenario with a guest of each version of the API from `first` to `last`,
 * which is opened before it and closed after it, in a child each. */
void guest_play(void (*play)(struct guest *guest, int api), int first,
		int last);

/* Begin the scenario of a test that plays with such guests, or with one, whose
 * statements follow in braces. */
#define GUEST_SCENARIOS(test, first, last) \
	static void test##_plays(struct guest *guest, int api); \
	TEST(test) \
	{ \
		guest_play(test##_plays, first, last); \
	} \
	static void test##_plays(__attribute__((unused)) struct guest *guest, \
				 __attribute__((unused)) int api)

#define GUEST_SCENARIO(test, api_version) \
	GUEST_SCENARIOS(test, api_version, api_version)

/* Opens the plugin with this API version, without a communicator. */
struct host *open_plugin(int api);

/* Initialises a communicator; checks for success and a context. */
void *init_comm(struct host *host, const char *name, int rank);

/* Each checks that the plugin returned success; start() also checks that it
 * returned a handle of its own. */
void *start(struct guest *guest, const struct host_event *event);
void *start_in(struct guest *guest, void *context,
	       const struct host_event *event);
void stop(struct guest *guest, void *handle);
void record(struct guest *guest, void *handle, int state);
void record_size(struct guest *guest, void *handle, int state,
		 uint64_t size_bytes);
void record_timer(struct guest *guest, void *handle, int state,
		  uint64_t gpu_timer_ns);
void record_appended(struct guest *guest, void *handle, int state, int ops);
void record_without_args(struct guest *guest, void *handle, int state);

/* Returns the event of an AllReduce of GUEST_COLL_ELEMENTS floats on one
 * channel; `call` is its parent. */
struct host_event coll_event_of(void *call);

/* Start the usual events, in any API version. */
void *start_coll(struct guest *guest, uint64_t seq_number, size_t count);
void *start_p2p(struct guest *guest, const char *func, int peer, size_t count);
void *start_proxy_op(struct guest *guest, void *parent, unsigned channel,
		     bool send, int peer, int steps);
void *start_step(struct guest *guest, void *parent, int step);
void *start_type(struct guest *guest, uint64_t type, void *parent);
void *start_kernel(struct guest *guest, void *parent, unsigned channel,
		   uint64_t gpu_timer_ns);

/* Waits until the coarsest clock has advanced. */
void let_time_pass(void);

/* The function that start_coll() starts. */
#define COLL_FUNCTION NCS_FUNCTION_ALL_REDUCE
#define COLL_ELEMENT_BYTES 4

/* Takes a snapshot, and checks that exactly these losses were counted so far:
 * pairs of enum ncs_loss and count, ended by END_OF_LOSSES. */
#define END_OF_LOSSES (-1)
void check_losses(struct guest *guest, const char *when, ...);

/* Takes a snapshot, and returns the number of records published so far in all
 * lanes. */
uint64_t count_published(struct guest *guest);

/* Plays a complete AllReduce of GUEST_COLL_ELEMENTS elements with one proxy
 * operation of one step, which sends GUEST_STEP_BYTES on channel 3 to rank
 * 2. */
#define GUEST_COLL_ELEMENTS 1000
#define GUEST_STEP_BYTES 4096
void play_coll(struct guest *guest, uint64_t seq_number);

/* Checks that a new operation is still followed in all its parts. Reads all
 * records in the rings first. */
void check_still_follows(struct guest *guest, const char *when);

/* Starts an event of any type, with the parents that it needs. */
void *start_any(struct guest *guest, enum ncs_event event);
const char *event_name(enum ncs_event event);

/* Reads the next new record; false if there is none. If several lanes have
 * records, those of the first lane come first. */
bool next_record(struct guest *guest, struct ncs_record *record);

void read_all_records(struct guest *guest);

/* Returns true if a thread that has a call lane puts records of this type
 * there. */
bool is_of_call_lane(unsigned event);

/* Reads the next record of call lanes, or of the others, by its type, NCCL's or
 * the plugin's own. It must exist and be of this type. */
struct ncs_record expect_record(struct guest *guest, unsigned event,
				const char *what);

#endif
