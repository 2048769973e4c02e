/* SPDX-License-Identifier: Apache-2.0 */
/* fluid_model: see fluid_model.h. Internal units are packets and seconds. */
#include "analysis/fluid_model.h"

#include <assert.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <stdlib.h>

#define STEP        1e-6 /* of the solution */
#define DIMENSIONS  4
#define MARKED_MOST 0.999999 /* all are marked: the logarithm of 1 - p stays finite */

enum { QUEUE, RATE, TARGET, ALPHA }; /* DCQCN's state */
enum { GRADIENT = TARGET };          /* third state variable of TIMELY, which has no fourth */

/* History of the first two state variables at every STEP. The feedback depends on no other earlier
 * state. */
struct history {
	double (*states)[2];
	size_t count, capacity;
};

struct solver {
	const void *model;
	const struct fluid_port *port;
	double capacity; /* packets a second */
	struct history history;
};

static double bytes_to_packets(const struct solver *solver, double bytes)
{
	return bytes / solver->port->packet_bytes;
}

static double bps_to_packets(const struct solver *solver, double bps)
{
	return bps / 8 / solver->port->packet_bytes;
}

static void remember(struct history *history, const double state[])
{
	if (history->count == history->capacity) {
		history->capacity = history->capacity ? 2 * history->capacity : 4096;
		history->states =
			realloc(history->states, history->capacity * sizeof(*history->states));
		assert(history->states);
	}
	history->states[history->count][QUEUE] = state[QUEUE];
	history->states[history->count++][RATE] = state[RATE];
}

/* Returns the state at an earlier time, interpolated between two steps. Before the first step it is
 * the initial state. */
static double look_back(const struct history *history, double time, int which)
{
	double place = time / STEP;
	size_t last = history->count - 1;

	if (place <= 0)
		return history->states[0][which];
	if (place >= (double)last)
		return history->states[last][which];
	size_t index = (size_t)place;
	double share = place - (double)index;

	return history->states[index][which] * (1 - share) +
	       history->states[index + 1][which] * share;
}

static double queue_change(const struct solver *solver, const double state[])
{
	double change = solver->port->flows * state[RATE] - solver->capacity;

	return state[QUEUE] <= 0 && change < 0 ? 0 : change;
}

/* ---- DCQCN ---- */

static double marked_share(const struct solver *solver, double queue)
{
	const struct fluid_dcqcn *model = solver->model;
	double kmin = bytes_to_packets(solver, model->kmin_bytes);
	double kmax = bytes_to_packets(solver, model->kmax_bytes);

	if (queue <= kmin)
		return 0;
	if (queue > kmax)
		return MARKED_MOST;
	return (queue - kmin) / (kmax - kmin) * model->pmax;
}

/* Returns p / ((1 - p)^-n - 1), which is 1 / n without marks: the frequency of n unmarked packets
 * in a row, per packet. */
static double rises_per_packet(double marked, double packets)
{
	if (marked * packets < 1e-9)
		return 1 / packets;
	return marked / expm1(-packets * log1p(-marked));
}

/* Returns the rate of the flow at the time at which the feedback that arrives now left the
 * queue. */
static double marked_rate(const struct solver *solver, double then)
{
	const struct fluid_dcqcn *model = solver->model;
	double rate = look_back(&solver->history, then, RATE);
	double share = solver->capacity / solver->port->flows;

	if (model->marks == FLUID_MARKS_SENT)
		return rate;
	return look_back(&solver->history, then, QUEUE) > 0 ? share : fmin(rate, share);
}

/* Calculates equations 5 to 8 of the paper. */
static int dcqcn_change(double time, const double state[], double change[], void *context)
{
	const struct solver *solver = context;
	const struct fluid_dcqcn *model = solver->model;
	double then = time - solver->port->delay;
	double marked = marked_share(solver, look_back(&solver->history, then, QUEUE));
	double rate = marked_rate(solver, then);
	double none = log1p(-marked); /* of the chance that a packet is not marked */
	double cut = -expm1(model->cnp_interval * rate * none) / model->cnp_interval;
	double bytes = bytes_to_packets(solver, model->byte_counter_bytes);
	double timer = model->timer * rate;
	double by_bytes = rises_per_packet(marked, bytes),
	       by_timer = rises_per_packet(marked, timer);
	double increase = bps_to_packets(solver, model->increase_bps);
	double gap = state[TARGET] - state[RATE];

	change[QUEUE] = queue_change(solver, state);
	change[RATE] =
		-state[RATE] * state[ALPHA] / 2 * cut + gap / 2 * rate * (by_bytes + by_timer);
	change[TARGET] = -gap * cut + increase * rate *
					      (exp(model->stages * bytes * none) * by_bytes +
					       exp(model->stages * timer * none) * by_timer);
	if (state[TARGET] >= bps_to_packets(solver, solver->port->start_bps))
		change[TARGET] = fmin(change[TARGET], 0); /* the sender's line */
	change[ALPHA] = model->gain / model->alpha_interval *
			(-expm1(model->alpha_interval * rate * none) - state[ALPHA]);
	return GSL_SUCCESS;
}

/* ---- TIMELY ---- */

/* Returns the change of the rate by an update between the two thresholds. */
static double gradient_move(const struct fluid_timely *model, double increase, double rate,
			    double gradient, double queue, double low)
{
	double weight = gradient <= -0.25 ? 0 : gradient >= 0.25 ? 1 : 2 * gradient + 0.5;

	if (model->patched)
		return (1 - weight) * increase - weight * model->beta * rate * (queue - low) / low;
	return gradient <= 0 ? increase : -gradient * model->beta * rate;
}

/* Calculates equations 20 to 24 of the paper, and for patched TIMELY equations 28 to 30. */
static int timely_change(double time, const double state[], double change[], void *context)
{
	const struct solver *solver = context;
	const struct fluid_timely *model = solver->model;
	double segment = bytes_to_packets(solver, model->segment_bytes);
	double increase = bps_to_packets(solver, model->increase_bps);
	double between = fmax(segment / state[RATE], model->rtt_min); /* two updates */
	double then = time - (state[QUEUE] + 1) / solver->capacity - solver->port->delay;
	double queue = look_back(&solver->history, then, QUEUE);
	double before = look_back(&solver->history, then - between, QUEUE);
	double low = solver->capacity * model->rtt_low, high = solver->capacity * model->rtt_high;
	double move;

	if (queue < low)
		move = increase;
	else if (queue > high)
		move = -model->beta * (1 - high / queue) * state[RATE];
	else
		move = gradient_move(model, increase, state[RATE], state[GRADIENT], queue, low);
	change[QUEUE] = queue_change(solver, state);
	change[RATE] = move / between;
	change[GRADIENT] =
		model->alpha / between *
		((queue - before) / (solver->capacity * model->rtt_min) - state[GRADIENT]);
	change[ALPHA] = 0;
	return GSL_SUCCESS;
}

/* ---- both ---- */

static size_t solve(struct solver *solver, int (*change)(double, const double[], double[], void *),
		    double state[], double step, double until, struct fluid_point **points)
{
	gsl_odeiv2_system system = {change, NULL, DIMENSIONS, solver};
	gsl_odeiv2_step *stepper = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rk4, DIMENSIONS);
	size_t steps = (size_t)(until / STEP + 0.5), every = (size_t)(step / STEP + 0.5), count = 0;
	double errors[DIMENSIONS];

	every += every == 0;
	*points = malloc((steps / every + 2) * sizeof(**points));
	assert(stepper && *points);
	for (size_t i = 0; i <= steps; i++) {
		if (i % every == 0)
			(*points)[count++] = (struct fluid_point){
				(double)i * STEP, state[QUEUE] * solver->port->packet_bytes,
				state[RATE] * 8 * solver->port->packet_bytes};
		remember(&solver->history, state);
		gsl_odeiv2_step_apply(stepper, (double)i * STEP, STEP, state, errors, NULL, NULL,
				      &system);
		state[QUEUE] = fmax(state[QUEUE], 0);
		state[RATE] = fmin(fmax(state[RATE], solver->capacity * 1e-5), solver->capacity);
	}
	gsl_odeiv2_step_free(stepper);
	free(solver->history.states);
	return count;
}

size_t fluid_model_dcqcn(const struct fluid_dcqcn *model, double step, double until,
			 struct fluid_point **points)
{
	struct solver solver = {.model = model, .port = &model->port};
	double start = bps_to_packets(&solver, model->port.start_bps);
	double state[DIMENSIONS] = {[RATE] = start, [TARGET] = start, [ALPHA] = 1};

	solver.capacity = bps_to_packets(&solver, model->port.rate_bps);
	return solve(&solver, dcqcn_change, state, step, until, points);
}

size_t fluid_model_timely(const struct fluid_timely *model, double step, double until,
			  struct fluid_point **points)
{
	struct solver solver = {.model = model, .port = &model->port};
	double state[DIMENSIONS] = {[RATE] = bps_to_packets(&solver, model->port.start_bps)};

	solver.capacity = bps_to_packets(&solver, model->port.rate_bps);
	return solve(&solver, timely_change, state, step, until, points);
}

double fluid_model_queue_mean(const struct fluid_point *points, size_t count, double from)
{
	double sum = 0;
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		if (points[i].time < from)
			continue;
		sum += points[i].queue_bytes;
		taken++;
	}
	return taken ? sum / (double)taken : (double)NAN;
}
