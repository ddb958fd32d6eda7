/* What a lane of the timeline does at a moment, one line each, beside the
 * states of channels (channel_states.h) and of proxy threads (proxy_states.h).
 *
 * X(ID, letter, layer, label, help)
 *   ID      suffix of NCS_ACTIVITY_…
 *   letter  one character for a cell of the lane
 *   layer   NOTHING: there is none; BEHIND: shown where nothing else is;
 *           BEFORE
 *   label   the word in the live view
 *   help    one sentence for people; goes into the manual
 */
#define NCS_ACTIVITIES(X) \
	X(UNKNOWN, ' ', NOTHING, "unknown", \
	  "nothing is kept of this time, or the rank had ended") \
	X(NONE, '.', NOTHING, "nothing", "nothing was under way") \
	X(LOST, '?', NOTHING, "lost", \
	  "records of this time were overwritten before they could be read") \
	X(GROUP, 'g', BEHIND, "group", \
	  "the application is between ncclGroupStart and ncclGroupEnd") \
	X(CALL, 'c', BEFORE, "call", \
	  "the application is in a call of a collective, of ncclSend or" \
	  " ncclRecv") \
	X(LAUNCH, 'l', BEFORE, "launch", "a kernel is being launched") \
	X(QUEUED, 'q', BEHIND, "queued", \
	  "the operation is being enqueued, or waits for the proxy to begin it") \
	X(RUNNING, 'r', BEFORE, "running", \
	  "the operation's proxy operations or kernels are under way; of kernels" \
	  " alone it is only known that they do not begin earlier") \
	X(OPERATION, 'o', BEHIND, "operation", \
	  "an operation is under way on the channel, without a step that is" \
	  " known") \
	X(AWAKE, 'w', BEHIND, "awake", \
	  "the proxy thread is idle or active: these are counted, but their" \
	  " moments are not recorded") \
	X(KERNEL, 'x', BEFORE, "kernel", \
	  "a channel of an operation's kernel runs, by the GPU's clock where" \
	  " that is known")
