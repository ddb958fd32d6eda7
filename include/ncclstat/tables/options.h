/* The options of the program, one line each: getopt_long(), the configuration
 * file, the setup screen, --help and the manual are made from this, and a test
 * holds the completion to it.
 *
 * X(ID, name, letter, has, argument, place, help)
 *   ID        suffix of NCS_OPTION_…
 *   name      the long option, without the dashes
 *   letter    the short one; 0: none
 *   has       NO, REQUIRED or OPTIONAL argument
 *   argument  what it is called in --help; "" for NO
 *   place     ONCE: on the command line only; KEPT: in the configuration file,
 *             too; LIVE: there, too, and the live view changes and keeps it.
 *             What is not ONCE has an argument, and always there.
 *   help      a clause or two for people; --help breaks it into lines
 */
#define NCS_OPTIONS(X) \
	X(DUMP, "dump", 'd', OPTIONAL, "text|json", ONCE, \
	  "Print what there is to see, or what recordings show at their end, and" \
	  " leave; text unless told otherwise. This is also what happens where" \
	  " input or output is no terminal.") \
	X(DIAGNOSE, "diagnose", 0, OPTIONAL, "text|json", ONCE, \
	  "Say what is wrong with the job, who is to blame, what was seen, and" \
	  " what to do next. Status 0: healthy, 1: slow or suspicious, 2:" \
	  " stuck, 3: no job.") \
	X(RECORD, "record", 0, REQUIRED, "FILE", ONCE, \
	  "Record all that the plugin tells, of jobs that run and of those that" \
	  " begin, until their processes are gone; '-' is standard output." \
	  " --interval is between two states of a rank; default 0.2.") \
	X(DURATION, "duration", 0, REQUIRED, "SECONDS", ONCE, \
	  "With --record: stop after that time.") \
	X(ROTATE_SIZE, "rotate-size", 0, REQUIRED, "BYTES", ONCE, \
	  "With --record: go on in FILE.1, FILE.2 and so on, each about so" \
	  " long; k, M and G after the number are powers of 1024.") \
	X(ROTATE_TIME, "rotate-time", 0, REQUIRED, "SECONDS", ONCE, \
	  "With --record: the same, each of so much time.") \
	X(KEEP, "keep", 0, REQUIRED, "N", ONCE, \
	  "With --rotate-size or --rotate-time: keep the latest N files only.") \
	X(COMPRESS, "compress", 0, OPTIONAL, "LEVEL", ONCE, \
	  "With --record: compress with Zstandard; level 1 unless told" \
	  " otherwise.") \
	X(REPLAY, "replay", 0, NO, "", ONCE, \
	  "Play recordings in the live view; several FILEs, of one or of several" \
	  " hosts, are played together.") \
	X(EXPORT, "export", 0, REQUIRED, "perfetto|chrome|ndjson|csv", ONCE, \
	  "Write recordings in a format of others: a trace for Perfetto or" \
	  " chrome://tracing, a line of JSON for each record, or a table like" \
	  " that of nccl-tests.") \
	X(CRITICAL_PATH, "critical-path", 0, OPTIONAL, "text|json", ONCE, \
	  "Say which way the time of a recorded job went: through which rank," \
	  " and for which cause.") \
	X(WHAT_IF, "what-if", 0, REQUIRED, "SPEC", ONCE, \
	  "Likewise, and say what a change would do to it, such as net:x2" \
	  " or without:7; may be given several times.") \
	X(RANGE, "range", 0, REQUIRED, "PATH", ONCE, \
	  "With --critical-path: only what was called in this range of the" \
	  " program, such as step/forward, or in one inside it.") \
	X(AT, "at", 0, REQUIRED, "TIME", ONCE, \
	  "Look at recordings as of then, or begin to play there. TIME is" \
	  " [-][[H:]M:]SECONDS since their beginning or, with '-', before their" \
	  " end; or [YYYY-MM-DD]THH:MM[:SS][Z], as clocks on the wall had it.") \
	X(FROM, "from", 0, REQUIRED, "TIME", ONCE, \
	  "Leave out what was recorded before; TIME as for --at.") \
	X(UNTIL, "until", 0, REQUIRED, "TIME", ONCE, \
	  "Leave out what was recorded after; TIME as for --at.") \
	X(OUTPUT, "output", 'o', REQUIRED, "FILE", ONCE, \
	  "Write what is exported there, instead of to standard output.") \
	X(WAIT, "wait", 0, REQUIRED, "SECONDS", ONCE, \
	  "With --diagnose: wait for trouble, so long at most.") \
	X(LIST, "list", 'l', NO, "", ONCE, \
	  "Print one line for each shared-memory segment, or for each rank in" \
	  " recordings, and leave.") \
	X(CLEAN, "clean", 0, NO, "", ONCE, \
	  "Remove the segments and control objects of processes that are gone" \
	  " and leave.") \
	X(SET, "set", 's', REQUIRED, "SETTING", ONCE, \
	  "Have running jobs collect more or less from now on: events=," \
	  " kernel= and sample=, separated by commas, or default. Prints what" \
	  " they collect then.") \
	X(PID, "pid", 'p', REQUIRED, "PID", ONCE, \
	  "Look at this process only.") \
	X(COMM, "comm", 0, REQUIRED, "GLOB", ONCE, \
	  "With --set: only processes that have a communicator whose name or" \
	  " id matches this pattern.") \
	X(DIR, "dir", 0, REQUIRED, "DIR", ONCE, \
	  "Look for segments in this directory; default $NCCLSTAT_DIR or" \
	  " /dev/shm.") \
	X(INTERVAL, "interval", 'i', REQUIRED, "SECONDS", LIVE, \
	  "Time between samples, 0.1 at least; default 1. With --dump: go on" \
	  " until stopped or until --count is reached.") \
	X(COUNT, "count", 'n', REQUIRED, "N", ONCE, \
	  "Leave after N samples. Without it, --dump takes one, or any number" \
	  " with --interval.") \
	X(VIEW, "view", 'v', REQUIRED, \
	  "ranks|communicators|channels|proxy|collectives|timeline|diagnose|ranges|sizes", LIVE, \
	  "The view to begin with; the only table of a text dump.") \
	X(WINDOW, "window", 'w', REQUIRED, "now|10s|100s|start", LIVE, \
	  "Over which time rates and shares are taken: the latest interval," \
	  " 10 or 100 seconds, or since the start of each rank; default now.") \
	X(COLOR, "color", 0, REQUIRED, "auto|always|never", KEPT, \
	  "Whether the live view has colours; auto heeds NO_COLOR.") \
	X(ASCII, "ascii", 'a', NO, "", ONCE, \
	  "Write ASCII only, whatever the locale says.") \
	X(SYMBOLS, "symbols", 0, REQUIRED, "block|braille|ascii", LIVE, \
	  "What the live view draws lines and bars with; ascii where the locale" \
	  " is not UTF-8.") \
	X(SCHEME, "scheme", 0, REQUIRED, "normal|colorblind|contrast|mono", \
	  LIVE, \
	  "The live view's colours, where there are any: colorblind has orange" \
	  " and blue, contrast suits light and dark terminals.") \
	X(LEVEL, "level", 0, REQUIRED, "info|diag|debug", LIVE, \
	  "How many columns the live view has.") \
	X(SORT, "sort", 0, REQUIRED, "[VIEW:][-]COLUMN,...", LIVE, \
	  "What the live view's tables are sorted by, one column for each view," \
	  " or for all that have it; '-' turns the order round. Or default.") \
	X(COLUMNS, "columns", 0, REQUIRED, "[VIEW:][-]COLUMN,...", LIVE, \
	  "Columns that the live view has whatever its level, and, with '-'," \
	  " those it does not have. Or default.") \
	X(NUMBERS, "numbers", 0, REQUIRED, "scaled|exact", LIVE, \
	  "How the live view's tables show numbers: with three digits and a" \
	  " unit, or all digits.") \
	X(UNITS, "units", 0, REQUIRED, "bytes|bits", LIVE, \
	  "Whether the live view's bandwidths and rates are of bytes or of" \
	  " bits.") \
	X(HEADER, "header", 0, REQUIRED, "show|hide", LIVE, \
	  "Whether the live view has the lines above the tabs.") \
	X(IDLE, "idle", 0, REQUIRED, "show|hide", LIVE, \
	  "Whether the live view has the rows in which nothing happens.") \
	X(MOUSE, "mouse", 0, OPTIONAL, "off|on", LIVE, \
	  "Whether the live view heeds the mouse; on unless told otherwise." \
	  " Most terminals then want Shift for copying text.") \
	X(CONFIG, "config", 0, REQUIRED, "FILE", ONCE, \
	  "The live view's configuration file, instead of $NCCLSTATRC or" \
	  " ~/.config/ncclstat/ncclstatrc; none: without one.") \
	X(ALIASES, "aliases", 0, REQUIRED, "FILE", KEPT, \
	  "Call communicators by names of yours: each line of FILE is a" \
	  " pattern for a communicator's name or id, and the name.") \
	X(SYNTHETIC, "synthetic", 0, REQUIRED, "RANKSxCHANNELS[:SEED]", ONCE, \
	  "Show a made-up job, to try the program without one.") \
	X(KEYS, "keys", 0, REQUIRED, "FILE", ONCE, \
	  "Play keys in the live view: each line of FILE is the name of a key" \
	  " as in tmux, or text; or 'wait SECONDS'; or 'save FILE', which" \
	  " writes the screen as text.") \
	X(HELP, "help", 'h', NO, "", ONCE, "Print this and leave.") \
	X(VERSION, "version", 'V', NO, "", ONCE, "Print the version and leave.")
