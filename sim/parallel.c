/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: see parallel.h. In each window a thread agrees with the others on the start of the
 * window. It takes in the items that other LPs left in the previous window, and fires its events.
 * Then it publishes the time of its next event, and waits for the other threads. If windows hold
 * fewer events than the barrier costs, the caller's thread fires the events of all LPs, in steps
 * that are longer than windows. In sequential mode the caller's thread fires all events and takes
 * in items at once.
 */
#include "sim/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/parallel_state.h"

#define PATIENCE 10000 /* accumulated gain or loss, in events, at which the mode changes */

unsigned lp_channel_leave(struct lp_channel *channel, sim_time at)
{
	struct lp *lp = channel->from->lp;
	unsigned window = lp->window;

	if (at < lp->left_at) {
		lp->left_at = at;
		/* The receiver may answer `delay` after that. Windows of several threads end
		 * earlier. */
		if (at + lp->parallel->delay < lp->sim->limit)
			lp->sim->limit = at + lp->parallel->delay;
	}
	if (!channel->announced[window]) {
		struct lp_channel **list = &lp->left[channel->to->lp_number][window];

		channel->announced[window] = true;
		channel->next[window] = *list;
		*list = channel;
	}
	return window;
}

unsigned lp_channel_window(const struct lp_channel *channel)
{
	return channel->from->lp->window;
}

static void take_from(struct lp *from, const struct lp *lp, unsigned window)
{
	struct lp_channel **list = &from->left[lp->sim->lp_number][window];

	while (*list) {
		struct lp_channel *channel = *list;

		*list = channel->next[window];
		channel->announced[window] = false;
		channel->take(channel, window);
	}
}

/* Takes in the items that all LPs left for this LP in the previous window. Their order does not
 * matter: each item goes to a different place. */
static void take_in(struct lp *lp, unsigned window)
{
	struct parallel *parallel = lp->parallel;

	for (unsigned i = 0; i < parallel->count; i++)
		take_from(&parallel->lps[i], lp, window);
}

static sim_time earliest(const struct parallel *parallel, unsigned window)
{
	sim_time at = SIM_NEVER;

	for (unsigned i = 0; i < parallel->count; i++)
		if (parallel->lps[i].next_at[window] < at)
			at = parallel->lps[i].next_at[window];
	return at;
}

static uint64_t longest_of(const struct parallel *parallel, unsigned window, uint64_t *events)
{
	uint64_t longest = 0;

	*events = 0;
	for (unsigned i = 0; i < parallel->count; i++) {
		uint64_t fired = parallel->lps[i].fired[window];

		*events += fired;
		longest = fired > longest ? fired : longest;
	}
	return longest;
}

/* Adds the time that threads gained in this window. The sum stays at or below 0. */
static void weigh(struct lp *lp)
{
	struct parallel *parallel = lp->parallel;
	uint64_t events, longest = longest_of(parallel, lp->window, &events);

	lp->gain += (int64_t)(events - longest) - SIM_WINDOW_WORTH;
	if (lp->gain > 0)
		lp->gain = 0;
	if (lp != &parallel->lps[0])
		return;
	if (parallel->pace.clock)
		parallel->slow[lp->window] = thread_pace_several(&parallel->pace, events);
	parallel->windows++;
	parallel->longest += longest;
}

/* Returns true if the number of threads has to change. */
static bool has_had_enough(const struct lp *lp)
{
	const struct parallel *parallel = lp->parallel;

	if (parallel->together)
		return lp->gain >= PATIENCE && (parallel->enough || !parallel->pace.clock);
	return lp->gain <= -PATIENCE || parallel->slow[lp->window ^ 1];
}

sim_time parallel_window_end(const struct parallel *parallel, sim_time start, sim_time end)
{
	if (start < end) /* next_at is only a lower bound */
		start = end;
	if (start >= parallel->until)
		return 0;
	return parallel->until - start > parallel->delay ? start + parallel->delay
							 : parallel->until;
}

/* Returns the end of the next window, or 0 if there is no event before `until`. */
static sim_time next_end(const struct parallel *parallel, unsigned over, sim_time end)
{
	return parallel_window_end(parallel, earliest(parallel, over), end);
}

void parallel_fire_until(struct lp *lp, sim_time end)
{
	unsigned window = lp->window ^ 1;

	lp->window = window;
	lp->left_at = SIM_NEVER;
	lp->fired[window] = lp->sim->fired;
	engine_run_native(lp->sim, end);
	lp->fired[window] = lp->sim->fired - lp->fired[window];
	assert(!lp->sim->stop && "sim_stop() in a run of several logical processes");
	lp->next_at[window] = wheel_bound(&lp->sim->wheel);
	if (lp->left_at < lp->next_at[window])
		lp->next_at[window] = lp->left_at;
}

/* Runs the windows of one LP. At the end, no other LP reads its state. */
static void run_lp(struct lp *lp)
{
	struct parallel *parallel = lp->parallel;
	sim_time end = parallel->end;

	for (;;) {
		sim_time next = next_end(parallel, lp->window, end);

		lp->sim->current = NULL;
		take_in(lp, lp->window);
		if (next == 0 || has_had_enough(lp))
			break;
		end = next;
		parallel_fire_until(lp, end);
		thread_barrier_wait(&parallel->barrier);
		weigh(lp);
	}
	thread_barrier_wait(&parallel->barrier);
	if (lp == &parallel->lps[0])
		parallel->end = end;
}

/* ---- one thread ---- */

#define STEPS_WEIGHED 64 /* steps after which their events are weighed */

/* Progress of the LPs when one thread fires their events. */
struct steps {
	sim_time next[SIM_LPS_MAX];  /* no event of the LP is earlier */
	uint64_t fired[SIM_LPS_MAX]; /* when the last steps were weighed */
	sim_time since;
	unsigned count; /* since then */
};

static void steps_begin(struct steps *steps, struct parallel *parallel)
{
	steps->since = SIM_NEVER;
	steps->count = 0;
	for (unsigned i = 0; i < parallel->count; i++) {
		struct sim *sim = parallel->lps[i].sim;

		steps->next[i] = wheel_bound(&sim->wheel);
		steps->fired[i] = sim->fired;
		if (steps->next[i] < parallel->end)
			steps->next[i] = parallel->end;
		if (steps->next[i] < steps->since)
			steps->since = steps->next[i];
	}
}

/* Returns the LP with the earliest event. Writes the time until which no other LP can send it
 * anything, unless it sends something itself. */
static unsigned steps_earliest(const struct steps *steps, const struct parallel *parallel,
			       sim_time *limit)
{
	sim_time others = SIM_NEVER;
	unsigned first = 0;

	for (unsigned i = 1; i < parallel->count; i++) {
		if (steps->next[i] < steps->next[first]) {
			others = steps->next[first];
			first = i;
		} else if (steps->next[i] < others) {
			others = steps->next[i];
		}
	}
	*limit = parallel->until;
	if (others<*limit && * limit - others> parallel->delay)
		*limit = others + parallel->delay;
	return first;
}

/* Fires events of an LP, and hands on what it left for others. */
static void steps_fire(struct steps *steps, struct parallel *parallel, unsigned number,
		       sim_time limit)
{
	struct lp *lp = &parallel->lps[number];
	sim_time next;

	lp->left_at = SIM_NEVER;
	engine_run_native(lp->sim, limit);
	assert(!lp->sim->stop && "sim_stop() in a run of several logical processes");
	lp->sim->current = NULL;
	next = wheel_bound(&lp->sim->wheel);
	steps->next[number] = next > lp->sim->limit ? next : lp->sim->limit;
	for (unsigned i = 0; i < parallel->count; i++) {
		if (!lp->left[i][lp->window])
			continue;
		take_from(lp, &parallel->lps[i], lp->window);
		if (lp->left_at < steps->next[i])
			steps->next[i] = lp->left_at;
	}
	steps->count++;
}

/* Weighs the last steps as if threads had fired their events in windows. */
static void steps_weigh(struct steps *steps, struct parallel *parallel, sim_time now)
{
	uint64_t events = 0, longest = 0, windows = (now - steps->since) / parallel->delay + 1;
	struct lp *first = &parallel->lps[0];

	if (windows > steps->count)
		windows = steps->count; /* nothing happened in the others */
	for (unsigned i = 0; i < parallel->count; i++) {
		uint64_t fired = parallel->lps[i].sim->fired - steps->fired[i];

		steps->fired[i] += fired;
		events += fired;
		longest = fired > longest ? fired : longest;
	}
	first->gain += (int64_t)(events - longest) - (int64_t)(windows * SIM_WINDOW_WORTH);
	if (first->gain < 0)
		first->gain = 0;
	if (parallel->pace.clock)
		parallel->enough = thread_pace_one(&parallel->pace, events);
	parallel->windows += windows;
	parallel->windows_together += windows;
	parallel->longest += longest;
	steps->since = now;
	steps->count = 0;
}

/* One thread fires the events of the LP that has the earliest one, until another LP can affect it.
 * Such steps are longer than windows, because the thread knows what all LPs wait for. */
static void run_together(struct parallel *parallel)
{
	struct steps steps;
	sim_time limit, now;
	unsigned number;

	steps_begin(&steps, parallel);
	for (;;) {
		number = steps_earliest(&steps, parallel, &limit);
		now = steps.next[number];
		if (steps.count == STEPS_WEIGHED || (now >= parallel->until && steps.count))
			steps_weigh(&steps, parallel, now < parallel->until ? now : parallel->end);
		if (now >= parallel->until || has_had_enough(&parallel->lps[0]))
			break;
		steps_fire(&steps, parallel, number, limit);
		parallel->end = now;
	}
	for (unsigned i = 0; i < parallel->count; i++) {
		struct lp *lp = &parallel->lps[i];

		lp->window = 0;
		lp->next_at[0] = steps.next[i];
	}
	if (now < parallel->until)
		parallel->end = now;
}

static void *serve(void *argument)
{
	struct lp *lp = argument;
	struct parallel *parallel = lp->parallel;
	unsigned served = 0;

	for (;;) {
		bool ends;

		pthread_mutex_lock(&parallel->lock);
		while (parallel->runs == served && !parallel->ends)
			pthread_cond_wait(&parallel->wake, &parallel->lock);
		served = parallel->runs;
		ends = parallel->ends;
		pthread_mutex_unlock(&parallel->lock);
		if (ends)
			return NULL;
		run_lp(lp);
	}
}

static void start_threads(struct parallel *parallel)
{
	if (parallel->started)
		return;
	parallel->started = true;
	for (unsigned i = 1; i < parallel->count; i++) {
		int error =
			pthread_create(&parallel->lps[i].thread, NULL, serve, &parallel->lps[i]);

		assert(!error && "no thread for a logical process of the run");
	}
}

static void run_apart(struct parallel *parallel)
{
	start_threads(parallel);
	pthread_mutex_lock(&parallel->lock);
	parallel->runs++;
	pthread_cond_broadcast(&parallel->wake);
	pthread_mutex_unlock(&parallel->lock);
	run_lp(&parallel->lps[0]);
}

static void change(struct parallel *parallel)
{
	parallel->together = !parallel->together;
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->lps[i].gain = 0;
	if (parallel->slow[0] || parallel->slow[1])
		thread_pace_fail(&parallel->pace);
	else if (parallel->pace.clock)
		thread_pace_change(&parallel->pace);
	parallel->enough = parallel->slow[0] = parallel->slow[1] = false;
}

void parallel_run(struct sim *sim, sim_time until)
{
	struct parallel *parallel = sim->lp->parallel;
	sim_time last = sim->now;

	for (unsigned i = 0; i < parallel->count; i++) {
		struct lp *lp = &parallel->lps[i];

		lp->next_at[lp->window] = wheel_bound(&lp->sim->wheel);
	}
	parallel->end = sim->now;
	parallel->until = until;
	if (parallel->pace.clock)
		thread_pace_begin(&parallel->pace);
	if (parallel->ranks)
		parallel_ranks_run(parallel);
	while (!parallel->ranks) {
		if (parallel->together)
			run_together(parallel);
		else
			run_apart(parallel);
		if (!has_had_enough(&parallel->lps[0]))
			break;
		change(parallel);
	}
	if (parallel->pace.clock)
		thread_pace_end(&parallel->pace);
	for (unsigned i = 0; i < parallel->count; i++)
		if (parallel->lps[i].sim->now > last)
			last = parallel->lps[i].sim->now;
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->lps[i].sim->now = until == SIM_NEVER ? last : until;
}

/* ---- sequential ---- */

static bool is_before(const struct event *one, const struct event *other)
{
	return one->key != other->key ? one->key < other->key : one->order < other->order;
}

/* Returns the LP with the next event before `until`, or NULL if there is none. */
static struct lp *next_sequential(struct parallel *parallel, sim_time until)
{
	const struct event *first = NULL;
	struct lp *next = NULL;

	for (unsigned i = 0; i < parallel->count; i++) {
		const struct event *event = wheel_first(&parallel->lps[i].sim->wheel);

		if (event && event_time(event) < until && (!first || is_before(event, first))) {
			first = event;
			next = &parallel->lps[i];
		}
	}
	return next;
}

static void set_time(struct parallel *parallel, sim_time now)
{
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->lps[i].sim->now = now;
}

void sim_run_sequential(struct sim *sim, sim_time until)
{
	struct parallel *parallel;
	struct lp *lp;

	if (!sim->lp) {
		sim_run(sim, until);
		return;
	}
	assert(!sim->current && until >= sim->now && until < SIM_NEVER);
	parallel = sim->lp->parallel;
	while ((lp = next_sequential(parallel, until))) {
		struct event *event = wheel_pop(&lp->sim->wheel, until - 1);

		set_time(parallel, event_time(event));
		engine_fire(lp->sim, event);
		lp->sim->current = NULL;
		for (unsigned i = 0; i < parallel->count; i++)
			take_in(&parallel->lps[i], lp->window);
	}
	set_time(parallel, until);
}

sim_time parallel_next(struct sim *sim)
{
	struct parallel *parallel = sim->lp->parallel;
	sim_time at = SIM_NEVER;

	if (parallel->ranks)
		return parallel_ranks_next(parallel);
	for (unsigned i = 0; i < parallel->count; i++) {
		const struct event *first = wheel_first(&parallel->lps[i].sim->wheel);

		if (first && event_time(first) < at)
			at = event_time(first);
	}
	return at;
}

uint64_t parallel_events_fired(const struct sim *sim)
{
	const struct parallel *parallel = sim->lp->parallel;
	uint64_t fired = 0;

	for (unsigned i = 0; i < parallel->count; i++)
		fired += parallel->lps[i].sim->fired;
	return fired;
}

struct sim_windows sim_windows(const struct sim *sim)
{
	const struct parallel *parallel = sim->lp->parallel;

	return (struct sim_windows){
		.length = parallel->delay,
		.count = parallel->windows,
		.together = parallel->windows_together,
		.events = parallel_events_fired(sim),
		.longest = parallel->longest,
	};
}

void lp_channel_init(struct lp_channel *channel, struct sim *from, struct sim *to, sim_time delay,
		     void (*take)(struct lp_channel *, unsigned))
{
	struct parallel *parallel = from->lp->parallel;

	assert(delay > 0 && from->root == to->root && from != to);
	*channel = (struct lp_channel){
		.take = take, .from = from, .to = to, .number = parallel->channel_count};
	if (parallel->channel_count == parallel->channel_room) {
		parallel->channel_room = parallel->channel_room ? 2 * parallel->channel_room : 64;
		parallel->channels = realloc(
			parallel->channels, parallel->channel_room * sizeof(parallel->channels[0]));
		assert(parallel->channels);
	}
	parallel->channels[parallel->channel_count++] = channel;
	if (delay < parallel->delay)
		parallel->delay = delay;
}

unsigned sim_lps(const struct sim *sim)
{
	return sim->lp ? sim->lp->parallel->count : 1;
}

struct sim *sim_lp(struct sim *sim, unsigned lp)
{
	assert(lp < sim_lps(sim));
	return sim->lp ? sim->lp->parallel->lps[lp].sim : sim;
}

unsigned sim_lp_number(const struct sim *sim)
{
	return sim->lp_number;
}

void sim_create_lps(struct sim *sim, unsigned lps)
{
	struct parallel *parallel;
	size_t bytes = sizeof(*parallel) + lps * sizeof(parallel->lps[0]);

	assert(lps >= 1 && lps <= SIM_LPS_MAX && !sim->lp && !sim->first_block);
	assert(sim->engine == SIM_ENGINE_native && !sim->trace);
	if (lps == 1)
		return;
	parallel = aligned_alloc(64, bytes);
	assert(parallel);
	*parallel = (struct parallel){.count = lps, .delay = SIM_NEVER, .barrier.count = lps};
	pthread_mutex_init(&parallel->lock, NULL);
	pthread_cond_init(&parallel->wake, NULL);
	for (unsigned i = 0; i < lps; i++) {
		struct sim *lp = i ? sim_create(SIM_ENGINE_native, sim->seed) : sim;

		parallel->lps[i] = (struct lp){.sim = lp, .parallel = parallel};
		lp->root = sim;
		lp->lp = &parallel->lps[i];
		lp->lp_number = i;
	}
}

void sim_measure_threads(struct sim *sim, uint64_t (*clock)(void))
{
	struct parallel *parallel = sim->lp->parallel;

	thread_pace_init(&parallel->pace, clock);
	parallel->together = true;
}

void parallel_destroy(struct sim *sim)
{
	struct parallel *parallel = sim->lp->parallel;

	pthread_mutex_lock(&parallel->lock);
	parallel->ends = true;
	pthread_cond_broadcast(&parallel->wake);
	pthread_mutex_unlock(&parallel->lock);
	for (unsigned i = 1; i < parallel->count; i++) {
		if (parallel->started)
			pthread_join(parallel->lps[i].thread, NULL);
		parallel->lps[i].sim->lp = NULL;
		sim_destroy(parallel->lps[i].sim);
	}
	pthread_cond_destroy(&parallel->wake);
	pthread_mutex_destroy(&parallel->lock);
	sim->lp = NULL;
	free(parallel->channels);
	free(parallel);
}
