/* SPDX-License-Identifier: MIT */
/* The hosts of a recording and their clocks: finds the shift of each
 * CLOCK_MONOTONIC to that of the first host.
 *
 * The shift is computed from CLOCK_REALTIME, until align.c finds a better one;
 * its error is the sum of the errors that NTP reports on the two hosts. Time
 * namespaces of one machine share CLOCK_REALTIME.
 */
#include "record/read/recording_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clocks/alignment.h"

/* --- Common time --------------------------------------------------------- */

struct ncs_clock_move
ncs_recording_move_of(const struct ncs_recording *recording, size_t host)
{
	const struct ncs_recorded_host *of = &recording->hosts[host].facts;

	return (struct ncs_clock_move){ of->offset_ns, of->drift,
					of->first_ns };
}

uint64_t ncs_recording_common_ns(const struct ncs_recording *recording,
				 size_t host, uint64_t ns)
{
	const struct ncs_clock_move move =
		ncs_recording_move_of(recording, host);
	int64_t shift_ns = ncs_clock_move_by(&move, ns);

	if (shift_ns < 0 && ns < -(uint64_t)shift_ns)
		return 0;
	if (shift_ns > 0 && ns > UINT64_MAX - (uint64_t)shift_ns)
		return UINT64_MAX;
	return ns + (uint64_t)shift_ns;
}

void ncs_recording_move_clock(const struct ncs_recording *recording,
			      struct ncs_rank_entry *rank)
{
	const struct ncs_clock_move move =
		ncs_recording_move_of(recording, rank->facts.host);

	rank->moved = rank->recorded;
	ncs_clock_move(&rank->moved.clock, &move);
}

/* --- Readings ------------------------------------------------------------ */

static uint64_t add_errors(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool is_better(const struct ncs_host_entry *host,
		      const struct ncs_host_entry *than)
{
	if (than->read_monotonic_ns == 0)
		return true;
	if (host->realtime_error_ns != than->realtime_error_ns)
		return host->realtime_error_ns < than->realtime_error_ns;
	return host->reading_error_ns < than->reading_error_ns;
}

static void take_reading(struct ncs_host_entry *host,
			 const struct ncs_clock_reading *reading)
{
	uint64_t width_ns = reading->after_ns - reading->before_ns;
	struct ncs_host_entry candidate = {
		.read_monotonic_ns = reading->before_ns + width_ns / 2,
		.reading_error_ns = width_ns / 2 + 1,
		.realtime_error_ns = reading->synchronized != 0 ?
					     reading->maximum_error_ns :
					     UINT64_MAX,
	};

	if (reading->after_ns < reading->before_ns ||
	    !is_better(&candidate, host))
		return;
	host->read_monotonic_ns = candidate.read_monotonic_ns;
	host->reading_error_ns = candidate.reading_error_ns;
	host->realtime_error_ns = candidate.realtime_error_ns;
	host->facts.realtime_offset_ns =
		(int64_t)(reading->realtime_ns - candidate.read_monotonic_ns);
}

static bool read_clock(struct ncs_recorded_file *file,
		       struct ncs_chunk_place *place,
		       struct ncs_clock_reading *reading)
{
	struct ncs_payload payload;

	if (place->type != NCS_CHUNK_CLOCK)
		return false;
	payload = ncs_recorded_file_payload(file, place, NULL);
	if (!payload.bytes || payload.size < sizeof(*reading))
		return false;
	memcpy(reading, payload.bytes, sizeof(*reading));
	return true;
}

int ncs_recording_tell_clock(struct ncs_recording *recording, size_t host,
			     struct ncs_alignment *alignment)
{
	const struct ncs_clock_move move =
		ncs_recording_move_of(recording, host);
	struct ncs_clock_reading reading;
	int error = 0;

	for (size_t i = 0; i < recording->file_count; i++) {
		struct ncs_recorded_file *file = &recording->files[i];

		if (recording->series[recording->file_series[i]].host != host)
			continue;
		for (size_t k = 0; k < file->count && !error; k++) {
			uint64_t before_ns;

			if (!read_clock(file, &file->places[k], &reading))
				continue;
			before_ns =
				ncs_clock_moved_ns(&move, reading.before_ns);
			error = ncs_alignment_add_realtime(
				alignment, host, before_ns, reading.realtime_ns,
				before_ns +
					(reading.after_ns - reading.before_ns),
				reading.synchronized ?
					reading.maximum_error_ns :
					UINT64_MAX);
		}
	}
	return error;
}

/* Takes the best clock reading of a file. If there is none, the file's head
 * serves as a reading whose error is not known. */
static void read_clocks(struct ncs_host_entry *host,
			struct ncs_recorded_file *file)
{
	struct ncs_clock_reading reading;

	for (size_t i = 0; i < file->count; i++)
		if (read_clock(file, &file->places[i], &reading))
			take_reading(host, &reading);
	if (host->read_monotonic_ns != 0)
		return;
	host->read_monotonic_ns = file->head.begun_monotonic_ns;
	host->reading_error_ns = UINT64_MAX;
	host->realtime_error_ns = UINT64_MAX;
	host->facts.realtime_offset_ns =
		(int64_t)(file->head.begun_realtime_ns -
			  file->head.begun_monotonic_ns);
}

/* --- Hosts --------------------------------------------------------------- */

static bool is_of(const struct ncs_host_entry *host,
		  const struct ncs_file_head *head)
{
	return strcmp(host->boot_id, head->boot_id) == 0 &&
	       host->facts.time_namespace == head->time_namespace &&
	       (head->boot_id[0] || strcmp(host->name, head->host) == 0);
}

static int add_host(struct ncs_recording *recording,
		    const struct ncs_file_head *head)
{
	struct ncs_host_entry *host = &recording->hosts[recording->host_count];

	host->name = strdup(head->host);
	host->boot_id = strdup(head->boot_id);
	host->facts.name = host->name;
	host->facts.boot_id = host->boot_id;
	host->facts.time_namespace = head->time_namespace;
	host->facts.first_ns = head->begun_monotonic_ns;
	recording->host_count++;
	return host->name && host->boot_id ? 0 : -ENOMEM;
}

static void move_host(struct ncs_host_entry *host,
		      const struct ncs_host_entry *first)
{
	bool same_machine = host->boot_id[0] &&
			    strcmp(host->boot_id, first->boot_id) == 0;

	if (host == first)
		return;
	host->facts.offset_ns =
		(int64_t)((uint64_t)host->facts.realtime_offset_ns -
			  (uint64_t)first->facts.realtime_offset_ns);
	host->facts.error_ns =
		add_errors(host->reading_error_ns, first->reading_error_ns);
	host->facts.is_by_realtime = !same_machine;
	if (!same_machine)
		host->facts.error_ns =
			add_errors(host->facts.error_ns,
				   add_errors(host->realtime_error_ns,
					      first->realtime_error_ns));
}

int ncs_recording_find_hosts(struct ncs_recording *recording)
{
	recording->hosts =
		calloc(recording->file_count, sizeof(*recording->hosts));
	if (!recording->hosts)
		return -ENOMEM;
	for (size_t i = 0; i < recording->file_count; i++) {
		struct ncs_recorded_file *file = &recording->files[i];
		struct ncs_file_series *series =
			&recording->series[recording->file_series[i]];
		size_t host = 0;
		int error = 0;

		while (host < recording->host_count &&
		       !is_of(&recording->hosts[host], &file->head))
			host++;
		if (host == recording->host_count)
			error = add_host(recording, &file->head);
		if (error)
			return error;
		series->host = host;
		read_clocks(&recording->hosts[host], file);
	}
	for (size_t i = 0; i < recording->host_count; i++)
		move_host(&recording->hosts[i], &recording->hosts[0]);
	return 0;
}
