/* What recordings can be exported as, one line each.
 *
 * X(ID, name, is_binary, help)
 *   ID         suffix of NCS_EXPORT_…
 *   name       what --export takes
 *   is_binary  whether a terminal must not get it
 *   help       one sentence for people; goes into the manual
 */
#define NCS_EXPORTS(X) \
	X(PERFETTO, "perfetto", true, \
	  "a trace for Perfetto (ui.perfetto.dev) in its own format") \
	X(CHROME, "chrome", false, \
	  "the same trace as JSON, for chrome://tracing and Perfetto") \
	X(NDJSON, "ndjson", false, \
	  "each record as one object of JSON on a line of its own") \
	X(CSV, "csv", false, \
	  "how fast operations of each size were, with the columns of" \
	  " nccl-tests")
