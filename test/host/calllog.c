/* SPDX-License-Identifier: MIT */
/* Reads call logs.
 *
 * The whole file is read into memory, decompressed if it is xz, and split into
 * lines; each line is checked against what its verb and event type must contain
 * in the file's API version. It never guesses: a field that is missing,
 * unknown, given twice or out of range is an error. Handles and contexts must
 * be returned by a call before they are used, so that a replay can map all of
 * them.
 */
#include "test/host/calllog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/nccl/nccl_abi.h"

#define XZ_MAGIC "\xfd" "7zXZ"
#define XZ_MAGIC_BYTES 6
#define TEXT_BYTES_MAX ((size_t)1 << 30)
#define NUMBER_MAX ((uint64_t)1 << 26)

enum key_kind { INT, BYTE, WORD, LONG, HEX, TEXT, NAME };

static const struct {
	const char *name;
	enum key_kind kind;
} key_table[] = {
#define KEY_ROW(id, name, kind) [CALLLOG_KEY_##id] = { name, kind },
	CALLLOG_KEYS(KEY_ROW)
#undef KEY_ROW
};

/* Sets of keys, one bit per key. */
_Static_assert(CALLLOG_KEYS_END <= 64, "a set of keys is 64 bits");
#define BIT(id) (UINT64_C(1) << CALLLOG_KEY_##id)

/* For each number returned so far: the latest life of the plugin in which it
 * was returned, from 1. */
struct number_set {
	unsigned *life;
	size_t room;
	uint64_t max;
};

struct parser {
	const char *path;
	unsigned line;
	struct calllog *log;
	size_t call_room;
	size_t field_count;
	size_t field_room;
	struct number_set handles;
	struct number_set contexts;
	unsigned contexts_given;	/* of this life */
	unsigned contexts_live;
	char *message;
	size_t message_bytes;
};

/* A line, through which the cursor moves. */
struct cursor {
	const char *at;
	const char *end;
};

static int __attribute__((format(printf, 3, 4)))
fail(struct parser *parser, int error, const char *format, ...)
{
	va_list list;
	int used;

	if (parser->message_bytes == 0)
		return -error;
	used = snprintf(parser->message, parser->message_bytes, "%s:%u: ",
		parser->path, parser->line);
	if (used < 0 || (size_t)used >= parser->message_bytes)
		return -error;
	va_start(list, format);
	vsnprintf(parser->message + used, parser->message_bytes - (size_t)used,
		format, list);
	va_end(list);
	return -error;
}

static int fail_file(const char *path, int error, const char *what,
	char *message, size_t message_bytes)
{
	if (message_bytes > 0)
		snprintf(message, message_bytes, "%s: %s", path, what);
	return -error;
}

/* Texts. NCCL passes literals, which stay at their address as long as NCCL is
 * loaded; these do so as well. */
struct text {
	struct text *next;
	char characters[];
};

static struct text *texts;

static const char *intern(const char *characters, size_t length)
{
	struct text *text;

	for (text = texts; text != NULL; text = text->next)
		if (strncmp(text->characters, characters, length) == 0 &&
		    text->characters[length] == '\0')
			return text->characters;
	text = malloc(sizeof(*text) + length + 1);
	if (text == NULL)
		return NULL;
	memcpy(text->characters, characters, length);
	text->characters[length] = '\0';
	text->next = texts;
	texts = text;
	return text->characters;
}

/* Numbers: digits up to a space or the end of the line, and nothing else. */
static int digit_value(char character, unsigned base)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (base == 16 && character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	return -1;
}

static bool take_digits(struct cursor *cursor, unsigned base, uint64_t limit,
	uint64_t *value)
{
	const char *first = cursor->at;
	uint64_t sum = 0;
	int digit;

	while (cursor->at < cursor->end) {
		digit = digit_value(*cursor->at, base);
		if (digit < 0)
			break;
		if ((uint64_t)digit > limit ||
		    sum > (limit - (uint64_t)digit) / base)
			return false;
		sum = sum * base + (uint64_t)digit;
		cursor->at++;
	}
	*value = sum;
	return cursor->at > first;
}

static bool at_space_or_end(const struct cursor *cursor)
{
	return cursor->at == cursor->end || *cursor->at == ' ';
}

static bool take_number(struct cursor *cursor, unsigned base, uint64_t limit,
	uint64_t *value)
{
	return take_digits(cursor, base, limit, value) &&
		at_space_or_end(cursor);
}

static bool take_int(struct cursor *cursor, uint64_t *value)
{
	bool negative = cursor->at < cursor->end && *cursor->at == '-';

	if (!negative)
		return take_number(cursor, 10, INT_MAX, value);
	cursor->at++;
	if (!take_number(cursor, 10, (uint64_t)INT_MAX + 1, value))
		return false;
	*value = UINT64_C(0) - *value;
	return true;
}

static bool take_text(struct cursor *cursor, const char **text)
{
	const char *first = cursor->at;
	size_t length;

	while (!at_space_or_end(cursor))
		cursor->at++;
	length = (size_t)(cursor->at - first);
	if (length == 1 && *first == '-') {
		*text = NULL;
		return true;
	}
	*text = intern(first, length);
	return *text != NULL;
}

static bool take_exactly(struct cursor *cursor, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(cursor->end - cursor->at) < length ||
	    memcmp(cursor->at, text, length) != 0)
		return false;
	cursor->at += length;
	return true;
}

static bool take_value(struct cursor *cursor, enum key_kind kind, int api,
	struct calllog_field *field)
{
	if (kind == NAME)
		kind = api == 1 ? BYTE : TEXT;
	switch (kind) {
	case INT:
		return take_int(cursor, &field->number);
	case BYTE:
		return take_number(cursor, 10, UINT8_MAX, &field->number);
	case WORD:
		return take_number(cursor, 10, UINT32_MAX, &field->number);
	case LONG:
		return take_number(cursor, 10, UINT64_MAX, &field->number);
	case HEX:
		return take_number(cursor, 16, UINT64_MAX, &field->number);
	case TEXT:
	case NAME:
		break;
	}
	return take_text(cursor, &field->text);
}

static int find_key(const char *name, size_t length)
{
	int key;

	for (key = 0; key < CALLLOG_KEYS_END; key++)
		if (strlen(key_table[key].name) == length &&
		    memcmp(key_table[key].name, name, length) == 0)
			return key;
	return -1;
}

/* The keys that a line must (`required`) and may (`optional`) contain. */
struct key_rule {
	uint64_t required;
	uint64_t optional;
};

static struct key_rule coll_rule(int api)
{
	struct key_rule rule = {
		BIT(SEQ_NUMBER) | BIT(FUNC) | BIT(SEND_BUFFER) |
		BIT(RECV_BUFFER) | BIT(COUNT) | BIT(ROOT) | BIT(DATATYPE) |
		BIT(CHANNELS) | BIT(WARPS) | BIT(ALGORITHM) | BIT(PROTOCOL),
		0 };

	if (api <= 3)
		rule.required |= BIT(COMM_NAME) | BIT(COMM);
	if (api == 1)
		rule.required |= BIT(REDUCTION) | BIT(COLLNET) | BIT(NVLS);
	if (api <= 2)
		rule.required |= BIT(TRAFFIC);
	if (api >= 5)
		rule.required |= BIT(PARENT_GROUP);
	if (api >= 7)
		rule.optional |= BIT(VARIANT) | BIT(SYMMETRIC) | BIT(USER_TAG);
	return rule;
}

static struct key_rule p2p_rule(int api)
{
	struct key_rule rule = {
		BIT(FUNC) | BIT(BUFFER) | BIT(DATATYPE) | BIT(COUNT) |
		BIT(PEER), 0 };

	if (api <= 3)
		rule.required |= BIT(COMM_NAME) | BIT(COMM);
	else
		rule.required |= BIT(CHANNELS);
	if (api >= 5)
		rule.required |= BIT(PARENT_GROUP);
	if (api >= 7)
		rule.optional |= BIT(USER_TAG);
	return rule;
}

static struct key_rule ce_coll_rule(int api)
{
	struct key_rule rule = {
		BIT(SEQ_NUMBER) | BIT(FUNC) | BIT(SEND_BUFFER) |
		BIT(RECV_BUFFER) | BIT(COUNT) | BIT(ROOT) | BIT(DATATYPE) |
		BIT(SYNC_STRATEGY) | BIT(INTRA_SYNC) | BIT(BATCH_SIZE) |
		BIT(BATCHES) | BIT(CE_SEQ_NUMBER) | BIT(STREAM), 0 };

	if (api >= 7)
		rule.optional |= BIT(USER_TAG);
	return rule;
}

/* Returns the first API version that has the event; 0 if there is no such
 * event. */
static int first_api(uint64_t type)
{
	if (type == 0 || type > NCCL_EVENT_KERNEL_PHASE ||
	    (type & (type - 1)) != 0)
		return 0;
	if (type >= NCCL_EVENT_KERNEL_PHASE)
		return 7;
	if (type >= NCCL_EVENT_CE_COLL)
		return 6;
	if (type >= NCCL_EVENT_GROUP_API)
		return 5;
	return type >= NCCL_EVENT_KERNEL_CH ? 3 : 1;
}

static struct key_rule descriptor_rule(int api, uint64_t type)
{
	uint64_t tag = api >= 7 ? BIT(USER_TAG) : 0;

	switch (type) {
	case NCCL_EVENT_COLL:
		return coll_rule(api);
	case NCCL_EVENT_P2P:
		return p2p_rule(api);
	case NCCL_EVENT_PROXY_OP:
		return (struct key_rule){ BIT(PID) | BIT(CHANNEL) | BIT(PEER) |
			BIT(STEPS_PLANNED) | BIT(CHUNK) | BIT(IS_SEND), 0 };
	case NCCL_EVENT_PROXY_STEP:
		return (struct key_rule){ BIT(STEP), 0 };
	case NCCL_EVENT_KERNEL_CH:
		return (struct key_rule){ BIT(CHANNEL) |
			(api >= 4 ? BIT(GPU_TIMER) : 0), 0 };
	case NCCL_EVENT_NET_PLUGIN:
		return (struct key_rule){ BIT(NET_ID), BIT(DATA) };
	case NCCL_EVENT_GROUP_API:
		return (struct key_rule){ BIT(GRAPH) | BIT(DEPTH), 0 };
	case NCCL_EVENT_COLL_API:
		return (struct key_rule){ BIT(FUNC) | BIT(COUNT) |
			BIT(DATATYPE) | BIT(ROOT) | BIT(STREAM) | BIT(GRAPH),
			tag };
	case NCCL_EVENT_P2P_API:
		return (struct key_rule){ BIT(FUNC) | BIT(COUNT) |
			BIT(DATATYPE) | BIT(STREAM) | BIT(GRAPH), tag };
	case NCCL_EVENT_KERNEL_LAUNCH:
		return (struct key_rule){ BIT(STREAM), 0 };
	case NCCL_EVENT_CE_COLL:
		return ce_coll_rule(api);
	case NCCL_EVENT_CE_SYNC:
		return (struct key_rule){ BIT(IS_COMPLETE) | BIT(NRANKS), 0 };
	case NCCL_EVENT_CE_BATCH:
		return (struct key_rule){ BIT(OPS) | BIT(TOTAL) |
			BIT(INTRA_SYNC), 0 };
	case NCCL_EVENT_KERNEL_PHASE:
		return (struct key_rule){ BIT(CHANNEL) | BIT(PHASE) |
			BIT(PHASE_NAME) | BIT(GPU_TIMER), 0 };
	}
	return (struct key_rule){ 0, 0 };	/* Group, ProxyCtrl */
}

/* Args are logged completely or, if NCCL passed NULL, not at all. */
static uint64_t state_args_keys(int api, uint64_t state)
{
	if (state >= NCCL_STATE_CTRL_IDLE &&
	    state <= NCCL_STATE_CTRL_APPEND_END)
		return BIT(APPENDED);
	if (state == NCCL_STATE_KERNEL_CH_STOP ||
	    state == NCCL_STATE_KERNEL_PHASE_STOP)
		return BIT(GPU_TIMER);
	if (state == NCCL_STATE_NET_PLUGIN_UPDATE)
		return BIT(DATA);
	return BIT(SIZE) | (api <= 3 ? BIT(STEPS) : 0);
}

static struct key_rule call_rule(int api, const struct calllog_call *call,
	uint64_t seen)
{
	uint64_t args;
	struct key_rule rule;

	switch (call->verb) {
	case CALLLOG_INIT:
		return (struct key_rule){ BIT(CONTEXT) | BIT(COMM) |
			BIT(COMM_NAME) | BIT(NNODES) | BIT(NRANKS) |
			BIT(RANK) | BIT(MASK), 0 };
	case CALLLOG_START:
		rule = descriptor_rule(api,
			calllog_number(call, CALLLOG_KEY_TYPE));
		rule.required |= BIT(HANDLE) | BIT(CONTEXT) | BIT(TYPE) |
			BIT(PARENT) | BIT(RANK);
		return rule;
	case CALLLOG_RECORD:
		args = state_args_keys(api,
			calllog_number(call, CALLLOG_KEY_STATE));
		return (struct key_rule){ BIT(HANDLE) | BIT(STATE) |
			((seen & args) != 0 ? args : 0), 0 };
	case CALLLOG_STOP:
		return (struct key_rule){ BIT(HANDLE), 0 };
	case CALLLOG_FINALIZE:
		break;
	}
	return (struct key_rule){ BIT(CONTEXT), 0 };
}

/* The type of a start determines its keys, so it is read first. */
static int check_type(struct parser *parser, const struct calllog_call *call)
{
	uint64_t type = calllog_number(call, CALLLOG_KEY_TYPE);

	if (call->verb != CALLLOG_START || (first_api(type) != 0 &&
	    first_api(type) <= parser->log->api))
		return 0;
	return fail(parser, EBADMSG, "API %d has no event type %llu",
		parser->log->api, (unsigned long long)type);
}

static const char *first_key(uint64_t keys)
{
	return key_table[__builtin_ctzll(keys)].name;
}

static int check_keys(struct parser *parser, const struct calllog_call *call,
	uint64_t seen)
{
	struct key_rule rule = call_rule(parser->log->api, call, seen);
	uint64_t extra = seen & ~(rule.required | rule.optional);
	uint64_t missing = rule.required & ~seen;

	if (missing != 0)
		return fail(parser, EBADMSG, "'%s' is missing",
			first_key(missing));
	if (extra != 0)
		return fail(parser, EBADMSG, "'%s' does not belong here",
			first_key(extra));
	return 0;
}

/* Makes room in a growing array; NULL if there is no memory. */
static void *grow(void *array, size_t *room, size_t element_bytes)
{
	size_t more = *room == 0 ? 1024 : *room * 2;
	void *moved = reallocarray(array, more, element_bytes);

	if (moved != NULL)
		*room = more;
	return moved;
}

/* Numbers returned by the logging plugin. It chose them before taking the lock
 * that orders the log, so the numbers of two threads may be in either order. */
static bool is_given(const struct number_set *set, uint64_t number,
	unsigned life)
{
	return number < set->room && set->life[number] == life;
}

static bool give(struct number_set *set, uint64_t number, unsigned life)
{
	unsigned *moved;
	size_t before;

	while (number >= set->room) {
		before = set->room;
		moved = grow(set->life, &set->room, sizeof(*moved));
		if (moved == NULL)
			return false;
		memset(moved + before, 0, (set->room - before) *
			sizeof(*moved));
		set->life = moved;
	}
	set->life[number] = life;
	if (number > set->max)
		set->max = number;
	return true;
}

static int check_given(struct parser *parser, const struct calllog_call *call,
	enum calllog_key key, const struct number_set *set, bool or_none)
{
	uint64_t number;

	if (calllog_find(call, key) == NULL)
		return 0;
	number = calllog_number(call, key);
	if (number == 0 ? or_none :
	    is_given(set, number, parser->log->life_count))
		return 0;
	return fail(parser, EBADMSG, "'%s' %llu was never given out",
		key_table[key].name, (unsigned long long)number);
}

static int check_new(struct parser *parser, const struct calllog_call *call,
	enum calllog_key key, struct number_set *set)
{
	uint64_t number = calllog_number(call, key);

	if (number == 0 || number > NUMBER_MAX)
		return fail(parser, EBADMSG, "'%s' is out of range",
			key_table[key].name);
	if (is_given(set, number, parser->log->life_count))
		return fail(parser, EBADMSG, "'%s' %llu was given out before",
			key_table[key].name, (unsigned long long)number);
	if (!give(set, number, parser->log->life_count))
		return fail(parser, ENOMEM, "out of memory");
	return 0;
}

static int check_start(struct parser *parser, const struct calllog_call *call)
{
	int error;

	error = check_given(parser, call, CALLLOG_KEY_CONTEXT,
		&parser->contexts, false);
	if (error == 0)
		error = check_given(parser, call, CALLLOG_KEY_PARENT,
			&parser->handles, true);
	if (error == 0)
		error = check_given(parser, call, CALLLOG_KEY_PARENT_GROUP,
			&parser->handles, true);
	if (error != 0)
		return error;
	return check_new(parser, call, CALLLOG_KEY_HANDLE, &parser->handles);
}

static int check_numbers(struct parser *parser,
	const struct calllog_call *call)
{
	int error;

	switch (call->verb) {
	case CALLLOG_INIT:
		parser->contexts_live++;
		parser->contexts_given++;
		return check_new(parser, call, CALLLOG_KEY_CONTEXT,
			&parser->contexts);
	case CALLLOG_START:
		return check_start(parser, call);
	case CALLLOG_RECORD:
		if (calllog_number(call, CALLLOG_KEY_STATE) >
		    NCCL_STATE_KERNEL_PHASE_STOP)
			return fail(parser, EBADMSG, "no such state");
		/* fall through */
	case CALLLOG_STOP:
		return check_given(parser, call, CALLLOG_KEY_HANDLE,
			&parser->handles, false);
	case CALLLOG_FINALIZE:
		break;
	}
	error = check_given(parser, call, CALLLOG_KEY_CONTEXT,
		&parser->contexts, false);
	if (error == 0 && parser->contexts_live-- == 0)
		return fail(parser, EBADMSG, "no context is left to finalize");
	return error;
}

/* Calls point to their fields only after all lines were read, because the array
 * moves while it grows; until then `fields` is NULL, except in the call being
 * read. */
static struct calllog_field *add_field(struct parser *parser)
{
	struct calllog_field *moved;

	if (parser->field_count == parser->field_room) {
		moved = grow(parser->log->fields, &parser->field_room,
			sizeof(*moved));
		if (moved == NULL)
			return NULL;
		parser->log->fields = moved;
	}
	return &parser->log->fields[parser->field_count++];
}

static struct calllog_call *add_call(struct parser *parser)
{
	struct calllog_call *moved;

	if (parser->log->call_count == parser->call_room) {
		moved = grow(parser->log->calls, &parser->call_room,
			sizeof(*moved));
		if (moved == NULL)
			return NULL;
		parser->log->calls = moved;
	}
	return &parser->log->calls[parser->log->call_count++];
}

static int parse_field(struct parser *parser, struct cursor *cursor,
	uint64_t *seen)
{
	struct calllog_field *field = add_field(parser);
	const char *name;
	int key;

	if (field == NULL)
		return fail(parser, ENOMEM, "out of memory");
	if (!take_exactly(cursor, " "))
		return fail(parser, EBADMSG, "a space is missing");
	name = cursor->at;
	while (!at_space_or_end(cursor) && *cursor->at != '=')
		cursor->at++;
	key = find_key(name, (size_t)(cursor->at - name));
	if (key < 0 || !take_exactly(cursor, "="))
		return fail(parser, EBADMSG, "no key is called '%.*s'",
			(int)(cursor->at - name), name);
	if (*seen & (UINT64_C(1) << key))
		return fail(parser, EBADMSG, "'%s' is given twice",
			key_table[key].name);
	*seen |= UINT64_C(1) << key;
	field->key = (enum calllog_key)key;
	if (!take_value(cursor, key_table[key].kind, parser->log->api, field))
		return fail(parser, EBADMSG, "the value of '%s' is not one",
			key_table[key].name);
	return 0;
}

static bool is_verb(char character)
{
	return character != '\0' && strchr("ISREF", character) != NULL;
}

/* The words before the keys: time, thread, verb. */
static int parse_head(struct parser *parser, struct cursor *cursor,
	struct calllog_call *call)
{
	uint64_t tid;

	memset(call, 0, sizeof(*call));
	call->line = parser->line;
	if (!take_number(cursor, 10, UINT64_MAX, &call->time_ns) ||
	    !take_exactly(cursor, " ") ||
	    !take_number(cursor, 10, INT_MAX, &tid) ||
	    !take_exactly(cursor, " "))
		return fail(parser, EBADMSG,
			"a line begins with a time and a thread");
	call->tid = (int)tid;
	if (cursor->at == cursor->end || !is_verb(*cursor->at))
		return fail(parser, EBADMSG, "the verb is none of I S R E F");
	call->verb = (enum calllog_verb)*cursor->at++;
	return 0;
}

/* NCCL closes the plugin with the last communicator; the next init opens it
 * again, and the logging plugin counts from 1 again. */
static void begin_life(struct parser *parser)
{
	parser->contexts_given = 0;
	parser->contexts_live = 0;
	parser->log->life_count++;
}

static int parse_call(struct parser *parser, struct cursor *cursor)
{
	struct calllog_call *call = add_call(parser);
	size_t first = parser->field_count;
	uint64_t seen = 0;
	int error;

	if (call == NULL)
		return fail(parser, ENOMEM, "out of memory");
	error = parse_head(parser, cursor, call);
	while (error == 0 && cursor->at < cursor->end)
		error = parse_field(parser, cursor, &seen);
	if (error != 0)
		return error;
	call->field_count = (unsigned)(parser->field_count - first);
	call->fields = parser->log->fields + first;
	error = check_type(parser, call);
	if (error == 0)
		error = check_keys(parser, call, seen);
	if (error != 0)
		return error;
	if (call->verb == CALLLOG_INIT && parser->contexts_live == 0 &&
	    parser->contexts_given > 0)
		begin_life(parser);
	call->life = parser->log->life_count - 1;
	error = check_numbers(parser, call);
	call->fields = NULL;
	return error;
}

struct header {
	uint64_t api;
	uint64_t pid;
	uint64_t realtime_ns;
	uint64_t monotonic_ns;
};

static int parse_header(struct parser *parser, struct cursor *cursor,
	struct header *header)
{
	if (!take_exactly(cursor, "# calllog 1 api=") ||
	    !take_number(cursor, 10, 7, &header->api) ||
	    !take_exactly(cursor, " pid=") ||
	    !take_number(cursor, 10, INT_MAX, &header->pid) ||
	    !take_exactly(cursor, " realtime_ns=") ||
	    !take_number(cursor, 10, UINT64_MAX, &header->realtime_ns) ||
	    !take_exactly(cursor, " monotonic_ns=") ||
	    !take_number(cursor, 10, UINT64_MAX, &header->monotonic_ns) ||
	    cursor->at != cursor->end || header->api == 0)
		return fail(parser, EBADMSG, "not the first line of a call log "
			"of version 1 and API 1 to 7");
	return 0;
}

static int parse_first_header(struct parser *parser, struct cursor *cursor)
{
	struct header header;
	int error = parse_header(parser, cursor, &header);

	if (error != 0)
		return error;
	parser->log->api = (int)header.api;
	parser->log->pid = (int)header.pid;
	parser->log->realtime_ns = header.realtime_ns;
	parser->log->monotonic_ns = header.monotonic_ns;
	begin_life(parser);
	return 0;
}

/* The logging plugin writes a header each time that it is opened. */
static int parse_later_header(struct parser *parser, struct cursor *cursor)
{
	struct header header;
	int error = parse_header(parser, cursor, &header);

	if (error != 0)
		return error;
	if ((int)header.api != parser->log->api ||
	    (int)header.pid != parser->log->pid)
		return fail(parser, EBADMSG, "another process begins here");
	if (parser->contexts_live > 0)
		return fail(parser, EBADMSG,
			"the plugin is opened again while contexts live");
	return 0;
}

static int parse_line(struct parser *parser, struct cursor cursor)
{
	if (parser->line == 1)
		return parse_first_header(parser, &cursor);
	if (cursor.at < cursor.end && *cursor.at == '#')
		return parse_later_header(parser, &cursor);
	return parse_call(parser, &cursor);
}

static int parse_lines(struct parser *parser, const char *text,
	size_t text_bytes)
{
	struct cursor line;
	const char *end = text + text_bytes;
	int error = 0;

	for (line.at = text; line.at < end && error == 0;
	     line.at = line.end + 1) {
		parser->line++;
		line.end = memchr(line.at, '\n', (size_t)(end - line.at));
		if (line.end == NULL)
			return fail(parser, EBADMSG, "the line has no end");
		error = parse_line(parser, line);
	}
	if (error == 0 && parser->log->call_count == 0)
		error = fail(parser, EBADMSG, "the log has no call");
	return error;
}

static void set_fields(struct calllog *log)
{
	const struct calllog_field *field = log->fields;
	size_t index;

	for (index = 0; index < log->call_count; index++) {
		log->calls[index].fields = field;
		field += log->calls[index].field_count;
	}
}

int calllog_parse(const char *path, const char *text, size_t text_bytes,
	struct calllog **log, char *message, size_t message_bytes)
{
	struct parser parser = { .path = path, .message = message,
		.message_bytes = message_bytes };
	int error;

	*log = NULL;
	parser.log = calloc(1, sizeof(*parser.log));
	if (parser.log == NULL)
		return fail(&parser, ENOMEM, "out of memory");
	parser.log->path = strdup(path);
	if (parser.log->path == NULL)
		error = fail(&parser, ENOMEM, "out of memory");
	else
		error = parse_lines(&parser, text, text_bytes);
	parser.log->handle_max = parser.handles.max;
	parser.log->context_max = parser.contexts.max;
	free(parser.handles.life);
	free(parser.contexts.life);
	if (error != 0) {
		calllog_free(parser.log);
		return error;
	}
	set_fields(parser.log);
	*log = parser.log;
	return 0;
}

void calllog_free(struct calllog *log)
{
	if (log == NULL)
		return;
	free(log->fields);
	free(log->calls);
	free(log->path);
	free(log);
}

/* --- Files ------------------------------------------------------------- */

static int read_all(int fd, size_t file_bytes, char *buffer)
{
	size_t done = 0;
	ssize_t got;

	while (done < file_bytes) {
		got = read(fd, buffer + done, file_bytes - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		done += (size_t)got;
	}
	return 0;
}

static int read_fd(int fd, char **content, size_t *content_bytes)
{
	struct stat status;
	int error;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	if ((uint64_t)status.st_size > TEXT_BYTES_MAX)
		return -EFBIG;
	*content_bytes = (size_t)status.st_size;
	*content = malloc(*content_bytes + 1);
	if (*content == NULL)
		return -ENOMEM;
	error = read_all(fd, *content_bytes, *content);
	if (error != 0) {
		free(*content);
		*content = NULL;
	}
	return error;
}

static int read_file(const char *path, char **content, size_t *content_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = read_fd(fd, content, content_bytes);
	close(fd);
	return error;
}

static bool is_xz(const char *content, size_t content_bytes)
{
	return content_bytes >= XZ_MAGIC_BYTES &&
		memcmp(content, XZ_MAGIC, XZ_MAGIC_BYTES) == 0;
}

/* Makes room after the data and tells the decoder. */
static bool more_output(lzma_stream *stream, char **text, size_t *room)
{
	size_t used = *room - stream->avail_out;
	char *moved;

	if (*room >= TEXT_BYTES_MAX)
		return false;
	*room = *room == 0 ? (size_t)1 << 20 : *room * 2;
	moved = realloc(*text, *room);
	if (moved == NULL)
		return false;
	*text = moved;
	stream->next_out = (uint8_t *)moved + used;
	stream->avail_out = *room - used;
	return true;
}

static bool decode_xz(const char *content, size_t content_bytes, char **text,
	size_t *text_bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result;
	size_t room = 0;

	if (lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED) !=
	    LZMA_OK)
		return false;
	stream.next_in = (const uint8_t *)content;
	stream.avail_in = content_bytes;
	do {
		if (stream.avail_out == 0 &&
		    !more_output(&stream, text, &room)) {
			lzma_end(&stream);
			return false;
		}
		result = lzma_code(&stream, LZMA_FINISH);
	} while (result == LZMA_OK);
	*text_bytes = (size_t)stream.total_out;
	lzma_end(&stream);
	return result == LZMA_STREAM_END;
}

static int parse_xz(const char *path, const char *content,
	size_t content_bytes, struct calllog **log, char *message,
	size_t message_bytes)
{
	char *text = NULL;
	size_t text_bytes = 0;
	int error;

	if (decode_xz(content, content_bytes, &text, &text_bytes))
		error = calllog_parse(path, text, text_bytes, log, message,
			message_bytes);
	else
		error = fail_file(path, EBADMSG,
			"the xz data cannot be decompressed", message,
			message_bytes);
	free(text);
	return error;
}

int calllog_read(const char *path, struct calllog **log, char *message,
	size_t message_bytes)
{
	char *content = NULL;
	size_t content_bytes = 0;
	int error = read_file(path, &content, &content_bytes);

	*log = NULL;
	if (error != 0)
		return fail_file(path, -error, strerror(-error), message,
			message_bytes);
	if (is_xz(content, content_bytes))
		error = parse_xz(path, content, content_bytes, log, message,
			message_bytes);
	else
		error = calllog_parse(path, content, content_bytes, log,
			message, message_bytes);
	free(content);
	return error;
}

/* --- Access to calls --------------------------------------------------- */

const struct calllog_field *calllog_find(const struct calllog_call *call,
	enum calllog_key key)
{
	unsigned index;

	for (index = 0; index < call->field_count; index++)
		if (call->fields[index].key == key)
			return &call->fields[index];
	return NULL;
}

uint64_t calllog_number(const struct calllog_call *call, enum calllog_key key)
{
	const struct calllog_field *field = calllog_find(call, key);

	return field == NULL ? 0 : field->number;
}

int calllog_int(const struct calllog_call *call, enum calllog_key key)
{
	return (int)(int64_t)calllog_number(call, key);
}

const char *calllog_text(const struct calllog_call *call,
	enum calllog_key key)
{
	const struct calllog_field *field = calllog_find(call, key);

	return field == NULL ? NULL : field->text;
}
