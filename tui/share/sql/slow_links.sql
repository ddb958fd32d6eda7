-- SPDX-License-Identifier: MIT
-- Nodes whose bandwidth fell below their peers', of jobs.parquet (job_history.sql): of
-- the jobs of the latest week, a row for each node and collective that is below nine
-- tenths of the median of the other nodes. Only communicators with as many ranks and
-- nodes are compared; their messages may differ, so that few jobs prove little.
--
--   busbw_gbs   the node's median of its jobs
--   peers_gbs   the median of the other nodes' medians
--   jobs        of the node, with this collective
WITH measured AS (
	SELECT node, job, begun, unnest(communicators) AS c
	FROM 'jobs.parquet'
	WHERE begun > (SELECT max(begun) FROM 'jobs.parquet') - INTERVAL 7 DAY
), functions AS (
	SELECT node, job, begun, c.communicator.nranks AS nranks,
		c.communicator.nnodes AS nnodes, unnest(c.functions) AS f
	FROM measured
), nodes AS (
	SELECT node, f."function" AS collective, nranks, nnodes,
		median(f.busbw_gbs) AS busbw_gbs,
		count(DISTINCT (job, begun)) AS jobs
	FROM functions
	WHERE f.busbw_gbs IS NOT NULL
	GROUP BY ALL
), compared AS (
	SELECT n.*, (SELECT median(p.busbw_gbs) FROM nodes p
		WHERE p.collective = n.collective AND p.nranks = n.nranks
			AND p.nnodes = n.nnodes AND p.node <> n.node) AS peers_gbs
	FROM nodes n
)
SELECT node, collective, nranks, nnodes, busbw_gbs, peers_gbs, jobs
FROM compared
WHERE busbw_gbs < 0.9 * peers_gbs
ORDER BY busbw_gbs / peers_gbs, node, collective;
