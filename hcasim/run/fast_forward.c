/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_forward: see fast_forward.h. Finds the period as Brent's algorithm does (BIT 20, 1980): the
 * state of one phase is kept, and replaced after 1, 2, 4 ... phases.
 *
 * The first equal states may lie on both sides of a maximum that a statistic reached for the first
 * time. The sums are therefore taken from the second period.
 */
#include "hcasim/run/fast_forward.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/fold.h"
#include "sim/json.h"
#include "sim/parallel.h"
#include "traffic/workload/flow_repeat.h"

#define LOOKS_MAX 4096 /* states that are compared before the search ends */

struct moment { /* begin of a phase */
	struct fold fold;
	uint32_t phase;
	uint64_t events;
};

struct fast_forward {
	struct sim *sim;
	struct flow_driver *driver;
	struct packet_pool *pool;
	struct moment kept, now;
	bool keeps;     /* `kept` has a state */
	bool confirmed; /* it is the same as an earlier state */
	uint32_t left;  /* looks until it is replaced */
	uint32_t power; /* looks after which the next one is replaced */
	uint32_t looks;
	bool over;
	char reason[FOLD_REASON_BYTES]; /* nothing is skipped */
	/* the result */
	uint32_t period; /* phases */
	uint32_t times;
};

/* Returns the reason why no phase of the run can be skipped, or NULL. */
static const char *unfit(const struct build *build, bool steps)
{
	const struct scenario *scenario = build->scenario;
	const struct scenario_run *run = &scenario->run;
	if (steps)
		return "the run is advanced in steps";
	if (run->until || run->warm_up || run->measure_until)
		return "run.until, run.warm_up or run.measure_until is set";
	if (scenario->record.series)
		return "record.series is set";
	if (sim_lps(build->sim) > 1)
		return "the run has several threads";
	if (build->flows)
		return "fidelity: flow has no packets";
	if (build->load)
		return "an adapter has fidelity: detailed";
	return NULL;
}

static void end_search(struct fast_forward *forward)
{
	forward->over = true;
	flow_repeat_unwatch(forward->driver);
}

static void give_up(struct fast_forward *forward, const char *reason)
{
	end_search(forward);
	snprintf(forward->reason, sizeof(forward->reason), "%s", reason);
}

struct fast_forward *fast_forward_create(const struct build *build, struct flow_driver *driver,
					 bool steps)
{
	if (build->scenario->run.fast_forward == FAST_FORWARD_OFF)
		return NULL;
	struct fast_forward *forward = calloc(1, sizeof(*forward));
	if (!forward)
		abort();
	forward->sim = build->sim;
	forward->driver = driver;
	forward->pool = build->pool;
	forward->power = 1;
	const char *reason = unfit(build, steps);
	if (reason || !flow_repeat_watch(driver, build->sim, &reason))
		give_up(forward, reason);
	else
		snprintf(forward->reason, sizeof(forward->reason),
			 "no phase began in the state of another one");
	return forward;
}

void fast_forward_destroy(struct fast_forward *forward)
{
	if (!forward)
		return;
	fold_fini(&forward->kept.fold);
	fold_fini(&forward->now.fold);
	free(forward);
}

/* ---- the search ---- */

static void keep_now(struct fast_forward *forward)
{
	struct moment before = forward->kept;
	forward->kept = forward->now;
	forward->now = before;
	forward->keeps = true;
}

static void skip(struct fast_forward *forward)
{
	uint32_t first = forward->kept.phase, second = forward->now.phase;
	const char *reason;
	uint32_t times = flow_repeat_skip(forward->driver, first, second,
					  forward->now.fold.at - forward->kept.fold.at, &reason);
	if (!times) {
		give_up(forward, reason);
		return;
	}
	end_search(forward);
	forward->period = second - first;
	forward->times = times;
}

/* Compares the state at the start of a phase with the kept state, and may replace the kept
 * state. */
static void compare(struct fast_forward *forward, bool replaces)
{
	if (forward->keeps && fold_equal(&forward->kept.fold, &forward->now.fold)) {
		if (forward->confirmed) {
			skip(forward);
			return;
		}
		keep_now(forward);
		forward->confirmed = true;
		return;
	}
	if (forward->keeps)
		snprintf(forward->reason, sizeof(forward->reason),
			 "no phase began in the state of another one; %s differed last",
			 forward->now.fold.differs);
	if (replaces) {
		keep_now(forward);
		forward->left = forward->power;
		forward->power *= 2;
	}
}

/* Examines the state now, at the start of a phase. */
static void look(struct fast_forward *forward, uint32_t phase)
{
	if (packet_pool_in_use(forward->pool)) {
		snprintf(forward->reason, sizeof(forward->reason),
			 "packets were under way when the last phase began");
		return;
	}
	if (++forward->looks > LOOKS_MAX) {
		end_search(forward);
		return;
	}
	bool replaces = !forward->confirmed && forward->left-- == 0;
	if (!fold_take(&forward->now.fold, forward->sim, replaces ? NULL : &forward->kept.fold)) {
		give_up(forward, forward->now.fold.reason);
		return;
	}
	forward->now.phase = phase;
	forward->now.events = sim_events_fired(forward->sim);
	compare(forward, replaces);
}

void fast_forward_run(struct fast_forward *forward, sim_time until)
{
	while (forward && !forward->over && sim_now(forward->sim) < until) {
		uint32_t phase;
		sim_time next = flow_repeat_next(forward->driver, &phase);
		sim_run(forward->sim, next < until ? next : until);
		if (sim_now(forward->sim) == next) {
			look(forward, phase);
			flow_repeat_passed(forward->driver);
		}
	}
}

/* ---- the result ---- */

void fast_forward_end(struct fast_forward *forward)
{
	if (!forward || !forward->times)
		return;
	sim_drop(forward->sim); /* a run that ends early */
	fold_repeat(&forward->kept.fold, &forward->now.fold, forward->sim, forward->times);
	flow_repeat_end(forward->driver);
}

static uint64_t saved_events(const struct fast_forward *forward)
{
	return forward->times * (forward->now.events - forward->kept.events);
}

static sim_time saved_time(const struct fast_forward *forward)
{
	return forward->times * (forward->now.fold.at - forward->kept.fold.at);
}

void fast_forward_print_json(const struct fast_forward *forward, FILE *out)
{
	if (!forward)
		return;
	fprintf(out,
		",\n  \"fast_forward\": {\"phases\": %" PRIu64 ", \"period_phases\": %u, "
		"\"time_ps\": %" PRIu64 ", \"events\": %" PRIu64 ", \"first_phase\": %u, "
		"\"compared_bytes\": %zu, \"reason\": ",
		(uint64_t)forward->times * forward->period, forward->period, saved_time(forward),
		saved_events(forward), forward->times ? forward->now.phase : 0,
		forward->times ? forward->now.fold.count : 0);
	json_text(out, forward->times ? "" : forward->reason);
	fprintf(out, "}");
}

void fast_forward_print(const struct fast_forward *forward, FILE *out)
{
	if (!forward)
		return;
	if (forward->times)
		fprintf(out,
			"skipped    %" PRIu64 " phases from phase %u on, %.3f us, %" PRIu64
			" events: they repeat the %u phases before\n",
			(uint64_t)forward->times * forward->period, forward->now.phase,
			(double)saved_time(forward) / (double)US, saved_events(forward),
			forward->period);
	else
		fprintf(out, "skipped    nothing: %s\n", forward->reason);
}
