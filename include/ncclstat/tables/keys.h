/* The keys of the live view, one line each: what is decoded, the help screen,
 * the function bar, the manual and the tests are made from this.
 *
 * NCS_KEY_GROUPS: X(ID, title), the headings of the help screen, in order.
 *
 * NCS_KEYS: X(ID, group, keys, label, help)
 *   ID     suffix of NCS_ACTION_…
 *   group  ID of NCS_KEY_GROUPS
 *   keys   names separated by spaces: a character, F1 … F12, Shift-F1 …
 *          Shift-F12, Ctrl-A … Ctrl-Z, Up, Down, Left, Right, Shift-Left,
 *          Shift-Right, PgUp, PgDn,
 *          Home, End, Enter, Esc, Backspace, Tab, Shift-Tab
 *   label  the word in the function bar, "" if it is not there; the first key
 *          is then a function key
 *   help   one line for people
 *
 * Keys only change what is shown, but for those of the group COLLECT, which
 * change what the plugin collects, and for KEEP and SAVE, which write files.
 * None stops or destroys anything, and where htop has a meaning for a key, that
 * is the meaning here.
 */
#define NCS_KEY_GROUPS(X) \
	X(VIEW, "Views") \
	X(MOVE, "Moving") \
	X(FIND, "Finding") \
	X(ORDER, "Order") \
	X(TIME, "Time") \
	X(TIMELINE, "In the timeline") \
	X(REPLAY, "In a recording") \
	X(SHOW, "Showing and hiding") \
	X(COLLECT, "What the plugin collects") \
	X(PROGRAM, "The program")

#define NCS_KEYS(X) \
	X(VIEW_RANKS, VIEW, "1", "", \
	  "Ranks: who is there, what each waits for") \
	X(VIEW_COMMUNICATORS, VIEW, "2", "", \
	  "Communicators: how far their ranks are, who is behind") \
	X(VIEW_CHANNELS, VIEW, "3", "", \
	  "Channels: each channel, direction and peer, and its waits") \
	X(VIEW_PROXY, VIEW, "4", "", \
	  "Proxy: the proxy thread's state machine") \
	X(VIEW_COLLECTIVES, VIEW, "5", "", \
	  "Collectives: calls, bandwidth and times of each function") \
	X(VIEW_TIMELINE, VIEW, "6", "", \
	  "Timeline: the latest past of the selected rank and of all others," \
	  " as swim lanes") \
	X(VIEW_DIAGNOSE, VIEW, "7", "", \
	  "Diagnose: what is wrong, who is to blame, by what that is seen," \
	  " and what to do next") \
	X(VIEW_RANGES, VIEW, "8", "", \
	  "Ranges: what each phase of the program spends in NCCL") \
	X(SIZES, VIEW, "x", "", \
	  "in Collectives: a row for each size, algorithm and protocol, as" \
	  " nccl-tests has them; again: for each function") \
	X(VIEW_NEXT, VIEW, "Tab", "", "the next view") \
	X(VIEW_PREVIOUS, VIEW, "Shift-Tab", "", "the previous view") \
	X(ENTER, VIEW, "Enter", "", \
	  "go down: a communicator's ranks; a rank's channels; a function's" \
	  " sizes; from a channel to the peer's end of it; from a finding to its" \
	  " rank or channel") \
	X(BACK, VIEW, "Esc Backspace", "", \
	  "go back up; leave a prompt; never quits") \
	X(HELP, PROGRAM, "F1 ? h", "Help", "this help; q or Esc leaves it") \
	X(UP, MOVE, "Up k Ctrl-P", "", "one row up") \
	X(DOWN, MOVE, "Down j Ctrl-N", "", "one row down") \
	X(PAGE_UP, MOVE, "PgUp Ctrl-B", "", "one page up") \
	X(PAGE_DOWN, MOVE, "PgDn Ctrl-F", "", "one page down") \
	X(FIRST, MOVE, "Home g", "", \
	  "the first row, and stay there while the order changes") \
	X(LAST, MOVE, "End G", "", "the last row") \
	X(LEFT, MOVE, "Left", "", "one column to the left") \
	X(RIGHT, MOVE, "Right", "", "one column to the right") \
	X(COLUMN_FIRST, MOVE, "^", "", "the first column") \
	X(COLUMN_LAST, MOVE, "$", "", "the last column") \
	X(NEXT_ABNORMAL, FIND, "!", "", \
	  "the next abnormal row: waiting for more than 1 s, behind, dead," \
	  " silent, lossy, unreadable") \
	X(SEARCH, FIND, "F3 /", "Search", \
	  "search as you type; Enter keeps, Esc goes back, F3 next match") \
	X(SEARCH_NEXT, FIND, "n", "", "the next match") \
	X(SEARCH_PREVIOUS, FIND, "N Shift-F3", "", "the previous match") \
	X(FILTER, FIND, "F4 \\", "Filter", \
	  "show only rows with this text; a|b: with either; Esc clears") \
	X(TAG, FIND, "Space", "", \
	  "tag the selected row, or untag it, and go to the next") \
	X(TAG_WHOLE, FIND, "c", "", \
	  "tag it with all that belongs to it: a rank with its channels, in" \
	  " every view") \
	X(UNTAG_ALL, FIND, "U", "", "untag all rows") \
	X(TAGGED_ONLY, FIND, "o", "", "show only tagged rows, or all again") \
	X(TREE, ORDER, "F5 t", "Tree", \
	  "as a tree: rows by communicator, and below a rank its channels") \
	X(UNFOLD, ORDER, "+", "", "show what is below the selected row") \
	X(FOLD, ORDER, "-", "", "fold it, or what it is below") \
	X(FOLD_ALL, ORDER, "*", "", "unfold everything; again: fold everything") \
	X(FOLLOW, ORDER, "F", "", \
	  "follow the selected row: it stays selected and in sight whatever" \
	  " the order, until you move") \
	X(SORT_NEXT, ORDER, "F6 > .", "Sort", "sort by the next column") \
	X(SORT_PREVIOUS, ORDER, "< ,", "", "sort by the previous column") \
	X(SORT_INVERT, ORDER, "I", "", "invert the order") \
	X(SORT_THROUGHPUT, ORDER, "P", "", "sort by throughput") \
	X(SORT_BYTES, ORDER, "M", "", "sort by bytes moved") \
	X(SORT_TIME, ORDER, "T", "", "sort by time: the longest wait first") \
	X(INTERVAL_SHORTER, TIME, "F7 [", "Int-", "a shorter interval") \
	X(INTERVAL_LONGER, TIME, "F8 ]", "Int+", "a longer interval") \
	X(PAUSE, TIME, "Z p", "", \
	  "pause, and go on; sorting, searching and going down still work") \
	X(SAMPLE, TIME, "Ctrl-T", "", "look now; paused: one look") \
	X(WINDOW, TIME, "a", "", \
	  "rates and shares over: the latest interval, 10 s, 100 s, since the" \
	  " start, since z") \
	X(MARK, TIME, "z", "", \
	  "rates and shares since this moment, begun anew by each z") \
	X(ZOOM_IN, TIMELINE, "=", "", \
	  "a shorter time; so does +. What is under the cursor stays there") \
	X(ZOOM_OUT, TIMELINE, "_", "", "a longer time; so does -") \
	X(PAN_BACK, TIMELINE, "Shift-Left {", "", \
	  "half a screen back; so does <. Left and Right move the cursor, ^ and" \
	  " $ to the edges, Enter highlights the collective under it in every" \
	  " rank until Esc") \
	X(PAN_ON, TIMELINE, "Shift-Right }", "", \
	  "half a screen on; so does >. End goes back to now") \
	X(STEP_ON, REPLAY, ")", "", "stop, and go on by one interval") \
	X(STEP_BACK, REPLAY, "(", "", "stop, and go back by one interval") \
	X(FASTER, REPLAY, "f", "", \
	  "play faster, up to 1000 times as fast as it was; Z or p plays and" \
	  " pauses") \
	X(SLOWER, REPLAY, "r", "", "play slower, down to a hundredth") \
	X(GO, REPLAY, ":", "", \
	  "go to a time: 12.5, 1:02:03, -10 before the end, T14:03:05 on the" \
	  " wall; the bar takes clicks") \
	X(GO_ABNORMAL, REPLAY, "E", "", \
	  "go to the next moment at which something goes wrong") \
	X(GO_ABNORMAL_BACK, REPLAY, "B", "", "go to the one before") \
	X(GO_BEGINNING, REPLAY, "Ctrl-A", "", "go to the beginning") \
	X(GO_END, REPLAY, "Ctrl-E", "", "go to the end") \
	X(IDLE, SHOW, "i", "", "show or hide rows in which nothing happens") \
	X(LEVEL_MORE, SHOW, "v", "", "more columns: info, diag, debug") \
	X(LEVEL_LESS, SHOW, "V", "", "fewer columns") \
	X(EXACT, SHOW, "e", "", "all digits of numbers, or three and a unit") \
	X(BITS, SHOW, "b", "", "bandwidths and rates in bits, or in bytes") \
	X(HEADER, SHOW, "#", "", "show or hide the lines above the tabs") \
	X(SYMBOLS, SHOW, "u", "", "symbols: block, braille, ASCII") \
	X(COLORS, SHOW, "C", "", "colours: normal, for the colour-blind, of high contrast, none") \
	X(MOUSE, SHOW, "m", "", \
	  "mouse on or off: rows, titles, tabs and the last line take clicks") \
	X(DETAIL, COLLECT, "d", "", \
	  "more detail for as long as this view runs: all events, kernel times" \
	  " of one call in 16, no sampling; again: give it back") \
	X(SET, COLLECT, "s", "", \
	  "ask for something else, as --set does; it stays") \
	X(SETUP, PROGRAM, "F2 S", "Setup", \
	  "setup: what can be set, changed at once; W keeps it, q leaves it") \
	X(SAVE, PROGRAM, "D", "", \
	  "save the rows of this view to a new text file in this folder") \
	X(KEEP, PROGRAM, "W", "", \
	  "write how the view is set to the configuration file; asks first") \
	X(REPAINT, PROGRAM, "Ctrl-L", "", "paint the whole screen again") \
	X(NO_KILL, PROGRAM, "F9", "", \
	  "nothing: kills in htop; no key here stops a job") \
	X(QUIT, PROGRAM, "F10 q Ctrl-C", "Quit", "quit")
