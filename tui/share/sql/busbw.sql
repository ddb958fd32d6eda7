-- SPDX-License-Identifier: MIT
-- Bandwidth by size: the figures of ncclstat --export=csv --window=start.
--
-- Data moves from the begin on the last rank to the end on the last rank; a
-- send and its receive are both ranks of it. Operations of one launch move
-- together: they count once, with their bytes added; but what a rank sends
-- counts for Send, and what it receives for Recv. Figures are medians of the
-- latest 256 launches of each function, of those with the best source of times;
-- null if that time is within its error.
WITH operations AS (
	SELECT communicator_id, function, sequence_number,
		moving_from_ns, moving_until_ns, timing,
		-- Which end of a send or receive this is.
		CASE WHEN function IN ('Send', 'Recv')
			THEN concat_ws(' ', function, rank) END AS transfer,
		CASE WHEN function IN ('Send', 'Recv')
			THEN concat_ws(' ', host, pid, operation) END AS one_end,
		any_value(communicator) AS communicator, max(nranks) AS nranks,
		max(moving_error_ns) AS error_ns,
		any_value(bytes) AS bytes, any_value(bus_bytes) AS bus_bytes,
		any_value(size_bytes) AS size_bytes,
		any_value(algorithm) AS algorithm, any_value(protocol) AS protocol,
		-- Only CUDA events tell which operations were in one launch.
		CASE WHEN timing <> 'stream'
			THEN concat(function, sequence_number, one_end) END AS alone
	FROM '*.operations.parquet'
	WHERE moving_until_ns IS NOT NULL
		AND peer IS DISTINCT FROM rank -- what it sends itself stays there
	GROUP BY ALL
), launches AS (
	SELECT *,
		CASE WHEN count(*) OVER launch = count(bytes) OVER launch
			THEN sum(bytes) OVER launch END AS launch_bytes,
		CASE WHEN count(*) OVER launch = count(bus_bytes) OVER launch
			THEN sum(bus_bytes) OVER launch END AS launch_bus_bytes,
		min(class) OVER launch = max(class) OVER launch AS is_of_one_class
	FROM (SELECT *, concat_ws('/', coalesce(size_bytes::VARCHAR, '-'),
		coalesce(algorithm, '-'), coalesce(protocol, '-')) AS class
		FROM operations)
	WINDOW launch AS (PARTITION BY communicator_id, transfer, timing,
		moving_from_ns, moving_until_ns, alone)
), latest AS (
	SELECT *, list_position(['stream', 'kernel', 'proxy'], timing) AS worth
	FROM (SELECT DISTINCT ON (communicator_id, function, transfer, timing,
			moving_from_ns, moving_until_ns, alone) *
		FROM launches ORDER BY sequence_number, one_end)
	QUALIFY row_number() OVER (PARTITION BY communicator_id, function
		ORDER BY moving_until_ns DESC) <= 256
), best AS (
	SELECT *, moving_until_ns - moving_from_ns AS moving_ns
	FROM latest WHERE is_of_one_class
	QUALIFY worth = min(worth) OVER (PARTITION BY communicator_id, function,
		size_bytes, algorithm, protocol)
), medians AS (
	SELECT communicator_id, any_value(communicator) AS communicator,
		max(nranks) AS nranks, function, size_bytes, algorithm, protocol,
		timing, count(*) AS launches,
		median(moving_ns) / 1e3 AS moving_us,
		list_sort(list(greatest(moving_ns - error_ns, 0))) AS least,
		list_sort(list(launch_bytes / moving_ns)) AS algbw,
		list_sort(list(launch_bus_bytes / moving_ns)) AS busbw
	FROM best GROUP BY ALL
)
SELECT communicator, communicator_id, nranks, function, size_bytes, algorithm,
	protocol, timing, launches, moving_us,
	CASE WHEN least[(len(least) + 1) // 2] > 0
		THEN algbw[len(algbw) // 2 + 1] END AS algbw_gbs,
	CASE WHEN least[(len(least) + 1) // 2] > 0
		THEN busbw[len(busbw) // 2 + 1] END AS busbw_gbs
FROM medians
ORDER BY communicator_id, function, size_bytes, algorithm, protocol;
