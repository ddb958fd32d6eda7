-- SPDX-License-Identifier: MIT
-- What each node sent to each other one, and how long that took: a row for each
-- pair of nodes. For a matrix put it, without its semicolon, into
--   PIVOT (...) ON to_host USING first(ns_per_byte) GROUP BY from_host;
--
--   to_host            null: nothing was recorded there
--   steps, bytes       estimates, where operations were sampled
--   ns_per_byte        time on the wire for each byte, while several steps were
--                      under way at once
--   *_wait_us          means over all steps: what the sender waited for
WITH ranks AS (
	SELECT DISTINCT communicator_id, rank, host FROM '*.operations.parquet'
), sent AS (
	SELECT host, communicator_id, peer, bytes, stands_for,
		send_gpu_wait_ns, send_peer_wait_ns, send_wait_ns
	FROM '*.steps.parquet'
	WHERE direction = 'send' AND stands_for IS NOT NULL
)
SELECT sent.host AS from_host, ranks.host AS to_host,
	sum(stands_for)::BIGINT AS steps,
	sum(bytes * stands_for)::BIGINT AS bytes,
	sum(send_wait_ns * stands_for) / sum(bytes * stands_for) AS ns_per_byte,
	sum(send_gpu_wait_ns * stands_for) / sum(stands_for) / 1e3
		AS send_gpu_wait_us,
	sum(send_peer_wait_ns * stands_for) / sum(stands_for) / 1e3
		AS send_peer_wait_us,
	sum(send_wait_ns * stands_for) / sum(stands_for) / 1e3 AS send_wait_us
FROM sent LEFT JOIN ranks
	ON ranks.communicator_id = sent.communicator_id AND ranks.rank = sent.peer
GROUP BY from_host, to_host
ORDER BY from_host, to_host;
