/* SPDX-License-Identifier: MIT */
/* Readings of a GPU's clock; see gpu_readings.h. */
#include "analysis/records/gpu_readings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "shm/array.h"

/* The largest drift of a GPU's clock from its host's, in ns per ns. */
#define DRIFT_MAX 1e-3

/* The largest drift that is assumed if only one reading is known. */
#define DRIFT_USUAL 1e-4

/* Bounds may be this much older than the reading that reports them, in ns. */
#define BEFORE_NS 1e9

/* Readings that are closer together than this, in ns, say too little about the
 * drift. */
#define APART_NS UINT64_C(1000000000)

/* Returns the drift of the GPU's clock between two readings, in ns per ns. */
static double drift_of(const struct ncs_gpu_reading *a,
		       const struct ncs_gpu_reading *b)
{
	double host = (double)(int64_t)(b->host_ns - a->host_ns);
	double gpu = (double)(int64_t)(b->gpu_ns - a->gpu_ns);

	return (gpu - host) / host;
}

static void drop_every_second(struct ncs_gpu_readings *readings)
{
	size_t kept = 0;

	for (size_t i = 0; i < readings->count; i += 2)
		readings->readings[kept++] = readings->readings[i];
	readings->count = kept;
}

static bool has_jumped(const struct ncs_gpu_reading *last,
		       const struct ncs_gpu_reading *reading)
{
	double apart = (double)(int64_t)(reading->gpu_ns - last->gpu_ns -
					 (reading->host_ns - last->host_ns));
	double since = (double)(reading->host_ns - last->host_ns);

	return fabs(apart) > DRIFT_MAX * (since + BEFORE_NS) +
				     (double)last->error_ns +
				     (double)reading->error_ns;
}

int ncs_gpu_readings_add(struct ncs_gpu_readings *readings,
			 const struct ncs_gpu_clock_view *clock)
{
	struct ncs_gpu_reading reading = {
		.gpu_ns = clock->told_ns + (uint64_t)clock->offset_ns,
		.host_ns = clock->told_ns,
		.error_ns = clock->error_ns + clock->quantum_ns,
	};

	if (!clock->known)
		return 0;
	if (readings->count > 0) {
		const struct ncs_gpu_reading *last =
			&readings->readings[readings->count - 1];

		if (reading.host_ns <= last->host_ns)
			return 0;
		if (has_jumped(last, &reading))
			readings->count = 0;
		else if ((int64_t)(reading.gpu_ns - last->gpu_ns) <= 0)
			return 0;
	}
	if (readings->count == NCS_GPU_READINGS_MAX)
		drop_every_second(readings);
	if (ncs_array_reserve(&readings->readings, &readings->capacity,
			      readings->count + 1, sizeof(reading)) != 0)
		return -ENOMEM;
	readings->readings[readings->count++] = reading;
	return 0;
}

void ncs_gpu_readings_release(struct ncs_gpu_readings *readings)
{
	free(readings->readings);
	*readings = (struct ncs_gpu_readings){ 0 };
}

/* Finds the first reading after a GPU's time. */
static size_t find_after(const struct ncs_gpu_readings *readings,
			 uint64_t gpu_ns)
{
	size_t low = 0, high = readings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)(readings->readings[middle].gpu_ns - gpu_ns) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds two readings on either side of a place or next to it that are, if
 * possible, far enough apart to show the drift. */
static void find_two(const struct ncs_gpu_readings *readings, size_t place,
		     const struct ncs_gpu_reading **first,
		     const struct ncs_gpu_reading **second)
{
	size_t low = place > 0 ? place - 1 : 0;
	size_t high = place < readings->count ? place : readings->count - 1;
	const struct ncs_gpu_reading *all = readings->readings;

	while (all[high].host_ns - all[low].host_ns < APART_NS &&
	       (low > 0 || high + 1 < readings->count)) {
		if (low > 0)
			low--;
		if (high + 1 < readings->count)
			high++;
	}
	*first = &all[low];
	*second = &all[high];
}

bool ncs_gpu_readings_find(const struct ncs_gpu_readings *readings,
			   uint64_t gpu_ns, uint64_t *host_ns,
			   uint64_t *error_ns)
{
	const struct ncs_gpu_reading *near, *first, *second;
	double since, drift = 0, doubt = DRIFT_USUAL, error;
	size_t place;

	if (readings->count == 0)
		return false;
	place = find_after(readings, gpu_ns);
	near = &readings->readings[place > 0 ? place - 1 : 0];
	find_two(readings, place, &first, &second);
	if (first != second) {
		drift = drift_of(first, second);
		doubt = (double)(first->error_ns + second->error_ns) /
			(double)(second->host_ns - first->host_ns);
	}
	since = (double)(int64_t)(gpu_ns - near->gpu_ns);
	/* Between two readings the line lies between their bounds. */
	if (place > 0 && place < readings->count)
		error = fmax((double)first->error_ns, (double)second->error_ns);
	else
		error = (double)near->error_ns + doubt * fabs(since);
	error += fabs(drift) * BEFORE_NS;
	*host_ns =
		near->host_ns + (uint64_t)(int64_t)llround(since / (1 + drift));
	*error_ns = error < 1e18 ? (uint64_t)ceil(error) : UINT64_MAX;
	return true;
}
