/* What the oldest unfinished step of a channel waits for, one line each.
 *
 * X(ID, name, letter, label, help)
 *   ID      suffix of NCS_CHANNEL_…; its number is part of the ABI
 *   name    the key in JSON
 *   letter  one character for narrow columns
 *   label   the word in the live view
 *   help    one sentence for people; goes into the manual
 */
#define NCS_CHANNEL_STATES(X) \
	X(IDLE, "idle", '-', "idle", \
	  "no step of this channel is under way") \
	X(SEND_GPU_WAIT, "send_gpu_wait", 'G', "gpu", \
	  "sending: the local GPU has not produced the data yet") \
	X(SEND_PEER_WAIT, "send_peer_wait", 'P', "peer", \
	  "sending: the peer has not posted a buffer, or the network's send" \
	  " queue is full") \
	X(SEND_WAIT, "send_wait", 'N', "network", \
	  "sending: the data is on the wire, its completion is awaited") \
	X(RECV_WAIT, "recv_wait", 'R', "sender", \
	  "receiving: a buffer is posted, data from the peer is awaited") \
	X(RECV_FLUSH_WAIT, "recv_flush_wait", 'F', "flush", \
	  "receiving: the data has come and is being flushed to GPU memory") \
	X(RECV_GPU_WAIT, "recv_gpu_wait", 'K', "kernel", \
	  "receiving: the local GPU has not consumed the data yet")
