-- SPDX-License-Identifier: MIT
-- The ranks that come late to collectives, the latest first.
--
-- All ranks of a collective end together, so the kernel of the rank that began
-- last ran for the shortest time. This compares durations only: it does not
-- matter how well the hosts' clocks agree.
--
--   later_us  by how much its kernels are shorter than those of the median one
--             of the other ranks
WITH by_rank AS (
	SELECT communicator_id, communicator, function, timing, rank, host, pid,
		count(*) AS launches, avg(duration_ns) AS mean_ns
	FROM '*.launches.parquet'
	WHERE function NOT IN ('Send', 'Recv', 'SendRecv') AND rank IS NOT NULL
	GROUP BY ALL
), compared AS (
	SELECT *, median(mean_ns) OVER (
		PARTITION BY communicator_id, function, timing
		ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
		EXCLUDE CURRENT ROW) AS median_ns
	FROM by_rank
)
SELECT communicator, communicator_id, function, timing, rank, host, pid,
	launches, mean_ns / 1e3 AS mean_us,
	(median_ns - mean_ns) / 1e3 AS later_us
FROM compared WHERE median_ns IS NOT NULL
ORDER BY later_us DESC, communicator_id, function, rank
LIMIT 20;
