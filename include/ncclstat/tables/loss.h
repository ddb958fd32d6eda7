/* What the view may lack, one counter each: nothing is dropped in silence.
 *
 * X(ID, name, help)
 *   ID    suffix of NCS_LOSS_…; its number is part of the ABI (append only)
 *   name  the key in JSON
 *   help  one sentence for people; goes into the manual
 *
 * OVERWRITTEN is counted by each reader for itself; all others are counted by
 * the plugin.
 */
#define NCS_LOSSES(X) \
	X(OVERWRITTEN, "overwritten", \
	  "records that newer ones had overwritten before they were read") \
	X(POOL_FULL, "pool_full", \
	  "events that were not followed because all slots of their kind were" \
	  " in use") \
	X(TABLE_FULL, "table_full", \
	  "channels, peers or histograms that found no room in their table") \
	X(FOREIGN, "foreign", \
	  "events of another process (PXN) or with a context that is not ours") \
	X(STALE, "stale", \
	  "handles that came back a second time, too late, or were never given" \
	  " out") \
	X(BAD_PTIMER, "bad_ptimer", \
	  "GPU times that were zero, out of order or implausible") \
	X(ORPHAN, "orphan", \
	  "events whose parent operation was unknown or already forgotten") \
	X(LATE, "late", \
	  "callbacks for a communicator that had been finalized") \
	X(UNKNOWN, "unknown", \
	  "event types or states that this version does not know") \
	X(RING_BUSY, "ring_busy", \
	  "records dropped because two threads wanted the shared ring at once") \
	X(FORGOTTEN, "forgotten", \
	  "events that NCCL never stopped and whose slot was needed again") \
	X(MISSING_STOP, "missing_stop", \
	  "steps whose stop NCCL did not report; a later event closed them") \
	X(CHAIN, "chain", \
	  "handles for two plugins (NCCLSTAT_CHAIN) that came back when their place" \
	  " was another's, or that found no place") \
	X(RANGE, "range", \
	  "calls whose range of the program found no room or was too deep," \
	  " and ranges that could not be followed")
