/* SPDX-License-Identifier: MIT */
/* Stacks of ranges, and paths by number; see range_stack.h. */
#include "plugin/state/range_stack.h"

#include <string.h>
#include <sys/auxv.h>

#include "shm/hash.h"
#include "plugin/state/threads.h"
#include "shm/atomics.h"
#include "shm/seqlock.h"

#define THREAD_MAX 128u
#define STARTED_MAX 256u /* open ranges of the process */

/* --- numbers -------------------------------------------------------------- */

/* A path. It is written before its number can be found, and never changes
 * afterwards. */
struct path {
	uint64_t parent;
	struct ncs_range_name name;
};

#define PLACES (2 * (NCS_RANGE_MAX + 1))
#define PROBE_MAX 64u

/* The path of NCS_RANGE_OTHER is not in here: one initialised element would put
 * the whole array into the library's file. */
static struct path paths[NCS_RANGE_MAX + 1];
static const struct ncs_range_name other_name = {
	{ /* "(other)" */ UINT64_C(0x29726568746f28) },
};

static uint64_t places[PLACES]; /* numbers by the paths' hashes; 0 if free */
static uint64_t given = NCS_RANGE_OTHER;
static uint64_t limit; /* greatest number; 0 if ranges are off */
static uint64_t place_mask;

void ncs_range_set_limit(uint32_t count)
{
	uint64_t size = 2;

	while (size < 2 * (uint64_t)count)
		size *= 2;
	place_mask = (size < PLACES ? size : PLACES) - 1;
	limit = count < NCS_RANGE_MAX ? count : NCS_RANGE_MAX;
}

static uint64_t hash_path(uint64_t parent, const struct ncs_range_name *name)
{
	uint64_t hash = parent;

	for (unsigned i = 0; i < NCS_RANGE_NAME_WORDS && name->words[i]; i++) {
		hash = (hash ^ name->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return ncs_hash(hash);
}

static bool is_path(uint64_t number, uint64_t parent,
		    const struct ncs_range_name *name)
{
	const struct path *path = &paths[number];

	return path->parent == parent &&
	       memcmp(&path->name, name, sizeof(*name)) == 0;
}

/* --- stacks --------------------------------------------------------------- */

struct frame {
	uint64_t domain;
	struct ncs_range_name name;
	/* Number of the path, plus 1; 0 if not looked up yet. The stack's owner
	 * alone uses it. */
	uint64_t known;
};

/* Only its owner writes a stack. Other threads may read the main thread's stack
 * under the seqlock. A pop changes only the depth, outside the seqlock: the
 * frames that a reader copies remain valid. */
struct stack {
	_Alignas(2 * NCS_CACHE_LINE) uint64_t sequence;
	uint64_t depth;
	uint64_t beyond; /* open ranges that found no room */
	uint64_t spare;  /* a number taken but not used yet; 0 if none */
	/* The main thread's path when this thread last read it. */
	uint64_t seen_sequence, seen_depth, seen_path;
	struct frame frames[NCS_RANGE_DEPTH];
};

static uint64_t threads[THREAD_MAX];
static struct stack stacks[THREAD_MAX];
static struct stack no_stack; /* stands for a thread without a stack */
static uint64_t main_stack;   /* address; 0 if the thread has none yet */

static __thread struct stack *own_stack;
static __thread uint64_t unfollowed; /* open ranges of a thread without stack */

#define MAIN_STACK_BYTES (UINT64_C(128) << 20)

/* Returns true on the process's first thread: its stack ends at the file name
 * that the auxiliary vector points to, and the kernel maps nothing within
 * MAIN_STACK_BYTES below that. */
static bool is_main_thread(void)
{
	uint64_t end = (uint64_t)getauxval(AT_EXECFN);
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	return here < end && end - here < MAIN_STACK_BYTES;
}

static __attribute__((noinline)) struct stack *claim_stack(void)
{
	uint32_t place = ncs_thread_place(threads, THREAD_MAX);
	struct stack *stack;

	if (place == THREAD_MAX) {
		own_stack = &no_stack;
		return own_stack;
	}
	stack = &stacks[place];
	/* The stack may have belonged to a thread that has ended. */
	ncs_store_relaxed(&stack->depth, 0);
	stack->beyond = 0;
	stack->seen_sequence = 1;
	if (is_main_thread())
		/* ORDER: pairs with of_main_thread()
		 * (plugin/state/range_stack.c): the stack is visible as
		 * empty. */
		ncs_store_release(&main_stack, (uint64_t)(uintptr_t)stack);
	own_stack = stack;
	return stack;
}

static inline struct stack *get_stack(void)
{
	struct stack *stack = own_stack;

	return __builtin_expect(stack != NULL, 1) ? stack : claim_stack();
}

void ncs_range_forget_threads(void)
{
	bool is_main = own_stack != NULL &&
		       main_stack == (uint64_t)(uintptr_t)own_stack;

	/* Stacks that were never used are not touched: they take no memory. */
	for (unsigned i = 0; i < THREAD_MAX; i++) {
		if (threads[i] == 0 || &stacks[i] == own_stack)
			continue;
		threads[i] = 0;
		stacks[i].depth = 0;
		stacks[i].sequence = 0;
	}
	if (!is_main)
		main_stack = 0;
}

static inline void note_use(void)
{
	if (__builtin_expect(!ncs_range_is_used(), 0))
		ncs_store_relaxed(&ncs_registry.ranges_used, 1);
}

int ncs_range_push(uint64_t domain, const struct ncs_range_name *name)
{
	struct stack *stack = get_stack();
	uint64_t depth = stack->depth;
	struct frame *frame;

	note_use();
	if (__builtin_expect(stack == &no_stack, 0))
		return (int)unfollowed++;
	if (depth == NCS_RANGE_DEPTH)
		return (int)(depth + stack->beyond++);
	frame = &stack->frames[depth];
	frame->known = 0;
	ncs_seqlock_begin(&stack->sequence);
	ncs_payload_store(&frame->domain, domain);
	for (unsigned i = 0; i < NCS_RANGE_NAME_WORDS; i++) {
		ncs_payload_store(&frame->name.words[i], name->words[i]);
		if (name->words[i] == 0)
			break;
	}
	ncs_payload_store(&stack->depth, depth + 1);
	ncs_seqlock_end(&stack->sequence);
	return (int)depth;
}

/* Pops a range that is not the innermost one, since ranges of different domains
 * need not be nested. The paths of the ranges inside it change. */
static __attribute__((noinline)) int pop_from_under(struct stack *stack,
						    uint64_t domain)
{
	uint64_t depth = stack->depth, place = depth;

	while (place > 0 && stack->frames[place - 1].domain != domain)
		place--;
	if (place == 0)
		return NCS_RANGE_NONE_OPEN;
	ncs_seqlock_begin(&stack->sequence);
	for (uint64_t i = place; i < depth; i++) {
		struct frame *to = &stack->frames[i - 1];
		const struct frame *from = &stack->frames[i];

		to->known = 0;
		ncs_payload_store(&to->domain, from->domain);
		for (unsigned k = 0; k < NCS_RANGE_NAME_WORDS; k++)
			ncs_payload_store(&to->name.words[k],
					  from->name.words[k]);
	}
	ncs_payload_store(&stack->depth, depth - 1);
	ncs_seqlock_end(&stack->sequence);
	return (int)(place - 1);
}

int ncs_range_pop(uint64_t domain)
{
	struct stack *stack = get_stack();
	uint64_t depth = stack->depth;

	if (__builtin_expect(stack == &no_stack, 0))
		return unfollowed ? (int)--unfollowed : NCS_RANGE_NONE_OPEN;
	if (depth == 0)
		return NCS_RANGE_NONE_OPEN;
	if (stack->beyond)
		return (int)(depth + --stack->beyond);
	if (stack->frames[depth - 1].domain != domain)
		return pop_from_under(stack, domain);
	ncs_payload_store(&stack->depth, depth - 1);
	return (int)depth - 1;
}

/* --- from names to numbers ------------------------------------------------ */

/* Takes a number that is greater than the parent's; 0 if there is none left. */
static uint64_t take_number(struct stack *stack, uint64_t parent)
{
	uint64_t number = stack->spare;

	stack->spare = 0;
	if (number > parent)
		return number;
	if (ncs_load_relaxed(&given) >= limit)
		return 0;
	number = ncs_add_relaxed(&given, 1) + 1;
	return number <= limit ? number : 0;
}

/* Returns the number of a path, and gives it one if it has none. No thread
 * waits: if two threads enter the same new path at the same time, one of them
 * keeps its unused number as a spare. */
static uint64_t number_of(struct stack *stack, uint64_t parent,
			  const struct ncs_range_name *name)
{
	uint64_t hash = hash_path(parent, name), mine = 0;

	if (parent == NCS_RANGE_OTHER)
		return NCS_RANGE_OTHER;
	for (unsigned i = 0; i < PROBE_MAX; i++) {
		uint64_t *place = &places[(hash + i) & place_mask];
		/* ORDER: pairs with number_of() (plugin/state/range_stack.c):
		 * the path is visible before its number. */
		uint64_t number = ncs_load_acquire(place);

		if (number == 0 && mine == 0) {
			mine = take_number(stack, parent);
			if (mine == 0)
				return NCS_RANGE_OTHER;
			paths[mine].parent = parent;
			paths[mine].name = *name;
		}
		/* ORDER: pairs with number_of()
		 * (plugin/state/range_stack.c). */
		if (number == 0 && ncs_cas_acquire_release(place, 0, mine))
			return mine;
		/* ORDER: pairs with number_of()
		 * (plugin/state/range_stack.c). */
		if (is_path(ncs_load_acquire(place), parent, name)) {
			stack->spare = mine ? mine : stack->spare;
			return ncs_load_relaxed(place);
		}
	}
	stack->spare = mine ? mine : stack->spare;
	return NCS_RANGE_OTHER;
}

/* Copies the name of a frame, without the words that a longer name has left
 * behind the end of this one. */
static void copy_name(struct ncs_range_name *to,
		      const struct ncs_range_name *from)
{
	bool ended = false;

	for (unsigned i = 0; i < NCS_RANGE_NAME_WORDS; i++) {
		uint64_t word = ended ? 0 : ncs_payload_load(&from->words[i]);

		ended = ended || word == 0;
		to->words[i] = word;
	}
}

static uint64_t of_frame(struct stack *stack, uint64_t parent, uint64_t domain,
			 const struct ncs_range_name *name)
{
	return domain == NCS_RANGE_DOMAIN_NCCL ? parent :
						 number_of(stack, parent, name);
}

static uint64_t of_own_stack(struct stack *stack)
{
	uint64_t path = 0, depth = stack->depth, first = depth;

	while (first > 0 && stack->frames[first - 1].known == 0)
		first--;
	if (first > 0)
		path = stack->frames[first - 1].known - 1;
	for (uint64_t i = first; i < depth; i++) {
		struct frame *frame = &stack->frames[i];
		struct ncs_range_name name;

		copy_name(&name, &frame->name);
		path = of_frame(stack, path, frame->domain, &name);
		frame->known = path + 1;
	}
	return path;
}

#define READS_MAX 4 /* attempts to read a stack that is changing */

/* Returns the path of the main thread; 0 if it is in no range, or if its stack
 * keeps changing. */
static uint64_t of_main_thread(struct stack *stack)
{
	/* ORDER: pairs with claim_stack() (plugin/state/range_stack.c). */
	const struct stack *other =
		(const struct stack *)(uintptr_t)ncs_load_acquire(&main_stack);

	if (!other || other == stack)
		return 0;
	for (unsigned reads = 0; reads < READS_MAX; reads++) {
		/* ORDER: pairs with ncs_seqlock_end() (shm/seqlock.h). */
		uint64_t sequence = ncs_load_acquire(&other->sequence);
		uint64_t depth = ncs_payload_load(&other->depth);
		uint64_t path = 0, i;

		if (sequence & 1)
			continue;
		if (sequence == stack->seen_sequence &&
		    depth == stack->seen_depth)
			return stack->seen_path;
		for (i = 0; i < depth && i < NCS_RANGE_DEPTH; i++) {
			const struct frame *frame = &other->frames[i];
			uint64_t domain = ncs_payload_load(&frame->domain);
			struct ncs_range_name name;

			copy_name(&name, &frame->name);
			/* ORDER: pairs with ncs_seqlock_begin()
			 * (shm/seqlock.h). */
			ncs_fence_acquire();
			if (ncs_load_relaxed(&other->sequence) != sequence)
				break;
			path = of_frame(stack, path, domain, &name);
		}
		if (i < depth)
			continue;
		stack->seen_sequence = sequence;
		stack->seen_depth = depth;
		stack->seen_path = path;
		return path;
	}
	return 0;
}

/* --- ranges of the process ------------------------------------------------ */

/* An open range of the process. `id` is 0 while the slot is free, and CLAIMED
 * while it is being filled. */
struct started {
	uint64_t sequence;
	uint64_t order;
	struct ncs_range_name name;
	uint64_t id;
};

#define CLAIMED UINT64_MAX

static struct started started[STARTED_MAX];
static uint64_t started_order, started_open;

bool ncs_range_start(const struct ncs_range_name *name, uint64_t *id)
{
	uint64_t order = ncs_add_relaxed(&started_order, 1) + 1;

	note_use();
	for (unsigned i = 0; i < STARTED_MAX; i++) {
		unsigned slot = (unsigned)(order + i) % STARTED_MAX;
		struct started *range = &started[slot];

		/* ORDER: pairs with ncs_range_end()
		 * (plugin/state/range_stack.c). */
		if (ncs_load_relaxed(&range->id) != 0 ||
		    !ncs_cas_acquire_release(&range->id, 0, CLAIMED))
			continue;
		if (*id == 0)
			*id = order * STARTED_MAX + slot;
		ncs_seqlock_begin(&range->sequence);
		ncs_payload_store(&range->order, order);
		for (unsigned k = 0; k < NCS_RANGE_NAME_WORDS; k++)
			ncs_payload_store(&range->name.words[k],
					  name->words[k]);
		ncs_seqlock_end(&range->sequence);
		ncs_add_relaxed(&started_open, 1);
		/* ORDER: pairs with of_process() (plugin/state/range_stack.c):
		 * the range is complete. */
		ncs_store_release(&range->id, *id);
		return true;
	}
	return false;
}

void ncs_range_end(uint64_t id)
{
	if (id == 0 || id == CLAIMED)
		return;
	for (unsigned i = 0; i < STARTED_MAX; i++) {
		struct started *range = &started[(id + i) % STARTED_MAX];

		/* ORDER: pairs with ncs_range_start()
		 * (plugin/state/range_stack.c): the slot's next use comes after
		 * this one. */
		if (ncs_load_relaxed(&range->id) == id &&
		    ncs_cas_acquire_release(&range->id, id, 0)) {
			ncs_add_relaxed(&started_open, UINT64_MAX);
			return;
		}
	}
}

/* Returns the path of the open range of the process that was started last; 0 if
 * there is none. */
static uint64_t of_process(struct stack *stack)
{
	struct started copy, latest = { 0 };

	if (ncs_load_relaxed(&started_open) == 0)
		return 0;
	for (unsigned i = 0; i < STARTED_MAX; i++) {
		const struct started *range = &started[i];
		/* ORDER: pairs with ncs_range_start()
		 * (plugin/state/range_stack.c). */
		uint64_t id = ncs_load_acquire(&range->id);

		if (id != 0 && id != CLAIMED &&
		    ncs_seqlock_try((uint64_t *)&copy, (const uint64_t *)range,
				    offsetof(struct started, id) / 8) &&
		    copy.order >= latest.order)
			latest = copy;
	}
	return latest.order ? number_of(stack, 0, &latest.name) : 0;
}

/* --- the range of a call ------------------------------------------------ */

/* Finds the name of the program's call if NCCL has split it into calls with
 * other names, e.g. AlltoAll into Sends. Returns false if it has not. */
static bool get_hidden_call(const struct stack *stack, const char *function,
			    struct ncs_range_name *name)
{
	static const char prefix[] = "nccl", group[] = "Group";
	const struct frame *top;
	struct ncs_range_name called;
	const char *text = (const char *)&called;

	if (!function || stack->depth == 0 || stack->beyond)
		return false;
	top = &stack->frames[stack->depth - 1];
	if (top->domain != NCS_RANGE_DOMAIN_NCCL)
		return false;
	copy_name(&called, &top->name);
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return false;
	text += sizeof(prefix) - 1;
	if (strncmp(text, group, sizeof(group) - 1) == 0 ||
	    strcmp(text, function) == 0)
		return false;
	ncs_range_name_set(name, text);
	return true;
}

static struct ncs_range_place place_of(const struct stack *stack,
				       uint64_t number)
{
	return (struct ncs_range_place){
		.number = (uint32_t)number,
		.folded = number == NCS_RANGE_OTHER || stack->beyond != 0,
	};
}

/* Returns the calling thread's stack. NULL if ranges are off, or if the thread
 * has no stack: then *without is its range. */
static struct stack *stack_for_call(struct ncs_range_place *without)
{
	struct stack *stack;

	*without = (struct ncs_range_place){ 0, false };
	if (limit == 0 || !ncs_range_is_used())
		return NULL;
	stack = get_stack();
	if (stack != &no_stack)
		return stack;
	if (unfollowed)
		*without = (struct ncs_range_place){ NCS_RANGE_OTHER, true };
	return NULL;
}

static uint64_t number_for(struct stack *stack)
{
	uint64_t number = of_own_stack(stack);

	if (number == 0)
		number = of_main_thread(stack);
	return number ? number : of_process(stack);
}

struct ncs_range_place ncs_range_now(const char *function)
{
	struct ncs_range_place without;
	struct stack *stack = stack_for_call(&without);
	struct ncs_range_name hidden;
	uint64_t number;

	if (!stack)
		return without;
	number = number_for(stack);
	if (get_hidden_call(stack, function, &hidden))
		number = number_of(stack, number, &hidden);
	return place_of(stack, number);
}

struct ncs_range_place ncs_range_in_now(const struct ncs_range_name *name)
{
	struct ncs_range_place without;
	struct stack *stack = stack_for_call(&without);

	if (!stack)
		return without;
	return place_of(stack, number_of(stack, number_for(stack), name));
}

uint32_t ncs_range_parent(uint32_t number)
{
	return (uint32_t)paths[number].parent;
}

void ncs_range_name_get(uint32_t number, struct ncs_range_name *name)
{
	*name = number == NCS_RANGE_OTHER ? other_name : paths[number].name;
}

/* --- names -------------------------------------------------------------- */

void ncs_range_name_set(struct ncs_range_name *name, const char *text)
{
	/* The name is copied by words: where the kernel restricts branch
	 * prediction, a single call of the C library takes longer than this
	 * whole function. */
	size_t length = text ? strnlen(text, sizeof(*name) - 1) : 0;
	size_t whole = length / 8;

	for (size_t i = 0; i < NCS_RANGE_NAME_WORDS; i++)
		name->words[i] = 0;
	for (size_t i = 0; i < whole; i++)
		memcpy(&name->words[i], text + 8 * i, 8);
	for (size_t i = 8 * whole; i < length; i++)
		name->words[whole] |= (uint64_t)(uint8_t)text[i] << 8 * (i % 8);
}

/* Encodes a character in UTF-8, as U+FFFD if it is invalid. Returns the number
 * of bytes. */
static size_t encode(uint32_t character, char bytes[4])
{
	if (character > 0x10ffff || (character & 0xfffff800) == 0xd800)
		character = 0xfffd;
	if (character < 0x80) {
		bytes[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		bytes[0] = (char)(0xc0 | character >> 6);
		bytes[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		bytes[0] = (char)(0xe0 | character >> 12);
		bytes[1] = (char)(0x80 | (character >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | character >> 18);
	bytes[1] = (char)(0x80 | (character >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (character >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

void ncs_range_name_set_wide(struct ncs_range_name *name, const wchar_t *text)
{
	size_t used_bytes = 0, bytes;
	char *to = (char *)name, character[4];

	memset(name, 0, sizeof(*name));
	for (; text && *text; text++) {
		bytes = encode((uint32_t)*text, character);
		if (used_bytes + bytes >= sizeof(*name))
			break;
		memcpy(to + used_bytes, character, bytes);
		used_bytes += bytes;
	}
}
