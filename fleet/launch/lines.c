/* SPDX-License-Identifier: MIT */
/* Lines that carry a byte stream; see lines.h. Must not trust a byte that it
 * reads. */
#include "fleet/launch/lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARKER "ncclstat"
#define MARKER_LENGTH (sizeof(MARKER) - 1)
#define FORMAT "1"
/* Lines of an unknown agent after which the known one counts as gone. */
#define LINES_TO_TAKE_OVER 8u

#define ALPHANUMERIC \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define NAME_CHARACTERS ALPHANUMERIC "._-"

static const char alphabet[] = ALPHANUMERIC "+/";

/* --- Writing ------------------------------------------------------------- */

void ncs_line_writer_init(struct ncs_line_writer *writer, const char *node,
			  uint32_t agent, size_t even)
{
	size_t length = strnlen(node, NCS_LINE_NODE_MAX);

	memset(writer, 0, sizeof(*writer));
	writer->agent = agent;
	for (size_t i = 0; i < length; i++)
		writer->node[i] = strchr(NAME_CHARACTERS, node[i]) ? node[i] :
								     '_';
	if (length == 0)
		writer->node[0] = '_';
	writer->even = even;
}

size_t ncs_line_even(int file)
{
	if (isatty(file))
		return NCS_LINE_TERMINAL;
	/* Open MPI, PRRTE and MPICH set these. */
	if (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_RANK") ||
	    getenv("PMI_RANK"))
		return NCS_LINE_PADDED;
	return 0;
}

void ncs_line_node_name(char *name, size_t size)
{
	const char *slurm = getenv("SLURMD_NODENAME");

	if (slurm && slurm[0]) {
		snprintf(name, size, "%s", slurm);
		return;
	}
	/* A name that is too long may come without its final 0. */
	if (gethostname(name, size) != 0)
		name[0] = 0;
	name[size - 1] = 0;
}

/* Writes three bytes as four characters; bytes beyond `count` as '='. */
static void put_group(char text[4], const unsigned char *bytes, size_t count)
{
	uint32_t word = (uint32_t)bytes[0] << 16;

	if (count > 1)
		word |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		word |= bytes[2];
	text[0] = alphabet[word >> 18];
	text[1] = alphabet[word >> 12 & 63];
	text[2] = count > 1 ? alphabet[word >> 6 & 63] : '=';
	text[3] = count > 2 ? alphabet[word & 63] : '=';
}

/* Puts blanks before the bytes of a line. */
static void pad(char *line, size_t used, size_t even)
{
	memmove(line + even - used, line, used);
	memset(line, ' ', even - used);
}

size_t ncs_line_put(struct ncs_line_writer *writer, const void *bytes,
		    size_t size, char line[NCS_LINE_PADDED], size_t *line_bytes)
{
	const unsigned char *source = bytes;
	int head = snprintf(line, NCS_LINE_MAX,
			    MARKER FORMAT ":%s:%08x:%llu:", writer->node,
			    writer->agent, (unsigned long long)writer->number);
	size_t used = (size_t)head;
	size_t longest = writer->even == NCS_LINE_TERMINAL ? NCS_LINE_TERMINAL :
							     NCS_LINE_MAX;
	size_t most = (longest - used - 1) / 4 * 3;

	if (size > most)
		size = most;
	for (size_t i = 0; i < size; i += 3, used += 4)
		put_group(line + used, source + i, size - i);
	line[used++] = '\n';
	if (writer->even)
		pad(line, used, writer->even);
	*line_bytes = writer->even ? writer->even : used;
	writer->number++;
	return size;
}

/* --- Splitting ----------------------------------------------------------- */

size_t ncs_line_keep_end(char *kept, size_t used, size_t room,
			 const char *bytes, size_t size)
{
	if (size > room) {
		bytes += size - room;
		size = room;
	}
	if (used > room - size) {
		size_t cut = used - (room - size);

		used -= cut;
		memmove(kept, kept + cut, used);
	}
	memcpy(kept + used, bytes, size);
	return used + size;
}

char *ncs_line_next(struct ncs_line_splitter *splitter, const char **bytes,
		    size_t *size, size_t *length)
{
	const char *end = *size > 0 ? memchr(*bytes, '\n', *size) : NULL;
	size_t piece = end ? (size_t)(end - *bytes) : *size;

	splitter->used = ncs_line_keep_end(splitter->line, splitter->used,
					   NCS_LINE_READ_MAX, *bytes, piece);
	piece += end != NULL;
	*bytes += piece;
	*size -= piece;
	if (!end)
		return NULL;
	*length = splitter->used;
	/* Terminals end lines with a carriage return as well. */
	if (*length > 0 && splitter->line[*length - 1] == '\r')
		(*length)--;
	splitter->line[*length] = 0;
	splitter->used = 0;
	return splitter->line;
}

/* --- Parsing ------------------------------------------------------------- */

/* A part of a line that is still to be read; that of a field ends at a colon. */
struct line_rest {
	const char *at;
	const char *end;
};

/* Finds the last marker: what stands before it was torn, or is a label. */
static const char *find_marker(const char *line, size_t length)
{
	const char *found = NULL, *at = line, *end = line + length;

	while ((at = memmem(at, (size_t)(end - at), MARKER, MARKER_LENGTH))) {
		const char *digit = at + MARKER_LENGTH;

		while (digit < end && *digit >= '0' && *digit <= '9')
			digit++;
		if (digit > at + MARKER_LENGTH && digit < end && *digit == ':')
			found = at;
		at += MARKER_LENGTH;
	}
	return found;
}

/* Takes the field up to the next colon. Returns false if there is none. */
static bool take_field(struct line_rest *rest, struct line_rest *field)
{
	const char *colon =
		memchr(rest->at, ':', (size_t)(rest->end - rest->at));

	if (!colon)
		return false;
	*field = (struct line_rest){ .at = rest->at, .end = colon };
	rest->at = colon + 1;
	return true;
}

static bool read_node(struct line_rest field, char node[NCS_LINE_NODE_MAX + 1])
{
	size_t length = (size_t)(field.end - field.at);

	if (length == 0 || length > NCS_LINE_NODE_MAX ||
	    strspn(field.at, NAME_CHARACTERS) != length)
		return false;
	memcpy(node, field.at, length);
	node[length] = 0;
	return true;
}

static bool read_agent(struct line_rest field, uint32_t *agent)
{
	*agent = (uint32_t)strtoul(field.at, NULL, 16);
	return field.end - field.at == 8 &&
	       strspn(field.at, "0123456789abcdef") == 8;
}

static bool read_number(struct line_rest field, uint64_t *number)
{
	size_t digits = strspn(field.at, "0123456789");

	*number = strtoull(field.at, NULL, 10);
	return digits > 0 && digits < 20 &&
	       digits == (size_t)(field.end - field.at);
}

/* The value of a character of Base64, plus 1; 0 for others. A table, since the
 * characters come in no order that a branch could foresee: a head of many nodes
 * spends much of its time here. */
static const unsigned char values[UCHAR_MAX + 1] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5,
	['F'] = 6, ['G'] = 7, ['H'] = 8, ['I'] = 9, ['J'] = 10,
	['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15,
	['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20,
	['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25,
	['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
	['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
	['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45,
	['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50,
	['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55,
	['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
	['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

static int value_of(char character)
{
	return values[(unsigned char)character] - 1;
}

/* Reads four characters. Returns the number of bytes in them, or 0 if they are
 * not Base64. */
static size_t read_group(const char text[4], unsigned char bytes[3])
{
	int a = value_of(text[0]), b = value_of(text[1]);
	int c = text[2] == '=' ? 0 : value_of(text[2]);
	int d = text[3] == '=' ? 0 : value_of(text[3]);
	uint32_t word;

	if (a < 0 || b < 0 || c < 0 || d < 0 ||
	    (text[2] == '=' && text[3] != '='))
		return 0;
	word = (uint32_t)a << 18 | (uint32_t)b << 12 | (uint32_t)c << 6 |
	       (uint32_t)d;
	bytes[0] = (unsigned char)(word >> 16);
	bytes[1] = (unsigned char)(word >> 8);
	bytes[2] = (unsigned char)word;
	if (text[2] == '=')
		return 1;
	return text[3] == '=' ? 2 : 3;
}

static bool read_bytes(struct line_rest rest, struct ncs_line *parsed)
{
	size_t length = (size_t)(rest.end - rest.at);

	parsed->byte_count = 0;
	if (length % 4 != 0 || length > sizeof(parsed->bytes) / 3 * 4)
		return false;
	for (; rest.at < rest.end; rest.at += 4) {
		size_t count =
			read_group(rest.at, parsed->bytes + parsed->byte_count);

		if (count == 0 || (count < 3 && rest.end - rest.at > 4))
			return false;
		parsed->byte_count += count;
	}
	return true;
}

enum ncs_line_kind ncs_line_parse(const char *line, size_t length,
				  struct ncs_line *parsed)
{
	const char *marker = find_marker(line, length);
	struct line_rest rest, format, node, agent, number;

	if (!marker)
		return NCS_LINE_MESSAGE;
	rest.at = marker + MARKER_LENGTH;
	rest.end = line + length;
	if (!take_field(&rest, &format))
		return NCS_LINE_MESSAGE;
	if (format.end - format.at != 1 || *format.at != FORMAT[0])
		return NCS_LINE_FOREIGN;
	if (!take_field(&rest, &node) || !take_field(&rest, &agent) ||
	    !take_field(&rest, &number) || !read_node(node, parsed->node) ||
	    !read_agent(agent, &parsed->agent) ||
	    !read_number(number, &parsed->number) || !read_bytes(rest, parsed))
		return NCS_LINE_TORN;
	return NCS_LINE_OURS;
}

/* --- Order --------------------------------------------------------------- */

/* Whether a line of an unknown agent makes it the node's agent. */
static bool takes_over(struct ncs_line_order *order,
		       const struct ncs_line *line)
{
	return !order->has_agent || line->number == 0 ||
	       ++order->foreign >= LINES_TO_TAKE_OVER;
}

enum ncs_line_step ncs_line_order_take(struct ncs_line_order *order,
				       const struct ncs_line *line)
{
	bool is_next;

	if (!order->has_agent || line->agent != order->agent) {
		if (!takes_over(order, line))
			return NCS_LINE_DROP;
		order->has_agent = true;
		order->agent = line->agent;
		order->next = line->number + 1;
		order->foreign = 0;
		return NCS_LINE_BEGINS;
	}
	order->foreign = 0;
	if (line->number < order->next)
		return NCS_LINE_DROP;
	is_next = line->number == order->next;
	order->next = line->number + 1;
	return is_next ? NCS_LINE_NEXT : NCS_LINE_GAP;
}

/* --- Orders -------------------------------------------------------------- */

static void take_order(struct ncs_orders *orders)
{
	if (orders->used < sizeof(orders->line)) {
		orders->line[orders->used] = '\0';
		orders->packs |= strcmp(orders->line, NCS_ORDER_PACK) == 0;
	}
	orders->used = 0;
}

void ncs_orders_take(struct ncs_orders *orders, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			take_order(orders);
		else if (orders->used < sizeof(orders->line))
			orders->line[orders->used++] = bytes[i];
	}
}
