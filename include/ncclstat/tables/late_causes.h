/* Where a rank's lateness came from, one line each.
 *
 * X(ID, name, help)
 *   ID    suffix of NCS_LATE_…
 *   name  as the views and JSON call it
 *   help  a clause on what it means, for people
 */
#define NCS_LATE_CAUSES(X) \
	X(HOST, "host", "the application called late") \
	X(QUEUE, "queue", \
	  "it called in time, but the operation or its kernel began late," \
	  " behind earlier work") \
	X(PRODUCER, "producer", \
	  "all of that was in time, but the GPU's first data came late")
