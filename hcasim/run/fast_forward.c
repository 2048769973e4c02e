/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_forward: see fast_forward.h. Finds the period as Brent's algorithm does (BIT 20, 1980): the
 * state of one phase is kept, and replaced after 1, 2, 4 ... phases.
 *
 * With run.fast_forward: sampled, the phases from an earlier one on are a sample. `sampled` has the
 * state at its begin, of which only the sums are used.
 *
 * The first equal states may lie on both sides of a maximum that a statistic reached for the first
 * time. The sums are therefore taken from the second period.
 */
#include "hcasim/run/fast_forward.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "hcasim/run/phase_sample.h"
#include "sim/fold.h"
#include "sim/json.h"
#include "sim/parallel.h"
#include "traffic/workload/flow_repeat.h"

#define LOOKS_MAX 4096 /* states that are compared before the search ends */
#define SAMPLED_FROM \
	2u /* first phase of the first sample: caches and rates begin anew in phase 0 */

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
	/* of fast_forward: sampled */
	bool samples;
	double tolerance;
	struct moment sampled; /* begin of the sample */
	bool in_sample;        /* `sampled` has a state */
	struct phase_sample durations, fcts;
	sim_time last_begin;
	/* the result */
	uint32_t period; /* phases */
	uint32_t times;
	const struct moment *first; /* begin of the period */
	double error;               /* last estimate for a sample, of `estimated` phases; 0: none */
	uint32_t estimated;
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
	forward->first = &forward->kept;
	forward->samples = build->scenario->run.fast_forward == FAST_FORWARD_SAMPLED;
	forward->tolerance = build->scenario->run.fast_forward_error;
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
	fold_fini(&forward->sampled.fold);
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

/* Skips phases that are like those from `first` to now. */
static void skip(struct fast_forward *forward, const struct moment *first)
{
	uint32_t second = forward->now.phase;
	const char *reason;
	uint32_t times = flow_repeat_skip(forward->driver, first->phase, second,
					  forward->now.fold.at - first->fold.at, &reason);
	if (!times) {
		give_up(forward, reason);
		return;
	}
	end_search(forward);
	forward->first = first;
	forward->period = second - first->phase;
	forward->times = times;
}

/* ---- samples ---- */

/* Folds the complete state at the begin of a phase. Returns false if it gives up. */
static bool take_moment(struct fast_forward *forward, struct moment *moment, uint32_t phase)
{
	moment->phase = phase;
	moment->events = sim_events_fired(forward->sim);
	if (fold_take(&moment->fold, forward->sim, NULL))
		return true;
	give_up(forward, moment->fold.reason);
	return false;
}

static void begin_sample(struct fast_forward *forward, uint32_t phase)
{
	forward->in_sample = take_moment(forward, &forward->sampled, phase);
	forward->durations.count = forward->fcts.count = 0;
	forward->last_begin = sim_now(forward->sim);
}

/* Adds the phase before `phase` to the sample, and skips phases if the sample is good. */
static void sample(struct fast_forward *forward, uint32_t phase)
{
	sim_time now = sim_now(forward->sim);
	uint32_t left = flow_repeat_left(forward->driver, phase);
	if (!forward->in_sample) {
		if (phase >= SAMPLED_FROM)
			begin_sample(forward, phase);
		return;
	}
	phase_sample_add(&forward->durations, (double)(now - forward->last_begin));
	phase_sample_add(&forward->fcts, flow_repeat_mean_fct(forward->driver, phase - 1));
	forward->last_begin = now;
	double error = fmax(phase_sample_error(&forward->durations, left),
			    phase_sample_error(&forward->fcts, left));
	if (isfinite(error)) {
		forward->error = error;
		forward->estimated = forward->durations.count;
	}
	if (error <= forward->tolerance) {
		if (take_moment(forward, &forward->now, phase))
			skip(forward, &forward->sampled);
		return;
	}
	if (forward->estimated)
		snprintf(forward->reason, sizeof(forward->reason),
			 "the estimated error of a sample of %u phases is %.3f %%",
			 forward->estimated, forward->error * 100);
	if (forward->durations.count == PHASE_SAMPLE_MAX)
		begin_sample(forward, phase); /* the earlier phases may be of another kind */
}

/* ---- states ---- */

/* Compares the state at the start of a phase with the kept state, and may replace the kept
 * state. */
static void compare(struct fast_forward *forward, bool replaces)
{
	if (forward->keeps && fold_equal(&forward->kept.fold, &forward->now.fold)) {
		if (forward->confirmed) {
			skip(forward, &forward->kept);
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
		forward->in_sample = false;
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
	if (forward->samples && !forward->over && !forward->confirmed)
		sample(forward, phase);
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
	fold_repeat(&forward->first->fold, &forward->now.fold, forward->sim, forward->times);
	flow_repeat_end(forward->driver);
}

static bool is_sampled(const struct fast_forward *forward)
{
	return forward->first == &forward->sampled;
}

static uint64_t saved_events(const struct fast_forward *forward)
{
	return forward->times * (forward->now.events - forward->first->events);
}

static sim_time saved_time(const struct fast_forward *forward)
{
	return forward->times * (forward->now.fold.at - forward->first->fold.at);
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
	if (is_sampled(forward))
		fprintf(out, ", \"estimated_error\": %.6g", forward->error);
	fprintf(out, "}");
}

void fast_forward_print(const struct fast_forward *forward, FILE *out)
{
	if (!forward)
		return;
	if (!forward->times) {
		fprintf(out, "skipped    nothing: %s\n", forward->reason);
		return;
	}
	fprintf(out,
		"skipped    %" PRIu64 " phases from phase %u on, %.3f us, %" PRIu64 " events: ",
		(uint64_t)forward->times * forward->period, forward->now.phase,
		(double)saved_time(forward) / (double)US, saved_events(forward));
	if (is_sampled(forward))
		fprintf(out, "a sample of %u phases replaces them, estimated error %.3f %%\n",
			forward->period, forward->error * 100);
	else
		fprintf(out, "they repeat the %u phases before\n", forward->period);
}
