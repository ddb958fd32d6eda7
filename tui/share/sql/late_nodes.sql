-- SPDX-License-Identifier: MIT
-- Which nodes kept others waiting, of jobs.parquet (job_history.sql): a row for each
-- node with such a job among its latest 20, the worst one first.
--
--   jobs      those of the latest 20 that are there
--   late      of them, those in which a rank of the node was late, or did not come; of
--             a job of several nodes a watch cannot tell whose rank did not come
--   latest    when the latest of these began
WITH latest AS (
	SELECT node, begun, list_transform(findings, x -> x.verdict) AS verdicts,
		list_max(list_transform(communicators,
			x -> x.communicator.nnodes)) = 1 AS is_alone
	FROM 'jobs.parquet'
	QUALIFY row_number() OVER (PARTITION BY node ORDER BY begun DESC) <= 20
), judged AS (
	SELECT *, list_has_any(verdicts, ['late_rank', 'slow_rank', 'host_busy',
		'rank_died', 'rank_stopped', 'gpu_late', 'consumer_late']) OR
		is_alone AND list_contains(verdicts, 'rank_missing') AS is_late
	FROM latest
)
SELECT node, count(*) AS jobs, count(*) FILTER (is_late) AS late,
	max(begun) FILTER (is_late)::VARCHAR AS latest
FROM judged
GROUP BY node
HAVING late > 0
ORDER BY late / jobs DESC, node;
