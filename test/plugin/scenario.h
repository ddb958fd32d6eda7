/* SPDX-License-Identifier: MIT */
/* Scenarios: pieces of a training process's life, each in a process of its own.
 *
 * The plugin reads its environment once a process and keeps what it has until
 * the end, so every scenario is played by a forked child, with a private
 * directory in NCCLSTAT_DIR. The parent never loads the plugin. It fails the
 * cmocka test when the child does not end well, or leaves something behind.
 *
 * The child has no cmocka: it says CHECK(), which prints why and exits.
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

/* --- Checks, for the child ---------------------------------------------- */

/* Ends the process with a message; the parent fails the test. `condition` is
 * what did not hold, NULL for none. */
void scenario_fail(const char *file, int line, const char *condition,
		   const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* The message says what it means that the condition does not hold. */
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

/* Ends the process; the parent skips the test. For what needs rights that we
 * do not have. */
void scenario_skip(const char *why) __attribute__((noreturn));

/* --- Playing ------------------------------------------------------------ */

/* The directory of the scenario that is being played, also in the child. */
extern char scenario_directory[64];

/* What the child may leave in its directory. */
enum scenario_leaves { LEAVES_NOTHING, LEAVES_OBJECTS };

/* Plays it in a child that ends with exit(). Fails the cmocka test if the child
 * does not end with status 0, or if objects are left that should not be. */
void scenario_play(void (*play)(void *argument), void *argument);

/* Defines a cmocka test that plays a scenario without an argument. */
#define SCENARIO_TEST(test, play) \
	static void test(void **state) \
	{ \
		(void)state; \
		scenario_play(play, NULL); \
	}

/* The same in steps, for what happens to a process from outside. */
void scenario_prepare(void);
pid_t scenario_start(void (*play)(void *argument), void *argument);
void scenario_expect_success(pid_t pid);
void scenario_expect_signal(pid_t pid, int signal_number);
void scenario_clean_up(enum scenario_leaves leaves);

/* --- Looking, for parent and child -------------------------------------- */

/* Memory of the calling process. */
unsigned long resident_kib(void);

/* Segments in the scenario's directory, and their bytes; control objects. */
size_t count_objects(void);
size_t count_controls(void);
uint64_t count_object_bytes(void);

struct view {
	struct ncs_reader *reader;
	struct ncs_snapshot now;
};

/* The object at this place in the order in which they were made. False with a
 * reason if it cannot be attached. */
bool view_try_open(struct view *view, size_t place, char *why, size_t why_size);
void view_open(struct view *view, size_t place);
void view_close(struct view *view);

/* Looks again: `now` is as of now. */
void view_take(struct view *view);

/* The records of all lanes that are new, up to `size`, lane by lane. */
size_t view_records(struct view *view, struct ncs_record *records, size_t size,
		    uint64_t *lost);

const struct ncs_channel_view *
view_channel(const struct view *view, unsigned channel, bool send, int peer);

/* --- A guest: one communicator and a look at it ------------------------- */

#define GUEST_RANK 1
#define GUEST_NRANKS 4
#define GUEST_COMM_ID UINT64_C(0xc0ffee)

struct guest {
	struct host *host;
	void *context;
	struct view view;
};

/* Opens the plugin, inits a communicator, and looks at it. */
void guest_come(struct guest *guest, int api);

/* Finalizes, stops looking, closes the plugin. */
void guest_go(struct guest *guest);

/* A plugin of this version without a communicator. */
struct host *open_plugin(int api);

/* init; success and a context are checked. */
void *init_comm(struct host *host, const char *name, int rank);

/* Each checks that the plugin returned success, start() also that it gave a
 * handle of its own making. */
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

/* An AllReduce of GUEST_COLL_ELEMENTS floats on one channel, of a call. */
struct host_event coll_event_of(void *call);

/* The usual events, of any API version. */
void *start_coll(struct guest *guest, uint64_t seq_number, size_t count);
void *start_p2p(struct guest *guest, const char *func, int peer, size_t count);
void *start_proxy_op(struct guest *guest, void *parent, unsigned channel,
		     bool send, int peer, int steps);
void *start_step(struct guest *guest, void *parent, int step);
void *start_type(struct guest *guest, uint64_t type, void *parent);
void *start_kernel(struct guest *guest, void *parent, unsigned channel,
		   uint64_t gpu_timer_ns);

/* Until the coarsest clock has moved on. */
void let_time_pass(void);

/* What start_coll() starts. */
#define COLL_FUNCTION NCS_FUNCTION_ALL_REDUCE
#define COLL_ELEMENT_BYTES 4

/* Looks, and checks that exactly these losses were counted so far: pairs of
 * enum ncs_loss and count, ended by END_OF_LOSSES. */
#define END_OF_LOSSES (-1)
void check_losses(struct guest *guest, const char *when, ...);

/* Records published so far, in all lanes. Looks. */
uint64_t count_published(struct guest *guest);

/* One whole AllReduce of GUEST_COLL_ELEMENTS elements with one proxy operation
 * of one step, which sends GUEST_STEP_BYTES on channel 3 to rank 2. */
#define GUEST_COLL_ELEMENTS 1000
#define GUEST_STEP_BYTES 4096
void play_coll(struct guest *guest, uint64_t seq_number);

/* Checks that an operation is still followed in all its parts: what went before
 * has broken nothing. Reads the rings empty first. */
void check_still_follows(struct guest *guest, const char *when);

/* Starts an event of any type, with the parents that it takes. */
void *start_any(struct guest *guest, enum ncs_event event);
const char *event_name(enum ncs_event event);

/* The next new record. For one thread's guests: of several lanes the first one
 * that has any comes first. */
bool next_record(struct guest *guest, struct ncs_record *record);

void read_all_records(struct guest *guest);

/* … which there must be, and it must be of this type, NCCL's or our own. */
struct ncs_record expect_record(struct guest *guest, unsigned event,
				const char *what);

#endif
