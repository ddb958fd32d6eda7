/* The options of the program, one line each: getopt_long(), --help and the
 * manual are made from this, and a test holds the completion to it.
 *
 * X(ID, name, letter, has, argument, help)
 *   ID        suffix of NCS_OPTION_…
 *   name      the long option, without the dashes
 *   letter    the short one; 0: none
 *   has       NO, REQUIRED or OPTIONAL argument
 *   argument  what it is called in --help; "" for NO
 *   help      a clause or two for people; --help breaks it into lines
 */
#define NCS_OPTIONS(X) \
	X(DUMP, "dump", 'd', OPTIONAL, "text|json", \
	  "Print what there is to see and leave; text unless told otherwise." \
	  " This is also what happens where input or output is no terminal.") \
	X(LIST, "list", 'l', NO, "", \
	  "Print one line for each shared-memory segment and leave.") \
	X(CLEAN, "clean", 0, NO, "", \
	  "Remove the segments and control objects of processes that are gone" \
	  " and leave.") \
	X(SET, "set", 's', REQUIRED, "SETTING", \
	  "Have running jobs collect more or less from now on: events=," \
	  " kernel= and sample=, separated by commas, or default. Prints what" \
	  " they collect then.") \
	X(PID, "pid", 'p', REQUIRED, "PID", "Look at this process only.") \
	X(COMM, "comm", 0, REQUIRED, "GLOB", \
	  "With --set: only processes that have a communicator whose name or" \
	  " id matches this pattern.") \
	X(DIR, "dir", 0, REQUIRED, "DIR", \
	  "Look for segments in this directory; default $NCCLSTAT_DIR or" \
	  " /dev/shm.") \
	X(INTERVAL, "interval", 'i', REQUIRED, "SECONDS", \
	  "Time between samples, 0.1 at least; default 1. With --dump: go on" \
	  " until stopped or until --count is reached.") \
	X(COUNT, "count", 'n', REQUIRED, "N", \
	  "Leave after N samples. Without it, --dump takes one, or any number" \
	  " with --interval.") \
	X(VIEW, "view", 'v', REQUIRED, \
	  "ranks|communicators|channels|proxy|collectives", \
	  "The view to begin with; the only table of a text dump.") \
	X(COLOR, "color", 0, REQUIRED, "auto|always|never", \
	  "Whether the live view has colours; auto heeds NO_COLOR.") \
	X(ASCII, "ascii", 'a', NO, "", \
	  "Write ASCII only, whatever the locale says.") \
	X(SYNTHETIC, "synthetic", 0, REQUIRED, "RANKSxCHANNELS[:SEED]", \
	  "Show a made-up job, to try the program without one.") \
	X(KEYS, "keys", 0, REQUIRED, "FILE", \
	  "Play keys in the live view: each line of FILE is the name of a key" \
	  " as in tmux, or text; or 'wait SECONDS'; or 'save FILE', which" \
	  " writes the screen as text.") \
	X(HELP, "help", 'h', NO, "", "Print this and leave.") \
	X(VERSION, "version", 'V', NO, "", "Print the version and leave.")
