/* The states that NCCL passes to recordEventState, one line each.
 *
 * X(ID, value, api, event, name)
 *   ID     suffix of NCS_STATE_…
 *   value  NCCL's number; the same in every API version
 *   api    the first version of the profiler API that has it
 *   event  the event type (NCS_EVENT_…) that passes through it
 *   name   NCCL's name, without the prefix ncclProfiler
 */
#define NCS_STATES(X) \
	X(OP_SEND_POSTED, 0, 1, PROXY_OP, "ProxyOpSendPosted") \
	X(OP_SEND_REM_FIFO_WAIT, 1, 1, PROXY_OP, "ProxyOpSendRemFifoWait") \
	X(OP_SEND_TRANSMITTED, 2, 1, PROXY_OP, "ProxyOpSendTransmitted") \
	X(OP_SEND_DONE, 3, 1, PROXY_OP, "ProxyOpSendDone") \
	X(OP_RECV_POSTED, 4, 1, PROXY_OP, "ProxyOpRecvPosted") \
	X(OP_RECV_RECEIVED, 5, 1, PROXY_OP, "ProxyOpRecvReceived") \
	X(OP_RECV_TRANSMITTED, 6, 1, PROXY_OP, "ProxyOpRecvTransmitted") \
	X(OP_RECV_DONE, 7, 1, PROXY_OP, "ProxyOpRecvDone") \
	X(STEP_SEND_GPU_WAIT, 8, 1, PROXY_STEP, "ProxyStepSendGPUWait") \
	X(STEP_SEND_WAIT, 9, 1, PROXY_STEP, "ProxyStepSendWait") \
	X(STEP_RECV_WAIT, 10, 1, PROXY_STEP, "ProxyStepRecvWait") \
	X(STEP_RECV_FLUSH_WAIT, 11, 1, PROXY_STEP, "ProxyStepRecvFlushWait") \
	X(STEP_RECV_GPU_WAIT, 12, 1, PROXY_STEP, "ProxyStepRecvGPUWait") \
	X(CTRL_IDLE, 13, 1, PROXY_CTRL, "ProxyCtrlIdle") \
	X(CTRL_ACTIVE, 14, 1, PROXY_CTRL, "ProxyCtrlActive") \
	X(CTRL_SLEEP, 15, 1, PROXY_CTRL, "ProxyCtrlSleep") \
	X(CTRL_WAKEUP, 16, 1, PROXY_CTRL, "ProxyCtrlWakeup") \
	X(CTRL_APPEND, 17, 1, PROXY_CTRL, "ProxyCtrlAppend") \
	X(CTRL_APPEND_END, 18, 1, PROXY_CTRL, "ProxyCtrlAppendEnd") \
	X(OP_IN_PROGRESS, 19, 4, PROXY_OP, "ProxyOpInProgress") \
	X(STEP_SEND_PEER_WAIT, 20, 4, PROXY_STEP, "ProxyStepSendPeerWait") \
	X(NET_PLUGIN_UPDATE, 21, 4, NET_PLUGIN, "NetPluginUpdate") \
	X(KERNEL_CH_STOP, 22, 4, KERNEL_CH, "KernelChStop") \
	X(GROUP_START_API_STOP, 23, 5, GROUP_API, "GroupStartApiStop") \
	X(GROUP_END_API_START, 24, 5, GROUP_API, "GroupEndApiStart") \
	X(CE_COLL_START, 25, 6, CE_COLL, "CeCollStart") \
	X(CE_COLL_COMPLETE, 26, 6, CE_COLL, "CeCollComplete") \
	X(CE_SYNC_START, 27, 6, CE_SYNC, "CeSyncStart") \
	X(CE_SYNC_COMPLETE, 28, 6, CE_SYNC, "CeSyncComplete") \
	X(CE_BATCH_START, 29, 6, CE_BATCH, "CeBatchStart") \
	X(CE_BATCH_COMPLETE, 30, 6, CE_BATCH, "CeBatchComplete") \
	X(KERNEL_PHASE_STOP, 31, 7, KERNEL_PHASE, "KernelPhaseStop")
