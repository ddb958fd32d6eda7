-- SPDX-License-Identifier: MIT
-- How the jobs of each node went that a watch has kept (ncclstat watch --archive):
-- a row for each node, the one with most findings first. Run it in a directory with
-- the archives of several nodes.
--
--   jobs, hours        that ended, and how long they lasted
--   stuck, slow        jobs whose worst finding was that
--   late_rank          jobs in which a rank of the node was late
--   lost_hours         what late ranks cost, of jobs where that is known
--   unseen_ends        jobs that went on without a watch
WITH ended AS (
	SELECT * FROM read_json('*/jobs.jsonl', format = 'newline_delimited',
		union_by_name = true, columns = {
			event: 'VARCHAR', node: 'VARCHAR', lasted_s: 'BIGINT',
			severity: 'VARCHAR', end_is_unseen: 'BOOLEAN',
			findings: 'STRUCT(verdict VARCHAR, cost_share DOUBLE)[]'
		})
	WHERE event = 'ended'
), late AS (
	SELECT *, list_filter(findings, x -> x.verdict = 'late_rank') AS late_ranks
	FROM ended
)
SELECT node, count(*) AS jobs, sum(lasted_s) / 3600 AS hours,
	count(*) FILTER (severity = 'stuck') AS stuck,
	count(*) FILTER (severity = 'slow') AS slow,
	count(*) FILTER (len(late_ranks) > 0) AS late_rank,
	sum(lasted_s / 3600 * list_max(list_transform(late_ranks,
		x -> x.cost_share))) AS lost_hours,
	count(*) FILTER (end_is_unseen) AS unseen_ends
FROM late
GROUP BY node
ORDER BY stuck + slow DESC, node;
