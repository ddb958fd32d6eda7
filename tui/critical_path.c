/* Has the passes made and what comes of them printed; see critical_path.h. */
#include "tui/critical_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job_steps.h"
#include "tui/format.h"
#include "tui/output.h"

struct run {
	const struct ncs_options *options;
	struct ncs_collectives *collectives;
	struct ncs_job_steps *steps;
	struct ncs_fits fits;
	struct ncs_path_owner *owners;
	uint32_t rank_count;
};

static bool is_in_range(const void *who, const struct ncs_member *part,
			const char *path)
{
	const struct run *run = who;

	return ncs_collectives_is_in_range(run->collectives, part, path);
}

static bool is_counted(const struct run *run, const struct ncs_joined *joined)
{
	return !run->options->range ||
	       is_in_range(run, &joined->parts[0], run->options->range);
}

/* The first look: what transfers take, and where steps begin. */
static int learn(struct run *run)
{
	const struct ncs_joined *joined;
	int result;

	while ((result = ncs_collectives_next(run->collectives, &joined)) ==
	       1) {
		result = ncs_job_steps_learn(run->steps, joined,
					     is_counted(run, joined));
		if (!result && joined->is_complete)
			result = ncs_fits_add(&run->fits, joined,
					      ncs_joined_transfer_ns(joined));
		if (result)
			return result;
	}
	ncs_fits_solve(&run->fits);
	return result ? result : ncs_collectives_rewind(run->collectives);
}

static int walk(struct run *run, struct ncs_path *path)
{
	const struct ncs_joined *joined;
	int result;

	while ((result = ncs_collectives_next(run->collectives, &joined)) ==
	       1) {
		bool counts = is_counted(run, joined);

		result = ncs_path_add(path, joined, counts,
				      ncs_job_steps_next(run->steps, joined,
							 counts));
		if (result)
			return result;
	}
	return result ? result : ncs_path_end(path);
}

static int print(struct run *run, struct ncs_replay *replay,
		 const struct ncs_path *path)
{
	struct ncs_path_view view = {
		.options = run->options,
		.replay = replay,
		.report = ncs_path_report(path),
		.rank_count = run->rank_count,
	};
	struct ncs_output output;
	int status = NCS_EXIT_OK;

	ncs_collectives_count(run->collectives, &view.count);
	if (view.report->parts == 0) {
		fprintf(stderr,
			"ncclstat: no operation has ended in what was"
			" recorded: of jobs without a network NCCL tells an end"
			" only with NCCLSTAT_KERNEL_TIMING\n");
		return NCS_EXIT_NOTHING;
	}
	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	if (run->options->format == NCS_DUMP_JSON)
		ncs_critical_path_json(output.file, &view);
	else
		ncs_critical_path_text(output.file, &view);
	ncs_output_release(&output, &status);
	return status;
}

static int analyse(struct run *run, struct ncs_replay *replay)
{
	struct ncs_scenario scenarios[NCS_SCENARIOS_MAX];
	struct ncs_path_options options = {
		.owners = run->owners,
		.owner_count = ncs_recording_rank_count(replay->recording),
		.rank_count = run->rank_count,
		.scenarios = scenarios,
		.scenario_count = run->options->what_if_count,
		.fits = &run->fits,
		.is_in_range = is_in_range,
		.who = run,
	};
	struct ncs_path *path;
	char error[256];
	int result, status;

	/* They have been found to be right before. */
	for (size_t i = 0; i < options.scenario_count; i++)
		if (!ncs_scenario_parse(&scenarios[i], run->options->what_if[i],
					error, sizeof(error)))
			return -EINVAL;
	result = learn(run);
	if (result)
		return result;
	path = ncs_path_new(&options);
	if (!path)
		return -ENOMEM;
	result = walk(run, path);
	status = result ? result : print(run, replay, path);
	ncs_path_free(path);
	return status;
}

static bool open_run(struct run *run, struct ncs_replay *replay)
{
	size_t count = ncs_recording_rank_count(replay->recording);
	const struct ncs_job_rank *ranks;

	run->collectives = ncs_collectives_open(
		replay->recording, replay->from_ns, replay->until_ns);
	run->steps = ncs_job_steps_new();
	run->owners = calloc(count + 1, sizeof(*run->owners));
	if (!run->collectives || !run->steps || !run->owners)
		return false;
	ranks = ncs_collectives_job_ranks(run->collectives, &run->rank_count);
	for (size_t i = 0; i < count; i++)
		run->owners[i] =
			(struct ncs_path_owner){ ranks[i].rank, ranks[i].host };
	return true;
}

int ncs_critical_path_run(const struct ncs_options *options,
			  struct ncs_replay *replay)
{
	struct run run = { .options = options };
	int status = -ENOMEM;

	if (open_run(&run, replay))
		status = analyse(&run, replay);
	ncs_collectives_close(run.collectives);
	ncs_job_steps_free(run.steps);
	ncs_fits_release(&run.fits);
	free(run.owners);
	if (status >= 0)
		return status;
	fprintf(stderr, "ncclstat: %s\n", strerror(-status));
	return NCS_EXIT_NOTHING;
}
