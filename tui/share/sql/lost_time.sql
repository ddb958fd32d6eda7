-- SPDX-License-Identifier: MIT
-- Jobs that lost more than a tenth of their time to a rank, of jobs.parquet
-- (job_history.sql): a row for each job, node and rank, the one that cost
-- most first.
--
--   cost_share   what the rank cost, where that is known
--   lost_hours   that share of the job's time: the finding may be of a part of it
WITH late AS (
	SELECT job, node, begun, lasted_s, unnest(findings) AS f
	FROM 'jobs.parquet'
)
SELECT job, node, begun::VARCHAR AS begun, f."rank" AS late_rank,
	max(f.cost_share) AS cost_share,
	max(f.cost_share * lasted_s / 3600) AS lost_hours
FROM late
WHERE f.verdict = 'late_rank' AND f.cost_share > 0.1
GROUP BY ALL
ORDER BY lost_hours DESC NULLS LAST, job, node;
