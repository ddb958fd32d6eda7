-- SPDX-License-Identifier: MIT
-- Writes jobs.parquet: the jobs that have ended, from the archives of all nodes that
-- are below this directory (ncclstat watch --archive). late_nodes.sql, slow_links.sql
-- and lost_time.sql read it; sacct joins by job, DCGM by node and time. It is made anew
-- of all lines that archives still have: weeks in jobs.jsonl, and those before in
-- jobs.jsonl.old. Times are UTC. Answers with the number of jobs.
COPY (
	SELECT job, node, user AS user_name, uid,
		make_timestamp(begun_s * 1000000) AS begun,
		make_timestamp(ended_s * 1000000) AS ended, lasted_s,
		processes, ranks, severity, sentence, end_is_unseen,
		training_step.step_ns / 1e9 AS step_s, findings, communicators
	FROM read_json('*/jobs.jsonl*', format = 'newline_delimited',
		ignore_errors = true, columns = {
			event: 'VARCHAR', job: 'VARCHAR', node: 'VARCHAR',
			user: 'VARCHAR', uid: 'BIGINT', begun_s: 'BIGINT',
			ended_s: 'BIGINT', lasted_s: 'BIGINT',
			processes: 'BIGINT', ranks: 'BIGINT',
			severity: 'VARCHAR', sentence: 'VARCHAR',
			end_is_unseen: 'BOOLEAN',
			training_step: 'STRUCT(step_ns BIGINT)',
			findings: 'STRUCT(verdict VARCHAR, severity VARCHAR,
				"rank" BIGINT, cost_share DOUBLE,
				sentence VARCHAR)[]',
			communicators: 'STRUCT(
				communicator STRUCT(id VARCHAR, name VARCHAR,
					nranks BIGINT, nnodes BIGINT),
				functions STRUCT("function" VARCHAR,
					timing VARCHAR, busbw_gbs DOUBLE)[],
				skew STRUCT(operations BIGINT, median_ns BIGINT,
					p99_ns BIGINT), lost BIGINT)[]'
		})
	WHERE event = 'ended'
	ORDER BY begun_s, node
) TO 'jobs.parquet' (FORMAT parquet, COMPRESSION zstd);
