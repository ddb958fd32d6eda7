/* SPDX-License-Identifier: MIT */
/* The text form of a byte stream, for launchers that keep only whole lines and
 * mix those of many nodes (srun, pdsh, clush, mpirun):
 *
 *	ncclstat1:NODE:AGENT:NUMBER:BASE64\n
 *
 * At most 1,000 bytes with the line's end: srun mixes longer lines. Launchers of
 * MPI do not look for lines: they pass on what they read, up to 4,095 bytes of
 * a terminal or 4,096 of a pipe. There blanks before the marker make all lines
 * equally long, so that whole lines are read. NODE is a
 * host's name, AGENT eight hexadecimal digits that the agent chose when it
 * started, NUMBER counts its lines from 0. Whatever stands before the marker is
 * a launcher's label or a line that was torn, and is ignored. A line without
 * the marker is a message of the node or of the launcher.
 *
 * Lines that are lost, repeated or out of order are noticed by their numbers;
 * only bytes that were damaged within a line are left to the checksums of the
 * stream inside. All functions take any bytes, need no memory of their own and
 * do no I/O. Base64 is written here because no library that the program links
 * has it.
 */
#ifndef NCS_FLEET_LAUNCH_LINES_H
#define NCS_FLEET_LAUNCH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line, its end included, without blanks. */
#define NCS_LINE_MAX 1000u
/* Bytes of each line to a terminal, and to an MPI launcher's pipe. The latter is
 * also the room that writing a line needs. */
#define NCS_LINE_TERMINAL 819u
#define NCS_LINE_PADDED 1024u
/* Bytes of a node's name, without the final 0. */
#define NCS_LINE_NODE_MAX 64u
/* The longest line that is read whole: a label, and one of our lines. */
#define NCS_LINE_READ_MAX 4096u

/* --- Writing ------------------------------------------------------------- */

struct ncs_line_writer {
	char node[NCS_LINE_NODE_MAX + 1];
	uint32_t agent;
	uint64_t number; /* of the next line */
	size_t even;     /* bytes of each line; 0: they differ */
};

/* Begins a stream. Characters of the node's name other than A-Z, a-z, 0-9, '.',
 * '_' and '-' become '_'; what is too long is cut off; an empty name becomes
 * "_". `even`: what ncs_line_even() returned. */
void ncs_line_writer_init(struct ncs_line_writer *writer, const char *node,
			  uint32_t agent, size_t even);

/* Returns how many bytes each line must have that is written to a file: to a
 * terminal, or below an MPI launcher; 0 if they may differ. */
size_t ncs_line_even(int file);

/* Stores the name by which a launcher knows this machine: that of Slurm's node
 * in a step of Slurm, else the host's name. */
void ncs_line_node_name(char *name, size_t size);

/* Writes the first of `size` bytes as a line, with its end, without a final 0.
 * Sets `line_bytes`. Returns how many of the bytes are in the line: all, or as
 * many as fit, which are 530 at least. */
size_t ncs_line_put(struct ncs_line_writer *writer, const void *bytes,
		    size_t size, char line[NCS_LINE_PADDED], size_t *line_bytes);

/* --- Reading ------------------------------------------------------------- */

/* Puts lines together from the pieces that a pipe hands over. One of zeros is
 * at the beginning. */
struct ncs_line_splitter {
	char line[NCS_LINE_READ_MAX + 1];
	size_t used;
};

/* Takes the bytes of a line from a piece, which then begins behind them. Returns
 * the line, without its end and with a final 0, and sets `length` to its bytes,
 * which may be any; NULL if the piece ended before the line. The line is valid
 * until the next call and may be written to. A line that is too long is handed
 * over without its beginning, since our lines stand at the end. */
char *ncs_line_next(struct ncs_line_splitter *splitter, const char **bytes,
		    size_t *size, size_t *length);

/* Appends bytes to the `used` ones in a buffer of `room` bytes; of all, keeps
 * the last ones that fit. Returns their number. */
size_t ncs_line_keep_end(char *kept, size_t used, size_t room,
			 const char *bytes, size_t size);

enum ncs_line_kind {
	NCS_LINE_OURS,
	NCS_LINE_TORN,    /* has the marker, but is damaged */
	NCS_LINE_FOREIGN, /* another format: the number in the marker differs */
	NCS_LINE_MESSAGE,
};

/* A line of ours. */
struct ncs_line {
	char node[NCS_LINE_NODE_MAX + 1];
	uint32_t agent;
	uint64_t number;
	unsigned char bytes[NCS_LINE_MAX * 3 / 4];
	size_t byte_count;
};

/* Reads a line of `length` bytes, without its end. Fills `parsed` only if it
 * returns NCS_LINE_OURS. */
enum ncs_line_kind ncs_line_parse(const char *line, size_t length,
				  struct ncs_line *parsed);

/* Where the stream of a node is. One of zeros is before its first line. */
struct ncs_line_order {
	bool has_agent;
	uint32_t agent;
	uint64_t next;     /* the number that is expected */
	uint32_t foreign;  /* lines of other agents since the latest one */
};

enum ncs_line_step {
	NCS_LINE_NEXT,   /* its bytes follow those of the line before */
	NCS_LINE_BEGINS, /* the first line that is seen of an agent */
	NCS_LINE_GAP,    /* bytes before it are missing */
	NCS_LINE_DROP,   /* its bytes are not wanted */
};

/* Says what a line is to the stream of its node. After
 * NCS_LINE_BEGINS the stream begins anew, in its middle if the line's number is
 * not 0. An agent takes a node over with its first line; or, if that was lost,
 * once the agent before it says nothing any more. Of two agents that run at
 * once on a node, the lines of one are used. */
enum ncs_line_step ncs_line_order_take(struct ncs_line_order *order,
				       const struct ncs_line *line);

/* --- Orders -------------------------------------------------------------- */

/* A head writes orders to the standard input of its agents: lines, each also a
 * sign that the head lives. Agents leave out lines that they do not know; heads
 * know nothing of what an agent did with them. This one says that the reader
 * unpacks looks: chunks "pack" of ncclstat-record(5). */
#define NCS_ORDER_PACK "pack"

/* One of zeros has got none. */
struct ncs_orders {
	bool packs;
	/* The line that is coming, with room for any order, its end and a 0;
	 * longer ones are left out. */
	char line[64];
	size_t used;
};

/* Takes the next bytes. */
void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size);

#endif
