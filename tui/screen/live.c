/* SPDX-License-Identifier: MIT */
/* The live view's main loop: waits for keys, time, signals and room to write;
 * see live.h. tui/screen/screen.c handles what happens.
 *
 * The only file of the live view that reads clocks. Signals are blocked and
 * read as events, so that they interrupt nothing; fatal signals are handled by
 * tui/term/terminal_rescue.c. A sample is taken when it is due, and a frame is
 * drawn when something may have changed: a key does not cause a sample, and
 * nothing is written after a sample without changes.
 */
#include "tui/screen/live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/detail.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "tui/commands/option_rows.h"
#include "tui/commands/run_command.h"
#include "tui/commands/set_command.h"
#include "tui/screen/allowance.h"
#include "tui/screen/key_script.h"
#include "tui/screen/lease.h"
#include "tui/screen/save.h"
#include "tui/screen/screen.h"
#include "tui/screen/screen_actions.h"
#include "tui/screen/screen_pages.h"
#include "tui/screen/stacks_reading.h"
#include "tui/term/term.h"
#include "tui/text/finding_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/output.h"

#define SECOND_NS UINT64_C(1000000000)
/* Minimum time between two frames, in ns, even if keys repeat faster. */
#define FRAME_NS (SECOND_NS / 10)
/* The search through a recording works for this time, in ns, and then pauses
 * for the same time. */
#define SEARCH_NS (SECOND_NS / 50)
/* The script waits so long at most, in ns, until the screen shows a text. */
#define AWAIT_NS (60 * SECOND_NS)
/* Maximum number of keys that are handled before other events. */
#define KEYS_AT_ONCE 256

struct live {
	struct ncs_screen screen;
	const struct ncs_options *options;
	struct ncs_source *source;
	struct ncs_replay *replay;       /* borrowed; NULL if live */
	/* Search for problems in the recording. */
	struct ncs_replay_search search;
	struct ncs_script script;
	struct ncs_lease lease;
	struct ncs_stacks_reading stacks;
	char *page; /* of stacks, owned; NULL: none that is yet to be shown */
	/* Processes that keys ask for detail. */
	struct ncs_target_filter targets;
	struct tm wall;                   /* time in the title */
	int timer;
	int signals;
	sigset_t former_mask;

	bool quit;
	bool redraw; /* something may have changed */
	bool resized;
	bool output_full;   /* a frame waits until it can be written */
	uint64_t frame_ns;  /* time of the latest frame */
	uint64_t script_ns; /* time of the script's next step */
	char awaited[NCS_SCRIPT_TEXT_MAX]; /* by the script; "": nothing */
	uint64_t awaited_until_ns;
	uint64_t samples;
	uint64_t samples_wanted; /* 0 for no end */
	struct ncs_allowance allowance;
	bool saw_rank;           /* in any sample */
	size_t unreadable;       /* segments in the latest sample */
	int error;
};

enum { WATCH_KEYS, WATCH_TIMER, WATCH_SIGNALS, WATCH_OUTPUT, WATCH_STACKS,
       WATCH_COUNT };

/* --- Clocks --------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	return ncs_clock_monotonic_ns();
}

/* Returns the screen, for a message at this time. */
static struct ncs_screen *screen_now(struct live *live)
{
	live->screen.now_ns = now_ns();
	return &live->screen;
}

static void wall_clock(struct live *live)
{
	const struct ncs_replay *replay = live->replay;
	time_t seconds =
		replay ?
			(time_t)(ncs_replay_realtime_ns(replay, replay->at_ns) /
				 SECOND_NS) :
			time(NULL);

	localtime_r(&seconds, &live->wall);
}

/* Returns the time until the next second of the wall clock. */
static uint64_t until_next_second_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return SECOND_NS - (uint64_t)now.tv_nsec;
}

/* Starts the timer. Samples are due at fixed times, even if one of them is
 * late. */
static void arm(struct live *live)
{
	uint64_t interval_ns = live->screen.options.interval_ns;
	uint64_t first_ns = now_ns() + interval_ns;
	const struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(first_ns / SECOND_NS),
			      .tv_nsec = (long)(first_ns % SECOND_NS) },
		.it_interval = { .tv_sec = (time_t)(interval_ns / SECOND_NS),
				 .tv_nsec = (long)(interval_ns % SECOND_NS) },
	};

	timerfd_settime(live->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* --- Samples -------------------------------------------------------------- */

static void sample(struct live *live)
{
	struct ncs_replay *replay = live->replay;

	if (replay) {
		ncs_replay_advance(replay, now_ns());
		live->screen.paused = !replay->playing;
	}
	ncs_screen_sample(&live->screen, live->source,
			  replay ? replay->at_ns : now_ns());
	live->saw_rank |= live->screen.model.rank_count > 0;
	live->unreadable = ncs_count_unreadable(&live->screen.model);
	wall_clock(live);
	live->samples++;
	live->redraw = true;
}

/* Searches through the recording for a short time. */
static void search(struct live *live)
{
	uint64_t until_ns = now_ns() + SEARCH_NS;

	while (!live->search.done && now_ns() < until_ns)
		ncs_replay_search_step(&live->search);
	live->redraw = live->redraw || live->search.done;
}

static bool is_searching(const struct live *live)
{
	return live->search.source && !live->search.done;
}

/* Whether a look that is due is to be taken. Records would be lost between looks
 * that are far apart. */
static bool has_time(struct live *live)
{
	struct timespec used;

	if (live->replay || !live->source->nodes || live->options->with_records)
		return true;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return ncs_allowance_permits(&live->allowance, now_ns(),
				     (uint64_t)used.tv_sec * SECOND_NS +
					     (uint64_t)used.tv_nsec);
}

static void on_timer(struct live *live)
{
	uint64_t expirations;

	if (read(live->timer, &expirations, sizeof(expirations)) !=
	    sizeof(expirations))
		return;
	if (!live->screen.paused && has_time(live))
		sample(live);
}

/* --- Settings of the plugin ----------------------------------------------- */

static void toggle_detail(struct live *live)
{
	char text[sizeof(live->screen.notice)];

	if (ncs_lease_is_held(&live->lease)) {
		ncs_lease_drop(&live->lease);
		snprintf(text, sizeof(text),
			 "withdrew the request made for this view");
	} else {
		ncs_lease_take(&live->lease, &live->screen.model,
			       &live->targets, now_ns(), text, sizeof(text));
	}
	ncs_screen_say(screen_now(live), "%s", text);
}

static void ask(struct live *live)
{
	const char *setting = live->screen.typed;
	char text[sizeof(live->screen.notice)], meant[64] = "";
	struct ncs_change change;

	if (ncs_change_parse(setting, &change, text, sizeof(text)))
		ncs_set_ask(&live->screen.model, &live->targets, &change, text,
			    sizeof(text));
	else
		ncs_setting_suggest(setting, meant, sizeof(meant));
	/* A list of all that is expected would leave no room for the word. */
	if (meant[0])
		snprintf(text, sizeof(text), "no setting: %s%s", setting,
			 meant);
	ncs_screen_say(screen_now(live), "%s", text);
}

static void renew_lease(struct live *live)
{
	char text[sizeof(live->screen.notice)];

	ncs_lease_renew(&live->lease, now_ns(), text, sizeof(text));
	if (!text[0])
		return;
	ncs_screen_say(screen_now(live), "%s", text);
	live->redraw = true;
}

/* --- Frames --------------------------------------------------------------- */

static void draw(struct live *live)
{
	if (live->resized)
		ncs_term_resize();
	live->resized = false;
	/* While the view is paused, it shows the time of the sample, and frames
	 * do not change. */
	if (!live->screen.paused)
		wall_clock(live);
	ncs_screen_draw(&live->screen, now_ns(), &live->wall);
	ncs_term_flush();
	live->frame_ns = now_ns();
	live->redraw = false;
	if (live->samples_wanted > 0 && live->samples >= live->samples_wanted)
		live->quit = true;
}

/* --- Stacks --------------------------------------------------------------- */

static void read_stacks(struct live *live)
{
	struct ncs_screen *screen = &live->screen;
	const struct ncs_grid_row *row = ncs_screen_selected(screen);
	int error = ncs_stacks_reading_start(
		&live->stacks,
		&(struct ncs_stacks_request){
			.model = &screen->model,
			.diagnosis = &screen->diagnosis,
			.finding = screen->view == NCS_VIEW_FINDING && row ?
					   row->row.finding :
					   NULL,
			.source = live->source,
			.options = live->options,
		},
		screen->options.ascii);

	if (error)
		ncs_screen_say(screen_now(live), "no stacks: %s",
			       error == -EBUSY ? "they are being read" :
						 strerror(-error));
}

/* Shows the page of stacks, but not in the middle of what the user reads or
 * types. */
static void show_stacks(struct live *live)
{
	struct ncs_screen *screen = &live->screen;

	if (!live->page || screen->help || screen->prompt != NCS_PROMPT_NONE)
		return;
	ncs_help_open(screen, live->page);
	live->page = NULL;
	live->redraw = true;
}

static void on_stacks(struct live *live)
{
	const char *said;
	char *page;
	bool has_ended = ncs_stacks_reading_take(&live->stacks, &said, &page);

	if (said)
		ncs_screen_say(screen_now(live), "%s", said);
	live->redraw = live->redraw || said;
	if (!has_ended)
		return;
	if (!page)
		ncs_screen_say(screen_now(live),
			       "no stacks: their reader has died");
	/* It has said why there are none. */
	if (page && !page[0]) {
		free(page);
		page = NULL;
	}
	live->redraw = true;
	ncs_stacks_reading_end(&live->stacks);
	free(live->page);
	live->page = page;
}

/* --- Files ---------------------------------------------------------------- */

static void save_view(struct live *live)
{
	struct ncs_stamp stamp = ncs_dump_stamp(live->replay);
	char path[4200];
	int error;

	stamp.host = live->screen.host;
	error = ncs_save_view(&live->screen, &stamp, path, sizeof(path));
	if (error)
		ncs_screen_say(screen_now(live), "not saved: %s: %s",
			       strerror(-error), path);
	else
		ncs_screen_say(screen_now(live), "saved to %s", path);
}

static void keep(struct live *live)
{
	const char *path = live->screen.config_path;
	int error;

	ncs_screen_collect(&live->screen);
	error = ncs_config_file_store(path, &live->screen.options);
	if (error == -EPERM)
		ncs_screen_say(screen_now(live),
			       "not written: the present file could not be"
			       " read: %s",
			       path);
	else if (error)
		ncs_screen_say(screen_now(live), "not written: %s: %s",
			       strerror(-error), path);
	else
		ncs_screen_say(screen_now(live), "written to %s", path);
}

/* --- Keys and signals ----------------------------------------------------- */

static void on_key(struct live *live, int code)
{
	struct ncs_mouse mouse;
	unsigned requests =
		ncs_term_mouse(code, &mouse) ?
			ncs_screen_mouse(&live->screen, &mouse, now_ns()) :
			ncs_screen_key(&live->screen, code, now_ns());

	live->redraw = true;
	if (requests & NCS_REQUEST_QUIT)
		live->quit = true;
	if (requests & NCS_REQUEST_INTERVAL)
		arm(live);
	if (requests & NCS_REQUEST_JUMP)
		ncs_screen_fill(&live->screen, live->source);
	if (requests & (NCS_REQUEST_SAMPLE | NCS_REQUEST_JUMP))
		sample(live);
	if (requests & NCS_REQUEST_REPAINT)
		ncs_term_repaint();
	if (requests & NCS_REQUEST_DETAIL)
		toggle_detail(live);
	if (requests & NCS_REQUEST_SET)
		ask(live);
	if (requests & NCS_REQUEST_SAVE)
		save_view(live);
	if (requests & NCS_REQUEST_KEEP)
		keep(live);
	if (requests & NCS_REQUEST_STACKS)
		read_stacks(live);
}

/* Handles all keys that were pressed. Returns false if there were none. */
static bool read_keys(struct live *live)
{
	int code, count = 0;

	while (!live->quit && count < KEYS_AT_ONCE &&
	       (code = ncs_term_key()) >= 0) {
		on_key(live, code);
		count++;
	}
	return count > 0;
}

/* Handles an event of standard input. A terminal that was closed, or whose
 * input has ended, stays readable without data; quit then instead of
 * looping. */
static void on_input(struct live *live, short events)
{
	int waiting = 0;
	bool empty = (events & POLLIN) &&
		     ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 &&
		     waiting == 0;

	if (events & (POLLHUP | POLLERR | POLLNVAL)) {
		live->quit = true;
		return;
	}
	if (!read_keys(live) && empty)
		live->quit = true;
}

static void on_signal(struct live *live, int number)
{
	switch (number) {
	case SIGWINCH:
		/* Several of these signals become one change of size, in the
		 * next frame. */
		live->resized = true;
		break;
	case SIGTSTP:
		ncs_term_suspend();
		break;
	case SIGCONT:
		ncs_term_resume();
		break;
	default:
		live->quit = true;
	}
	live->redraw = true;
}

static void on_signals(struct live *live)
{
	struct signalfd_siginfo info;

	while (read(live->signals, &info, sizeof(info)) == sizeof(info))
		on_signal(live, (int)info.ssi_signo);
}

/* --- When to draw --------------------------------------------------------- */

/* Whether the terminal accepts output. If it does not (a slow line, Ctrl-S),
 * writing would block, and delay signals; the caller skips the frame, and the
 * next frame has all changes. */
static bool can_write(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&output, 1, 0) > 0;
}

static void draw_if_due(struct live *live)
{
	if (!live->redraw || now_ns() - live->frame_ns < FRAME_NS)
		return;
	live->output_full = !can_write();
	if (!live->output_full)
		draw(live);
}

/* --- The script ----------------------------------------------------------- */

static void save(struct live *live, const char *path)
{
	FILE *file;

	draw(live);
	file = fopen(path, "we");
	if (!file || !ncs_term_save(file))
		live->error = errno ? errno : EIO;
	if (file && fclose(file) != 0)
		live->error = errno;
	if (live->error)
		live->quit = true;
}

/* Whether the screen shows a text. */
static bool is_shown(const char *text)
{
	char *screen = NULL;
	size_t size;
	FILE *file = open_memstream(&screen, &size);
	bool found;

	if (file)
		ncs_term_save(file);
	found = file && fclose(file) == 0 && strstr(screen, text);
	free(screen);
	return found;
}

/* Whether the script waits for a text that no frame has shown yet. */
static bool awaits(struct live *live)
{
	if (!live->awaited[0])
		return false;
	draw(live);
	if (is_shown(live->awaited)) {
		live->awaited[0] = '\0';
		return false;
	}
	live->script_ns = now_ns() + FRAME_NS;
	if (live->script_ns > live->awaited_until_ns) {
		live->error = ETIMEDOUT;
		live->quit = true;
	}
	return true;
}

static void play(struct live *live)
{
	struct ncs_script_step step;

	while (!live->quit && live->script.text &&
	       now_ns() >= live->script_ns && !awaits(live)) {
		ncs_script_next(&live->script, &step);
		switch (step.kind) {
		case NCS_SCRIPT_KEY:
			on_key(live, step.code);
			break;
		case NCS_SCRIPT_WAIT:
			live->script_ns = now_ns() + step.wait_ns;
			break;
		case NCS_SCRIPT_SAVE:
			save(live, step.text);
			break;
		case NCS_SCRIPT_AWAIT:
			memcpy(live->awaited, step.text, sizeof(step.text));
			live->awaited_until_ns = now_ns() + AWAIT_NS;
			break;
		case NCS_SCRIPT_END:
			ncs_script_release(&live->script);
			break;
		}
	}
}

/* --- The loop ------------------------------------------------------------- */

static void sooner(uint64_t *timeout_ns, uint64_t at_ns)
{
	uint64_t now = now_ns();
	uint64_t left_ns = at_ns > now ? at_ns - now : 0;

	if (left_ns < *timeout_ns)
		*timeout_ns = left_ns;
}

static int timeout_ms(const struct live *live)
{
	uint64_t timeout_ns = until_next_second_ns();

	if (live->redraw && !live->output_full)
		sooner(&timeout_ns, live->frame_ns + FRAME_NS);
	if (live->script.text)
		sooner(&timeout_ns, live->script_ns);
	if (is_searching(live))
		sooner(&timeout_ns, now_ns() + SEARCH_NS);
	return (int)(timeout_ns / 1000000) + 1;
}

static void wait_for_events(struct live *live)
{
	struct pollfd watched[WATCH_COUNT] = {
		[WATCH_KEYS] = { .fd = STDIN_FILENO, .events = POLLIN },
		[WATCH_TIMER] = { .fd = live->timer, .events = POLLIN },
		[WATCH_SIGNALS] = { .fd = live->signals, .events = POLLIN },
		[WATCH_OUTPUT] = { .fd = live->output_full ? STDOUT_FILENO : -1,
				   .events = POLLOUT },
		[WATCH_STACKS] = { .fd = live->stacks.child > 0 ?
						 live->stacks.output :
						 -1,
				   .events = POLLIN },
	};
	int ready = poll(watched, WATCH_COUNT, timeout_ms(live));

	if (ready < 0)
		return;
	/* The clock in the title must be redrawn, and a message may expire. */
	if (ready == 0)
		live->redraw = true;
	if (watched[WATCH_SIGNALS].revents)
		on_signals(live);
	if (watched[WATCH_TIMER].revents)
		on_timer(live);
	if (watched[WATCH_STACKS].revents)
		on_stacks(live);
	if (watched[WATCH_KEYS].revents)
		on_input(live, watched[WATCH_KEYS].revents);
	else
		read_keys(live); /* curses may have buffered keys */
}

static void loop(struct live *live)
{
	if (live->replay)
		ncs_screen_fill(&live->screen, live->source);
	sample(live);
	arm(live);
	draw(live);
	while (!live->quit) {
		play(live);
		if (ncs_lease_is_held(&live->lease))
			renew_lease(live);
		show_stacks(live);
		draw_if_due(live);
		if (is_searching(live))
			search(live);
		if (!live->quit)
			wait_for_events(live);
	}
}

/* --- Start and end -------------------------------------------------------- */

static int block_signals(struct live *live)
{
	static const int numbers[] = { SIGHUP,   SIGINT,  SIGTERM, SIGQUIT,
				       SIGWINCH, SIGTSTP, SIGCONT };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&mask, numbers[i]);
	live->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (live->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &mask, &live->former_mask);
	return 0;
}

/* Discards pending signals before unblocking them; otherwise they would arrive
 * after the user has quit. */
static void unblock_signals(struct live *live)
{
	struct signalfd_siginfo info;

	while (read(live->signals, &info, sizeof(info)) == sizeof(info))
		;
	close(live->signals);
	sigprocmask(SIG_SETMASK, &live->former_mask, NULL);
}

/* Whether to use colours. The command line overrides NO_COLOR, which overrides
 * the configuration file. */
static bool wants_color(const struct ncs_options *options)
{
	const char *no_color = getenv("NO_COLOR");

	if (options->color == NCS_COLOR_ALWAYS &&
	    ncs_options_is_given(options, NCS_OPTION_COLOR))
		return true;
	if (no_color && no_color[0])
		return false;
	return options->color != NCS_COLOR_NEVER;
}

static void init_screen(struct live *live, const struct ncs_options *options,
			const struct ncs_config_file *config,
			const char *complaint)
{
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	if (live->replay)
		snprintf(host, sizeof(host), "%.*s", (int)sizeof(host) - 1,
			 live->replay->hosts);
	host[strcspn(host, ".")] = '\0';
	ncs_screen_init(
		&live->screen,
		options->view < NCS_VIEW_COUNT ? options->view : NCS_VIEW_RANK,
		options->interval_ns, host, ncs_directory(options->directory));
	live->screen.has_nodes = ncs_options_want_nodes(options);
	live->screen.is_root = geteuid() == 0;
	ncs_job_plugin_folder(live->screen.plugin_folder,
			      sizeof(live->screen.plugin_folder));
	ncs_screen_apply(&live->screen, options);
	live->source->wants_peaks = true;
	live->screen.config_path = config->path;
	if (live->replay)
		ncs_screen_set_replay(&live->screen, live->replay,
				      &live->search);
	if (complaint[0])
		ncs_screen_say(screen_now(live), "%s", complaint);
}

/* Starts to play the recording and to search it. If there is no memory, the
 * search finds nothing. */
static void begin_replay(struct live *live, const struct ncs_options *options)
{
	ncs_replay_search_begin(&live->search, live->replay,
				options->choice.pid, ncs_finding_sentence);
	ncs_replay_play(live->replay, true, now_ns());
}

static int start_terminal(const struct ncs_options *options)
{
	const struct ncs_term_config config = {
		.color = wants_color(options),
	};
	int error = ncs_term_start(&config);

	/* The terminal has installed a handler for SIGBUS. The reader's guard
	 * must be called first, and passes on the signals that it does not
	 * expect. */
	if (!error)
		ncs_reader_guard();
	return error;
}

static int run(struct live *live, const struct ncs_options *options,
	       const struct ncs_config_file *config, const char *complaint)
{
	int error = block_signals(live);

	if (error)
		return error;
	error = start_terminal(options);
	if (!error) {
		if (live->replay)
			begin_replay(live, options);
		init_screen(live, options, config, complaint);
		loop(live);
		ncs_replay_search_end(&live->search);
		ncs_lease_drop(&live->lease);
		ncs_term_stop();
		ncs_stacks_reading_end(&live->stacks);
		free(live->page);
		ncs_screen_release(&live->screen);
	}
	unblock_signals(live);
	return error;
}

int ncs_live_run(const struct ncs_options *options,
		 const struct ncs_config_file *config, const char *complaint,
		 struct ncs_source *source, struct ncs_replay *replay)
{
	struct live live = { .options = options,
			     .source = source,
			     .replay = replay,
			     .targets = { .directory = options->directory,
					  .others = options->choice.pid != 0 ||
						    options->choice.job },
			     .samples_wanted = options->count };
	int error;

	if (options->keys_path) {
		error = ncs_script_read(&live.script, options->keys_path);
		if (error) {
			ncs_complain("%s: %s", options->keys_path,
				     strerror(-error));
			return NCS_EXIT_USAGE;
		}
	}
	live.timer =
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (live.timer < 0) {
		ncs_script_release(&live.script);
		return -errno;
	}
	error = run(&live, options, config, complaint);
	close(live.timer);
	ncs_script_release(&live.script);
	if (error)
		return error;
	if (live.error) {
		if (live.awaited[0])
			ncs_complain("the screen never showed '%s'",
				     live.awaited);
		else
			ncs_complain("cannot save the screen: %s",
				     strerror(live.error));
		return NCS_EXIT_NOTHING;
	}
	if (live.saw_rank || live.unreadable == 0)
		return NCS_EXIT_OK;
	ncs_complain("no verdict: no segment could be read, --list says why");
	return NCS_EXIT_UNREADABLE;
}
