/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_engine: measures the cost of one event, schedule and pop, with a constant number of pending
 * events. Compares each engine, bare SystemC (an SC_METHOD with its own sc_event per event), and
 * the binary heap of sim/event_heap.h.
 *
 *     bench_engine [--quick]
 *
 * The result is CPU time, the median of 5 interleaved runs (3 with --quick, which omits a million
 * pending events). A row that has taken ROW_SECONDS of real time is not repeated, so the whole run
 * ends within about two minutes. `runs` is the number of runs of each row. A `hold` replaces the
 * event that fires by a new one, with the delays of a network:
 *
 *     model 1   40 % a packet's serialization, 30 % propagation of 0.5-1 us in 64 steps, 20 % PCIe
 *               of 300-350 ns, 10 % a pipeline of 1-16 ns
 *     model 2   the same, and half of the pending events are timers of 1-4 ms: every 4th hold moves
 *               a random one
 *
 * All except bare SystemC must fire in the same order. Exit code 1: the orders differ. 2: slower
 * than the project's bars.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/block.h"
#include "sim/event_heap.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "tests/bench/bench_engine_systemc.h"

#define NATIVE_NS_MAX    60.0 /* at 100k pending, model 1 */
#define SYSTEMC_RATIO    5.0  /* bare SystemC over native at 1k pending, model 1 */
#define RUNS_MAX         5
#define ROW_SECONDS      12
#define TABLE            16384
#define SLOW_PENDING_MAX 100000 /* of SystemC: it takes more than a kilobyte for each */

/* clang-format off */
#define QUEUES(X) X(native) X(systemc) X(reference) X(bare) X(heap)
/* clang-format on */
#define QUEUE_ENUM(name) QUEUE_##name,
enum queue { QUEUES(QUEUE_ENUM) QUEUE_COUNT };
#define QUEUE_NAME(name) #name,
static const char *const queue_names[] = {QUEUES(QUEUE_NAME)};

static const size_t pending_counts[] = {1000, 100000, 1000000};

/* As in a model, an event shares its cache line with its owner. */
struct item {
	_Alignas(64) struct event event;
	uint64_t index;
};

static struct load {
	struct item *items;
	size_t pending, timers;
	uint32_t delays[TABLE], timer_delays[TABLE];
	uint32_t delay_next, timer_delay_next;
	struct random random;
	size_t holds_left, hold_number;
	uint64_t order_hash;
} load;

/* Result of a child process, and its file. See measure_apart(). */
struct result {
	double ns;
	uint64_t order_hash;
};
static int result_end = -1;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t network_delay(struct random *random)
{
	uint64_t percent = random_below(random, 100);

	if (percent < 40)
		return 83200;
	if (percent < 70)
		return 500 * NS + random_below(random, 64) * 7812;
	if (percent < 90)
		return 300 * NS + random_below(random, 50 * NS);
	return (1 + random_below(random, 16)) * NS;
}

static inline uint64_t next_delay(void)
{
	return load.delays[load.delay_next++ % TABLE];
}

static inline uint64_t next_timer_delay(void)
{
	return (uint64_t)load.timer_delays[load.timer_delay_next++ % TABLE] + MS;
}

static inline size_t timer_to_move(void)
{
	if (load.timers == 0 || load.hold_number++ % 4 != 0)
		return SIZE_MAX;
	return random_below(&load.random, load.timers);
}

static uint64_t bare_delay(void)
{
	return next_delay();
}

static uint64_t bare_timer_delay(void)
{
	return next_timer_delay();
}

static size_t bare_timer_to_move(void)
{
	return timer_to_move();
}

static inline void note_order(const struct item *item)
{
	load.order_hash = (load.order_hash ^ item->index) * UINT64_C(0x9e3779b97f4a7c15);
}

static void load_begin(size_t pending, int model)
{
	struct random random;

	load.pending = pending;
	load.timers = model == 2 ? pending / 2 : 0;
	load.delay_next = load.timer_delay_next = 0;
	load.hold_number = load.order_hash = 0;
	random_init_named(&random, 1, "bench_engine", "delays");
	random_init_named(&load.random, 1, "bench_engine", "timers");
	for (int i = 0; i < TABLE; i++) {
		load.delays[i] = (uint32_t)network_delay(&random);
		load.timer_delays[i] = (uint32_t)random_below(&random, 3 * MS);
	}
}

static void hold(struct event *event)
{
	size_t moved = timer_to_move();

	note_order(container_of(event, struct item, event));
	if (moved != SIZE_MAX) {
		struct event *timer = &load.items[load.pending - load.timers + moved].event;

		sim_cancel(timer);
		sim_schedule(timer, next_timer_delay());
	}
	sim_schedule(event, next_delay());
	if (--load.holds_left == 0)
		sim_stop(event->owner->sim);
}

/* Returns the CPU seconds since `begin`. A child process reports them and ends. */
static double seconds_since(double begin, size_t holds)
{
	double seconds = cpu_seconds() - begin;
	struct result result = {seconds * 1e9 / (double)holds, load.order_hash};

	if (result_end >= 0)
		_exit(write(result_end, &result, sizeof(result)) == sizeof(result) ? 0 : 1);
	return seconds;
}

static double engine_seconds(enum sim_engine engine, size_t warm_up, size_t holds)
{
	static const struct block_type type = {.name = "load"};
	struct sim *sim = sim_create(engine, 1);
	struct block block;
	double begin, seconds;

	block_init(&block, sim, &type, "load", NULL, NULL);
	for (size_t i = 0; i < load.pending; i++) {
		event_init(&load.items[i].event, &block, hold);
		load.items[i].index = i;
		sim_schedule(&load.items[i].event,
			     i < load.pending - load.timers ? next_delay() : next_timer_delay());
	}
	load.holds_left = warm_up;
	sim_run(sim, SIM_NEVER);
	load.holds_left = holds;
	begin = cpu_seconds();
	sim_run(sim, SIM_NEVER);
	seconds = seconds_since(begin, holds);
	block_fini(&block);
	sim_destroy(sim);
	return seconds;
}

static struct event_heap heap;
static uint64_t heap_order;

static inline void heap_schedule(struct event *event, uint64_t at)
{
	event->key = at << 3 | PRIORITY_DEFAULT;
	event->order = heap_order++;
	event_heap_insert(&heap, event);
}

static void heap_run(size_t holds)
{
	while (holds-- > 0) {
		struct event *event = event_heap_first(&heap);
		uint64_t now = event_time(event);
		size_t moved = timer_to_move();

		event_heap_remove(&heap, event);
		note_order(container_of(event, struct item, event));
		if (moved != SIZE_MAX) {
			struct event *timer = &load.items[load.pending - load.timers + moved].event;

			event_heap_remove(&heap, timer);
			heap_schedule(timer, now + next_timer_delay());
		}
		heap_schedule(event, now + next_delay());
	}
}

static double heap_seconds(size_t warm_up, size_t holds)
{
	double begin, seconds;

	event_heap_init(&heap);
	heap_order = 0;
	for (size_t i = 0; i < load.pending; i++) {
		load.items[i].index = i;
		heap_schedule(&load.items[i].event,
			      i < load.pending - load.timers ? next_delay() : next_timer_delay());
	}
	heap_run(warm_up);
	begin = cpu_seconds();
	heap_run(holds);
	seconds = cpu_seconds() - begin;
	event_heap_fini(&heap);
	return seconds;
}

/* Returns the nanoseconds per hold. Slow queues get few holds. */
static double measure(enum queue queue, size_t pending, int model, bool quick, uint64_t *order_hash)
{
	size_t warm_up = pending < 100000 ? 100000 : pending;
	size_t holds = quick || pending >= 100000 ? 300000 : 1000000;
	double seconds;

	load_begin(pending, model);
	switch (queue) {
	case QUEUE_bare: {
		const struct bare_load bare = {pending, load.timers, bare_delay, bare_timer_delay,
					       bare_timer_to_move};

		seconds = bare_systemc_seconds(&bare, warm_up, holds, cpu_seconds, seconds_since);
		break;
	}
	case QUEUE_heap:
		seconds = heap_seconds(warm_up, holds);
		break;
	default:
		seconds = engine_seconds((enum sim_engine)queue, warm_up, holds);
		break;
	}
	*order_hash = load.order_hash;
	return seconds * 1e9 / (double)holds;
}

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

/* Runs in its own process, which ends without freeing memory: SystemC needs minutes to delete a
 * hundred thousand processes. */
static double measure_apart(enum queue queue, size_t pending, int model, bool quick,
			    uint64_t *order_hash)
{
	struct result result;
	int ends[2];
	pid_t child;

	fflush(stdout);
	if (pipe(ends) != 0 || (child = fork()) < 0) {
		perror("bench_engine");
		exit(1);
	}
	if (child == 0) {
		result_end = ends[1];
		measure(queue, pending, model, quick, &result.order_hash);
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], &result, sizeof(result)) != sizeof(result)) {
		fprintf(stderr, "bench_engine: %s failed\n", queue_names[queue]);
		exit(1);
	}
	close(ends[0]);
	waitpid(child, NULL, 0);
	*order_hash = result.order_hash;
	return result.ns;
}

static double real_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Measures the medians of one row. 0 means that a value was not measured. Returns the number of
 * runs; 0: the orders differ. */
static int measure_row(size_t pending, int model, bool quick, double medians[QUEUE_COUNT])
{
	int runs_max = quick ? 3 : RUNS_MAX, runs = 0;
	double ns[QUEUE_COUNT][RUNS_MAX];
	double begin = real_seconds();
	uint64_t expected = 0;

	for (int run = 0; run < runs_max && real_seconds() - begin < ROW_SECONDS; run++) {
		for (unsigned queue = 0; queue < QUEUE_COUNT; queue++) {
			bool slow = queue == QUEUE_reference || queue == QUEUE_bare;
			uint64_t order_hash;

			ns[queue][run] = 0;
			if (slow && pending > SLOW_PENDING_MAX)
				continue;
			ns[queue][run] = (slow ? measure_apart : measure)(
				(enum queue)queue, pending, model, quick, &order_hash);
			if (queue == QUEUE_native && run == 0)
				expected = order_hash;
			if (queue != QUEUE_bare && order_hash != expected) {
				printf("%s fires in another order than native\n",
				       queue_names[queue]);
				return 0;
			}
		}
		runs++;
	}
	for (unsigned queue = 0; queue < QUEUE_COUNT; queue++) {
		qsort(ns[queue], (size_t)runs, sizeof(double), compare);
		medians[queue] = ns[queue][runs / 2];
	}
	return runs;
}

static void print_row(size_t pending, int model, int runs, const double medians[QUEUE_COUNT])
{
	printf("%5d %8zu", model, pending);
	for (unsigned queue = 0; queue < QUEUE_COUNT; queue++) {
		if (medians[queue] > 0)
			printf(" %9.1f", medians[queue]);
		else
			printf(" %9s", "-");
	}
	if (medians[QUEUE_bare] > 0)
		printf("  %7.1fx", medians[QUEUE_bare] / medians[QUEUE_native]);
	else
		printf("  %8s", "-");
	printf(" %7.1fx %5d\n", medians[QUEUE_heap] / medians[QUEUE_native], runs);
	fflush(stdout);
}

static bool print_bar(const char *what, double value, double bar, bool met)
{
	printf("%-55s %7.1f  bar %5.1f  %s\n", what, value, bar, met ? "met" : "MISSED");
	return met;
}

int main(int argc, char **argv)
{
	bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
	size_t rows = ARRAY_SIZE(pending_counts) - (quick ? 1 : 0);
	double native_100k = 0, ratio_1k = 0;
	bool met;

	if (argc > 1 && !quick) {
		fprintf(stderr, "usage: bench_engine [--quick]\n");
		return 2;
	}
	load.items = aligned_alloc(64, pending_counts[rows - 1] * sizeof(*load.items));
	assert(load.items != NULL);
	printf("ns per event (schedule + pop), CPU time, median\n%5s %8s", "model", "pending");
	for (unsigned queue = 0; queue < QUEUE_COUNT; queue++)
		printf(" %9s", queue_names[queue]);
	printf("  %8s %8s %5s\n", "bare/", "heap/", "runs");
	for (int model = 1; model <= 2; model++) {
		for (size_t row = 0; row < rows; row++) {
			double medians[QUEUE_COUNT];

			int runs = measure_row(pending_counts[row], model, quick, medians);

			if (runs == 0)
				return 1;
			print_row(pending_counts[row], model, runs, medians);
			if (model == 1 && pending_counts[row] == 1000)
				ratio_1k = medians[QUEUE_bare] / medians[QUEUE_native];
			if (model == 1 && pending_counts[row] == 100000)
				native_100k = medians[QUEUE_native];
		}
	}
	free(load.items);
	met = print_bar("native at 100k pending, model 1, ns per event", native_100k, NATIVE_NS_MAX,
			native_100k <= NATIVE_NS_MAX);
	met &= print_bar("bare SystemC over native at 1k pending, model 1, ratio", ratio_1k,
			 SYSTEMC_RATIO, ratio_1k >= SYSTEMC_RATIO);
	return met ? 0 : 2;
}
