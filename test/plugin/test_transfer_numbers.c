/* SPDX-License-Identifier: MIT */
/* Numbers of sends and receives in records: those that belong together have the
 * same, and where they may not, there is none. */
#include <stdlib.h>

#include "plugin/state/transfers.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define NONE NCS_NO_SEQUENCE_NUMBER

/* Plays a transfer with a proxy operation and returns its record. */
static struct ncs_record play_child_of(struct guest *guest, void *call,
				       const char *func, int peer)
{
	struct host_event event = {
		.type = NCCL_EVENT_P2P,
		.parent = call,
		.rank = GUEST_RANK,
		.comm_hash = GUEST_COMM_ID,
		.func = func,
		.func_number = func[0] == 'S' ? 6 : 7,
		.datatype = "ncclInt8",
		.count = 100,
		.peer = peer,
	};
	struct ncs_record found;
	void *transfer = start(guest, &event);

	stop(guest, transfer);
	stop(guest, start_proxy_op(guest, transfer, 0, true, peer, 1));
	do
		CHECK(next_record(guest, &found), "the transfer's record");
	while (found.event != NCS_EVENT_P2P);
	CHECK_EQUAL((found.flags & NCS_RECORD_NUMBERED) != 0,
		    found.number != NONE, "the flag says that it is there");
	return found;
}

static void expect(struct guest *guest, const char *func, int peer,
		   uint64_t number)
{
	struct ncs_record found = play_child_of(guest, NULL, func, peer);

	CHECK_EQUAL(found.number, number, "its place on its connection");
}

GUEST_SCENARIOS(each_connection_has_numbers_of_its_own, 1, LAST_API)
{
	for (uint64_t i = 0; i < 3; i++) {
		expect(guest, "Send", 2, i);
		expect(guest, "Recv", 2, 2 * i);
		expect(guest, "Recv", 2, 2 * i + 1);
		expect(guest, "Send", 0, i);
		/* To itself. */
		expect(guest, "Send", GUEST_RANK, i);
		expect(guest, "Recv", GUEST_RANK, i);
	}
	/* A number of NCCL's it is not. */
	view_take(&guest->view);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		CHECK_EQUAL(guest->view.now.functions[i].last_sequence_number,
			    NONE, "no sequence number");
}

/* --- Not all have one ---------------------------------------------------- */

GUEST_SCENARIOS(captured_transfer_has_no_number, 5, LAST_API)
{
	struct host_event event = {
		.type = NCCL_EVENT_P2P_API,
		.func = "Send",
		.datatype = "ncclInt8",
		.count = 100,
		.graph_captured = 1,
	};
	struct ncs_record found;
	void *call;

	expect(guest, "Send", 2, 0);
	call = start(guest, &event);
	stop(guest, call);
	/* Its replays are started with the same parent. */
	for (unsigned i = 0; i < 3; i++) {
		found = play_child_of(guest, call, "Send", 2);
		CHECK_EQUAL(found.number, NONE, "captured");
	}
	event.graph_captured = 0;
	call = start(guest, &event);
	stop(guest, call);
	found = play_child_of(guest, call, "Send", 2);
	CHECK_EQUAL(found.number, 1, "the others go on");
}

GUEST_SCENARIO(none_has_a_number_once_nccl_was_not_asked_for_all, LAST_API)
{
	int mask;

	expect(guest, "Send", 2, 0);
	mask = host_mask();
	host_set_mask(mask & ~NCCL_EVENT_P2P);
	stop(guest, start_type(guest, NCCL_EVENT_GROUP, NULL));
	host_set_mask(mask);
	expect(guest, "Send", 2, NONE);
	expect(guest, "Recv", 0, NONE);
	/* The next communicator begins with all. */
	CHECK(host_finalize(guest->host, guest->context) == NCCL_SUCCESS,
	      "finalize never fails");
	view_close(&guest->view);
	guest->context = init_comm(guest->host, "next", GUEST_RANK);
	view_open(&guest->view, 0);
	expect(guest, "Send", 2, 0);
}

/* Records of children are left out, and the ring overwrites what nobody reads;
 * both are counted. */
static void play_lost(void *argument)
{
	struct ncs_record found;
	struct guest guest;
	uint64_t last = 0;

	(void)argument;
	guest_open(&guest, LAST_API);
	read_all_records(&guest);
	for (unsigned i = 0; i < 100000; i++) {
		void *transfer = start_p2p(&guest, "Send", 2, 1);

		stop(&guest, transfer);
		stop(&guest, start_proxy_op(&guest, transfer, 0, true, 2, 1));
	}
	while (next_record(&guest, &found))
		if (found.event == NCS_EVENT_P2P)
			last = found.number;
	CHECK_EQUAL(last, 99999, "all were counted");
	guest_close(&guest);
}

TEST(lost_records_leave_numbers_right)
{
	setenv("NCCLSTAT_SAMPLE", "64", 1);
	scenario_play(play_lost, NULL);
	unsetenv("NCCLSTAT_SAMPLE");
}

GUEST_SCENARIO(transfer_without_a_place_is_counted, LAST_API)
{
	int peers = 4 * (int)NCS_TRANSFER_PLACES;

	for (int peer = 0; peer < peers; peer++)
		stop(guest, start_p2p(guest, "Send", peer, 1));
	view_take(&guest->view);
	CHECK(guest->view.now.losses[NCS_LOSS_TABLE_FULL] > (unsigned)peers / 2,
	      "each that has no number is counted");
}
