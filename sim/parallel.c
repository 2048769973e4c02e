/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: see parallel.h. Each thread, window by window: agree on where the next one begins, take in what the others
 * have left in the last one, fire what is in it, say when it has something to do next, wait for the others. Where windows hold
 * less than meeting costs, the caller's thread fires them all. In turn it is the caller's thread that fires, and what is left
 * is taken in at once.
 */
#include "sim/parallel.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/gate.h"
#include "sim/kernel.h"

#define PATIENCE 10000 /* events lost by threads, or to be won by them, before that changes */

struct part {
	_Alignas(64) struct sim *sim;
	unsigned window;     /* 0, 1, 0, ... */
	sim_time left_at;    /* the earliest of what was left in this window */
	sim_time next_at[2]; /* nothing happens here before, nor by what was left */
	uint64_t fired[2];   /* in that window */
	int64_t gain;        /* events: see weigh(); each reckons the same */
	/* crossings with something in them, by where they lead */
	struct crossing *left[SIM_PARTS_MAX][2];
	struct parallel *parallel;
	pthread_t thread;
};

struct parallel {
	struct gate gate;
	unsigned count;
	sim_time delay; /* no crossing is shorter: a window */
	sim_time until;
	pthread_mutex_t lock; /* between two sim_run() all threads but the caller's sleep here */
	pthread_cond_t wake;
	unsigned runs; /* how often they were woken */
	bool ends, started;
	bool together; /* the caller's thread fires all parts */
	sim_time end;  /* of the last window; while threads run, in each of them */
	uint64_t windows, windows_together, longest; /* written by the first part alone */
	struct part parts[];
};

unsigned crossing_leave(struct crossing *crossing, sim_time at)
{
	struct part *part = crossing->from->part;
	unsigned window = part->window;

	if (at < part->left_at)
		part->left_at = at;
	if (!crossing->announced[window]) {
		struct crossing **list = &part->left[crossing->to->part_number][window];

		crossing->announced[window] = true;
		crossing->next[window] = *list;
		*list = crossing;
	}
	return window;
}

unsigned crossing_window(const struct crossing *crossing)
{
	return crossing->from->part->window;
}

/* What all have left for this part in the window that is over. Order does not matter: each leads to a place of its own. */
static void take_in(struct part *part, unsigned window)
{
	struct parallel *parallel = part->parallel;

	for (unsigned i = 0; i < parallel->count; i++) {
		struct crossing **list = &parallel->parts[i].left[part->sim->part_number][window];

		while (*list) {
			struct crossing *crossing = *list;

			*list = crossing->next[window];
			crossing->announced[window] = false;
			crossing->take(crossing, window);
		}
	}
}

static sim_time earliest(const struct parallel *parallel, unsigned window)
{
	sim_time at = SIM_NEVER;

	for (unsigned i = 0; i < parallel->count; i++)
		if (parallel->parts[i].next_at[window] < at)
			at = parallel->parts[i].next_at[window];
	return at;
}

static uint64_t longest_of(const struct parallel *parallel, unsigned window, uint64_t *events)
{
	uint64_t longest = 0;

	*events = 0;
	for (unsigned i = 0; i < parallel->count; i++) {
		uint64_t fired = parallel->parts[i].fired[window];

		*events += fired;
		longest = fired > longest ? fired : longest;
	}
	return longest;
}

/* What threads have gained by this window, or would have: it adds up to at most nothing while they run, to no less while they do not. */
static void weigh(struct part *part)
{
	struct parallel *parallel = part->parallel;
	uint64_t events, longest = longest_of(parallel, part->window, &events);

	part->gain += (int64_t)(events - longest) - SIM_WINDOW_WORTH;
	if (parallel->together ? part->gain < 0 : part->gain > 0)
		part->gain = 0;
	if (part != &parallel->parts[0])
		return;
	parallel->windows++;
	parallel->windows_together += parallel->together;
	parallel->longest += longest;
}

static bool has_had_enough(const struct part *part)
{
	return part->gain <= -PATIENCE || part->gain >= PATIENCE;
}

/* Where the window behind that one ends; 0: there is nothing before `until`. */
static sim_time next_end(const struct parallel *parallel, unsigned over, sim_time end)
{
	sim_time start = earliest(parallel, over);

	if (start < end) /* a bound, no more */
		start = end;
	if (start >= parallel->until)
		return 0;
	return parallel->until - start > parallel->delay ? start + parallel->delay
							 : parallel->until;
}

static void fire_until(struct part *part, sim_time end)
{
	unsigned window = part->window ^ 1;

	part->window = window;
	part->left_at = SIM_NEVER;
	part->fired[window] = part->sim->fired;
	kernel_run_native(part->sim, end);
	part->fired[window] = part->sim->fired - part->fired[window];
	assert(!part->sim->stop && "sim_stop() in a run of several parts");
	part->next_at[window] = wheel_bound(&part->sim->wheel);
	if (part->left_at < part->next_at[window])
		part->next_at[window] = part->left_at;
}

/* Ends with every part past what the others have read of it. */
static void run_part(struct part *part)
{
	struct parallel *parallel = part->parallel;
	sim_time end = parallel->end;

	for (;;) {
		sim_time next = next_end(parallel, part->window, end);

		part->sim->current = NULL;
		take_in(part, part->window);
		if (next == 0 || has_had_enough(part))
			break;
		end = next;
		fire_until(part, end);
		gate_pass(&parallel->gate);
		weigh(part);
	}
	gate_pass(&parallel->gate);
	if (part == &parallel->parts[0])
		parallel->end = end;
}

static void run_together(struct parallel *parallel)
{
	struct part *parts = parallel->parts;

	for (;;) {
		sim_time next = next_end(parallel, parts->window, parallel->end);

		for (unsigned i = 0; i < parallel->count; i++) {
			parts[i].sim->current = NULL;
			take_in(&parts[i], parts[i].window);
		}
		if (next == 0 || has_had_enough(parts))
			break;
		parallel->end = next;
		for (unsigned i = 0; i < parallel->count; i++)
			fire_until(&parts[i], next);
		weigh(parts);
	}
}

static void *serve(void *argument)
{
	struct part *part = argument;
	struct parallel *parallel = part->parallel;
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
		run_part(part);
	}
}

static void start_threads(struct parallel *parallel)
{
	if (parallel->started)
		return;
	parallel->started = true;
	for (unsigned i = 1; i < parallel->count; i++) {
		int error = pthread_create(&parallel->parts[i].thread, NULL, serve,
					   &parallel->parts[i]);

		assert(!error && "no thread for a part of the run");
	}
}

static void run_apart(struct parallel *parallel)
{
	start_threads(parallel);
	pthread_mutex_lock(&parallel->lock);
	parallel->runs++;
	pthread_cond_broadcast(&parallel->wake);
	pthread_mutex_unlock(&parallel->lock);
	run_part(&parallel->parts[0]);
}

static void change(struct parallel *parallel)
{
	parallel->together = !parallel->together;
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->parts[i].gain = 0;
}

void parallel_run(struct sim *sim, sim_time until)
{
	struct parallel *parallel = sim->part->parallel;
	sim_time last = sim->now;

	for (unsigned i = 0; i < parallel->count; i++) {
		struct part *part = &parallel->parts[i];

		part->next_at[part->window] = wheel_bound(&part->sim->wheel);
	}
	parallel->end = sim->now;
	parallel->until = until;
	for (;;) {
		if (parallel->together)
			run_together(parallel);
		else
			run_apart(parallel);
		if (!has_had_enough(&parallel->parts[0]))
			break;
		change(parallel);
	}
	for (unsigned i = 0; i < parallel->count; i++)
		if (parallel->parts[i].sim->now > last)
			last = parallel->parts[i].sim->now;
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->parts[i].sim->now = until == SIM_NEVER ? last : until;
}

/* ---- in turn ---- */

static bool is_before(const struct event *one, const struct event *other)
{
	return one->key != other->key ? one->key < other->key : one->order < other->order;
}

/* NULL: nothing is before `until`. */
static struct part *next_in_turn(struct parallel *parallel, sim_time until)
{
	const struct event *first = NULL;
	struct part *next = NULL;

	for (unsigned i = 0; i < parallel->count; i++) {
		const struct event *event = wheel_first(&parallel->parts[i].sim->wheel);

		if (event && event_time(event) < until && (!first || is_before(event, first))) {
			first = event;
			next = &parallel->parts[i];
		}
	}
	return next;
}

static void set_time(struct parallel *parallel, sim_time now)
{
	for (unsigned i = 0; i < parallel->count; i++)
		parallel->parts[i].sim->now = now;
}

void sim_run_in_turn(struct sim *sim, sim_time until)
{
	struct parallel *parallel;
	struct part *part;

	if (!sim->part) {
		sim_run(sim, until);
		return;
	}
	assert(sim->current == NULL && until >= sim->now && until < SIM_NEVER);
	parallel = sim->part->parallel;
	while ((part = next_in_turn(parallel, until)) != NULL) {
		struct event *event = wheel_pop(&part->sim->wheel, until - 1);

		set_time(parallel, event_time(event));
		kernel_fire(part->sim, event);
		part->sim->current = NULL;
		for (unsigned i = 0; i < parallel->count; i++)
			take_in(&parallel->parts[i], part->window);
	}
	set_time(parallel, until);
}

sim_time parallel_next(const struct sim *sim)
{
	const struct parallel *parallel = sim->part->parallel;
	sim_time at = SIM_NEVER;

	for (unsigned i = 0; i < parallel->count; i++) {
		const struct event *first = wheel_first(&parallel->parts[i].sim->wheel);

		if (first && event_time(first) < at)
			at = event_time(first);
	}
	return at;
}

uint64_t parallel_events_fired(const struct sim *sim)
{
	const struct parallel *parallel = sim->part->parallel;
	uint64_t fired = 0;

	for (unsigned i = 0; i < parallel->count; i++)
		fired += parallel->parts[i].sim->fired;
	return fired;
}

struct sim_windows sim_windows(const struct sim *sim)
{
	const struct parallel *parallel = sim->part->parallel;

	return (struct sim_windows){
		.length = parallel->delay,
		.count = parallel->windows,
		.together = parallel->windows_together,
		.events = parallel_events_fired(sim),
		.longest = parallel->longest,
	};
}

void crossing_init(struct crossing *crossing, struct sim *from, struct sim *to, sim_time delay,
		   void (*take)(struct crossing *, unsigned))
{
	struct parallel *parallel = from->part->parallel;

	assert(delay > 0 && from->root == to->root && from != to);
	*crossing = (struct crossing){.take = take, .from = from, .to = to};
	if (delay < parallel->delay)
		parallel->delay = delay;
}

unsigned sim_parts(const struct sim *sim)
{
	return sim->part ? sim->part->parallel->count : 1;
}

struct sim *sim_part(struct sim *sim, unsigned part)
{
	assert(part < sim_parts(sim));
	return sim->part ? sim->part->parallel->parts[part].sim : sim;
}

unsigned sim_part_of(const struct sim *sim)
{
	return sim->part_number;
}

void sim_divide(struct sim *sim, unsigned parts)
{
	struct parallel *parallel;
	size_t bytes = sizeof(*parallel) + parts * sizeof(parallel->parts[0]);

	assert(parts >= 1 && parts <= SIM_PARTS_MAX && !sim->part && !sim->first_block);
	assert(sim->kernel == SIM_KERNEL_native && !sim->trace);
	if (parts == 1)
		return;
	parallel = aligned_alloc(64, bytes);
	assert(parallel);
	*parallel = (struct parallel){.count = parts, .delay = SIM_NEVER, .gate.count = parts};
	pthread_mutex_init(&parallel->lock, NULL);
	pthread_cond_init(&parallel->wake, NULL);
	for (unsigned i = 0; i < parts; i++) {
		struct sim *part = i ? sim_create(SIM_KERNEL_native, sim->seed) : sim;

		parallel->parts[i] = (struct part){.sim = part, .parallel = parallel};
		part->root = sim;
		part->part = &parallel->parts[i];
		part->part_number = i;
	}
}

void parallel_destroy(struct sim *sim)
{
	struct parallel *parallel = sim->part->parallel;

	pthread_mutex_lock(&parallel->lock);
	parallel->ends = true;
	pthread_cond_broadcast(&parallel->wake);
	pthread_mutex_unlock(&parallel->lock);
	for (unsigned i = 1; i < parallel->count; i++) {
		if (parallel->started)
			pthread_join(parallel->parts[i].thread, NULL);
		parallel->parts[i].sim->part = NULL;
		sim_destroy(parallel->parts[i].sim);
	}
	pthread_cond_destroy(&parallel->wake);
	pthread_mutex_destroy(&parallel->lock);
	sim->part = NULL;
	free(parallel);
}
