/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place: selects the processors of the simulator and its programs. At most one of them runs at a
 * time. On one processor a hand-over is a context switch; waking another processor costs many times
 * as much. If other processes need the processor, all move to the next one.
 *
 * If a second processor is free, the programs use it. Each side then spins before it sleeps: the
 * simulator, and the program that ran last on that processor. A hand-off to that program costs next
 * to nothing. A hand-off to another program costs a context switch. hcasim measures both placements
 * and uses the faster one.
 *
 * Programs run with the time stamp counter disabled (PR_SET_TSC), which is a bit of a control
 * register. In a virtual machine a change of this bit costs more than the rest of a context switch.
 * Therefore the counter is also disabled for the simulator.
 *
 * Two programs that take turns yield this processor to each other. If another process uses it, a
 * yield takes as long as that process runs. The programs then sleep, for some hand-overs.
 *
 * session.c calls place_choose() before the first program starts, because programs inherit the
 * choice. The placement does not change results.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "verbs-shim/session/state.h"

/* Interval of real time between checks of the time that the simulator waited for its processor. It
 * moves to the next processor if it waited for 1/CROWDED_SHARE of the interval. */
#define REVIEW_NS     UINT64_C(250000000)
#define CROWDED_SHARE 4

/* Minimum real time and number of hand-overs of a window, after which placements on one and two
 * processors are compared. The other placement is kept if it is faster by 1/GAIN_LEAST. */
#define WINDOW_NS       20000000
#define WINDOW_HANDOFFS 512
#define GAIN_LEAST      10

/* Number of hand-overs after which a trial ends early if they take half as long again. */
#define HOPELESS_HANDOFFS 128

/* Number of windows until the other placement is tried again. The number doubles after each try
 * without a gain. */
#define PATIENCE_LEAST 4
#define PATIENCE_MOST  256

/* Number of hand-overs without yields after one that took too long. The number doubles if the next
 * such hand-over follows soon. */
#define YIELDS_PAUSE_LEAST 256
#define YIELDS_PAUSE_MOST  65536

/* Pause instructions for which a waiting side spins: 50 to 200 us with `handoff: spin`, less on two
 * processors. */
#define SPIN_ITERATIONS  4000
#define APART_ITERATIONS 1000

static struct sigaction fault_before;

/* Enables the time stamp counter if a library reads it directly. Hand-overs are slow then. The
 * simulator itself asks the kernel for the time. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	int state = PR_TSC_ENABLE;

	(void)info;
	(void)context;
	(void)prctl(PR_GET_TSC, &state, 0, 0, 0);
	if (state == PR_TSC_SIGSEGV)
		place_share_counter(false);
	else
		(void)sigaction(number, &fault_before, NULL);
}

void place_share_counter(bool shared)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	if (shared) {
		(void)sigaction(SIGSEGV, &action, &fault_before);
		(void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	} else {
		(void)prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
		(void)sigaction(SIGSEGV, &fault_before, NULL);
	}
}

/* Nanoseconds for which this thread was ready and did not run. */
static uint64_t waited_ns(void)
{
	unsigned long long ran, waited;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	bool known = file && fscanf(file, "%llu %llu", &ran, &waited) == 2;

	if (file)
		fclose(file);
	return known ? waited : 0;
}

static size_t next_processor(const struct place *place, size_t processor)
{
	do
		processor = (processor + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(processor, &place->allowed));
	return processor;
}

static void set_processor(pid_t thread, size_t processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	(void)sched_setaffinity(thread, sizeof(one), &one);
}

static void move_to(struct session *session, size_t processor, bool apart)
{
	struct place *place = &session->place;
	struct shim_memory *shared = session->shared;

	place->processor = processor;
	place->programs = apart ? next_processor(place, processor) : processor;
	place->apart = apart;
	set_processor(0, place->processor);
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].state != THREAD_FREE && session->threads[i].slot->tid)
			set_processor((pid_t)session->threads[i].slot->tid, place->programs);
	__atomic_store_n(&shared->relays, apart, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->yields, apart && session->handoffs >= place->yields_from,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&shared->spin_iterations, apart ? APART_ITERATIONS : 0, __ATOMIC_RELAXED);
}

static void begin_window(struct session *session, uint64_t now)
{
	session->place.window = now;
	session->place.handoffs = session->handoffs;
}

void place_choose(struct session *session, uint64_t now)
{
	enum { AUTO, FUTEX, SPIN }; /* places in the range of `handoff` */
	struct place *place = &session->place;
	int here = sched_getcpu();

	session->shared->spin_iterations = session->params.handoff == SPIN ? SPIN_ITERATIONS : 0;
	if (session->params.handoff != AUTO || here < 0 ||
	    sched_getaffinity(0, sizeof(place->allowed), &place->allowed) != 0)
		return;
	place->chosen = true;
	place->reviewed = now;
	place->waited = waited_ns();
	place->left = 1;
	place->patience = PATIENCE_LEAST;
	begin_window(session, now);
	move_to(session, (size_t)here, false);
}

static void leave_crowd(struct session *session, uint64_t now)
{
	struct place *place = &session->place;
	uint64_t before = place->waited, since = now - place->reviewed;

	place->waited = waited_ns();
	place->reviewed = now;
	if (!place->apart && place->waited - before >= since / CROWDED_SHARE)
		move_to(session, next_processor(place, place->processor), false);
}

/* Compares the two placements by real time per hand-over. The other placement is tried at
 * intervals. */
static void end_window(struct session *session, uint64_t now)
{
	struct place *place = &session->place;
	uint64_t cost = (now - place->window) / (session->handoffs - place->handoffs);

	if (place->trying) {
		bool better = cost < place->cost - place->cost / GAIN_LEAST;

		place->trying = false;
		place->patience = better                             ? PATIENCE_LEAST
				  : place->patience >= PATIENCE_MOST ? PATIENCE_MOST
								     : 2 * place->patience;
		place->left = place->patience;
		if (!better)
			move_to(session, place->processor, !place->apart);
	} else {
		place->cost = cost;
		place->trying = place->left-- == 0;
		if (place->trying)
			move_to(session, place->processor, !place->apart);
	}
	begin_window(session, now);
}

void place_late(struct session *session)
{
	struct place *place = &session->place;
	bool soon = session->handoffs - place->yields_from < place->yields_pause;

	if (!session->shared->yields)
		return;
	place->yields_pause = !soon                                     ? YIELDS_PAUSE_LEAST
			      : place->yields_pause < YIELDS_PAUSE_MOST ? 2 * place->yields_pause
									: YIELDS_PAUSE_MOST;
	place->yields_from = session->handoffs + place->yields_pause;
	__atomic_store_n(&session->shared->yields, 0, __ATOMIC_RELAXED);
}

/* Returns true if a window ends now. */
static bool window_ends(const struct session *session, uint64_t now)
{
	const struct place *place = &session->place;
	uint64_t passed = now - place->window, handoffs = session->handoffs - place->handoffs;

	if (place->trying && handoffs >= HOPELESS_HANDOFFS &&
	    passed / handoffs > place->cost + place->cost / 2)
		return true;
	return passed >= WINDOW_NS && handoffs >= WINDOW_HANDOFFS;
}

void place_review(struct session *session, uint64_t now)
{
	struct place *place = &session->place;

	if (!place->chosen)
		return;
	if (place->apart && !session->shared->yields && session->handoffs >= place->yields_from)
		__atomic_store_n(&session->shared->yields, 1, __ATOMIC_RELAXED);
	if (now - place->reviewed >= REVIEW_NS)
		leave_crowd(session, now);
	if (CPU_COUNT(&place->allowed) > 1 && window_ends(session, now))
		end_window(session, now);
}

void place_program(const struct session *session)
{
	if (session->place.chosen)
		set_processor(0, session->place.programs);
}

void place_release(struct session *session)
{
	if (session->place.chosen)
		(void)sched_setaffinity(0, sizeof(session->place.allowed), &session->place.allowed);
}
