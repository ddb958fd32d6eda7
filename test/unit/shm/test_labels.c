/* SPDX-License-Identifier: MIT */
/* Blocks of job labels: which variables give them, and what becomes of values
 * that are long, empty or no text. */
#include <stdio.h>
#include <string.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/tables/job_labels.def"
#include "shm/labels.h"
#include "test/unit/support/unit.h"

/* Variables that a test sets: names and values, ended by NULL. */
static const char *find(void *context, const char *name)
{
	const char *const *variables = context;

	for (; *variables; variables += 2)
		if (strcmp(variables[0], name) == 0)
			return variables[1];
	return NULL;
}

static void collect(struct ncs_labels *block, const char **variables)
{
	memset(block, 0, sizeof(*block));
	ncs_labels_collect(block, find, variables);
}

TEST(variables_of_the_table_become_labels)
{
	const char *variables[] = { "SLURM_JOB_ID",  "4711", "POD_NAME", "llm-0",
				    "AWS_SECRET_KEY", "x",    NULL };
	struct ncs_labels block;

	collect(&block, variables);
	assert_string_equal(ncs_labels_value(block.text, "job_id"), "4711");
	assert_string_equal(ncs_labels_value(block.text, "pod"), "llm-0");
	assert_null(ncs_labels_value(block.text, "job"));
	assert_int_equal(ncs_labels_bytes(block.text),
			 sizeof("job_id=4711") + sizeof("pod=llm-0") + 1);
}

TEST(the_first_variable_that_is_not_empty_counts)
{
	const char *variables[] = { "SLURM_PROCID", "1", "RANK",     "5",
				    "SLURM_JOB_ID", "",  "PBS_JOBID", "9.srv",
				    NULL };
	struct ncs_labels block;

	collect(&block, variables);
	assert_string_equal(ncs_labels_value(block.text, "job_rank"), "5");
	assert_string_equal(ncs_labels_value(block.text, "job_id"), "9.srv");
}

TEST(a_host_name_is_a_pod_only_in_kubernetes)
{
	const char *outside[] = { "HOSTNAME", "login1", NULL };
	const char *inside[] = { "HOSTNAME", "llm-0", "KUBERNETES_SERVICE_HOST",
				 "10.0.0.1", NULL };
	struct ncs_labels block;

	collect(&block, outside);
	assert_null(ncs_labels_value(block.text, "pod"));
	collect(&block, inside);
	assert_string_equal(ncs_labels_value(block.text, "pod"), "llm-0");
}

TEST(control_characters_and_bad_utf8_are_replaced)
{
	struct ncs_labels block = { 0 };

	ncs_labels_add(&block, "cluster", "a\x1b[1m\xff\xc3\xa9\xe2\x80\xae\n");
	assert_string_equal(ncs_labels_value(block.text, "cluster"),
			    "a\xef\xbf\xbd[1m\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd"
			    "\xef\xbf\xbd");
	/* The text ends in the middle of a character. */
	ncs_labels_add(&block, "pod", "x\xe2\x80");
	assert_string_equal(ncs_labels_value(block.text, "pod"),
			    "x\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(a_long_value_is_cut_at_a_character_and_marked)
{
	char value[200];
	struct ncs_labels block = { 0 };
	const char *cut;

	memset(value, 'x', sizeof(value));
	value[NCS_LABEL_VALUE_BYTES] = '\0';
	ncs_labels_add(&block, "pod", value);
	assert_string_equal(ncs_labels_value(block.text, "pod"), value);
	for (size_t i = 0; i < 150; i += 2)
		memcpy(value + i, "\xc3\xa9", 2);
	value[150] = '\0';
	ncs_labels_add(&block, "node", value);
	cut = ncs_labels_value(block.text, "node");
	assert_in_range(strlen(cut), NCS_LABEL_VALUE_BYTES - 1,
			NCS_LABEL_VALUE_BYTES);
	assert_memory_equal(cut, value, strlen(cut) - 3);
	assert_string_equal(cut + strlen(cut) - 3, "\xe2\x80\xa6");
}

static const char *find_long(void *context, const char *name)
{
	(void)name;
	return context;
}

TEST(all_labels_fit_even_if_all_are_long)
{
	static const char *const names[] = {
#define X(ID, name, help) name,
		NCS_JOB_LABELS(X)
#undef X
	};
	char value[300];
	struct ncs_labels block = { 0 };

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	ncs_labels_collect(&block, find_long, value);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(ncs_labels_value(block.text, names[i]));
}

TEST(a_full_block_takes_no_more)
{
	char value[NCS_LABEL_VALUE_BYTES + 1], key[16];
	struct ncs_labels block = { 0 };

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (unsigned i = 0; i < 50; i++) {
		snprintf(key, sizeof(key), "key%u", i);
		ncs_labels_add(&block, key, value);
	}
	assert_in_range(ncs_labels_bytes(block.text), 1, sizeof(block.text));
	assert_null(ncs_labels_value(block.text, "key49"));
}

/* Garbage from a segment, without a terminator anywhere. */
TEST(untrusted_labels_are_cleaned_again)
{
	static const char some[] = "no sign\0=x\0BAD=1\0job_id=4\x07\0"
				   "job_id=5\0later_key=new";
	struct ncs_labels untrusted = { 0 }, block = { 0 };

	memcpy(untrusted.text, some, sizeof(some));
	ncs_labels_add_all(&block, &untrusted);
	assert_null(ncs_labels_value(block.text, "BAD"));
	assert_string_equal(ncs_labels_value(block.text, "job_id"),
			    "4\xef\xbf\xbd");
	assert_string_equal(ncs_labels_value(block.text, "later_key"), "new");
	memset(untrusted.text, 'x', sizeof(untrusted.text));
	memcpy(untrusted.text + sizeof(untrusted.text) - 3, "a=b", 3);
	memset(&block, 0, sizeof(block));
	ncs_labels_add_all(&block, &untrusted);
	assert_int_equal(block.text[0], 0);
	memset(untrusted.text, 'x', sizeof(untrusted.text));
	memcpy(untrusted.text, "a=", 2);
	ncs_labels_add_all(&block, &untrusted);
	assert_in_range(strlen(ncs_labels_value(block.text, "a")), 1,
			NCS_LABEL_VALUE_BYTES);
}
