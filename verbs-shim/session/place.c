/*
 * place: on which processor the simulator and its programs run. As one of them at most runs at a time, one processor does, and
 * a hand-over is a switch of context there; between two processors that wake each other it costs many times as much. When
 * others want that processor as well, all move to the next.
 *
 * Programs run with the time stamp counter out of reach (PR_SET_TSC), which is a bit of a control register. In a virtual machine
 * changing that bit costs more than all the rest of a switch of context, so the simulator runs with the counter out of reach too.
 *
 * session.c calls place_choose() before the first program starts: programs inherit the choice. Nothing here changes a result.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "verbs-shim/session/state.h"

#define REVIEW_NS \
	UINT64_C(250000000) /* real time between looks at how long the simulator had to wait */
#define CROWDED_SHARE 4     /* of that time: one part in so many spent waiting for the processor */

static struct sigaction fault_before;

/* The simulator asks the kernel for the time. Should a library read the counter itself, it gets it back, and hand-overs are slow. */
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

/* Nanoseconds that this thread was ready and did not run. */
static uint64_t waited_ns(void)
{
	unsigned long long ran, waited;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	bool known = file && fscanf(file, "%llu %llu", &ran, &waited) == 2;

	if (file)
		fclose(file);
	return known ? waited : 0;
}

static void move_to(struct place *place, const struct session *session, size_t processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].state != THREAD_FREE && session->threads[i].slot->tid)
			(void)sched_setaffinity((pid_t)session->threads[i].slot->tid, sizeof(one),
						&one);
	place->processor = processor;
}

void place_choose(struct session *session, uint64_t now)
{
	struct place *place = &session->place;
	int here = sched_getcpu();

	if (here < 0 || sched_getaffinity(0, sizeof(place->allowed), &place->allowed) != 0)
		return;
	place->chosen = true;
	place->reviewed = now;
	place->waited = waited_ns();
	move_to(place, session, (size_t)here);
}

void place_review(struct session *session, uint64_t now)
{
	struct place *place = &session->place;
	uint64_t waited, before = place->waited, since = now - place->reviewed;
	size_t next;

	if (!place->chosen || since < REVIEW_NS)
		return;
	waited = place->waited = waited_ns();
	place->reviewed = now;
	if (waited - before < since / CROWDED_SHARE)
		return;
	next = place->processor;
	do
		next = (next + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(next, &place->allowed));
	move_to(place, session, next);
}

void place_release(struct session *session)
{
	if (session->place.chosen)
		(void)sched_setaffinity(0, sizeof(session->place.allowed), &session->place.allowed);
}
