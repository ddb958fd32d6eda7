/* SPDX-License-Identifier: MIT */
/* Parses scenarios and computes transfers; see what_if.h. Contention is
 * ignored: a transfer is computed as if no others ran at the same time. */
#include "analysis/path/what_if.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/value_names.h"
#include "shm/array.h"

/* --- Specifications ------------------------------------------------------- */

/* No valid word but a range is as long. */
#define WORD_ROOM 64u

/* Parses a number that is not negative, up to `*end`. */
static bool begin_number(const char *text, double *value, char **end)
{
	if (text[0] != '.' && (text[0] < '0' || text[0] > '9'))
		return false;
	*value = strtod(text, end);
	return isfinite(*value);
}

static bool number(const char *text, double *value)
{
	char *end;

	return begin_number(text, value, &end) && *end == '\0';
}

static bool rank(const char *text, int32_t *value)
{
	double parsed;

	if (!number(text, &parsed) || parsed > INT32_MAX ||
	    parsed != floor(parsed))
		return false;
	*value = (int32_t)parsed;
	return true;
}

static bool pair(char *text, int32_t peers[2])
{
	char *dash = strchr(text, '-');

	if (!dash)
		return false;
	*dash = '\0';
	return rank(text, &peers[0]) && rank(dash + 1, &peers[1]) &&
	       peers[0] != peers[1];
}

static bool algorithm(const char *text, unsigned *value)
{
	for (*value = NCS_ALGORITHM_UNKNOWN + 1; *value < NCS_ALGORITHM_COUNT;
	     ++*value)
		if (strcasecmp(ncs_algorithm_name(*value), text) == 0)
			return true;
	return false;
}

static bool latency(const char *text, double *step_ns)
{
	double us;
	char *end;

	if (text[0] != '-' || !begin_number(text + 1, &us, &end) ||
	    strcmp(end, "us") != 0)
		return false;
	*step_ns = us * 1e3;
	return true;
}

static bool parse_value(struct ncs_scenario *scenario, const char *value)
{
	double times;

	switch (scenario->kind) {
	case NCS_WHAT_IF_NET:
		if (value[0] != 'x' || !number(value + 1, &times) || times <= 0)
			return false;
		scenario->factor = 1 / times;
		return true;
	case NCS_WHAT_IF_LATENCY:
		return latency(value, &scenario->step_ns);
	case NCS_WHAT_IF_WITHOUT:
		return strcmp(value, "stragglers") == 0 ||
		       rank(value, &scenario->rank);
	case NCS_WHAT_IF_ALGORITHM:
		return algorithm(value, &scenario->algorithm);
	case NCS_WHAT_IF_OVERLAP:
		return value[0] == '\0';
	default:
		return number(value, &scenario->factor);
	}
}

/* Returns whether a change may be of a rank or a range alone. */
static bool takes_rank(const struct ncs_scenario *scenario)
{
	return scenario->kind == NCS_WHAT_IF_STREAM ||
	       scenario->kind == NCS_WHAT_IF_HOST ||
	       scenario->kind == NCS_WHAT_IF_LAUNCH;
}

/* Parses where a change is, but for a range. Changes the text. */
static bool parse_where(struct ncs_scenario *scenario, char *where)
{
	if (scenario->kind == NCS_WHAT_IF_NET) {
		if (strcmp(where, "inter-node") != 0)
			return pair(where, scenario->peers);
		scenario->inter_node = true;
		return true;
	}
	return takes_rank(scenario) && strncmp(where, "rank=", 5) == 0 &&
	       rank(where + 5, &scenario->rank);
}

static const struct {
	const char *name, *value, *where;
} kinds[] = { { "", "", "" },
#define X(ID, name, value, where, help) { name, value, where },
	      NCS_WHAT_IFS(X)
#undef X
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool fail(const struct ncs_scenario *scenario, char *error, size_t size)
{
	unsigned kind = scenario->kind;

	snprintf(error, size, "'%s' is not %s%s%s%s%s%s", scenario->text,
		 kinds[kind].name, kinds[kind].value[0] ? ":" : "",
		 kinds[kind].value, kinds[kind].where[0] ? "[@" : "",
		 kinds[kind].where, kinds[kind].where[0] ? "]" : "");
	return false;
}

static bool fail_kind(const char *text, char *error, size_t size)
{
	int length = snprintf(error, size, "'%s' is not one of", text);

	for (unsigned i = 1; i < KINDS; i++)
		if (length >= 0 && (size_t)length < size)
			length += snprintf(error + length,
					   size - (size_t)length, "%s %s",
					   i > 1 ? "," : "", kinds[i].name);
	return false;
}

/* Copies a word of a specification, up to one of some characters; one that is too long
 * becomes one that is not valid. Returns where it ends. */
static const char *take_word(const char *text, const char *until,
			     char word[WORD_ROOM])
{
	size_t length = strcspn(text, until);

	snprintf(word, WORD_ROOM, "%.*s", (int)length, text);
	if (length >= WORD_ROOM)
		word[0] = '?';
	return text + length;
}

bool ncs_scenario_parse(struct ncs_scenario *scenario, const char *text,
			char *error, size_t error_size)
{
	char word[WORD_ROOM];
	const char *at = take_word(text, ":@", word);

	*scenario = (struct ncs_scenario){ .kind = NCS_WHAT_IF_NOTHING,
					   .factor = 1,
					   .rank = -1,
					   .peers = { -1, -1 },
					   .text = text };
	for (unsigned i = 1; i < KINDS; i++)
		if (strcmp(word, kinds[i].name) == 0)
			scenario->kind = (enum ncs_what_if)i;
	if (scenario->kind == NCS_WHAT_IF_NOTHING)
		return fail_kind(text, error, error_size);
	word[0] = '\0';
	if (*at == ':')
		at = take_word(at + 1, "@", word);
	if (!parse_value(scenario, word))
		return fail(scenario, error, error_size);
	while (*at == '@') {
		/* A path may contain any character, so it must come last. */
		if (takes_rank(scenario) && strncmp(at, "@range=", 7) == 0 &&
		    at[7] != '\0') {
			scenario->range = at + 7;
			break;
		}
		at = take_word(at + 1, "@", word);
		if (!parse_where(scenario, word))
			return fail(scenario, error, error_size);
	}
	return true;
}

/* --- Times of transfers by size ------------------------------------------- */

enum sum { SUM_W, SUM_X, SUM_Y, SUM_XX, SUM_XY };

void ncs_fits_release(struct ncs_fits *fits)
{
	free(fits->fits);
	*fits = (struct ncs_fits){ 0 };
}

static bool is_of(const struct ncs_fit *fit, const struct ncs_joined *joined,
		  unsigned with_algorithm, unsigned with_protocol)
{
	return fit->comm_id == joined->comm_id &&
	       fit->function == joined->function &&
	       fit->algorithm == with_algorithm &&
	       fit->protocol == with_protocol;
}

struct ncs_fit *ncs_fits_find(struct ncs_fits *fits,
			      const struct ncs_joined *joined)
{
	const struct ncs_part *part = &joined->parts[0];

	for (size_t i = 0; i < fits->count; i++) {
		size_t place = (fits->found + i) % fits->count;

		if (is_of(&fits->fits[place], joined, part->algorithm,
			  part->protocol)) {
			fits->found = place;
			return &fits->fits[place];
		}
	}
	return NULL;
}

/* Lays the line through all operations so far. */
static void solve(struct ncs_fit *fit)
{
	const double *sums = fit->sums;
	double mean_x = sums[SUM_X] / sums[SUM_W];
	double mean_y = sums[SUM_Y] / sums[SUM_W];
	double xx = sums[SUM_XX] / sums[SUM_W] - mean_x * mean_x;
	double xy = sums[SUM_XY] / sums[SUM_W] - mean_x * mean_y;

	fit->alpha_ns = 0;
	fit->beta_ns = -1;
	if (fit->most_bytes == fit->least_bytes)
		return;
	fit->beta_ns = xy > 0 && xx > 0 ? xy / xx : 0;
	fit->alpha_ns = mean_y - fit->beta_ns * mean_x;
	if (fit->alpha_ns >= 0)
		return;
	/* A negative time of size 0 makes no sense: lay the line through the
	 * origin. */
	fit->alpha_ns = 0;
	fit->beta_ns = sums[SUM_XY] / sums[SUM_XX];
}

int ncs_fits_add(struct ncs_fits *fits, const struct ncs_joined *joined,
		 double moving_ns)
{
	const struct ncs_part *part = &joined->parts[0];
	struct ncs_fit *fit = ncs_fits_find(fits, joined);
	double x = (double)part->bytes, y = moving_ns, weight;

	if (!(y >= 1))
		return 0;
	if (!fit) {
		if (ncs_array_reserve(&fits->fits, &fits->capacity,
				      fits->count + 1,
				      sizeof(*fits->fits)) != 0)
			return -ENOMEM;
		fit = &fits->fits[fits->count++];
		*fit = (struct ncs_fit){
			.comm_id = joined->comm_id,
			.function = joined->function,
			.algorithm = part->algorithm,
			.protocol = part->protocol,
			.least_bytes = part->bytes,
			.most_bytes = part->bytes,
		};
	}
	weight = 1 / (y * y);
	if (part->bytes < fit->least_bytes)
		fit->least_bytes = part->bytes;
	if (part->bytes > fit->most_bytes)
		fit->most_bytes = part->bytes;
	fit->sums[SUM_W] += weight;
	fit->sums[SUM_X] += weight * x;
	fit->sums[SUM_Y] += weight * y;
	fit->sums[SUM_XX] += weight * x * x;
	fit->sums[SUM_XY] += weight * x * y;
	solve(fit);
	return 0;
}

/* --- Changed transfers ---------------------------------------------------- */

/* Converts a rank of the communicator to the rank of the job; -1 if it has no
 * part in the operation. */
static int32_t job_rank(const struct ncs_transfer *transfer, int32_t rank)
{
	const struct ncs_joined *joined = transfer->joined;
	size_t low = 0, high = joined->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (joined->parts[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < joined->count && joined->parts[low].rank == rank ?
		       transfer->ranks[low] :
		       -1;
}

static bool has_both(const struct ncs_transfer *transfer,
		     const int32_t peers[2])
{
	bool has[2] = { false, false };

	for (size_t i = 0; i < transfer->joined->count; i++)
		for (unsigned k = 0; k < 2; k++)
			has[k] |= transfer->ranks[i] == peers[k];
	return has[0] && has[1];
}

/* Returns the factor of the transfer's time if the link between two ranks were
 * faster. An algorithm goes at the pace of its slowest link, which is the one
 * whose steps are on the wire for longest. */
static double pace_with(const struct ncs_scenario *scenario,
			const struct ncs_transfer *transfer)
{
	const struct ncs_joined *joined = transfer->joined;
	const int32_t *peers = scenario->peers;
	double others_ns = 0, theirs_ns = 0, slowest_ns;

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part_channel *wire = &joined->parts[i].wire;
		int32_t from = transfer->ranks[i], to;
		double ns;

		if (wire->steps == 0)
			continue;
		to = job_rank(transfer, wire->peer);
		ns = (double)wire->wait_ns[NCS_CHANNEL_SEND_WAIT] /
		     (double)wire->steps;
		if ((from == peers[0] && to == peers[1]) ||
		    (from == peers[1] && to == peers[0]))
			theirs_ns = fmax(theirs_ns, ns);
		else
			others_ns = fmax(others_ns, ns);
	}
	slowest_ns = fmax(theirs_ns, others_ns);
	if (slowest_ns == 0)
		return 1;
	return fmax(theirs_ns * scenario->factor, others_ns) / slowest_ns;
}

static struct ncs_transfer_edit
with_network(const struct ncs_scenario *scenario,
	     const struct ncs_transfer *transfer, bool *unknown)
{
	struct ncs_transfer_edit edit = NCS_TRANSFER_AS_IT_IS;
	bool is_pair = scenario->peers[0] >= 0;

	if ((scenario->inter_node && !transfer->spans_hosts) ||
	    (is_pair && !has_both(transfer, scenario->peers)))
		return edit;
	edit.factor = scenario->factor;
	if (is_pair && transfer->joined->function != NCS_FUNCTION_SEND_RECV)
		edit.factor = pace_with(scenario, transfer);
	if (edit.factor == 1)
		return edit;
	if (!transfer->fit || transfer->fit->beta_ns < 0) {
		*unknown = true;
		return NCS_TRANSFER_AS_IT_IS;
	}
	edit.alpha_ns = transfer->fit->alpha_ns;
	return edit;
}

/* Returns the number of network steps that follow one another; 0 if it is not
 * known. */
static double steps_of(const struct ncs_joined *joined)
{
	double ranks = joined->parts[0].nranks;
	double times = joined->function == NCS_FUNCTION_ALL_REDUCE ? 2 : 1;

	if (joined->function == NCS_FUNCTION_SEND_RECV)
		return 1;
	if (ranks < 2)
		return 0;
	switch (joined->parts[0].algorithm) {
	case NCS_ALGORITHM_RING:
		return times * (ranks - 1);
	case NCS_ALGORITHM_TREE:
		return times * ceil(log2(ranks));
	default:
		return 0;
	}
}

static struct ncs_transfer_edit
with_latency(const struct ncs_scenario *scenario,
	     const struct ncs_transfer *transfer, bool *unknown)
{
	struct ncs_transfer_edit edit = NCS_TRANSFER_AS_IT_IS;

	edit.less_ns = steps_of(transfer->joined) * scenario->step_ns;
	*unknown |= edit.less_ns == 0;
	/* The time of the bytes remains. */
	if (transfer->fit && transfer->fit->beta_ns >= 0)
		edit.least_ns = transfer->fit->beta_ns *
				(double)transfer->joined->parts[0].bytes;
	return edit;
}

/* Returns the time that a line has for a size within its range. */
static double fit_ns(const struct ncs_fit *fit, uint64_t bytes)
{
	/* All operations have the same size, which is this one. */
	if (fit->beta_ns < 0)
		return fit->sums[SUM_Y] / fit->sums[SUM_W];
	return fit->alpha_ns + fit->beta_ns * (double)bytes;
}

static struct ncs_transfer_edit
with_algorithm(const struct ncs_scenario *scenario,
	       const struct ncs_transfer *transfer, bool *unknown)
{
	const struct ncs_part *part = &transfer->joined->parts[0];
	struct ncs_transfer_edit edit = NCS_TRANSFER_AS_IT_IS;
	double best_ns = INFINITY, own_ns = 0;

	if (transfer->joined->function == NCS_FUNCTION_SEND_RECV ||
	    part->algorithm == scenario->algorithm)
		return edit;
	/* NCCL would choose the fastest protocol. */
	for (size_t i = 0; i < transfer->fits->count; i++) {
		const struct ncs_fit *fit = &transfer->fits->fits[i];

		if (is_of(fit, transfer->joined, scenario->algorithm,
			  fit->protocol) &&
		    part->bytes >= fit->least_bytes &&
		    part->bytes <= fit->most_bytes)
			best_ns = fmin(best_ns, fit_ns(fit, part->bytes));
	}
	if (!isinf(best_ns))
		own_ns = ncs_joined_moving_ns(transfer->joined);
	if (own_ns == 0)
		*unknown = true;
	else
		edit.factor = best_ns / own_ns;
	return edit;
}

struct ncs_transfer_edit
ncs_scenario_transfer(const struct ncs_scenario *scenario,
		      const struct ncs_transfer *transfer, bool *unknown)
{
	switch (scenario->kind) {
	case NCS_WHAT_IF_NET:
		return with_network(scenario, transfer, unknown);
	case NCS_WHAT_IF_LATENCY:
		return with_latency(scenario, transfer, unknown);
	case NCS_WHAT_IF_ALGORITHM:
		return with_algorithm(scenario, transfer, unknown);
	default:
		return NCS_TRANSFER_AS_IT_IS;
	}
}
