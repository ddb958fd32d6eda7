/* The kinds of chunks that a recording is made of, one line each: the code of
 * record/ and ncclstat-record(5) are made from this.
 *
 * X(ID, name, number, help)
 *   ID      suffix of NCS_CHUNK_…
 *   name    what it is called in messages and in the manual
 *   number  in the file; never given to another kind
 *   help    a clause or two for people
 */
#define NCS_CHUNKS(X) \
	X(FILE, "file", 1, \
	  "The first chunk of every file: the format's version, whose recording" \
	  " it is, and which file of it.") \
	X(TABLES, "tables", 2, \
	  "What the numbers in records mean, and where their fields are, as" \
	  " text.") \
	X(RANK, "rank", 3, \
	  "A segment that is recorded from here on: its path and its header. Its" \
	  " number in this file is the chunk's rank.") \
	X(STATE, "state", 4, \
	  "A part of a segment's state at one moment: all of it, or what has" \
	  " changed since a state of which all is there.") \
	X(RECORDS, "records", 5, \
	  "Records of one lane of a rank, in the order in which they were" \
	  " published.") \
	X(CLOCK, "clock", 6, \
	  "CLOCK_MONOTONIC and CLOCK_REALTIME at one moment, and how well the" \
	  " system says that it keeps the time.") \
	X(INDEX, "index", 7, \
	  "Where the chunks since the index before it are, and which times they" \
	  " hold.") \
	X(END, "end", 8, \
	  "The last chunk of a file that was closed: where the last index is, and" \
	  " how much was recorded and lost.") \
	X(PADDING, "padding", 9, "Nothing: the room up to the next block.")
