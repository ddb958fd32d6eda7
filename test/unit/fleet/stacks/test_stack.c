/* SPDX-License-Identifier: MIT */
/* Tests of what is taken from tools that read stacks: their real output, and
 * output that was cut, is huge, or is not theirs at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stacks/stack.h"
#include "test/unit/support/unit.h"

static const char pyspy[] =
	"[{\"pid\":70,\"thread_id\":1,\"thread_name\":\"pin_memory\","
	"\"os_thread_id\":71,\"active\":true,\"owns_gil\":false,\"frames\":["
	"{\"name\":\"wait\",\"filename\":\"/lib/threading.py\",\"module\":null,"
	"\"short_filename\":\"threading.py\",\"line\":5,\"locals\":null}]},"
	"{\"pid\":70,\"thread_id\":2,\"thread_name\":\"MainThread\","
	"\"os_thread_id\":70,\"active\":true,\"owns_gil\":true,\"frames\":["
	"{\"name\":\"read\",\"filename\":\"/job/loader.py\",\"module\":null,"
	"\"short_filename\":\"loader.py\",\"line\":188,\"locals\":null},"
	"{\"name\":\"<module>\",\"filename\":\"/job/train.py\",\"module\":null,"
	"\"short_filename\":\"train.py\",\"line\":211,\"locals\":null}]}]";

static const char gdb[] =
	"[New LWP 449]\n"
	"0x00007fa39fb57df2 in __libc_pause () at ../pause.c:29\n"
	"[Switching to thread 1 (Thread 0x7fe521e37b80 (LWP 460))]\n"
	"#0  __libc_pause () at ../pause.c:29\n"
	"\n" NCS_STACK_GDB_MARK "\n"
	"#0  0x00007fa39fb57df2 in __libc_pause () at ../pause.c:29\n"
	"#1  0x000055ebc378315e in (anonymous namespace)::S::operator() "
	"(this=..., x=...) at a.cc:3\n"
	"#2  deep<(anonymous namespace)::S> (t=..., s=...) at a.cc:4\n"
	"#3  0x0000 in pthread_join () from /lib/libc.so.6\n"
	"#4  0x000055ebc3783081 in ?? ()\n"
	"#5  0x000055ebc3783085 in _start ()\n"
	"[Inferior 1 (process 446) detached]\n";

static const char gdb_python[] =
	"Traceback (most recent call first):\n"
	"  File \"/job/loader.py\", line 188, in read (n=3)\n"
	"    time.sleep(30)\n"
	"  <built-in method sleep of module object at remote 0x7f>\n"
	"  File \"/job/a \"b\", line 2.py\", line 211, in <module> ()\n"
	"\n" NCS_STACK_GDB_MARK "\n"
	"#0  0x00007fa39fb57df2 in __libc_pause () at ../pause.c:29\n";

static const char eu_stack[] =
	"PID 446 - process\n"
	"TID 446:\n"
	"#0  0x00007fa39fb57df2 pause\n"
	"#1  0x000055ebc378315e (anonymous namespace)::S::operator()(int)\n"
	"#2  0x000055ebc3783081\n"
	"#3  0x000055ebc3783085 _start\n";

static void assert_frame(const struct ncs_stack *stack, size_t place,
			 const char *function, const char *file, uint32_t line)
{
	assert_true(place < stack->count);
	assert_string_equal(stack->frames[place].function, function);
	assert_string_equal(stack->frames[place].file, file);
	assert_int_equal(stack->frames[place].line, line);
}

TEST(main_thread_is_taken_from_pyspy)
{
	struct ncs_stack stack = { .pid = 70 };

	assert_true(ncs_stack_take_pyspy(&stack, pyspy));
	assert_int_equal(stack.count, 2);
	assert_frame(&stack, 0, "read", "/job/loader.py", 188);
	ncs_stack_finish(&stack);
	assert_frame(&stack, 0, "<module>", "/job/train.py", 211);
	ncs_stack_forget(&stack);
	/* In a container, os_thread_id may be missing or of its namespace. */
	stack.pid = 5;
	assert_true(ncs_stack_take_pyspy(&stack, pyspy));
	assert_frame(&stack, 0, "read", "/job/loader.py", 188);
	ncs_stack_forget(&stack);
}

TEST(frames_are_taken_from_gdb)
{
	struct ncs_stack stack = { .pid = 446 };

	assert_true(ncs_stack_take_gdb(&stack, gdb));
	assert_int_equal(stack.count, 6);
	assert_frame(&stack, 0, "__libc_pause", "../pause.c", 29);
	assert_frame(&stack, 1, "(anonymous namespace)::S::operator()", "a.cc",
		     3);
	assert_frame(&stack, 2, "deep<(anonymous namespace)::S>", "a.cc", 4);
	assert_frame(&stack, 3, "pthread_join", "/lib/libc.so.6", 0);
	assert_frame(&stack, 4, "??", "", 0);
	assert_frame(&stack, 5, "_start", "", 0);
	ncs_stack_forget(&stack);
}

TEST(frames_of_python_are_preferred)
{
	struct ncs_stack stack = { .pid = 446 };

	assert_true(ncs_stack_take_gdb(&stack, gdb_python));
	assert_int_equal(stack.count, 2);
	assert_frame(&stack, 0, "read", "/job/loader.py", 188);
	assert_frame(&stack, 1, "<module>", "/job/a \"b\", line 2.py", 211);
	ncs_stack_forget(&stack);
}

TEST(frames_are_taken_from_eu_stack)
{
	struct ncs_stack stack = { .pid = 446 };

	assert_true(ncs_stack_take_eu_stack(&stack, eu_stack));
	assert_int_equal(stack.count, 4);
	assert_frame(&stack, 1, "(anonymous namespace)::S::operator()(int)", "",
		     0);
	assert_frame(&stack, 2, "0x000055ebc3783081", "", 0);
	ncs_stack_forget(&stack);
}

static bool (*const takers[])(struct ncs_stack *, const char *) = {
	ncs_stack_take_pyspy,
	ncs_stack_take_gdb,
	ncs_stack_take_eu_stack,
};
#define TAKERS (sizeof(takers) / sizeof(takers[0]))

/* Gives a text, in memory of just its size, to all. */
static void give_all(const char *text, size_t length)
{
	struct ncs_stack told = { .pid = 70 };
	char *copy = malloc(length + 1);

	assert_non_null(copy);
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < TAKERS; i++) {
		struct ncs_stack stack = { .pid = 70 };
		bool taken = takers[i](&stack, copy);

		assert_int_equal(taken, stack.count > 0);
		ncs_stack_finish(&stack);
		assert_true(stack.count <= NCS_STACK_FRAMES);
		ncs_stack_forget(&stack);
	}
	ncs_stacks_take(&told, 1, copy);
	assert_true(told.count <= NCS_STACK_FRAMES);
	ncs_stack_forget(&told);
	free(copy);
}

TEST(output_may_end_anywhere)
{
	const char *texts[] = { pyspy, gdb, gdb_python, eu_stack };

	for (size_t i = 0; i < 4; i++)
		for (size_t length = 0; length <= strlen(texts[i]); length++)
			give_all(texts[i], length);
}

TEST(output_may_be_anything)
{
	static const char *const texts[] = {
		"[]", "{}", "null", "[1]", "[{\"frames\":1}]", "#", "#1", "#1 ",
		"#1  0x", "#1  0x12", "#1  0x12 in ", "[[[[[[[[", "\x1b[31m#0",
		"[{\"os_thread_id\":70,\"frames\":[1,{\"line\":-3},{\"line\":"
		"99999999999999}]}]",
		NCS_STACK_GDB_MARK, NCS_STACK_GDB_MARK "\n#0  (",
		NCS_STACK_GDB_MARK "\n#0  ) at ", "  File \"", "  File \"\", line ",
		"ncclstat-stack\t70", "ncclstat-stack\n",
		"ncclstat-stack\t70\t\t\nncclstat-frame\t1",
		"ncclstat-stack\t70\nncclstat-frame\t-1\t\t\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		give_all(texts[i], strlen(texts[i]));
}

/* Returns ten megabytes of lines. */
static char *huge(const char *before, const char *line, size_t *length)
{
	size_t room = (size_t)10 << 20, step = strlen(line);
	char *text = malloc(room + 1);

	assert_non_null(text);
	*length = strlen(before);
	memcpy(text, before, *length);
	for (; *length + step <= room; *length += step)
		memcpy(text + *length, line, step);
	text[*length] = '\0';
	return text;
}

TEST(output_may_be_huge)
{
	static const char *const begins[] = {
		NCS_STACK_GDB_MARK "\n", "", "[",
	};
	static const char *const lines[] = {
		"#7  0x00001 in recurse (n=...) at deep.c:3\n", "[", "a",
	};
	size_t length;

	for (size_t i = 0; i < 3; i++) {
		char *text = huge(begins[i], lines[i], &length);

		give_all(text, length);
		free(text);
	}
}

TEST(deep_recursion_keeps_both_ends)
{
	struct ncs_stack stack = { .pid = 1 };
	char name[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ncs_stack_add(&stack, name, "", 0);
	}
	ncs_stack_finish(&stack);
	assert_int_equal(stack.count, NCS_STACK_FRAMES);
	assert_frame(&stack, 0, "f2999", "", 0);
	assert_frame(&stack, 64, "(2873 frames left out)", "", 0);
	assert_frame(&stack, 127, "f0", "", 0);
	ncs_stack_forget(&stack);
	for (int i = 0; i < 6000; i++)
		ncs_stack_add(&stack, "f", "", 0);
	ncs_stack_finish(&stack);
	assert_frame(&stack, 0, "(more frames)", "", 0);
	ncs_stack_forget(&stack);
}

TEST(lines_are_read_as_they_were_written)
{
	struct ncs_stack stacks[2] = {
		{ .pid = 70, .tool = "py-spy" },
		{ .pid = 71 },
	};
	struct ncs_stack copies[3] = { { .pid = 71 }, { .pid = 70 }, { .pid = 9 } };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ncs_stack_say(&stacks[1], "its process\tis gone \xff\x1b");
	assert_true(ncs_stack_take_pyspy(&stacks[0], pyspy));
	ncs_stack_add(&stacks[0], "a\tb\nc", "", 0);
	ncs_stack_finish(&stacks[0]);
	fprintf(file, "Welcome to n1!\nncclstat-frame\t1\t2\t3\n");
	ncs_stack_print(file, &stacks[0]);
	ncs_stack_print(file, &stacks[1]);
	fclose(file);
	ncs_stacks_take(copies, 3, text);
	assert_string_equal(copies[0].why, "its process?is gone ??");
	assert_int_equal(copies[0].count, 0);
	assert_string_equal(copies[1].tool, "py-spy");
	assert_int_equal(copies[1].count, 3);
	assert_frame(&copies[1], 0, "a?b?c", "", 0);
	assert_frame(&copies[1], 1, "<module>", "/job/train.py", 211);
	assert_frame(&copies[1], 2, "read", "/job/loader.py", 188);
	assert_int_equal(copies[2].count, 0);
	for (size_t i = 0; i < 3; i++)
		ncs_stack_forget(&copies[i]);
	ncs_stack_forget(&stacks[0]);
	free(text);
}

TEST(several_stacks_of_a_process_are_taken_in_order)
{
	struct ncs_stack stacks[3] = { { .pid = 70 }, { .pid = 70 }, { .pid = 70 } };

	ncs_stacks_take(stacks, 3,
			"ncclstat-stack\t70\t/proc\t\n"
			"ncclstat-frame\t0\t\tfirst\n"
			"ncclstat-stack\t70\tpy-spy\t\n"
			"ncclstat-frame\t0\t\tsecond\n");
	assert_frame(&stacks[0], 0, "first", "", 0);
	assert_frame(&stacks[1], 0, "second", "", 0);
	assert_int_equal(stacks[2].count, 0);
	ncs_stack_forget(&stacks[0]);
	ncs_stack_forget(&stacks[1]);
}

/* --- The tree of many stacks ---------------------------------------------- */

/* Makes a stack of one-letter functions, the outermost first. */
static void make(struct ncs_stack *stack, const char *letters)
{
	memset(stack, 0, sizeof(*stack));
	for (; *letters; letters++)
		ncs_stack_add(stack, (char[]){ *letters, '\0' }, "", 0);
}

struct tree {
	struct ncs_stack stacks[512];
	struct ncs_stack_leaf leaves[512];
	size_t count;
	struct ncs_stack_branch *branches;
	size_t branch_count;
};

static void merge(struct tree *tree, const char *const *texts, size_t count,
		  size_t culprit)
{
	tree->count = count;
	for (size_t i = 0; i < count; i++) {
		make(&tree->stacks[i], texts[i]);
		tree->leaves[i] = (struct ncs_stack_leaf){ &tree->stacks[i], i,
							   i == culprit };
	}
	tree->branches =
		ncs_stacks_merge(tree->leaves, count, &tree->branch_count);
	assert_non_null(tree->branches);
}

static void release(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		ncs_stack_forget(&tree->stacks[i]);
	free(tree->branches);
}

static void assert_branch(const struct tree *tree, size_t place, unsigned level,
			  size_t count, const char *letters, bool is_apart)
{
	const struct ncs_stack_branch *branch = &tree->branches[place];
	const struct ncs_stack *stack = tree->leaves[branch->first].stack;

	assert_true(place < tree->branch_count);
	assert_int_equal(branch->level, level);
	assert_int_equal(branch->count, count);
	assert_int_equal(branch->is_apart, is_apart);
	assert_int_equal(branch->end - branch->from, strlen(letters));
	for (size_t i = 0; letters[i]; i++)
		assert_int_equal(stack->frames[branch->from + i].function[0],
				 letters[i]);
}

TEST(equal_stacks_are_one_branch)
{
	static const char *const texts[] = { "abc", "abc", "abc" };
	static struct tree tree;

	merge(&tree, texts, 3, 1);
	assert_int_equal(tree.branch_count, 1);
	assert_branch(&tree, 0, 0, 3, "abc", false);
	release(&tree);
}

TEST(culprit_is_marked_where_it_leaves)
{
	static const char *const texts[] = { "abcd", "abcd", "abxyz", "abce" };
	static struct tree tree;

	merge(&tree, texts, 4, 2);
	assert_int_equal(tree.branch_count, 5);
	assert_branch(&tree, 0, 0, 4, "ab", false);
	assert_branch(&tree, 1, 1, 3, "c", false);
	assert_branch(&tree, 2, 2, 2, "d", false);
	assert_branch(&tree, 3, 2, 1, "e", false);
	assert_branch(&tree, 4, 1, 1, "xyz", true);
	release(&tree);
}

TEST(stack_that_ends_where_others_go_on_has_no_frames)
{
	static const char *const texts[] = { "ab", "abc", "ab", "abd" };
	static struct tree tree;

	merge(&tree, texts, 4, 0);
	assert_int_equal(tree.branch_count, 4);
	assert_branch(&tree, 0, 0, 4, "ab", false);
	/* Rank 2 is at the same place as the culprit. */
	assert_branch(&tree, 1, 1, 2, "", false);
	assert_branch(&tree, 2, 1, 1, "c", false);
	assert_branch(&tree, 3, 1, 1, "d", false);
	release(&tree);
	merge(&tree, texts, 2, 0);
	assert_branch(&tree, 1, 1, 1, "", true);
	release(&tree);
}

TEST(stacks_without_a_common_frame_are_trees_of_their_own)
{
	static const char *const texts[] = { "ab", "cd", "ae" };
	static struct tree tree;

	merge(&tree, texts, 3, 1);
	assert_int_equal(tree.branch_count, 4);
	assert_branch(&tree, 0, 0, 2, "a", false);
	assert_branch(&tree, 3, 0, 1, "cd", true);
	release(&tree);
}

TEST(many_stacks_of_any_shape_keep_all_leaves)
{
	static char letters[512][65];
	static const char *texts[512];
	static struct tree tree;
	unsigned random = 1;

	for (size_t i = 0; i < 512; i++) {
		size_t length = 1 + i % 64;

		for (size_t k = 0; k < length; k++) {
			random = random * 1103515245u + 12345u;
			letters[i][k] = (char)('a' + (random >> 16) % 2);
		}
		texts[i] = letters[i];
	}
	merge(&tree, texts, 512, 77);
	/* The frames of the branches that have a leaf are its stack. */
	for (size_t i = 0; i < 512; i++) {
		size_t frames = 0;

		for (size_t k = 0; k < tree.branch_count; k++) {
			const struct ncs_stack_branch *branch =
				&tree.branches[k];

			if (i < branch->first ||
			    i >= branch->first + branch->count)
				continue;
			assert_int_equal(branch->from, frames);
			frames = branch->end;
		}
		assert_int_equal(frames, tree.leaves[i].stack->count);
	}
	release(&tree);
}
