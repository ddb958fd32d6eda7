/* SPDX-License-Identifier: MIT */
/* Tests of the tree of many stacks: frames that ranks share come once, and where
 * a culprit leaves the others is marked. */
#include <stdlib.h>
#include <string.h>

#include "fleet/stacks/stack.h"
#include "test/unit/support/unit.h"

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
		tree->leaves[i] = (struct ncs_stack_leaf){
			&tree->stacks[i], i, i == culprit
		};
	}
	tree->branches = ncs_stacks_merge(tree->leaves, count,
					  &tree->branch_count);
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
	const struct ncs_stack *stack =
		tree->leaves[branch->first].stack;

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
